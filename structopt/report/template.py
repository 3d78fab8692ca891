r"""Pages from templates: what is put into them is escaped, numbers keep their full value.

Templates stand in ``report/templates``; whatever is not :class:`markupsafe.Markup` is text there,
in content and in attributes alike.

>>> render("code.html", words="<b>")
Markup('<code>&lt;b&gt;</code>')
>>> number(0.1 + 0.2)
Markup('<data value="0.30000000000000004">0.3</data>')
"""

from __future__ import annotations

import base64
import functools
import hashlib
import math
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

import structopt
from structopt.report.draw.theme import OKABE_ITO, OKABE_ITO_DARK

FOLDER = Path(__file__).parent / "templates"
FOLDERS = (FOLDER, Path(__file__).parents[1] / "lab" / "compare" / "templates")

# Control characters are not text in HTML, whatever escaping they get.
_CONTROL = dict.fromkeys(
    [*range(0x09), 0x0B, 0x0C, *range(0x0E, 0x20), *range(0x7F, 0xA0)], "\ufffd"
)


def clean(value: Any) -> Any:
    r"""Return what a page can hold of a value: no control characters, no halves of characters.

    >>> clean("a\x00\ud800")
    'a\ufffd?'
    """
    if isinstance(value, Markup):
        return value
    return str(value).translate(_CONTROL).encode("utf-8", "replace").decode("utf-8")


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
    exact = repr(value if isinstance(value, int) else float(value))
    return Markup('<data value="{}">{}</data>').format(exact, plain_number(value, digits))


def percent(share: float) -> Markup:
    """Return a share as a percentage, its full value (not times 100) kept beside it.

    >>> percent(0.25)
    Markup('<data value="0.25">25 %</data>')
    """
    shown = plain_number(100.0 * share, 3)
    return Markup('<data value="{}">{} %</data>').format(repr(float(share)), shown)


def count(n: int, noun: str) -> str:
    """Return a number of things in words.

    >>> count(1, "round"), count(2, "round")
    ('1 round', '2 rounds')
    """
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


@functools.cache
def environment() -> jinja2.Environment:
    """Return where templates are found, and what they may call."""
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(FOLDERS),
        autoescape=True,
        finalize=clean,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"number": number, "percent": percent, "count": count, "plain": plain_number}
    made.globals |= {
        "version": structopt.__version__,
        "palette": OKABE_ITO,
        "dark_palette": OKABE_ITO_DARK,
    }
    return made


def render(name: str, /, **values: Any) -> Markup:
    """Fill in a template."""
    return Markup(environment().get_template(name).render(values))


def page(name: str, /, *, script: str = "", **values: Any) -> bytes:
    """Return a whole page that loads nothing from anywhere.

    ``script`` is the name of a file among the templates: the page's Content-Security-Policy allows
    it, by its hash, and no other.
    """
    allowed, source = "", ""
    if script:
        source, _, _ = environment().loader.get_source(environment(), script)  # type: ignore[union-attr]
        digest = base64.b64encode(hashlib.sha256(source.encode()).digest()).decode()
        allowed = f"; script-src 'sha256-{digest}'"
    policy = f"default-src 'none'; style-src 'unsafe-inline'; img-src data:{allowed}"
    return render(name, policy=policy, script=Markup(source), **values).encode()
