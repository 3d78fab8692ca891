"""The upper bound belongs to weights that keep the declared constraints, whatever their scale."""

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

import structopt as so
from structopt.master.declare import RestrictedMaster
from structopt.master.program import Program
from structopt.methods.nearest_feasible import nearest_feasible
from structopt.run.certificate import FEASIBLE

X, Y = np.random.default_rng(0).normal(size=(12, 3)), ["a", "b", "c"] * 4

CONSTRAINTS = {
    "l1": lambda w, s: [cp.norm1(w) <= s],
    "linf": lambda w, s: [cp.norm_inf(w) <= s],
    "sums": lambda w, s: [w[0] + w[1] == s, w[2] - w[3] >= s],
    "order": lambda w, s: [w[0] >= w[1] + s, w[1] >= w[2]],
}


def broken(given, weights):
    """Return the largest violation of constraints at weights, relative to the larger side."""
    w = cp.Variable(9)
    constraints = given(w)
    w.value = weights
    sizes = [max(float(np.max(np.abs(a.value))) for a in c.args) for c in constraints]
    pairs = zip(constraints, sizes, strict=True)
    return max(float(np.max(c.violation())) / max(s, 1e-6 * abs(weights).max()) for c, s in pairs)


@pytest.mark.filterwarnings("ignore::structopt.errors.ConvergenceWarning")
@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e8])
@pytest.mark.parametrize("name", CONSTRAINTS)
@pytest.mark.parametrize("method", ["cutting-plane", "extragradient"])
def test_certified_weights_keep_their_constraints(method, name, scale):
    given = lambda w: CONSTRAINTS[name](w, scale)  # noqa: E731
    model = so.StructuredClassifier(
        so.Multiclass(), so.M3N(1.0, constraints=given), method=method, max_iter=60
    )
    try:
        result = model.fit(X, Y).result_
    except so.errors.BackendError:  # Clarabel calls rows with sides of 1e8 infeasible
        assert scale > 1.0
        assert method != "cutting-plane"
        return
    assert result.certificate.certified or scale > 1.0
    if result.certificate.certified:
        assert broken(given, result.weights) <= FEASIBLE


@pytest.mark.parametrize("radius", [1e-14, 1e-10, 1e-3, 1.0, 1e8])
def test_a_ball_of_any_radius_is_kept(radius):
    model = so.StructuredClassifier(so.Multiclass(), so.L1BallM3N(radius=radius))
    result = model.fit(X, Y).result_
    assert result.certificate.certified
    assert np.abs(result.weights).sum() <= radius * (1 + FEASIBLE)


def test_the_residual_does_not_know_the_scale():
    rng = np.random.default_rng(1)
    A, x = sp.csr_array(rng.normal(size=(4, 6))), rng.normal(size=6)
    lower = A @ x + np.array([-1.0, 1e-3, -np.inf, -1.0])

    def residual(scale):
        p = Program(
            P=sp.csc_array((6, 6)), q=np.zeros(6), l1=np.zeros(6), A=A, lower=scale * lower,
            upper=np.full(4, np.inf), lb=np.full(6, -np.inf), ub=np.full(6, np.inf),
        )  # fmt: skip
        return p.residual(scale * x)

    assert residual(1e-12) == pytest.approx(residual(1.0), rel=1e-9)
    assert residual(1e12) == pytest.approx(residual(1.0), rel=1e-9)
    assert 1e-5 < residual(1.0) < 1e-2


def test_a_domain_that_is_no_convex_constraint_is_left_out():
    """CVXPY says of the domain of |w|^3 that |w| >= 0, which is not convex, and always so."""
    m = RestrictedMaster(2, 2)
    w, xi = m.weights(lambda w: [cp.sum(w) == 1, w >= 0]), m.slacks()
    m.minimize(cp.power(cp.norm2(w), 3) + cp.sum(xi))
    m.cuts(lambda cut: cut.delta @ w >= cut.loss - cut.of(xi))
    program, x = m.compile(), np.zeros(m.size)
    x[program.weights] = 0.7, 0.4
    moved = nearest_feasible(m, x)[program.weights]
    np.testing.assert_allclose(moved, [0.65, 0.35], atol=1e-9)
