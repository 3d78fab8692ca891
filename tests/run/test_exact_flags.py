"""Every flag that says "exact" has a case in which it is False, and nothing is certified then."""

from dataclasses import replace

import numpy as np
import pytest

import structopt as so
from structopt.master.value import value_at
from structopt.structures.base.shard import Answers

X, Y = so.datasets.make_chain_crf(n_examples=6, n_features=4, n_relevant=2, length=3, seed=0)
CHAIN = so.Chain().fitted(X, Y)


def unproven(which):
    """Return a data set whose answers of some passes (by their number) are not proven."""
    made = so.DataSet.of(CHAIN, X, Y)
    asked, passes = made.ask, []

    def ask(oracle, weights):
        passes.append(oracle)
        return [replace(a, exact=not which(len(passes))) for a in asked(oracle, weights)]

    made.ask = ask
    return made


@pytest.mark.parametrize("which", [lambda n: n == 1, lambda n: n % 2 == 0, lambda n: n > 2])
@pytest.mark.parametrize("method", ["CuttingPlane", "FrankWolfe", "Subgradient", "EM",
                                    "SaddleExtragradient", "Bregman"])  # fmt: skip
def test_one_unproven_pass_is_enough(method, which):
    made = getattr(so, method)
    formulation = so.L1M3N(0.5) if method == "EM" else so.M3N(0.5)
    options = {"batch": None} if method == "Subgradient" else {}
    result = made(CHAIN, formulation, unproven(which), max_iter=12, tol=0.5, **options).solve()
    asked_again = len(result.history) > 2 or which(1) or which(2)
    assert not result.certificate.exact or not asked_again
    assert not result.certificate.certified or not asked_again


def test_the_second_pass_of_a_retreat_counts():
    formulation = so.StructRMM(5.0, B=0.4)
    counted = []
    proven = so.CuttingPlane(
        CHAIN, formulation, unproven(lambda n: counted.append(n) is not None), tol=1e-2
    ).solve()
    assert proven.certificate.certified
    for number in range(1, len(counted) + 1):
        result = so.CuttingPlane(
            CHAIN, formulation, unproven(lambda n, number=number: n == number), tol=1e-2
        ).solve()
        assert not result.certificate.exact, f"pass {number} of {len(counted)}"


def test_a_value_from_unproven_answers_is_not_exact():
    answers = Answers(None, np.ones(1), np.zeros(1), exact=False)
    assert not value_at(so.loss_augmented, np.ones(1), [answers], 0.0).exact
    both = [replace(answers, exact=True), answers]
    assert not value_at(so.loss_augmented, np.ones(2), both, 0.0).exact


def test_a_structure_that_approximates_is_not_certified():
    class Rough(so.Chain):
        exact = False

    result = so.StructuredClassifier(Rough(), so.M3N(0.5)).fit(X, Y).result_
    assert not result.certificate.certified
    assert result.status == "optimal"
    assert "not certified" in str(result)
