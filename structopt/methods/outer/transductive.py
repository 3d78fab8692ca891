"""Examples without labels: they are given those that the model likes best, and margins to them."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from structopt.arrays import Floats
from structopt.engines.dataset import DataSet
from structopt.errors import IncompatibleError
from structopt.formulations.base import Formulation
from structopt.master.declare import RestrictedMaster
from structopt.master.form import other_than_hinges
from structopt.methods.outer.latent import known_only
from structopt.methods.outer.nonconvex import Around, ConvexBound
from structopt.parameters import Positive
from structopt.structures.base.oracles import loss_augmented


class Transductive(Around):
    r"""Margins for what is unknown, too: labels and weights are chosen together.

    .. math::
        \min_{w, \hat y_i \in H_i} R(w) + c \sum_i
        \max_{y} [\ell(\hat y_i, y) - w\cdot(\phi(x_i, \hat y_i) - \phi(x_i, y))]

    where H_i are the outputs that agree with what is known of gold. The labels of a step are those
    that score best (what is unknown of gold is completed, and charged as any gold label is); a step
    that would raise the objective is not taken. How much examples without labels count,
    `sample_weight` says.

    Parameters
    ----------
    formulation : Formulation
        R, c and the constraints on weights.

    Notes
    -----
    Joachims, "Transductive inference for text classification", 1999; for structured outputs Zien,
    Brefeld and Scheffer, 2007. It begins with the examples that are known in full.

    Examples
    --------
    >>> import structopt as so
    >>> X, Y = so.datasets.make_chain_crf(8, n_features=5, n_relevant=3, seed=0)
    >>> some = [*Y[:5], *([None] * len(y) for y in Y[5:])]  # three sequences without labels
    >>> model = so.StructuredClassifier(so.Chain(), so.Transductive(so.M3N(C=0.5)), method="outer")
    >>> [len(y) for y in model.fit(X, some).predict(X[5:])] == [len(y) for y in Y[5:]]
    True
    """

    touching: ClassVar[bool] = False

    def __init__(self, formulation: Formulation) -> None:
        self.formulation = formulation

    def start(self, data: DataSet) -> ConvexBound | None:
        """Return the programme of the examples that are known in full."""
        return known_only(self.formulation, data)

    def bound(self, data: DataSet, v: Floats, last: ConvexBound | None) -> ConvexBound:
        """Return the programme with the labels that score best at v."""
        labelled = data.relabelled(v)
        if last is not None and not len(labelled.moved_from(last.data).source):
            labelled = last.data
        return ConvexBound(self.formulation, labelled, charged=True)


class SelfTraining(Transductive):
    r"""The same, but an example without labels counts only where the model is sure of them.

    .. math::
        \min_{w, \hat y} R(w) + c \sum_{i\ known} \xi_i(w)
        + c \sum_{i\ unknown} \min(\xi_i(w, \hat y_i), \theta)

    with :math:`\xi` the margin-rescaled hinge: an example is taken in while its hinge is below
    :math:`\theta`, and costs :math:`c\,\theta` while it is not.

    Parameters
    ----------
    formulation : Formulation
        R, c and the constraints on weights; margin-rescaled, with slacks in a plain sum.
    threshold : float
        :math:`\theta`.

    Examples
    --------
    >>> import structopt as so
    >>> X, Y = so.datasets.make_chain_crf(8, n_features=5, n_relevant=3, seed=0)
    >>> some = [*Y[:5], *([None] * len(y) for y in Y[5:])]
    >>> sure = so.SelfTraining(so.M3N(C=0.5), threshold=1.0)
    >>> model = so.StructuredClassifier(so.Chain(), sure, method="outer").fit(X, some)
    >>> model.result_.steps[0].certificate.certified
    True
    """

    def __init__(self, formulation: Formulation, threshold: Positive = 0.5) -> None:
        super().__init__(formulation)
        self.threshold = threshold

    def bound(self, data: DataSet, v: Floats, last: ConvexBound | None) -> ConvexBound:
        """Return the programme of the examples that count at v, with the labels that score best."""
        labelled = super().bound(data, v, last).data
        hinge = np.concatenate([a.loss - a.score for a in labelled.ask(loss_augmented, v)])
        out = data.unknown & (hinge > self.threshold)
        weight = np.where(out, 0.0, data.sample_weight)
        if not weight.any():
            raise IncompatibleError(
                f"No example counts: none is known in full, and no hinge is below {self.threshold}."
            )
        lost = float(self._rates(data)[out] @ data.sample_weight[out]) * self.threshold
        if last is None or labelled is not last.data or np.any(weight != last.data.sample_weight):
            labelled = labelled.changed(labelled.shards, weight)
        return ConvexBound(self.formulation, labelled, lost, charged=True)

    def _rates(self, data: DataSet) -> Floats:
        """Return c, what a unit of each example's slack costs."""
        master = RestrictedMaster(data.n_examples, data.n_features, base=data.base)
        master.declare(self.formulation)
        program = master.compile()
        margin = other_than_hinges(master) is None and master.families[0].oracle is loss_augmented
        if not margin or len(program.slacks) != data.n_examples:
            raise IncompatibleError(
                f"SelfTraining caps one margin-rescaled hinge an example, in a plain sum; "
                f"{type(self.formulation).__name__} is none: use M3N or L1M3N."
            )
        return np.asarray(program.q[program.slacks])
