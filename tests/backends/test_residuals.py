"""What pairs and directions prove, against the definitions written out, over random programmes."""

from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

from structopt.backends.extragradient.certificate import Residuals
from structopt.backends.extragradient.rays import (
    descent,
    infeasibility,
    proves_infeasible,
    proves_unbounded,
)
from structopt.backends.extragradient.scaling import Scale
from structopt.master.program import Program

INF = np.inf


def drawn(rng, *, curved=True, whole=False):
    """A programme with one-sided, two-sided and empty rows, free, boxed and fixed columns."""
    n, m = int(rng.integers(1, 5)), int(rng.integers(1, 5))

    A = rng.integers(-2, 3, (m, n)).astype(float) if whole else rng.normal(size=(m, n))
    side = rng.integers(-2, 3, m).astype(float)
    lower = np.where(rng.random(m) < 0.3, -INF, side)
    upper = np.where(rng.random(m) < 0.3, INF, side + rng.integers(0, 2, m))
    lb = np.where(rng.random(n) < 0.4, -INF, -rng.integers(0, 3, n).astype(float))
    ub = np.where(rng.random(n) < 0.5, INF, rng.integers(0, 4, n).astype(float))
    half = rng.normal(size=(n, n)) * (rng.random() < 0.5) * curved
    return Program(
        P=sp.csr_array(half @ half.T), q=rng.integers(-2, 3, n).astype(float),
        l1=np.where(rng.random(n) < 0.4, rng.integers(1, 3, n), 0).astype(float),
        A=sp.csr_array(A), lower=lower, upper=upper, lb=lb, ub=ub,
        offset=float(rng.integers(-3, 4)),
    )  # fmt: skip


def written_out(p, x, y):
    """(primal, dual, primal residual, dual residual, error) by the formulas, one at a time."""
    x = np.minimum(np.maximum(x, p.lb), p.ub)
    y = np.where(p.lower == -INF, np.minimum(y, 0), y)
    y = np.where(p.upper == INF, np.maximum(y, 0), y)
    A, P = p.A.toarray(), p.P.toarray()
    sides = [
        max((abs(s) for s in pair if np.isfinite(s)), default=0.0)
        for pair in zip(p.lower, p.upper, strict=True)
    ]
    missed = [max(0.0, a - v, v - b) for a, v, b in zip(p.lower, A @ x, p.upper, strict=True)]
    primal_residual = np.linalg.norm(missed) / (1 + np.linalg.norm(sides))
    value = 0.5 * x @ P @ x + p.q @ x + p.l1 @ np.abs(x)
    gain = sum(v * (a if v > 0 else b) for v, a, b in zip(y, p.lower, p.upper, strict=True) if v)
    r = p.q + P @ x - A.T @ y
    readings = []
    for near_only in (False, True):
        residual, bound = [], gain - 0.5 * x @ P @ x
        for j in range(len(x)):
            over = np.sign(r[j]) * max(abs(r[j]) - p.l1[j], 0.0)
            at = p.lb[j] if over > 0 else p.ub[j]
            if over and np.isfinite(at) and not (near_only and abs(x[j] - at) > abs(x[j])):
                bound += over * at
            elif over:
                residual.append(over)
        share = np.linalg.norm(residual) / (1 + np.linalg.norm(p.q))
        gap = abs(value - bound) / (1 + abs(value) + abs(bound))
        readings.append((max(share, gap), share, bound))
    error, share, bound = min(readings)
    return (
        value + p.offset, bound + p.offset, primal_residual, share, max(error, primal_residual)
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(60))
def test_residuals_are_the_formulas_in_any_units(seed):
    rng = np.random.default_rng(seed)
    p = drawn(rng)
    n, m = len(p.q), len(p.lower)
    plain = Residuals(p)
    rows, columns = rng.uniform(0.2, 5.0, m), rng.uniform(0.2, 5.0, n)
    scale = Scale(rows, columns, rows, columns, primal=0.3, dual=7.0)
    scaled = scale.apply(p)
    other = Residuals(p, scale)
    for size in (0.1, 1.0, 3.0):
        x, y = size * rng.normal(size=n), size * rng.normal(size=m)
        expected = written_out(p, x, y)
        found = plain.assess(x, y)
        told = (found.primal, found.dual, found.primal_residual, found.dual_residual, found.error)
        np.testing.assert_allclose(told, expected, rtol=1e-9, atol=1e-12)
        # the same pair in the units of the scaled problem
        u, v = found.x / columns * 0.3, found.y / rows * 7.0
        assert np.all(u >= scaled.lb - 1e-12)
        quick = other.quick(u, v, scaled.A @ u, scaled.P @ u)
        told = (
            quick.primal + p.offset, quick.dual + p.offset, quick.primal_residual,
            quick.dual_residual, quick.error,
        )  # fmt: skip
        np.testing.assert_allclose(told, expected, rtol=1e-7, atol=1e-10)


def test_iterates_that_ran_away_are_worth_nothing():
    p = drawn(np.random.default_rng(0))
    n, m = len(p.q), len(p.lower)
    p = replace(p, lb=np.full(n, -INF), ub=np.full(n, INF))
    for x, y in ((np.full(n, np.nan), np.zeros(m)), (np.zeros(n), np.full(m, np.nan))):
        found = Residuals(p).quick(x, y, p.A @ x, p.P @ x)
        assert (found.error, found.dual, found.primal) == (INF, -INF, INF)


@pytest.mark.parametrize("seed", range(80))
def test_rays_are_what_their_definitions_say_and_prove_what_is_so(seed):
    rng = np.random.default_rng(seed)
    p = drawn(rng, whole=True, curved=seed % 2 == 0)
    n, m, A = len(p.q), len(p.lower), p.A.toarray()
    x = cp.Variable(n)
    rows = [A[i] @ x >= p.lower[i] for i in range(m) if np.isfinite(p.lower[i])]
    rows += [A[i] @ x <= p.upper[i] for i in range(m) if np.isfinite(p.upper[i])]
    rows += [x[j] >= p.lb[j] for j in range(n) if np.isfinite(p.lb[j])]
    rows += [x[j] <= p.ub[j] for j in range(n) if np.isfinite(p.ub[j])]
    feasible = cp.Problem(cp.Minimize(0), rows).solve(cp.CLARABEL) < 1 if rows else True
    candidates = [*rng.integers(-1, 2, (12, m)).astype(float), *rng.normal(size=(4, m))]
    for y in candidates:
        ray = infeasibility(p, y)
        signed = np.where(np.isneginf(p.lower), np.minimum(y, 0), y)
        signed = np.where(np.isposinf(p.upper), np.maximum(signed, 0), signed)
        if not np.any(signed):
            assert ray is None
            continue
        signed = signed / np.abs(signed).max()
        np.testing.assert_allclose(ray.direction, signed)
        slope = -(A.T @ signed)
        value = sum(v * (p.lower[i] if v > 0 else p.upper[i]) for i, v in enumerate(signed) if v)
        against = np.zeros(n)
        for j in range(n):
            at = p.lb[j] if slope[j] > 0 else p.ub[j]
            if slope[j] and np.isfinite(at):
                value += slope[j] * at
            elif slope[j]:
                against[j] = abs(slope[j])
        assert ray.value == pytest.approx(max(value, 0.0), abs=1e-7)
        assert ray.residual == pytest.approx(against.max(initial=0.0))
        np.testing.assert_array_equal(ray.wrong, against > 0)
        assert ray.proves == (value > 1e-7 and against.max(initial=0.0) <= 1e-9 * value)
        assert ray.near == (value > 1e-7 and against.max(initial=0.0) <= 0.3 * value)
        assert not (ray.proves and feasible)
    candidates = [*rng.integers(-1, 2, (12, n)).astype(float), *rng.normal(size=(4, n))]
    for d in candidates:
        ray = descent(p, d)
        kept = np.where(np.isfinite(p.lb), np.maximum(d, 0), d)
        kept = np.where(np.isfinite(p.ub), np.minimum(kept, 0), kept)
        if not np.any(kept):
            assert ray is None
            continue
        kept = kept / np.abs(kept).max()
        np.testing.assert_allclose(ray.direction, kept)
        value = -(p.q @ kept + p.l1 @ np.abs(kept))
        move = A @ kept
        left = np.maximum(np.where(np.isfinite(p.lower), -move, 0.0),
                          np.where(np.isfinite(p.upper), move, 0.0)).clip(0)  # fmt: skip
        bent = np.abs(p.P @ kept).max()
        worst = max(left.max(), bent)
        assert ray.value == pytest.approx(max(value, 0.0), abs=1e-8)
        assert ray.residual == pytest.approx(worst)
        np.testing.assert_array_equal(ray.wrong, left > 0)
        assert ray.proves == (value > 1e-8 and worst <= 1e-9 * value)
        assert ray.near == (value > 1e-8 and worst <= 0.3 * value)


def test_what_rounding_leaves_is_no_value():
    one = Program(
        P=sp.csr_array((2, 2)), q=np.array([1.0, -1.0 - 1e-12]), l1=np.zeros(2),
        A=sp.csr_array([[1.0, -1.0], [1.0, -1.0]]), lower=np.array([1.0, -INF]),
        upper=np.array([INF, 1.0 - 1e-12]), lb=np.full(2, -INF), ub=np.full(2, INF),
    )  # fmt: skip
    assert infeasibility(one, np.array([1.0, -1.0])).value == 0.0
    assert descent(one, np.ones(2)).value == 0.0
    assert proves_infeasible(one, np.array([1.0, -1.0]))  # in sums that are rounded once
    assert proves_unbounded(one, np.ones(2))
    last = replace(one, q=np.array([1.0, -1.0 - 2e-16]), upper=np.array([INF, 1.0 - 1e-16]))
    assert not proves_infeasible(last, np.array([1.0, -1.0]))
    assert not proves_unbounded(last, np.ones(2))
    clear = replace(one, q=np.array([1.0, -1.0 - 1e-6]), upper=np.array([INF, 1.0 - 1e-6]))
    assert infeasibility(clear, np.array([1.0, -1.0])).proves
    assert descent(clear, np.ones(2)).proves


@pytest.mark.parametrize("bad", [np.nan, INF, 0.0, 1e-320])
def test_directions_without_a_length_prove_nothing(bad):
    p = drawn(np.random.default_rng(1))
    p = replace(p, lb=np.full(len(p.q), -INF), ub=np.full(len(p.q), INF))
    p = replace(p, lower=np.zeros(len(p.lower)), upper=np.zeros(len(p.lower)))
    assert infeasibility(p, np.full(len(p.lower), bad)) is None
    assert descent(p, np.full(len(p.q), bad)) is None
