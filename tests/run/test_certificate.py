"""Bounds that contradict each other are never a certificate."""

import numpy as np
import pytest

import structopt as so
from structopt.errors import CertificateError, OracleError
from structopt.run.certificate import Certificate, check_bounds, contradicts


@pytest.mark.parametrize(
    ("primal", "dual", "certified"),
    [
        (1.0, 1.0, True),
        (1.0, 1.0 + 1e-10, True),
        (1.0, 1.0 + 1e-8, False),
        (1.0, 2.0, False),
        (-1.0, -1.0 + 1e-8, False),
        (0.0, 1e-22, True),
        (0.0, 1e-6, False),
    ],
)
def test_a_lower_bound_above_the_upper_one_proves_nothing(primal, dual, certified):
    for slack in ({"tolerance": 1e-3}, {"tolerance": 0.0, "abs_tolerance": 1.0}):
        assert Certificate(primal=primal, dual=dual, **slack).certified == certified
    if certified:
        check_bounds(primal, dual)
    else:
        with pytest.raises(CertificateError) as raised:
            check_bounds(primal, dual)
        assert (raised.value.primal, raised.value.dual) == (primal, dual)


def test_weights_that_break_a_constraint_a_little_may_look_better_than_the_optimum():
    assert Certificate(1.0, 1.0 + 1e-7, tolerance=1e-3, residual=1e-6).certified
    assert not Certificate(1.0, 1.0 + 1e-5, tolerance=1e-3, residual=1e-6).certified


class Lying(so.Enumerated):
    """The loss-augmented question is answered with gold once the weights are no longer 0."""

    def argmax(self, x, weights, *, gold=None):
        if gold is not None and np.any(weights):
            return gold
        return super().argmax(x, weights, gold=gold)


def test_an_oracle_that_was_better_before_raises_with_the_best_model():
    X, y = [np.array([1.0, 0.0]), np.array([0.0, 1.0])] * 3, [0, 1] * 3

    def features(x, label):
        return np.kron(np.eye(2)[label], x)

    model = so.StructuredClassifier(
        Lying([0, 1], features), so.M3N(C=0.01), tol=1e-6, method="cutting-plane"
    )
    with pytest.raises(OracleError, match="one that it gave before") as raised:
        model.fit(X, y)
    result = raised.value.result
    assert not result.certificate.certified
    assert len(result.weights) == 4


class Boasting(so.CuttingPlane):
    """Its third lower bound claims 1 more than is proven."""

    def _bound_below(self, solution):
        rising = super()._bound_below(solution)
        self._dual += float(len(self.history) == 2)
        return rising


def test_a_run_that_meets_a_contradiction_raises_with_its_best_model():
    X, y = so.datasets.make_classes(30, seed=0)
    structure = so.Multiclass().fitted(X, y)
    run = Boasting(structure, so.M3N(C=0.1), so.DataSet.of(structure, X, y), tol=1e-9)
    with pytest.raises(CertificateError, match="exceeds the upper bound") as raised:
        run.solve()
    assert raised.value.dual > raised.value.primal
    result = raised.value.result
    assert not result.certificate.certified
    assert len(result.history) == 3
    assert np.array_equal(result.weights, run.result().weights)
    honest = so.CuttingPlane(structure, so.M3N(C=0.1), so.DataSet.of(structure, X, y))
    assert honest.solve().certificate.dual <= result.certificate.primal


def test_an_optimum_of_0_allows_for_roundings():
    assert not contradicts(0.0, 6e-18)
    assert not contradicts(0.0, 4e-13)  # weights of size 1 at reduced costs that count as 0
    assert contradicts(0.0, 1e-9)
