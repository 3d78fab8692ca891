"""Fitted features in a model file: parameters as JSON, vocabularies and tables as arrays.

>>> from structopt.features.words import WordFeatures
>>> arrays = {}
>>> spec = written(WordFeatures().fit([["the", "cat"]]), arrays)
>>> read(spec, arrays).get_feature_names_out().tolist()
['word[0]=cat', 'word[0]=the']
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from structopt import names
from structopt.errors import IncompatibleError
from structopt.features.rows import FeatureTransformer
from structopt.features.vocabulary import Vocabulary
from structopt.learn.fitted_state import check_attributes
from structopt.learn.plain import decode, encode

Arrays = dict[str, NDArray[Any]]


def written(features: Any, arrays: Arrays) -> dict[str, Any]:
    """Return fitted features as JSON; arrays are added to ``arrays``.

    Raises
    ------
    IncompatibleError
        They hold functions or classes of others, which no file without code can keep.
    """
    name = type(features).__name__
    if not isinstance(features, FeatureTransformer) or _known(name) is not type(features):
        raise IncompatibleError(
            f"Features of the class {name} are not kept by a file that runs no code when it is "
            "read: pickle the model, or use so.ColumnFeatures, so.DictFeatures or so.WordFeatures."
        )
    state = {k: v for k, v in vars(features).items() if k.endswith("_")}
    given = {k: v for k, v in features.get_params(deep=False).items() if f"{k}_" not in state}
    try:
        fitted = {k: _stored(v, arrays) for k, v in state.items()}
        return {"class": name, "parameters": encode(given), "fitted": fitted}
    except TypeError as error:
        raise IncompatibleError(
            f"{name} was given what a file does not keep ({error}): pickle the model."
        ) from error


def read(spec: dict[str, Any], arrays: Arrays) -> Any:
    """Return what :func:`written` was given."""
    found = _known(spec["class"])
    if found is None or not issubclass(found, FeatureTransformer):
        raise ValueError(f"there are no features {spec['class']!r}")
    fitted = {name: _restored(value, arrays) for name, value in spec["fitted"].items()}
    inner = {"transformers": fitted["transformers_"]} if "transformers_" in fitted else {}
    features = found(**decode(spec["parameters"]), **inner)
    for name, value in fitted.items():
        if not name.endswith("_"):
            raise ValueError(f"{name} is nothing that fitting sets")
        setattr(features, name, value)
    check_attributes(features, fitted)
    features.check_fitted()
    return features


def _known(name: str) -> Any:
    return next((e.load() for e in names.of_kind("features") if e.name == name), None)


def _stored(value: Any, arrays: Arrays) -> Any:
    if isinstance(value, np.ndarray):
        key = f"features{len(arrays)}"
        arrays[key] = value
        return {"stored": key}
    if isinstance(value, Vocabulary):
        return {"vocabulary": [_stored(value.letters, arrays), _stored(value.ends, arrays)]}
    if isinstance(value, FeatureTransformer):
        return {"features": written(value, arrays)}
    if isinstance(value, list):
        return {"list": [_stored(v, arrays) for v in value]}
    if isinstance(value, dict):
        return {"map": [[encode(k), _stored(v, arrays)] for k, v in value.items()]}
    return {"plain": encode(value)}


def _restored(value: dict[str, Any], arrays: Arrays) -> Any:
    ((kind, inner),) = value.items()
    if kind == "stored":
        return arrays[inner]
    if kind == "vocabulary":
        letters, ends = (_restored(v, arrays) for v in inner)
        vocabulary = Vocabulary(letters, ends)
        vocabulary.check()
        return vocabulary
    if kind == "features":
        return read(inner, arrays)
    if kind == "list":
        return [_restored(v, arrays) for v in inner]
    if kind == "map":
        return {decode(k): _restored(v, arrays) for k, v in inner}
    if kind != "plain":
        raise ValueError(f"unknown entry {kind!r}")
    return decode(inner)
