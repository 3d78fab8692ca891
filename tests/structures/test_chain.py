"""Chains beyond the contract of every structure: ties, levels of loss, labels, mistakes."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import structopt as so
from structopt.errors import IncompatibleError, InfeasibleError, InvalidInputError
from structopt.structures.chain import kernels as chain_kernels
from structopt.structures.chain import reference as chain_reference
from structopt.structures.chain.small import small
from structopt.testing.structure_case import StructureCase

ENGINES = ("compiled", "networkx")


def test_ties_of_slack_rescaling_go_to_the_smaller_loss():
    compared = 0
    for seed in range(40):
        case = StructureCase(small(np.random.default_rng(seed)), seed)
        whole = all(np.all(2 * loss == np.round(2 * loss)) for loss in case.losses)
        for i, w in case.asked():
            if whole and case.exactly(w):
                order = np.argsort(case.losses[i], kind="stable")
                best = order[np.argmax(case.hinge(so.slack_rescaled, i, w)[order])]
                y = case.structure.slack_rescaled(case.X[i], w, case.Y[i])
                assert y == case.outputs[i][best]
                compared += 1
    assert compared > 100


@settings(max_examples=15, deadline=None, derandomize=True)
@given(st.integers(0, 2**32 - 1), st.booleans(), st.booleans())
def test_engines_agree_beyond_the_reach_of_enumeration(seed, whole, boundaries):
    rng = np.random.default_rng(seed)
    labels, length = list(range(9)), 11  # 9^11 outputs
    x = rng.integers(-2, 3, (length, 3)) * 1.0 if whole else rng.standard_normal((length, 3))
    gold = rng.integers(0, 9, length)
    mine, reference = (
        so.Chain(labels, boundaries=boundaries, decoder=decoder).fitted([x], [gold])
        for decoder in ENGINES
    )
    w = rng.standard_normal(mine.n_features_)
    w = np.round(w) if whole else w
    assert mine.argmax(x, w) == reference.argmax(x, w)
    assert mine.argmax(x, w, gold=gold) == reference.argmax(x, w, gold=gold)
    assert mine.argmin(x, w) == reference.argmin(x, w)
    best = mine.argmax(x, w)
    for y in (gold, best):
        assert mine.second_best(x, w, y) == reference.second_best(x, w, y)
    assert mine.k_best(x, w, 5) == reference.k_best(x, w, 5)
    # with no weights at all everything is tied, which is where a run of cutting planes begins
    nothing = np.zeros(mine.n_features_)
    assert mine.second_best(x, nothing, [0] * length) == [1] + [0] * (length - 1)
    assert reference.second_best(x, nothing, [0] * length) == [1] + [0] * (length - 1)


@settings(max_examples=400, deadline=None, derandomize=True)
@given(st.integers(0, 2**32 - 1))
def test_best_other_when_gold_itself_is_among_the_tied(seed):
    # the prefix of gold then ties with others, and the tie rule must choose between them
    rng = np.random.default_rng(seed)
    length, n = int(rng.integers(2, 5)), int(rng.integers(2, 4))
    unary, transition = rng.integers(0, 2, (length, n)) * 1.0, rng.integers(0, 2, (n, n)) * 1.0
    zero, offsets = np.zeros(n), np.array([0, length])

    def score(y):
        pairs = sum(transition[a, b] for a, b in itertools.pairwise(y))
        return pairs + sum(unary[t, k] for t, k in enumerate(y))

    outputs = sorted(itertools.product(range(n), repeat=length), key=lambda y: y[::-1])
    scores = {y: score(y) for y in outputs}
    best = [y for y in outputs if scores[y] == max(scores.values())]
    gold = best[rng.integers(len(best))]
    expected = max((y for y in outputs if y != gold), key=scores.__getitem__)
    for decoder in (chain_kernels, chain_reference):
        found = decoder.best_other(unary, transition, zero, zero, offsets, np.array(gold))
        assert tuple(found) == expected


def test_levels_of_loss():
    # 2^12 subset sums of odd weights are the most there may be; 2^13 are refused
    x, gold = np.eye(12), "abcdefghijkl"
    odd = {k: 1 + np.sqrt(t) / 7 for t, k in enumerate("abcdefghijklm")}
    most = so.Chain("abcdefghijklm", so.losses.Hamming(odd)).fitted([x], [gold])
    w = np.random.default_rng(0).standard_normal(most.n_features_)
    y = most.slack_rescaled(x, w, gold)
    delta = (most.joint_features(x, gold) - most.joint_features(x, y)) @ w
    best_hinge = most.loss(gold, y) * (1 - delta[0])
    for z in most.k_best(x, w, 50):
        delta = (most.joint_features(x, gold) - most.joint_features(x, z)) @ w
        assert most.loss(gold, z) * (1 - delta[0]) <= best_hinge + 1e-9
    x, gold = np.ones((13, 12)), "abcdefghijklm"
    sentence = r"^With these class weights example 4 has more than 4096 .*: use margin rescaling"
    with pytest.raises(IncompatibleError, match=sentence):
        most.encode([x], [gold], start=4).ask(so.slack_rescaled, w)
    # but a common factor is no reason to refuse, however odd
    scaled = so.Chain(loss=so.losses.Hamming({k: (1 + t) / 3 for t, k in enumerate("ab")})).fitted(
        [np.ones((200, 1))], ["ab" * 100]
    )
    assert scaled.encode([np.ones((200, 1))], ["ab" * 100]).ask(so.slack_rescaled, np.zeros(6)).loss


@pytest.mark.parametrize("decoder", ENGINES)
def test_labels_of_any_kind_in_and_out(decoder):
    X = [np.eye(2), np.eye(2)[:1]]
    w = np.array([1.0, 0, 0, 1, 0, 0, 0, 0])
    for Y, expected in [
        (["ab", "a"], ["a", "b"]),
        ([("a", "b"), ["a"]], ["a", "b"]),
        ([np.array([3, 4]), np.array([3])], [3, 4]),
        ([[("N", 1), ("V", 1)], [("N", 1)]], [("N", 1), ("V", 1)]),
        ([[1, "x"], [1]], [1, "x"]),
    ]:
        mine = so.Chain(decoder=decoder).fitted(X, Y)
        assert mine.predict(X, w) == [expected, expected[:1]]
        assert list(map(type, mine.predict(X, w)[0])) == list(map(type, expected))
        assert mine.loss(Y[0], expected) == 0
        assert mine.part_count(Y[0]) == 2
        assert mine.encode(X, Y).ask(so.loss_augmented, 5 * w).loss.tolist() == [0, 0]
    assert mine.predict([], w) == []


def test_layout_names_and_copies():
    X, Y = [np.eye(3)[:2]], ["ba"]
    given_ = so.Chain(labels="abz", boundaries=True)
    mine = given_.fitted(X, Y)
    assert not hasattr(given_, "labels_")
    names = mine.feature_names()
    assert len(names) == mine.n_features_ == 3 * 3 + 9 + 6
    assert (mine.n_inputs_, list(mine.labels_)) == (3, ["a", "b", "z"])
    phi = mine.joint_features(X[0], "ba")
    assert phi.shape == (1, mine.n_features_)
    assert {names[j]: v for j, v in zip(phi.indices, phi.data, strict=True)} == {
        ("x1", "a"): 1.0,
        ("x0", "b"): 1.0,
        ("after b", "a"): 1.0,
        ("start", "b"): 1.0,
        ("end", "a"): 1.0,
    }
    assert mine.feature_names(["u", "v", "w"])[1] == ("v", "a")
    shard = pickle.loads(pickle.dumps(mine.encode(X, Y)))
    assert shard.ask(so.loss_augmented, np.zeros(mine.n_features_)).loss.tolist() == [2.0]
    others = {"argmin", "second_best", "k_best", "slack_rescaled", "marginals"}
    assert mine.abilities() == {"argmax", "second_augmented"} | others


def test_dense_and_sparse_tokens_give_the_same_answers():
    rng = np.random.default_rng(1)
    full = [rng.standard_normal((t, 9)) for t in (3, 1, 6)]
    for X in (full, [x * (rng.random(x.shape) < 0.2) for x in full]):
        Y = [rng.integers(0, 3, len(x)) for x in X]
        mine = so.Chain(labels=range(3)).fitted(X, Y)
        w = rng.standard_normal(mine.n_features_)
        mixed = [sp.csc_array(X[0]), X[1], sp.coo_matrix(X[2])]
        dense = mine.encode(X, Y).ask(so.loss_augmented, w)
        for same in (mixed, [x.tolist() for x in X], [x.astype(np.float32) for x in X]):
            answers = mine.encode(same, Y).ask(so.loss_augmented, w)
            np.testing.assert_array_equal(answers.outputs, dense.outputs)
            np.testing.assert_allclose(answers.score, dense.score, atol=1e-5)
            assert mine.predict(same, w) == mine.predict(X, w)


def bad_cases():
    X, Y = [np.eye(2), np.ones((1, 2))], ["ab", "a"]
    nan = [X[0], np.array([[1.0, np.nan]])]
    return [
        (nan, Y, r"example 1 holds nan at position 0, column 1"),
        ([sp.csr_array(x) for x in nan], Y, r"example 1 holds nan at position 0, column 1"),
        (
            [np.array([[0, 1], [-np.inf, 0]]), X[1]],
            Y,
            "example 0 holds -inf at position 1, column 0",
        ),
        ([X[0], np.ones((1, 3))], Y, r"example 1 has 3 columns; expected 2"),
        ([X[0], np.ones((0, 2))], Y, "Example 1 is empty"),
        ([X[0], np.ones(2)], Y, r"example 1 has 1 dimension\(s\), shape \(2,\)"),
        ([X[0], [["p", "q"]]], Y, "example 1 must hold real numbers"),
        ([X[0], [[1.0, 2.0], [3.0]]], Y, "example 1 must hold real numbers"),
        ([X[0], np.array([[1j, 2]])], Y, "complex"),
        (X, ["ab", "ab"], "Example 1 has 1 positions but 2 labels"),
        (X, ["ab", "c"], r"'c' of example 1, position 0, is not one of the 2 known.*labels="),
        (X, ["ab", 3], "output of example 1 is 3: give a sequence"),
        (X, ["ab"], "2 inputs but 1 outputs"),
        (X, ["ab", [["a"]]], "of example 1, position 0, is a list, which cannot be hashed"),
    ]


@pytest.mark.parametrize("decoder", ENGINES)
@pytest.mark.parametrize(("X", "Y", "message"), bad_cases())
def test_bad_input_is_named(decoder, X, Y, message):
    mine = so.Chain(decoder=decoder).fitted([np.eye(2)], ["ab"])
    with pytest.raises(InvalidInputError, match=message):
        mine.encode(X, Y)
    if Y == ["ab", "a"]:  # the inputs are at fault, so prediction refuses them too
        with pytest.raises(InvalidInputError, match=message):
            mine.predict(X, np.zeros(8))


def test_bad_parameters_are_named():
    X, Y = [np.eye(2)], ["ab"]
    with pytest.raises(InvalidInputError, match=r"decoder is 'fast'; it must be one of"):
        so.Chain(decoder="fast").fitted(X, Y)
    with pytest.raises(InvalidInputError, match="'b' of example 0, position 1"):
        so.Chain(labels="a").fitted(X, Y)
    with pytest.raises(InvalidInputError, match="class_weight names the label 'q'"):
        so.Chain(loss=so.losses.Hamming({"q": 1.0})).fitted(X, Y)
    with pytest.raises(InvalidInputError, match="give a list with one"):
        so.Chain().fitted(sp.eye_array(2), ["a", "b"])
    with pytest.raises(InvalidInputError, match=r"Input of example 0 has 1 dimension"):
        so.Chain().fitted(np.eye(2), ["a", "b"])
    with pytest.raises(InvalidInputError, match="no columns"):
        so.Chain().fitted([np.ones((2, 0))], Y)
    mine = so.Chain().fitted(X, Y)
    with pytest.raises(InvalidInputError, match=r"weights has shape \(7,\); expected \(8,\)"):
        mine.predict(X, np.zeros(7))
    with pytest.raises(InvalidInputError, match="k must be an integer >= 1; got 0"):
        mine.k_best(X[0], np.zeros(8), 0)
    with pytest.raises(InvalidInputError, match="2 and 3 labels cannot be compared"):
        mine.loss("ab", "aba")
    other = so.Oracle("odd", "argmax", "?", margin=abs, scale=abs)
    for decoder in ENGINES:
        shard = so.Chain(decoder=decoder).fitted(X, Y).encode(X, Y)
        with pytest.raises(IncompatibleError, match="does not know the oracle 'odd'"):
            shard.ask(other, np.zeros(8))


@pytest.mark.parametrize("boundaries", [False, True])
def test_one_sequence_alone_is_decoded_as_in_a_batch(boundaries):
    rng = np.random.default_rng(0)
    dense = [np.round(rng.normal(size=(int(n), 6)), 1) for n in rng.integers(1, 9, 30)]
    Y = [list(rng.choice(["O", "B-A"], size=len(x))) for x in dense]
    for transitions in (None, "bio"):
        mine = so.Chain(["O", "B-A", "I-A"], None, boundaries, transitions=transitions)
        for X in (dense, [sp.csr_array(x * (abs(x) > 0.5)) for x in dense]):
            chain = mine.fitted(X, Y)
            w = rng.normal(size=chain.n_features_)
            w.flags.writeable = False
            whole = chain.predict(X, w)
            assert [chain.predict([x], w)[0] for x in X] == whole
            assert [chain.argmax(x, w) for x in X] == whole
            # what is odd about an input is said as ever
            with pytest.raises(InvalidInputError, match="7 columns; expected 6"):
                chain.predict([np.ones((2, 7))], w)
            with pytest.raises(InvalidInputError, match="not finite"):
                chain.predict([np.full((2, 6), np.nan)], w)
            with pytest.raises(InvalidInputError, match="weights has shape"):
                chain.predict(X[:1], w[1:])
            assert chain.predict([sp.coo_array(x) for x in X[:1]], w) == whole[:1]
    nowhere = so.Chain("ab", transitions=np.zeros((2, 2)))  # nothing may follow
    nowhere = nowhere.fitted([np.ones((1, 1))], ["a"])
    with pytest.raises(InfeasibleError, match="Example 0"):
        nowhere.predict([np.ones((2, 1))], np.zeros(nowhere.n_features_))
