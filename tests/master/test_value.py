"""The value at weights, by hand: what rows fall short of, whichever way they point."""

from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

import structopt as so
from structopt.master.cuts import Cuts
from structopt.master.declare import RestrictedMaster
from structopt.master.rest import resting_points
from structopt.master.slacks import Slacks
from structopt.master.value import raise_slacks, shortfall
from structopt.testing.full_problem import FullProblem
from structopt.testing.problems import small_classes


@pytest.mark.parametrize(
    ("factor", "short"), [(1.0, 0.75), (2.0, 1.0), (-1.0, 1.25), (-2.0, 2.0), (0.0, 0.5)]
)
def test_what_is_open_always_adds(factor, short):
    # side 0.5, score 0.25, and the true answer may score 0.5 less
    assert shortfall(0.5, factor, 0.25, 0.5) == pytest.approx(short)


class Row(so.Formulation):
    """A hinge whose rows touch a weight beside the slack."""

    def master(self, m):
        w, xi = m.weights(), m.slacks()
        m.minimize(cp.sum_squares(w - 0.3) / 2 + cp.sum(xi))
        m.cuts(lambda cut: cut.delta @ w >= 1 + 0.4 * w[0] - 2 * cut.of(xi))


def declared(formulation):
    master = RestrictedMaster(n_examples=2, n_features=3)
    formulation.master(master)
    master.compile()
    return master


def cuts_of(master, score, excess):
    ones = np.ones(2)
    who = np.arange(2)
    return master.families[0].lift(
        Cuts(0 * who, who, ones, ones, ones, score=np.array(score), excess=np.array(excess))
    )


def test_slacks_are_raised_to_what_is_left_after_the_other_columns():
    master = declared(Row())
    bare = np.zeros(master.size)
    bare[master.weight_columns] = [0.5, -1.0, 2.0]
    raised = bare.copy()
    # short by 1 + 0.2 - score + excess, and two of a slack make up for it
    signed = raise_slacks(master, cuts_of(master, [0.2, 3.0], [0.4, 0.0]), np.array([0.4, 0.0]),
                          bare, raised)  # fmt: skip
    np.testing.assert_allclose(raised[master.slack_columns], [0.7, 0.0])
    assert signed == -np.inf


class Hard(so.Formulation):
    """Rows from above without a slack."""

    def master(self, m):
        w, xi = m.weights(), m.slacks()
        m.minimize(cp.sum_squares(w) / 2 + cp.sum(xi))
        m.cuts(lambda cut: 2 * (cut.delta @ w) + w[1] <= 3)


def test_hard_rows_from_above_are_short_of_their_own_side():
    master = declared(Hard())
    bare = np.zeros(master.size)
    bare[master.weight_columns] = [0.5, -1.0, 2.0]
    excess = np.array([0.0, 0.5])
    # 2 score - 1 <= 3, where the worst answer may score 0.5 more
    signed = raise_slacks(master, cuts_of(master, [1.0, 2.25], excess), excess, bare, bare.copy())
    assert signed == pytest.approx(2 * 2.25 - 1.0 - 3.0 + 2 * 0.5)


def test_a_row_that_touches_a_weight_is_trained_right():
    case = small_classes(2, n=5)
    found = so.StructuredClassifier(case.given, Row(), tol=1e-4).fit(case.X, case.Y).result_
    best = FullProblem(case, Row()).optimum()
    assert found.certificate.certified
    assert found.certificate.dual - 1e-6 <= best <= found.certificate.primal + 1e-6


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_a_slack_counts_by_the_size_of_its_factor(sign):
    slacks = Slacks.of(sp.csr_array(np.array([[sign * 2.0, 0.0]])), np.array([True, False]))
    raised, bare = np.zeros(2), np.zeros(2)
    short = np.array([3.0]), np.array([-9.0])
    slacks.lift(raised, bare, *(short if sign > 0 else short[::-1]))
    np.testing.assert_allclose(raised, [1.5, 0.0])


def test_multipliers_are_scaled_until_no_slack_pays_more_than_it_costs():
    rows = sp.csr_array(np.array([[1.0, 0.0], [2.0, 0.0], [0.0, 1.0], [-1.0, 0.0], [0.0, 0.0]]))
    slacks = Slacks.of(rows, np.array([True, True]))
    y = np.array([1.0, 2.0, 3.0, 5.0, 7.0])
    # the first slack is loaded by 1 + 4 (a row that it hurts does not count) and costs 2
    found = slacks.rest(y, np.array([2.0, 9.0]))
    np.testing.assert_allclose(found, [0.4, 0.8, 3.0, 5.0, 7.0])
    np.testing.assert_allclose(slacks.rest(y, np.array([5.0, 3.0])), y)  # just enough
    small = slacks.rest(0.1 * y, np.array([0.2, 0.9]))  # whatever the size of the load
    np.testing.assert_allclose(small, [0.04, 0.08, 0.3, 0.5, 0.7])
    # a slack without a price takes no load at all, nor does one that pays
    np.testing.assert_allclose(slacks.rest(y, np.array([0.0, 9.0])), [0.0, 0.0, 3.0, 5.0, 7.0])
    np.testing.assert_allclose(slacks.rest(y, np.array([5.0, -1.0])), [1.0, 2.0, 0.0, 5.0, 7.0])
    np.testing.assert_allclose(slacks.rest(0 * y, np.array([-1.0, 0.0])), 0 * y)


def test_where_columns_rest():
    inf = np.full(5, np.inf)
    reduced = np.array([0.5, -3.0, -3.0, 3.0, 1.0 + 5e-13])
    curvature = np.array([0.0, 2.0, 0.0, 2.0, 0.0])
    found = resting_points(reduced, curvature, np.ones(5), -inf, inf)
    # below its price, at a curved minimum, falling for ever, mirrored, and a rounding beyond
    np.testing.assert_allclose(found, [0.0, 1.0, np.inf, -1.0, 0.0])
    held = resting_points(reduced, curvature, np.ones(5), np.full(5, -0.5), np.full(5, 0.5))
    np.testing.assert_allclose(held, [0.0, 0.5, 0.5, -0.5, 0.0])


@pytest.mark.parametrize("formulation", [Row, Hard])
def test_a_row_written_from_the_other_side_asks_the_same(formulation):
    master = declared(formulation())
    bare = np.zeros(master.size)
    bare[master.weight_columns] = [0.5, -1.0, 2.0]
    excess = np.array([0.0, 0.5])
    cuts = cuts_of(master, [0.2, 2.25], excess)
    other = replace(
        cuts, factor=-cuts.factor, extra=-cuts.extra, lower=-cuts.upper, upper=-cuts.lower
    )
    raised = bare.copy(), bare.copy()
    signed = [
        raise_slacks(master, c, excess, bare, r) for c, r in zip((cuts, other), raised, strict=True)
    ]
    assert signed[0] == pytest.approx(signed[1])
    np.testing.assert_allclose(*raised)
