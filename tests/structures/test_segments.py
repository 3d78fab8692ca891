"""Segments beyond the contract of every structure: chains, spans, partial gold, mistakes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import structopt as so
from structopt.errors import IncompatibleError, InvalidInputError
from structopt.structures.segments.small import small
from structopt.testing import structure_oracles as oracles
from structopt.testing import structure_shards as shards
from structopt.testing.structure_case import StructureCase
from structopt.testing.structure_sums import expectations_are_sums_over_outputs

SOME = settings(max_examples=12, deadline=None, derandomize=True)
TAGS = ["B-a", "I-a", "B-b", "I-b", "O"]


@SOME
@given(st.integers(0, 2**32 - 1))
def test_every_question_is_answered_as_by_enumeration(seed):
    case = StructureCase(small(np.random.default_rng(seed)), seed % 100)
    oracles.loss_augmented_is_brute_force(case)
    oracles.second_best_is_brute_force(case)
    oracles.k_best_is_brute_force(case)
    shards.shard_answers_are_brute_force(case)
    expectations_are_sums_over_outputs(case)


def legal(rng, length):
    """A random sequence of tags that is well formed."""
    tags = []
    for _ in range(length):
        inside = [f"I-{tags[-1][2:]}"] if tags and tags[-1] != "O" else []
        tags.append(str(rng.choice(["B-a", "B-b", "O", *inside])))
    return tags


@SOME
@given(st.integers(0, 2**32 - 1))
def test_segments_without_lengths_are_a_chain_of_tags(seed):
    rng = np.random.default_rng(seed)
    X = [rng.standard_normal((int(rng.integers(1, 9)), 3)) for _ in range(4)]
    Y = [legal(rng, len(x)) for x in X]
    mine = so.Segments(TAGS, longest=9, borders="begin", lengths=False).fitted(X, Y)
    chain = so.Chain(TAGS, transitions="bio").fitted(X, Y)
    w = rng.standard_normal(mine.n_features_)
    W, B, T = w[:9].reshape(3, 3), w[9:15].reshape(2, 3), w[15:].reshape(3, 3)
    tokens = np.stack([W[0] + B[0], W[0], W[1] + B[1], W[1], W[2]])
    pairs = np.zeros((5, 5))
    for i, before in enumerate([0, 0, 1, 1, 2]):
        for j, after in enumerate([0, 0, 1, 1, 2]):
            pairs[i, j] = 0.0 if j in (1, 3) else T[before, after]
    v = np.concatenate([tokens.ravel(), pairs.ravel()])
    one, other = mine.encode(X, Y), chain.encode(X, Y)
    for oracle in (so.loss_augmented, so.oracles.best_other, so.oracles.worst):
        a, b = one.ask(oracle, w), other.ask(oracle, v)
        np.testing.assert_array_equal(a.outputs, b.outputs)
        np.testing.assert_allclose(a.loss, b.loss)
        np.testing.assert_allclose(a.score, b.score, atol=1e-9)
    for a, b in zip(mine.marginals(X, w), chain.marginals(X, v), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-9)
    assert mine.k_best(X[0], w, 7) == chain.k_best(X[0], v, 7)


def test_long_sequences_are_decoded_as_by_networkx():
    rng = np.random.default_rng(1)
    X = [rng.integers(-2, 3, (30, 3)).astype(float) for _ in range(2)]
    Y = [["O"] * 30] * 2
    loss = so.losses.PartCosts(1.0, 2.0)
    fast, slow = (
        so.Segments(TAGS, loss, {"a": 6, "b": 3}, decoder=d).fitted(X, Y)
        for d in ("compiled", "networkx")
    )
    w = rng.integers(-2, 3, fast.n_features_).astype(float)
    one, other = fast.encode(X, Y), slow.encode(X, Y)
    for oracle in (so.loss_augmented, so.oracles.best_other, so.oracles.worst):
        np.testing.assert_array_equal(one.ask(oracle, w).outputs, other.ask(oracle, w).outputs)


def test_spans_are_arrays_or_functions():
    rng = np.random.default_rng(0)
    tokens, spans = rng.standard_normal((6, 2)), rng.standard_normal((6, 3, 2))
    Y = [["B-a", "I-a", "I-a", "O", "B-b", "O"]]
    forms = [(tokens, spans), (tokens, lambda begin, end: spans[begin, end - begin - 1])]
    mine = [so.Segments(longest=3).fitted([x], Y) for x in forms]
    w = rng.standard_normal(mine[0].n_features_)
    assert mine[0].k_best(forms[0], w, 20) == mine[1].k_best(forms[1], w, 20)
    names = mine[0].feature_names(["u", "v"])
    assert len(names) == len(set(names)) == mine[0].n_features_
    assert ("span 1", "b") in names
    assert ("begin u", "a") in names
    assert ("length 3", "a") in names
    assert ("length 1", "O") not in names


def test_a_rule_of_the_span_is_learned_where_a_chain_cannot():
    # segments of "a" have 3 positions or none: the tokens say nothing
    Y = [["B-a", "I-a", "I-a", "O"], ["O", "B-a", "I-a", "I-a"], ["B-a", "I-a", "I-a"] * 2]
    X = [np.ones((len(y), 1)) for y in Y]
    model = so.StructuredClassifier(so.Segments(longest=4), so.M3N(C=10.0)).fit(X, Y)
    (found,) = model.predict([np.ones((9, 1))])
    assert {end - begin for _, begin, end in so.metrics.spans(found)} <= {3}


def test_unknown_tags_are_completed():
    X = [np.eye(4)]
    mine = so.Segments(TAGS, longest=3).fitted(X, [["B-a", "I-a", "O", "O"]])
    w = np.zeros(mine.n_features_)
    w[mine.feature_names().index(("x2", "a"))] = 1.0
    assert mine.complete(X[0], w, [None, None, "I-a", "O"])[2:] == ["I-a", "O"]
    shard = mine.encode(X, [["B-a", None, "I-a", "O"]])
    assert mine.unpack(shard, shard.anchor) == [["B-a", "B-a", "I-a", "O"]]
    assert mine.loss(["B-a", None, "I-a", "O"], ["B-a", "B-a", "B-a", "O"]) == 1.0
    with pytest.raises(so.errors.InfeasibleError, match="Example 0 has no output"):
        mine.encode(X, [["O", "I-a", None, "O"]])
    with pytest.raises(InvalidInputError, match="give longest= for every label"):
        so.Segments(TAGS).fitted(X, [["O", None, "O", "O"]])


def test_spans_become_tags():
    assert so.span_tags([[("b", 2, 3), ("a", 0, 2)]], ["abc"], scheme="runs") == [["a", "a", "b"]]
    tags = so.span_tags([[("PER", 1, 3)], []], [4, 2])
    assert [so.metrics.spans(y) for y in tags] == [[("PER", 1, 3)], []]


@pytest.mark.parametrize(
    ("spans", "scheme", "message"),
    [
        ([("a", 0, 2), ("b", 1, 3)], "bio", r"\('a', 0, 2\) and \('b', 1, 3\) of example 1 overl"),
        ([("a", 2, 2)], "bio", "example 1 does not lie within its 3 positions, or is empty"),
        ([("a", 2, 4)], "bio", "example 1 does not lie within its 3 positions"),
        (["ab"], "bio", r"is not \(type, begin, end\)"),
        ([("a", 0, 2)], "runs", "Position 2 of example 1 lies in no span"),
        ([("a", 0, 2), ("a", 2, 3)], "runs", "Position 2 of example 1 begins a second 'a'"),
        ([], "iob", "scheme is 'iob'"),
    ],
)
def test_bad_spans_are_named(spans, scheme, message):
    with pytest.raises(InvalidInputError, match=message):
        so.span_tags([[("a", 0, 3)], spans], [3, 3], scheme=scheme)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (["B-a", "I-a", "I-a"], "Example 4 has a segment 'a' of 3 positions from position 0, and"),
        (["O", "I-a", "O"], "Example 4 has 'I-a' at position 1, where no segment of 'a' has begun"),
        (["B-a", "I-b", "O"], "Example 4 has 'I-b' at position 1"),
        (["B-a", "O", "B-q"], "The label 'B-q' of example 4, position 2, is not one of"),
        (["B-a", "O"], "Example 4 has 3 positions but 2 labels"),
        (["B-b", "B-a", "O"], "Example 4 has 'a' after 'b' at segment 1, which transitions forbid"),
        (["O", "O", "B-b"], "Example 4 has the end after 'b' at segment 3"),
    ],
)
def test_bad_gold_is_named(y, message):
    X = [np.eye(3)]
    rules = {"b": ["b", "O"]}
    mine = so.Segments(TAGS, longest=2, transitions=rules).fitted(X, [["B-a", "I-a", "O"]])
    with pytest.raises(InvalidInputError, match=message) as error:
        mine.encode(X, [y], start=4)
    assert error.value.example == 4


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"scheme": "bioes"}, "scheme is 'bioes'; choose one of"),
        ({"borders": "left"}, "borders"),
        ({"decoder": "fast"}, "decoder is 'fast'"),
        ({"longest": 0}, "longest of 'a' is 0: it must be an integer from 1 to"),
        ({"longest": {"q": 3}}, "longest names the label 'q'"),
        ({"longest": {"a": 1.5}}, "longest of 'a' is 1.5"),
        ({"labels": ["I-a", "O"]}, "no 'B-a', with which its segments begin"),
        ({"labels": ["B-a", "E-a", "O"]}, "'E-a' is no tag of the scheme 'bio'"),
        ({"loss": so.losses.PartCosts(0.0, 1.0)}, "both must be > 0"),
        ({"loss": so.losses.TreeDistance({"a": "b"})}, "label"),
        ({"transitions": {"a": ["q"]}}, "transitions names the label 'q'"),
    ],
)
def test_bad_options_are_named(options, message):
    with pytest.raises(InvalidInputError, match=message):
        so.Segments(**options).fitted([np.eye(3)], [["B-a", "I-a", "O"]])


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (np.eye(3), "Example 1 has no features of spans, as those"),
        ((np.eye(3), np.ones((3, 1, 2))), r"example 1 have shape \(3, 1, 2\); expected \(3, 2 or"),
        ((np.eye(3), np.full((3, 2, 2), np.nan)), r"example 1 hold nan at \(0, 1\), column 0"),
        ((np.eye(3), lambda begin, end: [1.0]), r"\(0, 1\) has 1; expected 2"),
        ((np.eye(3), lambda begin, end: ["x", "y"]), "example 1 must hold real numbers"),
        ((np.ones((3, 4)), np.ones((3, 2, 2))), "Input of example 1 has 4 columns; expected 3"),
        ((np.eye(3),), "matrix"),
    ],
)
def test_bad_inputs_are_named(x, message):
    good = (np.eye(3), np.ones((3, 2, 2)))
    mine = so.Segments().fitted([good], [["B-a", "I-a", "O"]])
    with pytest.raises(InvalidInputError, match=message):
        mine.predict([good, x], np.zeros(mine.n_features_))


def test_what_cannot_be_is_refused():
    X, Y = [np.eye(2)], [["a", "b"]]
    mine = so.Segments(scheme="runs", longest=1).fitted(X, Y)
    with pytest.raises(IncompatibleError, match="slack_rescaled"):
        mine.slack_rescaled(X[0], np.zeros(mine.n_features_), Y[0])
    one = so.Segments(["a"], scheme="runs", longest=1).fitted([np.eye(1)], [["a"]])
    for ask in (one.predict, one.marginals):
        with pytest.raises(so.errors.InfeasibleError, match="Example 1 has no output"):
            ask([np.eye(1), np.ones((2, 1))], np.zeros(one.n_features_))
    parts = so.Segments(loss=so.losses.PartCosts()).fitted([np.eye(2)], [["B-a", "O"]])
    with pytest.raises(InvalidInputError, match="position 1 of example 0 is unknown"):
        parts.encode([np.eye(2)], [["B-a", None]])
    with pytest.raises(InvalidInputError, match="example 0 brings costs of its own"):
        parts.encode([np.eye(2)], [so.losses.Costed(["B-a", "O"], 2.0)])
    with pytest.raises(InvalidInputError, match="Input of example 0 has 1 dimension"):
        so.Segments().fitted(np.eye(2), [["B-a", "O"], ["O", "O"]])
