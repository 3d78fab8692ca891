"""Second-order chains beyond the contract of every structure: chains, patterns, mistakes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import structopt as so
from structopt.errors import IncompatibleError, InfeasibleError, InvalidInputError
from structopt.structures.second_order.small import small
from structopt.testing import structure_oracles as oracles
from structopt.testing.structure_case import StructureCase
from structopt.testing.structure_shards import shard_answers_are_brute_force
from structopt.testing.structure_sums import expectations_are_sums_over_outputs

SOME = settings(max_examples=12, deadline=None, derandomize=True)


@SOME
@given(st.integers(0, 2**32 - 1))
def test_every_question_is_answered_as_by_enumeration(seed):
    case = StructureCase(small(np.random.default_rng(seed)), seed % 100)
    oracles.loss_augmented_is_brute_force(case)
    oracles.k_best_is_brute_force(case)
    shard_answers_are_brute_force(case)
    expectations_are_sums_over_outputs(case)


@SOME
@given(st.integers(0, 2**32 - 1))
def test_without_triples_it_is_a_chain(seed):
    rng = np.random.default_rng(seed)
    X = [rng.standard_normal((int(rng.integers(1, 9)), 3)) for _ in range(4)]
    Y = [rng.integers(1, 4, len(x)).tolist() for x in X]
    options = {"labels": range(4), "boundaries": True, "transitions": {0: [1, 2, 3]}}
    options |= {"loss": so.losses.Confusion({(1, 2): 3.0})}
    chain, mine = (kind(**options).fitted(X, Y) for kind in (so.Chain, so.SecondOrderChain))
    w = rng.standard_normal(chain.n_features_)
    v = np.append(w, np.zeros(4**3))
    one, other = mine.encode(X, Y), chain.encode(X, Y)
    for oracle in (so.loss_augmented, so.oracles.best_other, so.oracles.worst):
        a, b = one.ask(oracle, v), other.ask(oracle, w)
        np.testing.assert_array_equal(a.outputs, b.outputs)
        np.testing.assert_allclose(a.loss, b.loss)
        np.testing.assert_allclose(a.score, b.score, atol=1e-9)
    for a, b in zip(mine.marginals(X, v), chain.marginals(X, w), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-9)


def test_what_two_labels_cannot_tell_is_learned():
    # every third label is b; to a chain aabaabaabaa is aaababaabaa, which has the same pairs
    X, Y = [np.ones((11, 1))], ["aabaabaabaa"]
    program, found = so.LPStruct(C=10.0, nonnegative=False), []
    for structure in (so.Chain(), so.SecondOrderChain()):
        model = so.StructuredClassifier(structure, program).fit(X, Y)
        found.append((model.result_.certificate.primal, "".join(model.predict(X)[0])))
    assert found[0][0] >= 10.0 > found[1][0]
    assert found[1][1] == Y[0]


def test_mistakes_are_named():
    X, Y = [np.eye(3)], ["abc"]
    mine = so.SecondOrderChain(transitions={"a": "b"}).fitted(X, Y)
    zero = np.zeros(mine.n_features_)
    with pytest.raises(InvalidInputError, match="Example 7 has 'c' after 'a' at position 1"):
        mine.encode(X, ["acb"], start=7)
    with pytest.raises(InvalidInputError, match="The label 'q' of example 7, position 0"):
        mine.encode(X, ["qab"], start=7)
    with pytest.raises(InvalidInputError, match="Example 0 has 3 positions but 2 labels"):
        mine.encode(X, ["ab"])
    with pytest.raises(InvalidInputError, match=r"weights has shape \(3,\)"):
        mine.predict(X, np.zeros(3))
    with pytest.raises(InvalidInputError, match="decoder is 'fast'"):
        so.SecondOrderChain(decoder="fast").fitted(X, Y)
    with pytest.raises(IncompatibleError, match="has no 'slack_rescaled'"):
        mine.slack_rescaled(X[0], zero, "abc")
    stuck = so.SecondOrderChain(transitions={"a": "b", "b": [None]}).fitted([X[0][:2]], ["ab"])
    for ask in (stuck.predict, stuck.marginals):
        with pytest.raises(InfeasibleError, match="Example 0 has no output"):
            ask(X, np.zeros(stuck.n_features_))
    names = mine.feature_names()
    assert len(names) == len(set(names)) == mine.n_features_
