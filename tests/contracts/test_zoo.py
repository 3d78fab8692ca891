"""Every formulation of the zoo is right and certified: plain CVXPY, all outputs written out."""

import importlib.util
import itertools
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import structopt as so
from structopt.structures.base.small import Small
from structopt.structures.matching.small import small as matching
from structopt.testing.full_problem import FullProblem
from structopt.testing.structure_case import StructureCase

_spec = importlib.util.spec_from_file_location(
    "zoo", Path(__file__).parents[2] / "examples" / "zoo.py"
)
zoo = importlib.util.module_from_spec(_spec)
sys.modules["zoo"] = zoo
_spec.loader.exec_module(zoo)


class Subsets(so.Structure):
    """A user's own structure: subsets of three things, by looking at all of them."""

    OUTPUTS = tuple(itertools.product((0, 1), repeat=3))

    def joint_features(self, x, y):
        return np.outer(y, x).ravel()

    def loss(self, y, other):
        return float(np.sum(np.not_equal(y, other)))

    def _value(self, x, y, weights):
        return float(self.joint_features(x, y) @ weights)

    def argmax(self, x, weights, *, gold=None):
        extra = (lambda y: 0.0) if gold is None else (lambda y: self.loss(gold, y))
        return max(self.OUTPUTS, key=lambda y: self._value(x, y, weights) + extra(y))

    def argmin(self, x, weights):
        return min(self.OUTPUTS, key=lambda y: self._value(x, y, weights))

    def k_best(self, x, weights, k):
        return sorted(self.OUTPUTS, key=lambda y: -self._value(x, y, weights))[:k]


@cache
def case(name):
    rng = np.random.default_rng(3)
    if name == "chain":
        X, Y = so.datasets.make_chain_crf(
            n_examples=5, n_features=3, n_relevant=2, length=3, seed=1
        )
        return StructureCase(Small(so.Chain(), X, Y))
    if name == "classes":
        X = rng.normal(size=(6, 2)).round(2)
        return StructureCase(Small(so.Multiclass(), X, list("abcabc")))
    if name == "own":
        X = [rng.normal(size=2).round(2) for _ in range(4)]
        return StructureCase(Small(Subsets(), X, [(0, 1, 0), (1, 1, 0), (0, 0, 1), (1, 0, 1)]))
    return StructureCase(matching(rng))


@pytest.mark.parametrize("name", zoo.ZOO)
def test_the_optimum_is_certified_and_that_of_plain_cvxpy(name):
    structures = ["chain", "classes", "matching", "own"]
    for number, structure in enumerate(structures):
        made, formulation = case(structure), zoo.ZOO[name]()
        truth = FullProblem(made, formulation).optimum()
        data = so.DataSet.of(made.structure, made.X, made.Y)
        backends = ["auto", "cvxpy"] if number == 0 else ["auto"]
        for backend in backends:
            result = so.CuttingPlane(
                made.structure, formulation, data, backend=backend, tol=1e-6, abs_tol=1e-7
            ).solve()
            certificate = result.certificate
            size = max(abs(truth), 0.1)
            assert certificate.certified, (structure, backend, certificate)
            assert certificate.primal == pytest.approx(truth, abs=2e-6 * size), structure
            assert certificate.dual == pytest.approx(truth, abs=2e-6 * size), structure
