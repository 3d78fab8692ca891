"""Limits and results: what is refused, and that every status has its sentence."""

from typing import get_args

import numpy as np
import pytest

import structopt as so
from structopt.errors import InvalidInputError
from structopt.run.result import STATUSES, UNFINISHED, Stop


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"tol": -1.0}, "tol must be a finite number >= 0"),
        ({"abs_tol": np.inf}, "abs_tol must be a finite number >= 0"),
        ({"tol": np.nan}, "tol must be a finite number >= 0"),
        ({"max_iter": 0}, "max_iter must be an integer >= 1"),
        ({"time_limit": 0.0}, "time_limit must be a number > 0"),
    ],
)
def test_limits_that_are_none_are_refused(given, said):
    with pytest.raises(InvalidInputError, match=said):
        so.Limits(**given)


def test_keywords_take_the_place_of_limits():
    X, y = so.datasets.make_classes(30, seed=0)
    structure = so.Multiclass().fitted(X, y)
    data = so.DataSet.of(structure, X, y)
    run = so.FrankWolfe(structure, so.M3N(), data, limits=so.Limits(tol=0.5, max_iter=7), tol=0.1)
    assert (run.limits.tol, run.limits.max_iter) == (0.1, 7)
    assert so.Perceptron(structure, so.M3N(), data).solve().status in ("max_iter", "separated")


def test_every_status_has_a_sentence():
    assert list(STATUSES) == list(get_args(Stop))
    assert set(UNFINISHED) < set(STATUSES)
