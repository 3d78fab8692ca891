"""What an oracle adds to the scores: the losses that structures take as ``loss=``."""

from typing import Any

from structopt.names import of_kind


def __getattr__(name: str) -> Any:
    for entry in of_kind("loss"):
        if entry.name == name:
            return entry.load()
    known = [entry.name for entry in of_kind("loss")]
    raise AttributeError(f"structopt.losses has no {name!r}; it has {known}.")


def __dir__() -> list[str]:
    return [entry.name for entry in of_kind("loss")]
