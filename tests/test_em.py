"""EM and the formulations it learns, against the full problem with all constraints enumerated."""

import cvxpy as cp
import numpy as np
import pytest
from enumeration import constraints, small_chain, small_classes, solve
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

import structopt as so
from structopt.errors import IncompatibleError
from structopt.methods.em import EM


def enumerated(problem, C, regulariser):
    _, Y, structure, _ = problem
    w, xi = cp.Variable(structure.n_features_), cp.Variable(len(Y), nonneg=True)
    rows = [delta @ w >= loss - xi[i] for i, delta, loss in constraints(*problem)]
    full = cp.Problem(cp.Minimize(regulariser(w) + C * cp.sum(xi)), rows)
    full.solve(solver=cp.CLARABEL)
    return full.value


def run_em(problem, formulation, **kwargs):
    X, Y, structure, _ = problem
    return EM(structure, formulation, so.DataSet.of(structure, X, Y), **kwargs).solve()


@given(seed=st.integers(0, 10_000), chain=st.booleans(), C=st.sampled_from([0.2, 1.0, 4.0]))
@hypothesis_settings(max_examples=25)
def test_l1_routes_agree_with_the_enumerated_optimum(seed, chain, C):
    rng = np.random.default_rng(seed)
    problem = X, Y, structure, _ = (small_chain if chain else small_classes)(rng)
    truth = enumerated(problem, C, lambda w: cp.norm1(w) / 2)
    planes = solve(structure, so.L1M3N(C), X, Y, tol=1e-4)
    em = run_em(problem, so.L1M3N(C), tol=1e-2)
    for result, tol in ((planes, 1e-4), (em, 1e-2)):
        assert result.certificate.certified
        assert result.certificate.dual <= truth + 1e-6
        assert truth - 1e-6 <= result.certificate.primal
        assert result.certificate.primal == pytest.approx(truth, rel=1.1 * tol, abs=1e-6)


def test_zeros_are_exact_and_recertified():
    problem = X, Y, structure, _ = small_chain(np.random.default_rng(3), n=8, n_inputs=6)
    result = run_em(problem, so.L1M3N(0.5), tol=1e-2)
    assert 0 < np.count_nonzero(result.weights) < structure.n_features_
    hinge = 0.0
    for x, y in zip(X, Y, strict=True):
        other = structure.argmax(x, result.weights, gold=y)
        delta = structure.joint_features(x, y) - structure.joint_features(x, other)
        hinge += structure.loss(y, other) - float((delta @ result.weights)[0])
    value = np.abs(result.weights).sum() / 2 + 0.5 * hinge
    assert result.certificate.primal == pytest.approx(value, rel=1e-9)


def test_em_learns_only_mixtures_of_scales():
    problem = small_chain(np.random.default_rng(0))
    with pytest.raises(IncompatibleError):
        run_em(problem, so.M3N(1.0))


@pytest.mark.parametrize("make", [so.AdaptiveM3N, so.LaplaceM3N])
def test_adaptive_and_laplace_lower_their_objectives(make):
    problem = small_chain(np.random.default_rng(2), n=6)
    result = run_em(problem, make(1.0), max_iter=60)
    assert np.isfinite(result.certificate.primal)
    assert result.history[-1].primal < result.history[0].primal


def test_adaptive_m3n_is_the_squared_l1_norm():
    """P2's fixed point minimises (lambda / K) |w|_1^2 + C sum xi."""
    problem = small_chain(np.random.default_rng(5), n=6)
    formulation = so.AdaptiveM3N(1.0)
    K = problem[2].n_features_
    truth = enumerated(problem, 1.0, lambda w: formulation.lam / K * cp.square(cp.norm1(w)))
    result = run_em(problem, formulation, max_iter=400)
    assert result.certificate.primal == pytest.approx(truth, rel=2e-2)
