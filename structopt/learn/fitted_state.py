"""What fitting found out, as a file says it: every attribute is there, and is what its class says.

A file whose digest is right may still have been written by somebody else. The attributes that end
in ``_`` are annotated in the classes that have them; what is missing, of another name or of another
type is refused when the file is read, not when the model is asked.

>>> import structopt as so
>>> fitted = so.Multiclass().fitted([[1.0], [2.0]], ["a", "b"])
>>> check_attributes(fitted, vars(fitted))
>>> fitted.n_inputs_ = "two"
>>> check_attributes(fitted, vars(fitted))
Traceback (most recent call last):
...
ValueError: Multiclass has n_inputs_ = 'two', which is not int
"""

from __future__ import annotations

import types
import typing
from collections.abc import Iterable
from typing import Any

import numpy as np


def check_attributes(fitted: Any, named: Iterable[str]) -> None:
    """Raise ValueError if fitted attributes are missing, unknown or not of their type.

    Parameters
    ----------
    fitted : object
        A structure or features.
    named : strings
        The attributes that came from outside.
    """
    who, hints = type(fitted).__name__, typing.get_type_hints(type(fitted))
    wanted = {name: hint for name, hint in hints.items() if name.endswith("_")}
    for name in named:
        # a class of a user's need not annotate, but nothing takes the place of a method
        if name.endswith("_") and (
            name.startswith("_") or callable(getattr(type(fitted), name, 0))
        ):
            raise ValueError(f"{name} is nothing that fitting sets")
    for name, hint in wanted.items():
        if not hasattr(fitted, name):
            raise ValueError(f"{who} has no {name}")
        if not fits(getattr(fitted, name), hint):
            shown = repr(getattr(fitted, name))[:60]
            said = getattr(hint, "__name__", None) or str(hint)
            raise ValueError(f"{who} has {name} = {shown}, which is not {said}")
    labels, rates = getattr(fitted, "labels_", None), getattr(fitted, "class_weight_", None)
    if labels is not None and rates is not None and rates.shape != (len(labels),):
        raise ValueError(f"{who} has {len(labels)} labels and class_weight_ = {repr(rates)[:60]}")


def fits(value: Any, hint: Any) -> bool:
    """Return whether a value is of an annotation's type, with all that it contains.

    >>> fits((1, "a"), tuple[int, str]), fits(np.ones(2), np.typing.NDArray[np.int64])
    (True, False)
    """
    origin, inside = typing.get_origin(hint), typing.get_args(hint)
    if hint is Any:
        return True
    if origin in (typing.Union, types.UnionType):
        return any(fits(value, part) for part in inside)
    if origin is typing.Literal:
        return isinstance(value, str) and value in inside
    if origin is np.ndarray:
        kinds = {np.dtype(kind).kind for kind in typing.get_args(inside[1])}
        return isinstance(value, np.ndarray) and value.dtype.kind in kinds
    if origin is tuple and inside[-1] is not ...:
        same = isinstance(value, tuple) and len(value) == len(inside)
        return same and all(map(fits, value, inside))
    if origin is dict:
        key, of = inside
        return isinstance(value, dict) and all(
            fits(k, key) and fits(v, of) for k, v in value.items()
        )
    if origin in (list, tuple):
        return isinstance(value, origin) and all(fits(part, inside[0]) for part in value)
    if hint is int:  # numbers of things
        return isinstance(value, int) and not isinstance(value, bool) and value >= 0
    return isinstance(value, origin or hint)
