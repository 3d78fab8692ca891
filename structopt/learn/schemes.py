r"""Learning with and without inference over constrained output.

    LO   (learning only)           local learning,   local prediction
    L+I  (learning plus inference) local learning,   argmax over the legal outputs
    IBT  (inference based training) learning and prediction by argmax over the legal outputs

All three share one space of weights; they differ in which outputs they know of, and when. Local
learning is learning on ``structure.unconstrained()``, where every component stands alone.

>>> import structopt as so
>>> data = so.datasets.make_constrained_labels(1000, n_inputs=10, kappa=1.0, seed=0)
>>> X, Y = data.X[:500], data.Y[:500]
>>> structure = so.LabelVector(data.legal)
>>> wrong = {}
>>> for name in ("LO", "L+I", "IBT"):
...     scheme = so.ConstraintScheme(name, structure, max_iter=20).fit(X, Y)
...     wrong[name] = 1.0 - scheme.score(data.X[500:], data.Y[500:])
>>> wrong["IBT"] < wrong["L+I"] < wrong["LO"]
True
"""

from __future__ import annotations

import copy
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from structopt.arrays import Floats
from structopt.errors import IncompatibleError, InvalidInputError
from structopt.formulations.base import Formulation
from structopt.formulations.m3n import M3N
from structopt.learn.component_perceptron import ComponentPerceptron
from structopt.learn.estimator import StructuredClassifier
from structopt.learn.predictor import Predictor
from structopt.parameters import Seed, check_params
from structopt.run.result import Result
from structopt.structures.base.structure import Structure

SCHEMES = ("LO", "L+I", "IBT")
PERCEPTRONS = ("perceptron", "averaged perceptron")
"""Learners by name that take any scheme."""


class ConstraintScheme(Predictor):
    """One of the three schemes, around any learner.

    Parameters
    ----------
    scheme : {"LO", "L+I", "IBT"}
    structure : Structure
        With constraints: one that has ``unconstrained()``, such as ``so.LabelVector(legal=...)``
        or ``so.constrain(...)``.
    learner : "perceptron", "averaged perceptron", "components", Formulation, StructuredClassifier,\
              or a classifier
        The perceptron of the paper (not averaged, until an epoch makes no mistake), which updates
        the wrong components of an example together; the same averaged over its visits; for LO and
        L+I component after component as printed
        (:class:`~structopt.learn.component_perceptron.ComponentPerceptron`); a formulation,
        which is minimised by cutting planes; a model, whose structure is replaced by the one to
        learn with; or, for LO and L+I, any linear classifier of scikit-learn with
        ``coef_``, fitted with ``fit_intercept=False`` to every local problem (add a constant
        column to the inputs instead).
    max_iter : int, optional
        Epochs of the perceptron, or rounds of cutting planes, at most; None is 100 and 10,000.
    random_state : int, optional
        Seed of the order of the perceptron's visits.
    verbose : bool
        Show progress in the terminal.

    Attributes
    ----------
    structure_ : Structure
        What predicts: with constraints, except for LO.
    weights_ : array
    model_ : StructuredClassifier or None
        The run behind the weights; None for scikit-learn classifiers.

    Notes
    -----
    Punyakanok, Roth, Yih and Zimak (2005), Figure 1. Their local algorithm updates component after
    component (``learner="components"``, examples in their order); the perceptron here updates the
    wrong components of an example together, which is the same where each has weights of its own.
    """

    _instead = "save its `model_`, or pickle it."
    _learned: Floats
    model_: StructuredClassifier | None

    def __init__(
        self,
        scheme: str,
        structure: Structure,
        *,
        learner: Any = "perceptron",
        max_iter: int | None = None,
        random_state: Seed | None = None,
        verbose: bool = False,
    ) -> None:
        self.scheme = scheme
        self.structure = structure
        self.learner = learner
        self.max_iter = max_iter
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Any, Y: Any) -> Self:
        """Learn the weights."""
        check_params(self)
        if self.scheme not in SCHEMES:
            raise InvalidInputError(f"scheme is one of {SCHEMES}; got {self.scheme!r}.")
        tied = self.structure
        if not hasattr(tied, "unconstrained"):
            raise IncompatibleError(
                f"{type(tied).__name__} has no constraints to leave out (no unconstrained()): "
                "schemes compare learning with and without constraints."
            )
        free: Structure = tied.unconstrained()
        learned = tied if self.scheme == "IBT" else free
        joint = isinstance(self.learner, Formulation | StructuredClassifier)
        if joint or self.learner in PERCEPTRONS:
            self.model_ = model = self._structured(learned).fit(X, Y)
            fitted, self._learned = model.structure_, model.result_.weights
        else:
            self.model_, fitted = None, free.fitted(X, Y)
            self._learned = self._local(fitted, X, Y)
        predicts = copy.copy(free if self.scheme == "LO" else tied)
        # both know the same labels and dimensions: those that learning found
        vars(predicts).update({k: v for k, v in vars(fitted).items() if k.endswith("_")})
        self.structure_ = predicts
        return self

    @property
    def weights_(self) -> Floats:
        """The learned weights."""
        check_is_fitted(self, "_learned")
        return self._learned

    def _run(self) -> Result:
        check_is_fitted(self, "_learned")
        if self.model_ is None:
            raise IncompatibleError(
                "The weights are those of scikit-learn classifiers: there is no run to report."
            )
        return self.model_.result_

    def _structured(self, structure: Structure) -> StructuredClassifier:
        if isinstance(self.learner, StructuredClassifier):
            model: StructuredClassifier = clone(self.learner).set_params(structure=structure)
            return model
        if isinstance(self.learner, Formulation):
            return StructuredClassifier(
                structure, self.learner, max_iter=self.max_iter, verbose=self.verbose
            )
        return StructuredClassifier(
            structure,
            M3N(),
            method="perceptron",
            method_options={
                "average": self.learner != "perceptron", "evaluate": False,
                "random_state": self.random_state,
            },
            max_iter=self.max_iter or 100,
            verbose=self.verbose,
        )  # fmt: skip

    def _classifier(self) -> Any:
        """Return the local classifier that is cloned for every local problem."""
        printed = isinstance(self.learner, str) and self.learner == "components"
        return ComponentPerceptron(self.max_iter or 100) if printed else self.learner

    def _local(self, structure: Any, X: Any, Y: Any) -> Floats:
        """Fit a clone of the classifier to each local problem and gather the weights."""
        if self.scheme == "IBT":
            raise IncompatibleError(
                "IBT learns through the argmax over legal outputs, which a local classifier has "
                "no part in: choose learner='perceptron' or a formulation."
            )
        if not hasattr(structure, "local_problems"):
            raise IncompatibleError(
                f"{type(structure).__name__} does not say what its local problems are "
                "(local_problems): choose learner='perceptron' or a formulation."
            )
        weights = np.zeros(structure.n_features_)
        for inputs, labels, place in structure.local_problems(X, Y):
            blocks = weights[place].reshape(-1, structure.n_inputs_)
            if len(np.unique(labels)) == 1:  # nothing to tell apart
                continue
            classifier = clone(self._classifier()).fit(inputs, labels)
            if np.any(getattr(classifier, "intercept_", 0.0)):
                raise IncompatibleError(
                    "The local classifier has an intercept, for which the structure has no weight: "
                    "set fit_intercept=False and add a constant column to the inputs."
                )
            coef = np.atleast_2d(np.asarray(classifier.coef_, dtype=np.float64))
            if len(classifier.classes_) == 2 and len(coef) == 1:
                coef = np.concatenate([-coef, coef]) / 2.0
            blocks[np.asarray(classifier.classes_, dtype=np.int64)] = coef
            weights[place] = blocks.ravel()
        return weights
