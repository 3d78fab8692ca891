r"""Terms of an objective that are known by more than their cones: norms and entropies of weights.

A term h stands beside the separable part of a programme. Three things are known of it in closed
form: its value, its proximal step, and its conjugate,

    prox(x, t) = argmin over u of h(u) + 1/(2t) |u - x|^2,      h*(v) = sup over u of v.u - h(u).

For a norm ``c |u|`` the conjugate is 0 while the dual norm of v is at most c, and infinite beyond;
pulls that are beyond are scaled back. What is lowered to cones says the same with a new column or
more an entry, and for the trace norm with a matrix of all entries.

>>> blocks = BlockNorm(np.arange(3), 1.0, np.array([0, 0, 1]), np.ones(2))
>>> blocks.value(np.array([3.0, 4.0, -1.0])), blocks.dual(np.array([3.0, 4.0, -1.0]))
(6.0, 5.0)
>>> blocks.prox(np.array([3.0, 4.0, -1.0]), 1.0)
array([ 2.4,  3.2, -0. ])
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import wrightomega, xlogy

from structopt.arrays import Floats, Ints
from structopt.structures.multiclass.projection import project_simplex


@dataclass(frozen=True, eq=False)
class Term(ABC):
    """``price * h`` of some columns, in the order in which h takes them.

    Attributes
    ----------
    columns : array of int
        Which columns of the programme.
    price : float
        Its factor, above 0.
    """

    columns: Ints
    price: float

    @abstractmethod
    def value(self, x: Floats) -> float:
        """Return the term at its columns."""

    @abstractmethod
    def prox(self, x: Floats, step: float) -> Floats:
        """Return the proximal step from x."""

    def fits(self, pull: Floats) -> float:
        """Return the largest factor up to 1 at which the conjugate of a pull is finite."""
        return 1.0

    @abstractmethod
    def conjugate(self, pull: Floats) -> float:
        """Return the conjugate at a pull that fits."""


class Norm(Term):
    """A norm, with its dual norm."""

    @abstractmethod
    def dual(self, v: Floats) -> float:
        """Return the dual norm."""

    def fits(self, pull: Floats) -> float:
        """Return the factor that brings the dual norm down to the price."""
        size = self.dual(pull)
        return 1.0 if size <= self.price else self.price * (1.0 - 1e-14) / size

    def conjugate(self, pull: Floats) -> float:
        """Return 0: the pull fits."""
        return 0.0


@dataclass(frozen=True, eq=False)
class BlockNorm(Norm):
    """``sum_b scale_b |x_b|_2`` over blocks: the group lasso.

    ``block`` says which block each column belongs to.
    """

    block: Ints
    scale: Floats

    def _lengths(self, x: Floats) -> Floats:
        return np.asarray(np.sqrt(np.bincount(self.block, x * x, minlength=len(self.scale))))

    def value(self, x: Floats) -> float:
        """Return the sum of lengths."""
        return float(self.price * self.scale @ self._lengths(x))

    def dual(self, v: Floats) -> float:
        """Return the largest length, each divided by its scale."""
        return float(np.max(self._lengths(v) / self.scale, initial=0.0))

    def prox(self, x: Floats, step: float) -> Floats:
        """Shorten every block."""
        length = np.maximum(self._lengths(x), 1e-300)
        keep = np.maximum(0.0, 1.0 - step * self.price * self.scale / length)
        return np.asarray(keep[self.block] * x)


class LargestEntry(Norm):
    """``|x|_inf``."""

    def value(self, x: Floats) -> float:
        """Return the largest absolute entry."""
        return float(self.price * np.max(np.abs(x), initial=0.0))

    def dual(self, v: Floats) -> float:
        """Return the sum of absolute entries."""
        return float(np.abs(v).sum())

    def prox(self, x: Floats, step: float) -> Floats:
        """Cut the largest entries down: what is left of a projection on the l1 ball."""
        size = np.abs(x)
        inside = project_simplex(size, step * self.price, at_most=True).point
        return np.asarray(np.sign(x) * (size - inside))


@dataclass(frozen=True, eq=False)
class PowerNorm(Norm):
    """``|x|_p`` with 1 < p < inf."""

    power: float

    def value(self, x: Floats) -> float:
        """Return the p-norm."""
        return self.price * _p_norm(x, self.power)

    def dual(self, v: Floats) -> float:
        """Return the q-norm, 1/p + 1/q = 1."""
        return _p_norm(v, self.power / (self.power - 1.0))

    def prox(self, x: Floats, step: float) -> Floats:
        """Solve ``u + c (u / |u|_p)^(p-1) = |x|`` for the one length |u|_p that fits."""
        size, c = np.abs(x), step * self.price
        if self.dual(x) <= c:
            return np.zeros(len(x))

        def along(length: float) -> Floats:
            rate = self.power - 1.0
            u = size * length / (length + c)
            for _ in range(60):  # Newton on a function of each entry, kept in its bracket
                ratio = np.power(u / length, rate)
                slope = 1.0 + c * rate * ratio / np.maximum(u, 1e-300)
                moved = np.clip(u - (u + c * ratio - size) / slope, 0.5 * u, size)
                if np.max(np.abs(moved - u)) <= 1e-14 * size.max():
                    return moved
                u = moved
            return u

        top = _p_norm(x, self.power)
        found = brentq(lambda s: _p_norm(along(s), self.power) - s, 1e-12 * top, top, xtol=1e-13)
        return np.asarray(np.sign(x) * along(found))


@dataclass(frozen=True, eq=False)
class TraceNorm(Norm):
    """The sum of the singular values of a matrix whose columns are stacked."""

    shape: tuple[int, int]

    def _values(self, x: Floats) -> Floats:
        return np.asarray(np.linalg.svd(x.reshape(self.shape, order="F"), compute_uv=False))

    def value(self, x: Floats) -> float:
        """Return the sum of the singular values."""
        return float(self.price * self._values(x).sum())

    def dual(self, v: Floats) -> float:
        """Return the largest singular value."""
        return float(self._values(v).max(initial=0.0))

    def prox(self, x: Floats, step: float) -> Floats:
        """Lower every singular value."""
        left, values, right = np.linalg.svd(x.reshape(self.shape, order="F"), full_matrices=False)
        kept = np.maximum(0.0, values - step * self.price)
        return np.asarray(((left * kept) @ right).ravel(order="F"))


@dataclass(frozen=True, eq=False)
class Entropy(Term):
    """``sum x log(x / prior) - mass (x - prior)`` over x >= 0: entropies, KL where mass is 1."""

    prior: Floats
    mass: float

    def value(self, x: Floats) -> float:
        """Return the entropy; infinite below 0."""
        if np.any(x < 0):
            return np.inf
        return float(self.price * np.sum(xlogy(x, x / self.prior) - self.mass * (x - self.prior)))

    def prox(self, x: Floats, step: float) -> Floats:
        """Solve ``u + c log(u / prior) + c (1 - mass) = x``: Wright's omega function."""
        c = step * self.price
        inner = x / c - 1.0 + self.mass - np.log(c / self.prior)
        return np.asarray(c * wrightomega(inner))

    def conjugate(self, pull: Floats) -> float:
        """Return ``c sum prior (exp(v / c - 1 + mass) - mass)``."""
        with np.errstate(over="ignore"):
            reach = np.exp(pull / self.price - 1.0 + self.mass)
        return float(self.price * np.sum(self.prior * (reach - self.mass)))


def _p_norm(x: Floats, p: float) -> float:
    top = float(np.max(np.abs(x), initial=0.0))
    return top * float(np.sum(np.abs(x / top) ** p) ** (1.0 / p)) if top > 0 else 0.0
