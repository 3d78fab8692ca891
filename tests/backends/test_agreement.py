"""Every route to a programme agrees with the full problem, all constraints enumerated."""

import cvxpy as cp
import numpy as np
import pytest
from enumeration import FORMULATIONS, optimum, small_chain, small_classes, solve
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

import structopt as so

TOL = 1e-5


@given(
    seed=st.integers(0, 10_000),
    kind=st.sampled_from(sorted(FORMULATIONS)),
    chain=st.booleans(),
    C=st.sampled_from([0.05, 0.7, 20.0]),
)
@hypothesis_settings(max_examples=60)
def test_auto_equals_enumeration_on_random_data(seed, kind, chain, C):
    rng = np.random.default_rng(seed)
    problem = X, Y, structure, _ = (small_chain if chain else small_classes)(rng)
    result = solve(structure, FORMULATIONS[kind](C), X, Y, tol=TOL)
    truth = optimum(kind, C, problem)
    assert result.certificate.certified
    assert result.certificate.primal == pytest.approx(truth, rel=3 * TOL, abs=1e-7)


@pytest.mark.parametrize("backend", ["auto", "clarabel", "osqp", "extragradient", "cvxpy"])
@pytest.mark.parametrize(
    "extra",
    [
        lambda w: [w >= 0],
        lambda w: [w[:3] == 0],
        lambda w: [w <= 0.1, w >= -0.2],
        lambda w: [cp.sum(w) == 0.3],
        lambda w: [cp.norm1(w) <= 0.4],
        lambda w: [w[0] - w[1] >= 0.1, cp.abs(w[2]) <= 0.05],
    ],
)
def test_weight_constraints_hold_in_the_answer(extra, backend):
    problem = X, Y, structure, _ = small_chain(np.random.default_rng(7))
    result = solve(structure, so.M3N(1.0, constraints=extra), X, Y, backend=backend, tol=1e-4)
    assert result.certificate.certified
    assert result.certificate.primal == pytest.approx(
        optimum("m3n", 1.0, problem, extra=extra), rel=2e-4
    )
    w = cp.Variable(structure.n_features_)
    w.value = result.weights
    for constraint in extra(w):
        assert np.max(constraint.violation()) <= 1e-6


def test_weight_constraints_hold_in_linear_programmes():
    problem = X, Y, structure, _ = small_chain(np.random.default_rng(8))

    def extra(w):
        return [cp.sum(w) == 0.5, w[:2] <= 0.05]

    for backend in ("highs", "clarabel", "extragradient", "cvxpy"):
        formulation = so.LPStruct(1.0, nonnegative=False, constraints=extra)
        result = solve(structure, formulation, X, Y, backend=backend, tol=1e-5)
        assert result.certificate.certified
        truth = optimum("lp-free", 1.0, problem, extra=extra)
        assert result.certificate.primal == pytest.approx(truth, rel=2e-5)
        assert np.sum(result.weights) == pytest.approx(0.5, abs=1e-6)


class CoupledM3N(so.Formulation):
    """A quadratic that couples weights: the generic route and its Lagrangian."""

    def __init__(self, lower=None):
        self.lower = lower

    def master(self, m):
        w, xi = m.weights(), m.slacks()
        mix = np.eye(m.n_features) + 0.3 * np.eye(m.n_features, k=1)
        m.minimize(cp.sum_squares(mix @ w) / 2 + 0.05 * cp.norm1(w) + cp.sum(xi))
        if self.lower is not None:
            m.subject_to(w >= self.lower)
        m.cuts(so.loss_augmented, lambda cut: cut.delta @ w >= cut.loss - cut.of(xi))


@pytest.mark.parametrize("lower", [None, -0.1, 0.0])
def test_coupled_quadratics_are_certified(lower):
    X, Y, structure, _ = small_chain(np.random.default_rng(9))
    results = [
        solve(structure, CoupledM3N(lower), X, Y, backend=b, tol=1e-4)
        for b in ("auto", "osqp", "cvxpy")
    ]
    assert results[0].backend == "clarabel"
    assert all(r.certificate.certified for r in results)
    values = [r.certificate.primal for r in results]
    assert values == pytest.approx([values[0]] * 3, rel=2e-4)


class ConicM3N(so.Formulation):
    """A norm that is no quadratic programme."""

    def master(self, m):
        w, xi = m.weights(), m.slacks()
        m.minimize(cp.norm2(w) + cp.sum(xi))
        m.cuts(so.loss_augmented, lambda cut: cut.delta @ w >= cut.loss - cut.of(xi))


def test_cones_are_certified_by_the_backends_that_take_them():
    X, Y, structure, _ = small_chain(np.random.default_rng(10))
    with pytest.raises(so.errors.IncompatibleError, match="not cones"):
        solve(structure, ConicM3N(), X, Y, backend="osqp")
    results = [solve(structure, ConicM3N(), X, Y, tol=1e-5, backend=b) for b in ("auto", "cvxpy")]
    assert [r.backend for r in results] == ["clarabel", "cvxpy"]
    assert all(r.certificate.certified for r in results)
    values = [r.certificate.primal for r in results]
    assert values[0] == pytest.approx(values[1], rel=2e-5)
