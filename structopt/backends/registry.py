"""Backends by name, and the choice that ``backend="auto"`` makes."""

from __future__ import annotations

import copy
import importlib
import logging
from typing import TYPE_CHECKING

from structopt.backends.base import Backend
from structopt.errors import IncompatibleError, InvalidInputError

if TYPE_CHECKING:
    from structopt.master import RestrictedMaster

logger = logging.getLogger(__name__)

_HOME = {
    "ascent": ("ascent", "Ascent"),
    "proximal": ("proximal", "Proximal"),
    "highs": ("highs", "HiGHS"),
    "clarabel": ("clarabel", "Clarabel"),
    "osqp": ("osqp", "OSQP"),
    "extragradient": ("extragradient", "Extragradient"),
    "cvxpy": ("reference", "CVXPY"),
}
# the order in which "auto" asks: each is the fastest that takes what the ones before refuse
_PREFERENCE = ("ascent", "proximal", "highs", "clarabel", "cvxpy")


def names() -> list[str]:
    """Return the names of all backends.

    >>> names()
    ['ascent', 'proximal', 'highs', 'clarabel', 'osqp', 'extragradient', 'cvxpy']
    """
    return list(_HOME)


def make(backend: str | Backend) -> Backend:
    """Return a fresh backend from its name, or a copy of the one given."""
    if isinstance(backend, Backend):
        return copy.copy(backend)
    if backend not in _HOME:
        raise InvalidInputError(f"Unknown backend {backend!r}; choose from {['auto', *_HOME]}.")
    module, name = _HOME[backend]
    made: Backend = getattr(importlib.import_module(f"structopt.backends.{module}"), name)()
    return made


def choose(backend: str | Backend, master: RestrictedMaster, seed: int | None = None) -> Backend:
    """Return a backend that takes the master; refuse in one sentence if the wanted one cannot."""
    samples = master.samples()
    takers = [n for n in _HOME if make(n).refusal(master.program, samples) is None]
    if isinstance(backend, str) and backend == "auto":
        chosen = make(next(n for n in _PREFERENCE if n in takers))
        logger.info("backend='auto' picked %r", chosen.name)
    else:
        chosen = make(backend)
        if (reason := chosen.refusal(master.program, samples)) is not None:
            raise IncompatibleError(f"{reason} Backends that take it: {takers}.")
    if seed is not None and "seed" in chosen.get_params():
        chosen.set_params(seed=seed)
    return chosen
