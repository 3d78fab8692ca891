"""Splitting: every form agrees with exact routes, with certificates; what it refuses."""

import cvxpy as cp
import numpy as np
import pytest

import structopt as so
from structopt.backends.splitting import Splitting
from structopt.master.declare import RestrictedMaster

TOL = 1e-3


def ridge(w):
    return cp.sum_squares(w) / 2


def group_max(xi):
    return cp.max(cp.hstack([cp.sum(xi[:20]) / 20, cp.sum(xi[20:]) / 20]))


FORMS = {
    "Huber": lambda m, w, xi: ridge(w) + cp.sum(cp.huber(xi, 0.5)),
    "largest": lambda m, w, xi: ridge(w) + cp.sum_largest(xi, 10),
    "worst group": lambda m, w, xi: ridge(w) + 20 * group_max(xi),
    "log-sum-exp": lambda m, w, xi: ridge(w) + 5 * cp.log_sum_exp(xi),
    "variance": lambda m, w, xi: ridge(w) + cp.sum(xi) + cp.norm2(xi),
    "coupled": lambda m, w, xi: ridge((np.eye(w.size) + 0.2) @ w) + cp.sum(xi),
    "group lasso": lambda m, w, xi: cp.norm2(w[:4]) + cp.norm2(w[4:]) + cp.sum(xi),
    "sparse groups": lambda m, w, xi: ridge(w) + cp.norm2(w[:4]) + cp.norm2(w[4:]) + cp.sum(xi),
    "largest weight": lambda m, w, xi: 3 * cp.norm_inf(w) + cp.sum(xi),
    "1.5-norm": lambda m, w, xi: cp.pnorm(w, 1.5) + cp.sum(xi),
    "entropy": lambda m, w, xi: cp.sum(cp.kl_div(w, np.ones(w.size))) + cp.sum(xi),
    "simplex": lambda m, w, xi: (m.subject_to(w >= 0, cp.sum(w) == 1), ridge(w) + cp.sum(xi))[1],
}


class Form(so.Formulation):
    def __init__(self, kind="Huber"):
        self.kind = kind

    def master(self, m):
        w, xi = m.weights(), m.slacks()
        m.minimize(FORMS[self.kind](m, w, xi))
        m.cuts(lambda cut: cut.delta @ w >= cut.loss - cut.of(xi))


@pytest.mark.parametrize("kind", FORMS)
def test_routes_agree(kind):
    X, y = so.datasets.make_classes(40, seed=1)
    found = []
    for backend in ("splitting", "clarabel", "cvxpy"):
        model = so.StructuredClassifier(so.Multiclass(), Form(kind), backend=backend, tol=TOL)
        found.append(model.fit(X, y).result_)
        assert found[-1].certificate.certified
        assert found[-1].certificate.relative_gap <= TOL
    low = max(result.certificate.dual for result in found)
    high = min(result.certificate.primal for result in found)
    assert low <= high + 1e-9 * abs(high)
    assert high - low <= TOL * abs(high)


class Learned(so.Formulation):
    """A margin that is learned, and one for each example."""

    def __init__(self, each=False):
        self.each = each

    def master(self, m):
        w, xi = m.weights(), m.slacks()
        rho = cp.Variable(m.n_examples if self.each else 1, nonneg=True)
        m.minimize(ridge(w) + cp.sum(xi) - 0.3 * 40 / rho.size * cp.sum(rho))
        m.subject_to(rho <= 3)
        m.cuts(lambda cut: cut.delta @ w >= (cut.of(rho) if self.each else rho) - cut.of(xi))


@pytest.mark.parametrize("each", [False, True])
def test_other_columns_ride_along(each):
    X, y = so.datasets.make_classes(40, seed=1)
    found = {}
    for backend in ("splitting", "clarabel"):
        model = so.StructuredClassifier(so.Multiclass(), Learned(each), backend=backend, tol=TOL)
        found[backend] = model.fit(X, y).result_.certificate
        assert found[backend].certified
    assert found["splitting"].primal == pytest.approx(found["clarabel"].primal, rel=2 * TOL)


def compiled(objective):
    m = RestrictedMaster(4, 3)
    w, xi = m.weights(), m.slacks()
    m.minimize(objective(w, xi))
    m.cuts(lambda cut: cut.delta @ w >= cut.loss - cut.of(xi))
    m.compile()
    return m


def test_refusals():
    flat = compiled(lambda w, xi: cp.sum(cp.abs(w[1:] - w[:-1])) + cp.sum(xi))
    assert "neither" in Splitting().refusal(flat.program, flat.samples())


def test_auto_takes_it_for_large_programmes_only():
    from structopt.backends.registry import choose

    m = compiled(lambda w, xi: ridge(w) + cp.sum_largest(xi, 2))
    assert choose("auto", m).name == "clarabel"
    large = RestrictedMaster(4, 1500)
    w, xi = large.weights(), large.slacks()
    large.minimize(ridge(w) + cp.sum_largest(xi, 2))
    large.cuts(lambda cut: cut.delta @ w >= cut.loss - cut.of(xi))
    large.compile()
    assert choose("auto", large).name == "splitting"


def test_batches_without_a_further_column_number_the_base_alike():
    class LearnedBound(so.Formulation):
        def master(self, m):
            w, xi, B = m.weights(), m.slacks(), cp.Variable(nonneg=True, name="B")
            m.minimize(cp.sum_squares(w) / 2 + 0.1 * cp.sum(xi) + 0.5 * B)
            m.cuts(lambda cut: cut.delta @ w >= cut.loss - cut.of(xi))
            m.cuts(lambda cut: [cut.delta @ w <= B, cut.delta @ w >= -B])

    X, Y = so.datasets.make_chain_crf(8, seed=0)
    structure = so.Chain().fitted(X, Y)
    data = so.DataSet.of(structure, X, Y)
    ours, other = (
        so.CuttingPlane(structure, LearnedBound(), data, backend=backend, tol=1e-3).solve()
        for backend in ("splitting", "clarabel")
    )
    assert ours.certificate.certified
    assert ours.certificate.primal == pytest.approx(other.certificate.primal, rel=2e-3)
