"""A backend of one's own that gives what is no solution: it has failed, and it is said how."""

from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest

import structopt as so
from structopt.errors import BackendError
from structopt.testing.problems import small_chain

CASE = small_chain(0, n=3, length=2)
WRONG = {
    "no status": (lambda s: replace(s, status="sure"), "status is 'sure'"),
    "nothing": (lambda s: replace(s, status=None, x=None), "status is None"),
    "objects": (lambda s: replace(s, x=np.full(s.x.shape, object())), "x must hold real numbers"),
    "words": (lambda s: replace(s, x=np.full(s.x.shape, "a")), "x must hold real numbers"),
    "complex": (lambda s: replace(s, x=s.x + 1j), "x must hold real numbers"),
    "huge": (lambda s: replace(s, x=0 * s.x + 1e300), "x holds numbers above"),
    "complex cuts": (lambda s: replace(s, cut_duals=s.cut_duals + 1j), "cut_duals must hold real"),
    "no cuts": (lambda s: replace(s, cut_duals=None), "cut_duals"),
    "more rows": (lambda s: replace(s, static_duals=np.ones(99)), "static_duals has shape"),
    "rows": (lambda s: replace(s, static_duals=0 * s.static_duals + np.nan), "static_duals is not"),
}


class Change(so.Clarabel):
    """Clarabel, and a change of what it finds from some round on."""

    def __init__(self, change, after):
        super().__init__()
        self.change, self.after, self.solves = change, after, 0

    def solve(self, *, tolerance, time_limit=None):
        found = super().solve(tolerance=tolerance, time_limit=time_limit)
        self.solves += 1
        return self.change(found) if self.solves > self.after else found


def fit(change, after=0):
    limited = so.M3N(1.0, constraints=lambda w: [cp.sum(w) == 0.3])
    return so.StructuredClassifier(CASE.given, limited, backend=Change(change, after)).fit(
        CASE.X, CASE.Y
    )


@pytest.mark.parametrize("after", [0, 2])
@pytest.mark.parametrize("wrong", WRONG)
def test_what_is_no_solution_is_named(wrong, after):
    change, said = WRONG[wrong]
    with pytest.raises(BackendError, match=said):
        fit(change, after)


def test_numbers_of_another_type_are_read():
    lists = fit(lambda s: replace(s, x=s.x.tolist(), cut_duals=s.cut_duals.astype(object)))
    assert lists.result_.certificate.certified
