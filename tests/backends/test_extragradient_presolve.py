"""Presolve and postsolve: exact, primal, dual and rays, against HiGHS."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from structopt.backends.extragradient.certificate import Residuals
from structopt.backends.extragradient.presolve import presolve
from structopt.backends.extragradient.rays import proves_infeasible
from structopt.backends.extragradient.solver import solve
from structopt.lab.bench.lp_solvers import highs
from structopt.master.program import Program

INF = np.inf
drawn = settings(derandomize=True, deadline=None, max_examples=150)
seeds = st.integers(0, 2**32 - 1)


def draw(seed, *, feasible=True, quadratic=False):
    """Small programmes with integer data, full of what presolve looks for."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(1, 9)), int(rng.integers(0, 9))
    A = rng.integers(-3, 4, (m, n)) * (rng.random((m, n)) < rng.choice([0.25, 0.5]))
    if m > 1 and rng.random() < 0.4:
        A[1] = A[0] * int(rng.choice([-2, 1, 3]))  # duplicates
    if m > 2 and n > 1 and rng.random() < 0.5:
        A[2] = 0
        A[2, rng.permutation(n)[:2]] = rng.choice([-1, 1, 2], 2)  # a doubleton
    lb = rng.choice([-INF, 0.0, -1.0, 1.0], n, p=[0.2, 0.5, 0.2, 0.1])
    ub = np.where(
        rng.random(n) < 0.5, INF, np.where(np.isfinite(lb), lb, 0) + rng.integers(0, 4, n)
    )
    inside = np.clip(rng.integers(-2, 3, n).astype(float), lb, ub)
    value = A @ inside
    if not feasible:
        value = value + rng.integers(-2, 3, m)
    kind = rng.integers(0, 4, m)  # equation, >=, <=, range
    room = rng.integers(0, 3, (2, m))
    lower = np.where(kind == 0, value, np.where(kind == 2, -INF, value - room[0]))
    upper = np.where(kind == 0, value, np.where(kind == 1, INF, value + room[1]))
    # costs for which multipliers exist, so that the optimum does
    y = np.where(kind == 1, 1, np.where(kind == 2, -1, rng.choice([-1, 0, 1], m)))
    y = y * rng.integers(0, 3, m)
    z = np.where(np.isfinite(lb), rng.integers(0, 3, n), 0)
    z = z - np.where(np.isfinite(ub), rng.integers(0, 3, n), 0)
    root = rng.integers(-1, 2, (2, n)) if quadratic else np.zeros((1, n))
    P = root.T @ root
    return Program(
        P=sp.csr_array(P.astype(float)), q=(A.T @ y + z - P @ inside).astype(float),
        l1=np.zeros(n), A=sp.csr_array(A.astype(float)), lower=lower.astype(float),
        upper=upper.astype(float), lb=lb.astype(float), ub=ub.astype(float),
    )  # fmt: skip


def optimum(p):
    if not len(p.q):
        return np.zeros(0), np.zeros(len(p.lower))
    pair = highs(p, 10.0, {"presolve": "off"})
    return pair.x, pair.y


@given(seed=seeds)
@drawn
def test_solutions_of_what_is_left_come_back_as_solutions(seed):
    p = draw(seed)
    reduction = presolve(p)
    assert reduction.proof is None
    left = reduction.problem
    assert left.A.shape[0] <= p.A.shape[0]
    assert left.A.shape[1] <= p.A.shape[1]
    x, y = optimum(left)
    assert Residuals(left).assess(x, y).error <= 1e-8
    found = Residuals(p).assess(*reduction.back(x, y))
    assert found.error <= 1e-8
    assert found.primal == pytest.approx(p.objective(optimum(p)[0]), abs=1e-6)
    assert found.primal == pytest.approx(left.objective(x), abs=1e-6)  # the constant is kept


@given(seed=seeds)
@drawn
def test_a_start_goes_in_and_comes_back(seed):
    p = draw(seed)
    reduction = presolve(p)
    pair = optimum(p)
    x, y = reduction.into(*pair)
    assert (len(x), len(y)) == reduction.problem.A.shape[::-1]
    back = reduction.back(x, y)
    violation = Residuals(p).assess(back[0], pair[1]).primal_residual
    # columns that are not left are chosen anew: the point stays feasible, if not optimal
    assert violation <= 1e-8


@pytest.mark.parametrize("quadratic", [False, True])
@given(seed=seeds)
@settings(derandomize=True, deadline=None, max_examples=60)
def test_with_and_without_presolve_the_value_is_the_same(quadratic, seed):
    p = draw(seed, quadratic=quadratic)
    values = []
    for without in ((), ("presolve",)):
        found = solve(p, tolerance=1e-8, without=without, max_iter=100_000)
        assert found.status == "optimal", (without, found)
        assert Residuals(p).assess(found.x, found.y).error <= 1e-8
        values.append(found.primal)
    assert values[0] == pytest.approx(values[1], abs=1e-5)


@given(seed=seeds)
@drawn
def test_what_is_called_infeasible_is_proved_on_the_problem_given(seed):
    p = draw(seed, feasible=False)
    truth = highs(Program(**{**vars(p), "q": np.zeros(len(p.q))}), 10.0, {"presolve": "off"})
    feasible = p.residual(truth.x) <= 1e-7
    reduction = presolve(p)
    if reduction.proof is not None:
        assert proves_infeasible(p, reduction.proof)
        assert not feasible
    found = solve(p, max_iter=20_000)
    assert found.status != ("infeasible" if feasible else "optimal"), found
    if found.status == "infeasible":
        assert proves_infeasible(p, found.ray)


def test_rules_one_by_one():
    def rows_left(A, lower, upper, lb=None, ub=None, q=None):
        A = np.atleast_2d(np.asarray(A, float))
        n = A.shape[1]
        p = Program(
            P=sp.csr_array((n, n)), q=np.ones(n) if q is None else np.asarray(q, float),
            l1=np.zeros(n), A=sp.csr_array(A), lower=np.asarray(lower, float),
            upper=np.asarray(upper, float), lb=np.zeros(n) if lb is None else np.asarray(lb, float),
            ub=np.full(n, INF) if ub is None else np.asarray(ub, float),
        )  # fmt: skip
        return presolve(p).problem.A.shape

    assert rows_left([[1, 1]], [-1], [INF]) == (0, 0)  # redundant, then columns at their bounds
    assert rows_left([[0, 0]], [0], [0]) == (0, 0)  # empty
    assert rows_left([[2, 0], [1, 1]], [2, 3], [INF, INF])[0] == 1  # a bound
    assert rows_left([[1, 1, 1]], [0], [0]) == (0, 0)  # forcing
    assert rows_left([[1, 1, 0], [1, 2, 1]], [1, 2], [1, 2], q=[1, 2, 3])[1] <= 1  # doubleton
    rows = [[1, 2], [2, 4], [2, 1]]  # two of them duplicates
    assert rows_left(rows, [1, 1, 1], [INF] * 3)[0] == 2
