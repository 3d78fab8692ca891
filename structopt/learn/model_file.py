"""Models on disk: arrays and JSON, nothing that could run when it is read.

The file names the structure and the formulation by class and parameters. Those of this library are
found by name; a class of the user's own is never imported from a file's word: hand an instance to
:func:`load_model` instead.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from structopt.errors import FileFormatError, IncompatibleError, InvalidInputError
from structopt.files import read_arrays, write_arrays
from structopt.formulations.adaptive_m3n import AdaptiveM3N
from structopt.formulations.base import Formulation
from structopt.formulations.l1_ball_m3n import L1BallM3N
from structopt.formulations.l1_m3n import L1M3N
from structopt.formulations.laplace_m3n import LaplaceM3N
from structopt.formulations.lp_struct import LPStruct
from structopt.formulations.m3n import M3N
from structopt.formulations.struct_rmm import StructRMM
from structopt.formulations.struct_svm import StructSVM
from structopt.parameters import Parameters
from structopt.run.certificate import Certificate
from structopt.run.events import Round
from structopt.run.result import Rescue, Result
from structopt.structures.arborescence.structure import Arborescence
from structopt.structures.base.labels import LabelSet
from structopt.structures.base.structure import Structure
from structopt.structures.chain.structure import Chain
from structopt.structures.cut.structure import GraphCut
from structopt.structures.hierarchy.structure import Hierarchy
from structopt.structures.label_vector.structure import LabelVector
from structopt.structures.lattice.structure import Lattice
from structopt.structures.losses import Hamming, PartCosts
from structopt.structures.markov_net.structure import MarkovNet
from structopt.structures.matching.structure import Matching
from structopt.structures.multiclass.structure import Multiclass

if TYPE_CHECKING:
    from structopt.learn.estimator import StructuredClassifier

_KIND = "structopt model 1"
_STRUCTURES = {
    cls.__name__: cls
    for cls in (
        Arborescence,
        Chain,
        GraphCut,
        Hierarchy,
        LabelVector,
        Lattice,
        MarkovNet,
        Matching,
        Multiclass,
    )
}
_FORMULATIONS = {
    cls.__name__: cls
    for cls in (AdaptiveM3N, L1BallM3N, L1M3N, LaplaceM3N, LPStruct, M3N, StructRMM, StructSVM)
}


def save_model(model: StructuredClassifier, path: str | os.PathLike[str]) -> None:
    """Write a fitted model; see :func:`load_model`."""
    try:
        header = _header(model)
    except TypeError as error:
        raise InvalidInputError(
            f"The model's labels or parameters cannot be written as JSON ({error}); use strings, "
            "numbers, booleans, None or tuples of these."
        ) from error
    result = model.result_
    write_arrays(path, header, {"weights": result.weights, "history": _table(result.history)})


def _header(model: StructuredClassifier) -> dict[str, Any]:
    result = model.result_
    return {
        "kind": _KIND,
        "structure": _described(model.structure, _STRUCTURES),
        "fitted": {k: _encode(v) for k, v in vars(model.structure_).items() if k.endswith("_")},
        "formulation": _described(model.formulation, _FORMULATIONS),
        "settings": {"tol": model.tol, "max_iter": model.max_iter},
        "certificate": vars(result.certificate),
        "status": result.status,
        "seconds": result.seconds,
        "backend": result.backend,
        "method": result.method,
        "finisher": result.finisher,
        "rescued": result.rescued,
        "rounds": list(Round.__dataclass_fields__),
    }


def load_model(
    path: str | os.PathLike[str],
    *,
    structure: Structure | None = None,
    formulation: Formulation | None = None,
) -> StructuredClassifier:
    """Read a model that ``model.save(path)`` wrote.

    Parameters
    ----------
    path : path
    structure, formulation : optional
        Instances of your own classes, if the model was trained with such.
    """
    from structopt.learn.estimator import StructuredClassifier

    header, arrays = read_arrays(path, _KIND)
    try:
        spec = _restored(header["structure"], _STRUCTURES, structure, "structure")
        aim = _restored(header["formulation"], _FORMULATIONS, formulation, "formulation")
        weights = np.asarray(arrays["weights"], dtype=np.float64)
        rounds = tuple(
            Round(**dict(zip(header["rounds"], _plain(row), strict=True)))
            for row in arrays["history"]
        )
        certificate = Certificate(**header["certificate"])
        fitted = copy.copy(spec)
        for name, value in header["fitted"].items():
            setattr(fitted, name, _decode(value))
        if weights.shape != (fitted.n_features_,) or not np.all(np.isfinite(weights)):
            raise ValueError(f"{weights.shape} weights for {fitted.n_features_} features")
        model = StructuredClassifier(spec, aim, **header["settings"])
        model.structure_ = fitted
        model.result_ = Result(
            weights=weights,
            certificate=certificate,
            history=rounds,
            status=header["status"],
            seconds=float(header["seconds"]),
            backend=header["backend"],
            method=header["method"],
            finisher=header["finisher"],
            rescued=tuple(Rescue(*row) for row in header["rescued"]),
        )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        if isinstance(error, IncompatibleError):
            raise
        raise FileFormatError(f"{os.fspath(path)} is damaged: {error}") from error
    return model


def _described(part: Parameters, known: dict[str, Any]) -> dict[str, Any]:
    name = type(part).__name__
    if known.get(name) is not type(part):
        return {"class": name, "own": True}
    parameters = part.get_params()
    return {
        "class": name,
        "own": False,
        # functions (constraints on weights) matter for training only
        "parameters": {k: _encode(v) for k, v in parameters.items() if not callable(v)},
    }


def _restored(spec: dict[str, Any], known: dict[str, Any], given: Any, what: str) -> Any:
    if given is not None:
        return given
    if spec["own"]:
        raise IncompatibleError(
            f"The model was trained with a {what} of your own, {spec['class']!r}: pass an instance "
            f"as load_model(path, {what}=...)."
        )
    return known[spec["class"]](**{k: _decode(v) for k, v in spec["parameters"].items()})


def _encode(value: Any) -> Any:
    """Return a value as JSON that tells arrays, tuples, mappings and label sets apart."""
    if isinstance(value, LabelSet):
        return {"labels": [_encode(v) for v in value]}
    if isinstance(value, Hamming | PartCosts):
        return {"loss": [type(value).__name__, _encode(value.get_params())]}
    if isinstance(value, np.ndarray):
        return {"array": value.tolist()}
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, tuple):
        return {"tuple": [_encode(v) for v in value]}
    if isinstance(value, list):
        return [_encode(v) for v in value]
    if isinstance(value, Mapping):
        return {"pairs": [[_encode(k), _encode(v)] for k, v in value.items()]}
    if value is None or isinstance(value, str | bool | int | float):
        return value
    raise TypeError(f"{type(value).__name__} {value!r}")


def _decode(value: Any) -> Any:
    if isinstance(value, list):
        return [_decode(v) for v in value]
    if not isinstance(value, dict):
        return value
    (kind, inner), *rest = value.items()
    if rest or kind not in ("labels", "array", "tuple", "pairs", "loss"):
        raise ValueError(f"unknown entry {kind!r}")
    if kind == "array":
        return np.array(inner, dtype=np.float64)
    if kind == "pairs":
        return {_decode(k): _decode(v) for k, v in inner}
    decoded = [_decode(v) for v in inner]
    if kind == "loss":
        return {"Hamming": Hamming, "PartCosts": PartCosts}[decoded[0]](**decoded[1])
    return LabelSet(decoded) if kind == "labels" else tuple(decoded)


def _table(history: tuple[Round, ...]) -> Any:
    fields = list(Round.__dataclass_fields__)
    table = np.array([[float(getattr(r, f)) for f in fields] for r in history])
    return table.reshape(-1, len(fields))


def _plain(row: Any) -> list[Any]:
    types = [f.type for f in Round.__dataclass_fields__.values()]
    return [int(v) if t == "int" else float(v) for v, t in zip(row, types, strict=True)]
