"""Constrained labellings: every answer against enumeration, and training to the optimum."""

from __future__ import annotations

import itertools
import pickle

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from enumeration import FORMULATIONS, optimum, solve
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import structopt as so
from structopt.errors import IncompatibleError, InfeasibleError, InvalidInputError, OracleError
from structopt.structures.base.integer.rows import Rows
from structopt.structures.base.small import Small
from structopt.structures.chain.scores import ChainScores
from structopt.structures.constrain import search as constrain_search
from structopt.structures.constrain import states
from structopt.structures.constrain.multipliers import by_multipliers
from structopt.structures.constrain.rules import (
    Labelling,
    allowed,
    at_least_one,
    at_most_one,
    exactly,
    if_then,
    no_overlap,
)
from structopt.testing import structure_oracles, structure_shards
from structopt.testing.check import run
from structopt.testing.structure_case import StructureCase

SPANS = [(0, 2), (1, 3), (3, 4)]


def not_first(x, z):
    return [z[0, "b"] == 0]


def no_more_than(x, z):
    return [cp.sum(z["a"]) <= cp.sum(z["b"]) + 1]


def with_a_helper(x, z):
    most = cp.Variable()
    return [most >= z["a"], most + z[0, "b"] <= 1]


# each rule with what it means, on a tuple of labels
RULES = {
    "most": (at_most_one("a", "b"), lambda y: y.count("a") <= 1 and y.count("b") <= 1),
    "least": (at_least_one("b"), lambda y: "b" in y),
    "exactly": (exactly("a", 2), lambda y: y.count("a") == 2),
    "if-then": (if_then("a", "b"), lambda y: "a" not in y or "b" in y),
    "allowed": (allowed(lambda x: ["a", "c"]), lambda y: "b" not in y),
    "overlap": (
        no_overlap(lambda x: SPANS[: len(x)], "c"),
        lambda y: len(y) < 2 or "c" in y[:2],
    ),
    "own": (not_first, lambda y: y[0] != "b"),
    "own sums": (no_more_than, lambda y: y.count("a") <= y.count("b") + 1),
    "helper": (with_a_helper, lambda y: y[0] != "b" or "a" not in y),
}


def right(names, labels, length):
    every = itertools.product(labels, repeat=length)
    return [y for y in every if all(RULES[name][1](y) for name in names)]


FOLLOW = {None: ["a", "b"], "a": ["b", "c", None], "b": ["a", "b"]}  # c: whatever may follow


def may_follow(y):
    steps = zip([None, *y], [*y, None], strict=True)
    return all(b in FOLLOW.get(a, [b]) for a, b in steps)


@st.composite
def problems(draw):
    names = draw(st.lists(st.sampled_from(sorted(RULES)), max_size=3, unique=True))
    length = draw(st.integers(1, 3))
    chained, boundaries = draw(st.booleans()), draw(st.booleans())
    follow = draw(st.sampled_from([None, FOLLOW])) if chained else None
    outputs = [y for y in right(names, "abc", length) if follow is None or may_follow(y)]
    assume(outputs)
    heavy = draw(st.sampled_from([None, {"a": 2.5}]))
    loss = so.losses.Hamming(heavy)
    base = so.Multiclass("abc", loss)
    if chained:
        base = so.Chain("abc", loss, boundaries, transitions=follow)
    structure = so.constrain(base, [RULES[name][0] for name in names])
    x = np.array(draw(st.lists(st.integers(-2, 2), min_size=length, max_size=length)), float)
    gold = draw(st.sampled_from(outputs))
    structure = structure.fitted([x[:, None]], [gold])
    size = structure.n_features_
    w = np.array(draw(st.lists(st.integers(-2, 2), min_size=size, max_size=size)), float)
    return structure, x[:, None], gold, w, outputs


@pytest.mark.parametrize(("listed", "most"), [(16, 3000), (0, 3000), (0, 0)])
@settings(max_examples=12)
@given(problem=problems())
def test_every_answer_is_the_best_by_enumeration(listed, most, problem):
    structure, x, gold, _, outputs = problem
    listed_outputs = [list(y) for y in outputs]

    def loss(right, y):
        return sum(
            structure.class_weight_["abc".index(a)] * (a != b)
            for a, b in zip(right, y, strict=True)
        )

    small = Small(
        structure, [x, x], [list(gold)] * 2, lambda x: listed_outputs, None, loss, tol=1e-7
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(constrain_search, "LISTED", listed)
        patch.setattr(states, "MOST", most)  # both 0: HiGHS answers what Viterbi does not
        run((*structure_oracles.CHECKS, *structure_shards.CHECKS), StructureCase(small), "rules")


def test_programmes_keep_what_may_follow_and_end(monkeypatch):
    monkeypatch.setattr(constrain_search, "LISTED", 0)
    monkeypatch.setattr(states, "MOST", 0)
    monkeypatch.setattr(constrain_search, "by_multipliers", lambda *_: None)
    rng, x = np.random.default_rng(0), np.array([[1.0], [-1.0], [2.0]])
    outputs = [y for y in right(["most"], "abc", 3) if may_follow(y)]
    base = so.Chain("abc", boundaries=True, transitions=FOLLOW)
    structure = so.constrain(base, [RULES["most"][0]]).fitted([x], [outputs[0]])
    phi = np.array([structure.joint_features(x, y).toarray()[0] for y in outputs])
    for _ in range(20):
        w = rng.normal(size=structure.n_features_)
        assert tuple(structure.argmax(x, w)) == outputs[int(np.argmax(phi @ w))]


def test_the_unconstrained_answer_needs_no_solver(monkeypatch):
    X = [np.eye(2), np.eye(2)]
    structure = so.constrain(so.Chain(), at_most_one("b")).fitted(X, [["a", "b"], ["b", "a"]])
    monkeypatch.setattr(constrain_search, "IntegerProgram", None)
    weights = np.array([1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0])
    assert structure.predict(X, weights) == [["a", "b"], ["a", "b"]]


def test_multipliers_prove_what_enumeration_finds():
    rng, proven = np.random.default_rng(0), 0
    rules = [at_most_one("a"), at_least_one("b"), if_then("c", "a")]
    outputs = [
        y
        for y in itertools.product("abc", repeat=5)
        if y.count("a") <= 1 and "b" in y and ("c" not in y or "a" in y)
    ]
    for _ in range(40):
        x = rng.normal(size=(5, 2))
        structure = so.constrain(so.Chain("abc"), rules).fitted([x], ["abcab"])
        w = rng.normal(size=structure.n_features_)
        shard = structure.pack([x], None)
        found = by_multipliers(shard.chain.part_scores(w), shard.sets[0].rows)
        if found is not None:
            proven += 1
            rows = [structure.joint_features(x, y) for y in outputs]
            best = max(float((row @ w)[0]) for row in rows)
            labels = structure.labels_.decode(found[0])
            assert tuple(labels) in outputs
            mine = float((structure.joint_features(x, labels) @ w)[0])
            assert mine == pytest.approx(best, abs=1e-9)
    assert proven >= 20  # else HiGHS would do the work


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("chained", [True, False])
def test_the_search_over_states_is_enumeration(chained, whole):
    """Rows of any signs and bounds, parts that are fixed, labels that are barred or known."""
    rng, none = np.random.default_rng(7), 0
    for _ in range(300):
        length, n_labels = int(rng.integers(1, 6)), int(rng.integers(1, 4))
        parts, m = length * n_labels, int(rng.integers(0, 4))
        numbers = rng.integers(-2, 3, (4, parts)).astype(float)
        unary, transition, ends = (
            rng.integers(-3, 4, shape).astype(float)
            for shape in ((length, n_labels), (n_labels, n_labels), (2, n_labels))
        )
        if not whole:
            unary, numbers = unary + rng.normal(size=unary.shape), numbers * 0.37
        if not chained:
            transition[:], ends[:] = 0.0, 0.0
        unary[rng.random(unary.shape) < 0.1] = -np.inf
        A = sp.csr_array(numbers[:m] * (rng.random((m, parts)) < 0.6))
        lower = np.where(rng.random(m) < 0.5, -np.inf, rng.integers(-3, 1, m))
        upper = np.where(rng.random(m) < 0.5, np.inf, rng.integers(0, 3, m))
        lb = (rng.random(parts) < 0.03).astype(float)
        ub = np.maximum(lb, (rng.random(parts) < 0.95).astype(float))
        rows = Rows(A, lower, upper, lb, ub, np.ones(parts, dtype=bool), parts)
        every = np.array(list(itertools.product(range(n_labels), repeat=length)))
        points = np.zeros((len(every), parts))
        points[np.arange(len(every))[:, None], np.arange(length) * n_labels + every] = 1.0
        known = [every[k] for k in rng.integers(len(every), size=int(rng.integers(0, 3)))]
        total = unary[np.arange(length), every].sum(axis=1) + ends[0][every[:, 0]]
        total += transition[every[:, :-1], every[:, 1:]].sum(axis=1) + ends[1][every[:, -1]]
        barred = np.array([any(np.array_equal(y, z) for z in known) for y in every])
        total[~rows.satisfied(points) | barred] = -np.inf
        found = states.by_states(ChainScores(unary, transition, *ends), rows, known)
        if not len(found):
            none += 1
            assert total.max() == -np.inf
        else:
            mine = total[np.flatnonzero((every == found).all(axis=1))[0]]
            assert mine == pytest.approx(total.max(), abs=1e-12)
    assert none >= 5


def test_prefixes_that_agree_in_their_rows_are_one_state(monkeypatch):
    """2^30 labellings with +1 and -1 in turn: every prefix sum is 0 or 1."""
    length, sign = 30, np.array([0.0, 1.0, -1.0])
    A = sp.csr_array(np.kron(np.tril(np.ones((length, length))), sign))
    rows = Rows(
        A, np.zeros(length), np.ones(length), np.zeros(3 * length), np.ones(3 * length),
        np.ones(3 * length, dtype=bool), 3 * length,
    )  # fmt: skip
    monkeypatch.setattr(states, "MOST", 3 * length)
    unary = np.tile([0.0, 1.0, 1.0], (length, 1))
    free = np.zeros(3)
    found = states.by_states(ChainScores(unary, np.zeros((3, 3)), free, free), rows)
    assert found.tolist() == [1, 2] * (length // 2)


def drawn(rng, base, n=4):
    outputs = [list(y) for y in right(["if-then", "own"], "abc", 3)]
    X = [np.round(rng.normal(size=(3, 2)), 2) for _ in range(n)]
    Y = [outputs[k] for k in rng.integers(len(outputs), size=n)]
    structure = so.constrain(base, [if_then("a", "b"), not_first]).fitted(X, Y)
    return X, Y, structure, [outputs] * n


@pytest.mark.parametrize("kind", ["svm-unit", "svm-margin", "m3n", "lp-free"])
@pytest.mark.parametrize("base", [so.Chain("abc"), so.Multiclass("abc")], ids=["chain", "set"])
def test_training_reaches_the_enumerated_optimum(kind, base, monkeypatch):
    monkeypatch.setattr(constrain_search, "LISTED", 0)
    problem = drawn(np.random.default_rng(2), base)
    X, Y, structure, _ = problem
    result = solve(structure, FORMULATIONS[kind](1.0), X, Y, tol=1e-5)
    truth = optimum(kind, 1.0, problem)
    assert result.certificate.certified
    assert result.certificate.primal == pytest.approx(truth, rel=1e-4)
    assert result.certificate.dual <= truth * (1 + 1e-6) + 1e-9


@pytest.mark.parametrize("method", ["frank-wolfe", "perceptron"])
def test_methods_that_visit_examples_one_at_a_time(method):
    X, Y, structure, _ = drawn(np.random.default_rng(4), so.Multiclass("abc"))
    options = {"method": method, "max_iter": 300, "tol": 1e-3}
    model = so.StructuredClassifier(structure, so.M3N(C=1.0), **options).fit(X, Y)
    for y in model.predict(X):
        assert y[0] != "b"
        assert "a" not in y or "b" in y


def test_constraints_on_a_model_trained_without():
    rng = np.random.default_rng(1)
    X = [rng.normal(size=(3, 2)) for _ in range(20)]
    Y = [["abc"[np.argmax([u, v, 0.0])] for u, v in x] for x in X]
    model = so.StructuredClassifier(so.Chain(), so.M3N(C=1.0), tol=1e-2).fit(X, Y)
    mended = model.predict(X, constraints=[at_most_one("a"), at_least_one("b")])
    free = model.predict(X)
    kept = 0
    for x, y, old in zip(X, mended, free, strict=True):
        assert y.count("a") <= 1
        assert "b" in y
        if old.count("a") <= 1 and "b" in old:
            assert y == old
            kept += 1
        outputs = [y for y in itertools.product("abc", repeat=3) if y.count("a") <= 1 and "b" in y]
        score = [
            (model.structure_.joint_features(x, z) @ model.result_.weights)[0] for z in outputs
        ]
        mine = (model.structure_.joint_features(x, y) @ model.result_.weights)[0]
        assert mine == pytest.approx(max(score))
    assert 0 < kept < 20


def test_contexts_reach_the_constraints_and_sparse_inputs_work():
    X = [(sp.csr_array(np.eye(2)), {"roles": ["a"]}), (sp.csr_array(np.eye(2)), {"roles": "ab"})]
    Y = [["a", "a"], ["b", "a"]]
    legal = allowed(lambda x: x["roles"])
    structure = so.constrain(so.Multiclass(), legal).fitted(X, Y)
    assert structure.predict(X, np.array([0.0, 0.0, 1.0, 1.0])) == [["a", "a"], ["b", "b"]]
    shard = pickle.loads(pickle.dumps(structure.encode(X, Y)))
    assert shard.ask(so.oracles.best_other, np.zeros(4)).score.tolist() == [np.inf, 0.0]
    assert structure.feature_names()[-1] == ("x1", "b")


def test_what_cannot_be_satisfied_names_the_example():
    X, Y = [np.eye(2), np.eye(2)], [["a", "b"], ["b", "b"]]
    once = so.constrain(so.Chain(), at_most_one("b")).fitted(X, Y)
    with pytest.raises(InfeasibleError, match=r"example 6 break its constraints \(1 of 2") as info:
        once.encode(X, Y, start=5)
    assert info.value.example == 6
    never = so.constrain(so.Chain(), [at_most_one("b"), at_most_one("a")]).fitted(X, Y)
    X3 = [np.eye(2), np.ones((3, 2))]
    with pytest.raises(InfeasibleError, match="Example 1 has no output") as info:
        never.predict(X3, np.zeros(8))
    assert info.value.example == 1
    with pytest.raises(InfeasibleError, match="has no output at all"):
        never.argmax(X3[1], np.zeros(8))


def test_what_cannot_be_used_is_refused_by_name():
    X, Y = [np.eye(2)], [["a", "b"]]
    with pytest.raises(IncompatibleError, match="takes a compiled Chain or Multiclass"):
        so.constrain(so.Enumerated([0, 1], lambda x, y: x), [])
    unknown = so.constrain(so.Chain(), at_most_one("z")).fitted(X, Y)
    with pytest.raises(InvalidInputError, match="names the label 'z'") as info:
        unknown.encode(X, Y, start=3)
    assert info.value.example == 3
    broken = so.constrain(so.Chain(), lambda x, z: 1 / 0).fitted(X, Y)
    with pytest.raises(OracleError, match="failed on example 0: ZeroDivisionError"):
        broken.encode(X, Y)
    short = so.constrain(so.Chain(), no_overlap(lambda x: [(0, 1)], "a")).fitted(X, Y)
    with pytest.raises(InvalidInputError, match="1 spans for 2 positions"):
        short.encode(X, Y)
    fine = so.constrain(so.Chain(), at_most_one("a"))
    with pytest.raises(IncompatibleError, match="'slack_rescaled'"):
        so.StructuredClassifier(fine, so.StructSVM(rescale="slack")).fit(X, Y)
    assert Labelling("ab", 2).size == 4
