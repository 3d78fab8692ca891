r"""Drawings of matplotlib as part of a page: coloured by its style sheet, with words for readers.

Text stays text; colours of the light theme become the style sheet's variables, so that a drawing
follows the page's theme; idents get a prefix, as several drawings stand on one page.

>>> figure = new_figure(200, 100)
>>> _ = figure.add_axes((0, 0, 1, 1)).plot([0, 1], [0, 1], color=INK["s0"])
>>> drawing = inline_svg(figure, "a", title="A <line>", description="It rises.")
>>> "var(--s0)" in drawing, "A &lt;line&gt;" in drawing, 'id="a-t"' in drawing
(True, True, True)
"""

from __future__ import annotations

import io
import re
import warnings
from typing import Any
from xml.etree import ElementTree

from markupsafe import Markup

from structopt.report.draw.theme import OKABE_ITO
from structopt.report.template import clean

INK = {
    "text": "#1b1f24",
    "soft": "#57606a",
    "line": "#d5dae0",
    "card": "#f6f7f9",
    "warn": "#8a4500",
    "good": "#0b6b4f",
} | {f"s{i}": colour for i, colour in enumerate(OKABE_ITO)}
"""Colours of the light theme, by the name of the style sheet's variable."""

TEXT = 15.0
"""Size of text in the units of a drawing, which are at least a pixel on a phone."""

_SVG = "{http://www.w3.org/2000/svg}"
_LINK = "{http://www.w3.org/1999/xlink}"
_COLOUR = re.compile("#[0-9a-f]{6}")
_VARIABLE = {colour: f"var(--{name})" for name, colour in INK.items()}


def new_figure(width: float, height: float) -> Any:
    """Return an empty figure of a size in pixels that touches no global state."""
    from matplotlib.figure import Figure

    return Figure(figsize=(width / 72.0, height / 72.0))


def inline_svg(figure: Any, ident: str, *, title: str, description: str = "") -> Markup:
    """Return a figure as an ``<svg>`` element.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
    ident : str
        Prefix of the ids inside; must be unique on the page.
    title, description : str
        What it shows, for those who do not see it.
    """
    import matplotlib as mpl

    buffer = io.StringIO()
    looks = {"svg.fonttype": "none", "svg.hashsalt": ident, "axes.unicode_minus": False}
    with mpl.rc_context(looks), warnings.catch_warnings():
        # only the reader's own fonts matter, text stays text
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        figure.savefig(buffer, format="svg", transparent=True, dpi=72, metadata={"Date": None})
    root = ElementTree.fromstring(buffer.getvalue())
    for extra in root.findall(f"{_SVG}metadata"):
        root.remove(extra)
    for element in root.iter():
        # HTML knows what an <svg> holds: names need no space there
        element.tag = element.tag.removeprefix(_SVG)
        old, element.attrib = element.attrib, {}
        for name, value in old.items():
            element.set(name.removeprefix(_LINK), _adapted(name, value, ident))
    box = root.get("viewBox", "")
    root.attrib.clear()
    root.attrib |= {"viewBox": box, "role": "img", "aria-labelledby": f"{ident}-t {ident}-d"}
    for place, (tag, words) in enumerate((("title", title), ("desc", description))):
        element = ElementTree.Element(tag, {"id": f"{ident}-{tag[0]}"})
        element.text = clean(words)
        root.insert(place, element)
    return Markup(ElementTree.tostring(root, encoding="unicode", short_empty_elements=False))


def _adapted(name: str, value: str, ident: str) -> str:
    if name == "id":
        return f"{ident}-{value}"
    if name == f"{_LINK}href":
        return f"#{ident}-{value[1:]}"
    if name in ("style", "clip-path", "fill", "stroke"):
        value = value.replace("url(#", f"url(#{ident}-")
        return _COLOUR.sub(lambda found: _VARIABLE.get(found[0], found[0]), value)
    return value
