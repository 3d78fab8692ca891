"""Any multipliers whatsoever give a lower bound, and good ones a tight bound."""

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import structopt as so
from structopt.backends import registry
from structopt.master.declare import RestrictedMaster
from structopt.master.lagrangian import Lagrangian
from structopt.master.lift import Numbers

N, D = 3, 4

OBJECTIVES = {
    "quadratic": lambda w, xi: cp.sum_squares(w) / 2 + cp.sum(xi),
    "l1": lambda w, xi: cp.norm1(w) + 0.7 * cp.sum(xi),
    "elastic": lambda w, xi: cp.norm1(w) / 2 + cp.sum_squares(w) + cp.sum(xi),
    "squared slacks": lambda w, xi: cp.norm1(w) + cp.sum_squares(xi),
    "coupled": lambda w, xi: cp.quad_form(w, np.eye(D) + 0.5) + 0.1 * cp.norm1(w) + cp.sum(xi),
    "offset": lambda w, xi: cp.sum_squares(w - 1) + cp.sum(xi) + 3,
}
STATIC = {
    "none": lambda w: [],
    "sign": lambda w: [w >= 0],
    "box": lambda w: [w <= 0.2, w >= -0.1],
    "sum": lambda w: [cp.sum(w) == 0.5],
    "ball": lambda w: [cp.norm1(w) <= 0.5],
}


def build(seed, objective, static):
    rng = np.random.default_rng(seed)
    m = RestrictedMaster(N, D)
    w, xi = m.weights(STATIC[static]), m.slacks()
    m.minimize(OBJECTIVES[objective](w, xi))
    m.cuts(so.loss_augmented, lambda cut: cut.delta @ w >= cut.loss - cut.of(xi))
    m.compile()
    loss = rng.integers(1, 4, 8).astype(float)
    m.add(
        0,
        Numbers(rng.integers(N, size=8), loss, loss, np.ones(8)),
        sp.csr_array(rng.normal(size=(8, D))),
    )
    problem, _ = m.problem()
    problem.solve(solver=cp.CLARABEL)
    return rng, m, problem.value


@given(
    seed=st.integers(0, 10_000),
    objective=st.sampled_from(sorted(OBJECTIVES)),
    static=st.sampled_from(sorted(STATIC)),
    size=st.sampled_from([0.01, 1.0, 100.0]),
)
def test_random_multipliers_never_exceed_the_optimum(seed, objective, static, size):
    rng, m, value = build(seed, objective, static)
    lagrangian = Lagrangian(m.program)
    x = rng.normal(size=m.size)
    duals = size * rng.normal(size=len(m.pool))
    static_duals = size * rng.normal(size=len(m.program.lower))
    bound = lagrangian.value(lagrangian.price(m.rows, duals, static_duals), x)
    assert bound <= value + 1e-6 * (1 + abs(value))


@pytest.mark.parametrize("objective", OBJECTIVES)
@pytest.mark.parametrize("static", STATIC)
@pytest.mark.parametrize("backend", ["clarabel", "cvxpy"])
def test_a_solver_s_multipliers_are_tight(objective, static, backend):
    for seed in range(5):
        _, m, value = build(seed, objective, static)
        solver = registry.choose(backend, m)
        solver.start(m)
        lagrangian = Lagrangian(m.program)
        solver.append(m.rows)
        solution = solver.solve(tolerance=1e-9)
        priced = lagrangian.price(m.rows, solution.cut_duals, solution.static_duals)
        bound = lagrangian.value(priced, solution.x)
        assert bound == pytest.approx(value, rel=1e-5, abs=1e-5)
