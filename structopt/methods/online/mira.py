r"""MIRA: the smallest change of the weights that gives k outputs their margins.

    w <- argmin_v 1/2 |v - w|^2 + C sum_r xi_r
         s.t.  v . delta_i(y_r) >= loss_i(y_r) - xi_r,  xi_r >= 0,    r = 1 .. k,

that is w + sum_r tau_r delta_i(y_r) with 0 <= tau <= C, and for k = 1

    tau = min(C, max(0, loss - w . delta) / |delta|^2).
"""

from __future__ import annotations

from typing import Unpack

import numpy as np

from structopt.arrays import Floats
from structopt.engines.dataset import DataSet
from structopt.errors import IncompatibleError
from structopt.formulations.base import Formulation
from structopt.methods.online.base import Deltas, Online
from structopt.methods.online.hildreth_kernels import hildreth
from structopt.parameters import Count, Positive, Seed
from structopt.run.limits import LimitOptions
from structopt.structures.base.oracles import loss_augmented
from structopt.structures.base.shard import Answers, Shard
from structopt.structures.base.structure import Structure

_TOLERANCE, _SWEEPS = 1e-10, 10_000
"""Accuracy of a step for k > 1, relative to the margins that are missing, and sweeps at most."""
_MET = 1e-9
"""Share of the loss up to which a margin counts as met: a step meets it only up to rounding."""


class MIRA(Online):
    r"""Margin-infused relaxed algorithm, 1-best or k-best, averaged or not.

    .. math::
        w \leftarrow \arg\min_v \tfrac12 |v - w|^2 + C s_i \sum_r \xi_r
        \quad\text{s.t.}\quad v\cdot\delta_i(y_r) \ge \ell_i(y_r) - \xi_r,\ \xi_r \ge 0

    over k outputs of example i, with the sample weight s_i. For k = 1 the step is in closed form,
    else Hildreth's algorithm finds it. A mistake is an example one of whose margins is not met.
    The formulation is not minimised; its objective at the model is reported (see
    :class:`~structopt.methods.online.base.Online`).

    Parameters
    ----------
    structure, formulation, data, **limits
        See :class:`~structopt.Method`.
    k : int
        Outputs a step looks at; more than one needs the ability `k_best`.
    C : float
        Aggressiveness: no multiplier of a step exceeds it.
    augmented : bool
        Which outputs: the one with the largest violation (loss-augmented decoding) and the k - 1
        best, or else the k best, gold among them as it may.
    average, evaluate, random_state
        See :class:`~structopt.methods.online.base.Online`.

    Notes
    -----
    Crammer and Singer (2003); McDonald, Crammer and Pereira (2005) for k outputs
    (``augmented=False``, C large); Crammer, Dekel, Keshet, Shalev-Shwartz and Singer (2006), PA-I,
    for the closed form, with the most violated output in section 9 ("max-loss"); one slack an
    output as in Watanabe, Suzuki, Tsukada and Isozaki (2007). On the handwritten words (fold 1, 20
    epochs, k = 1, C = 0.01) the most violated output gives a test error of 21.0%, the best 22.2%.

    Examples
    --------
    >>> import structopt as so
    >>> from structopt.methods.online.mira import MIRA
    >>> X, y = so.datasets.make_classes(60, separation=12.0, seed=0)
    >>> structure = so.Multiclass().fitted(X, y)
    >>> result = MIRA(structure, so.M3N(), so.DataSet.of(structure, X, y), k=2).solve()
    >>> result.status, structure.predict(X, result.weights) == list(y)
    ('separated', True)
    """

    name = "mira"
    called = "MIRA"

    def __init__(
        self,
        structure: Structure,
        formulation: Formulation,
        data: DataSet,
        *,
        k: Count = 1,
        C: Positive = 1.0,
        augmented: bool = True,
        average: bool = True,
        evaluate: bool = True,
        random_state: Seed | None = None,
        **limits: Unpack[LimitOptions],
    ) -> None:
        if k > 1 and "k_best" not in structure.abilities():
            raise IncompatibleError(
                f"MIRA with k = {k} needs 'k_best'; {type(structure).__name__} offers "
                f"{sorted(structure.abilities())}. Use k = 1, which needs 'argmax' only."
            )
        super().__init__(
            structure, formulation, data, average=average, evaluate=evaluate,
            random_state=random_state, **limits,
        )  # fmt: skip
        self.k, self.C, self.augmented = k, C, augmented
        self._scratch: Floats = np.zeros(data.n_features)

    def _ask(self, single: Shard) -> list[Answers]:
        if self.augmented:
            worst = [single.ask(loss_augmented, self.current)]
            return worst + (single.k_best(self.current, self.k - 1) if self.k > 1 else [])
        if self.k == 1:
            return [single.argmax(self.current)]
        return single.k_best(self.current, self.k)

    def _learn(self, single: Shard, answers: list[Answers], sample_weight: float) -> bool:
        wrong = [a for a in answers if a.loss[0] > 0 and np.isfinite(a.score[0])]
        missing = np.array([a.loss[0] - a.score[0] for a in wrong])
        if not any(m > _MET * a.loss[0] for m, a in zip(missing, wrong, strict=True)):
            return False
        deltas = Deltas.of(single, wrong)
        products = deltas.products(self._scratch)
        self._move(deltas, step(products, missing, self.C * sample_weight))
        return True


def step(products: Floats, missing: Floats, cap: float) -> Floats:
    r"""Return the multipliers of one step.

    .. math::
        \arg\max_{0 \le \tau \le cap}\ b\cdot\tau - \tfrac12 \tau\cdot G\tau,
        \qquad G_{rs} = \delta_r\cdot\delta_s,\quad b_r = \ell_r - w\cdot\delta_r

    Parameters
    ----------
    products : array of shape (k, k)
        G. A direction that comes twice is used once.
    missing : array of shape (k,)
        b.
    cap : float

    Examples
    --------
    >>> step(np.array([[4.0]]), np.array([2.0]), cap=1.0)
    array([0.5])
    >>> step(np.array([[4.0, 4.0], [4.0, 4.0]]), np.array([9.0, 9.0]), cap=1.0)
    array([1., 0.])
    """
    if len(missing) == 1:
        norm = products[0, 0]
        return np.clip(missing / norm, 0.0, cap) if norm > 0 else np.zeros(1)
    return np.asarray(hildreth(products, missing, cap, _TOLERANCE, _SWEEPS))
