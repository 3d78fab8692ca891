"""Decisions: the sets that costs are minimised over, public as ``so.decisions``."""

from typing import Any

from structopt.names import of_kind


def __getattr__(name: str) -> Any:
    for entry in of_kind("decisions"):
        if entry.name == name:
            return entry.load()
    known = [entry.name for entry in of_kind("decisions")]
    raise AttributeError(f"structopt.decisions has no {name!r}; it has {known}.")


def __dir__() -> list[str]:
    return [entry.name for entry in of_kind("decisions")]
