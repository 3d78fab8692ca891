"""The structured relative margin machine."""

from __future__ import annotations

import logging
import math
from collections.abc import Callable
from typing import Any, Literal

from structopt.formulations.base import Declaration, Formulation, WeightConstraints
from structopt.formulations.slack_groups import SlackGroups
from structopt.formulations.struct_svm import StructSVM
from structopt.parameters import Positive, PositiveOrInfinite

logger = logging.getLogger(__name__)


class StructRMM(StructSVM):
    r"""Structured relative margin machine: a structural SVM whose projections are bounded.

    .. math::
        \min_{w,\xi\ge 0} \tfrac12 |w|^2 + \tfrac{C}{n} \sum_i \xi_i
        \quad\text{s.t.}\quad w\cdot\delta_i(y) \ge 1 - \xi_i,\ y \ne y_i,
        \qquad |w\cdot\delta_i(y)| \le B \text{ for all } y

    Parameters
    ----------
    C : float
        Weight of the mean slack.
    B : float
        Bound on every projection, above 1 (a margin of 1 does not fit below: that is logged as a
        warning); infinity is :class:`StructSVM`.
    B_fraction : float, optional
        Instead of B: this fraction of the largest projection that StructSVM finds on the same
        data (the paper's protocol).
    rescale, slacks, constraints, w0
        As in :class:`StructSVM`.

    Notes
    -----
    Shivaswamy and Jebara (2009), eq. (2) and Algorithm 1, corrected: the margin family leaves out
    y_i, and the third family takes the most negative projection. Its three working sets are the
    three cut families here. The certificate moves weights that break a bound not yet in the master
    towards 0 until they keep it.

    =============  ========
    paper          here
    =============  ========
    C, B           ``C``, ``B``
    S^1, S^2, S^3  the three families of ``master``
    =============  ========

    Examples
    --------
    >>> import numpy as np, structopt as so
    >>> X, y = np.array([[3.0, 0.0], [0.0, 1.0], [2.0, 0.5]]), [0, 1, 0]
    >>> model = so.StructuredClassifier(so.Multiclass(), so.StructRMM(C=10.0, B=1.5), tol=1e-5)
    >>> model.fit(X, y).result_.certificate.certified
    True
    """

    def __init__(
        self,
        C: Positive = 1.0,
        B: PositiveOrInfinite = math.inf,
        *,
        B_fraction: Positive | None = None,
        rescale: Literal["unit", "margin", "slack"] = "unit",
        slacks: SlackGroups = "auto",
        constraints: WeightConstraints | None = None,
        w0: Any = None,
    ) -> None:
        super().__init__(C, rescale=rescale, slacks=slacks, constraints=constraints, w0=w0)
        self.B, self.B_fraction = B, B_fraction

    def resolve(self, largest_projection: Callable[[Formulation], float]) -> Formulation:
        """Fix B as a fraction of what StructSVM finds, if it is given as one."""
        if self.B_fraction is None:
            return self._warned()
        names = ("rescale", "slacks", "constraints", "w0")
        shared = {name: getattr(self, name) for name in names}
        largest = largest_projection(StructSVM(self.C, **shared))
        logger.info("StructSVM's largest projection is %.6g", largest)
        B = self.B_fraction * largest if largest > 0 else math.inf
        return StructRMM(self.C, B, **shared)._warned()

    def _warned(self) -> StructRMM:
        """Warn of a bound that leaves no room for the margin."""
        if self.B <= 1 and self.rescale == "unit":
            logger.warning(
                "StructRMM: B = %.3g bounds every projection, the margins of 1 among them: each "
                "example that can be wrong pays a slack of at least %.3g. Take B > 1.",
                self.B,
                1 - self.B,
            )
        return self

    def master(self, m: Declaration) -> None:
        """Declare the programme."""
        super().master(m)
        if math.inf == self.B:
            return
        w = m.weights()
        m.cuts(lambda cut: [cut.delta @ w <= self.B, cut.delta @ w >= -self.B])
