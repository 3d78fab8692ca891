r"""Gold beside predicted, as the picture that the structure's outputs are.

One function a kind of :class:`~structopt.structures.base.sketch.Sketch`, found by its type, turns
two sketches into what the macro of that name in ``templates/pictures.html`` takes; whatever has
none, or cannot be compared, is shown as text.

>>> from structopt.structures.base.sketch import Row
>>> picture = picture_of("e0", Row(("B", "O")), Row(("B", "B")), {"B": 0, "O": 1})
>>> picture.kind, [part.wrong for part in picture.parts]
('row', [False, True])
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from markupsafe import Markup

from structopt.report.drawings import KEY, draw_arcs, draw_links, draw_path, fits
from structopt.report.images import image, label_map
from structopt.report.template import clean, plain_number
from structopt.structures.base.sketch import (
    Arcs,
    Bag,
    Boxes,
    Grid,
    Links,
    Order,
    Path,
    Plain,
    Row,
    Sketch,
)

MOST_PARTS = 150  # of one output; what follows is left out, and that is said

Codes = Mapping[Hashable, int]
"""The number of each label's colour."""


class Part(NamedTuple):
    """A part with its labels: its word or image, how deep it stands, and the labels' colours."""

    shown: str | Markup | None
    depth: int
    gold: str
    predicted: str
    colour: int
    wrong: bool


class Box(NamedTuple):
    """A labelled span: words and further boxes inside."""

    label: str
    colour: int
    wrong: bool
    inside: list[Any]


class Picture(NamedTuple):
    """What a macro takes: its name, and what that kind needs."""

    kind: str
    parts: Sequence[Any] = ()
    gold: Any = ""
    predicted: Any = ""
    svg: Markup | None = None
    key: Sequence[Any] = ()
    left_out: int = 0

    @property
    def wide(self) -> bool:
        """Whether it takes a line of its own."""
        return self.kind in ("boxes", "plain", "outline") or len(self.parts) > 14

    @property
    def legend(self) -> str:
        """How to read it."""
        return _LEGENDS.get(self.kind, "")


def picture_of(ident: str, gold: Sketch, predicted: Sketch, codes: Codes) -> Picture:
    """Return two sketches as a picture; ``ident`` is the prefix of ids inside."""
    for kind in type(gold).__mro__:
        if kind in _KINDS and isinstance(predicted, kind):
            found = _KINDS[kind](ident, gold, predicted, codes)
            if found is not None:
                return found
    return Picture("plain", gold=_text(gold), predicted=_text(predicted))


_TAGS = (
    "Below each part stands its gold label, and ✗ with what was predicted where that is another."
)
_LEGENDS = {
    "row": _TAGS,
    "outline": "Beside each node stands its gold label, and ✗ with what was predicted instead.",
    "boxes": "Boxes marked ✗ are not among the gold ones.",
    "order": "Marked items stand where gold has others; in brackets their relevance.",
    "bag": "Of each label whether it is right, missed or wrong.",
}


# ---------------------------------------------------------------------- one function a kind
def _row(ident: str, gold: Row, predicted: Row, codes: Codes) -> Picture | None:
    n = len(gold.labels)
    if len(predicted.labels) != n:
        return None
    parts, depths = gold.parts or [None] * n, gold.depths or (0,) * n
    shown = []
    for t in range(min(n, MOST_PARTS)):
        label, other = _label(gold.labels[t]), clean(predicted.labels[t])
        wrong = gold.labels[t] is not None and label != other
        part = _part(parts[t], f"part {t + 1}, gold {label}, predicted {other}")
        colour = codes.get(str(gold.labels[t]), 0)
        shown.append(Part(part, min(depths[t], 12), label, other, colour, wrong))
    kind = "row" if gold.depths is None else "outline"
    return Picture(kind, shown, left_out=n - len(shown))


def _grid(ident: str, gold: Grid, predicted: Grid, codes: Codes) -> Picture | None:
    shapes = [(len(g.labels), len(g.labels[0]) if g.labels else 0) for g in (gold, predicted)]
    if shapes[0] != shapes[1] or 0 in shapes[0]:
        return None
    pairs = zip(gold.labels, predicted.labels, strict=True)
    wrong = [[str(a) != str(b) for a, b in zip(r, s, strict=True)] for r, s in pairs]
    maps = [
        ("gold", label_map(gold.labels, codes, alt="gold labels")),
        ("predicted", label_map(predicted.labels, codes, alt="predicted labels")),
        ("wrong", image(wrong, alt=f"{np.sum(wrong)} wrong cells", limits=(0, 1))),
    ]
    if gold.image is not None and np.ndim(gold.image) in (2, 3):
        maps.insert(0, ("input", image(gold.image, alt="the input", colours="gray")))
    names = dict.fromkeys(str(k) for g in (gold, predicted) for row in g.labels for k in row)
    return Picture("grid", maps, key=[(clean(k), codes.get(k, 0)) for k in names][:20])


def _arcs(ident: str, gold: Arcs, predicted: Arcs, codes: Codes) -> Picture | None:
    if len(gold.heads) != len(predicted.heads) or not fits(len(gold.heads)):
        return None
    return Picture("drawing", svg=draw_arcs(ident, gold, predicted), key=KEY)


def _links(ident: str, gold: Links, predicted: Links, codes: Codes) -> Picture | None:
    if not fits(max(len(gold.left), len(gold.right))):
        return None
    return Picture("drawing", svg=draw_links(ident, gold, predicted), key=KEY)


def _path(ident: str, gold: Path, predicted: Path, codes: Codes) -> Picture | None:
    if not fits(len(gold.steps) + len(predicted.steps)):
        return None
    return Picture("drawing", svg=draw_path(ident, gold, predicted), key=KEY)


def _boxes(ident: str, gold: Boxes, predicted: Boxes, codes: Codes) -> Picture | None:
    if len(gold.words) > MOST_PARTS:
        return None
    known = set(gold.claims().items())
    drawn = [_nested(s, known, codes) for s in (gold, predicted)]
    return Picture("boxes", gold=drawn[0], predicted=drawn[1])


def _order(ident: str, gold: Order, predicted: Order, codes: Codes) -> Picture | None:
    best = [gold.grades[k] if gold.grades else k for k in gold.items]
    lists = [
        [(_item(s, k), (s.grades[k] if s.grades else k) != wanted)
         for k, wanted in zip(s.items, best, strict=False)]
        for s in (gold, predicted)
    ]  # fmt: skip
    return Picture("order", gold=lists[0][:MOST_PARTS], predicted=lists[1][:MOST_PARTS],
                   left_out=max(0, len(gold.items) - MOST_PARTS))  # fmt: skip


def _bag(ident: str, gold: Bag, predicted: Bag, codes: Codes) -> Picture | None:
    every = list(dict.fromkeys([*gold.items, *predicted.items]))
    states = [
        ("right" if k in predicted.items else "missed") if k in gold.items else "wrong"
        for k in every
    ]
    named = [(clean(k), codes.get(str(k), 0), s) for k, s in zip(every, states, strict=True)]
    return Picture("bag", named[:MOST_PARTS], left_out=max(0, len(named) - MOST_PARTS))


_KINDS: dict[type[Sketch], Callable[[str, Any, Any, Codes], Picture | None]] = {
    Row: _row,
    Grid: _grid,
    Arcs: _arcs,
    Links: _links,
    Path: _path,
    Boxes: _boxes,
    Order: _order,
    Bag: _bag,
}


# ---------------------------------------------------------------------- inside
def _part(part: Any, alt: str) -> str | Markup | None:
    if isinstance(part, np.ndarray):
        return image(part, alt=alt)
    return None if part is None else clean(part)


def _label(label: Any) -> str:
    return "?" if label is None else str(clean(label))


def _item(order: Order, item: Any) -> str:
    name = clean(item if order.names is None else order.names[item])
    return name if order.grades is None else f"{name} ({plain_number(order.grades[item])})"


def _nested(sketch: Boxes, known: Any, codes: Codes) -> list[Any]:
    """Return words and boxes, one inside the other; a box that gold has not is wrong."""
    claims = sketch.claims()
    # outer boxes first; of boxes over the same words those that were named first
    order = sorted(claims, key=lambda place: (place[0], -place[1], place[2:]))  # type: ignore[index]
    top: list[Any] = []
    open_: list[tuple[int, list[Any]]] = [(len(sketch.words), top)]
    waiting = list(order)
    for t, word in enumerate(sketch.words):
        while len(open_) > 1 and open_[-1][0] <= t:
            open_.pop()
        while waiting and waiting[0][0] == t:  # type: ignore[index]
            place = waiting.pop(0)
            label = claims[place]
            box = Box(_label(label), codes.get(str(label), 0), (place, label) not in known, [])
            open_[-1][1].append(box)
            open_.append((place[1], box.inside))  # type: ignore[index]
        open_[-1][1].append(clean(word))
    return top


def _text(sketch: Sketch) -> str:
    """Return a sketch in words."""
    if isinstance(sketch, Plain):
        return _cut(clean(sketch.text))
    if isinstance(sketch, Row):
        return _cut(" ".join(map(clean, sketch.labels)))
    if isinstance(sketch, Path):
        words = [word for _, _, word in sketch.steps]
        return _cut(" ".join(clean(w) for w in words if w is not None) or clean(sketch.steps))
    if isinstance(sketch, Arcs):
        return _cut(" ".join(map(str, sketch.heads)))
    if isinstance(sketch, Links):
        return _cut(", ".join(f"{i}-{j}" for i, j in sorted(sketch.pairs)))
    if isinstance(sketch, Boxes):
        return _cut(", ".join(f"{a}-{b} {clean(k)}" for a, b, k in sketch.spans))
    return _cut(clean(sketch))


def _cut(words: str, most: int = 2000) -> str:
    return (
        words if len(words) <= most else f"{words[:most]} … and {len(words) - most} more characters"
    )
