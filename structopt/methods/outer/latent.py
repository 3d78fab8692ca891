"""Parts of gold outputs that are unknown: the latent structural SVM, by the concave-convex loop."""

from __future__ import annotations

from typing import ClassVar

from structopt.arrays import Floats
from structopt.engines.dataset import DataSet
from structopt.formulations.base import Formulation
from structopt.methods.outer.nonconvex import Around, ConvexBound


class Latent(Around):
    r"""Margins from the best completion of what is known of gold.

    .. math::
        \min_w R(w) + c \sum_i \Big( \max_{y} [w\cdot\phi(x_i, y) + \ell_i(y)]
        - \max_{h \in H_i} w\cdot\phi(x_i, h) \Big)

    where H_i are the outputs that agree with what is known of gold, and the loss does not depend on
    the rest. The second maximum is convex: a bound holds the completion that is best at v.

    Parameters
    ----------
    formulation : Formulation
        R, c and the constraints on weights: M3N, L1M3N or any other margin-rescaled formulation.
        Used alone, it takes one completion and keeps it: a convex upper bound.

    Notes
    -----
    Yu and Joachims, "Learning structural SVMs with latent variables", 2009. It begins with the
    examples that are known in full, where there are any.

    Examples
    --------
    >>> import structopt as so
    >>> X, Y = so.datasets.make_chain_crf(8, n_features=5, n_relevant=3, seed=0)
    >>> hidden = [[None, *y[1:]] for y in Y]  # nobody knows the first label
    >>> model = so.StructuredClassifier(so.Chain(), so.Latent(so.M3N(C=0.5)), method="outer")
    >>> model.fit(X, hidden).result_.status
    'stationary'
    """

    margin_only: ClassVar[bool] = True

    def __init__(self, formulation: Formulation) -> None:
        self.formulation = formulation

    def start(self, data: DataSet) -> ConvexBound | None:
        """Return the programme of the examples that are known in full."""
        return known_only(self.formulation, data)

    def bound(self, data: DataSet, v: Floats, last: ConvexBound | None) -> ConvexBound:
        """Return the programme with what is unknown completed at v."""
        return ConvexBound(self.formulation, unmoved(data.completed(v), last))


def known_only(formulation: Formulation, data: DataSet) -> ConvexBound | None:
    """Return the programme of the examples that are known in full; None if there are none."""
    weight = data.sample_weight * ~data.unknown
    if not weight.any():
        return None
    return ConvexBound(formulation, data.changed(data.shards, weight))


def unmoved(data: DataSet, last: ConvexBound | None) -> DataSet:
    """Return the data of the last bound where no example is measured from another output."""
    if last is None or len(data.moved_from(last.data).source):
        return data
    return last.data
