"""The structured ramp loss: outliers cost no more than their loss."""

from __future__ import annotations

from typing import ClassVar

from structopt.arrays import Floats
from structopt.engines.dataset import DataSet
from structopt.formulations.base import Formulation
from structopt.methods.outer.latent import unmoved
from structopt.methods.outer.nonconvex import Around, ConvexBound


class RampLoss(Around):
    r"""The loss-augmented maximum minus the plain one, instead of minus the score of gold.

    .. math::
        \min_w R(w) + c \sum_i \Big( \max_{y} [w\cdot\phi(x_i, y) + \ell_i(y)]
        - \max_y w\cdot\phi(x_i, y) \Big)

    Each term lies between the loss of the prediction and the largest loss, so that an example that
    cannot be fitted has a bounded say. A bound measures delta from the prediction at v.

    Parameters
    ----------
    formulation : Formulation
        R, c and the constraints on weights; margin-rescaled.

    Notes
    -----
    Collobert, Sinz, Weston and Bottou, "Trading convexity for scalability", 2006; in structured
    form Do, Le, Teo, Chapelle and Smola, 2008. It begins at the solution of the hinge.

    Examples
    --------
    >>> import structopt as so
    >>> X, Y = so.datasets.make_chain_crf(8, n_features=5, n_relevant=3, seed=0)
    >>> model = so.StructuredClassifier(so.Chain(), so.RampLoss(so.M3N(C=0.5)), method="outer")
    >>> steps = model.fit(X, Y).result_.steps
    >>> all(step.after <= step.before + step.certificate.gap for step in steps)
    True
    """

    margin_only: ClassVar[bool] = True

    def __init__(self, formulation: Formulation) -> None:
        self.formulation = formulation

    def start(self, data: DataSet) -> ConvexBound | None:
        """Return the programme of the hinge."""
        return ConvexBound(self.formulation, data)

    def bound(self, data: DataSet, v: Floats, last: ConvexBound | None) -> ConvexBound:
        """Return the programme with delta measured from the predictions at v."""
        return ConvexBound(self.formulation, unmoved(data.anchored(data.argmax(v)), last))
