"""Lattices: paths from source to sink, edges with their words."""

from __future__ import annotations

from typing import Any

import networkx as nx
import numpy as np

from structopt.errors import InvalidInputError
from structopt.report.draw.canvas import BLUE, FAINT, ORANGE, RED, axes, bare, short


def draw_lattice(x: Any, y: Any, y_hat: Any, *, words: Any = None, ax: Any = None) -> Any:
    """Draw a directed graph in layers, gold and predicted paths on it."""
    if not isinstance(x, nx.DiGraph) or not nx.is_directed_acyclic_graph(x):
        raise InvalidInputError("A lattice is a networkx DiGraph without cycles.")
    gold = {tuple(edge) for edge in y}
    found = gold if y_hat is None else {tuple(edge) for edge in y_hat}
    place = _places(x)
    deep = max(a for a, _ in place.values()) or 1.0
    ax = axes(ax, 1.5 + deep, 3.2)
    keys = x.edges(keys=True) if x.is_multigraph() else x.edges
    for edge in keys:
        u, v = edge[:2]
        (a, b), (c, d) = place[u], place[v]
        right, wrong, missed = edge in gold & found, edge in found - gold, edge in gold - found
        colour = BLUE if right else RED if wrong else ORANGE if missed else FAINT
        bend = 0.25 * (edge[2] if len(edge) == 3 and isinstance(edge[2], int) else 0)
        if _blocked((a, b), (c, d), place.values()):
            bend += 0.25 * np.sign(b + d or 1.0)
        ax.annotate(
            "", (c, d), (a, b), zorder=1,
            arrowprops={"arrowstyle": "-|>", "color": colour, "shrinkA": 7, "shrinkB": 7,
                        "lw": 1.2 if colour == FAINT else 2.4, "ls": "--" if missed else "-",
                        "connectionstyle": f"arc3,rad={-bend}"},
        )  # fmt: skip
        label = x.edges[edge].get("label")
        if label is not None:
            middle = ((a + c) / 2 - 0.5 * bend * (d - b), (b + d) / 2 + 0.5 * bend * (c - a))
            box = {"fc": "white", "ec": "none", "pad": 1.0, "alpha": 0.85}
            ax.text(*middle, short(label, 14), ha="center", va="center", fontsize=9, bbox=box)
    for a, b in place.values():
        ax.plot(a, b, "o", ms=9, mfc="white", mec="black", zorder=2)
    if found != gold:
        looks = (("right", BLUE, "-"), ("wrong", RED, "-"), ("missed", ORANGE, "--"))
        for name, colour, style in looks:
            ax.plot([], [], color=colour, ls=style, lw=2.4, label=name)
        ax.legend(frameon=False, fontsize=8, loc="lower right")
    bare(ax)
    ax.margins(0.08, 0.15)
    ax.set_aspect("equal", adjustable="datalim")  # so that what is bent bends as far everywhere
    return ax


def _blocked(start: Any, end: Any, nodes: Any) -> bool:
    """Return whether the straight way leads through a node."""
    a, b = np.array(start), np.array(end)
    for node in map(np.array, nodes):
        share = float((node - a) @ (b - a)) / float((b - a) @ (b - a))
        near = np.linalg.norm(node - a - share * (b - a)) < 0.2
        if near and 0.05 < share < 0.95:
            return True
    return False


def _places(x: Any) -> dict[Any, tuple[float, float]]:
    """Return a place for each node: its longest way from a source, spread within a layer."""
    depth: dict[Any, int] = {}
    for node in nx.topological_sort(x):
        depth[node] = max((depth[u] + 1 for u in x.predecessors(node)), default=0)
    layers: dict[int, list[Any]] = {}
    for node, at in depth.items():
        layers.setdefault(at, []).append(node)
    place: dict[Any, tuple[float, float]] = {}
    for at, nodes in sorted(layers.items()):
        # those that come from above stay above
        def height(node: Any) -> float:
            before = [place[u][1] for u in x.predecessors(node)]
            return float(np.mean(before)) if before else 0.0

        ordered = sorted(nodes, key=lambda node: -height(node))
        for k, node in enumerate(ordered):
            place[node] = (1.4 * at, (len(nodes) - 1) / 2.0 - k)
    return place
