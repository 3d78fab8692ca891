r"""What an output looks like: a few kinds of pictures, in words that any page or plot can draw.

A structure says which one its outputs are (`Structure.sketch`); reports draw it. Each kind says in
:meth:`Sketch.claims` what an output claims, where, so that gold and predicted can be compared:

    right = claims(gold) and claims(predicted) in common.

>>> Row(("B", "O"), ("Rome", "is")).claims()
{0: 'B', 1: 'O'}
>>> Boxes(((0, 2, "NP"),), ("the", "dog")).claims()
{(0, 2): 'NP'}
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from structopt.errors import InvalidInputError

_WORD_KEYS = ("word", "form", "token", "text", "w", "w[0]", "word.lower()", "lower")


class Sketch:
    """Base of the kinds."""

    def claims(self) -> Mapping[Hashable, Any]:
        """Return the label that the output gives to each place."""
        raise NotImplementedError


@dataclass(frozen=True)
class Row(Sketch):
    """A label for each part: sequences, vectors, nodes.

    ``parts`` are words or images (arrays of two dimensions); ``depths`` say how deep in a tree each
    stands.
    """

    labels: tuple[Any, ...]
    parts: Sequence[Any] | None = None
    depths: tuple[int, ...] | None = None

    def claims(self) -> Mapping[Hashable, Any]:
        """Return the label at each position; nothing where it is unknown."""
        return {t: label for t, label in enumerate(self.labels) if label is not None}


@dataclass(frozen=True)
class Grid(Sketch):
    """A label for each cell of a grid, and the image that lies below it."""

    labels: tuple[tuple[Any, ...], ...]
    image: Any = None

    def claims(self) -> Mapping[Hashable, Any]:
        """Return the label of each cell."""
        return {(i, j): k for i, row in enumerate(self.labels) for j, k in enumerate(row)}


@dataclass(frozen=True)
class Arcs(Sketch):
    """A head for each word, 0 for the root; words count from 1."""

    heads: tuple[int, ...]
    words: Sequence[Any] | None = None

    def claims(self) -> Mapping[Hashable, Any]:
        """Return each arc, and on which side and how far away the head is."""
        arcs = ((head, m) for m, head in enumerate(self.heads, 1) if head >= 0)
        return {(head, m): _direction(head, m) for head, m in arcs}


@dataclass(frozen=True)
class Links(Sketch):
    """Pairs between the words of two sides, counted from 0."""

    pairs: frozenset[tuple[int, int]]
    left: Sequence[Any]
    right: Sequence[Any]

    def claims(self) -> Mapping[Hashable, Any]:
        """Return which pairs are linked."""
        return dict.fromkeys(self.pairs, "linked")


@dataclass(frozen=True)
class Boxes(Sketch):
    """Labelled spans ``(start, stop, label)`` of words, side by side or one inside the other."""

    spans: tuple[tuple[int, int, Any], ...]
    words: Sequence[Any]

    def claims(self) -> Mapping[Hashable, Any]:
        """Return the label of each span; of several over the same words the n-th is ``(*, n)``."""
        found: dict[Hashable, Any] = {}
        seen: Counter[tuple[int, int]] = Counter()
        for start, stop, label in self.spans:
            place = (start, stop)
            found[(*place, seen[place]) if seen[place] else place] = label
            seen[place] += 1
        return found


@dataclass(frozen=True)
class Path(Sketch):
    """A path: ``steps`` are (from, to, word), ``others`` those that it could have taken."""

    steps: tuple[tuple[Hashable, Hashable, Any], ...]
    others: tuple[tuple[Hashable, Hashable, Any], ...] = ()

    def claims(self) -> Mapping[Hashable, Any]:
        """Return the words of the edges that are taken."""
        return {(a, b): "edge" if word is None else word for a, b, word in self.steps}


@dataclass(frozen=True)
class Order(Sketch):
    """Items, the best first; ``names`` and ``grades`` (how good each is) are of items 0, 1, ..."""

    items: tuple[int, ...]
    names: Sequence[Any] | None = None
    grades: Sequence[Any] | None = None

    def claims(self) -> Mapping[Hashable, Any]:
        """Return nothing: a rank says nothing without the others."""
        return {}


@dataclass(frozen=True)
class Bag(Sketch):
    """A set of items."""

    items: tuple[Hashable, ...]

    def claims(self) -> Mapping[Hashable, Any]:
        """Return the items that are in."""
        return {item: item for item in self.items}


@dataclass(frozen=True)
class Plain(Sketch):
    """Anything else, as text."""

    text: str

    def claims(self) -> Mapping[Hashable, Any]:
        """Return the text itself."""
        return {0: self.text}


def plain_sketch(x: Any, y: Any, shown: Any = None) -> Sketch:
    """Return a row of labels where an output is a sequence, else its text.

    >>> plain_sketch(["the", "dog"], ["D", "N"])
    Row(labels=('D', 'N'), parts=['the', 'dog'], depths=None)
    """
    if isinstance(y, Mapping):
        return Row(tuple(y.values()), [str(key) for key in y])
    array = isinstance(y, np.ndarray)
    if isinstance(y, list | tuple) or (array and y.ndim == 1):
        labels = tuple(y.tolist() if array else y)
        own = _words(x) if shown is None else None  # the input may have parts of another kind
        read = own is not None and len(own) == len(labels) and all(isinstance(w, str) for w in own)
        mine = own if read else None
        return Row(labels, mine if shown is None else parts_of(shown, len(labels)))
    return Plain(str(y))


def graph_sketch(
    labels: Sequence[Any], names: Sequence[Any] | None, shape: tuple[int, ...], shown: Any = None
) -> Sketch:
    """Return the labels of a graph's nodes: a grid if its nodes are one, else a row.

    Nodes are a grid if their names are pairs (row, column) that fill it, or if they are numbered
    row by row and there are as many as ``shape`` has cells.

    >>> graph_sketch("abab", [(0, 0), (0, 1), (1, 0), (1, 1)], ())
    Grid(labels=(('a', 'b'), ('a', 'b')), image=None)
    >>> graph_sketch("ab", ["x", "y"], ())
    Row(labels=('a', 'b'), parts=['x', 'y'], depths=None)
    """
    places = list(names) if names is not None else []
    if places and all(_is_cell(place) for place in places):
        rows, columns = (1 + max(place[k] for place in places) for k in (0, 1))
        if len(set(places)) == rows * columns == len(places):
            at = dict(zip(places, labels, strict=True))
            return Grid(tuple(tuple(at[i, j] for j in range(columns)) for i in range(rows)), shown)
    if len(shape) == 2 and shape[0] * shape[1] == len(labels) and names is None:
        rows, columns = shape
        cut = (tuple(labels[i * columns : (i + 1) * columns]) for i in range(rows))
        return Grid(tuple(cut), shown)
    parts = parts_of(shown, len(labels))
    return Row(tuple(labels), parts or (None if names is None else [str(name) for name in names]))


def parts_of(shown: Any, n: int) -> Sequence[Any] | None:
    """Return the words or images to show of an input with n parts; None if it has neither.

    >>> parts_of(["a", "b"], 2), parts_of([{"word": "a"}], 1), parts_of([[1.0, 0.0]], 1)
    (['a', 'b'], ['a'], None)

    Raises
    ------
    InvalidInputError
        There are not n of them.
    """
    parts = getattr(shown, "forms", shown)
    parts = _words(parts) if parts is not None else None
    if parts is not None and len(parts) != n:
        raise InvalidInputError(
            f"What is shown of an input has {len(parts)} parts, but its output has {n}: give a "
            "word or an image for each."
        )
    return parts


def _words(parts: Any) -> Sequence[Any] | None:
    if isinstance(parts, np.ndarray):
        if parts.dtype.kind in "fiub":
            return list(parts) if len(parts) and _is_image(parts[0]) else None
        words = parts.ndim == 1 and parts.dtype.kind in "UO"
        return [str(word) for word in parts] if words else None
    if isinstance(parts, str) or not isinstance(parts, Sequence):
        return None
    found = [_word(part) for part in parts]
    return None if any(word is None for word in found) else found


def _word(part: Any) -> Any:
    if isinstance(part, str) or _is_image(part):
        return part
    if isinstance(part, Mapping):
        word = next((part[key] for key in _WORD_KEYS if key in part), None)
        return word if isinstance(word, str) else None
    text = getattr(part, "text", None)
    if isinstance(text, str):
        return text
    return part[0] if isinstance(part, tuple) and part and isinstance(part[0], str) else None


def _is_image(part: Any) -> bool:
    """Whether it is an array (rows, columns), or with three or four colours a pixel."""
    shape: tuple[int, ...] = part.shape if isinstance(part, np.ndarray) else ()
    return len(shape) == 2 or (len(shape) == 3 and shape[2] in (3, 4))


def _is_cell(place: Any) -> bool:
    pair = isinstance(place, tuple) and len(place) == 2
    return pair and all(isinstance(k, int | np.integer) and k >= 0 for k in place)


def _direction(head: int, word: int) -> str:
    if head == 0:
        return "root"
    side, far = ("left" if head < word else "right"), abs(head - word)
    return f"{side}, {far if far < 5 else '5+'}"
