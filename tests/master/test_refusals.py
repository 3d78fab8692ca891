"""What a master could not mean, or a solver not do, is refused before any work."""

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

import structopt as so
from structopt.errors import BackendError, IncompatibleError, OutOfMemoryError
from structopt.master import interior
from structopt.master.cones import Cone, Cones
from structopt.master.program import Program

ROWS, CLASSES = np.random.default_rng(0).normal(size=(9, 3)), ["a", "b", "c"] * 3
WEIGHTS = np.linspace(0.5, 2.0, 9)


class Declared(so.Formulation):
    """A hinge, with one thing changed."""

    def __init__(self, slacks=None, objective=None, margin=1.0):
        self.slacks, self.objective, self.margin = slacks, objective, margin

    def master(self, m):
        w = m.weights()
        xi = m.slacks() if self.slacks is None else self.slacks(m)
        cost = cp.sum(xi) if self.objective is None else self.objective(xi)
        m.minimize(cp.sum_squares(w) / 2 + cost)
        m.cuts(lambda cut: cut.delta @ w >= self.margin * cut.loss - cut.of(xi))


def fit(formulation, backend="auto", sample_weight=None):
    model = so.StructuredClassifier(so.Multiclass(), formulation, backend=backend, tol=1e-6)
    return model.fit(ROWS, CLASSES, sample_weight=sample_weight).result_


def own(m):
    return cp.Variable(m.n_examples, nonneg=True)


def test_weights_must_reach_the_slacks():
    with pytest.raises(IncompatibleError, match=r"takes what m\.slacks"):
        fit(Declared(slacks=own), sample_weight=WEIGHTS)


def test_weights_mean_repeated_examples_or_are_refused():
    with pytest.raises(IncompatibleError, match="must stand in sums"):
        fit(Declared(objective=cp.sum_squares), sample_weight=WEIGHTS)
    assert fit(Declared(objective=cp.sum_squares)).certificate.certified
    twice = so.StructuredClassifier(so.Multiclass(), Declared(), tol=1e-6)
    twice.fit(np.vstack([ROWS, ROWS]), CLASSES * 2)
    weighted = fit(Declared(), sample_weight=np.full(9, 2.0)).certificate
    assert weighted.primal == pytest.approx(twice.result_.certificate.primal, rel=1e-5)


def test_a_parameter_of_cvxpy_is_refused():
    number = cp.Parameter(value=1.0)
    with pytest.raises(IncompatibleError, match=r"rule of a cut family holds the cp\.Parameter"):
        fit(Declared(margin=number))
    with pytest.raises(IncompatibleError, match=r"or a constraint holds the cp\.Parameter"):
        fit(Declared(objective=lambda xi: cp.Parameter(nonneg=True, value=1.0) * cp.sum(xi)))


def test_a_solver_that_is_not_there_is_refused_and_a_bad_option_is_told():
    with pytest.raises(IncompatibleError, match="CVXPY has no solver 'NOSUCH' here"):
        fit(so.M3N(), so.CVXPY(solver="NOSUCH"))
    with pytest.raises(BackendError, match="no_such_option"):
        fit(so.M3N(), so.CVXPY(options={"no_such_option": 1}))


def test_a_semidefinite_matrix_beyond_memory_is_an_error_not_the_end_of_the_process():
    side = 700
    rows = side * (side + 1) // 2
    cones = Cones(sp.csr_array((rows, 1)), np.zeros(rows), (Cone("psd", rows),))
    nothing = np.zeros(0)
    program = Program(
        P=sp.csr_array((1, 1)), q=np.ones(1), l1=np.zeros(1), A=sp.csr_array((0, 1)),
        lower=nothing, upper=nothing, lb=np.zeros(1), ub=np.ones(1), cones=cones,
    )  # fmt: skip
    with pytest.raises(OutOfMemoryError, match="semidefinite matrix of side 700"):
        interior.solve(program)
