"""Attributes of a word: itself, its ends, its shape, yes-or-no questions about its spelling.

>>> attribute("suffix3")("walked"), attribute("shape")("McDonald-2005"), attribute("digit")("B2")
('ked', 'XxXx-d', 'yes')
"""

from __future__ import annotations

import re
from collections.abc import Callable

from structopt.errors import InvalidInputError

Attribute = str | Callable[[str], str]
"""A name of :data:`ATTRIBUTES`, ``prefixN``, ``suffixN``, or a function of your own."""

_RUNS = re.compile(r"(.)\1+")


def _shape(word: str) -> str:
    """Return the word with letters and digits replaced by their kind, runs cut short."""
    kinds = "".join(
        "X" if c.isupper() else "x" if c.islower() else "d" if c.isdigit() else c for c in word
    )
    return _RUNS.sub(r"\1", kinds)


ATTRIBUTES: dict[str, Callable[[str], str]] = {
    "word": lambda word: word,
    "lower": str.lower,
    "shape": _shape,
    "capital": lambda word: "yes" if word[:1].isupper() else "no",
    "all_capitals": lambda word: "yes" if word.isupper() else "no",
    "capital_inside": lambda word: "yes" if any(c.isupper() for c in word[1:]) else "no",
    "digit": lambda word: "yes" if any(c.isdigit() for c in word) else "no",
    "hyphen": lambda word: "yes" if "-" in word else "no",
    "period": lambda word: "yes" if word.endswith(".") else "no",
    "punctuation": lambda word: "no" if any(c.isalnum() for c in word) else "yes",
}
"""Attributes by name; ``prefix1``, ``suffix3`` and the like are made as they are asked for."""

SPELLING = (
    "word", "capital", "all_capitals", "capital_inside", "digit", "hyphen", "period", "punctuation",
    "prefix1", "prefix2", "prefix3", "suffix1", "suffix2", "suffix3",
)  # fmt: skip
"""Word identity and spelling, after Altun, Tsochantaridis and Hofmann (2003)."""


def attribute(name: Attribute) -> Callable[[str], str]:
    """Return the function of an attribute."""
    if callable(name):
        return name
    if isinstance(name, str) and name in ATTRIBUTES:
        return ATTRIBUTES[name]
    found = re.fullmatch(r"(prefix|suffix)([1-9]\d*)", str(name))
    if found is None:
        known = [*ATTRIBUTES, "prefixN", "suffixN"]
        raise InvalidInputError(f"Unknown attribute {name!r}; choose from {known}.")
    n = int(found[2])
    return (lambda word: word[:n]) if found[1] == "prefix" else (lambda word: word[-n:])
