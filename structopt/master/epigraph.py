r"""Convex terms of a rule, ``cut.delta @ w - r * norm(w) >= ...``, as variables of their own.

A rule becomes rows, so every term that is not affine is replaced by a new variable t, with the
static constraint ``t >= norm(w)`` (or ``t <=`` where it is concave).

>>> w = cp.Variable(2, name="w")
>>> terms = Epigraphs()
>>> print(terms.replaced(1 - 2 * cp.norm1(w)))
1.0 + -(2.0 * epigraph1)
>>> [str(each) for each in terms.constraints]
['norm1(w) <= epigraph1']
"""

from __future__ import annotations

from typing import Any

import cvxpy as cp
from cvxpy.atoms.affine.affine_atom import AffAtom

from structopt.errors import IncompatibleError
from structopt.master.rule import CutNumber


class Epigraphs:
    """The terms of one rule that are not affine, in the order in which it writes them."""

    def __init__(self) -> None:
        self._variables: list[Any] = []
        self.constraints: list[Any] = []
        self.convex: list[bool] = []
        self._next = 0

    def __len__(self) -> int:
        return len(self._variables)

    @property
    def variables(self) -> list[Any]:
        """The variables that stand for the terms."""
        return self._variables

    def begin(self) -> None:
        """Begin another reading of the same rule."""
        self._next = 0

    def replaced(self, expression: Any, delta: Any = None) -> Any:
        """Return an affine expression, its other terms replaced; ``delta`` must not be in them."""
        if expression.is_affine():
            return expression
        if isinstance(expression, AffAtom):
            return expression.copy([self.replaced(each, delta) for each in expression.args])
        if any(isinstance(p, CutNumber) for p in expression.parameters()) or (
            delta is not None and delta.id in {v.id for v in expression.variables()}
        ):
            raise IncompatibleError(
                f"The rule of a cut family is linear in what belongs to the cut; {expression} is "
                "not. Write cut.delta @ w, cut.loss and cut.of(...) outside of it."
            )
        if not expression.is_convex() and not expression.is_concave():
            raise IncompatibleError(
                f"A term of a cut family's rule is neither convex nor concave by CVXPY's rules: "
                f"{expression}. Write it with convex atoms."
            )
        if self._next == len(self._variables):
            self._add(expression)
        self._next += 1
        return self._variables[self._next - 1]

    def _add(self, term: Any) -> None:
        t = cp.Variable(term.shape, name=f"epigraph{len(self._variables) + 1}")
        self._variables.append(t)
        self.convex.append(bool(term.is_convex()))
        self.constraints.append(term <= t if self.convex[-1] else term >= t)
