"""Labelled graphs: cuts (two labels, edges cut where they differ) and hierarchies."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np

from structopt.arrays import Floats
from structopt.report.draw.canvas import (
    BLUE,
    FAINT,
    GREEN,
    GREY,
    ORANGE,
    PINK,
    RED,
    SKY,
    axes,
    bare,
    short,
)
from structopt.structures.cut.inputs import read_graph
from structopt.structures.hierarchy.inputs import as_tree

_LABELS = (SKY, ORANGE, GREEN, PINK, BLUE, GREY)  # red is what is wrong
_BIG = 100  # nodes from which names would hide the picture


def draw_cut(x: Any, y: Any, y_hat: Any, *, words: Any = None, ax: Any = None) -> Any:
    """Draw nodes in the colour of their labels; edges between different labels are dashed."""
    graph = read_graph(x, None, None)
    n = graph.node_features.shape[0]
    gold = _labels(y, graph.names)
    found = gold if y_hat is None else _labels(y_hat, graph.names)
    shape = np.shape(y) if np.ndim(y) == 2 else None
    places = _places(graph.edges, n, graph.names, shape)
    return _nodes(graph.edges, places, gold, found, words, ax, cut=True)


def draw_hierarchy(x: Any, y: Any, y_hat: Any, *, words: Any = None, ax: Any = None) -> Any:
    """Draw a tree of labelled nodes, the root above."""
    parents = [int(p) for p in as_tree(x).parents]
    gold = [str(label) for label in y]
    found = gold if y_hat is None else [str(label) for label in y_hat]
    children: dict[int, list[int]] = {}
    for node, parent in enumerate(parents):
        children.setdefault(parent, []).append(node)
    places, leaf = np.zeros((len(parents), 2)), 0

    def place(node: int, depth: int) -> float:
        nonlocal leaf
        below = [place(child, depth + 1) for child in children.get(node, [])]
        middle = float(np.mean(below)) if below else float(leaf)
        leaf += not below
        if node >= 0:
            places[node] = middle, -depth
        return middle

    place(-1, -1)
    edges = np.array([(p, i) for i, p in enumerate(parents) if p >= 0]).reshape(-1, 2)
    return _nodes(edges, places, gold, found, words, ax, cut=False)


def _nodes(
    edges: Any, places: Floats, gold: list[str], found: list[str], words: Any, ax: Any, *, cut: bool
) -> Any:
    span = np.maximum(np.ptp(places, axis=0), 1.0)
    ax = axes(ax, 1.5 + min(9.0, 0.8 * span[0]), 1.2 + min(6.0, 0.7 * span[1]))
    many = len(gold) > _BIG
    size = 30 if many else 220
    for i, j in edges.tolist():
        apart = cut and found[i] != found[j]
        look = {"color": "0.55", "ls": ":", "lw": 1.4} if apart else {"color": FAINT, "lw": 2.0}
        ax.plot(*places[[i, j]].T, zorder=1, **look)
    every = sorted({*gold, *found})
    for number, label in enumerate(every):
        mine = np.array([k for k, other in enumerate(found) if other == label], dtype=int)
        colour = _LABELS[number % len(_LABELS)]
        wrong = [RED if gold[k] != found[k] else "white" for k in mine]
        widths = [2.5 if gold[k] != found[k] else 1.0 for k in mine]
        ax.scatter(
            *places[mine].T, s=size, color=colour, edgecolors=wrong, linewidths=widths,
            label=short(label), zorder=2,
        )  # fmt: skip
    if found != gold:
        ax.scatter([], [], s=60, color="white", edgecolors=RED, linewidths=2.5, label="wrong")
    for (a, b), word in zip(places, () if words is None else words, strict=words is not None):
        if not many:
            ax.text(a, b, short(word, 8), ha="center", va="center", fontsize=8, zorder=3)
    bare(ax)
    ax.margins(0.12)
    ax.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return ax


def _labels(y: Any, names: Any) -> list[str]:
    if isinstance(y, dict):
        return [str(y[name]) for name in names]
    return [str(label) for label in np.asarray(y, dtype=object).reshape(-1)]


def _places(edges: Any, n: int, names: Any, shape: Any) -> Floats:
    """Return where nodes stand: on their grid, at their own coordinates, or where edges say."""
    if shape is not None:
        rows, columns = np.divmod(np.arange(n), shape[1])
        return np.column_stack([columns, -rows]).astype(float)
    if names is not None and all(isinstance(p, tuple) and len(p) == 2 for p in names):
        return np.array([(column, -row) for row, column in names], dtype=float)
    graph = nx.Graph()
    graph.add_nodes_from(range(n))
    graph.add_edges_from(edges.tolist())
    layout = nx.kamada_kawai_layout(graph) if n <= _BIG else nx.spring_layout(graph, seed=0)
    spread: Floats = 2.0 * np.sqrt(n) * np.array([layout[k] for k in range(n)])
    return spread
