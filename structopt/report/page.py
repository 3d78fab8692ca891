"""The pieces of a page: escaped text, numbers that keep their value, tables, and the frame.

Pieces are :class:`Markup`, and take nothing else for content, so that a type checker sees what was
not escaped.

>>> text("<b>")
'&lt;b&gt;'
>>> number(0.1 + 0.2)
'<data value="0.30000000000000004">0.3</data>'
"""

from __future__ import annotations

import html
import math
from collections.abc import Container, Iterable, Sequence
from typing import NewType

import structopt
from structopt.report.draw.theme import STYLE

Markup = NewType("Markup", str)
"""HTML. Whoever makes one of an f-string sees to it that what stands in the braces is one too."""
NOTHING = Markup("")

# Control characters are not text in HTML, whatever escaping they get.
_CONTROL = dict.fromkeys(
    [*range(0x09), 0x0B, 0x0C, *range(0x0E, 0x20), *range(0x7F, 0xA0)], "\ufffd"
)


def text(value: object) -> Markup:
    """Return anything as HTML text that is safe in content and in quoted attributes."""
    plain = str(value).translate(_CONTROL).encode("utf-8", "replace").decode("utf-8")
    return Markup(html.escape(plain, quote=True))


def join(pieces: Iterable[Markup], between: str = "") -> Markup:
    """Return pieces one after the other."""
    return Markup(between.join(pieces))


def paragraph(content: Markup, kind: str = "") -> Markup:
    """Return a paragraph of a class of the style sheet."""
    return Markup(f'<p class="{kind}">{content}</p>' if kind else f"<p>{content}</p>")


def details(summary: str, *content: Markup) -> Markup:
    """Return what is folded away under a summary, which is text."""
    inside = join(content)
    return Markup(f"<details><summary>{text(summary)}</summary>{inside}</details>")


def plain_number(value: float, digits: int = 6) -> str:
    """Return a number as short text.

    >>> plain_number(-1e-7), plain_number(float("-inf")), plain_number(12345678.0, 3)
    ('-1e-07', '-∞', '12345678')
    """
    value = float(value)
    if math.isnan(value):
        return "undefined"
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    if value.is_integer() and abs(value) < 1e9:
        return str(int(value))
    return f"{value:.{digits}g}"


def number(value: float, digits: int = 6) -> Markup:
    """Return a number as short text in an element that carries its full value."""
    exact = value if isinstance(value, int) else float(value)
    return Markup(f'<data value="{exact!r}">{plain_number(value, digits)}</data>')


def percent(share: float) -> Markup:
    """Return a share as a percentage, its full value (not times 100) kept beside it.

    >>> percent(0.25)
    '<data value="0.25">25 %</data>'
    """
    return Markup(f'<data value="{float(share)!r}">{plain_number(100.0 * share, 3)} %</data>')


def facts(pairs: Iterable[tuple[str, Markup]]) -> Markup:
    """Return a list of named values; names are text."""
    rows = "".join(f"<div><dt>{text(name)}</dt><dd>{value}</dd></div>" for name, value in pairs)
    return Markup(f'<dl class="facts">{rows}</dl>')


def table(
    head: Sequence[str],
    rows: Iterable[Sequence[Markup]],
    *,
    caption: str,
    words: Container[int] = (),
    ident: str = "",
) -> Markup:
    """Return a scrolling table.

    Parameters
    ----------
    head : sequence of str
        Column names, as text.
    rows : iterable of sequences of Markup
        Cells. The first of each row is the row's header.
    caption : str
        What the table shows, as text.
    words : container of int
        Columns that hold words and not numbers: these begin at the left.
    ident : str
        Id of the table's body, for scripts.
    """

    def cell(tag: str, column: int, content: Markup, scope: str = "") -> str:
        side = ' class="name"' if column in words else ""
        return f"<{tag}{scope}{side}>{content}</{tag}>"

    top = "".join(cell("th", j, text(name), ' scope="col"') for j, name in enumerate(head))
    body = "".join(
        "<tr>"
        + cell("th", 0, row[0], ' scope="row"')
        + "".join(cell("td", j, value) for j, value in enumerate(row[1:], start=1))
        + "</tr>\n"
        for row in rows
    )
    name = f' id="{ident}"' if ident else ""
    # A region that scrolls must be reachable by keyboard, hence the tab stop and the name.
    return Markup(
        f'<div class="scroll" role="region" tabindex="0" aria-label="{text(caption)}">'
        f"<table><caption>{text(caption)}</caption><thead><tr>{top}</tr></thead>\n"
        f"<tbody{name}>{body}</tbody></table></div>"
    )


def section(title: str, *content: Markup) -> Markup:
    """Return a titled part of a page; the title is text."""
    return Markup(f"<section><h2>{text(title)}</h2>\n{join(content)}</section>\n")


def page(
    title: str,
    *content: Markup,
    script: str = "",
    policy: str = "default-src 'none'; style-src 'unsafe-inline'",
) -> bytes:
    """Return a whole page that loads nothing from anywhere.

    `policy` is its Content-Security-Policy; if there is a script, it must allow that one.
    """
    run = f"<script>{script}</script>\n" if script else ""
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<title>{text(title)}</title>
<style>{STYLE}</style>
</head>
<body>
<main>
<h1>{text(title)}</h1>
{join(content)}</main>
<footer>structopt {text(structopt.__version__)}. Bounds are recomputed from the data, not taken from
the solver.</footer>
{run}</body>
</html>
""".encode()
