r"""What a solver answers, in one form: others' answers are read as what they are meant to be.

>>> read(([1, 2], [0.5]), size=2, rows=1).x
array([1., 2.])
>>> read(([1, 2], [0.5, 0.0]), size=2, rows=1)
Traceback (most recent call last):
...
structopt.errors.InvalidInputError: it returned y of shape (2,); there are 1 rows.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np

from structopt.arrays import Floats
from structopt.errors import InvalidInputError
from structopt.lab.bench.lp_solvers import Claim


@dataclass(frozen=True)
class Answer:
    """What a solver says.

    Attributes
    ----------
    x, y : arrays
        The point, and a multiplier for each row.
    claim : {"optimal", "infeasible", "unbounded", "not converged", "failed"}
        In its own words: it is checked.
    iterations : int
    cpu : float or None
        CPU seconds that it measured itself, where what surrounds the call should not count.
    message : str
    products : int or None
        With A, A' and P, of solvers that count them.
    """

    x: Floats
    y: Floats
    claim: Claim = "optimal"
    iterations: int = 0
    cpu: float | None = None
    message: str = ""
    products: int | None = None


def read(found: Any, *, size: int, rows: int) -> Answer:
    """Return what a solver of one's own returned as an answer of arrays and plain numbers.

    Raises
    ------
    InvalidInputError
        It is neither a pair nor an answer, or holds what is no array of the right length, no
        number, or no claim.
    """
    if isinstance(found, tuple) and len(found) == 2:
        found = Answer(*found)
    if not isinstance(found, Answer):
        raise InvalidInputError(f"it must return (x, y) or an Answer, got {found!r:.200}.")
    if found.claim not in get_args(Claim):
        raise InvalidInputError(f"its claim is none of {get_args(Claim)}, but {found.claim!r:.50}.")
    said = found.claim == "optimal"  # then there must be a point
    cpu = found.cpu
    if cpu is not None and not 0 <= (cpu := _number("cpu", cpu)) < math.inf:
        raise InvalidInputError(f"it returned {cpu:g} as its CPU seconds.")
    return Answer(
        _array("x", found.x, size, "columns", said),
        _array("y", found.y, rows, "rows", said),
        found.claim,
        int(_number("iterations", found.iterations or 0)),
        cpu,
        str(found.message),
        None if found.products is None else int(_number("products", found.products)),
    )


def _array(name: str, given: Any, length: int, what: str, needed: bool) -> Floats:
    if given is None and not needed:
        return np.full(length, np.nan)
    try:
        made = np.asarray(given)
        if np.iscomplexobj(made):
            raise TypeError("complex numbers")
        made = made.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(f"it returned {name} that is no array ({error}).") from None
    if made.shape != (length,) and needed:
        raise InvalidInputError(
            f"it returned {name} of shape {made.shape}; there are {length} {what}."
        )
    return made if made.shape == (length,) else np.full(length, np.nan)


def _number(name: str, given: Any) -> float:
    try:
        return float(given)
    except (TypeError, ValueError):
        raise InvalidInputError(f"it returned {given!r:.50} as {name}, which is none.") from None
