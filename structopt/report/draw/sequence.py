"""Sequences of labels under their tokens or images, and trees as arcs above them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from structopt.errors import InvalidInputError
from structopt.report.draw.canvas import BLUE, FAINT, ORANGE, RED, axes, bare, short
from structopt.report.draw.theme import OKABE_ITO

_TINT = 0.25  # how strong a label's colour is behind its name


def draw_chain(x: Any, y: Any, y_hat: Any, *, words: Any = None, ax: Any = None) -> Any:
    """Draw labels as coloured boxes in a row, predicted ones below, wrong ones framed in red."""
    y = list(y)
    y_hat = None if y_hat is None else list(y_hat)
    _same_length(y, y_hat, words)
    rows = [("gold", y)] + ([] if y_hat is None else [("predicted", y_hat)])
    ax = axes(ax, 1.4 + 0.8 * len(y), 0.9 + 0.55 * (len(rows) + (words is not None)))
    every = sorted({str(label) for _, labels in rows for label in labels})
    colour = {label: OKABE_ITO[i % len(OKABE_ITO)] for i, label in enumerate(every)}
    _tokens(ax, words, 1.0)
    for place, (name, labels) in enumerate(rows):
        ax.text(-0.75, -place, name, ha="right", va="center", fontsize=9, color="0.4")
        for t, label in enumerate(labels):
            wrong = place == 1 and label != y[t]
            box = ax.text(
                t, -place, short(label, 10), ha="center", va="center", fontsize=10,
                bbox={"boxstyle": "round,pad=0.35", "fc": (colour[str(label)], _TINT),
                      "ec": RED if wrong else "none", "lw": 2.0},
            )  # fmt: skip
            box.set_fontweight("bold" if wrong else "normal")
    bare(ax)
    ax.set(xlim=(-1.7, len(y) - 0.4), ylim=(0.5 - len(rows), 1.6 if words is not None else 0.6))
    return ax


def draw_tree(x: Any, y: Any, y_hat: Any, *, words: Any = None, ax: Any = None) -> Any:
    """Draw heads as arcs above the tokens; 0 is the root."""
    gold = [int(h) for h in y]
    found = gold if y_hat is None else [int(h) for h in y_hat]
    _same_length(gold, found, words)
    every = [(h, m) for heads in (found, gold) for m, h in enumerate(heads, 1)]
    top = max(_height(head, token) for head, token in every)
    ax = axes(ax, 1.2 + 0.75 * (len(gold) + 1), 1.2 + 0.6 * top)
    for m, (head, right) in enumerate(zip(found, gold, strict=True), 1):
        _arc(ax, head, m, BLUE if head == right else RED)
        if head != right:
            _arc(ax, right, m, ORANGE, "--")
    names = ["root", *(range(1, len(gold) + 1) if words is None else words)]
    for t, name in enumerate(names):
        ax.text(t, -0.15, short(name, 12), ha="center", va="top", fontsize=10)
    bare(ax)
    ax.set(xlim=(-0.6, len(gold) + 0.6), ylim=(-0.7, top + 0.6))
    _key(ax, found != gold)
    return ax


def _height(head: int, token: int) -> float:
    return float(0.75 * abs(head - token) ** 0.8)


def _arc(ax: Any, head: int, token: int, colour: str, style: str = "-") -> None:
    """Draw half an ellipse from a head to a token, an arrow at its end."""
    turn = np.linspace(0.0, np.pi, 60)
    across = head + (token - head) * (1.0 - np.cos(turn)) / 2.0
    # arcs leave a little beside the token, so that those that arrive are told from them
    across += 0.12 * np.sign(token - head) * (1.0 + np.cos(turn)) / 2.0
    ax.plot(across, _height(head, token) * np.sin(turn), color=colour, ls=style, lw=1.6)
    ax.plot(token, 0.06, "v", ms=6, color=colour)


def _key(ax: Any, wrong: bool) -> None:
    if wrong:
        looks = (("right", BLUE, "-"), ("wrong", RED, "-"), ("missed", ORANGE, "--"))
        for name, colour, style in looks:
            ax.plot([], [], color=colour, ls=style, label=name)
        ax.legend(frameon=False, fontsize=8, loc="upper right", ncols=3)


def _tokens(ax: Any, words: Any, height: float) -> None:
    """Write words, or show images, above the labels."""
    for t, word in enumerate(() if words is None else words):
        if np.ndim(word) == 2:
            span = (t - 0.4, t + 0.4, height - 0.4, height + 0.5)
            ax.imshow(word, extent=span, cmap="gray_r", aspect="auto", zorder=1)
            ax.plot(
                [span[0], span[1], span[1], span[0], span[0]],
                [span[2], span[2], span[3], span[3], span[2]], color=FAINT, lw=0.8,
            )  # fmt: skip
        else:
            ax.text(t, height, short(word, 12), ha="center", va="center", fontsize=10)


def _same_length(y: Sequence[Any], y_hat: Sequence[Any] | None, words: Any) -> None:
    lengths = {len(y), *(len(other) for other in (y_hat, words) if other is not None)}
    if len(lengths) > 1 or not len(y):
        raise InvalidInputError(
            f"y has {len(y)} parts; y_hat and words must have as many, and at least one: got "
            f"{sorted(lengths)}."
        )
