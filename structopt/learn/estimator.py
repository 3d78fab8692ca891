"""The scikit-learn face: fit, predict, score. The only file that knows scikit-learn."""

from __future__ import annotations

import copy
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

from sklearn.base import clone
from sklearn.utils import estimator_html_repr
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from structopt.arrays import as_sequence
from structopt.backends.base import Backend
from structopt.engines.dataset import DataSet
from structopt.errors import IncompatibleError
from structopt.formulations.base import Formulation
from structopt.learn.predictor import Predictor
from structopt.learn.training import audited, train
from structopt.methods import registry
from structopt.parameters import Seed, check_params
from structopt.run.events import Callback
from structopt.run.limits import Limits
from structopt.run.result import Result
from structopt.structures.base.structure import Structure

if TYPE_CHECKING:  # CVXPY comes with it, and a model that only predicts does without
    from structopt.learn.error_bound import ErrorBound
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


def _is_online(model: StructuredClassifier) -> bool:
    """Whether the model's method learns one example at a time."""
    return registry.is_online(model.method)


class StructuredClassifier(Predictor):
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
    fallback : bool
        Whether the reference backend may solve rounds in which a backend that you named fails;
        with "auto" it may. `result_.rescued` says which rounds it did.
    method : str
        How the learning problem is driven: "cutting-plane", "block-ascent" ("auto" takes it under
        a plain ridge and hinges where it was measured to be faster, and cutting planes otherwise,
        or where a backend or a checkpoint is asked for), "working-sets", "frank-wolfe",
        "structured-smo", "subgradient", "extragradient", "bregman", "dual-extragradient",
        "exponentiated-gradient", "compact", "em", "perceptron" or "mira".
    tol : float
        Relative certified gap to stop at.
    max_iter : int, optional
        Rounds at most; None is the method's own number (10,000; 20 epochs of online methods).
    time_limit : float, optional
        Seconds after which no new round begins.
    n_jobs : int, optional
        Parallel workers of an oracle pass, in joblib's sense; threads of `predict` for batches of a
        thousand examples and more, where compiled decoders release the interpreter lock.
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
    audit : bool
        Whether `fit` has its certificate checked a second time (:func:`structopt.audit`): what
        disagrees is an error, `audit_` holds what was found.
    features : transformer, optional
        What makes inputs of what ``fit`` and ``predict`` are given, such as
        ``so.ColumnFeatures(...)``; it is saved with the model.
    engine : str, Client, Dask or Disk, optional
        Where the examples live while `fit` runs: "this process", "threads" or "processes"
        (joblib's), "disk" or a :class:`~structopt.Disk` (one shard in memory at a time), or "dask"
        (the client that is there, else a local cluster), the address of a scheduler, a Dask
        ``Client`` or :class:`~structopt.Dask`. Clones share it, files leave it out.

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

    def __init__(
        self,
        structure: Structure,
        formulation: Formulation,
        *,
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
        features: Any = None,
        engine: Any = None,
    ) -> None:
        self.structure = structure
        self.formulation = formulation
        self.backend = backend
        self.fallback = fallback
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
        self.audit = audit
        self.features = features
        self.engine = engine

    def fit(
        self,
        X: Any,
        y: Any,
        *,
        sample_weight: Any = None,
        warm_start: Result | State | None = None,
    ) -> Self:
        """Learn the weights.

        Parameters
        ----------
        X, y : sequences
            Inputs and outputs, as the structure takes them.
        sample_weight : array, optional
            Factor of each example's slack.
        warm_start : Result or State, optional
            What an earlier run on the same data found, perhaps at another C.
        """
        check_params(self)
        y = self._check_target(y)
        registry.make(self.method)  # refuses an unknown one before any work
        self.__dict__.pop("passed_", None)
        structure, data = self.encode(X, y, sample_weight)
        with data:
            self.learn(structure, data, warm_start=warm_start)
        if self.audit:
            audited(self, X, y, sample_weight)
        return self

    def fit_chunks(
        self,
        chunks: Any,
        *,
        sample_weight: Any = None,
        warm_start: Result | State | None = None,
    ) -> Self:
        """Learn from data that come in chunks, and with ``engine="disk"`` are never all in memory.

        Parameters
        ----------
        chunks : Chunks, list or Dask bag
            As :meth:`DataSet.of_chunks <structopt.DataSet.of_chunks>` takes them, such as
            :func:`so.datasets.stream(...) <structopt.datasets.stream>`. The structure is fitted on
            the first; labels that only later ones have are declared, ``labels=...``.
        sample_weight, warm_start
            As in :meth:`fit`.

        Examples
        --------
        >>> import structopt as so
        >>> chunks = so.datasets.stream(*so.datasets.make_classes(40, seed=0), rows=10)
        >>> model = so.StructuredClassifier(so.Multiclass(), so.M3N(C=0.1), engine="disk")
        >>> model.fit_chunks(chunks).result_.certificate.certified
        True
        """
        from structopt.engines.chunks import makers, read

        check_params(self)
        registry.make(self.method)  # refuses an unknown one before any work
        if self.features is not None or self.audit:
            name = "features=" if self.features is not None else "audit=True"
            raise IncompatibleError(
                f"{name} looks at all examples at once, and chunks never are there at once: leave "
                "it out, and let the chunks give inputs."
            )
        self.__dict__.pop("passed_", None)
        self.features_ = self.named_by_ = None
        made = makers(chunks)
        structure = self.structure.fitted(*read(made[0], 0, len(made)))
        if hasattr(structure, "n_inputs_"):
            self.n_features_in_ = structure.n_inputs_
        data = DataSet.of_chunks(
            structure, made, sample_weight=sample_weight, n_jobs=self.n_jobs, engine=self.engine
        )
        with data:
            self.learn(structure, data, warm_start=warm_start)
        return self

    @available_if(_is_online)  # type: ignore[untyped-decorator]
    def partial_fit(
        self, X: Any, y: Any, classes: Sequence[Any] | None = None, *, sample_weight: Any = None
    ) -> Self:
        """Visit every example once and go on from where the last call ended.

        Only for methods that learn one example at a time ("perceptron", "mira"); an averaged model
        is the average over the visits of all calls.

        Parameters
        ----------
        X, y : sequences
            As in :meth:`fit`. The first call says which features there are: those that only later
            calls have are left out, unless features are hashed.
        classes : sequence, optional
            Every label that can occur; by default those of the structure, or of the first call.
        sample_weight : array, optional
            Factor of each example's step.
        """
        check_params(self)
        y = self._check_target(y)
        passed = getattr(self, "passed_", None)
        if passed is None:
            if classes is not None and self.structure.get_params().get("labels") is None:
                known = clone(self.structure, safe=False).set_params(labels=list(classes))
            else:
                known = self.structure
            structure, data = self._encoded(known, X, y, sample_weight)
        else:
            structure = self.structure_
            data = self._data(structure, self._inputs(X), y, sample_weight)
        method = registry.make(self.method)
        options = self._own_options(method, None)
        limits = Limits(max_iter=1, callbacks=self.callbacks)
        run: Any = method(structure, self.formulation, data, limits=limits, **options)
        if passed is not None:
            run.go_on(passed)
        self.structure_, self.result_, self.passed_ = structure, run.solve(), run.passed()
        return self

    def encode(self, X: Any, Y: Any, sample_weight: Any = None) -> tuple[Structure, DataSet]:
        """Return the fitted structure and the encoded data, which many values of C can share."""
        return self._encoded(self.structure, X, Y, sample_weight)

    def _encoded(
        self, declared: Structure, X: Any, Y: Any, sample_weight: Any
    ) -> tuple[Structure, DataSet]:
        self.features_, self.named_by_ = None, getattr(X, "features", None)
        if self.features is not None:
            self.features_ = self.named_by_ = clone(self.features)
            X = self.features_.fit_transform(X, Y)
        else:
            self._check_names(X, reset=True)
            if self.named_by_ is None and hasattr(X, "columns") and hasattr(X, "shape"):
                self.named_by_ = [str(name) for name in X.columns]
        X, Y = as_sequence(X), as_sequence(Y)
        structure = declared.fitted(X, Y)
        if self.features is None and hasattr(structure, "n_inputs_"):
            self.n_features_in_ = structure.n_inputs_
        return structure, self._data(structure, X, Y, sample_weight)

    def _data(self, structure: Structure, X: Any, Y: Any, sample_weight: Any) -> DataSet:
        engine = getattr(self, "engine", None)  # models of earlier versions have none
        return DataSet.of(
            structure, X, Y, sample_weight=sample_weight, n_jobs=self.n_jobs, engine=engine
        )

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
        what = label or f"{type(self.formulation).__name__} on {type(structure).__name__}"
        options = self._own_options(method, warm_start)
        made = registry.auto if self.method == "auto" else method
        return train(self, made, structure, data, label=what, **options)

    def _own_options(
        self, method: type[Method], warm_start: Result | State | None
    ) -> dict[str, Any]:
        """Return the options that this method takes; refuse those that are set but not taken."""
        given = {
            "backend": None if self.backend == "auto" else self.backend,
            "fallback": True if self.fallback else None,
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

    def bound(self, X: Any, y: Any, **options: Any) -> ErrorBound:
        """Return LP-Struct's generalisation bound for what was learned from X and y.

        Wang and Shawe-Taylor (2009), Theorem 6.2 with Corollary 6.3; options as in
        :func:`structopt.learn.error_bound.error_bound`.

        Examples
        --------
        >>> import structopt as so
        >>> X, Y = so.datasets.make_chain_crf(20, n_features=6, n_relevant=3, length=4, seed=0)
        >>> model = so.StructuredClassifier(so.Chain(), so.LPStruct(C=1.0), tol=1e-2).fit(X, Y)
        >>> found = model.bound(X, Y)
        >>> found.n_points, found.value > 1  # 20 sequences of 4 labels: it says nothing
        (300, True)
        """
        from structopt.learn.error_bound import error_bound

        check_is_fitted(self, "result_")
        return error_bound(self, X, y, **options)

    def __sklearn_clone__(self) -> Self:
        # a client cannot be copied: clones work in the same place
        params = self.get_params(deep=False)
        copies = {n: v if n == "engine" else clone(v, safe=False) for n, v in params.items()}
        other = type(self)(**copies)
        for name in ("_metadata_request", "_sklearn_output_config"):
            if name in vars(self):
                setattr(other, name, copy.deepcopy(vars(self)[name]))
        return other

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        if not isinstance(state.get("engine"), str):  # a connection belongs to its process
            state["engine"] = None
        return state

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file that loads without running code (`structopt.load_model`)."""
        from structopt.learn.model_file import save_model

        check_is_fitted(self, "result_")
        save_model(self, path)

    def _repr_html_(self) -> str:
        """Show scikit-learn's diagram in a notebook, and what came out once it is fitted."""
        result = getattr(self, "result_", None)
        return str(estimator_html_repr(self)) + ("" if result is None else result._repr_html_())

    def _repr_mimebundle_(self, **_kwargs: Any) -> dict[str, str]:
        return {"text/plain": repr(self), "text/html": self._repr_html_()}

    def _heading(self) -> str:
        return f"{type(self.formulation).__name__} on {type(self.structure_).__name__}"
