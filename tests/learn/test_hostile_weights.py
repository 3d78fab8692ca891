"""Sample weights beside limits of slacks: examples are as if repeated, or it is refused."""

import cvxpy as cp
import numpy as np
import pytest

import structopt as so
from structopt.errors import IncompatibleError
from structopt.testing.problems import small_classes

LIMITS_OF_SLACKS = {
    "floor": lambda xi, t, z: [xi >= 0.5],
    "epigraph": lambda xi, t, z: [z >= xi - t],
    "equal": lambda xi, t, z: [xi[0] == xi[1]],
    "scaled": lambda xi, t, z: [2 * xi <= 3],
    "budget": lambda xi, t, z: [cp.sum(xi) <= 3],
    "groups": lambda xi, t, z: [cp.sum(xi[:2]) <= t, cp.sum(xi[2:]) <= t],
    "priced": lambda xi, t, z: [np.ones(xi.size) @ xi <= t],
}


class Limited(so.Formulation):
    """1/2 |w|^2 + sum xi + t + 2 sum z, and limits of slacks."""

    def __init__(self, limit):
        self.limit = limit

    def master(self, m):
        w, xi = m.weights(), m.slacks()
        t, z = cp.Variable(nonneg=True), cp.Variable(m.n_examples, nonneg=True)
        m.minimize(cp.sum_squares(w) / 2 + cp.sum(xi) + t + 2 * cp.sum(z))
        m.subject_to(*LIMITS_OF_SLACKS[self.limit](xi, t, z))
        m.cuts(lambda cut: cut.delta @ w >= cut.loss - cut.of(xi))


@pytest.mark.parametrize("limit", LIMITS_OF_SLACKS)
def test_limits_of_weighted_slacks_mean_repetitions_or_are_refused(limit):
    case, weight = small_classes(1, n=5), np.array([3, 1, 2, 1, 1])
    which = np.sort(np.repeat(np.arange(5), weight))
    if limit not in ("budget", "groups", "priced"):
        with pytest.raises(IncompatibleError, match="one by one"):
            so.StructuredClassifier(case.given, Limited(limit)).fit(
                case.X, case.Y, sample_weight=weight
            )
        return
    weighted = so.StructuredClassifier(case.given, Limited(limit), tol=1e-6)
    weighted.fit(case.X, case.Y, sample_weight=weight)
    if limit == "groups":  # which go by position
        LIMITS_OF_SLACKS["repeated"] = lambda xi, t, z: [cp.sum(xi[:4]) <= t, cp.sum(xi[4:]) <= t]
        limit = "repeated"
    again = so.StructuredClassifier(case.given, Limited(limit), tol=1e-6)
    again.fit([case.X[i] for i in which], [case.Y[i] for i in which])
    LIMITS_OF_SLACKS.pop("repeated", None)
    assert weighted.result_.certificate.primal == pytest.approx(
        again.result_.certificate.primal, rel=1e-5
    )
