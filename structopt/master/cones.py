r"""Cones among a programme's constraints, ``C x - d in K``, and their duals.

K is a product of second order cones, cones of positive semidefinite matrices (upper triangles by
columns, off-diagonals times sqrt 2), exponential cones ``y exp(x / y) <= z`` and power cones
``prod u_i^a_i >= |v|``, in the order in which CVXPY and Clarabel write them. Each dual cone is a
cone of the same kind after a linear map: ``z in K*`` if and only if ``D z in K``.

>>> cones = Cones(sp.csr_array(np.eye(3)), np.zeros(3), (Cone("soc", 3),))
>>> cones.contain(np.array([5.0, 3.0, 4.0])), cones.contain(np.array([4.9, 3.0, 4.0]))
(True, False)
>>> cones.contain(cones.centre)
True
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from typing import Any, Literal, NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import spsolve

from structopt.arrays import Floats

Kind = Literal["soc", "psd", "exp", "pow"]


class Cone(NamedTuple):
    """One cone: its kind, how many rows it has, and the exponents of a power cone."""

    kind: Kind
    size: int
    powers: tuple[float, ...] = ()

    @property
    def side(self) -> int:
        """Rows of the matrices of a semidefinite cone."""
        return int((np.sqrt(8 * self.size + 1) - 1) / 2)


@dataclass(frozen=True)
class Cones:
    """The rows ``matrix @ x - side``, which lie in a product of cones."""

    matrix: Any
    side: Floats
    blocks: tuple[Cone, ...] = field(default=())

    @classmethod
    def none(cls, size: int) -> Cones:
        """Return no cones over some columns."""
        return cls(sp.csr_array((0, size)), np.zeros(0))

    def __len__(self) -> int:
        return len(self.side)

    @property
    def kinds(self) -> list[str]:
        """The kinds of cones that there are."""
        return sorted({block.kind for block in self.blocks})

    def contain(self, rows: Floats) -> bool:
        """Return whether rows lie in the cones, to the last digit."""
        return self.depth(rows) >= 0.0

    def depth(self, rows: Floats) -> float:
        """Return how far inside rows lie: below 0 outside, infinite without cones."""
        runs = (float(_depths(cone, block).min()) for cone, block in self._runs(rows))
        return min(runs, default=np.inf)

    def contain_dual(self, multipliers: Floats) -> bool:
        """Return whether multipliers lie in the dual cones."""
        return self.contain(self.dual_map @ multipliers)

    @cached_property
    def centre(self) -> Floats:
        """Rows well inside the cones."""
        return np.concatenate([_centre(cone) for cone in self.blocks] or [np.zeros(0)])

    @cached_property
    def dual_centre(self) -> Floats:
        """Multipliers well inside the dual cones."""
        return np.asarray(spsolve(sp.csc_array(self.dual_map), self.centre))

    @cached_property
    def dual_map(self) -> Any:
        """D, with ``z in K*`` if and only if ``D z in K``."""
        return sp.csr_array(
            sp.block_diag([_dual_map(c) for c in self.blocks] or [np.zeros((0, 0))])
        )

    def _runs(self, rows: Floats) -> Iterator[tuple[Cone, Floats]]:
        """Yield the rows of equal neighbouring cones as the rows of a matrix."""
        start = 0
        for cone, count in self._equal:
            stop = start + cone.size * count
            yield cone, rows[start:stop].reshape(count, cone.size)
            start = stop

    @cached_property
    def _equal(self) -> list[tuple[Cone, int]]:
        return [(cone, len(list(run))) for cone, run in groupby(self.blocks)]


def triangle(side: int) -> tuple[Any, Any]:
    """Return rows and columns of an upper triangle, column by column."""
    column, row = np.tril_indices(side)
    return row, column


def _depths(cone: Cone, rows: Floats) -> Floats:
    if cone.kind == "soc":
        return np.asarray(rows[:, 0] - np.linalg.norm(rows[:, 1:], axis=1))
    if cone.kind == "psd":
        row, column = triangle(cone.side)
        full = np.zeros((len(rows), cone.side, cone.side))
        full[:, row, column] = rows / np.where(row == column, 1.0, np.sqrt(2.0))
        full[:, column, row] = full[:, row, column]
        return np.asarray(np.linalg.eigvalsh(full)[:, 0])
    if cone.kind == "exp":
        x, y, z = rows.T
        with np.errstate(all="ignore"):  # y ln(z / y) - x, which no size of x can overflow
            inside = np.where((y > 0) & (z > 0), y * np.log(z / y) - x, -np.inf)
        flat = np.minimum(np.minimum(-x, z), y)
        return np.asarray(np.where(y > 0, np.minimum(inside, z), np.minimum(flat, 0.0)))
    powers, bases = np.asarray(cone.powers), rows[:, : len(cone.powers)]
    least = bases.min(axis=1)
    means = np.exp(np.log(np.maximum(bases, 1e-300)) @ powers)
    return np.asarray(np.minimum(least, means - np.abs(rows[:, -1])))


def _centre(cone: Cone) -> Floats:
    if cone.kind == "psd":
        row, column = triangle(cone.side)
        return np.asarray(row == column, dtype=np.float64)
    if cone.kind == "exp":
        return np.array([0.0, 1.0, 2.0])
    centre = np.zeros(cone.size)
    centre[: max(1, len(cone.powers))] = 1.0
    return centre


def _dual_map(cone: Cone) -> Any:
    if cone.kind == "exp":  # u < 0 and -u exp(v / u) <= e t
        return sp.csr_array([[0.0, -1.0, 0.0], [-1.0, 0.0, 0.0], [0.0, 0.0, np.e]])
    scale = np.ones(cone.size)
    scale[: len(cone.powers)] = 1.0 / np.asarray(cone.powers) if cone.powers else 1.0
    return sp.diags_array(scale)
