r"""A chain's outputs as paths through a trellis, with what Viterbi's algorithm writes on it.

    V_t(y) = W[y] . x_t + max over y' of V_{t-1}(y') + T[y', y]         (+ start, + end at the last)

is the score of the best path that ends in label y at position t; the best output is read backwards
from the largest V at the end. With gold, every label but gold's has its loss added: the most
violated output instead of the best one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse as sp

from structopt.arrays import Floats, as_floats, check_weights
from structopt.errors import IncompatibleError, InvalidInputError
from structopt.parameters import checked
from structopt.report.draw.canvas import BLUE, FAINT, ORANGE, axes, bare, short
from structopt.structures.chain.structure import Chain

_MOST = 400  # nodes: beyond them nobody reads numbers


@checked
def trellis(
    structure: Chain,
    x: Any,
    weights: Floats,
    *,
    gold: Sequence[Any] | None = None,
    augmented: bool = False,
    upto: int | None = None,
    inputs: Sequence[Any] | None = None,
    ax: Any = None,
) -> Any:
    r"""Draw the trellis of one sequence: positions from left to right, labels from top to bottom.

    The number at a node is V_t(y), the thick path the best output, the dashed one gold, and the
    thin lines the best way into each node.

    Parameters
    ----------
    structure : Chain
        Fitted: ``so.Chain().fitted(X, Y)`` or ``model.structure_``.
    x : array of shape (T, d)
    weights : array
    gold : sequence of labels, optional
        The right output.
    augmented : bool
        Add the loss against gold (1 a wrong label) to the scores.
    upto : int, optional
        Fill in the first so many positions only, as the algorithm goes.
    inputs : sequence, optional
        What to write under each position, such as the words.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import numpy as np, structopt as so
    >>> X, Y = [np.eye(3)], [["a", "b", "a"]]
    >>> structure = so.Chain().fitted(X, Y)
    >>> ax = so.draw.trellis(structure, X[0], np.ones(structure.n_features_), gold=Y[0])
    >>> len(ax.texts) >= 6
    True
    """
    local, step, labels = _scores(structure, x, weights)
    length, k = local.shape
    if augmented and gold is None:
        raise InvalidInputError("augmented=True adds the loss against gold: give gold=.")
    right = None if gold is None else _codes(gold, labels, length)
    if augmented and right is not None:
        local = local + 1.0
        local[np.arange(length), right] -= 1.0
    value, back = viterbi(local, step)
    upto = length if upto is None else upto
    ax = axes(ax, 1.5 + 0.95 * length, 1.0 + 0.75 * k)
    for t in range(1, length):
        for b in range(k):
            for a in range(k):
                best = t < upto and back[t, b] == a
                look = {"color": BLUE, "lw": 1.3} if best else {"color": FAINT, "lw": 0.6}
                ax.plot([t - 1, t], [a, b], zorder=1.5 if best else 1, **look)
    if upto >= length:
        ax.plot(range(length), path(value, back), color=BLUE, lw=7, alpha=0.35, zorder=2)
    if right is not None:
        ax.plot(range(length), right, "--", color=ORANGE, lw=2.2, zorder=2.5)
    for t in range(length):
        for y in range(k):
            seen = t < upto
            text = f"{value[t, y]:.3g}" if seen and length * k <= _MOST else ""
            ax.text(
                t, y, text, ha="center", va="center", fontsize=9, zorder=4,
                bbox={"boxstyle": "circle,pad=0.35" if not text else "round,pad=0.35",
                      "fc": "white", "ec": BLUE if seen else FAINT, "lw": 1.0},
            )  # fmt: skip
    bare(ax)
    written = range(1, length + 1) if inputs is None else inputs
    ax.set_xticks(range(length), [short(w, 12) for w in written])
    ax.set_yticks(range(k), [short(label, 12) for label in labels])
    ax.tick_params(length=0)
    ax.set(xlim=(-0.6, length - 0.4), ylim=(k - 0.5, -0.5))
    return ax


def viterbi(local: Floats, step: Floats) -> tuple[Floats, Any]:
    """Return V and the best predecessor of each node, for scores of labels and of transitions.

    >>> V, back = viterbi(np.array([[0.0, 1.0], [2.0, 0.0]]), np.array([[0.0, 0.0], [-5.0, 0.0]]))
    >>> V, path(V, back)
    (array([[0., 1.], [2., 1.]]), [0, 0])
    """
    value, back = local.copy(), np.zeros(local.shape, dtype=np.int64)
    for t in range(1, len(local)):
        ways = value[t - 1][:, None] + step
        back[t] = ways.argmax(axis=0)
        value[t] += ways.max(axis=0)
    return value, back


def path(value: Floats, back: Any) -> list[int]:
    """Return the best path, read backwards."""
    at = [int(value[-1].argmax())]
    for t in range(len(value) - 1, 0, -1):
        at.append(int(back[t, at[-1]]))
    return at[::-1]


def _scores(structure: Any, x: Any, weights: Floats) -> tuple[Floats, Floats, list[Any]]:
    """Return scores of labels at positions, with start and end, and of transitions."""
    if not isinstance(structure, Chain) or not hasattr(structure, "labels_"):
        raise IncompatibleError(
            f"trellis draws outputs of a fitted Chain; got a {type(structure).__name__}: give "
            "so.Chain().fitted(X, Y) or model.structure_."
        )
    weights = check_weights(weights, structure.n_features_)
    labels, d = list(structure.labels_), structure.n_inputs_
    k = len(labels)
    rows = x.toarray() if sp.issparse(x) else as_floats(x, "x")
    if rows.ndim != 2 or rows.shape[1] != d or not len(rows):
        raise InvalidInputError(f"x must have shape (T, {d}); got {rows.shape}.")
    local = rows @ weights[: k * d].reshape(k, d).T
    step = weights[k * d : k * d + k * k].reshape(k, k).copy()
    if structure.boundaries:
        local[0] += weights[k * d + k * k : k * d + k * k + k]
        local[-1] += weights[k * d + k * k + k :]
    if structure.allowed_ is not None:
        step[~structure.allowed_[:k, :k]] = -np.inf
        local[0, ~structure.allowed_[k, :k]] = -np.inf
        local[-1, ~structure.allowed_[:k, k]] = -np.inf
    return local, step, labels


def _codes(gold: Any, labels: list[Any], length: int) -> Any:
    listed = gold.tolist() if isinstance(gold, np.ndarray) else list(gold)
    if len(listed) != length or any(y not in labels for y in listed):
        raise InvalidInputError(f"gold must be {length} of the labels {labels}; got {gold!r}.")
    return np.array([labels.index(y) for y in listed])
