"""What the judge of the extragradient backend says of a pair that no repair makes feasible."""

import numpy as np
import pytest
import scipy.sparse as sp

from structopt.backends.extragradient.judge import Judge
from structopt.master.program import Program


def problem(q, A, lower, upper=None, **options):
    q, A = np.asarray(q, float), sp.csr_array(np.asarray(A, float))
    n, m = len(q), A.shape[0]
    options = {"P": sp.csr_array((n, n)), "l1": np.zeros(n), "lb": np.zeros(n)} | options
    options = {"ub": np.full(n, np.inf)} | options
    upper = np.full(m, np.inf) if upper is None else np.asarray(upper, float)
    return Program(q=q, A=A, lower=np.asarray(lower, float), upper=upper, **options)


def test_violations_are_relative_to_their_side_and_not_smaller():
    # x0 + x1 >= 9 at x = (1, 2): short by 6 of 1 + 9; x0 - x1 <= -3 at the same point: 2 of 1 + 3
    p = problem([1.0, 1.0], [[1.0, 1.0], [1.0, -1.0]], [9.0, -np.inf], [np.inf, -3.0])
    found = Judge(p).assess(np.array([1.0, 2.0]), np.zeros(2))
    assert found.primal_residual == pytest.approx(0.6)
    assert found.error >= 0.6
    assert found.primal == pytest.approx(3.0)
    alone = Judge(problem([1.0, 1.0], [[1.0, -1.0]], [-np.inf], [-3.0]))
    assert alone.assess(np.array([1.0, 2.0]), np.zeros(1)).primal_residual == pytest.approx(0.5)


def test_columns_that_fall_for_ever_are_a_residual():
    # a free column of cost 2 and multiplier 0 on its only row: reduced cost 2, relative to 1 + 2
    p = problem([2.0], [[1.0]], [1.0], lb=np.full(1, -np.inf))
    found = Judge(p).assess(np.ones(1), np.zeros(1))
    assert found.dual_residual == pytest.approx(2.0 / 3.0)
    assert found.error == pytest.approx(1.0)  # the gap, 2 - 0 of 2
    right = Judge(p).assess(np.ones(1), np.array([2.0]))
    assert (right.primal, right.dual, right.error) == pytest.approx((2.0, 2.0, 0.0))


def test_a_gap_is_relative_to_the_larger_of_value_and_floor():
    p = problem([1.0], [[1.0]], [4.0], slacks=np.zeros(0, int))
    for floor, gap in ((1.0, 0.5), (8.0, 0.25)):
        found = Judge(p, floor=floor).assess(np.array([4.0]), np.array([0.5]))
        assert (found.primal, found.dual) == pytest.approx((4.0, 2.0))
        assert found.error == pytest.approx(gap)
    inside = Judge(p).assess(np.array([4.0]), np.array([-3.0]))  # a sign that the row has not
    assert inside.dual == 0.0


def test_a_quadratic_is_judged_by_its_own_minimum():
    # 1/2 x^2 with x >= 1: y = 1 proves 1/2; at x = 2 the value is 2
    options = {"P": sp.csr_array(np.eye(1)), "lb": np.full(1, -np.inf)}
    judge = Judge(problem([0.0], [[1.0]], [1.0], **options))
    found = judge.assess(np.ones(1), np.ones(1))
    assert (found.primal, found.dual, found.error) == pytest.approx((0.5, 0.5, 0.0))
    off = judge.assess(np.array([2.0]), np.ones(1))
    assert (off.primal, off.dual, off.dual_residual) == pytest.approx((2.0, 0.5, 0.0))


def test_an_l1_price_counts_above_and_below():
    # min x0 + 3 |x0| with x0 >= -2 and x0 + x1 >= 1: at x = (-2, 3) it is -2 + 6
    p = problem([1.0, 0.0], [[1.0, 1.0]], [1.0], l1=np.array([3.0, 0.0]), lb=np.array([-2.0, 0.0]))
    found = Judge(p).assess(np.array([-2.0, 3.0]), np.zeros(1))
    assert found.primal == pytest.approx(4.0)
    assert found.dual == pytest.approx(0.0)  # at x0 = 0: the price is above the cost
    steep = Judge(problem([5.0, 0.0], [[1.0, 1.0]], [1.0], l1=p.l1, lb=p.lb))
    # the column's minimum is at -2: -10 + 6
    assert steep.assess(np.zeros(2), np.zeros(1)).dual == pytest.approx(-4.0)


def test_multipliers_that_ask_too_much_are_scaled_back_to_rest():
    # two columns of costs 1 and 2, one row: a multiplier of 4 must come down to 1, its bound is 6
    p = problem([1.0, 2.0], [[1.0, 1.0]], [6.0])
    found = Judge(p).assess(np.array([6.0, 0.0]), np.array([4.0]))
    assert found.y.tolist() == pytest.approx([1.0])
    assert (found.primal, found.dual, found.dual_residual) == pytest.approx((6.0, 6.0, 0.0))
    # with a finite bound above, what the column gains there is part of the minimum
    bounded = problem([1.0, 2.0], [[1.0, 1.0]], [6.0], ub=np.array([4.0, np.inf]))
    found = Judge(bounded).assess(np.array([4.0, 2.0]), np.array([4.0]))
    assert found.y.tolist() == pytest.approx([2.0])
    assert found.dual == pytest.approx(2 * 6.0 + (1.0 - 2.0) * 4.0)
    assert found.primal == pytest.approx(8.0)


@pytest.mark.parametrize(
    ("changed", "raised"),
    [
        ({}, 3.0),
        ({"q": [1.0, 0.0]}, 3.0),
        ({"ub": np.array([np.inf, 9.0])}, 0.5),  # a bound above
        ({"l1": np.array([0.0, 1.0])}, 0.5),  # a price of another kind
        ({"q": [1.0, -1.0]}, 0.5),  # it pays
        ({"lb": np.array([0.0, -np.inf])}, 0.5),
        ({"P": sp.csr_array(np.array([[1.0, -1.0], [-1.0, 1.0]]))}, 0.5),  # it is coupled
    ],
)
def test_only_slacks_that_do_nothing_else_are_raised(changed, raised):
    # x0 + x1 >= 4 at x = (1, 0.5): the slack x1 goes to 3 where it is one
    given = {"q": [1.0, 2.0], "slacks": np.array([1])} | changed
    p = problem(given.pop("q"), [[1.0, 1.0]], [4.0], **given)
    assert Judge(p).assess(np.array([1.0, 0.5]), np.zeros(1)).x[1] == pytest.approx(raised)


def test_slacks_are_what_rows_ask_for():
    # 2 x + s >= 7 and x - t / 2 <= 3: s = 7 - 2 x and t = 2 (x - 3), where these are above 0
    rows = [[2.0, 1.0, 0.0], [1.0, 0.0, -0.5]]
    p = problem([0.0, 1.0, 1.0], rows, [7.0, -np.inf], [np.inf, 3.0], slacks=np.arange(1, 3))
    for x in (0.0, 1.0, 3.25, 4.0, 5.0):
        found = Judge(p).assess(np.array([x, 9.0, 9.0]), np.zeros(2))
        expected = [x, max(0.0, 7 - 2 * x), max(0.0, 2 * (x - 3))]
        assert found.x.tolist() == pytest.approx(expected)
        assert found.primal == pytest.approx(sum(expected[1:]))
        assert found.primal_residual == pytest.approx(0.0)


def test_a_slack_that_hurts_another_row_stays():
    helps = problem([1.0, 2.0], [[1.0, 1.0], [1.0, -1.0]], [4.0, -np.inf], [np.inf, 0.0],
                    slacks=np.array([1]))  # fmt: skip
    assert Judge(helps).assess(np.array([1.0, 0.5]), np.zeros(2)).x[1] == pytest.approx(3.0)
    hurts = problem([1.0, 2.0], [[1.0, 1.0], [1.0, 1.0]], [4.0, -np.inf], [np.inf, 5.0],
                    slacks=np.array([1]))  # fmt: skip
    assert Judge(hurts).assess(np.array([1.0, 0.5]), np.zeros(2)).x[1] == pytest.approx(0.5)


def test_the_minimum_of_a_curved_column_with_a_price():
    # min 1/2 * 2 z^2 - 5 z + |z| is at 2, worth 4 - 10 + 2; mirrored with the sign of the cost
    for sign in (1.0, -1.0):
        p = problem([sign * -5.0], [[1.0]], [-np.inf], P=sp.csr_array([[2.0]]), l1=np.ones(1),
                    lb=np.full(1, -np.inf))  # fmt: skip
        assert Judge(p).assess(np.zeros(1), np.zeros(1)).dual == pytest.approx(-4.0)
