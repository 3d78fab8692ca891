"""Tiny random problems whose outputs can all be listed: what :mod:`structopt.testing` draws.

A structure's room (or file) offers a function ``small(rng)`` that returns one of these, with random
sizes and options; the contract tests find it by the structure's home. What it says of the structure
(outputs, features, loss) is written down plainly, a second time, so that the two can be compared.

>>> import numpy as np
>>> numbers(np.random.default_rng(0), True, 3)
array([2., 1., 0.])
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from structopt.arrays import Floats
from structopt.structures.base.structure import Structure


@dataclass(frozen=True, eq=False)
class Small:
    """A structure, some examples, and the truth about them.

    Attributes
    ----------
    structure : Structure
        Not fitted.
    X, Y : list
        Examples, with any gold outputs.
    outputs : callable x -> list
        Every output of an example; None if walking `k_best` is to find them.
    features, loss : callable, optional
        What ``joint_features(x, y)`` and ``loss(gold, y)`` must be.
    ordered : "", "best" or "all"
        Where the first of equally good outputs, in the order listed, is the right answer: nowhere,
        where the best of all is asked for, or in every question.
    exact : bool
        Whether answers are optimal, or only within the `excess` that a shard reports.
    tol : float
        Relative rounding of the structure's own solver.
    any_gold : bool
        Whether any output could be gold; not where gold says more than an output does.
    """

    structure: Structure
    X: Sequence[Any]
    Y: Sequence[Any]
    outputs: Callable[[Any], Sequence[Any]] | None = None
    features: Callable[[Any, Any], Any] | None = None
    loss: Callable[[Any, Any], float] | None = None
    ordered: str = ""
    exact: bool = True
    tol: float = 1e-9
    any_gold: bool = True


def numbers(rng: np.random.Generator, whole: bool, *shape: int) -> Floats:
    """Return random numbers; whole ones are few and small, so that scores are exact and tied."""
    drawn = rng.integers(-2, 3, shape) if whole else rng.standard_normal(shape)
    return np.asarray(drawn, dtype=np.float64)


def chosen(rng: np.random.Generator, outputs: Sequence[Any]) -> Any:
    """Return one of the outputs."""
    return outputs[int(rng.integers(len(outputs)))]
