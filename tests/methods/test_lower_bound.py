"""The bound of a run of masters: what means of multipliers and traces of them add to it."""

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

import structopt as so
from structopt.backends.base import MasterSolution
from structopt.master.cuts import Cuts
from structopt.master.declare import RestrictedMaster
from structopt.methods.lower_bound import LowerBound
from structopt.structures.base.parts import UNIT, Directions


def three_rows(offset=0.5):
    """1/2 |w|^2 + 10 xi + offset with w_k >= 1 - xi: D(y) = sum y - 1/2 |y|^2 + offset."""
    m = RestrictedMaster(1, 3)
    w, xi = m.weights(), m.slacks()
    m.minimize(cp.sum_squares(w) / 2 + 10 * cp.sum(xi) + offset)
    m.cuts(so.loss_augmented, lambda cut: cut.delta @ w >= cut.loss - cut.of(xi))
    m.compile()
    one, none = np.ones(3), np.zeros(3, int)
    found = Directions.entries(sp.csr_array(np.eye(3)))
    for k in range(3):
        m.add(Cuts(none[:1], none[:1], one[:1], one[:1], one[:1], directions=found.take([k]),
                   base=UNIT))  # fmt: skip
    return m


def said(m, y, weight=1.0, w=(1.0, 1.0, 1.0)):
    x = np.zeros(m.size)
    x[m.weight_columns] = w
    return MasterSolution("optimal", x, np.asarray(y), None, 1, weight=weight)


def test_multipliers_that_circle_are_averaged_by_their_weights():
    """Twice a step up against once two steps down: their weighted mean is best, no iterate is."""
    m, away = three_rows(), np.array([0.5, -0.25, 0.125])
    below = LowerBound(m.program)
    assert below.estimate == 0.0
    for rounds, (far, weight) in enumerate([(0.5, 2.0), (-1.0, 1.0)] * 3, start=1):
        one = said(m, 1.0 + far * away, weight)
        alone = LowerBound(m.program).of(m.pool.cuts, one, rounds=rounds, moving=False)
        assert alone == pytest.approx(2.0 - 0.5 * far**2 * away @ away)
        bound = below.of(m.pool.cuts, one, rounds=rounds, moving=True)
        assert alone - 1e-12 <= bound <= 2.0 + 1e-12
        assert bound == pytest.approx(2.0) or rounds % 2
        if rounds == 1:
            assert below.estimate == 0.0  # the mean of one is that one
    # half of L(0, y) = 3.5 and half of L(x, y) = 3 + 1.5 - 3 + 0.5
    assert below.estimate == pytest.approx(3.0 + 0.5 * (1.5 - 3.0 + 0.5) + 0.25)


def test_what_is_not_to_be_averaged_is_not():
    m, good, bad = three_rows(), np.ones(3), np.full(3, 0.1)
    worth = 0.3 - 0.015 + 0.5
    below = LowerBound(m.program)
    first = below.of(m.pool.cuts, said(m, good, weight=0.0), rounds=1, moving=True)
    assert first == pytest.approx(2.0)
    second = below.of(m.pool.cuts, said(m, bad), rounds=2, moving=True)
    assert second == pytest.approx(worth)  # the first had no weight
    still = LowerBound(m.program)
    for rounds, y in enumerate((good + 0.9, good - 0.9, bad), start=1):
        bound = still.of(m.pool.cuts, said(m, y), rounds=rounds, moving=False)
        assert bound == pytest.approx(worth if rounds > 1 else 5.7 - 1.5 * 1.9**2 + 0.5)
    assert still.estimate == 0.0


def test_late_means_are_tried_too():
    m = three_rows()
    below, best = LowerBound(m.program), []
    for rounds in range(1, 221):
        y = 1.0 + (0.9 if rounds % 2 else -0.9) * np.ones(3)
        best.append(below.of(m.pool.cuts, said(m, y), rounds=rounds, moving=True))
    assert max(best[200:]) == pytest.approx(2.0, abs=1e-3)
    assert sum(bound > 1.9 for bound in best[100:]) >= 40  # every fourth at the least


def test_traces_of_multipliers_cost_nothing_before_there_are_cuts():
    m = RestrictedMaster(2, 2)
    w, xi = m.weights(lambda w: [w[0] + w[1] <= 5]), m.slacks()
    m.minimize(cp.sum_squares(w) / 2 + cp.sum(xi))
    m.cuts(lambda cut: cut.delta @ w >= cut.loss - cut.of(xi))
    program = m.compile()
    nothing = np.zeros(program.size)
    for sign in (-1.0, 1.0):
        traces = MasterSolution("optimal", nothing, np.zeros(0), np.full(1, sign * 1e-6), 1)
        bound = LowerBound(program).of(m.pool.cuts, traces, rounds=1, moving=False)
        assert bound == 0.0
    unknown = MasterSolution("optimal", nothing, np.zeros(0), None, 1)
    assert LowerBound(program).of(m.pool.cuts, unknown, rounds=1, moving=False) == 0.0


def test_multipliers_that_bound_a_master_without_cuts_are_kept():
    """|w|^2 / 2 with w_0 + w_1 >= 2 is 1: multipliers 0 prove 0 only."""
    m = RestrictedMaster(2, 2)
    w, xi = m.weights(lambda w: [w[0] + w[1] >= 2]), m.slacks()
    m.minimize(cp.sum_squares(w) / 2 + cp.sum(xi))
    m.cuts(lambda cut: cut.delta @ w >= cut.loss - cut.of(xi))
    program = m.compile()
    x, y = np.zeros(program.size), np.sign(program.A.data[0]) * np.ones(1)
    given = MasterSolution("optimal", x, np.zeros(0), y, 1)
    assert LowerBound(program).of(m.pool.cuts, given, rounds=1, moving=False) == 1.0
