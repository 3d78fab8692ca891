"""Pictures with matplotlib: ``so.draw.plane``, ``trellis``, ``bounds``, ``structure``."""

from typing import Any

from structopt.names import of_kind


def __getattr__(name: str) -> Any:
    for entry in of_kind("drawing"):
        if entry.name == name:
            return entry.load()
    known = [entry.name for entry in of_kind("drawing")]
    raise AttributeError(f"structopt.draw has no {name!r}; it has {known}.")


def __dir__() -> list[str]:
    return [entry.name for entry in of_kind("drawing")]
