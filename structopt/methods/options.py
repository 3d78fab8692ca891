"""Which options a method takes."""

from __future__ import annotations

import inspect
from collections.abc import Collection
from functools import cache

from structopt.errors import IncompatibleError

_RENAMED = {
    "epochs": "'max_iter'",
    "seed": "'random_state'",
    "validation": "the callback EarlyStopping",
    "patience": "the callback EarlyStopping",
}


@cache
def own_options(method: type) -> tuple[str, ...]:
    """Return the names of what a method's constructor takes by keyword."""
    parameters = inspect.signature(method).parameters.values()
    return tuple(sorted(p.name for p in parameters if p.kind is p.KEYWORD_ONLY))


def check_taken(method: str, given: Collection[str], taken: Collection[str]) -> None:
    """Refuse options that a method does not take."""
    for name in given:
        if name not in taken:
            now = f"; that is {_RENAMED[name]} now" if name in _RENAMED else ""
            raise IncompatibleError(
                f"The method {method!r} takes no {name!r}{now}; it takes {sorted(taken)}."
            )
