"""The pool of cuts against a plain list of rows, through everything that happens to it."""

import numpy as np
import pytest
import scipy.sparse as sp

import structopt as so
from structopt.arrays import base_matrix
from structopt.master.cuts import Cuts
from structopt.master.growing import GrowingDirections
from structopt.master.pool import CutPool
from structopt.structures.base.parts import Directions

WIDTH, ROWS, COLUMNS = 6, 5, 9
BASE = base_matrix(sp.csr_array(np.random.default_rng(1).normal(size=(ROWS, 3)).round(2)))


def drawn(rng, own, family):
    """Some cuts of one family, over the data's base or over rows of their own; equal ones too."""
    count = int(rng.integers(1, 5))
    if own:
        dense = rng.integers(-1, 2, (count, WIDTH)).astype(float)
        dense[:, 0] = rng.choice([1.0, -2.0], count)
        directions, base = Directions.rows(0, count), base_matrix(sp.csr_array(dense))
    else:
        lengths = rng.integers(1, 3, count)
        ptr = np.concatenate([[0], np.cumsum(lengths)])
        each = [np.sort(rng.choice(ROWS, length, replace=False)) for length in lengths]
        source = np.concatenate(each)
        offset = 3 * rng.integers(2, size=ptr[-1])
        directions, base = Directions(ptr, source, offset, rng.choice([1.0, -1.0], ptr[-1])), BASE
    loss = rng.integers(1, 4, count).astype(float)
    cuts = Cuts(
        np.full(count, family), rng.integers(3, size=count), loss, loss + 0.5,
        loss - 0.25, directions=directions, base=base,
    )  # fmt: skip
    extra = sp.csr_array(rng.integers(-1, 2, (count, COLUMNS)).astype(float))
    return lifted(cuts, extra)


def lifted(cuts, extra):
    given = {name: getattr(cuts, name) for name in ("family", "example", "loss", "margin", "scale")}
    return Cuts(
        **given, directions=cuts.directions, base=cuts.base, factor=cuts.loss * 2, extra=extra,
        lower=cuts.loss - 9, upper=cuts.loss + 9,
    )  # fmt: skip


def listed(cuts):
    rows = cuts.deltas(WIDTH).toarray()
    numbers = np.stack(
        [cuts.family, cuts.example, cuts.loss, cuts.margin, cuts.scale, cuts.factor, cuts.lower,
         cuts.upper], axis=1,
    )  # fmt: skip
    return list(np.hstack([numbers, rows, cuts.extra.toarray()]))


def key(row):
    """What makes cuts the same: their family, example and direction."""
    return tuple(row[:2]) + tuple(np.round(row[8 : 8 + WIDTH], 9))


@pytest.mark.parametrize("kinds", [(False,), (True,), (False, True)])
@pytest.mark.parametrize("seed", range(4))
def test_a_pool_is_a_list(kinds, seed):
    rng = np.random.default_rng(seed)
    shared = None if kinds == (True,) else BASE
    pool, known, ages = CutPool(shared, WIDTH, COLUMNS), [], []
    dropped = 0
    for round_ in range(14):
        own = kinds[round_ % len(kinds)]  # a family's cuts are of one kind
        cuts = drawn(rng, own, int(own) if len(kinds) > 1 else int(rng.integers(2)))
        there, new = {key(row) for row in known}, []
        for row in listed(cuts):
            if key(row) not in there:
                there.add(key(row))
                new.append(row)
        added = pool.add(cuts)
        assert len(added) == len(new)
        if new:
            np.testing.assert_allclose(listed(added), new)
            np.testing.assert_array_equal(added.multiplier, 0.0)
        known, ages = known + new, ages + [0] * len(new)
        assert len(pool) == len(known)
        assert len(pool.add(cuts)) == 0  # what is there is there
        np.testing.assert_allclose(listed(pool.cuts), known)
        np.testing.assert_allclose(listed(pool.since(1)), known[1:])
        multipliers = rng.choice([0.0, 1e-9, -1.0, 2.0], len(pool))
        pool.settle(multipliers, negligible=1e-6)
        ages = [0 if abs(y) > 1e-6 else a + 1 for y, a in zip(multipliers, ages, strict=True)]
        np.testing.assert_array_equal(pool.multipliers, multipliers)
        for limit in (0, 1, 3):
            np.testing.assert_array_equal(pool.expired(limit), np.array(ages) > limit)
        if round_ % 3 == 2:
            mask = ~pool.expired(1)
            dropped += int(np.sum(~mask))
            pool.keep(mask)
            known = [row for row, keep in zip(known, mask, strict=True) if keep]
            ages = [age for age, keep in zip(ages, mask, strict=True) if keep]
            np.testing.assert_array_equal(pool.multipliers, multipliers[mask])
            if known:
                np.testing.assert_allclose(listed(pool.cuts), known)
    assert dropped > 0
    # another pool, from what stands alone
    other = CutPool(shared, WIDTH, COLUMNS)
    said = pool.export("these data")
    assert said.fingerprint == "these data"
    rows = np.array(known)
    for family in (0, 1):
        mine = other.of_family(said, family)
        place = np.flatnonzero(rows[:, 0] == family)
        extra = sp.csr_array(rows[place, 8 + WIDTH :])
        assert len(other.add(lifted(mine, extra))) == len(place)
    order = np.argsort(rows[:, 0], kind="stable")
    np.testing.assert_allclose(listed(other.cuts), rows[order])
    # other rows for the same cuts, given family by family
    halves = [pool.cuts.take(np.flatnonzero(rows[:, 0] == family)) for family in (0, 1)]
    new = [
        Cuts(**{n: getattr(h, n) for n in ("family", "example", "loss", "margin", "scale")},
             factor=h.factor + 1, lower=h.lower + 2, upper=h.upper + 3, extra=5 * h.extra)
        for h in halves
    ]  # fmt: skip
    pool.lift_again(new, np.argsort(order, kind="stable"))
    rows[:, 5:8] += [1, 2, 3]
    rows[:, 8 + WIDTH :] *= 5
    np.testing.assert_allclose(listed(pool.cuts), rows)


def test_the_ascent_reads_directions_where_the_pool_has_them():
    X, Y = so.datasets.make_chain_crf(6, n_features=5, n_relevant=3, seed=0)
    structure = so.Chain().fitted(X, Y)
    data = so.DataSet.of(structure, X, Y)
    run = so.CuttingPlane(structure, so.M3N(), data, backend="ascent")
    run.step()
    run.step()
    mine, pool = run.backend._planes.directions, run.master.pool.directions
    assert len(mine) == len(pool) > 0
    assert all(np.shares_memory(getattr(mine, n), getattr(pool, n)) for n in ("source", "coef"))


def test_numbers_beyond_32_bits_stand():
    grown, far = GrowingDirections(), np.array([2**40])
    for source in (far % 7, far):
        grown.extend(Directions(np.array([0, 1]), source, source, np.ones(1)))
    assert grown.since(0).source.tolist() == grown.since(0).offset.tolist() == [2**40 % 7, 2**40]
