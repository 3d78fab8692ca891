"""Predict, then optimise, with a certified optimum: SPO+ and inverse optimisation."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np

from structopt.arrays import Floats
from structopt.backends.base import Backend
from structopt.engines.dataset import DataSet
from structopt.errors import InvalidInputError
from structopt.formulations.base import Formulation
from structopt.learn.decisions.deciding import Decider, as_set, best_decisions
from structopt.learn.estimator import StructuredClassifier
from structopt.learn.predictor import Predictor
from structopt.parameters import Seed
from structopt.run.events import Callback
from structopt.run.result import Result
from structopt.structures.base.structure import Structure
from structopt.structures.decision.base import as_rows
from structopt.structures.decision.priced import Priced
from structopt.structures.decision.structure import Decision

if TYPE_CHECKING:
    from structopt.methods.state import State


class DecisionModel(Decider, StructuredClassifier):  # type: ignore[misc]
    r"""Learn to predict costs :math:`\hat c = W x` whose cheapest decision is good.

    From costs c_i that were seen, the SPO+ loss is the margin-rescaled hinge of a
    :class:`~structopt.Decision` with scale 2,

    .. math::
        \ell_i(W) = \max_{y \in S}\ (c_i - 2 W x_i) \cdot y + 2 W x_i \cdot y_i^* - c_i \cdot y_i^*,

    and from decisions y_i that were seen (inverse optimisation) the augmented suboptimality loss is
    the one with scale 1 and the Hamming distance,

    .. math::
        \ell_i(W) = \max_{y \in S}\ |y - y_i|_1 - W x_i \cdot (y - y_i),

    so that every formulation with margin rescaling, every method and every certificate applies.

    Parameters
    ----------
    decisions : DecisionSet or networkx graph
        What can be decided: a set of ``so.decisions``. A graph with the attributes ``source`` and
        ``sink`` stands for its paths.
    formulation : Formulation
        What is minimised, e.g. ``so.M3N(C=1.0)``: |W|^2 / (2 C) plus the losses. Constraints on W
        are its ``constraints=``.
    target : {"costs", "decisions"}
        What ``y`` of `fit` and `score` holds; ``fit(X, decisions=...)`` needs no target.
    fit_intercept : bool
        Whether costs have a constant term (as regularised as the others).
    backend, fallback, method, tol, max_iter, time_limit, n_jobs, random_state
        As in :class:`~structopt.StructuredClassifier`.
    verbose, callbacks, checkpoint, method_options, audit
        Likewise.

    Attributes
    ----------
    structure_ : Decision
    result_ : Result
        Weights, certificate, history, why it stopped.

    Notes
    -----
    Inputs are rows (n, p), or (n, m, p): a row of features for each part, whose weights all parts
    share. Elmachtoub and Grigas, "Smart predict, then optimize", Management Science 68 (2022);
    Zattoni Scroccaro, Atasoy and Mohajerin Esfahani, "Learning in inverse optimization", Operations
    Research (2024).

    ============  ========
    paper         here
    ============  ========
    B             ``W``, ``weights_`` by part
    S             ``decisions``
    z*(c)         ``costs . decisions.minimize(costs)``
    theta         ``weights_``
    ============  ========

    Examples
    --------
    >>> import structopt as so
    >>> X, costs = so.datasets.make_shortest_paths(150, degree=4, noise=0.5, seed=0)
    >>> model = so.DecisionModel(so.decisions.GridPaths(5, 5), so.M3N(C=0.1), tol=1e-2)
    >>> model = model.fit(X[:100], costs[:100])
    >>> model.result_.certificate.certified, model.predict(X[100:]).shape
    (True, (50, 40))
    >>> 0 < model.regret(X[100:], costs[100:]) < 0.2
    True
    """

    _instead: ClassVar[str] = "pickle it."

    def __init__(
        self,
        decisions: Any,
        formulation: Formulation,
        *,
        target: Literal["costs", "decisions"] = "costs",
        fit_intercept: bool = True,
        backend: str | Backend = "auto",
        fallback: bool = False,
        method: str = "auto",
        tol: float = 1e-3,
        max_iter: int | None = None,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        random_state: Seed | None = None,
        verbose: bool = False,
        callbacks: Sequence[Callback] = (),
        checkpoint: str | os.PathLike[str] | None = None,
        method_options: Mapping[str, Any] | None = None,
        audit: bool = False,
    ) -> None:
        super().__init__(
            None, formulation, backend=backend, fallback=fallback, method=method, tol=tol,  # type: ignore[arg-type]
            max_iter=max_iter, time_limit=time_limit, n_jobs=n_jobs, random_state=random_state,
            verbose=verbose, callbacks=callbacks, checkpoint=checkpoint,
            method_options=method_options, audit=audit,
        )  # fmt: skip
        self.decisions = decisions
        self.target = target
        self.fit_intercept = fit_intercept

    @property
    def structure(self) -> Structure:
        """The decisions as a structure."""
        scale = 2.0 if self._learns() == "costs" else 1.0
        return Decision(as_set(self.decisions), scale=scale, intercept=self.fit_intercept)

    @structure.setter
    def structure(self, _: Any) -> None:
        """Ignore what the base stores: the structure follows from the decisions."""

    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        decisions: Any = None,
        sample_weight: Any = None,
        warm_start: Result | State | None = None,
    ) -> Self:
        """Learn the weights.

        Parameters
        ----------
        X : array (n, p) or (n, m, p)
        y : array (n, m)
            The costs of every part, as they were seen (or decisions: see ``target``).
        decisions : array (n, m), optional
            Decisions that were seen, instead of costs.
        sample_weight : array, optional
            Factor of each example's loss.
        warm_start : Result or State, optional
            What an earlier run on the same data found, perhaps at another C.
        """
        if (y is None) == (decisions is None):
            raise InvalidInputError("Give costs, fit(X, costs), or fit(X, decisions=...).")
        self.target_ = self.target if decisions is None else "decisions"
        seen = y if decisions is None else decisions
        return super().fit(X, seen, sample_weight=sample_weight, warm_start=warm_start)

    def encode(self, X: Any, Y: Any, sample_weight: Any = None) -> tuple[Structure, DataSet]:
        """Return the fitted structure and the encoded data, which many values of C can share."""
        return self._encoded(self.structure, X, self._check_target(Y), sample_weight)

    def predict_costs(self, X: Any) -> Floats:
        """Return the predicted costs of every part, (n, m)."""
        weights, structure = self.weights_, self.structure_
        assert isinstance(structure, Decision)
        return structure.predict_costs(self._inputs(X), weights)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return minus the normalised regret; of decisions, the share of parts that are right."""
        if self._learns() == "costs":
            return -self.regret(X, y, sample_weight=sample_weight)
        return Predictor.score(self, X, self._check_target(y), sample_weight)

    def report(
        self,
        path: str | os.PathLike[str],
        X: Any = None,
        Y: Any = None,
        *,
        title: str | None = None,
        inputs: Any = None,
    ) -> None:
        """Write the run as one HTML file; examples are shown beside their best decisions."""
        best = None if Y is None else self._check_target(Y)
        super().report(path, X, best, title=title, inputs=inputs)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Refuse: a set of decisions may hold functions and graphs; pickle the model."""
        Predictor.save(self, path)

    def _learns(self) -> str:
        return getattr(self, "target_", self.target)

    def _check_target(self, y: Any) -> Any:
        """Return gold decisions, with their costs where those were seen."""
        if isinstance(y, list) and (not y or isinstance(y[0], Priced)):
            return y
        of = as_set(self.decisions)
        if y is None:
            raise InvalidInputError(f"{type(self).__name__} requires y to be passed: it is None.")
        if self._learns() == "costs":
            costs, best = best_decisions(of, y)
            return [Priced(*pair) for pair in zip(best, costs, strict=True)]
        of.check()
        return list(np.asarray(as_rows(y, of.n_parts, "decisions")))
