"""Each condition of a certificate, alone: on its boundary, and just beyond it."""

import numpy as np
import pytest

from structopt.run.certificate import FEASIBLE, Certificate, check_bounds, contradicts
from structopt.run.events import ROUNDING


def test_gaps_are_differences():
    found = Certificate(primal=8.0, dual=7.0, tolerance=0.125)
    assert (found.gap, found.relative_gap) == (1.0, 0.125)
    assert found.certified  # a tolerance is met by what equals it
    assert (found.abs_tolerance, found.residual, found.exact, found.note) == (0.0, 0.0, True, "")
    assert not Certificate(8.0, 7.0, tolerance=0.1249).certified


def test_either_tolerance_suffices():
    assert Certificate(8.0, 7.0, tolerance=0.0, abs_tolerance=1.0).certified
    assert not Certificate(8.0, 7.0, tolerance=0.0, abs_tolerance=0.999).certified
    assert Certificate(8.0, 7.0, tolerance=0.2, abs_tolerance=0.0).certified


@pytest.mark.parametrize("change", [{"exact": False}, {"residual": 2 * FEASIBLE}])
def test_what_spoils_a_certificate(change):
    assert Certificate(8.0, 8.0, tolerance=0.1, residual=FEASIBLE).certified
    assert not Certificate(8.0, 8.0, tolerance=0.1, **change).certified
    assert not Certificate(8.0, -np.inf, tolerance=0.1).certified
    assert not Certificate(np.inf, 8.0, tolerance=0.1).certified


def test_a_contradiction_is_one_beyond_roundings():
    assert not contradicts(1.0, 1.0)
    assert not contradicts(1.0, 1.0 + 0.5 * ROUNDING)
    assert contradicts(1.0, 1.0 + 10 * ROUNDING)
    assert not contradicts(1.0, 1.0 + 10 * ROUNDING, residual=20 * ROUNDING)
    assert contradicts(-4.0, -3.0)
    assert not contradicts(-3.0, -4.0)
    assert not Certificate(1.0, 1.1, tolerance=1.0).certified
    check_bounds(1.0, 1.0)
    assert "not certified" in str(Certificate(1.0, 1.1, tolerance=1.0, note="why"))
    assert "why" in str(Certificate(1.0, 1.1, tolerance=1.0, note="why"))


def test_a_lower_bound_above_a_small_upper_one_certifies_nothing():
    assert not contradicts(1e-9, 1e-9 + 9e-12)  # no error: roundings of numbers of size 1
    assert not Certificate(1e-9, 1e-9 + 9e-12, tolerance=1e-3).certified
    assert Certificate(1e-9, 1e-9 + 9e-12, tolerance=1e-2).certified
    assert Certificate(1e-9, 1e-9 + 9e-16, tolerance=1e-9, residual=FEASIBLE).certified
    assert Certificate(1e-12, 5e-12, tolerance=1e-3).certified  # both count as 0


def test_what_counts_as_feasible_is_a_millionth():
    assert Certificate(8.0, 8.0, tolerance=0.1, residual=1e-6).certified
    assert not Certificate(8.0, 8.0, tolerance=0.1, residual=1.1e-6).certified


def test_doubts_end_a_certificate_and_are_said_first():
    found = Certificate(8.0, 8.0, tolerance=0.1, note="known").doubted("no proof")
    assert (found.exact, found.certified, found.note) == (False, False, "no proof; known")
    assert (found.primal, found.dual) == (8.0, 8.0)


def test_a_notebook_says_what_is_proven():
    good = Certificate(8.0, 7.92, tolerance=0.1, note="a note")._repr_html_()
    assert "Certified" in good
    assert "Not certified" not in good
    assert "by more than 1 %" in good
    assert "a note" in good
    assert "note" not in Certificate(8.0, 7.92, tolerance=0.1)._repr_html_().split("</style>")[-1]
    wide = Certificate(8.0, 4.0, tolerance=0.1)._repr_html_()
    assert "Not certified" in wide
    assert "further apart" in wide
    assert "nothing is proven" in Certificate(8.0, 8.0, tolerance=0.1, exact=False)._repr_html_()
