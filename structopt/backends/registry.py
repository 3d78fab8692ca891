"""Backends by name, and the choice that ``backend="auto"`` makes."""

from __future__ import annotations

import copy
import logging

from structopt.backends.base import Backend
from structopt.errors import IncompatibleError, InvalidInputError
from structopt.master.declare import RestrictedMaster
from structopt.names import of_kind
from structopt.parameters import Seed, checked

logger = logging.getLogger(__name__)


def names() -> list[str]:
    """Return the names of all backends, in the order in which "auto" asks them.

    >>> names()
    ['ascent', 'proximal', 'splitting', 'highs', 'clarabel', 'osqp', 'extragradient', 'cvxpy']
    """
    return [entry.key for entry in of_kind("backend")]


@checked
def make(backend: str | Backend) -> Backend:
    """Return a fresh backend from its name, or a copy of the one given."""
    if isinstance(backend, Backend):
        return copy.copy(backend)
    for entry in of_kind("backend"):
        if entry.key == backend:
            made: Backend = entry.load()()
            return made
    raise InvalidInputError(f"Unknown backend {backend!r}; choose from {['auto', *names()]}.")


def choose(
    backend: str | Backend,
    master: RestrictedMaster,
    random_state: Seed | None = None,
    *,
    moving: bool = True,
) -> Backend:
    """Return a backend that takes the master; refuse in one sentence if the wanted one cannot.

    ``moving=False`` asks "auto" for one whose solutions are those of the master itself.
    """
    samples = master.samples()

    def takes(candidate: Backend) -> bool:
        still = moving or not candidate.moving
        return still and candidate.refusal(master.program, samples) is None

    if isinstance(backend, str) and backend == "auto":
        chosen = next(b for b in map(make, names()) if b.suits(master.program) and takes(b))
        logger.info("backend='auto' picked %r", chosen.name)
    else:
        chosen = make(backend)
        if (reason := chosen.refusal(master.program, samples)) is not None:
            takers = [name for name in names() if takes(make(name))]
            raise IncompatibleError(f"{reason} Backends that take it: {takers}.")
    if random_state is not None and "random_state" in chosen.get_params():
        chosen.set_params(random_state=random_state)
    return chosen
