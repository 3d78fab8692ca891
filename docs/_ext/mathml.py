r"""Formulas as MathML, which browsers draw themselves: no script, no image, nothing to load.

docutils translates the LaTeX; the font is STIX Two Math, copied from the installed package
``ziamath`` into the pages when they are built. A formula that cannot be translated is a warning.
"""

from __future__ import annotations

import re
from importlib import resources
from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.application import Sphinx
from sphinx.util import logging

_LOG = logging.getLogger(__name__)
_FONT = "STIXTwoMath-Regular.ttf"
_WRITTEN_AS = [
    (re.compile(r"\\[bB]ig(?![lrm]\b|g)"), r"\\bigl"),  # to MathML the side makes no difference
    (re.compile(r"\\dots\b"), r"\\ldots"),
    (re.compile(r"(\\[td]?frac)(\d)(\d)"), r"\1{\2}{\3}"),
]
"""What docutils does not know, and what it does."""
_BAR = re.compile(r'<mo(?: (?:stretchy="false"|class="mathopen"))*>([|‖])</mo>')
"""Of a norm or a modulus, written without a size: as high as a letter, no room on either side."""


def to_mathml(latex: str, *, block: bool) -> str:
    r"""Return a formula as a <math> element.

    >>> to_mathml(r"w \ge 0", block=False).count("<mi>w</mi>")
    1
    """
    latex = latex.strip()
    for pattern, known in _WRITTEN_AS:
        latex = pattern.sub(known, latex)
    text = re.sub(r"\n\s*", "", tex2mathml(latex, as_block=block))
    text = _BAR.sub(r'<mo stretchy="false" lspace="0" rspace="0">\1</mo>', text)
    return text.replace("&ApplyFunction;", "\u2061")


def _translated(node: nodes.Element, *, block: bool) -> str:
    try:
        return to_mathml(node.astext(), block=block)
    except MathError as error:
        _LOG.warning("formula %r: %s", node.astext(), error, location=node)
        return ""


def _inline(writer: Any, node: nodes.Element) -> None:
    writer.body.append(_translated(node, block=False))
    raise nodes.SkipNode


def _block(writer: Any, node: nodes.Element) -> None:
    # what is wider than a phone is moved sideways by itself, and the keyboard reaches it
    writer.body.append(
        f'<div class="formula" tabindex="0" role="math">{_translated(node, block=True)}</div>\n'
    )
    raise nodes.SkipNode


def _copy_font(app: Sphinx, _error: Exception | None) -> None:
    if app.builder.format == "html":
        target = Path(app.outdir) / "_static" / _FONT
        target.write_bytes((resources.files("ziamath") / "fonts" / _FONT).read_bytes())


def setup(app: Sphinx) -> dict[str, bool]:
    """Make MathML the way in which formulas are written."""
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    app.config.html_math_renderer = "mathml"
    app.connect("build-finished", _copy_font)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
