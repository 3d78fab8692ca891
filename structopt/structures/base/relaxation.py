r"""The outputs of many examples as one polytope, for methods that move between outputs.

An output is a 0/1 vector z of parts, and score, loss and features are linear in it:

    w . phi(x_i, y) = w . F_i z,        loss_i(y) = d_i + c_i . z.

The parts of all examples of a shard stand in one long vector. The relaxation is the polytope
``Z = {z >= 0 : A z <= b}`` (rows marked as equalities hold with =) whose 0/1 points are the
outputs; where it has fractional vertices it is a relaxation and `integral` says so.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structopt.arrays import Floats, Ints


@dataclass(frozen=True)
class Projected:
    """A feasible point near the Euclidean projection.

    Attributes
    ----------
    point : array
        In the polytope.
    error : float
        Bound on its Euclidean distance from the exact projection.
    state : object
        What the next projection may start from.
    """

    point: Floats
    error: float
    state: Any = None


@dataclass(frozen=True)
class Polytope:
    """``{z >= 0 : A z <= b}``, with = on the rows marked in ``equality``."""

    A: Any
    b: Floats
    equality: NDArray[np.bool_]


class Relaxation(ABC):
    """All outputs of a shard's examples as one product of polytopes.

    Attributes
    ----------
    owner : array of int
        The example each part belongs to.
    gold : array
        The gold outputs, 0 or 1 for each part.
    loss : array
        c: what each part adds to the loss.
    loss_constant : array
        d_i for each example, so that ``loss_constant + (loss of its parts) @ gold`` is 0.
    integral : bool
        Whether every vertex is an output.
    """

    owner: Ints
    gold: Floats
    loss: Floats
    loss_constant: Floats
    integral: bool = True

    @abstractmethod
    def scores(self, weights: Floats) -> Floats:
        """Return ``F' w``: the score of each part."""

    @abstractmethod
    def features(self, z: Floats) -> Floats:
        """Return ``F z``: the features of (fractional) outputs, summed over all examples."""

    @abstractmethod
    def project(self, z: Floats, *, error: float, state: Any = None) -> Projected:
        """Return the point of the polytope nearest to z, up to ``error`` in Euclidean norm."""

    @abstractmethod
    def polytope(self) -> Polytope:
        """Return the polytope's rows."""
