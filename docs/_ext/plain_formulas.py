r"""Docstrings are written to be read in a terminal; here they become reStructuredText.

Outside literals, doctests, tables and directives ``|w|^2`` is no substitution and ``coef_`` no
link, and an indented formula stays as it was typed instead of becoming a quotation.
"""

from __future__ import annotations

import re

from sphinx.application import Sphinx

_LITERAL = re.compile(r"(``.+?``|:[a-z:]+:`[^`]+`|`[^`]+`_*|\*\*\w.*?\w\*\*)")
_LINK = re.compile(r"(\w)_(?=\W|$)")
_STARS = re.compile(r"(?<![\w\s*])\*(?=[\w({])|(?<=\w)\*(?=\w)|(?<=\s)\*(?=\S)")
_ITEM = re.compile(r"\s*([*+-]|\d+\.) ")
_RULE = re.compile(r"\s*=+( +=+)+\s*$")
_NAMES = {"Parameters", "Other Parameters", "Attributes", "Returns", "Yields", "Raises", "Warns"}
"""Sections in which a line that is not indented names something, in numpydoc's own way."""


def _escaped(line: str) -> str:
    item = _ITEM.match(line)
    start = item.end() if item else 0
    pieces = _LITERAL.split(line[start:])
    for k in range(0, len(pieces), 2):
        text = _LINK.sub(r"\1\\_", pieces[k].replace("|", "\\|"))
        pieces[k] = _STARS.sub(r"\\*", text)
    return line[:start] + "".join(pieces)


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip())


def readable(lines: list[str]) -> list[str]:
    r"""Return the lines of a docstring as reStructuredText that shows what was typed.

    >>> readable(["Minimise |w|^2:", "", "    w . x_i >= 1", "", "and read coef_."])
    ['Minimise \\|w\\|^2:', '', '::', '', '    w . x_i >= 1', '', 'and read coef\\_.']
    """
    out: list[str] = []
    kept: int | None = None  # the indentation of what opened a block kept as it is
    doctest = names = False
    rules = 0  # of a table, so far
    before = ""  # the last line that was not blank
    for number, line in enumerate(lines):
        under = lines[number + 1].strip() if number + 1 < len(lines) else ""
        blank = not line.strip()
        doctest = not blank and (doctest or line.lstrip().startswith(">>>"))
        if kept is not None and not blank and _depth(line) <= kept:
            kept = None
        if kept is None and _RULE.match(line):
            rules = (rules + 1) % 3
            out.append(line)
        elif blank or doctest or kept is not None or rules:
            out.append(line)
        elif under and not under.strip("-") and len(under) > 2:
            names = line.strip() in _NAMES
            out.append(line)
        elif not line.strip("- ") or (names and not _depth(line)):
            out.append(line)
        elif line.lstrip().startswith(".. ") or line.rstrip().endswith("::"):
            kept = _depth(line)
            out.append(line)
        elif (
            before
            and not out[-1].strip()
            and _depth(line) > _depth(before)
            and not _ITEM.match(before)
        ):
            kept = _depth(before)
            out += [" " * kept + "::", "", line]
        else:
            out.append(_escaped(line))
        if not blank:
            before = line
    return out


def _process(_app: Sphinx, _what: str, _name: str, _obj: object, _opts: object, lines: list[str]):
    lines[:] = readable(lines)


def setup(app: Sphinx) -> dict[str, bool]:
    """Read docstrings before numpydoc does."""
    app.connect("autodoc-process-docstring", _process, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
