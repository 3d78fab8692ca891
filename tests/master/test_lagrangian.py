"""Good multipliers give a tight bound; that none exceeds the optimum is in test_true_bounds."""

from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from small_masters import OBJECTIVES, STATIC, build

from structopt.backends import registry
from structopt.master.cuts import Cuts
from structopt.master.declare import RestrictedMaster
from structopt.master.lagrangian import Lagrangian, Priced
from structopt.master.lagrangian_kernels import step_to_rest
from structopt.master.program import Program
from structopt.structures.base.parts import UNIT, Directions


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


SIDES = [-np.inf, -2.0, -1.0, 0.0, 0.5, 1.0, 2.0, np.inf]


def least(r, curvature, l1, lb, ub):
    """The minimum of a column over its bounds, at one of the few points where it can be."""
    ends = [end for end in (lb, ub) if np.isfinite(end)]
    turns = [0.0, *((-(r + s * l1) / curvature for s in (-1, 1)) if curvature else ())]
    falls = not curvature and ((np.isinf(ub) and r < -l1) or (np.isinf(lb) and r > l1))
    if falls:
        return -np.inf
    at = [t for t in turns if lb <= t <= ub] + ends
    return min(0.5 * curvature * t * t + r * t + l1 * abs(t) for t in at)


@pytest.mark.parametrize("linear", [True, False])
def test_columns_of_every_kind_add_their_minimum(linear):
    """Bounds that are none, 0, 1 or others, with and without prices: the Lagrangian by hand."""
    rng, seen = np.random.default_rng(0), np.zeros(2, int)
    for _ in range(600):
        n = int(rng.integers(1, 4))
        ends = np.sort(rng.choice(SIDES, (n, 2)), axis=1)
        ends[ends[:, 0] == np.inf] = -np.inf, np.inf
        ends[ends[:, 1] == -np.inf] = -np.inf, np.inf
        lb, ub = ends.T
        p = rng.integers(0, 2, n) * rng.choice([0.5, 1.0, 3.0], n) * (not linear)
        q, l1 = rng.integers(-1, 3, (2, n)).astype(float)
        l1 = np.abs(l1)
        program = Program(
            P=sp.diags_array(p, format="csc"), q=q, l1=l1, A=sp.csr_array((0, n)),
            lower=np.zeros(0), upper=np.zeros(0), lb=lb, ub=ub, offset=0.25,
        )  # fmt: skip
        lagrangian = Lagrangian(program)
        none = [least(*column) for column in zip(q, p, l1, lb, ub, strict=True)]
        for _ in range(3):
            pull, gain = rng.integers(-3, 4, n).astype(float), float(rng.integers(-2, 5))
            found = lagrangian.value(Priced(pull, gain, np.zeros(0)), np.zeros(n))
            worth = [least(*column) for column in zip(q - pull, p, l1, lb, ub, strict=True)]
            if np.isfinite(sum(worth)):
                assert found == pytest.approx(gain + sum(worth) + 0.25, abs=1e-9)
                seen[0] += 1
            elif np.isfinite(sum(none)):  # a share of the multipliers, as large as can be
                flat = p == 0
                low = np.where(flat & np.isinf(ub), -l1, -np.inf)
                high = np.where(flat & np.isinf(lb), l1, np.inf)
                t = step_to_rest(q, pull, low, high, 0.0)
                near = [least(*c) for c in zip(q - t * pull, p, l1, lb, ub, strict=True)]
                assert found == pytest.approx(t * gain + sum(near) + 0.25, abs=1e-9)
                seen[1] += 1
    assert np.all(seen > 100)


def test_columns_that_rest_at_one_value_are_settled_by_the_multipliers_of_cuts():
    """A free slack in rows of a variance: only the sum of the cuts' multipliers brings it to rest.

    Multipliers off in the eighth digit used to leave the bound of multipliers 0, the least of the
    regulariser alone.
    """
    m = RestrictedMaster(3, 2)
    w, z = m.weights(lambda w: [cp.norm2(w - 1) <= 0.5]), cp.Variable(3, name="z")
    m.minimize(cp.sum_squares(w) / 2 + cp.sum(z) + cp.sum_squares(z - cp.sum(z) / 3) / 2)
    m.cuts(lambda cut: cut.delta @ w >= 1 - cut.of(z))
    m.compile()
    deltas = sp.csr_array(np.array([[1.0, 0.0], [0.0, 2.0], [-1.0, 1.0]]))
    found, ones = Directions.entries(deltas), np.ones(3)
    m.add(Cuts(np.zeros(3, int), np.arange(3), ones, ones, ones, directions=found, base=UNIT))
    problem, _ = m.problem()
    problem.solve(solver=cp.CLARABEL)
    solver = registry.choose("clarabel", m)
    solver.start(m)
    solver.append(m.pool.cuts)
    solution = solver.solve(tolerance=1e-9)
    for share in (0.0, 1e-8, -1e-6):
        off = (1.0 + share) * solution.cut_duals
        lagrangian = Lagrangian(m.program)
        bound = lagrangian.value(
            lagrangian.price(m.pool.cuts, off, solution.static_duals), solution.x
        )
        assert bound == pytest.approx(problem.value, rel=1e-4)
        assert bound <= problem.value + 1e-7


def test_free_slacks_that_cost_nothing_take_no_multipliers():
    """Two rows of a free slack without a price: their multipliers, 1e-9 each, can only be 0."""
    m = RestrictedMaster(2, 2)
    w, z = m.weights(), cp.Variable(2, name="z")
    m.minimize(cp.sum(cp.power(w, 4)) + cp.sum_squares(w) / 2 + z[0])
    m.cuts(lambda cut: cut.delta @ w >= 1 - cut.of(z))
    m.compile()
    deltas = sp.csr_array(np.array([[1.0, 0.0], [0.0, 2.0], [-1.0, 1.0]]))
    found, ones = Directions.entries(deltas), np.ones(3)
    m.add(
        Cuts(np.zeros(3, int), np.array([0, 1, 1]), ones, ones, ones, directions=found, base=UNIT)
    )
    problem, _ = m.problem()
    problem.solve(solver=cp.CLARABEL)
    solver = registry.choose("clarabel", m)
    solver.start(m)
    solver.append(m.pool.cuts)
    solution = solver.solve(tolerance=1e-9)
    y = solution.cut_duals + np.array([0.0, 6e-10, 2e-9])
    lagrangian = Lagrangian(m.program)
    bound = lagrangian.value(lagrangian.price(m.pool.cuts, y, solution.static_duals), solution.x)
    assert bound == pytest.approx(problem.value, rel=1e-5)
