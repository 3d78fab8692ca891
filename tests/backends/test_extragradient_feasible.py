"""Is there a point at all? Searches that end, and proofs that rounding cannot fake."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from structopt.backends.extragradient.exact import total, transposed
from structopt.backends.extragradient.feasible import Feasibility
from structopt.backends.extragradient.rays import infeasibility, proves_infeasible
from structopt.backends.extragradient.solver import solve
from structopt.master.program import Program

INF = np.inf
drawn = settings(derandomize=True, deadline=None, max_examples=100)
seeds = st.integers(0, 2**32 - 1)


def draw(seed):
    """Small integer rows with bounds, with and without points."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(1, 8)), int(rng.integers(1, 10))
    A = rng.integers(-3, 4, (m, n)) * (rng.random((m, n)) < 0.6)
    lb = rng.choice([-INF, 0.0, -1.0], n, p=[0.2, 0.6, 0.2])
    ub = np.where(rng.random(n) < 0.5, INF, np.where(np.isfinite(lb), lb, 0.0) + 2.0)
    value = A @ np.clip(rng.integers(-2, 3, n), lb, ub) + rng.integers(-1, 2, m)
    kind = rng.integers(0, 3, m)
    return Program(
        P=sp.csr_array((n, n)), q=np.zeros(n), l1=np.zeros(n), A=sp.csr_array(A.astype(float)),
        lower=np.where(kind == 2, -INF, value), upper=np.where(kind == 1, INF, value + 0.0),
        lb=lb, ub=ub,
    )  # fmt: skip


def has_point(p):
    low, high = np.isfinite(p.lower), np.isfinite(p.upper)
    A = np.vstack([p.A.toarray()[high], -p.A.toarray()[low]])
    b = np.concatenate([p.upper[high], -p.lower[low]])
    return linprog(p.q, A, b, bounds=list(zip(p.lb, p.ub, strict=True))).status == 0


@drawn
@given(seeds)
def test_the_search_ends_with_a_point_or_a_proof(seed):
    p = draw(seed)
    search = Feasibility(p, np.zeros(len(p.q)))
    ray = search.seek(20_000)
    assert search.found == (ray is None) == has_point(p)
    x = search.x
    assert np.all(x >= p.lb - 1e-12)
    assert np.all(x <= p.ub + 1e-12)
    if ray is None:
        missed = np.maximum(np.maximum(p.lower - p.A @ x, p.A @ x - p.upper), 0.0)
        assert missed.max() <= 1e-12 * (1.0 + np.linalg.norm(x))
    else:
        assert proves_infeasible(p, ray)


@drawn
@given(seeds)
def test_sums_are_rounded_once(seed):
    rng = np.random.default_rng(seed)
    A = sp.random_array((9, 7), density=0.5, rng=rng, format="csr")
    A.data *= 10.0 ** rng.integers(-9, 9, A.nnz)
    y = rng.standard_normal(9) * 10.0 ** rng.integers(-9, 9, 9) * (rng.random(9) < 0.8)
    dense = A.toarray()
    for j, found in enumerate(transposed(A, y)):
        terms = (Fraction(a) * Fraction(v) for a, v in zip(dense[:, j], y, strict=True))
        assert found == float(sum(terms, Fraction(0)))
    twice = sum((2 * Fraction(v) * Fraction(v) for v in y), Fraction(0))
    assert total((y, y), (-y, -y)) == float(twice)


def nearly(gap):
    """A chain x0 = x1 = ... = x9, whose ends are to differ by ``gap``; all columns in a box."""
    A = np.vstack([np.eye(10)[:-1] - np.eye(10)[1:], np.eye(10)[0] - np.eye(10)[9]])
    sides = np.append(np.zeros(9), gap)
    return Program(
        P=sp.csr_array((10, 10)), q=np.linspace(-1, 1, 10), l1=np.zeros(10), A=sp.csr_array(A),
        lower=sides, upper=sides, lb=np.zeros(10), ub=np.ones(10),
    )  # fmt: skip


@pytest.mark.parametrize("without", [(), ("presolve",), ("presolve", "polish"), ("scaling",)])
@pytest.mark.parametrize("tolerance", [1e-3, 1e-6])
@pytest.mark.parametrize("gap", [1e-5, 1e-9, -1e-9])
def test_rows_that_miss_each_other_by_less_than_the_tolerance(gap, tolerance, without):
    found = solve(nearly(gap), tolerance=tolerance, without=without)
    assert found.status == "infeasible"
    assert proves_infeasible(nearly(gap), found.ray)
    assert solve(nearly(0.0), tolerance=tolerance, without=without).status == "optimal"


def test_rounding_proves_nothing():
    # 0.1 + 0.2 - 0.3 is 5.6e-17 as floats are added, 2.8e-17 exactly, and 0 on paper
    p = Program(
        P=sp.csr_array((1, 1)), q=np.zeros(1), l1=np.zeros(1),
        A=sp.csr_array([[0.1], [0.2], [-0.3]]), lower=np.array([0.0, 0.0, 1e-17]),
        upper=np.full(3, INF), lb=np.full(1, -INF), ub=np.full(1, INF),
    )  # fmt: skip
    assert not proves_infeasible(p, np.ones(3))  # x = -1e-16 would do
    assert proves_infeasible(replace(p, lower=np.array([0.0, 0.0, 1e-7])), np.ones(3))
    # each of ten thousand slopes is lost beside a large one, and with it their sum
    n = 10_000
    A = sp.csr_array(np.vstack([np.full(n, 1.0), np.full(n, -1.0 + 2.0**-53)]))
    boxed = Program(
        P=sp.csr_array((n, n)), q=np.zeros(n), l1=np.zeros(n), A=A,
        lower=np.array([0.0, 1e-13]), upper=np.full(2, INF), lb=np.full(n, -1.0), ub=np.ones(n),
    )  # fmt: skip
    ray = infeasibility(boxed, np.ones(2), once=True)
    assert ray is not None
    assert ray.value == 0.0
    assert not proves_infeasible(boxed, np.ones(2))


def test_what_only_the_presolve_reduced_is_asked_of_the_problem_given():
    # x0 = 1 and x0 + x1 = 2 leave x1 = 1, which a third row denies by 1e-9: rounding, says presolve
    A = sp.csr_array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])
    sides = np.array([1.0, 2.0, 1.0 + 1e-9])
    p = Program(
        P=sp.csr_array((2, 2)), q=np.ones(2), l1=np.zeros(2), A=A, lower=sides, upper=sides,
        lb=np.zeros(2), ub=np.full(2, 9.0),
    )  # fmt: skip
    found = solve(p, tolerance=1e-6)
    assert found.status == "infeasible"
    assert proves_infeasible(p, found.ray)
    assert solve(p, tolerance=1e-6, without=["feasibility"]).status == "optimal"
    warm = solve(p, tolerance=1e-6, start=(np.ones(2), np.array([0.0, 1.0, 0.0])))
    assert warm.status == "infeasible"


@pytest.mark.parametrize("seed", range(8))
def test_a_transport_that_lacks_a_billionth(seed):
    rng = np.random.default_rng(seed)
    a, b = (int(v) for v in rng.integers(3, 12, 2))
    supply, demand = (rng.integers(1, 20, k).astype(float) for k in (a, b))
    demand *= supply.sum() / demand.sum()
    A = sp.vstack(
        [sp.kron(sp.eye_array(a), np.ones((1, b))), sp.kron(np.ones((1, a)), sp.eye_array(b))]
    )
    for lack, statuses in ((1e-9, {"infeasible"}), (-1e-3, {"optimal"})):
        p = Program(
            P=sp.csr_array((a * b, a * b)), q=rng.integers(1, 50, a * b).astype(float),
            l1=np.zeros(a * b), A=sp.csr_array(A),
            lower=np.append(np.full(a, -INF), demand * (1.0 + lack)),
            upper=np.append(supply, np.full(b, INF)), lb=np.zeros(a * b), ub=np.full(a * b, INF),
        )  # fmt: skip
        assert {solve(p, tolerance=t).status for t in (1e-4, 1e-6)} == statuses


def test_a_search_that_stands_still_ends():
    """It had gone round at one point for minutes, until its products were spent."""
    rng = np.random.default_rng(0)
    A = rng.normal(size=(8, 3))
    side = A @ rng.random(3) + 1e-9 * rng.integers(-2, 3, 8)  # no ray of floats proves that
    p = Program(
        P=sp.csr_array((3, 3)), q=np.zeros(3), l1=np.zeros(3), A=sp.csr_array(A),
        lower=side, upper=side, lb=np.full(3, -INF), ub=np.full(3, INF),
    )  # fmt: skip
    search = Feasibility(p, np.zeros(3))
    assert search.seek(1e5) is None
    assert not search.found
    assert search.spent < 1000
    assert solve(p, tolerance=1e-6).status == "optimal"  # within its tolerance, that is
