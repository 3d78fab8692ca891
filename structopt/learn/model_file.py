"""Models on disk: arrays and JSON, nothing that could run when it is read.

The file names the structure, the formulation and the backend by class and parameters. Those of this
library are found by name in :mod:`structopt.names`, and only they are imported; a class of the
user's own is never imported from a file's word, and a function is never written: hand an instance
to :func:`load_model` instead.

>>> import os, tempfile, structopt as so
>>> X, Y = so.datasets.make_chain_crf(8, n_features=5, n_relevant=3, seed=0)
>>> model = so.StructuredClassifier(so.Chain(), so.M3N(C=0.5)).fit(X, Y)
>>> with tempfile.TemporaryDirectory() as folder:
...     path = os.path.join(folder, "chain.model")
...     so.save_model(model, path)
...     again = so.load_model(path)
>>> again.predict(X) == model.predict(X)
True
"""

from __future__ import annotations

import copy
import os
from dataclasses import MISSING, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from structopt import __version__, names
from structopt.arrays import Floats
from structopt.errors import FileFormatError, IncompatibleError, InvalidInputError
from structopt.files import read_arrays, write_arrays
from structopt.formulations.base import Formulation
from structopt.learn.feature_file import read, written
from structopt.learn.fitted_state import check_attributes
from structopt.learn.model_file_1 import OLD, upgraded
from structopt.learn.plain import decode, encode
from structopt.parameters import Parameters, check_params, checked
from structopt.run.certificate import Certificate
from structopt.run.events import NUMBERS, Round
from structopt.run.result import Rescue, Result
from structopt.structures.base.structure import Structure
from structopt.structures.losses.part_costs import PartCosts

if TYPE_CHECKING:
    from structopt.backends.base import Backend
    from structopt.learn.estimator import StructuredClassifier

_KIND = "structopt model 2"
_PARTS = ("structure", "formulation", "backend")
_LEFT_OUT = ("structure", "formulation", "callbacks", "checkpoint", "features", "engine")
"""What is no setting in a file: callbacks are functions, and a file's word on where to write
checkpoints, or on where data go, would be taken by the next fit."""

# What a header leads to that is JSON, but not what was written.
_DAMAGE = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)


def save_model(model: Any, path: str | os.PathLike[str]) -> None:
    """Write a fitted model, or a pipeline of features and a model; see :func:`load_model`.

    A pipeline comes back as one model with ``features``, which predicts alike.
    """
    if hasattr(model, "steps"):
        model = _of_pipeline(model)
    if not (hasattr(model, "result_") and hasattr(model, "structure_")):
        raise InvalidInputError(
            f"save_model writes a fitted model; got {type(model).__name__}: fit it first."
        )
    result, arrays = model.result_, _weight_arrays(model.result_.weights)
    settings = {k: v for k, v in model.get_params(deep=False).items() if k not in _LEFT_OUT}
    backend = settings.pop("backend")
    try:
        header = {
            "kind": _KIND,
            "version": __version__,
            "structure": _described(model.structure),
            "fitted": _state(model.structure_),
            "formulation": _described(model.formulation),
            "backend": backend if isinstance(backend, str) else _described(backend),
            "settings": encode(settings),
            "features": None if model.features_ is None else written(model.features_, arrays),
            "inputs": encode(model.named_by_) if isinstance(model.named_by_, list) else None,
            "certificate": vars(result.certificate),
            "rounds": list(NUMBERS),
            "result": {
                name: getattr(result, name)
                for name in ("status", "seconds", "backend", "method", "finisher", "rescued")
            },
        }
    except TypeError as error:
        raise InvalidInputError(
            f"The model's labels or parameters cannot be written as JSON ({error}); use strings, "
            "numbers, booleans, None or tuples of these."
        ) from error
    table = np.array([[float(getattr(r, f)) for f in header["rounds"]] for r in result.history])
    history = table.reshape(-1, len(header["rounds"]))
    write_arrays(path, header, {**arrays, "history": history})


@checked
def load_model(
    path: str | os.PathLike[str],
    *,
    structure: Structure | None = None,
    formulation: Formulation | None = None,
    backend: str | Backend | None = None,
) -> StructuredClassifier:
    """Read a model that ``model.save(path)`` wrote.

    Parameters
    ----------
    path : path
    structure, formulation, backend : optional
        Instances to take instead of the file's: of your own classes, or of classes that were given
        functions, which no file keeps. A formulation's functions (constraints on weights) matter
        for training only: without `formulation` it is loaded without them.
    """
    from structopt.learn.estimator import StructuredClassifier

    header, arrays = read_arrays(path, (_KIND, OLD))
    try:
        if header["kind"] == OLD:
            header = upgraded(header)
        given = {"structure": structure, "formulation": formulation, "backend": backend}
        parts = {what: _restored(header[what], given[what], what) for what in _PARTS}
        weights = _weights(arrays)
        fitted = _refitted(parts["structure"], header["fitted"])
        if weights.shape != (fitted.n_features_,) or not np.all(np.isfinite(weights)):
            raise ValueError(f"{weights.shape} weights for {fitted.n_features_} features")
        model = StructuredClassifier(**parts, **decode(header["settings"]))
        model.structure_ = fitted
        if header.get("features") is not None:
            model.features_ = model.named_by_ = read(header["features"], arrays)
            model.features = clone(model.features_)
        elif header.get("inputs") is not None:
            model.named_by_ = decode(header["inputs"])
        rescued = tuple(Rescue(*each) for each in header["result"].pop("rescued", ()))
        model.result_ = Result(
            weights=weights,
            certificate=_certificate(header["certificate"]),
            history=tuple(_round(header["rounds"], row) for row in _numbers(arrays["history"])),
            rescued=rescued,
            **header["result"],
        )
    except _DAMAGE as error:
        if isinstance(error, IncompatibleError):
            raise
        raise FileFormatError(f"{os.fspath(path)} is damaged: {error}") from error
    return model


def _of_pipeline(pipeline: Any) -> Any:
    """Return the model at the end of a pipeline, with the features before it as its own."""
    *before, (_, model) = pipeline.steps
    if len(before) != 1 or not hasattr(model, "result_"):
        raise IncompatibleError(
            "A file keeps a fitted pipeline of one transformer of features and a model; this one "
            f"has {[name for name, _ in pipeline.steps]}: join features with so.JoinedFeatures."
        )
    whole = copy.copy(model)
    whole.features = whole.features_ = before[0][1]
    return whole


def _weight_arrays(weights: Floats) -> dict[str, Any]:
    """Return weights as arrays: only those that are not 0, where that is smaller."""
    places = np.flatnonzero(weights)
    if 2 * len(places) >= len(weights) or len(weights) > _most(len(places)):
        return {"weights": weights}
    size = np.array([len(weights)])
    return {"weights_size": size, "weights_at": places, "weights_nonzero": weights[places]}


def _most(nonzero: int) -> int:
    """Return how many weights may be written by those that are not 0.

    Reading then takes at most 8 MB and 500 times the file's size, whatever its numbers say.
    """
    return 1000 * (nonzero + 1000)


def _weights(arrays: dict[str, Any]) -> Floats:
    if "weights" in arrays:
        return _numbers(arrays["weights"])
    (size,), at = arrays["weights_size"].tolist(), arrays["weights_at"]
    if not 0 <= size <= _most(len(at)):
        raise ValueError(f"{size} weights, of which {len(at)} are not 0")
    weights, values = np.zeros(size), _numbers(arrays["weights_nonzero"])
    if at.shape != values.shape or np.any(at < 0) or np.any(np.diff(at) <= 0):
        raise ValueError("places of weights that are none")
    weights[at] = values
    return weights


def _numbers(array: Any) -> Floats:
    if array.dtype.kind not in "fiu":
        raise ValueError(f"{array.dtype} in the place of numbers")
    return np.asarray(array, dtype=np.float64)


def _certificate(said: dict[str, Any]) -> Certificate:
    """Return a certificate of the file, each field of the type that it must have."""
    exact, note = said.get("exact", True), said.get("note", "")
    if not isinstance(exact, bool) or not isinstance(note, str):
        raise ValueError(f"a certificate that is exact={exact!r}, note={note!r}")
    numbers = {k: float(v) for k, v in said.items() if k not in ("exact", "note")}
    return Certificate(**numbers, exact=exact, note=note)


# ---------------------------------------------------------------------- the parts of a model
def _described(part: Parameters) -> dict[str, Any]:
    """Return a part by class and parameters; functions and parts that hold them by name only."""
    if _known(type(part).__name__) is not type(part):
        library = type(part).__module__.split(".")[0] == __name__.split(".")[0]
        return {"class": type(part).__name__, "own": not library}
    kept, functions = {}, []
    for name, value in part.get_params(deep=False).items():
        if isinstance(value, Parameters):
            kept[name] = {"part": _described(value)}
            if "functions" in kept[name]["part"] or "own" in kept[name]["part"]:
                functions.append(name)
        elif callable(value):
            functions.append(name)
        else:
            kept[name] = encode(value)
    found = {"class": type(part).__name__, "parameters": kept}
    return found | ({"functions": functions} if functions else {})


def _restored(spec: Any, given: Any, what: str) -> Any:
    if given is not None:
        return given
    if isinstance(spec, str):
        return spec
    ask = f"pass it as load_model(path, {what}=...)."
    if spec.get("own"):
        raise IncompatibleError(
            f"The model was trained with a {what} of your own, {spec['class']!r}: {ask}"
        )
    functions = spec.get("functions", ())
    if "parameters" not in spec or (functions and what != "formulation"):
        what_of = ", ".join(map(repr, functions)) or "its constraints"
        raise IncompatibleError(
            f"The model's {what}, {spec['class']}, was given functions ({what_of}), which a file "
            f"does not keep: make the same one and {ask}"
        )
    return _built(spec)


def _built(spec: dict[str, Any]) -> Any:
    found = _known(spec["class"])
    if found is None:
        raise ValueError(f"there is no {spec['class']!r}")
    given = spec["parameters"].items()
    made = found(**{k: _built(v["part"]) if _is_part(v) else decode(v) for k, v in given})
    check_params(made)
    if isinstance(made, PartCosts):
        made.checked()
    return made


def _is_part(value: Any) -> bool:
    return isinstance(value, dict) and "part" in value


def _known(name: str) -> Any:
    """Return the class of this library that has a name, or had it; None if there is none."""
    current = names.RENAMED.get(name, name)
    kinds = ("structure", "wrapper", "loss", "decisions", "formulation", "nonconvex")
    for entry in names.of_kind(*kinds, "constraint", "backend"):
        if entry.name == current:
            return entry.load()
    return None


# ---------------------------------------------------------------------- what fitting found out
def _state(fitted: Parameters) -> dict[str, Any]:
    """Return the attributes that end in ``_``, of a structure and of those inside it."""
    own = {k: encode(v) for k, v in vars(fitted).items() if k.endswith("_")}
    inside = fitted.get_params(deep=False).items()
    inner = {k: _state(v) for k, v in inside if hasattr(v, "n_features_")}
    return {"attributes": own, "inside": inner}


def _refitted(structure: Any, state: dict[str, Any]) -> Any:
    fitted = copy.copy(structure)
    for name, value in state["attributes"].items():
        if not name.endswith("_"):
            raise ValueError(f"{name} is nothing that fitting sets")
        setattr(fitted, name, decode(value))
    for name, inner in state["inside"].items():
        if name not in structure.get_params(deep=False):
            raise ValueError(f"{type(structure).__name__} has no {name}")
        setattr(fitted, name, _refitted(getattr(structure, name), inner))
    check_attributes(fitted, state["attributes"])
    for name in fitted.fitted_inside:
        if not hasattr(getattr(fitted, name), "n_features_"):
            raise ValueError(f"the {name} of {type(fitted).__name__} is not fitted")
    return fitted


def _round(columns: list[str], row: Any) -> Round:
    values = dict(zip(columns, row.tolist(), strict=True))
    typed: dict[str, Any] = {
        f.name: int(values[f.name]) if f.type == "int" else values[f.name]
        for f in fields(Round)
        if f.name in NUMBERS and (f.name in values or f.default is MISSING)
    }
    return Round(**typed)
