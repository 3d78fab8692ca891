r"""A learning problem in two weights, drawn: level lines, cuts, feasible set and iterates.

Every cut ``factor * (w . delta) >= side`` is a half-plane; a slack buys its way out of it, a family
without slacks forbids the other side. The level lines are those of the whole problem,

    P(w) = the objective with slacks raised to what exact oracles ask for,

or of the restricted master, whose slacks answer only to the cuts that it has: a lower bound on P
everywhere, and equal to it where the master knows enough.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from structopt.arrays import Floats, as_floats
from structopt.errors import IncompatibleError, InvalidInputError
from structopt.methods.method import Method
from structopt.parameters import checked
from structopt.report.draw.canvas import FAINT, ORANGE, RED, axes, short
from structopt.report.draw.landscape import Limits, landscape
from structopt.run.events import Found

LEVELS = ("problem", "master", None)
_BROKEN = 1e-7  # violation from which a point counts as forbidden
_NAMED = 6  # new cuts in the key, at most
_COLOURS = (RED, "#009e73", "#cc79a7", "#56b4e9", "#a6761d", ORANGE)


@checked
def plane(
    run: Any,
    *,
    levels: str | None = "problem",
    limits: Limits | None = None,
    name: Callable[[Found], str] | None = None,
    ax: Any = None,
) -> Any:
    r"""Draw a run that has two weights: level lines, cuts, feasible region, iterates.

    Lines are the cuts that stand, with ticks towards the side where they are violated; those that
    the last round added are coloured and named after the outputs that made them. Numbers are the
    iterates, round by round, the star is the best so far, and what is grey breaks a constraint
    that no slack softens.

    Parameters
    ----------
    run : Method
        A run with two weights, stepped as far as you like.
    levels : {"problem", "master", None}
        Level lines of the whole problem's objective, of what the restricted master knows of it, or
        none.
    limits : (left, right, bottom, top), optional
        The part of the plane; by default around the iterates and 0.
    name : callable, optional
        Names a cut's output (:class:`~structopt.Found`) in the key.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib Axes

    Raises
    ------
    InvalidInputError
        The run has another number of weights.

    Examples
    --------
    >>> import structopt as so
    >>> X, Y = so.datasets.make_alignments(4, n_features=3, mean_edges=9, seed=0)
    >>> X = [x[:, :, 1:] for x in X]  # distance from the diagonal, association
    >>> structure = so.Matching().fitted(X, Y)
    >>> run = so.CuttingPlane(structure, so.M3N(C=1.0), so.DataSet.of(structure, X, Y))
    >>> records = [run.step() for _ in range(3)]
    >>> ax = so.draw.plane(run, levels="master")
    >>> ax.get_xlabel()
    'x0 edge'
    """
    _check(run, levels)
    limits = _limits(run) if limits is None else limits
    if as_floats(limits, "limits").shape != (4,):
        raise InvalidInputError(f"limits is {limits!r}: give (left, right, bottom, top).")
    ax = axes(ax, 5.6, 4.6)
    if levels is not None:
        _level_lines(ax, run, limits, levels)
    if len(run.master.pool):
        _lines(ax, run, limits, name)
    _iterates(ax, run)
    left, right = _weight_names(run)
    ax.set(xlim=limits[:2], ylim=limits[2:], xlabel=left, ylabel=right)
    if ax.get_legend_handles_labels()[0]:
        ax.legend(loc="upper left", bbox_to_anchor=(1.01, 1.0), frameon=False, fontsize=8)
    return ax


def _check(run: Any, levels: str | None) -> None:
    if not isinstance(run, Method):
        raise InvalidInputError(f"plane draws a run such as so.CuttingPlane; got {type(run)!r}.")
    if run.data.n_features != 2:
        raise InvalidInputError(
            f"plane draws problems with two weights; this one has {run.data.n_features}. Draw "
            "so.draw.bounds(run), or take two features."
        )
    if levels not in LEVELS:
        raise InvalidInputError(f"levels is {levels!r}; it must be one of {LEVELS}.")
    if levels == "master" and run.master.inner is not None:
        raise IncompatibleError(
            "The slacks of this formulation are solved for, not raised: draw levels='problem'."
        )


def _limits(run: Method) -> Limits:
    """Return a square around 0 and the iterates."""
    points = np.array([np.zeros(2), *(r.weights for r in run.history if r.weights is not None)])
    low, high = points.min(axis=0), points.max(axis=0)
    middle, half = (low + high) / 2.0, 0.65 * float(max(high - low)) or 1.0
    return (middle[0] - half, middle[0] + half, middle[1] - half, middle[1] + half)


def _level_lines(ax: Any, run: Method, limits: Limits, levels: str) -> None:
    """Draw level lines, closer together near the minimum, and what is forbidden."""
    u, v, values, outside = landscape(run, limits, whole=levels == "problem")
    finite = values[np.isfinite(values)]
    if len(finite) and finite.max() > finite.min():
        spread = np.linspace(0.0, 1.0, 15) ** 2
        steps = finite.min() + spread * (finite.max() - finite.min())
        shown = np.ma.masked_invalid(values)
        ax.contourf(u, v, shown, levels=steps, cmap="Blues", alpha=0.5, zorder=0)
        ax.contour(u, v, shown, levels=steps, colors="#7f9fbf", linewidths=0.6, zorder=0.1)
    if np.any(outside > _BROKEN):
        ax.contourf(
            u, v, outside, levels=[_BROKEN, np.inf], colors=["0.5"], alpha=0.55, zorder=0.2
        )  # fmt: skip


def _lines(ax: Any, run: Method, limits: Limits, name: Callable[[Found], str] | None) -> None:
    """Draw where each cut holds without slack; ticks point to where it does not."""
    cuts, new = run.master.pool.cuts, run.history[-1].cuts_added if run.history else 0
    rows = cuts.deltas(2).toarray() * cuts.factor[:, None]
    found = run.history[-1].found if run.history else ()
    labels = [name(cut) if name else f"{cut.example}: {_written(cut.output)}" for cut in found]
    start = len(cuts) - new
    for k, row in enumerate(rows):
        lower = np.isfinite(cuts.lower[k])
        side, sign = (cuts.lower[k], 1.0) if lower else (cuts.upper[k], -1.0)
        ends = _segment(row, side, limits)
        recent = k >= start
        colour = _COLOURS[(k - start) % len(_COLOURS)] if recent else "0.45"
        if ends is not None:
            look = {"color": colour, "zorder": 2.0 if recent else 1.0}
            ax.plot(*ends.T, lw=1.8 if recent else 0.7, **look)
            reach = 0.02 * (limits[1] - limits[0])
            towards = -sign * row / np.linalg.norm(row) * reach
            for share in np.linspace(0.04, 0.96, 24):
                foot = ends[0] + share * (ends[1] - ends[0])
                ax.plot(*np.array([foot, foot + towards]).T, lw=1.0 if recent else 0.5, **look)
        if recent and k - start < min(_NAMED, len(labels)):
            ax.plot([], [], color=colour, lw=1.8, label=labels[k - start])
    if new > _NAMED:
        ax.plot([], [], color="white", label=f"… and {new - _NAMED} more")


def _segment(row: Floats, side: float, limits: Limits) -> Floats | None:
    """Return the ends of ``row . w = side`` inside the frame, if it crosses it.

    >>> _segment(np.array([1.0, 1.0]), 1.0, (0.0, 2.0, 0.0, 2.0)).tolist()
    [[0.0, 1.0], [1.0, 0.0]]
    """
    left, right, bottom, top = limits
    ends = []
    if row[1] != 0.0:
        ends += [(u, (side - row[0] * u) / row[1]) for u in (left, right)]
    if row[0] != 0.0:
        ends += [((side - row[1] * v) / row[0], v) for v in (bottom, top)]
    inside = sorted({(u, v) for u, v in ends if left <= u <= right and bottom <= v <= top})
    return np.array([inside[0], inside[-1]]) if len(inside) >= 2 else None


def _iterates(ax: Any, run: Method) -> None:
    points = [(r.round, r.weights) for r in run.history if r.weights is not None]
    ax.axhline(0.0, color=FAINT, lw=0.8, zorder=0.5)
    ax.axvline(0.0, color=FAINT, lw=0.8, zorder=0.5)
    if not points:
        return
    path = np.array([weights for _, weights in points])
    ax.plot(*path.T, "o-", color="0.2", lw=0.9, ms=4, zorder=3)
    if np.isfinite(run.state.primal):
        ax.plot(*run.state.weights, "*", ms=15, color=ORANGE, mec="black", mew=0.8, zorder=4)
    for number, place in points:
        last = number == points[-1][0]
        # a later round at the same place says it all
        if last or not any(np.allclose(place, other) for _, other in points[number:]):
            ax.annotate(
                str(number), place, xytext=(6, 5), textcoords="offset points", zorder=5,
                fontsize=9, fontweight="bold" if last else "normal",
                bbox={"boxstyle": "round,pad=0.1", "fc": "white", "ec": "none", "alpha": 0.7},
            )  # fmt: skip


def _written(output: Any) -> str:
    """Return an output in a few letters.

    >>> _written(frozenset({(1, 0), (0, 2)})), _written([1, 2])
    ('0-2 1-0', '1 2')
    """
    parts = sorted(output, key=str) if isinstance(output, set | frozenset) else output
    pairs = isinstance(parts, list | tuple) and all(isinstance(p, tuple) for p in parts)
    return short(["-".join(map(str, pair)) for pair in parts] if pairs else parts)


def _weight_names(run: Method) -> tuple[str, str]:
    """Return what the two weights are called."""
    names = run.structure.feature_names() or [("w1", ""), ("w2", "")]
    first, second = (" ".join(filter(None, map(str, pair))) for pair in names)
    return short(first), short(second)
