"""Algorithms 2 and 3 of L1-M3N as printed, and the l2 ball."""

import cvxpy as cp
import numpy as np
import pytest
from enumeration import constraints, optimum, small_chain, small_classes

import structopt as so
from structopt.errors import IncompatibleError, InvalidInputError
from structopt.methods.em import EM


def on_ball(problem, radius, norm):
    """Return the least mean hinge on a ball, every constraint written out."""
    _, Y, structure, _ = problem
    w, xi = cp.Variable(structure.n_features_), cp.Variable(len(Y), nonneg=True)
    rows = [delta @ w >= loss - xi[i] for i, delta, loss in constraints(*problem)]
    full = cp.Problem(cp.Minimize(cp.sum(xi) / len(Y)), [*rows, cp.norm(w, norm) <= radius])
    return full.solve(solver=cp.CLARABEL)


def run_of(problem, formulation, method, **options):
    X, Y, structure, _ = problem
    data = so.DataSet.of(structure, X, Y)
    return method(structure, formulation, data, **options)


@pytest.mark.parametrize(
    ("formulation", "norm"), [(so.L1BallM3N(0.8), 1), (so.L2BallM3N(0.8), 2)], ids=["l1", "l2"]
)
@pytest.mark.parametrize("rate", [None, 1.0, lambda t: 0.3 / np.sqrt(t)], ids=["own", "1", "f"])
def test_algorithm_2_comes_to_the_optimum_of_the_ball(formulation, norm, rate):
    problem = small_classes(np.random.default_rng(2))
    truth = on_ball(problem, 0.8, norm)
    run = run_of(problem, formulation, so.Subgradient, learning_rate=rate, tol=0.02, max_iter=3000)
    found = run.solve()
    assert found.certificate.certified
    assert found.certificate.dual <= truth * (1 + 1e-6)
    assert found.certificate.primal >= truth * (1 - 1e-6)
    assert np.linalg.norm(found.weights, norm) <= 0.8 * (1 + 1e-9)


def test_algorithm_2_takes_its_own_steps():
    """w(2) is the projection of w(1) + eta_1 (1/n) sum delta at the loss-augmented answers."""
    problem = X, Y, structure, outputs = small_classes(np.random.default_rng(2))
    run = run_of(problem, so.L1BallM3N(0.8), so.Subgradient, learning_rate=lambda t: 0.05 * t)
    run.step()
    step = np.zeros(structure.n_features_)
    for x, gold, some in zip(X, Y, outputs, strict=True):
        worst = max(some, key=lambda y: structure.loss(gold, y))  # w = 0: the first of equals
        delta = structure.joint_features(x, gold) - structure.joint_features(x, worst)
        step += 0.05 * delta.toarray().ravel() / len(Y)
    assert np.abs(step).sum() < 0.8
    np.testing.assert_allclose(run._descent.point, step, atol=1e-12)


def test_cutting_planes_solve_the_l2_ball_too():
    problem = X, Y, structure, _ = small_chain(np.random.default_rng(1))
    model = so.CuttingPlane(structure, so.L2BallM3N(0.5), so.DataSet.of(structure, X, Y), tol=1e-4)
    assert model.solve().certificate.primal == pytest.approx(on_ball(problem, 0.5, 2), rel=2e-4)


@pytest.mark.parametrize("rate", ["fast", True, -1.0, 0.0, lambda t: np.nan])
def test_rates_that_are_none(rate):
    problem = small_classes(np.random.default_rng(2))
    with pytest.raises(InvalidInputError, match="learning_rate"):
        run_of(problem, so.L1BallM3N(), so.Subgradient, learning_rate=rate).step()


def test_rates_are_for_balls():
    with pytest.raises(IncompatibleError, match="on a ball"):
        run_of(small_classes(np.random.default_rng(2)), so.M3N(), so.Subgradient, learning_rate=1.0)


# ---------------------------------------------------------------------- Algorithm 3
@pytest.mark.parametrize("C", [0.3, 3.0])
def test_algorithm_3_as_printed_ends_near_the_optimum_of_p2(C):
    problem = small_chain(np.random.default_rng(3), n=6)
    truth = optimum("adaptive", C, problem)
    result = run_of(problem, so.AdaptiveM3N(C), EM, update="paper", tol=1e-9).solve()
    found = result.certificate
    assert result.status == "stalled"  # after T M3Ns, whatever they came to
    assert found.dual <= truth * (1 + 1e-6) <= found.primal * (1 + 2e-6)
    assert found.primal == pytest.approx(truth, rel=0.02)


def test_algorithm_3_comes_to_its_end_where_its_first_m3n_is_hard():
    """tau = 1 hardly regularises where 1/K sum tau = 1/lambda is small: Figure 5 of the paper."""
    X, Y = so.datasets.make_chain_crf(20, seed=0)
    structure = so.Chain().fitted(X, Y)
    data = so.DataSet.of(structure, X, Y)
    run = EM(structure, so.AdaptiveM3N(3.0, 1960.0), data, update="paper", tol=0.0, max_iter=150)
    assert run.solve().status == "stalled"
    assert run._left == 0


def test_one_iteration_of_algorithm_3_is_the_m3n_at_tau_1():
    """min sum w^2 + C sum xi: the start beta = sqrt(lambda) is off the constraint on tau."""
    problem = _, Y, structure, _ = small_classes(np.random.default_rng(0))
    run = run_of(problem, so.AdaptiveM3N(2.0, 7.0), EM, update="paper", iterations=1, tol=0.0)
    w, xi = cp.Variable(structure.n_features_), cp.Variable(len(Y), nonneg=True)
    rows = [delta @ w >= loss - xi[i] for i, delta, loss in constraints(*problem)]
    cp.Problem(cp.Minimize(cp.sum_squares(w) + 2 * cp.sum(xi)), rows).solve(solver=cp.CLARABEL)
    np.testing.assert_allclose(run.solve().weights, w.value, atol=0.02 * np.abs(w.value).max())


def test_update_6_is_what_is_printed():
    """beta_k = sqrt(K) |gamma_k| / |gamma| with gamma_k = w_k / beta_k, tau = beta^2 / lambda."""
    w, lam = np.array([1.0, -2.0, 0.5]), 3.0
    tau = np.array([0.2, 0.5, 0.3])
    gamma = w / np.sqrt(lam * tau)
    beta = np.sqrt(3) * np.abs(gamma) / np.linalg.norm(gamma)
    found = 2 * so.AdaptiveM3N(1.0, lam).scales(w, tau / 2, 2.0)
    np.testing.assert_allclose(found, beta**2 / lam)


def test_algorithm_3_sets_weights_of_small_scales_to_zero():
    X, Y = so.datasets.make_chain_crf(20, n_features=10, n_relevant=3, length=4, seed=0)
    structure = so.Chain().fitted(X, Y)
    run = EM(structure, so.AdaptiveM3N(1.0, 5.0), so.DataSet.of(structure, X, Y), update="paper")
    result = run.solve()
    weights, tau = run._solution
    assert np.array_equal(result.weights == 0, (tau < 1e-4) | (weights == 0))
    assert 0 < np.sum(result.weights == 0) < len(weights)


def test_algorithm_3_as_printed_is_for_p2():
    with pytest.raises(IncompatibleError, match="AdaptiveM3N"):
        run_of(small_classes(np.random.default_rng(2)), so.L1M3N(), EM, update="paper")
