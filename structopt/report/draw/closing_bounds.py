"""Bounds closing: what is known of the optimum after every round."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from structopt.errors import InvalidInputError
from structopt.report.draw.canvas import axes, short
from structopt.report.draw.theme import OKABE_ITO


def bounds(runs: Any, *, against: str = "round", ax: Any = None) -> Any:
    r"""Draw upper and lower bounds, ``dual <= optimum <= primal``, and shade what is between.

    Parameters
    ----------
    runs : Method, Result, StructuredClassifier, or a mapping from names to these
        What was run: anything with a history, so a run that was only stepped will do.
    against : {"round", "seconds"}
        The horizontal axis.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import structopt as so
    >>> X, y = so.datasets.make_classes(30, seed=0)
    >>> model = so.StructuredClassifier(so.Multiclass(), so.M3N()).fit(X, y)
    >>> ax = so.draw.bounds(model)
    >>> ax.get_xlabel(), ax.get_ylabel()
    ('round', 'objective')
    """
    if not isinstance(against, str) or against not in ("round", "seconds"):
        raise InvalidInputError(f"against is {against!r}; it must be 'round' or 'seconds'.")
    named = runs if isinstance(runs, Mapping) else {"": runs}
    histories = {name: _history(run) for name, run in named.items()}
    ax = axes(ax)
    lowest, highest = [], []
    for number, (name, history) in enumerate(histories.items()):
        colour = OKABE_ITO[number % len(OKABE_ITO)]
        x = np.array([getattr(r, against) for r in history], dtype=float)
        low, high = (np.array([getattr(r, b) for r in history]) for b in ("dual", "primal"))
        low, high = (np.where(np.isfinite(b), b, np.nan) for b in (low, high))
        label = f"{short(name)}: " if name else ""
        ax.plot(x, high, "o-", ms=3, color=colour, label=f"{label}upper bound")
        ax.plot(x, low, "o--", ms=3, color=colour, label=f"{label}lower bound")
        ax.fill_between(x, low, high, color=colour, alpha=0.12, lw=0)
        ends = [b[np.isfinite(b)] for b in (low, high)]
        lowest += [float(e[len(e) // 4]) for e in ends[:1] if len(e)]
        highest += [float(e[len(e) // 4]) for e in ends[1:] if len(e)]
    if lowest and highest and max(highest) > min(lowest):
        room = 0.1 * (max(highest) - min(lowest))  # early bounds may lie outside the frame
        ax.set_ylim(min(lowest) - room, max(highest) + room)
    if against == "round":
        ax.xaxis.get_major_locator().set_params(integer=True)
    ax.set(xlabel=against, ylabel="objective")
    ax.grid(alpha=0.25)
    ax.spines[["top", "right"]].set_visible(False)
    if any(histories.values()):
        ax.legend(frameon=False)
    return ax


def _history(run: Any) -> Any:
    """Return the records of a run, a result or a fitted model."""
    found = getattr(run, "history", None)
    if found is None:
        found = getattr(getattr(run, "result_", None), "history", None)
    if found is None:
        raise InvalidInputError(
            f"A {type(run).__name__} has no history: give a run, a Result or a fitted model."
        )
    return found
