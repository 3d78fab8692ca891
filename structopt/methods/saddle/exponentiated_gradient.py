r"""Exponentiated gradient: the dual climbed by multiplying probabilities.

    p_i(y) <- p_i(y) exp(eta (loss_i(y) - w . delta_i(y))) / Z_i,     w = argmin_w L(w, p),

for all examples at once. Since the exponents are linear, p_i(y) = exp(a . phi + b loss) / Z_i with
one a and b for all (:mod:`structopt.methods.saddle.bregman`): a step adds eta (w, 1) to (a, b).
"""

from __future__ import annotations

from typing import Unpack

import numpy as np

from structopt.arrays import Floats
from structopt.engines.dataset import DataSet
from structopt.errors import IncompatibleError
from structopt.formulations.base import Formulation
from structopt.methods.mean import Mean
from structopt.methods.saddle.bregman import Averaged, Bregman
from structopt.run.limits import LimitOptions
from structopt.structures.base.structure import Structure

_LONGER = 1.05
"""How much longer the next step is than one that raised the dual."""


class ExponentiatedGradient(Bregman):
    r"""Exponentiated gradient on the dual; a round is some iterations.

    .. math::
        p_i(y) \propto p_i(y)\, e^{\eta (\ell_i(y) - w\cdot\delta_i(y))}, \qquad
        w = C \sum_i E_{p_i}[\delta_i(y)]

    A step that does not raise the dual is halved and done again. The papers behind this library
    name it as the method to compare with: its rate is sublinear. Sums over outputs are needed.

    Parameters
    ----------
    structure, formulation, data, **limits
        As in :class:`~structopt.Bregman`; the weights are free, each with a quadratic term.

    Notes
    -----
    Bartlett, Collins, Taskar and McAllester (2004); Collins, Globerson, Koo, Carreras and Bartlett
    (2008), the batch form.

    Examples
    --------
    >>> import structopt as so
    >>> X, Y = so.datasets.make_chain_crf(20, seed=0)
    >>> structure = so.Chain().fitted(X, Y)
    >>> data = so.DataSet.of(structure, X, Y)
    >>> so.ExponentiatedGradient(structure, so.M3N(0.1), data, tol=1e-2).solve().status
    'optimal'
    """

    name = "exponentiated-gradient"

    def __init__(
        self,
        structure: Structure,
        formulation: Formulation,
        data: DataSet,
        **limits: Unpack[LimitOptions],
    ) -> None:
        super().__init__(structure, formulation, data, **limits)
        p = self._form.program
        bounded = np.isfinite(p.lb[p.weights]).any() or np.isfinite(p.ub[p.weights]).any()
        if not self._form.regularised or bounded or p.A.shape[0]:
            raise IncompatibleError(
                f"The method {self.name!r} learns free weights, each with a quadratic term: "
                "'bregman' takes constraints on the weights and C = inf."
            )
        self._now = self._now._replace(w=self._best(self._now.z.features))
        self._value = self._form.dual(self._now.z.features, self._now.z.loss)

    def _best(self, pull: Floats) -> Floats:
        """Return argmin_w L(w, p)."""
        return -pull / self._form.curvature

    def _iterate(self) -> None:
        v = self._now
        while True:
            eta = self.step_size
            u = self._at(v.w, v.a + eta * v.w, v.b + eta)
            value = self._form.dual(u.z.features, u.z.loss)
            self._length = u.divergence(v)
            if value >= self._value or self._length <= 1e-14:
                break
            self.step_size *= 0.5
        self._now, self._value = u._replace(w=self._best(u.z.features)), value
        self._mean.add(eta, self._now.w, u.z.features, u.z.loss)
        self.step_size *= _LONGER
        self.iterations += 1

    def _conclude(self, mean: Averaged, *, fell: bool) -> None:
        """Raise the lower bound by the last distribution and by the mean."""
        self._raise(mean.pull, mean.loss)
        self._raise(self._now.z.features, self._now.z.loss)
        self._mean = Mean()
