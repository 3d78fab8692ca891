"""Frozen weights and prior means, against plain CVXPY with every output written out."""

from __future__ import annotations

import cvxpy as cp
import numpy as np
import pytest

import structopt as so
from structopt.errors import InvalidInputError
from structopt.testing.full_problem import FullProblem
from structopt.testing.problems import small_chain, small_classes

CASES = {"chain": small_chain, "classes": small_classes}


class Frozen(so.Formulation):
    """A ridge whose master freezes weights itself."""

    def __init__(self, frozen=None):
        self.frozen = frozen

    def master(self, m):
        w, xi = m.weights(frozen=self.frozen), m.slacks()
        m.minimize(cp.sum_squares(w) / 2 + cp.sum(xi))
        m.cuts(lambda cut: cut.delta @ w >= cut.loss - cut.of(xi))


def solved(case, formulation):
    data = so.DataSet.of(case.structure, case.X, case.Y)
    return so.CuttingPlane(case.structure, formulation, data, tol=1e-7).solve()


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize(
    "formulation",
    [
        so.M3N(C=2.0, constraints=so.Fixed(0.25, where=[0, 2])),
        so.M3N(C=2.0, w0=0.5),
        so.StructSVM(C=4.0, w0=-0.25, rescale="margin"),
        so.StructSVM(C=4.0, constraints=so.Fixed({1: -1.0}), w0=0.1),
        so.StructRMM(C=4.0, B=3.0, w0=0.1),
        so.L1M3N(C=2.0, constraints=so.Fixed({0: 0.5, 3: 0.0})),
        Frozen({1: 2.0}),
    ],
    ids=repr,
)
def test_the_optimum_is_that_of_the_full_problem(name, formulation):
    case = CASES[name]()
    found = solved(case, formulation)
    assert found.certificate.certified
    truth = FullProblem(case, formulation).optimum()
    assert abs(found.certificate.primal - truth) <= 1e-4 * (1 + abs(truth))


def test_frozen_weights_keep_their_values_and_all_of_them_may_be_frozen():
    case = small_classes()
    n = case.structure.n_features_
    some = np.full(n, np.nan)
    some[[1, 4]] = 0.75, -0.5
    assert np.allclose(solved(case, Frozen(some)).weights[[1, 4]], [0.75, -0.5], atol=1e-9)
    everything = np.linspace(-1, 1, n)
    found = solved(case, so.M3N(constraints=so.Fixed(everything)))
    assert np.allclose(found.weights, everything, atol=1e-9)
    assert found.certificate.primal == pytest.approx(FullProblem(case, so.M3N()).value(everything))


def test_a_strong_prior_leaves_the_weights_where_they_were():
    case = small_chain()
    prior = np.arange(case.structure.n_features_) / 10
    assert np.allclose(solved(case, so.M3N(C=1e-4, w0=prior)).weights, prior, atol=1e-2)


@pytest.mark.parametrize(
    "fixed",
    [
        so.Fixed([1.0, 2.0]),
        so.Fixed(1.0, where=[99]),
        so.Fixed({"a": 1.0}),
        so.Fixed({0: np.inf}),
        so.Fixed([1.0, 2.0], where=[0, 0]),
        so.Fixed([1.0, 2.0, 3.0], where=[0, 1]),
        so.Fixed("x", where=[0]),
        so.Fixed(1.0, where=slice(0, 2)),
    ],
    ids=repr,
)
def test_what_does_not_fit_is_refused(fixed):
    with pytest.raises(InvalidInputError, match="Fixed"):
        solved(small_classes(), so.M3N(constraints=fixed))


@pytest.mark.parametrize("w0", [[1.0], np.full(6, np.nan)], ids=["short", "nan"])
def test_a_prior_mean_that_is_none_is_refused(w0):
    with pytest.raises(InvalidInputError, match="w0"):
        solved(small_classes(), so.M3N(w0=w0))


def test_a_model_file_keeps_them(tmp_path):
    X, y = so.datasets.make_classes(30, seed=0)
    held = so.Fixed([0.5, -0.5], where=[0, 3])
    formulation = so.M3N(constraints=held, w0=np.full(X.shape[1] * 3, 0.1))
    model = so.StructuredClassifier(so.Multiclass(), formulation)
    try:
        model.fit(X, y)
    except InvalidInputError:  # as many classes as the generator made
        n = so.Multiclass().fitted(X, y).n_features_
        model.set_params(formulation__w0=np.full(n, 0.1)).fit(X, y)
    model.save(tmp_path / "m.npz")
    read = so.load_model(tmp_path / "m.npz")
    assert read.formulation.constraints.where == [0, 3]
    assert np.array_equal(read.formulation.w0, model.formulation.w0)
    assert np.array_equal(read.fit(X, y).result_.weights[[0, 3]], [0.5, -0.5])
