r"""Numbers of a cut as linear forms: a plain rule is read off by arithmetic alone.

    constant + factor * (w . delta) + own * slack        at several losses at once.

CVXPY takes half a millisecond to build and value the few expressions of a rule, a quarter of a fit
of 20 rows. A rule that only adds, subtracts, scales and compares what it sees does the same to
these forms; one that does anything else with them fails, and is read in CVXPY.

>>> loss = Form.number(np.array([1.0, 3.0]))
>>> delta_w, slack = Form.of_delta(2), Form.of_slack(2)
>>> (2 * delta_w >= loss - slack).rows
array([[-1., -3.],
       [ 2.,  2.],
       [ 1.,  1.]])
"""

from __future__ import annotations

from numbers import Real
from typing import Any, NamedTuple, Self

import numpy as np

from structopt.arrays import Floats


class Side(NamedTuple):
    """What must be >= 0: the rows are the constant, and the factors of w . delta and the slack."""

    rows: Floats


class Form:
    """A linear form at several losses; ``rows`` as those of a :class:`Side`."""

    __slots__ = ("rows",)
    __array_ufunc__ = None  # NumPy's numbers leave arithmetic to this class
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, rows: Floats) -> None:
        self.rows = rows

    @classmethod
    def number(cls, values: Floats) -> Self:
        """Return a number of a cut."""
        return cls(np.stack([values, np.zeros(len(values)), np.zeros(len(values))]))

    @classmethod
    def of_delta(cls, n: int) -> Self:
        """Return w . delta at n losses."""
        return cls(np.repeat([[0.0], [1.0], [0.0]], n, axis=1))

    @classmethod
    def of_slack(cls, n: int) -> Self:
        """Return the slack at n losses."""
        return cls(np.repeat([[0.0], [0.0], [1.0]], n, axis=1))

    def _rows(self, other: Any) -> Floats:
        if isinstance(other, Form):
            return other.rows
        if isinstance(other, Real):
            return Form.number(np.full(self.rows.shape[1], float(other))).rows
        raise TypeError(f"{type(other).__name__} is no form")

    def __neg__(self) -> Form:
        return Form(-self.rows)

    def __add__(self, other: Any) -> Form:
        return Form(self.rows + self._rows(other))

    def __sub__(self, other: Any) -> Form:
        return Form(self.rows - self._rows(other))

    def __rsub__(self, other: Any) -> Form:
        return Form(self._rows(other) - self.rows)

    def __mul__(self, factor: Any) -> Form:
        if not isinstance(factor, Real):  # of two forms: for batches CVXPY has a matrix product
            raise TypeError(f"{type(factor).__name__} is no number")
        return Form(self.rows * float(factor))

    def __truediv__(self, number: Any) -> Form:
        if not isinstance(number, Real):
            raise TypeError(f"{type(number).__name__} is no number")
        return Form(self.rows / float(number))

    def __ge__(self, other: Any) -> Side:
        return Side(self.rows - self._rows(other))

    def __le__(self, other: Any) -> Side:
        return Side(self._rows(other) - self.rows)

    def __eq__(self, other: object) -> Any:
        raise TypeError("an equation is read in CVXPY")

    def __bool__(self) -> bool:
        raise TypeError("a rule may not branch on what it sees")

    __radd__, __rmul__ = __add__, __mul__
