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
