"""Outputs given by constraints: every answer against enumeration, and training to the optimum."""

from __future__ import annotations

import itertools

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import structopt as so
from structopt.errors import InfeasibleError, InvalidInputError, OracleError
from structopt.structures.base.integer.rows import compile_rows
from structopt.structures.base.integer.solver import IntegerProgram
from structopt.structures.base.small import Small
from structopt.testing import structure_oracles, structure_shards
from structopt.testing.check import run
from structopt.testing.structure_case import StructureCase


def limits(x, z):
    """x holds features, rows A and right-hand sides b: A z <= b."""
    return [x["A"] @ z <= x["b"]] if len(x["b"]) else []


def features(x):
    return x["F"]


def points(x):
    every = itertools.product((0, 1), repeat=x["F"].shape[0])
    return [z for z in every if np.all(x["A"] @ np.array(z) <= x["b"])]


@st.composite
def problems(draw):
    parts, d = draw(st.integers(1, 5)), 2
    small = st.integers(-2, 2)
    n_rows = draw(st.integers(0, 3))
    table = st.lists(small, min_size=n_rows * parts, max_size=n_rows * parts)
    A = np.array(draw(table), float).reshape(n_rows, parts)
    b = np.array(draw(st.lists(small, min_size=n_rows, max_size=n_rows)), float)
    F = np.array(draw(st.lists(small, min_size=parts * d, max_size=parts * d)), float)
    w = np.array(draw(st.lists(small, min_size=d, max_size=d)), float)
    x = {"A": A, "b": b, "F": F.reshape(parts, d)}
    assume(points(x))
    return x, w, draw(st.sampled_from(points(x)))


@settings(max_examples=12)
@given(problems(), st.sampled_from([1.0, 0.5, 0.0]))
def test_every_answer_is_the_best_by_enumeration(problem, cost):
    x, _, gold = problem
    structure = so.BooleanProgram(limits, features, loss=so.losses.PartCosts(cost, cost))
    case = StructureCase(Small(structure, [x], [gold], points, tol=1e-7))
    free = {} if cost else {"loss_is_zero_at_gold_only": "nothing costs anything"}
    run((*structure_oracles.CHECKS, *structure_shards.CHECKS), case, "program", exclude=free)


def test_fractional_relaxations_are_branched_on():
    # each pair at most once: the relaxation takes 1/2 of each part, the best point one of them
    def pairs(x, z):
        return [z[0] + z[1] <= 1, z[1] + z[2] <= 1, z[0] + z[2] <= 1]

    z = cp.Variable(3, boolean=True)
    program = IntegerProgram(compile_rows(pairs(None, z), z))
    relaxed = program.relax(np.ones(3))
    np.testing.assert_allclose(relaxed.values, 0.5)
    assert relaxed.bound == pytest.approx(1.5)
    assert so.BooleanProgram(pairs, lambda x: x).argmax(np.diag([1.0, 1.5, 1.0]), np.ones(3)) == (
        0,
        1,
        0,
    )


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
def test_small_and_large_scores_are_told_apart(scale):
    structure = so.BooleanProgram(lambda x, z: [cp.sum(z) == 1], lambda x: x)
    x = np.array([[1.0], [1.0 + 1e-5], [0.5]])
    assert structure.argmax(x, np.array([scale])) == (0, 1, 0)


def test_other_variables_and_what_cvxpy_lowers():
    # runs: u_t >= z_t - z_{t-1} counts starts; at most one run, at least two parts, max <= 1
    def one_run(x, z):
        starts = cp.Variable(z.size - 1, nonneg=True)
        return [starts >= z[1:] - z[:-1], z[0] + cp.sum(starts) <= 1, cp.abs(2 - cp.sum(z)) <= 1]

    structure = so.BooleanProgram(one_run, lambda x: x[:, None])
    x = np.array([2.0, -1.5, 2.0, -9.0, 5.0])
    assert structure.argmax(x, np.ones(1)) == (0, 0, 0, 0, 1)
    assert structure.argmax(x[:3], np.ones(1)) == (1, 1, 1)
    fitted = structure.fitted([x], [(1, 0, 0, 0, 0)])
    assert fitted.encode([x], [(1, 0, 0, 0, 0)]).n_examples == 1
    with pytest.raises(InfeasibleError, match="gold output of example 7 breaks") as info:
        fitted.encode([x], [(1, 0, 0, 0, 1)], start=7)
    assert info.value.example == 7


class Budget(so.BooleanProgram):
    """A subclass: at most x[0] of three things."""

    def __init__(self):
        super().__init__(loss=so.losses.PartCosts())

    def constraints(self, x, z):
        return [cp.sum(z) <= x[0]]

    def features(self, x):
        return sp.csr_array(np.reshape(x[1:], (3, 2)))


def drawn(rng, n=5):
    X = [np.concatenate([[2.0], np.round(rng.normal(size=6), 2)]) for _ in range(n)]
    outputs = [z for z in itertools.product((0, 1), repeat=3) if sum(z) <= 2]
    Y = [outputs[k] for k in rng.integers(len(outputs), size=n)]
    return X, Y, Budget().fitted(X, Y), [outputs] * n


@pytest.mark.parametrize("method", ["frank-wolfe", "perceptron", "mira"])
def test_methods_that_visit_examples_one_at_a_time(method):
    X, Y, _, _ = drawn(np.random.default_rng(4))
    model = so.StructuredClassifier(Budget(), so.M3N(C=1.0), method=method, max_iter=200, tol=1e-3)
    model.fit(X, Y)
    assert 0.0 <= model.score(X, Y) <= 1.0
    assert model.predict(X)[0] in drawn(np.random.default_rng(4))[3][0]


def test_a_gap_left_open_is_reported_and_counted():
    # knapsacks with a time limit of nothing: whatever is returned, bound and answer must agree
    rng = np.random.default_rng(0)
    size, worth = rng.integers(20, 60, size=12).astype(float), rng.integers(20, 60, size=12) + 0.0

    def fits(x, z):
        return [size @ z <= 200]

    loose = so.BooleanProgram(fits, lambda x: np.diag(worth), gap=0.5).fitted([0], [(0,) * 12])
    answer = loose.encode([0], [(0,) * 12]).ask(so.oracles.worst, -np.ones(12))
    exact = so.BooleanProgram(fits, lambda x: np.diag(worth)).argmax(0, np.ones(12))
    best = worth @ np.array(exact)
    assert "branch and bound may stop early" in loose.note()
    value = worth @ answer.outputs
    assert value <= best + 1e-9
    assert best <= value + answer.excess[0] + 1e-9


def test_no_time_for_branch_and_bound_names_the_example():
    def pairs(x, z):
        return [z[0] + z[1] <= 1, z[1] + z[2] <= 1, z[0] + z[2] <= 1]

    hurried = so.BooleanProgram(pairs, lambda x: x, time_limit=0.0).fitted([np.eye(3)], [(0, 0, 0)])
    shard = hurried.encode([np.eye(3)], [(0, 0, 0)], start=3)
    with pytest.raises(OracleError, match="Example 3: HiGHS: Time limit reached") as info:
        shard.argmax(np.ones(3))
    assert info.value.example == 3


def test_another_instance_with_more_threads_does_no_harm():
    import highspy

    z = cp.Variable(3, boolean=True)
    program = IntegerProgram(
        compile_rows([z[0] + z[1] <= 1, z[1] + z[2] <= 1, z[0] + z[2] <= 1], z)
    )
    scores = np.array([1.0, 1.5, 1.0])
    for _ in range(2):
        assert program.maximize(scores).point.tolist() == [0, 1, 0]
        highspy.Highs.resetGlobalScheduler(True)
        other = highspy.Highs()
        other.setOptionValue("output_flag", False)
        other.setOptionValue("threads", 2)
        other.addVar(0.0, 1.0)
        other.run()
        assert program.maximize(scores).point.tolist() == [0, 1, 0]
        best_other = program.maximize(scores, forbidden=[np.array([0.0, 1.0, 0.0])])
        assert best_other.point.sum() == 1
    highspy.Highs.resetGlobalScheduler(True)


def test_no_output_at_all_names_the_example():
    structure = so.BooleanProgram(lambda x, z: [cp.sum(z) >= x[0, 0]], lambda x: x)
    with pytest.raises(InfeasibleError, match="Example 1 has no output") as info:
        structure.predict([np.ones((2, 1)), 3 * np.ones((2, 1))], np.ones(1))
    assert info.value.example == 1
    with pytest.raises(InfeasibleError, match="no output at all"):
        structure.k_best(3 * np.ones((2, 1)), np.ones(1), 2)


def test_what_cannot_be_used_is_refused_by_name():
    ones = np.ones((2, 1))
    quadratic = so.BooleanProgram(lambda x, z: [cp.sum_squares(z) <= 1], lambda x: x).fitted(
        [ones], [(0, 0)]
    )
    with pytest.raises(InvalidInputError, match="constraints of example 4 cannot be written"):
        quadratic.encode([ones], [(0, 0)], start=4)
    broken = so.BooleanProgram(lambda x, z: 1 / 0, lambda x: x).fitted([ones], [(0, 0)])
    with pytest.raises(OracleError, match="constraints failed on example 0: ZeroDivisionError"):
        broken.encode([ones], [(0, 0)])
    free = so.BooleanProgram(lambda x, z: [], lambda x: x).fitted([ones], [(0, 0)])
    for y, reason in [((0, 2), "numbers 0 or 1"), ((0,), "must hold 2"), ("ab", "must hold 2")]:
        with pytest.raises(InvalidInputError, match=reason):
            free.encode([ones], [y])
    with pytest.raises(InvalidInputError, match="nan at part 1"):
        free.encode([np.array([[0.0], [np.nan]])], [(0, 0)])
    with pytest.raises(InvalidInputError, match="3 columns; expected 1"):
        free.encode([np.ones((2, 3))], [(0, 0)])
    with pytest.raises(InvalidInputError, match="extra of the loss has shape"):
        so.BooleanProgram(lambda x, z: [], lambda x: x, loss=so.losses.PartCosts(-1.0)).fitted(
            [ones], [(0, 0)]
        ).encode([ones], [(0, 0)])
    with pytest.raises(InvalidInputError, match="has no constraints"):
        so.BooleanProgram().fitted([ones], [(0, 0)])
