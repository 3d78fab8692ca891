"""Good multipliers give a tight bound; that none exceeds the optimum is in test_true_bounds."""

import pytest
from small_masters import OBJECTIVES, STATIC, build

from structopt.backends import registry
from structopt.master.lagrangian import Lagrangian


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
