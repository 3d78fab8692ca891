"""Values as JSON and back: arrays, tuples, mappings and label sets stay what they are.

>>> import numpy as np
>>> written = encode({"a": (1, None), 2: np.array([1, 2])})
>>> written
{'pairs': [['a', {'tuple': [1, None]}], [2, {'array': [1, 2], 'dtype': '<i8', 'shape': [2]}]]}
>>> decode(written)
{'a': (1, None), 2: array([1, 2])}
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from structopt.structures.base.labels import LabelSet


def encode(value: Any) -> Any:
    """Return a value as JSON; TypeError if it is not data."""
    if isinstance(value, LabelSet):
        return {"labels": [encode(v) for v in value]}
    if isinstance(value, np.ndarray) and not value.dtype.hasobject:
        shape = list(value.shape)
        return {"array": value.ravel().tolist(), "dtype": value.dtype.str, "shape": shape}
    if isinstance(value, np.generic):
        return encode(value.item())
    if isinstance(value, tuple):
        return {"tuple": [encode(v) for v in value]}
    if isinstance(value, list | range):
        return [encode(v) for v in value]
    if isinstance(value, set | frozenset):
        return {"set": [encode(v) for v in value]}
    if isinstance(value, Mapping):
        return {"pairs": [[encode(k), encode(v)] for k, v in value.items()]}
    if value is None or isinstance(value, str | bool | int | float):
        return value
    raise TypeError(f"{type(value).__name__} {value!r}")


def decode(value: Any) -> Any:
    """Return what :func:`encode` was given."""
    if isinstance(value, list):
        return [decode(v) for v in value]
    if not isinstance(value, dict):
        return value
    kind, inner = next(iter(value.items()), ("", ()))
    if kind == "array":
        dtype = np.dtype(value.get("dtype", "float64"))  # files of version 0.1 do not say
        if dtype.kind not in "biufUS":
            raise ValueError(f"an array of {dtype}")
        array = np.array(inner, dtype=dtype)
        return array.reshape(value["shape"]) if "shape" in value else array
    if kind == "pairs":
        return {decode(k): decode(v) for k, v in inner}
    if kind not in ("labels", "set", "tuple"):
        raise ValueError(f"unknown entry {kind!r}")
    made = {"labels": LabelSet, "set": frozenset, "tuple": tuple}[kind]
    return made([decode(v) for v in inner])
