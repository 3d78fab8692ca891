r"""Cuts that survive a change of what delta is measured from.

A cut says w . delta(y) >= loss(y) - xi with delta(y) = phi(anchor) - phi(y). Where the anchor moves
and losses stay, the same output gives the cut

    w . (delta(y) + phi(new anchor) - phi(old anchor)) >= loss(y) - xi,

so it need not be found again. Where losses move too, or where a cut is a sum over examples some of
which moved, it is dropped.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from structopt.arrays import Ints
from structopt.master.cuts import Cuts
from structopt.methods.cutting_plane import CuttingPlane
from structopt.methods.outer.nonconvex import ConvexBound
from structopt.structures.base.parts import Directions


def carried(run: CuttingPlane, bound: ConvexBound) -> tuple[Cuts, int]:
    """Return a run's cuts as they stand for another bound, and how many examples moved."""
    cuts = run.state.copy().cuts
    assert cuts is not None, "a copy of a state has its cuts"
    change = bound.data.moved_from(run.data)
    moved = np.diff(change.ptr) > 0
    joint = np.array([family.joint for family in run.master.families])[cuts.family]
    own = moved[np.where(joint, 0, cuts.example)]
    weighted = not np.array_equal(bound.data.sample_weight, run.data.sample_weight)
    dropped = np.where(joint, moved.any() or weighted, own & bound.charged)
    kept = cuts.take(np.flatnonzero(~dropped))
    shift = np.flatnonzero(moved[kept.example]) if not joint.all() else np.zeros(0, np.int64)
    name = bound.data.fingerprint(repr(run.structure) + repr(run.master.asks))
    directions = _plus(kept.directions, change, shift, kept.example)
    return replace(kept, directions=directions, fingerprint=name), int(moved.sum())


def _plus(cuts: Directions, change: Directions, which: Ints, example: Ints) -> Directions:
    """Return directions, those at ``which`` with the change of their example added."""
    if len(which) == 0:
        return cuts
    row = np.repeat(np.arange(len(cuts)), np.diff(cuts.ptr))
    more = change.take(example[which])
    rows = np.concatenate([row, np.repeat(which, np.diff(more.ptr))])
    source = np.concatenate([cuts.source, more.source])
    offset = np.concatenate([cuts.offset, more.offset])
    coef = np.concatenate([cuts.coef, more.coef])
    order = np.lexsort((offset, source, rows))
    rows, source, offset, coef = rows[order], source[order], offset[order], coef[order]
    # what came and went again cancels: the parts of a cut do not pile up
    new = np.ones(len(rows), dtype=bool)
    new[1:] = (np.diff(rows) != 0) | (np.diff(source) != 0) | (np.diff(offset) != 0)
    first = np.flatnonzero(new)
    summed = np.add.reduceat(coef, first)
    first, summed = first[summed != 0], summed[summed != 0]
    ptr = np.searchsorted(rows[first], np.arange(len(cuts) + 1)).astype(np.int64)
    return Directions(ptr, source[first], offset[first], summed)
