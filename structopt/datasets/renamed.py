"""Old names of arguments: an error that says the new one.

>>> @renamed(part="split")
... def load(split="train"):
...     return split
>>> load("test")
'test'
>>> load(part="test")
Traceback (most recent call last):
structopt.errors.InvalidInputError: load(part=...) is now load(split=...).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

from structopt.errors import InvalidInputError

P = ParamSpec("P")
R = TypeVar("R")


def renamed(**names: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Let a function refuse old names of its arguments, each given with its new one."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(function)
        def called(*args: P.args, **kwargs: P.kwargs) -> R:
            for old in names.keys() & kwargs.keys():
                name, new = function.__name__, names[old]
                raise InvalidInputError(f"{name}({old}=...) is now {name}({new}=...).")
            return function(*args, **kwargs)

        return called

    return decorate
