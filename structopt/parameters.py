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

import inspect
from typing import Any, Self

from structopt.errors import InvalidInputError


class Parameters:
    """Constructor arguments stored under their own names, as scikit-learn expects them."""

    @classmethod
    def _parameter_names(cls) -> list[str]:
        if cls.__init__ is object.__init__:
            return []
        signature = inspect.signature(cls)
        return [
            p.name
            for p in signature.parameters.values()
            if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
        ]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the constructor's arguments as they stand now."""
        return {name: getattr(self, name) for name in self._parameter_names()}

    def set_params(self, **params: Any) -> Self:
        """Change constructor arguments in place; an unknown name is refused."""
        known = self._parameter_names()
        for name, value in params.items():
            if name not in known:
                raise InvalidInputError(
                    f"{type(self).__name__} has no parameter {name!r}; it has {known}."
                )
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        inner = ", ".join(f"{k}={v!r}" for k, v in self.get_params().items())
        return f"{type(self).__name__}({inner})"
