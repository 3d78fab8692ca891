"""Sub-gradient methods: averaged answers and an exact pass bracket the enumerated optimum."""

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
from structopt.methods.subgradient import Subgradient

BATCHES = st.sampled_from([1, 2, None])


def run_of(problem, formulation, **kwargs):
    X, Y, structure, _ = problem
    options = {k: kwargs.pop(k) for k in ("sample_weight", "n_jobs") if k in kwargs}
    data = so.DataSet.of(structure, X, Y, **options)
    return Subgradient(structure, formulation, data, **kwargs)


def ball_optimum(radius, problem, weights=None):
    _, Y, structure, _ = problem
    s = np.ones(len(Y)) if weights is None else weights
    w, xi = cp.Variable(structure.n_features_), cp.Variable(len(Y), nonneg=True)
    rows = [delta @ w >= loss - xi[i] for i, delta, loss in constraints(*problem)]
    full = cp.Problem(cp.Minimize(s @ xi / len(Y)), [*rows, cp.norm1(w) <= radius])
    full.solve(solver=cp.CLARABEL)
    return full.value


def assert_brackets(result, truth):
    slack = 1e-6 * max(1.0, abs(truth))
    assert result.certificate.dual <= truth + slack
    assert result.certificate.primal >= truth - slack


@given(
    seed=st.integers(0, 10_000),
    chain=st.booleans(),
    kind=st.sampled_from(["m3n", "svm-unit", "svm-slack", "lp", "lp-free", "elastic"]),
    C=st.sampled_from([0.1, 2.0]),
    batch=BATCHES,
)
@hypothesis_settings(max_examples=60)
def test_certificate_brackets_the_enumerated_optimum(seed, chain, kind, C, batch):
    problem = (small_chain if chain else small_classes)(np.random.default_rng(seed))
    run = run_of(problem, FORMULATIONS[kind](C), tol=0.05, batch=batch, max_iter=300)
    result = run.solve()
    truth = optimum(kind, C, problem)
    assert_brackets(result, truth)
    assert result.certificate.primal <= truth + 0.1 * max(1.0, truth)
    for before, after in zip(result.history, result.history[1:], strict=False):
        assert after.dual >= before.dual
        assert after.primal <= before.primal


@given(
    seed=st.integers(0, 10_000),
    chain=st.booleans(),
    radius=st.sampled_from([0.1, 1.0, 30.0]),
    batch=BATCHES,
)
@hypothesis_settings(max_examples=40)
def test_the_ball_is_bracketed_and_kept(seed, chain, radius, batch):
    problem = (small_chain if chain else small_classes)(np.random.default_rng(seed))
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


def test_useless_weights_stay_exactly_zero():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 6))
    Y = [int(x[0] > 0) for x in X]  # the other five inputs say nothing
    structure = so.Multiclass().fit(X, Y)
    data = so.DataSet.of(structure, X, Y)
    result = Subgradient(structure, so.LPStruct(0.1, nonnegative=False), data, tol=0.01).solve()
    assert result.certificate.certified
    assert np.count_nonzero(result.weights) <= 4
    assert np.count_nonzero(result.weights.reshape(2, 6)[:, 0]) > 0


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
        ball_optimum(2.0, problem, weight)
        if kind is None
        else optimum(kind, 1.5, problem, weights=weight)
    )
    assert_brackets(runs[0], truth)
    assert runs[0].certificate.primal == pytest.approx(truth, rel=0.0201)


def test_several_shards_are_one_data_set():
    problem = small_chain(np.random.default_rng(5), n=7)
    one = run_of(problem, so.M3N(1.0), max_iter=5, tol=0.0, batch=1).solve()
    two = run_of(problem, so.M3N(1.0), max_iter=5, tol=0.0, batch=1, n_jobs=2).solve()
    np.testing.assert_allclose(one.weights, two.weights, atol=1e-12)


def test_a_structure_of_sparse_rows():
    X = [np.array([1.0, 0.3]), np.array([-0.5, 1.0]), np.array([-1.0, -1.0])]
    Y = [1, 1, -1]
    plain = so.Enumerated([-1, 1], lambda x, y: 0.5 * y * x).fit(X, Y)
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
    with pytest.raises(IncompatibleError, match="subgradient"):
        run_of(problem, so.M3N(1.0, slacks="one"))

    class Bowl(L1BallM3N):
        def master(self, m):
            super().master(m)
            w, xi = m.weights(), m.slacks()
            m.minimize(cp.sum_squares(w) + cp.sum(xi))

    with pytest.raises(IncompatibleError, match="linear"):
        run_of(problem, Bowl(1.0))
