"""Lower bounds of sub-gradient methods from any M and V: min over w of R(w) + max(0, M - V.w)."""

import cvxpy as cp
import numpy as np
import pytest

import structopt as so
from structopt.master.form import HingeForm
from structopt.methods.subgradient.descent import Ball, EuclideanBall, Proximal, Ridge

SIZE = 4
ONE, ZERO, INF = np.ones(SIZE), np.zeros(SIZE), np.full(SIZE, np.inf)
PRICES = np.array([1.0, 0.5, 2.0, 0.25])


def form(curvature=ZERO, l1=ZERO, lb=-INF, ub=INF):
    return HingeForm(so.loss_augmented, np.ones(2), curvature, l1, lb, ub)


FORMS = {
    "l1": form(l1=PRICES),
    "l1, some >= 0": form(l1=PRICES, lb=np.array([0.0, -np.inf, 0.0, -np.inf])),
    "l1, some <= 0": form(l1=PRICES, ub=np.array([0.0, np.inf, 0.0, np.inf])),
    "l1 in a box": form(l1=PRICES, lb=-0.5 * ONE, ub=0.25 * ONE),
    "elastic": form(PRICES, 0.3 * ONE),
    "elastic, some >= 0": form(PRICES, 0.3 * ONE, lb=np.array([0.0, -np.inf, 0.0, -np.inf])),
    "some curved": form(np.array([1.0, 0.0, 2.0, 0.0]), np.array([0.1, 0.4, 0.0, 0.4])),
    "away from 0": form(PRICES, 0.3 * ONE, lb=0.1 * ONE, ub=0.7 * ONE),
}


def truth(w, cost, kept, margin, pull):
    worst = cp.pos(margin - pull @ w)
    return cp.Problem(cp.Minimize(cost + worst), kept).solve(cp.CLARABEL)


def drawn():
    rng = np.random.default_rng(0)
    for size in (0.0, 0.2, 1.0, 4.0):
        for _ in range(4):
            yield float(rng.uniform(0, 3)), size * rng.normal(size=SIZE)
    yield 1.0, np.array([3.0, 0.0, 0.0, 0.0])
    yield 1.0, np.array([0.0, -3.0, 0.0, 0.0])


@pytest.mark.parametrize("name", FORMS)
def test_proximal_bounds(name):
    given = FORMS[name]
    descent, w = Proximal(given), cp.Variable(SIZE)
    cost = cp.sum(cp.multiply(given.curvature / 2, cp.square(w)))
    cost = cost + given.l1 @ cp.abs(w)
    kept = [w[j] >= given.lb[j] for j in range(SIZE) if np.isfinite(given.lb[j])]
    kept += [w[j] <= given.ub[j] for j in range(SIZE) if np.isfinite(given.ub[j])]
    flat = not np.any(given.curvature) and "box" not in name
    for margin, pull in drawn():
        best = truth(w, cost, kept, margin, pull)
        found = descent.bound(margin, pull)
        assert found <= best + 1e-7
        if flat:  # scaled until everything rests: no other share of them is better
            assert found == pytest.approx(best, abs=1e-6)
        elif name != "away from 0":  # the best share or one that is up to half of it
            assert found >= 0.5 * best - 1e-6


def test_ridge_bounds():
    descent, w = Ridge(form(PRICES)), cp.Variable(SIZE)
    cost = cp.sum(cp.multiply(PRICES / 2, cp.square(w)))
    for margin, pull in drawn():
        best = truth(w, cost, [], margin, pull)
        assert descent.bound(margin, pull) == pytest.approx(best, abs=1e-6)


@pytest.mark.parametrize("above", [[], [0, 2]])
@pytest.mark.parametrize("kind", [Ball, EuclideanBall])
def test_ball_bounds(kind, above):
    which = np.array(above, dtype=np.int64)
    for radius in (1e-3, 0.7, 20.0):
        descent, w = kind(SIZE, radius, which, None), cp.Variable(SIZE)
        size = cp.norm1(w) if kind is Ball else cp.norm2(w)
        kept = [size <= radius, *(w[j] >= 0 for j in above)]
        for margin, pull in drawn():
            best = truth(w, 0.0 * cp.sum(w), kept, margin, pull)
            assert descent.bound(margin, pull) == pytest.approx(best, abs=1e-6)
        norm = np.abs if kind is Ball else np.square
        for point in (0.5 * ONE, np.array([3.0, -4.0, 0.0, 0.0])):
            length = norm(point).sum() ** (1.0 if kind is Ball else 0.5)
            assert descent.residual(point) == pytest.approx(max(0.0, length / radius - 1))
