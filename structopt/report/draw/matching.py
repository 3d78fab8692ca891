"""Matchings: two rows of nodes and the edges between them."""

from __future__ import annotations

from typing import Any

from structopt.report.draw.canvas import BLUE, ORANGE, RED, axes, bare, short
from structopt.structures.matching.inputs import as_set, read_pair


def draw_matching(x: Any, y: Any, y_hat: Any, *, words: Any = None, ax: Any = None) -> Any:
    """Draw left nodes above, right nodes below, and matched edges between."""
    pair = read_pair(x, (1, 1), None)
    left, right = pair.names or tuple(list(range(n)) for n in pair.shape)
    gold = as_set(y)
    found = gold if y_hat is None else as_set(y_hat)
    widest = max(len(left), len(right), 2)
    ax = axes(ax, 1.2 + 0.75 * widest, 2.8)
    at = {}
    for side, (nodes, height) in enumerate(((left, 1.0), (right, 0.0))):
        for k, node in enumerate(nodes):
            at[side, node] = ((k + 0.5) / len(nodes) * widest, height)
    kinds = (
        ("right", gold & found, BLUE, "-"),
        ("wrong", found - gold, RED, "-"),
        ("missed", gold - found, ORANGE, "--"),
    )
    for name, edges, colour, style in kinds:
        for i, j in sorted(edges, key=str):
            (a, b), (c, d) = at[0, i], at[1, j]
            ax.plot([a, c], [b, d], color=colour, ls=style, lw=2.2, zorder=1)
        if found != gold:
            ax.plot([], [], color=colour, ls=style, lw=2.2, label=f"{name} ({len(edges)})")
    names = (left, right) if words is None else words
    for side, nodes in enumerate((left, right)):
        for node, name in zip(nodes, names[side], strict=True):
            a, b = at[side, node]
            ax.plot(a, b, "o", ms=8, mfc="white", mec="black", zorder=2)
            lift = 0.12 if side == 0 else -0.12
            where = {"ha": "center", "va": "bottom" if side == 0 else "top", "fontsize": 10}
            ax.text(a, b + lift, short(name, 12), **where)
    bare(ax)
    ax.set(xlim=(0.0, widest), ylim=(-0.35, 1.35))
    if found != gold:
        ax.legend(frameon=False, fontsize=8, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return ax
