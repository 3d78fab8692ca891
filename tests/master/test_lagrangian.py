"""Good multipliers give a tight bound; that none exceeds the optimum is in test_true_bounds."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from small_masters import OBJECTIVES, STATIC, build

from structopt.backends import registry
from structopt.master.lagrangian import Lagrangian
from structopt.master.lagrangian_kernels import step_to_rest


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


WHOLE = st.integers(-3, 3)


@given(columns=st.lists(st.tuples(WHOLE, st.integers(0, 3), st.integers(0, 3), WHOLE), max_size=4))
def test_the_step_to_rest_is_the_largest(columns):
    """Of whole numbers, by fractions; a side of 3 is none."""
    floor, ceiling, cost, pull = (np.zeros(len(columns)) for _ in range(4))
    most = Fraction(1)
    for j, (price, below, above, by) in enumerate(columns):
        cost[j], pull[j] = price, by
        floor[j] = price - below if below < 3 else -np.inf
        ceiling[j] = price + above if above < 3 else np.inf
        if by > 0 and below < 3:
            most = min(most, Fraction(below, by))
        if by < 0 and above < 3:
            most = min(most, Fraction(above, -by))
    found = step_to_rest(cost, pull, floor, ceiling, 1e-12)
    assert found == pytest.approx(float(most), abs=1e-12)
    assert found <= most
    assert found == 1.0 or most < 1
