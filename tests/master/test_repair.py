"""Repairs of static multipliers by their definitions, in masters of every kind."""

import numpy as np
import pytest
import scipy.sparse as sp
from test_true_bounds import CONES, CUTS, ROUND, SETS, Case

from structopt.master.anchor import find_anchor

CELLS = [
    *(("l1", static) for static in SETS), ("quadratic", "rows"), ("squared slacks", "ball"),
    ("tilted", "sum"), ("one flat l1", "rows"), *((name, "none") for name in CONES),
    *(("quadratic", static) for static in list(ROUND)[1:]), ("groups", "sum"),
    ("l1", "disc and rows"), ("huber", "none"),
]  # fmt: skip


def missed(case, static, reduced):
    """By how much multipliers miss what a bound needs, condition by condition."""
    p, lagrangian = case.lagrangian.program, case.lagrangian
    free = (p.P @ np.ones(p.size) == 0) & (np.asarray(p.P.diagonal()) == 0)
    low = np.where(free & np.isinf(p.ub), -p.l1 - reduced, -np.inf)
    high = np.where(free & np.isinf(p.lb), reduced - p.l1, -np.inf)
    rows = len(p.lower)
    sign = np.where(np.isinf(p.upper), -static[:rows], -np.inf)
    sign = np.where(np.isinf(p.lower), static[:rows], sign)
    cones = -p.cones.depth(p.cones.dual_map @ static[rows:]) if p.is_conic else -np.inf
    assert lagrangian.program is p
    parts = (low, high, sign, np.array([cones]))
    return max(float(part.max(initial=0.0)) for part in parts)


@pytest.mark.parametrize(("objective", "static"), CELLS)
def test_the_way_to_the_anchor_is_the_shortest(objective, static):
    case = Case(1, objective, static)
    lagrangian, p = case.lagrangian, case.master.program
    (half, (y, s, _)), rng = case.solved(), case.rng
    anchors = 0
    for k in range(12):
        size = (1e-9, 1e-6, 1e-3, 1.0)[k % 4]
        given = s + size * rng.normal(size=len(s)) if k < 8 else half[1] * rng.uniform(0, 3)
        cuts = np.abs(y + size * rng.normal(size=CUTS))
        priced = lagrangian.price(case.master.pool.cuts, cuts, given)
        reduced = p.q - priced.pull - p.static.T @ priced.static
        repair, anchor = lagrangian._repair, lagrangian._anchor
        before = missed(case, priced.static, reduced)
        largest = max(1.0, np.abs(p.q).max(), np.abs(priced.static).max(initial=0.0))
        if repair.inside(priced.static, reduced):
            assert before <= 1e-12 * largest
        else:
            assert before > 0.0
        fixed, r = repair.restored(priced.static, reduced)
        np.testing.assert_allclose(r, p.q - priced.pull - p.static.T @ fixed, atol=1e-9)
        assert repair.overshoot(r) <= repair.overshoot(reduced)
        if anchor is None:
            continue
        anchors += 1
        fixed, r = repair.restored(fixed, r, level=True)
        np.testing.assert_allclose(r, p.q - priced.pull - p.static.T @ fixed, atol=1e-9)
        assert missed(case, anchor.static, anchor.reduced) <= 1e-9
        t = repair.step(anchor, fixed, r)
        assert 0.0 <= t <= 1.0

        def on_the_way(t, anchor=anchor, fixed=fixed, r=r):
            static = (1 - t) * anchor.static + t * fixed
            return missed(case, static, (1 - t) * anchor.reduced + t * r)

        assert on_the_way(t) <= 1e-9 * max(1.0, np.abs(fixed).max(initial=0.0))
        if t < 1 - 1e-3 and on_the_way(1.0) > 1e-3:
            assert on_the_way(t + 1e-3) > 0.0
    assert anchors or objective in ("one flat l1", "l1", "quadratic", "squared slacks", "tilted")


@pytest.mark.parametrize(
    ("objective", "static"), [c for c in CELLS if c[0] not in CONES and "disc" not in c[1]]
)
def test_least_squares_bring_columns_back_that_are_a_little_off(objective, static):
    case = Case(1, objective, static)
    lagrangian, p = case.lagrangian, case.master.program
    _, (y, s, _) = case.solved()
    back = []
    for _ in range(6):
        given = p.signed(s + 1e-7 * case.rng.normal(size=len(s)))
        priced = lagrangian.price(case.master.pool.cuts, y, s)
        reduced = p.q - priced.pull - p.static.T @ given
        before = lagrangian._repair.overshoot(reduced)
        after = lagrangian._repair.overshoot(lagrangian._repair.restored(given, reduced)[1])
        back.append(after <= 1e-3 * before + 1e-13)
    assert np.mean(back) >= 0.8


@pytest.mark.parametrize(("objective", "static"), [*CELLS, ("every worst", "none")])
def test_anchors_satisfy_everything_with_the_room_they_tell(objective, static):
    case = Case(1, objective, static)
    p, dual = case.master.program, case.lagrangian._dual
    kept = dual.floor.copy(), dual.ceiling.copy(), dual.sign.copy(), dual.zero.copy()
    rows = case.master.pool.cuts.matrix(p)
    touched = np.zeros(p.size, dtype=bool)
    touched[rows.indices] = touched[p.weights] = True
    nothing = sp.csr_array((0, p.size))
    for cuts, some in ((nothing, None), (rows, None), (nothing, touched), (rows, touched)):
        found = find_anchor(dual, cuts, some)
        for before, after in zip(kept, (dual.floor, dual.ceiling, dual.sign, dual.zero),
                                 strict=True):  # fmt: skip
            np.testing.assert_array_equal(before, after)
        if found is None:
            continue
        assert found.deep == (found.room >= 1e-7)
        assert np.all(found.cuts >= 0)
        assert len(found.cuts) == cuts.shape[0]
        if not found.deep:
            continue
        low, high, room = found.dual.floor, found.dual.ceiling, found.room
        reduced = p.q - cuts.T @ found.cuts - p.static.T @ found.static
        price = np.where(p.q != 0, np.abs(p.q), 1e-6)
        moved = np.diff(sp.csc_array(p.static).indptr) + np.diff(sp.csc_array(cuts).indptr) > 0
        margin = np.where(moved & (low < high), 0.5 * room * np.minimum(price, 1.0), 0.0)
        assert np.all(reduced >= low + margin - 1e-7)
        assert np.all(reduced <= high - margin + 1e-7)
        signed = found.dual.sign * found.static
        apart = (found.dual.sign != 0) & ~found.dual.zero
        assert np.all(signed[apart] >= 0.9 * room)
        assert np.all(np.abs(found.static[found.dual.zero]) <= 1e-6)
        z = found.static[len(p.lower) :]
        assert p.cones.depth(p.cones.dual_map @ z) >= 0.0
        assert np.all((found.dual.floor >= dual.floor) & (found.dual.ceiling <= dual.ceiling))
