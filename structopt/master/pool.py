"""The pool of cuts: grow, find repeats, age, prune, each at a cost in proportion to what is new."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from structopt.arrays import Floats, Ints, base_matrix
from structopt.errors import InvalidInputError
from structopt.master.cuts import SAID, Cuts, take_rows
from structopt.master.growing import Growing, GrowingDirections, GrowingRows
from structopt.structures.base.parts import Directions


class CutPool:
    """All cuts that stand, with their rows, in the order in which backends hold them.

    Parameters
    ----------
    base : sparse matrix or None
        The data set's base matrix, which is referred to and not copied; None if all cuts are joint.
    n_features, n_columns : int
        Of the directions, and of the rows.
    """

    _INTS, _FLOATS = ("family", "example", "age"), (
        "loss", "margin", "scale", "multiplier", "factor", "lower", "upper",
    )  # fmt: skip

    def __init__(self, base: Any, n_features: int, n_columns: int) -> None:
        self._shared, self.n_features = base, n_features
        self.n_shared = 0 if base is None else base.shape[0]
        self._rows = GrowingRows(n_features)  # explicit ones, after a copy of the base if need be
        self._fields = {name: Growing(np.int64) for name in self._INTS}
        self._fields |= {name: Growing(np.float64) for name in self._FLOATS}
        self._extra = GrowingRows(n_columns)
        self._keys = Growing(np.uint64)
        self._directions = GrowingDirections()

    def __len__(self) -> int:
        return len(self._keys.values)

    @property
    def base(self) -> Any:
        """The base matrix that directions refer to: the data set's own, then explicit rows.

        Only where a master has both kinds of cuts do they stand in one, and is the base copied.
        """
        alone = self._shared is not None and len(self._rows) == 0
        return self._shared if alone else self._rows.matrix

    @property
    def directions(self) -> Directions:
        """The directions of all cuts, as views."""
        return self._directions.since(0)

    @property
    def cuts(self) -> Cuts:
        """All cuts, as views."""
        return self.since(0)

    def since(self, first: int) -> Cuts:
        """Return the cuts from position ``first`` on, as views."""
        f: dict[str, Any]
        f = {name: grown.values[first:] for name, grown in self._fields.items() if name != "age"}
        directions, extra = self._directions.since(first), self._extra.since(first)
        return Cuts(**f, directions=directions, base=self.base, extra=extra)

    @property
    def multipliers(self) -> Floats:
        """The multiplier that each cut had in the last master solution."""
        return self._fields["multiplier"].values

    def add(self, cuts: Cuts) -> Cuts:
        """Add the lifted cuts of one family that are not here yet; return these, as views."""
        parts, before = cuts.directions, len(self)
        own = cuts.base is not self._shared
        rows = base_matrix(cuts.deltas(self.n_features)) if own else None
        named = parts if rows is None else Directions.entries(rows)
        keys = _mix(named.signatures(), cuts.example, cuts.family)
        distinct, first = np.unique(keys, return_index=True)
        new = np.sort(first[~_occur(distinct, self._keys.values)])
        if len(new) == 0:
            return self.since(before)
        if len(new) < len(cuts):
            cuts = cuts.take(new)
            parts = cuts.directions
        if rows is not None:
            if self._shared is not None and len(self._rows) == 0:
                self._rows.extend(self._shared)
            parts = Directions.rows(len(self._rows), len(new))
            self._rows.extend(take_rows(rows, new))
        self._directions.extend(parts)
        nothing = np.zeros(len(new))
        for name, growing in self._fields.items():
            given = getattr(cuts, name, None)
            growing.extend(nothing if name in ("age", "multiplier") else given)
        self._extra.extend(cuts.extra)
        self._keys.extend(keys[new])  # last: the pool's length is the number of keys
        return self.since(before)

    def lift_again(self, batches: Sequence[Cuts], order: Ints) -> None:
        """Take other rows for all cuts, given in batches: cut i has the row ``order[i]``."""
        for name in ("factor", "lower", "upper"):
            joined = np.concatenate([getattr(cuts, name) for cuts in batches])
            self._fields[name].replace(joined[order])
        stacked = sp.vstack([cuts.extra for cuts in batches], format="csr")
        self._extra.replace(take_rows(stacked, order))

    def settle(self, multipliers: Floats, negligible: float = 0.0) -> None:
        """Record the master's multipliers; cuts without one grow a round older."""
        self._fields["multiplier"].replace(multipliers)
        age = self._fields["age"].values
        age += 1
        age[np.abs(multipliers) > negligible] = 0

    def expired(self, max_age: int) -> NDArray[np.bool_]:
        """Return which cuts have been idle for more than ``max_age`` rounds."""
        return np.asarray(self._fields["age"].values > max_age)

    def keep(self, mask: NDArray[np.bool_]) -> None:
        """Drop the cuts where ``mask`` is false."""
        which = np.flatnonzero(mask)
        self._directions.keep(which)
        if len(self._rows):  # those of cuts that go, too; others keep their numbers
            idle = np.ones(len(self._rows), dtype=bool)
            idle[: self.n_shared] = False
            idle[self._directions.since(0).source] = False
            self._rows.empty(idle)
        self._extra.replace(take_rows(self._extra.matrix, which))
        for growing in (self._keys, *self._fields.values()):
            growing.keep(which)

    def export(self, fingerprint: str) -> Cuts:
        """Return what was said of the cuts in a form that stands alone."""
        # an interrupt may have struck in the middle of `add`: take what is whole
        whole = np.arange(len(self))
        said = {name: self._fields[name].values[whole] for name in SAID}
        directions = self._directions.since(0).take(whole)
        own = directions.source >= self.n_shared
        rows, place = np.unique(directions.source[own], return_inverse=True)
        source = directions.source.copy()  # taking all of them takes the pool's own arrays
        source[own] = -1 - place
        directions = Directions(directions.ptr, source, directions.offset, directions.coef)
        explicit = take_rows(self._rows.matrix, rows)
        return Cuts(**said, directions=directions, base=explicit, fingerprint=fingerprint)

    def of_family(self, cuts: Cuts, number: int) -> Cuts:
        """Return the detached cuts of one family in the form that `add` takes."""
        mine = cuts.take(np.flatnonzero(cuts.family == number))
        parts = mine.directions
        if not np.any(parts.source < 0):
            mine = replace(mine, base=self._shared)
        else:
            own = Directions(parts.ptr, -1 - parts.source, parts.offset, parts.coef)
            mine = replace(mine, directions=own)
        try:
            mine.directions.check(self.n_features, mine.base)
        except ValueError as error:
            raise InvalidInputError(f"These cuts do not fit the data: {error}.") from error
        return mine


def _occur(distinct: NDArray[np.uint64], among: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Return which of some sorted keys occur among others; `np.isin` would sort those each time."""
    place = np.searchsorted(distinct, among)
    inside = place < len(distinct)
    place, among = place[inside], among[inside]
    occur = np.zeros(len(distinct), dtype=bool)
    occur[place[distinct[place] == among]] = True
    return occur


def _mix(signatures: NDArray[np.uint64], example: Ints, family: Ints) -> NDArray[np.uint64]:
    """Fold example and family into the fingerprints (splitmix64's multipliers)."""
    with np.errstate(over="ignore"):
        owner = (example.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        which = (family.astype(np.uint64) + np.uint64(1)) * np.uint64(0xBF58476D1CE4E5B9)
        return signatures ^ (owner + which)
