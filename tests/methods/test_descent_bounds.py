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


def test_ridge_steps_and_the_ball_that_holds_the_optimum():
    """w <- (1 - 1/t) w + g / (t b p), then shortened to where 1/2 p w^2 is the objective at 0."""
    for most in (np.inf, 2.0, 0.01):
        descent, w, rng = Ridge(form(PRICES)), np.zeros(SIZE), np.random.default_rng(1)
        descent.begin(most, ONE, 0.5)
        short = 0
        for t in range(1, 6):
            pull = rng.normal(size=SIZE)
            descent.step(pull, 0.5)
            w = (1 - 1 / t) * w + pull / (t * 0.5 * PRICES)
            paid = 0.5 * PRICES @ w**2
            if paid > most:
                w, short = w * np.sqrt(most / paid), short + 1
            np.testing.assert_allclose(descent.point, w)
        assert (short > 0) == (most < np.inf)


@pytest.mark.parametrize("name", FORMS)
def test_proximal_steps(name):
    given, rng = FORMS[name], np.random.default_rng(2)
    descent = Proximal(given)
    descent.begin(2.0, rng.normal(size=SIZE), 0.5)
    descent._metric, descent._length = rng.uniform(0.5, 2.0, SIZE), 0.6
    u = cp.Variable(SIZE)
    kept = [u[j] >= given.lb[j] for j in range(SIZE) if np.isfinite(given.lb[j])]
    kept += [u[j] <= given.ub[j] for j in range(SIZE) if np.isfinite(given.ub[j])]
    for size in (0.2, 1.0, 3.0):
        point = size * rng.normal(size=SIZE)
        far = cp.sum(cp.multiply(1 / (2 * 0.6 * 0.5 * descent._metric), cp.square(u - point)))
        paid = cp.sum(cp.multiply(given.curvature / 2, cp.square(u))) + given.l1 @ cp.abs(u)
        cp.Problem(cp.Minimize(far + paid), kept).solve(cp.CLARABEL)
        np.testing.assert_allclose(descent._answer(point, 0.5), u.value, atol=1e-5)


@pytest.mark.parametrize("above", [[], [0, 2]])
@pytest.mark.parametrize("kind", [Ball, EuclideanBall])
def test_ball_steps_are_projections(kind, above):
    rng, u = np.random.default_rng(3), cp.Variable(SIZE)
    for radius in (0.1, 2.0):
        descent = kind(SIZE, radius, np.array(above, dtype=np.int64), lambda t: 0.5 / t)
        size = cp.norm1(u) if kind is Ball else cp.norm2(u)
        kept = [size <= radius, *(u[j] >= 0 for j in above)]
        for t in range(1, 5):
            pull = 3.0 * rng.normal(size=SIZE)
            descent.enter(0.5)
            target = descent.point + 0.5 / t * pull
            descent.step(pull, 1.0)
            cp.Problem(cp.Minimize(cp.sum_squares(u - target)), kept).solve(cp.CLARABEL)
            np.testing.assert_allclose(descent.point, u.value, atol=1e-4)
