r"""How long a step is: tau and sigma from |A|, and from P.

    tau_j = 1 / (omega / eta + D_j),    sigma = eta omega,    eta = 0.998 / |A|

with the primal weight omega (:mod:`.weight`) and a diagonal D >= P, D_j = sum_i |P_ij|. The largest
singular value |A| is Lanczos' (:mod:`.norm`); no step is ever tried and taken back, as PDLP's
adaptive rule does.

The paper's step is ``eta = (2 |A|_F^2 + 2 |P|_F^2)^(-1/2)``, for good.
"""

from __future__ import annotations

import numpy as np

from structopt.arrays import Floats
from structopt.backends.extragradient.norm import largest
from structopt.backends.extragradient.recipe import Variant
from structopt.master.program import Program

SAFETY = {"alternating": 0.998, "korpelevich": 0.9}
"""Step times |A|: 1 would cycle on u * v."""


class Steps:
    """The steps of one scaled problem.

    Parameters
    ----------
    problem : Program
        Scaled.
    variant : {"alternating", "korpelevich", "paper"}
    known : array, optional
        A direction near that of the largest singular value.

    Attributes
    ----------
    norm : float
        Of A; for the paper's step what stands in for it.
    eta : float
    direction : array
        That of the largest singular value.
    products : int
        That it took to know the norm.
    """

    def __init__(self, problem: Program, variant: Variant, known: Floats | None) -> None:
        self.products = 0
        self._majoriser = np.asarray(abs(problem.P).sum(axis=0)).ravel()
        if variant == "paper":
            A, P = problem.A.data, problem.P.data
            frobenius = float(np.sqrt(2.0 * (A @ A + P @ P)))
            self.norm, self.direction = frobenius, np.zeros(0)
            self.eta = 1.0 / frobenius if frobenius > 0 else 1.0
            self._majoriser = np.zeros(len(problem.q))
        else:
            self.norm, self.direction, self.products = largest(problem.A, known)
            self.eta = SAFETY[variant] / self.norm
            if variant == "korpelevich" and problem.P.nnz:  # both parts of the operator below 1
                self.eta, self._majoriser = 0.7 * self.eta, 4.0 * self._majoriser

    def lengths(self, omega: float) -> tuple[Floats, float]:
        """Return tau and sigma."""
        return 1.0 / (omega / self.eta + self._majoriser), self.eta * omega
