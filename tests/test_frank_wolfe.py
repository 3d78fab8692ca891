"""Block-coordinate Frank-Wolfe: its exact gap brackets the enumerated optimum."""

from itertools import pairwise

import numpy as np
import pytest
from enumeration import FORMULATIONS, optimum, small_chain, small_classes
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

import structopt as so
from structopt.errors import IncompatibleError, InvalidInputError
from structopt.methods.frank_wolfe import FrankWolfe


def run_of(problem, formulation, **kwargs):
    X, Y, structure, _ = problem
    weight = kwargs.pop("sample_weight", None)
    data = so.DataSet.of(structure, X, Y, sample_weight=weight)
    return FrankWolfe(structure, formulation, data, **kwargs)


@given(
    seed=st.integers(0, 10_000),
    chain=st.booleans(),
    kind=st.sampled_from(["m3n", "svm-unit", "svm-margin", "svm-slack"]),
    C=st.sampled_from([0.1, 2.0]),
)
@hypothesis_settings(max_examples=40)
def test_certificate_brackets_the_enumerated_optimum(seed, chain, kind, C):
    problem = (small_chain if chain else small_classes)(np.random.default_rng(seed))
    result = run_of(problem, FORMULATIONS[kind](C), tol=1e-3).solve()
    truth = optimum(kind, C, problem)
    assert result.certificate.certified
    assert result.certificate.dual <= truth + 1e-6 * max(1.0, truth)
    assert result.certificate.primal >= truth - 1e-6 * max(1.0, truth)


def test_bounds_are_monotone_and_agree_with_cutting_planes():
    problem = X, Y, structure, _ = small_chain(np.random.default_rng(1), n=10)
    result = run_of(problem, so.M3N(1.0), tol=1e-4).solve()
    duals = [r.dual for r in result.history]
    assert all(b >= a for a, b in pairwise(duals))
    planes = so.CuttingPlane(
        structure, so.M3N(1.0), so.DataSet.of(structure, X, Y), tol=1e-5
    ).solve()
    assert result.certificate.primal == pytest.approx(planes.certificate.primal, rel=2e-4)


def test_sample_weights_and_repeatability():
    problem = small_classes(np.random.default_rng(2))
    weight = np.array([1.0, 0.5, 2.0, 0.0, 3.0, 1.0])
    runs = [
        run_of(problem, so.M3N(1.5), tol=1e-4, sample_weight=weight, random_state=3).solve()
        for _ in range(2)
    ]
    np.testing.assert_array_equal(runs[0].weights, runs[1].weights)
    truth = optimum("m3n", 1.5, problem, weights=weight)
    assert runs[0].certificate.primal == pytest.approx(truth, rel=2e-4)


def test_other_forms_and_options_are_refused():
    problem = small_chain(np.random.default_rng(0))
    with pytest.raises(IncompatibleError, match="frank-wolfe"):
        run_of(problem, so.LPStruct(1.0))
    with pytest.raises(InvalidInputError, match="planes"):
        run_of(problem, so.M3N(1.0), planes=1)
