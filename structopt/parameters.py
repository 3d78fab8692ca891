"""Objects that are described by their constructor's arguments.

Structures, formulations and backends share this: parameters can be listed, changed and compared,
which is what lets a grid search write ``formulation__C``.

>>> class Ball(Parameters):
...     def __init__(self, radius=1.0):
...         self.radius = radius
>>> Ball(2.0), Ball().set_params(radius=3.0).get_params()
(Ball(radius=2.0), {'radius': 3.0})
"""

from __future__ import annotations

import functools
import inspect
import math
import numbers
import os
import sys
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal, NamedTuple, Self, TypeVar

from structopt.errors import InvalidInputError

_F = TypeVar("_F", bound=Callable[..., Any])


class Parameters:
    """Constructor arguments stored under their own names, as scikit-learn expects them."""

    _stored: ClassVar[Mapping[str, str]] = {}
    """Arguments that are stored under another name, since their own is that of a method."""
    _moved: ClassVar[Mapping[str, str]] = {}
    """Arguments of earlier versions, and what to write now."""

    checked_in: ClassVar[str | None] = None
    """The method that looks at the arguments first, whoever overrides it."""

    def __init_subclass__(cls) -> None:
        """Let the method that takes the arguments up refuse those that are none."""
        if cls.checked_in is not None and cls.checked_in in vars(cls):
            setattr(cls, cls.checked_in, _checking(vars(cls)[cls.checked_in]))

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        """Refuse an argument that is spelled another way now."""
        for name in kwargs:
            cls._check_name(name)
        return super().__new__(cls)

    @classmethod
    def _parameter_names(cls) -> list[str]:
        return [] if cls.__init__ is object.__init__ else _named(cls)  # type: ignore[arg-type]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the constructor's arguments as they stand now."""
        stored = self._stored
        return {n: getattr(self, stored.get(n, n)) for n in self._parameter_names()}

    def set_params(self, **params: Any) -> Self:
        """Change constructor arguments in place; an unknown name is refused."""
        known = self._parameter_names()
        for name, value in params.items():
            self._check_name(name)
            if name not in known:
                raise InvalidInputError(
                    f"{type(self).__name__} has no parameter {name!r}; it has {known}."
                )
            setattr(self, self._stored.get(name, name), value)
        return self

    @classmethod
    def _check_name(cls, name: str) -> None:
        if name in cls._moved and name not in cls._parameter_names():
            raise InvalidInputError(f"{cls.__name__}({name}=...) is now {cls._moved[name]}.")

    def __repr__(self) -> str:
        inner = ", ".join(f"{k}={v!r}" for k, v in self.get_params(deep=False).items())
        return f"{type(self).__name__}({inner})"


@functools.cache
def _named(cls: type) -> list[str]:
    """Return the names of a constructor's arguments."""
    parameters = inspect.signature(cls).parameters.values()
    return [p.name for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]


# ---------------------------------------------------------------------- arguments of simple types
_LARGE = 2**62  # more than any array can hold, and what 64 bits can


class Range(NamedTuple):
    """Numbers from ``low`` on, ``low`` itself only if ``closed``, up to ``high``."""

    low: float
    closed: bool = True
    high: float = sys.float_info.max

    def __contains__(self, value: object) -> bool:
        number = typing.cast(float, value)
        return (number >= self.low if self.closed else number > self.low) and number <= self.high

    def __str__(self) -> str:
        least = f"{'>=' if self.closed else '>'} {self.low:g}"
        if math.isinf(self.high):
            return f"{least}, or infinite"
        return least if self.high >= _LARGE else f"{least} and <= {self.high:g}"


Count = Annotated[int, Range(1, high=_LARGE)]
Natural = Annotated[int, Range(0, high=_LARGE)]
Seed = Natural
Positive = Annotated[float, Range(0, closed=False)]
PositiveOrInfinite = Annotated[float, Range(0, closed=False, high=math.inf)]
NonNegative = Annotated[float, Range(0)]
Share = Annotated[float, Range(0, high=1)]
PositiveShare = Annotated[float, Range(0, closed=False, high=1)]


def checked(function: _F) -> _F:
    """Let a function refuse arguments that are not what its annotations say, by name.

    Looked at are numbers and their ranges, text, paths, booleans, None, literals and classes of
    this library; everything else passes.

    >>> @checked
    ... def draw(n_examples: Count = 3, *, seed: Seed | None = 0) -> int:
    ...     return n_examples
    >>> draw(n_examples=0)
    Traceback (most recent call last):
    ...
    structopt.errors.InvalidInputError: n_examples must be an integer >= 1; got 0 (draw).
    """
    signature = inspect.signature(function)

    @functools.wraps(function)
    def careful(*args: Any, **kwargs: Any) -> Any:
        given = signature.bind(*args, **kwargs).arguments
        check_annotated(function, given, function.__qualname__.removesuffix(".__init__"))
        return function(*args, **kwargs)

    return typing.cast(_F, careful)


def _checking(method: _F) -> _F:
    @functools.wraps(method)
    def careful(self: Any, *args: Any, **kwargs: Any) -> Any:
        check_params(self)
        return method(self, *args, **kwargs)

    return typing.cast(_F, careful)


def check_params(described: Any) -> None:
    """Refuse what an object was given that is not what its constructor's annotations say."""
    kind = type(described)
    check_annotated(kind.__init__, described.get_params(deep=False), kind.__name__)


def check_annotated(function: Callable[..., Any], values: Mapping[str, Any], who: str) -> None:
    """Refuse values of arguments that do not fit a function's annotations."""
    kinds = _kinds(function)
    for name, value in values.items():
        wanted = kinds.get(name)
        if wanted is not None and not any(kind.takes(value) for kind in wanted):
            said = " or ".join(str(kind) for kind in wanted)
            raise InvalidInputError(f"{name} must be {said}; got {_shown(value)} ({who}).")


class _Kind(NamedTuple):
    """One simple type, or one value of a literal, that an argument may be."""

    what: Any
    within: Range | None = None

    def takes(self, value: Any) -> bool:
        return self._is_one(value) and (self.within is None or value in self.within)

    def _is_one(self, value: Any) -> bool:
        if isinstance(self.what, type) and self.what not in _WORDS:
            return isinstance(value, self.what)
        if self.what not in _WORDS:
            return isinstance(value, type(self.what)) and bool(value == self.what)
        if self.what is bool:
            return type(value).__name__ in ("bool", "bool_")  # numpy's, too
        if isinstance(value, bool) and self.what in (int, float):
            return False
        if self.what is int:
            return isinstance(value, numbers.Integral)
        if self.what is Callable:
            return callable(value)
        if self.what is Sequence:  # arrays and frames' columns too
            listed = hasattr(value, "__len__") and hasattr(value, "__getitem__")
            return listed and not isinstance(value, Mapping | type) and not _is_scalar(value)
        if self.what is float:
            return isinstance(value, numbers.Real) and not math.isnan(_as_float(value))
        return isinstance(value, self.what)

    def __str__(self) -> str:
        ours = f"a {getattr(self.what, '__name__', '')}"
        word = _WORDS.get(self.what, ours if isinstance(self.what, type) else repr(self.what))
        if self.within is None:
            return word
        finite = self.what is float and self.within.high < math.inf
        return f"{'a finite number' if finite else word} {self.within}"


_WORDS: dict[Any, str] = {
    int: "an integer",
    float: "a number",
    bool: "True or False",
    str: "text",
    os.PathLike: "a path",
    Callable: "a function",
    Sequence: "a list",
    Mapping: "a mapping",
    type(None): "None",
}


@functools.cache
def _kinds(function: Any) -> dict[str, tuple[_Kind, ...]]:
    """Return, for each argument of simple types, what it may be."""
    found = {}
    for name, hint in getattr(function, "__annotations__", {}).items():
        try:
            parts = _parts(eval(hint, function.__globals__) if isinstance(hint, str) else hint)
        except NameError:  # a name that only type checkers see
            continue
        if name != "return" and parts is not None:
            found[name] = parts
    return found


def _parts(hint: Any) -> tuple[_Kind, ...] | None:
    """Return the simple types and values that an annotation allows; None if it allows others."""
    origin = typing.get_origin(hint)
    if origin is Literal:
        return tuple(_Kind(value) for value in typing.get_args(hint))
    if origin in (typing.Union, types.UnionType):
        each = [_parts(part) for part in typing.get_args(hint)]
        return None if None in each else tuple(kind for part in each for kind in part or ())
    if origin is Annotated:
        plain, within = typing.get_args(hint)[:2]
        return (_Kind(plain, within),)
    plain = origin or hint
    return (_Kind(plain),) if plain in _WORDS or _is_ours(plain) else None


def _is_ours(kind: Any) -> bool:
    """Return whether an annotation is a class of this library that objects must be of.

    Losses need not: who has their methods is one, and structures look for those.
    """
    module = getattr(kind, "__module__", None) or ""
    by_methods = getattr(kind, "_is_protocol", False) or ".losses." in module
    return isinstance(kind, type) and module.startswith("structopt.") and not by_methods


def _is_scalar(value: Any) -> bool:
    return getattr(value, "shape", None) == () or hasattr(value, "nnz")  # a sparse matrix is none


def _as_float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.nan  # an integer beyond all floats


def _shown(value: Any, most: int = 60) -> str:
    text = repr(value)
    return text if len(text) <= most else f"{text[:most]}..."
