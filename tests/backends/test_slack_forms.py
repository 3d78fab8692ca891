"""Slacks that cost more than a constant each: all routes agree, with certificates."""

import cvxpy as cp
import numpy as np
import pytest

import structopt as so
from structopt.backends.ascent.kernels import charge, lower_soft, raise_soft, settled

FORMS = {
    "squared": lambda xi: 0.5 * cp.sum_squares(xi),
    "squared and linear": lambda xi: 0.2 * cp.sum(xi) + 0.3 * cp.sum_squares(xi),
    "some squared": lambda xi: cp.sum(xi[:20]) + cp.sum_squares(xi[20:]),
}


class Form(so.Formulation):
    def __init__(self, kind="squared"):
        self.kind = kind

    def master(self, m):
        w, xi = m.weights(), m.slacks()
        m.minimize(cp.sum_squares(w) / 2 + FORMS[self.kind](xi))
        m.cuts(lambda cut: cut.delta @ w >= cut.loss - cut.of(xi))


@pytest.mark.parametrize("kind", FORMS)
def test_routes_agree(kind):
    X, y = so.datasets.make_classes(40, seed=1)
    found = {}
    for backend in ("auto", "clarabel", "cvxpy"):
        model = so.StructuredClassifier(so.Multiclass(), Form(kind), backend=backend, tol=1e-6)
        found[backend] = model.fit(X, y).result_
        assert found[backend].certificate.certified
    assert found["auto"].backend == "ascent"
    low = max(result.certificate.dual for result in found.values())
    high = min(result.certificate.primal for result in found.values())
    assert low <= high
    assert high - low <= 1e-5 * max(1.0, abs(high))


@pytest.mark.parametrize("seed", range(30))
def test_steps_of_one_multiplier_are_the_best_there_are(seed):
    rng = np.random.default_rng(seed)
    slope, square, knee, give = rng.normal(), rng.random(), rng.normal(), rng.random() + 0.1
    total, room = rng.random(), rng.random() + 0.1

    def gained(steps, sign):
        paid = np.array([charge(total + sign * s, knee, give) for s in steps])
        return sign * slope * steps - 0.5 * square * steps**2 - paid + charge(total, knee, give)

    for sign, step_of in ((1.0, raise_soft), (-1.0, lower_soft)):
        most = room if sign > 0 else min(room, total)
        step, gain = step_of(slope, square, most, total, knee, give)
        assert 0.0 <= step <= most
        assert gain == pytest.approx(float(gained(np.array([step]), sign)[0]), abs=1e-12)
        assert gain >= gained(np.linspace(0.0, most, 1001), sign).max() - 1e-12


def test_price_and_charge_are_conjugate():
    cap, knee, give = 2.0, 0.5, 0.4
    loads = np.linspace(0.0, cap, 2001)
    for need in (0.0, 0.3, 0.6, 2.0):
        slack, cost = settled(need, cap, knee, give)
        best = max(s * slack - charge(s, knee, give) for s in loads)
        assert slack == need
        assert cost == pytest.approx(best, abs=1e-5)
