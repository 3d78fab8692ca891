"""The scikit-learn face: fit, predict, score. The only file that knows scikit-learn."""

from __future__ import annotations

import contextlib
import os
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from structopt import names
from structopt.backends.base import Backend
from structopt.engines.dataset import DataSet
from structopt.errors import ConvergenceWarning, IncompatibleError, InvalidInputError
from structopt.formulations.base import Formulation
from structopt.methods import registry
from structopt.parameters import Positive, checked
from structopt.run.events import Callback
from structopt.run.example import Example
from structopt.run.limits import Limits
from structopt.run.progress import Progress
from structopt.run.result import UNFINISHED, Result
from structopt.structures.base.structure import Structure

if TYPE_CHECKING:  # CVXPY comes with it, and a model that only predicts does without
    from structopt.methods.method import Method
    from structopt.methods.state import State

_OF_THE_MODEL = (
    "structure",
    "formulation",
    "data",
    "limits",
    "tol",
    "max_iter",
    "time_limit",
    "callbacks",
)


class StructuredClassifier(BaseEstimator):  # type: ignore[misc]
    """Learn to predict structured outputs with a certified optimum.

    Parameters
    ----------
    structure : Structure
        What an output can be, e.g. ``so.Chain()``.
    formulation : Formulation
        What is minimised, e.g. ``so.M3N(C=1.0)``.
    backend : str or Backend
        Who solves the master problems; "auto" picks the best that fits (`result_.backend` says
        which).
    method : str
        How the learning problem is driven: "cutting-plane" (what "auto" means), "frank-wolfe",
        "subgradient", "extragradient", "bregman", "compact", "em", "perceptron" or "mira".
    tol : float
        Relative certified gap to stop at.
    max_iter : int, optional
        Rounds at most; None is the method's own number (10,000; 20 epochs of online methods).
    time_limit : float, optional
        Seconds after which no new round begins.
    n_jobs : int, optional
        Parallel workers of an oracle pass, in joblib's sense.
    random_state : int, optional
        Seed of whatever a backend or method draws at random.
    verbose : bool
        Show progress in the terminal.
    callbacks : sequence of callables
        Each is called with every :class:`~structopt.Round`; True stops the run.
    checkpoint : path, optional
        File to save progress to, and to resume from if it exists.
    method_options : mapping, optional
        Further arguments of the method's class, such as ``{"k": 5}`` for "mira".

    Attributes
    ----------
    structure_ : Structure
        The fitted structure (labels, dimensions).
    result_ : Result
        Weights, certificate, history, why it stopped.

    Examples
    --------
    >>> import structopt as so
    >>> X, Y = so.datasets.make_chain_crf(n_examples=30, seed=0)
    >>> model = so.StructuredClassifier(so.Chain(), so.M3N(C=0.1)).fit(X, Y)
    >>> model.result_.certificate.certified
    True
    >>> len(model.predict(X[:2])[0]) == len(X[0])
    True
    """

    structure_: Structure
    result_: Result

    def __init__(
        self,
        structure: Structure,
        formulation: Formulation,
        *,
        backend: str | Backend = "auto",
        method: str = "auto",
        tol: float = 1e-3,
        max_iter: int | None = None,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        random_state: int | None = None,
        verbose: bool = False,
        callbacks: Sequence[Callback] = (),
        checkpoint: str | os.PathLike[str] | None = None,
        method_options: Mapping[str, Any] | None = None,
    ) -> None:
        self.structure = structure
        self.formulation = formulation
        self.backend = backend
        self.method = method
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.callbacks = callbacks
        self.checkpoint = checkpoint
        self.method_options = method_options

    def fit(
        self,
        X: Any,
        Y: Any,
        *,
        sample_weight: Any = None,
        warm_start: Result | State | None = None,
    ) -> Self:
        """Learn the weights.

        Parameters
        ----------
        X, Y : sequences
            Inputs and outputs, as the structure takes them.
        sample_weight : array, optional
            Factor of each example's slack.
        warm_start : Result or State, optional
            What an earlier run on the same data found, perhaps at another C.
        """
        registry.make(self.method)  # refuses an unknown one before any work
        self.learn(*self.encode(X, Y, sample_weight), warm_start=warm_start)
        return self

    def encode(self, X: Any, Y: Any, sample_weight: Any = None) -> tuple[Structure, DataSet]:
        """Return the fitted structure and the encoded data, which many values of C can share."""
        structure = self.structure.fitted(X, Y)
        data = DataSet.of(structure, X, Y, sample_weight=sample_weight, n_jobs=self.n_jobs)
        return structure, data

    def learn(
        self,
        structure: Structure,
        data: DataSet,
        *,
        warm_start: Result | State | None = None,
        label: str = "",
    ) -> Method:
        """Learn from encoded data and return the run, whose ``state`` another one can begin with.

        ``label`` is what the progress line says.
        """
        method = registry.make(self.method)
        with contextlib.ExitStack() as stack:
            callbacks = list(self.callbacks)
            if self.verbose:
                what = label or f"{type(self.formulation).__name__} on {type(structure).__name__}"
                callbacks.append(stack.enter_context(Progress(what, self.tol)))
            run = method(
                structure,
                self.formulation,
                data,
                limits=Limits(
                    tol=self.tol,
                    max_iter=self.max_iter,
                    time_limit=self.time_limit,
                    callbacks=callbacks,
                ),
                **self._own_options(method, warm_start),
            )
            result = run.solve()
        self.structure_, self.result_ = structure, result
        # methods that minimise nothing have no lower bound to wait for
        if result.status in UNFINISHED and np.isfinite(result.certificate.dual):
            warnings.warn(
                f"Stopped ({result.status}) at a relative gap of "
                f"{result.certificate.relative_gap:.1e}, wanted {self.tol:.1e}. Raise max_iter or "
                "time_limit, or loosen tol.",
                ConvergenceWarning,
                stacklevel=3,
            )
        return run

    def predict(self, X: Any, *, constraints: Any = None) -> list[Any]:
        """Return the best output of every input.

        With ``constraints`` (see :func:`structopt.constrain`) the best that satisfies them, of a
        model that was trained without.
        """
        check_is_fitted(self, "result_")
        structure = self.structure_
        if constraints is not None:
            from structopt.structures.constrain.structure import constrain

            structure = constrain(structure, constraints)
        return structure.predict(X, self.result_.weights)

    @checked
    def predict_marginals(self, X: Any, *, temperature: Positive = 1.0) -> list[Any]:
        """Return how likely each label is at each part: one row a part, or one vector an example.

        The probabilities are those of ``p(y | x) ~ exp(w . phi(x, y) / temperature)``; columns are
        in the order of ``structure_.labels_``. A margin learner fixes no temperature: 1 takes its
        scores as they are, and one that maximises the likelihood of held-out data is better.
        """
        check_is_fitted(self, "result_")
        return self.structure_.marginals(X, self.result_.weights / temperature)

    def score(self, X: Any, Y: Any, sample_weight: Any = None) -> float:
        """Return 1 - mean Hamming error per part (for labels: accuracy)."""
        predicted = self.predict(X)
        return accuracy(self.structure_, Y, predicted, sample_weight)

    def _own_options(
        self, method: type[Method], warm_start: Result | State | None
    ) -> dict[str, Any]:
        """Return the options that this method takes; refuse those that are set but not taken."""
        given = {
            "backend": None if self.backend == "auto" else self.backend,
            "random_state": self.random_state,
            "warm_start": warm_start,
            "checkpoint": self.checkpoint,
        }
        options = {name: value for name, value in given.items() if value is not None}
        options |= self.method_options or {}
        for name in options:
            if name in _OF_THE_MODEL:
                raise IncompatibleError(f"{name!r} is set on the model, not in method_options.")
        method.check_options(options)
        return options

    @property
    def coef_(self) -> Any:
        """The learned weights as a table: a record array of (feature, label, weight)."""
        check_is_fitted(self, "result_")
        weights = self.result_.weights
        named = self.structure_.feature_names()
        if named is None:
            named = [(f"w{j}", "") for j in range(len(weights))]
        features, labels = (np.array(column) for column in zip(*named, strict=True))
        return np.rec.fromarrays(
            [features, labels, weights],
            dtype=[("feature", features.dtype), ("label", labels.dtype), ("weight", np.float64)],
        )

    def report(
        self,
        path: str | os.PathLike[str],
        X: Any = None,
        Y: Any = None,
        *,
        title: str | None = None,
    ) -> None:
        """Write the run as one HTML file, with the weights by name.

        Parameters
        ----------
        path : path
        X, Y : sequences, optional
            Examples to show beside what the model predicts for them, those with the most errors
            first.
        title : str, optional
            Heading of the page.
        """
        check_is_fitted(self, "result_")
        if (X is None) != (Y is None):
            raise InvalidInputError("Give both X and Y, or neither: gold and predicted are shown.")
        examples = []
        if X is not None:
            predicted = self.predict(X)
            if len(predicted) != len(Y):
                raise InvalidInputError(f"{len(predicted)} inputs but {len(Y)} outputs.")
            errors, count = self.structure_.part_errors, self.structure_.part_count
            examples = [
                Example(i, gold, given, errors(gold, given), count(gold))
                for i, (gold, given) in enumerate(zip(Y, predicted, strict=True))
            ]
        heading = f"{type(self.formulation).__name__} on {type(self.structure_).__name__}"
        names.load("write_report")(
            self.result_,
            path,
            title=heading if title is None else title,
            feature_names=self.structure_.feature_names(),
            examples=examples,
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file that loads without running code (`structopt.load_model`)."""
        from structopt.learn.model_file import save_model

        check_is_fitted(self, "result_")
        save_model(self, path)


def accuracy(structure: Structure, Y: Any, predicted: Any, sample_weight: Any = None) -> float:
    """Return the share of parts that are right: 1 - Hamming errors / parts, over all examples."""
    if len(predicted) != len(Y):
        raise InvalidInputError(f"{len(predicted)} inputs but {len(Y)} outputs.")
    weight = np.ones(len(Y)) if sample_weight is None else np.asarray(sample_weight, float)
    wrong = [structure.part_errors(y, p) for y, p in zip(Y, predicted, strict=True)]
    parts = [structure.part_count(y) for y in Y]
    return float(1.0 - weight @ np.asarray(wrong, float) / (weight @ np.asarray(parts, float)))
