"""Callbacks that look at the run itself, and what they look at."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

from structopt.arrays import Floats
from structopt.run.events import Round

if TYPE_CHECKING:
    from structopt.methods.method import Method


class Iterate(NamedTuple):
    """Weights, the objective there, and the violation of the formulation's own constraints."""

    weights: Floats
    value: float
    residual: float = 0.0


@runtime_checkable
class Watcher(Protocol):
    """A callback that looks at the run itself, and may say which weights it returns."""

    def start(self, method: Method) -> None:
        """Hear of a run that begins; ``method.iterate()`` is where each round leads."""

    def kept(self) -> tuple[Iterate, str] | None:
        """Return what the run returns, and a note for its certificate.

        That is for a run that this callback stopped, or that no callback stops; None leaves it be.
        """

    def __call__(self, record: Round) -> bool | None:
        """Hear of a round; True stops the run."""
