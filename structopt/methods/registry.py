"""Methods by name, imported when they are asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from structopt.errors import InvalidInputError
from structopt.names import of_kind
from structopt.parameters import checked

if TYPE_CHECKING:
    from structopt.methods.method import Method


def names() -> list[str]:
    """Return the names of all methods.

    >>> names()
    ['cutting-plane', 'frank-wolfe', 'block-ascent', 'subgradient', 'extragradient', 'bregman',
     'compact', 'em', 'perceptron', 'mira']
    """
    return [entry.key for entry in of_kind("method")]


@checked
def make(name: str) -> type[Method]:
    """Return the class of a method from its name; "auto" is the first of the list.

    >>> make("auto").name, make("perceptron").name
    ('cutting-plane', 'perceptron')
    """
    for entry in of_kind("method", "outer"):
        if name in (entry.key, "auto"):
            found: type[Method] = entry.load()
            return found
    known = ["auto", *names(), "outer"]
    raise InvalidInputError(f"Unknown method {name!r}; choose from {known}.")


def is_online(name: str) -> bool:
    """Whether a method learns one example at a time; nothing is imported to know it.

    >>> is_online("mira"), is_online("auto")
    (True, False)
    """
    online = [entry.key for entry in of_kind("method") if entry.home.startswith("methods.online.")]
    return name in online
