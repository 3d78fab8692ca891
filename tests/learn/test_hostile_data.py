"""Data that change while they are learned from, or outputs that do: noticed, or without effect."""

import os
import threading

import numpy as np
import pytest
import scipy.sparse as sp
from test_hostile_structures import METHODS, Three

import structopt as so
from structopt.errors import CertificateError, IncompatibleError, OracleError
from structopt.structures.base.small import Small
from structopt.testing.full_problem import FullProblem
from structopt.testing.structure_case import StructureCase

pytestmark = pytest.mark.filterwarnings("ignore::structopt.errors.ConvergenceWarning")


def drawn(n=6):
    rng = np.random.default_rng(5)
    return np.round(rng.normal(size=(n, 2)), 2), rng.integers(3, size=n).tolist()


KINDS = {
    "dense": (so.Multiclass([0, 1, 2]), np.asarray, lambda X: X),
    "sparse": (so.Multiclass([0, 1, 2]), sp.csr_array, lambda X: X.data),
    "one by one": (Three(), np.asarray, lambda X: X),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("method", METHODS)
def test_inputs_that_change_during_a_run_are_noticed(method, kind):
    """Runs over rows of numbers, which are not copied, ended certified for neither."""
    structure, given, numbers = KINDS[kind]
    X, Y = drawn()
    X = given(X)

    def change(record):
        numbers(X)[...] *= 3.0

    model = so.StructuredClassifier(structure, so.M3N(1.0), method=method, callbacks=[change])
    model.set_params(max_iter=30)
    try:
        with pytest.raises((CertificateError, OracleError)) as caught:
            model.fit(X, Y)
    except IncompatibleError:
        return
    best = caught.value.result
    assert best is None or not best.certificate.certified


class OneList(Three):
    """Gives its outputs in one list, which it fills anew."""

    place = [0]  # noqa: RUF012

    def joint_features(self, x, y):
        return super().joint_features(x, y[0])

    def loss(self, y, other):
        return super().loss(y[0], other[0])

    def filled(self, best):
        self.place[:] = best
        return self.place

    def argmax(self, x, weights, *, gold=None):
        return self.filled(
            max(([k] for k in range(3)), key=lambda y: self.value(x, weights, y, gold))
        )

    def second_best(self, x, weights, gold):
        others = ([k] for k in range(3) if k != gold[0])
        return self.filled(max(others, key=lambda y: self.value(x, weights, y, None)))


@pytest.mark.parametrize("formulation", [so.M3N(1.0), so.StructSVM(6.0)])
def test_one_list_for_all_outputs_is_copied(formulation):
    """Cuts were made of the last example's output: their lower bound exceeded the optimum."""
    X, Y = drawn()
    Y = [[k] for k in Y]
    case = StructureCase(Small(OneList(), X, Y, lambda x: [[0], [1], [2]]))
    for method in ("cutting-plane", "frank-wolfe", "subgradient"):
        model = so.StructuredClassifier(OneList(), formulation, method=method).fit(X, Y)
        found = model.result_.certificate
        assert found.dual <= FullProblem(case, formulation).optimum() + 1e-6
        assert found.certified or method == "subgradient"


def test_predictions_are_not_one_list():
    X, _ = drawn()
    structure = OneList()
    structure.n_features_ = 6
    weights = np.arange(6) - 2.5
    alone = [list(structure.argmax(x, weights)) for x in X]
    assert structure.predict(X, weights) == alone
    assert len({k for (k,) in alone}) > 1


class Depends(Three):
    """Depends on the process that asks it, as what reads a global does."""

    def fitted(self, X, Y):
        fitted = super().fitted(X, Y)
        fitted.process = os.getpid()
        return fitted

    def elsewhere(self):
        return getattr(self, "process", None) not in (None, os.getpid())


class Elsewhere(Depends):
    def argmax(self, x, weights, *, gold=None):
        return 0 if self.elsewhere() else super().argmax(x, weights, gold=gold)


class OtherFeatures(Depends):
    def joint_features(self, x, y):
        return super().joint_features(x, y) * (2.0 if self.elsewhere() else 1.0)


@pytest.mark.parametrize("kind", [Elsewhere, OtherFeatures])
def test_other_processes_that_answer_otherwise_are_noticed(kind):
    """They ended certified at a seventh of the optimum."""
    X, Y = drawn()
    model = so.StructuredClassifier(kind(), so.M3N(1.0), n_jobs=2, engine="processes")
    with pytest.raises(OracleError) as caught:
        model.fit(X, Y)
    best = caught.value.result
    assert best is None or not best.certificate.certified
    same = so.StructuredClassifier(Three(), so.M3N(1.0), n_jobs=2, engine="processes")
    assert same.fit(X, Y).result_.certificate.certified


def test_what_cannot_be_sent_is_refused():
    class Locked(Three):
        def fitted(self, X, Y):
            fitted = super().fitted(X, Y)
            fitted.lock = threading.Lock()
            return fitted

    X, Y = drawn()
    with pytest.raises(IncompatibleError, match=r"cannot be sent .*lock"):
        so.StructuredClassifier(Locked(), so.M3N(1.0), engine="disk").fit(X, Y)
