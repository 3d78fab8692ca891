"""The pool of cuts: grow, find repeats, age, prune.

A cut is kept as what the oracle said (family, example, loss, direction), not as a row: the same cut
serves another C, another backend, a warm start and a checkpoint.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from structopt.arrays import Floats, Ints, base_matrix
from structopt.master.lift import Numbers
from structopt.structures.base.parts import Directions


@dataclass(frozen=True)
class CutSet:
    """Cuts detached from their pool, with the multipliers they ended with.

    Attributes
    ----------
    directions : Directions
        Over the data set's base, followed by ``explicit``.
    explicit : sparse matrix
        Directions that are rows of their own.
    fingerprint : str
        Names the data and the families the cuts were found for: cuts of other data would make a
        lower bound that is none.
    """

    family: Ints
    numbers: Numbers
    directions: Directions
    explicit: Any
    multipliers: Floats
    fingerprint: str

    def __len__(self) -> int:
        return len(self.family)


class _Growing:
    """A vector that grows at its end in amortised constant time."""

    def __init__(self, dtype: Any, start: Any = ()) -> None:
        self._data = np.array(start, dtype=dtype)
        self._size = len(self._data)

    @property
    def values(self) -> NDArray[Any]:
        return self._data[: self._size]

    def extend(self, values: Any) -> None:
        size = self._size + len(values)
        if size > len(self._data):
            bigger = np.empty(max(size, 2 * len(self._data)), self._data.dtype)
            bigger[: self._size] = self.values
            self._data = bigger
        self._data[self._size : size] = values
        self._size = size

    def replace(self, values: Any) -> None:
        self._data, self._size = np.array(values, dtype=self._data.dtype), len(values)


class _GrowingBase:
    """The base matrix: the data set's own rows, then explicit rows as they come."""

    def __init__(self, base: Any, n_features: int) -> None:
        start = base_matrix(sp.csr_array((0, n_features)) if base is None else base)
        self._width = n_features
        self._indptr = _Growing(np.int64, start.indptr)
        self._indices = _Growing(np.int64, start.indices)
        self._data = _Growing(np.float64, start.data)

    def append(self, rows: Any) -> int:
        """Add rows and return the number of the first."""
        rows = base_matrix(rows)
        first = len(self._indptr.values) - 1
        self._indptr.extend(rows.indptr[1:] + self._indptr.values[-1])
        self._indices.extend(rows.indices)
        self._data.extend(rows.data)
        return first

    @property
    def matrix(self) -> Any:
        arrays = (self._data.values, self._indices.values, self._indptr.values)
        return sp.csr_array(arrays, shape=(len(arrays[2]) - 1, self._width))


class CutPool:
    """All cuts that stand, in the order in which backends hold their rows.

    Parameters
    ----------
    base : sparse matrix or None
        The data set's base matrix, if its directions come as parts.
    n_features : int
    """

    def __init__(self, base: Any, n_features: int) -> None:
        self.n_features = n_features
        self._base = _GrowingBase(base, n_features)
        self._n_shared = 0 if base is None else base.shape[0]
        self._fields = {name: _Growing(np.int64) for name in ("family", "example", "age")} | {
            name: _Growing(np.float64) for name in ("loss", "margin", "scale", "multiplier")
        }
        self._keys = _Growing(np.uint64)
        self._ptr = _Growing(np.int64, [0])
        self._parts = {
            "source": _Growing(np.int64),
            "offset": _Growing(np.int64),
            "coef": _Growing(np.float64),
        }

    def __len__(self) -> int:
        return len(self._keys.values)

    @property
    def base(self) -> Any:
        """The base matrix that `directions` refers to."""
        return self._base.matrix

    @property
    def directions(self) -> Directions:
        """The direction of every cut."""
        p = {name: growing.values for name, growing in self._parts.items()}
        return Directions(self._ptr.values, p["source"], p["offset"], p["coef"])

    @property
    def family(self) -> Ints:
        """The number of the family of every cut."""
        return self._fields["family"].values

    @property
    def multipliers(self) -> Floats:
        """The multiplier that each cut had in the last master solution."""
        return self._fields["multiplier"].values

    @property
    def numbers(self) -> Numbers:
        """Example, loss, margin and scale of every cut."""
        f = self._fields
        return Numbers(f["example"].values, f["loss"].values, f["margin"].values, f["scale"].values)

    def add(self, family: int, numbers: Numbers, directions: Any) -> Ints:
        """Add the cuts that are not here yet; return which of the batch were new.

        ``directions`` are :class:`Directions` over the data set's base, or sparse rows.
        """
        explicit = sp.issparse(directions)
        if explicit:
            rows = base_matrix(directions)
            parts = Directions(rows.indptr, rows.indices, np.zeros_like(rows.indices), rows.data)
        else:
            parts = directions
        keys = _mix(parts.signatures(), numbers.example, family)
        distinct, first = np.unique(keys, return_index=True)
        new = np.sort(first[~_occur(distinct, self._keys.values)])
        if len(new) == 0:
            return new
        if explicit:
            added = Directions.rows(self._base.append(rows[new]), len(new))
        else:
            added = parts.take(new) if len(new) < len(keys) else parts
        self._ptr.extend(added.ptr[1:] + self._ptr.values[-1])
        for name, growing in self._parts.items():
            growing.extend(getattr(added, name))
        self._fields["family"].extend(np.full(len(new), family))
        for name in ("example", "loss", "margin", "scale"):
            self._fields[name].extend(getattr(numbers, name)[new])
        self._fields["age"].extend(np.zeros(len(new), dtype=np.int64))
        self._fields["multiplier"].extend(np.zeros(len(new)))
        self._keys.extend(keys[new])  # last: the pool's length is the number of keys
        return new

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
        kept = self.directions.take(np.flatnonzero(mask))
        self._ptr.replace(kept.ptr)
        for name, growing in self._parts.items():
            growing.replace(getattr(kept, name))
        self._keys.replace(self._keys.values[mask])
        for growing in self._fields.values():
            growing.replace(growing.values[mask])

    def export(self, fingerprint: str) -> CutSet:
        """Return the cuts in a form that stands alone."""
        # an interrupt may have struck in the middle of `add`: take what is whole
        whole = np.arange(len(self))
        directions = self.directions.take(whole)
        own = directions.source >= self._n_shared
        rows, place = np.unique(directions.source[own], return_inverse=True)
        directions.source[own] = self._n_shared + place
        return CutSet(
            self.family[whole],
            self.numbers.take(whole),
            directions,
            self.base[rows],
            self.multipliers[whole],
            fingerprint,
        )

    def directions_of(self, cuts: CutSet, which: Ints) -> Any:
        """Return the directions of exported cuts of one family in the form that `add` takes."""
        directions = cuts.directions.take(which)
        if np.any(directions.source >= self._n_shared):
            return cuts.explicit[directions.source - self._n_shared]
        return directions


def _occur(distinct: NDArray[np.uint64], among: NDArray[np.uint64]) -> NDArray[np.bool_]:
    """Return which of some sorted keys occur among others; `np.isin` would sort those each time."""
    place = np.searchsorted(distinct, among)
    inside = place < len(distinct)
    place, among = place[inside], among[inside]
    occur = np.zeros(len(distinct), dtype=bool)
    occur[place[distinct[place] == among]] = True
    return occur


def _mix(signatures: NDArray[np.uint64], example: Ints, family: int) -> NDArray[np.uint64]:
    """Fold example and family into the fingerprints (splitmix64's multipliers)."""
    with np.errstate(over="ignore"):
        owner = (example.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
        return signatures ^ (owner + np.uint64(family + 1) * np.uint64(0xBF58476D1CE4E5B9))
