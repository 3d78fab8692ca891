"""Slacks that stand in rows of their own are certified: budgets of all, the worst of two means."""

import cvxpy as cp
import numpy as np
import pytest

import structopt as so
from structopt.structures.base.small import Small
from structopt.testing.full_problem import FullProblem
from structopt.testing.structure_case import StructureCase

REGULARISERS = {
    "ridge": cp.sum_squares,
    "l1": cp.norm1,
    "elastic net": lambda w: cp.sum_squares(w) / 2 + 0.7 * cp.norm1(w),
    "norm": cp.norm2,
}


class WorseOf(so.Formulation):
    """The larger of the mean slack and of twice the first one, less 1, has a price."""

    def __init__(self, regulariser, C):
        self.regulariser, self.C = regulariser, C

    def master(self, m):
        w, xi, t = m.weights(), m.slacks(), cp.Variable()
        m.minimize(self.regulariser(w) + self.C * t)
        m.subject_to(t >= cp.sum(xi) / m.n_examples, t >= 2 * xi[0] - 1)
        m.cuts(lambda cut: cut.delta @ w >= cut.loss - cut.of(xi))


class Budget(so.Formulation):
    """The slacks may sum up to so much."""

    def __init__(self, regulariser, most):
        self.regulariser, self.most = regulariser, most

    def master(self, m):
        w, xi = m.weights(), m.slacks()
        m.minimize(self.regulariser(w))
        m.subject_to(cp.sum(xi) <= self.most)
        m.cuts(lambda cut: cut.delta @ w >= cut.loss - cut.of(xi))


def case_of(seed):
    rng = np.random.default_rng(seed)
    X = [rng.normal(size=(int(rng.integers(1, 3)), 2)).round(2) for _ in range(5)]
    Y = [[int(label) for label in rng.integers(0, 2, len(x))] for x in X]
    return StructureCase(Small(so.Chain(labels=[0, 1]), X, Y))


def certified(case, formulation, backend, tol=1e-6):
    """Learn, and compare both bounds with the programme that has every row."""
    model = so.StructuredClassifier(case.given, formulation, backend=backend, tol=tol)
    found = model.fit(case.X, case.Y).result_.certificate
    optimum = FullProblem(case, formulation).optimum()
    assert found.certified
    rounding = 1e-5 * max(1.0, abs(optimum))
    assert found.dual - rounding <= optimum <= found.primal + rounding


@pytest.mark.parametrize("name", REGULARISERS)
@pytest.mark.parametrize("backend", ["auto", "clarabel", "cvxpy"])
def test_the_worse_of_two_means(name, backend):
    for seed in range(4):
        certified(case_of(seed), WorseOf(REGULARISERS[name], 10.0), backend)


@pytest.mark.parametrize("name", REGULARISERS)
@pytest.mark.parametrize("backend", ["auto", "clarabel", "cvxpy"])
def test_a_budget_of_slacks(name, backend):
    for seed in range(4):
        case = case_of(seed)
        errors = sum(len(y) for y in case.Y)  # the slacks at w = 0
        certified(case, Budget(REGULARISERS[name], 0.7 * errors), backend)


class Tied(so.Formulation):
    """Two slacks are equal, and nothing asks for them; the weights are to be near 1."""

    def __init__(self, price):
        self.price = price

    def master(self, m):
        w, xi = m.weights(), m.slacks()
        m.minimize(cp.sum_squares(w - 1) / 2 + 1 + self.price(xi))
        m.subject_to(xi[0] == xi[-1])
        m.cuts(lambda cut: cut.delta @ w >= -4)


@pytest.mark.parametrize("price", [cp.sum, cp.log_sum_exp, lambda xi: cp.sum(cp.exp(xi))])
def test_slacks_that_are_tied_at_0_are_met(price):
    """A solver leaves 1e-11 of them, all of which broke the row that ties them: never certified."""
    X, Y = [np.eye(2)[:1], np.eye(2)[1:]], [[0], [1]]
    case = StructureCase(Small(so.Chain(labels=[0, 1]), X, Y))
    certified(case, Tied(price), "clarabel", tol=1e-4)
