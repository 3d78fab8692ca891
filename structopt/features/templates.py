r"""Templates: which values of which tokens near by make a feature.

    word[0]              the word itself
    word[-2..2].lower    five templates: lower-cased words from two before to two behind
    word[0].suffix3      an attribute (see :mod:`structopt.features.attributes`)
    pos[-1]|pos[0]       a conjunction: one feature for each pair of values that occurs
    0[-1]                columns by number, where they have no names

CRF++'s template files say the same as ``U05:%x[-1,0]/%x[0,0]`` (row, column).

>>> [template.text for template in parse_templates(["word[-1..1].lower", "pos[-1]|pos[0]"])]
['word[-1].lower', 'word[0].lower', 'word[1].lower', 'pos[-1]|pos[0]']
>>> parse_crfpp("U05:%x[-1,0]/%x[0,1]").name(["the", "NN"])
'U05:the/NN'
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from structopt.datasets.text_files import at, read_lines
from structopt.errors import FileFormatError, InvalidInputError
from structopt.features.attributes import Attribute, attribute

_PART = re.compile(r"(?P<column>[^\[\]|]+)\[(?P<first>[-+]?\d+)(?:\.\.(?P<last>[-+]?\d+))?\]"
                   r"(?:\.(?P<attribute>\w+))?")  # fmt: skip
EDGE = "<edge>"
"""The value of every attribute beyond the ends of a sentence."""

_MACRO = re.compile(r"%x\[\s*(-?\d+)\s*,\s*(\d+)\s*\]")


_CONSTANT = re.compile(r"U\w*:?")
"""CRF++'s template without a macro: a feature that is always 1."""


class Part(NamedTuple):
    """An attribute of a column of the token at some distance.

    Beyond the ends of a sentence its value is :data:`EDGE`, or, as in CRF++, ``_B-1``, ``_B-2`` and
    ``_B+1``, ... by how far.
    """

    column: str | int
    distance: int
    attribute: Attribute = "word"
    numbered: bool = False

    def edge(self, beyond: int) -> str:
        """Return the value ``beyond`` tokens before (< 0) or behind (> 0) the sentence."""
        return f"_B{beyond:+d}" if self.numbered else EDGE


class Template(NamedTuple):
    """Parts whose values together make a feature; without a part, a feature that is always 1."""

    text: str
    parts: tuple[Part, ...]

    def name(self, values: Sequence[str]) -> str:
        """Return the name of the feature for some values."""
        if _MACRO.search(self.text):
            found = iter(values)
            return _MACRO.sub(lambda _: next(found), self.text)
        return f"{self.text}={'|'.join(values)}" if values else self.text


def parse_templates(templates: Sequence[str]) -> list[Template]:
    """Return templates read from their text; ranges become one template each."""
    scalar = getattr(templates, "shape", None) == () or hasattr(templates, "nnz")
    listed = isinstance(templates, Iterable) and not isinstance(templates, str) and not scalar
    if not listed or not all(isinstance(given, str) for given in templates):
        raise InvalidInputError(f"templates is {templates!r}: give a list of texts.")
    found: list[Template] = []
    for given in templates:
        if "%x[" in given or _CONSTANT.fullmatch(given):
            found.append(parse_crfpp(given))
        else:
            found += _expanded(given)
    if not found:
        raise InvalidInputError("There are no templates: give at least one, such as 'word[0]'.")
    texts = [template.text for template in found]
    if twice := sorted({text for text in texts if texts.count(text) > 1}):
        raise InvalidInputError(f"The template {twice[0]!r} is given more than once.")
    return found


def _expanded(text: str) -> list[Template]:
    """Return a conjunction, or the templates of a range of distances."""
    pieces = [piece.strip() for piece in text.split("|")]
    matches = [match for match in map(_PART.fullmatch, pieces) if match]
    ranges = any(match["last"] for match in matches)
    if len(matches) < len(pieces) or (ranges and len(pieces) > 1):
        raise InvalidInputError(
            f"{text!r} is no template: write column[distance] or column[from..to], after it "
            ".attribute if wanted, and '|' between the parts of a conjunction (without ranges)."
        )
    for match in matches:
        attribute(match["attribute"] or "word")  # refuses an unknown one
    if not ranges:
        parts = [_part(match, int(match["first"])) for match in matches]
        return [Template("|".join(pieces), tuple(parts))]
    (match,) = matches
    distances = range(int(match["first"]), int(match["last"]) + 1)
    if not distances:
        raise InvalidInputError(f"{text!r} holds no distance: the first is behind the last.")
    end = f".{match['attribute']}" if match["attribute"] else ""
    return [Template(f"{match['column']}[{d}]{end}", (_part(match, d),)) for d in distances]


def _part(match: re.Match[str], distance: int) -> Part:
    column = match["column"]
    name = int(column) if column.isdecimal() else column
    return Part(name, distance, match["attribute"] or "word")


def parse_crfpp(text: str) -> Template:
    """Return a unigram template of CRF++ such as ``U05:%x[-1,0]/%x[0,0]``."""
    parts = tuple(
        Part(int(column), int(row), numbered=True) for row, column in _MACRO.findall(text)
    )
    if "%" in _MACRO.sub("", text):
        raise InvalidInputError(f"{text!r} holds a macro other than %x[row,column].")
    return Template(text, parts)


def read_templates(path: str | os.PathLike[str]) -> list[str]:
    """Read a template file of CRF++.

    Lines beginning with ``U`` are features of a label, a line ``B`` asks for transitions, which a
    :class:`~structopt.Chain` always has; ``#`` begins a comment.

    Raises
    ------
    FileFormatError
        A line that is neither, or a ``B`` template with inputs, with file and number.
    """
    found = []
    for number, line in read_lines(path):
        text = line.strip()
        if not text or text.startswith("#"):
            continue
        if text.startswith("B"):
            if "%" in text:
                reason = (
                    f"{text!r} joins inputs to pairs of labels, which a Chain has no weights for"
                )
                raise at(path, number, f"{reason}: write it as a U template")
            continue
        if not text.startswith("U"):
            raise at(path, number, f"{text[:60]!r} begins with neither U nor B")
        try:
            parse_crfpp(text)
        except InvalidInputError as error:
            raise at(path, number, str(error)) from None
        found.append(text)
    if not found:
        raise FileFormatError(f"{os.fspath(path)} holds no template that begins with U.")
    return found
