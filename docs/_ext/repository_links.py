"""Pages link to files of the repository, as they must to be read there; here to pages."""

from __future__ import annotations

import os
import re
from pathlib import Path

from sphinx.application import Sphinx

_RULES = [
    (re.compile(r"\]\((?:\.\./)+(CONTRIBUTING|CHANGELOG)\.md"), lambda m: f"](/{m[1].lower()}.md"),
    (re.compile(r"\]\((?:\.\./)+examples/(plot_\w+)\.py\)"), r"](/auto_examples/\1.rst)"),
    (re.compile(r"\]\((?:\.\./)+README\.md"), "](/index.md"),
]
_RELATIVE = re.compile(r"\]\((?![a-z]+:|[/#])([^)#\s]+)")


def to_pages(text: str) -> str:
    """Return Markdown whose links to files outside docs/ lead to pages.

    >>> to_pages("[how](../CONTRIBUTING.md), [a figure](../examples/plot_spiral.py)")
    '[how](/contributing.md), [a figure](/auto_examples/plot_spiral.rst)'
    """
    for pattern, target in _RULES:
        text = pattern.sub(target, text)
    return text


def from_root(text: str, folder: str) -> str:
    """Return Markdown of a folder (below docs/) whose links hold wherever it is included.

    >>> from_root("[one](two.md#three), [other](../README.md)", "results")
    '[one](/results/two.md#three), [other](/README.md)'
    """

    def absolute(link: re.Match[str]) -> str:
        place = os.path.normpath(Path(folder) / link[1])
        return f"]({place}" if place.startswith("..") else f"](/{place}"

    return _RELATIVE.sub(absolute, text)


def _include(_app: Sphinx, path: Path, _parent: str, source: list[str]) -> None:
    source[0] = to_pages(from_root(source[0], str(path.parent)))


def _read(_app: Sphinx, _docname: str, source: list[str]) -> None:
    source[0] = to_pages(source[0])


def setup(app: Sphinx) -> dict[str, bool]:
    """Translate every page as it is read, and every part of one that another includes."""
    app.connect("source-read", _read)
    app.connect("include-read", _include)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
