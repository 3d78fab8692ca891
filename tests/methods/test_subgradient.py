"""Sub-gradient methods: averaged answers and an exact pass bracket the enumerated optimum."""

from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest
from enumeration import (
    FORMULATIONS,
    ElasticNetM3N,
    constraints,
    optimum,
    small_chain,
    small_classes,
    solve,
)
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

import structopt as so
from structopt.errors import IncompatibleError, InvalidInputError
from structopt.formulations.l1_ball_m3n import L1BallM3N
from structopt.methods import registry
from structopt.methods.subgradient.method import Subgradient

BATCHES = st.sampled_from([1, 2, None])


def draw(seed, chain):
    return (small_chain if chain else small_classes)(np.random.default_rng(seed))


def run_of(problem, formulation, **kwargs):
    X, Y, structure, _ = problem
    options = {k: kwargs.pop(k) for k in ("sample_weight", "n_jobs") if k in kwargs}
    data = so.DataSet.of(structure, X, Y, **options)
    return Subgradient(structure, formulation, data, **kwargs)


def ball_optimum(radius, problem, *, weights=None, extra=lambda w: []):
    _, Y, structure, _ = problem
    s = np.ones(len(Y)) if weights is None else weights
    w, xi = cp.Variable(structure.n_features_), cp.Variable(len(Y), nonneg=True)
    index, deltas, loss = map(np.array, zip(*constraints(*problem), strict=True))
    rows = [deltas @ w >= loss - xi[index], cp.norm1(w) <= radius]
    full = cp.Problem(cp.Minimize(s @ xi / len(Y)), rows + extra(w))
    full.solve(solver=cp.CLARABEL)
    return full.value


def assert_brackets(result, truth):
    slack = 1e-6 * max(1.0, abs(truth))
    assert result.certificate.dual <= truth + slack
    assert result.certificate.primal >= truth - slack


@given(
    seed=st.integers(0, 10_000),
    chain=st.booleans(),
    radius=st.sampled_from([0.1, 1.0, 30.0]),
    batch=BATCHES,
)
@hypothesis_settings(max_examples=20)
def test_the_ball_is_bracketed_and_kept(seed, chain, radius, batch):
    problem = draw(seed, chain)
    run = run_of(problem, L1BallM3N(radius), tol=0.05, batch=batch, max_iter=200)
    result = run.solve()
    truth = ball_optimum(radius, problem)
    assert_brackets(result, truth)
    assert result.certificate.primal <= truth + 0.1 * max(1.0, truth)
    assert np.abs(result.weights).sum() <= radius * (1 + 1e-12)


@pytest.mark.parametrize("batch", [2, None])
@pytest.mark.parametrize(
    "formulation",
    [so.M3N(0.5), so.LPStruct(0.5), so.L1M3N(0.5), ElasticNetM3N(0.5), L1BallM3N(1.0)],
    ids=["m3n", "lp", "l1", "elastic", "ball"],
)
def test_agrees_with_cutting_planes(formulation, batch):
    problem = X, Y, structure, _ = small_chain(np.random.default_rng(7), n=8)
    result = run_of(problem, formulation, batch=batch, tol=0.010).solve()
    truth = solve(structure, formulation, X, Y, tol=1e-6).certificate
    assert result.certificate.certified
    assert result.certificate.primal == pytest.approx(truth.primal, rel=0.0101)
    assert_brackets(result, truth.primal)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("C", [0.2, 2.0])
def test_three_methods_agree_with_the_linear_programme(seed, C):
    X, Y, structure, _ = problem = draw(seed, chain=True)
    truth, data = optimum("l1", C, problem), so.DataSet.of(structure, X, Y)
    for method, tol in (("cutting-plane", 1e-5), ("em", 1e-4), ("subgradient", 5e-3)):
        result = registry.make(method)(structure, so.L1M3N(C), data, tol=tol).solve()
        assert result.certificate.certified, method
        assert result.certificate.primal == pytest.approx(truth, rel=1.01 * tol), method
        assert_brackets(result, truth)


@pytest.mark.parametrize("batch", [5, None])
@pytest.mark.parametrize("formulation", [so.L1M3N(0.05), L1BallM3N(1.0)], ids=["l1", "ball"])
def test_useless_weights_are_exactly_zero_and_so_certified(formulation, batch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 6))
    Y = [int(x[0] > 0) for x in X]  # the other five inputs say nothing
    structure = so.Multiclass().fitted(X, Y)
    data = so.DataSet.of(structure, X, Y)
    result = Subgradient(structure, formulation, data, tol=0.01, batch=batch).solve()
    assert result.certificate.certified
    w = result.weights.reshape(2, 6)
    assert np.count_nonzero(w[:, 1:]) <= 6
    assert np.abs(w[:, 1:]).max() <= 0.05 * np.abs(w[:, 0]).min()
    margins = np.array([(w[y] - w[1 - y]) @ x for x, y in zip(X, Y, strict=True)])
    hinges = np.maximum(1.0 - margins, 0.0)
    norm = np.abs(w).sum()
    if isinstance(formulation, L1BallM3N):
        value = hinges.mean()
        assert norm <= 1.0 + 1e-12
    else:
        value = norm / 2 + 0.05 * hinges.sum()
    assert result.certificate.primal == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize("formulation", [so.M3N(1.5), so.LPStruct(1.5), L1BallM3N(2.0)])
def test_sample_weights_and_repeatability(formulation):
    problem = small_classes(np.random.default_rng(2))
    weight = np.array([1.0, 0.5, 2.0, 0.0, 3.0, 1.0])
    runs = [
        run_of(
            problem, formulation, tol=0.02, batch=2, sample_weight=weight, random_state=seed
        ).solve()
        for seed in (3, 3, 4)
    ]
    np.testing.assert_array_equal(runs[0].weights, runs[1].weights)
    assert np.any(runs[0].weights != runs[2].weights)
    kind = {"M3N": "m3n", "LPStruct": "lp"}.get(type(formulation).__name__)
    truth = (
        ball_optimum(2.0, problem, weights=weight)
        if kind is None
        else optimum(kind, 1.5, problem, weights=weight)
    )
    assert_brackets(runs[0], truth)
    assert runs[0].certificate.primal == pytest.approx(truth, rel=0.0201)


class Upward(so.Multiclass):
    def nonnegative_weights(self):
        return np.array([0, 3])


@pytest.mark.parametrize("batch", [2, None])
def test_a_structure_may_want_weights_that_are_not_negative(batch):
    X, Y, plain, outputs = small_classes(np.random.default_rng(3))
    problem = (X, Y, Upward(labels=plain.labels).fitted(X, Y), outputs)

    def extra(w):
        return [w[0] >= 0, w[3] >= 0]

    ball = run_of(problem, L1BallM3N(2.0), tol=0.01, batch=batch).solve()
    truth = ball_optimum(2.0, problem, extra=extra)
    assert truth > 1.01 * ball_optimum(2.0, problem)
    l1 = run_of(problem, so.L1M3N(1.0), tol=0.01, batch=batch).solve()
    for result, value in ((ball, truth), (l1, optimum("l1", 1.0, problem, extra=extra))):
        assert result.certificate.certified
        assert_brackets(result, value)
        assert np.all(result.weights[[0, 3]] >= 0)
    with pytest.raises(IncompatibleError, match="Upward"):
        so.EM(problem[2], so.L1M3N(1.0), so.DataSet.of(problem[2], X, Y))


class Rounding(so.DataSet):
    """Oracles that may be off by 1/4 in score, and say so."""

    def ask(self, oracle, weights):
        return [replace(a, excess=np.full(len(a.loss), 0.25)) for a in super().ask(oracle, weights)]


@pytest.mark.parametrize("method", ["subgradient", "frank-wolfe", "em", "cutting-plane"])
def test_what_oracles_may_miss_is_in_the_upper_bound(method):
    X, Y, structure, _ = problem = small_chain(np.random.default_rng(2))
    kind = "l1" if method == "em" else "m3n"
    data = Rounding.of(structure, X, Y)
    run = registry.make(method)(structure, FORMULATIONS[kind](1.0), data, tol=1e-3, max_iter=200)
    certificate, truth = run.solve().certificate, optimum(kind, 1.0, problem)
    assert not certificate.certified
    assert certificate.dual <= truth + 1e-6
    assert truth + 0.25 < certificate.primal <= truth + 4 * 0.25 + 0.02 * truth


def test_a_structure_of_sparse_rows():
    X = [np.array([1.0, 0.3]), np.array([-0.5, 1.0]), np.array([-1.0, -1.0])]
    Y = [1, 1, -1]
    plain = so.Enumerated([-1, 1], lambda x, y: 0.5 * y * x).fitted(X, Y)
    data = so.DataSet.of(plain, X, Y)
    result = Subgradient(plain, so.StructSVM(3.0), data, tol=0.01).solve()
    truth = solve(plain, so.StructSVM(3.0), X, Y, tol=1e-6)
    assert result.certificate.certified
    assert result.certificate.primal == pytest.approx(truth.certificate.primal, rel=0.0101)


def test_defaults_and_refusals():
    problem = small_chain(np.random.default_rng(0))
    assert run_of(problem, so.M3N(1.0)).batch == 1
    assert run_of(problem, so.L1M3N(1.0)).batch is None
    with pytest.raises(InvalidInputError, match="batch"):
        run_of(problem, so.M3N(1.0), batch=0)
    with pytest.raises(InvalidInputError, match="batch"):
        run_of(problem, so.M3N(1.0), batch="all")
    with pytest.raises(IncompatibleError, match="other variables"):
        run_of(problem, so.AdaptiveM3N(1.0))
    with pytest.raises(IncompatibleError, match="subgradient"):
        run_of(problem, so.M3N(1.0, slacks="one"))

    class Bowl(L1BallM3N):
        def master(self, m):
            super().master(m)
            w, xi = m.weights(), m.slacks()
            m.minimize(cp.sum_squares(w) + cp.sum(xi))

    with pytest.raises(IncompatibleError, match="linear"):
        run_of(problem, Bowl(1.0))


class Shell(so.Formulation):
    """A user's own declaration, told apart by its constraints on w alone."""

    def __init__(self, rows):
        self.rows = rows

    def master(self, m):
        w, xi = m.weights(), m.slacks()
        m.minimize(cp.sum(xi) / m.n_examples)
        m.subject_to(*self.rows(w))
        m.cuts(lambda cut: cut.delta @ w >= cut.loss - cut.of(xi))


@pytest.mark.parametrize(
    "rows",
    [
        lambda w: [cp.norm1(w) <= 2],
        lambda w: [3 * cp.sum(cp.abs(w)) <= 6],
        lambda w: [cp.norm(0.1 * w, 1) - 0.2 <= 0, w <= 5],
    ],
    ids=["norm1", "sum-abs", "scaled"],
)
def test_a_ball_of_a_users_own_is_the_ball(rows):
    problem = small_chain(np.random.default_rng(1))
    own = run_of(problem, Shell(rows), tol=0.05, max_iter=200).solve()
    ours = run_of(problem, L1BallM3N(2.0), tol=0.05, max_iter=200).solve()
    assert own.certificate.certified
    assert own.certificate.primal == pytest.approx(ours.certificate.primal, rel=1e-9)
    assert len(own.history) == len(ours.history)
    assert_brackets(own, ball_optimum(2.0, problem))


@pytest.mark.parametrize(
    "rows",
    [
        lambda w: [cp.norm_inf(w) <= 2, cp.sum(w) <= 1],
        lambda w: [cp.norm1(w[1:]) <= 2],
        lambda w: [cp.norm1(w) <= 2, w <= 0.5],
        lambda w: [cp.norm1(w) <= 2, cp.sum(w) <= 1],
        lambda w: [cp.norm1(w - 1) <= 2],
        lambda w: [cp.norm1(cp.multiply(np.arange(1, w.size + 1), w)) <= 2],
        lambda w: [cp.sum(cp.pos(w)) <= 2],
    ],
    ids=["box", "part", "bounded", "two-rows", "moved", "uneven", "one-sided"],
)
def test_constraints_that_are_no_ball_are_refused(rows):
    with pytest.raises(IncompatibleError, match="other variables or constraints"):
        run_of(small_chain(np.random.default_rng(1)), Shell(rows))


def test_a_ball_of_one_weight():
    X, Y = [np.array([1.0]), np.array([-0.5]), np.array([2.0])], [1, -1, 1]
    structure = so.Enumerated([-1, 1], lambda x, y: 0.5 * y * x).fitted(X, Y)
    run = Subgradient(structure, L1BallM3N(0.25), so.DataSet.of(structure, X, Y), tol=1e-3)
    assert run.solve().weights == pytest.approx([0.25])  # each margin grows with w


def test_a_method_without_a_projection_refuses_the_ball():
    X, Y, structure, _ = small_chain(np.random.default_rng(1))
    data = so.DataSet.of(structure, X, Y)
    with pytest.raises(IncompatibleError, match="other variables or constraints"):
        so.FrankWolfe(structure, L1BallM3N(2.0), data)


def test_the_violation_is_the_largest_hinge():
    X, y = so.datasets.make_classes(20, seed=0)
    structure = so.Multiclass().fitted(X, y)
    data = so.DataSet.of(structure, X, y)
    run = so.Subgradient(structure, so.M3N(C=1.0), data)
    seen, offer = [], run._offer

    def noted(weights, *rest):
        seen.append(weights.copy())
        return offer(weights, *rest)

    run._offer = noted
    for _ in range(3):
        record = run.step()
        hinges = [(a.loss - a.score).max() for a in data.ask(so.loss_augmented, seen[-1])]
        assert record.violation == pytest.approx(max(hinges))
