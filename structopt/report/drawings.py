"""Outputs drawn down the page, so that a phone is wide enough: trees, links, paths.

What both gold and predicted have is drawn in one colour, what was missed dashed, what is wrong in
another.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import networkx as nx
import numpy as np
from markupsafe import Markup

from structopt.report.svg import INK, TEXT, inline_svg, new_figure
from structopt.report.template import clean, count
from structopt.structures.base.sketch import Arcs, Links, Path

WIDTH, STEP = 340, 26
MOST_STEPS = 90  # lines of a drawing; longer outputs are shown as text
_RIGHT = {"color": INK["s0"], "linewidth": 2.0}
_MISSED = {"color": INK["s4"], "linewidth": 2.0, "linestyle": (0, (3, 2))}
_WRONG = {"color": INK["s1"], "linewidth": 2.4}
KEY = (("right", 0, False), ("missed", 4, True), ("wrong", 1, False))
"""Of each of them the name, the number of its colour, and whether it is dashed."""


def draw_arcs(ident: str, gold: Arcs, predicted: Arcs) -> Markup:
    """Draw words below one another, gold arcs on their left and predicted ones on their right."""
    n = len(gold.heads)
    figure, ax = _canvas(n + 2)
    names = ["root", *_words(gold.words, n)]
    ax.text(0.28, -0.9, "gold", ha="right", **_ink("soft"))
    ax.text(0.72, -0.9, "predicted", ha="left", **_ink("soft"))
    for t, name in enumerate(names):
        ax.text(0.5, t, name, ha="center", va="center", **_ink("text" if t else "soft"))
    far = max([abs(h - m) for s in (gold, predicted) for m, h in enumerate(s.heads, 1)] or [1])
    for m, (truth, given) in enumerate(zip(gold.heads, predicted.heads, strict=True), 1):
        same = truth == given
        if truth >= 0:
            _bow(ax, 0.34, -1, truth, m, far, _RIGHT if same else _MISSED)
        _bow(ax, 0.66, 1, given, m, far, _RIGHT if same else _WRONG)
    ax.set_ylim(n + 0.6, -1.4)
    wrong = sum(a != b for a, b in zip(gold.heads, predicted.heads, strict=True))
    heads = ", ".join(f"{names[m]} under {names[h]}" for m, h in enumerate(predicted.heads, 1))
    said = f"{wrong} of {count(n, 'head')} wrong. Predicted: {heads}."
    return inline_svg(figure, ident, title="Tree, gold beside predicted", description=said)


def draw_links(ident: str, gold: Links, predicted: Links) -> Markup:
    """Draw two columns of words and the links between them."""
    lines = max(len(gold.left), len(gold.right), 1)
    figure, ax = _canvas(lines)
    left, right = (_words(side, len(side)) for side in (gold.left, gold.right))
    for x, side, words in ((0.36, "right", left), (0.64, "left", right)):
        for k, word in enumerate(words):
            ax.text(x, k, word, ha=side, va="center", **_ink("text"))
    for pairs, look in (
        (gold.pairs & predicted.pairs, _RIGHT),
        (gold.pairs - predicted.pairs, _MISSED),
        (predicted.pairs - gold.pairs, _WRONG),
    ):
        for i, j in sorted(pairs):
            ax.plot([0.38, 0.62], [i, j], **look)
    ax.set_ylim(lines - 0.4, -0.6)
    said = "; ".join(
        f"{what}: " + (", ".join(f"{left[i]} with {right[j]}" for i, j in sorted(pairs)) or "none")
        for what, pairs in (
            ("right", gold.pairs & predicted.pairs),
            ("missed", gold.pairs - predicted.pairs),
            ("wrong", predicted.pairs - gold.pairs),
        )
    )
    return inline_svg(figure, ident, title="Links, gold against predicted", description=said)


def draw_path(ident: str, gold: Path, predicted: Path) -> Markup:
    """Draw the graph from its source down to its sink, both paths in it."""
    every = {(a, b): word for a, b, word in (*gold.steps, *predicted.steps)}
    others = [(a, b) for a, b, _ in (*gold.others, *predicted.others) if (a, b) not in every]
    graph = nx.DiGraph([*every, *(others if len(others) <= 2 * MOST_STEPS else [])])
    places, depth = _layers(graph)
    figure, ax = _canvas(2 * depth + 1)
    for a, b in others:
        if a in places and b in places:
            ax.plot(*_ends(places, a, b), color=INK["line"], linewidth=1.4, zorder=0)
    mine, given = ({(a, b) for a, b, _ in s.steps} for s in (gold, predicted))
    for (a, b), word in every.items():
        both = (a, b) in mine and (a, b) in given
        look = _RIGHT if both else _MISSED if (a, b) in mine else _WRONG
        (x0, x1), (y0, y1) = _ends(places, a, b)
        ax.plot([x0, x1], [y0, y1], **look)
        if word is not None:
            ax.text((x0 + x1) / 2 + 0.015, (y0 + y1) / 2, _short(word), va="center", **_ink("text"))
    for x, y in places.values():
        ax.plot(x, y, "o", markersize=6, color=INK["soft"])
    ax.set_ylim(2 * depth + 0.5, -0.5)
    said = "; ".join(
        f"{what}: " + " ".join(str(word) for _, _, word in s.steps if word is not None)
        for what, s in (("gold", gold), ("predicted", predicted))
    )
    return inline_svg(figure, ident, title="Paths, gold against predicted", description=said)


def fits(n: int) -> bool:
    """Whether a drawing of n lines is one that can be looked at."""
    return 0 < n <= MOST_STEPS


# ---------------------------------------------------------------------- inside
def _canvas(lines: float) -> tuple[Any, Any]:
    figure = new_figure(WIDTH, STEP * lines + 10)
    ax = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    ax.set_axis_off()
    ax.set_xlim(0.0, 1.0)
    return figure, ax


def _bow(ax: Any, x: float, side: int, head: int, word: int, far: int, look: Any) -> None:
    """Draw half an ellipse from a head to a word, with a point at the word."""
    turn = np.linspace(0.0, np.pi, 24)
    wide = 0.05 + 0.27 * (abs(head - word) / far) ** 0.7
    # arcs leave a little beside where others arrive
    start = head + 0.15 * np.sign(word - head)
    rows = start + (word - start) * (1.0 - np.cos(turn)) / 2.0
    ax.plot(x + side * wide * np.sin(turn), rows, **look)
    ax.plot(x, word, marker=">" if side < 0 else "<", markersize=6, color=look["color"])


def _layers(graph: Any) -> tuple[dict[Hashable, tuple[float, float]], int]:
    """Return where nodes stand: below all that lead to them, those of a layer side by side."""
    depth: dict[Hashable, int] = {}
    ordered: Iterable[Any] = (
        nx.topological_sort(graph) if nx.is_directed_acyclic_graph(graph) else list(graph)
    )
    for node in ordered:
        depth[node] = 1 + max((depth.get(a, -1) for a in graph.predecessors(node)), default=-1)
    layers: dict[int, list[Hashable]] = {}
    for node, level in depth.items():
        layers.setdefault(level, []).append(node)
    places = {
        node: ((k + 1) / (len(layer) + 1), 2.0 * level)
        for level, layer in layers.items()
        for k, node in enumerate(layer)
    }
    return places, max(layers, default=0)


def _ends(places: Any, a: Hashable, b: Hashable) -> tuple[list[float], list[float]]:
    (x0, y0), (x1, y1) = places[a], places[b]
    return [x0, x1], [y0, y1]


def _words(words: Sequence[Any] | None, n: int) -> list[str]:
    return [_short(word) for word in (range(1, n + 1) if words is None else words)]


def _short(word: Any, most: int = 14) -> str:
    line = " ".join(clean(word).split())
    return line if len(line) <= most else line[: most - 1] + "…"


def _ink(name: str) -> dict[str, Any]:
    return {"color": INK[name], "fontsize": TEXT, "parse_math": False}
