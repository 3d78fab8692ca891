"""Methods by name, imported when they are asked for."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from structopt.errors import InvalidInputError

if TYPE_CHECKING:
    from structopt.methods.base import Method

_HOME = {
    "cutting-plane": ("cutting_plane", "CuttingPlane"),
    "frank-wolfe": ("frank_wolfe", "FrankWolfe"),
    "subgradient": ("subgradient", "Subgradient"),
    "extragradient": ("extragradient", "Extragradient"),
    "bregman": ("bregman", "Bregman"),
    "compact": ("compact", "Compact"),
    "em": ("em", "EM"),
    "perceptron": ("perceptron", "Perceptron"),
    "mira": ("mira", "MIRA"),
}
AUTO = "cutting-plane"
"""What "auto" stands for: the only one that takes every formulation."""


def names() -> list[str]:
    """Return the names of all methods.

    >>> names()
    ['cutting-plane', 'frank-wolfe', 'subgradient', 'extragradient', 'bregman', 'compact', 'em',
     'perceptron', 'mira']
    """
    return list(_HOME)


def make(name: str) -> type[Method]:
    """Return the class of a method from its name.

    >>> make("auto").name, make("perceptron").name
    ('cutting-plane', 'perceptron')
    """
    wanted = AUTO if name == "auto" else name
    if wanted not in _HOME:
        raise InvalidInputError(f"Unknown method {name!r}; choose from {['auto', *_HOME]}.")
    module, cls = _HOME[wanted]
    found: type[Method] = getattr(importlib.import_module(f"structopt.methods.{module}"), cls)
    return found
