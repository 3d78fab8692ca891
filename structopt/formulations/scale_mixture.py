r"""Regularisers that are a minimum over scales: what the EM-style method learns.

    R(w) = min over s of  1/2 sum_k w_k^2 / s_k + g(s),      objective  R(w) + C sum_i xi_i.

At fixed scales s this is an M3N with scaled features (:class:`~structopt.formulations.scaled_m3n`);
at fixed w the best scales have a closed form. With the Lagrangian dual

    max over alpha >= 0, sum_y alpha_iy <= C of  sum alpha loss - R*(sum alpha delta),

R*(v) = max_w v.w - R(w), any multipliers give a lower bound, and so do all their multiples.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np

from structopt.arrays import Floats
from structopt.formulations.base import Formulation, WeightConstraints


class ScaleMixture(Formulation, ABC):
    """Base of the formulations that the method ``"em"`` learns."""

    C: float
    constraints: WeightConstraints | None = None

    absorbing: ClassVar[bool] = True
    """Whether the best scale of a weight at 0 is 0, so that no later step could raise it. Then EM
    smooths the weights it takes scales from, and the optimum has exact zeros."""

    @abstractmethod
    def regulariser(self, weights: Floats) -> float:
        """Return R(w)."""

    @abstractmethod
    def scales(self, weights: Floats, old: Floats | None = None, relax: float = 1.0) -> Floats:
        """Return the best scales at w, or a step from ``old`` towards and beyond them.

        The step is taken in log s: relax = 1 reaches the best scales, 2 mirrors ``old`` in them.
        """

    @abstractmethod
    def lower_bound(self, gain: float, pull: Floats) -> float:
        r"""Return max over 0 <= t <= 1 of ``t gain - R*(t pull)``, a bound on the optimum.

        Parameters
        ----------
        gain : float
            ``sum alpha loss`` of feasible multipliers.
        pull : array
            ``sum alpha delta``.
        """

    def check(self) -> None:
        """Refuse parameters that cannot be used."""


def between(old: Floats | None, best: Floats, relax: float) -> Floats:
    """Return the scales ``log s = (1 - relax) log old + relax log best``.

    >>> between(np.array([1.0]), np.array([4.0]), 1.5)
    array([8.])
    """
    if old is None or relax == 1.0:
        return best
    with np.errstate(over="ignore"):
        stretched = best * (best / old) ** (relax - 1.0)
    return np.asarray(np.clip(stretched, 1e-150, 1e150))
