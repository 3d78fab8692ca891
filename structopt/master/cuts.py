"""Cuts: what oracles find, the pool keeps and backends take is one batch type, lifted once.

A cut is what an oracle said (family, example, loss, direction) and the row that its family's rule
makes of it. What was said serves another C, another backend, a warm start and a checkpoint; the row
is made when the cut is found, and is handed on as it is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from structopt.arrays import Floats, Ints
from structopt.master.program import Program
from structopt.structures.base.parts import Directions

_UNKNOWN: Any = None
"""What is not known yet, or not of interest, where a batch stands."""

SAID = ("family", "example", "loss", "margin", "scale", "multiplier")
_PARTS = ("ptr", "source", "offset", "coef")
_ROWS = ("data", "indices", "indptr")


@dataclass(frozen=True)
class Cuts:
    """A batch of cuts, and their rows ``lower <= factor * delta . w + extra . x <= upper``.

    Attributes
    ----------
    family, example : arrays of int
        Which family of the master, and which example (0 for joint cuts).
    loss, margin, scale : arrays
        What a rule sees of each cut besides its direction.
    directions : Directions
        delta of each cut, over ``base``; unknown (None) while nobody has asked for it.
    base : sparse matrix
        What the directions refer to: the data set's base, or rows of their own (joint cuts). Cuts
        that are detached from their data keep only the latter, and call them -1, -2, ...
    factor, extra, lower, upper
        The row, once it is lifted: the factor on ``delta . w``, every other coefficient over all
        columns of the program, and the sides.
    score, excess : arrays
        ``delta . w`` where the oracle was asked; the true answer's may be as low as
        ``score - excess``.
    multiplier : array
        What each cut had in the last master solution.
    fingerprint : str
        Names the data and the families that detached cuts were found for: cuts of other data would
        make a lower bound that is none.
    """

    family: Ints
    example: Ints
    loss: Floats
    margin: Floats
    scale: Floats
    directions: Directions = _UNKNOWN
    base: Any = None
    factor: Floats = _UNKNOWN
    extra: Any = None
    lower: Floats = _UNKNOWN
    upper: Floats = _UNKNOWN
    score: Floats = _UNKNOWN
    excess: Floats = _UNKNOWN
    multiplier: Floats = _UNKNOWN
    fingerprint: str = ""

    def __len__(self) -> int:
        return len(self.example)

    def take(self, which: Ints) -> Cuts:
        """Return the cuts at positions ``which``, in that order."""
        given = {f.name: getattr(self, f.name) for f in fields(self)}
        changed: dict[str, Any] = {
            name: v[which] for name, v in given.items() if isinstance(v, np.ndarray)
        }
        if self.extra is not None:
            changed["extra"] = take_rows(self.extra, which)
        if self.directions is not None:
            changed["directions"] = self.directions.take(which)
        return replace(self, **changed)

    def same_rows(self, other: Cuts) -> bool:
        """Return whether other cuts have the same rows, to the last digit."""
        if self.extra.shape != other.extra.shape or (self.extra != other.extra).nnz:
            return False
        pairs = [(getattr(self, n), getattr(other, n)) for n in ("factor", "lower", "upper")]
        return all(np.array_equal(a, b) for a, b in pairs)

    def deltas(self, n_features: int) -> Any:
        """Return the directions as the rows of a sparse matrix."""
        return self.directions.tocsr(self.base, n_features)

    def matrix(self, program: Program) -> Any:
        """Return the rows as one CSR matrix over all columns of ``program``."""
        start, stop = program.weights.start, program.weights.stop
        delta = self.deltas(stop - start)
        delta.data *= np.repeat(self.factor, np.diff(delta.indptr))
        place = delta.indices + start
        if program.asked:
            starts = np.array([program.asked.get(f, start) for f in self.family.tolist()], np.int64)
            place = delta.indices + np.repeat(starts, np.diff(delta.indptr))
        shifted = sp.csr_array((delta.data, place, delta.indptr), shape=(len(self), program.size))
        return sp.csr_array(shifted + self.extra) if self.extra.nnz else shifted

    def pull(self, program: Program, multipliers: Floats) -> Floats:
        """Return the rows weighted by multipliers and summed, over all columns."""
        weights = program.weights
        total = np.asarray(self.extra.T @ multipliers)
        size, each = weights.stop - weights.start, self.factor * multipliers
        if not program.asked:
            total[weights] += self.directions.combine(self.base, each, size)
            return total
        for family in np.unique(self.family).tolist():
            mine = np.where(self.family == family, each, 0.0)
            combined = self.directions.combine(self.base, mine, size)
            total[program.asked_about(family)] += combined
        return total

    def to_arrays(self) -> dict[str, Any]:
        """Return what was said of detached cuts as plain arrays, for a file."""
        return {
            **{name: getattr(self, name) for name in SAID},
            **{name: getattr(self.directions, name) for name in _PARTS},
            **{name: getattr(self.base, name) for name in _ROWS},
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, Any], n_features: int, fingerprint: str) -> Cuts:
        """Return the cuts of a file; a KeyError or ValueError says that they are damaged."""
        parts = Directions(*(arrays[name] for name in _PARTS))
        rows = tuple(arrays[name] for name in _ROWS)
        if [values.dtype.kind for values in rows] != ["f", "i", "i"]:
            raise ValueError("rows that are no numbers")
        if not np.all(np.isfinite(rows[0])):
            raise ValueError("a number that is not finite")
        if np.any(np.diff(rows[2]) < 0) or rows[2][-1] != len(rows[0]):  # SciPy trusts the last
            raise ValueError("rows of another length")
        base = sp.csr_array(rows, shape=(len(arrays["indptr"]) - 1, n_features))
        base.check_format()
        said = {name: arrays[name] for name in SAID}
        if any(values.shape != (len(parts),) for values in said.values()):
            raise ValueError("fields of different length")
        if any(said[name].dtype.kind != kind for name, kind in zip(SAID, "iiffff", strict=True)):
            raise ValueError("fields that are no numbers")
        parts.check(n_features)
        if not all(np.all(np.isfinite(values)) for values in said.values()):
            raise ValueError("a number that is not finite")
        return cls(directions=parts, base=base, fingerprint=fingerprint, **said)


def take_rows(matrix: Any, which: Ints) -> Any:
    """Return ``matrix[which]`` of a CSR matrix (a third of the time of SciPy's own)."""
    lengths = np.diff(matrix.indptr)[which]
    ptr = np.concatenate([[0], np.cumsum(lengths)])
    where = np.repeat(matrix.indptr[which] - ptr[:-1], lengths) + np.arange(ptr[-1])
    arrays = (matrix.data[where], matrix.indices[where], ptr.astype(matrix.indptr.dtype))
    return sp.csr_array(arrays, shape=(len(which), matrix.shape[1]))
