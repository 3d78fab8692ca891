"""Any multipliers whatsoever give a lower bound, and good ones a tight bound."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_masters import OBJECTIVES, STATIC, build

from structopt.backends import registry
from structopt.master.lagrangian import Lagrangian


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
    bound = lagrangian.value(lagrangian.price(m.pool.cuts, duals, static_duals), x)
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
        solver.append(m.pool.cuts)
        solution = solver.solve(tolerance=1e-9)
        priced = lagrangian.price(m.pool.cuts, solution.cut_duals, solution.static_duals)
        bound = lagrangian.value(priced, solution.x)
        assert bound == pytest.approx(value, rel=1e-5, abs=1e-5)
