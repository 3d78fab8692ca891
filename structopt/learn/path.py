r"""One model after another along a parameter, each starting from the last.

    w(C) = argmin_w R(w) + C sum_i hinge_i(w)       for C = C_1, C_2, ...

What can be shared is: the data are encoded once, and a run goes on with the cuts of the last value
and, where that can take another objective, with its live backend. Every value is certified on its
own.

>>> import structopt as so
>>> X, Y = so.datasets.make_chain_crf(n_examples=30, seed=0)
>>> model = so.StructuredClassifier(so.Chain(), so.M3N(), tol=1e-2)
>>> found = so.fit_path(model, X, Y, [0.01, 0.02, 0.04])
>>> found.table().dtype.names
('C', 'objective', 'gap', 'nonzeros', 'rounds', 'seconds')
>>> all(result.certificate.certified for result in found.results)
True
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import clone

from structopt.errors import InvalidInputError
from structopt.learn.estimator import StructuredClassifier
from structopt.methods import registry
from structopt.methods.state import State
from structopt.parameters import checked
from structopt.run.notebook import brief, card
from structopt.run.result import Result


@dataclass(frozen=True)
class RegularizationPath:
    """Models along a parameter.

    Attributes
    ----------
    parameter : str
        Its name, as in ``model.set_params``.
    values : tuple
        Its values, in the order in which they were solved.
    models : tuple of StructuredClassifier
        The fitted model of each.
    """

    parameter: str
    values: tuple[Any, ...]
    models: tuple[StructuredClassifier, ...]

    @property
    def results(self) -> tuple[Result, ...]:
        """The result of each value."""
        return tuple(model.result_ for model in self.models)

    def best(self, X_val: Any, Y_val: Any) -> StructuredClassifier:
        """Return the model with the highest score on validation data, the first of equal ones."""
        return self.models[int(np.argmax(self.scores(X_val, Y_val)))]

    def scores(self, X_val: Any, Y_val: Any) -> list[float]:
        """Return the score of each model on validation data."""
        return [model.score(X_val, Y_val) for model in self.models]

    def table(self, X_val: Any = None, Y_val: Any = None) -> Any:
        """Return a record array with one row a value; ``score`` is there if data are given.

        Fields: the parameter's own name, `objective`, `gap` (relative), `nonzeros` of the weights,
        `rounds`, `seconds`, `score`.
        """
        scores = None if X_val is None else self.scores(X_val, Y_val)
        return records({self.parameter: self.values}, self.results, scores)

    def _repr_html_(self) -> str:
        """Show the path in a notebook."""
        table = self.table()
        certified = sum(result.certificate.certified for result in self.results)
        return card(
            f"Path along {self.parameter}",
            [("values", len(self)), ("certified", f"{certified} of {len(self)}")],
            summary="values",
            head=table.dtype.names,
            rows=[[brief(f"{v:.4g}" if isinstance(v, float) else v) for v in r] for r in table],
        )

    def __len__(self) -> int:
        return len(self.models)


@checked
def fit_path(
    model: StructuredClassifier,
    X: Any,
    Y: Any,
    values: Sequence[Any],
    *,
    parameter: str = "formulation__C",
    sample_weight: Any = None,
) -> RegularizationPath:
    """Fit a model for each value of a parameter, in the order given.

    Parameters
    ----------
    model : StructuredClassifier
        Fitted copies are made of it; it is not changed. Its `callbacks` hear of every round,
        `verbose` shows which value is running, and `time_limit` is that of one value.
    X, Y : sequences
        Training data.
    values : sequence
        The values. From small to large C is the cheaper direction, and close values are cheaper
        than distant ones: a start is off by about ``R(w) (ratio - 1)^2``.
    parameter : str
        What the values are values of, as in ``model.set_params``.
    sample_weight : array, optional
        As in ``fit``.

    Returns
    -------
    RegularizationPath
        Of the values up to the one at which Ctrl-C stopped, if it did.

    Notes
    -----
    Cuts are handed on along numbers of the formulation, if the method takes a warm start, and with
    cutting planes the backend too. What else a parameter may be changes what a cut means; then
    every value starts afresh.

    Examples
    --------
    >>> import structopt as so
    >>> X, Y = so.datasets.make_chain_crf(n_examples=40, seed=0)
    >>> model = so.StructuredClassifier(so.Chain(), so.M3N(), tol=1e-2)
    >>> found = so.fit_path(model, X[:30], Y[:30], [0.001, 0.01, 0.1])
    >>> found.best(X[30:], Y[30:]) in found.models
    True
    """
    line = tuple(plain(values))
    models = tuple(follow(model, X, Y, line, parameter=parameter, sample_weight=sample_weight))
    return RegularizationPath(parameter, line[: len(models)], models)


def follow(
    model: StructuredClassifier,
    X: Any,
    Y: Any,
    values: Sequence[Any],
    *,
    parameter: str = "formulation__C",
    sample_weight: Any = None,
) -> Iterator[StructuredClassifier]:
    """Yield the models of :func:`path` one by one: stop whenever enough is seen.

    Parameters
    ----------
    model, X, Y, values, parameter, sample_weight
        See :func:`path`.
    """
    if len(values) == 0:
        raise InvalidInputError(f"There is no value of {parameter!r} to follow.")
    if parameter not in model.get_params():
        raise InvalidInputError(
            f"The model has no parameter {parameter!r}; it has {sorted(model.get_params())}."
        )
    owner = parameter.partition("__")[0]
    shared = owner not in ("structure", "n_jobs", "features", "engine")
    takes = "warm_start" in registry.make(model.method).options()
    warm = owner == "formulation" and takes and all(map(_is_number, values))
    last: State | None = None
    with contextlib.ExitStack() as opened:
        for place, value in enumerate(values, 1):
            fresh: StructuredClassifier = clone(model).set_params(**{parameter: value})
            fresh.callbacks = model.callbacks  # clone() would make copies that nobody hears
            if place == 1 or not shared:
                opened.close()
                encoded, first = fresh.encode(X, Y, sample_weight), fresh
                opened.enter_context(encoded[1])
            fresh.features_, fresh.named_by_ = first.features_, first.named_by_
            label = f"{parameter.rpartition('__')[2]} = {value} ({place} of {len(values)})"
            last = fresh.learn(*encoded, warm_start=last if warm else None, label=label).state
            yield fresh
            if fresh.result_.status == "interrupted":
                return


def records(
    parameters: Mapping[str, Sequence[Any]],
    results: Sequence[Result],
    scores: Sequence[float] | None = None,
) -> Any:
    """Return a record array of parameters, what the results say of themselves, and scores."""
    short = [name.rpartition("__")[2] for name in parameters]
    shown = short if len(set(short)) == len(short) else list(parameters)
    columns = dict(zip(shown, map(_column, parameters.values()), strict=True)) | {
        "objective": np.array([r.certificate.primal for r in results]),
        "gap": np.array([r.certificate.relative_gap for r in results]),
        "nonzeros": np.array([np.count_nonzero(r.weights) for r in results]),
        "rounds": np.array([len(r.history) for r in results]),
        "seconds": np.array([r.seconds for r in results]),
    }
    if scores is not None:
        columns["score"] = np.array(scores)
    dtype = [(name, values.dtype) for name, values in columns.items()]
    return np.rec.fromarrays(list(columns.values()), dtype=dtype)


def plain(values: Any) -> list[Any]:
    """Return values as a list, of Python's own numbers if they are an array."""
    return list(values.tolist() if isinstance(values, np.ndarray) else values)


def _column(values: Sequence[Any]) -> Any:
    """Return values as an array: of numbers or strings, else of objects."""
    for kind in (Real, str):
        if all(isinstance(value, kind) for value in values):
            return np.array(values)
    array = np.empty(len(values), dtype=object)
    for k, value in enumerate(values):
        array[k] = value
    return array


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)
