r"""What a rule sees of a cut, and the sides of the constraint that it returns.

A formulation writes a cut family as a rule over one cut,

    lambda cut: cut.delta @ w >= cut.loss - cut.of(xi)

which is called with CVXPY Parameters to be lowered once, or with numbers for a batch of cuts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import cvxpy as cp
from cvxpy.constraints.nonpos import Inequality, NonNeg, NonPos
from cvxpy.constraints.zero import Equality, Zero

from structopt.errors import IncompatibleError, StructoptError


class CutNumber(cp.Parameter):  # type: ignore[misc]
    """A number of a cut, while its rule is lowered."""


class DeltaView:
    """``cut.delta``: a block of directions, one a cut, that multiplies the weights.

    ``asked`` is what else it may multiply: an affine map of the variables, by its name.
    """

    __array_ufunc__ = None  # so that CVXPY and NumPy leave ``@`` to this class

    def __init__(
        self, weights: Any, projection: Any, matrix: Callable[[], Any] | None, asked: str = ""
    ) -> None:
        self._weights, self._projection, self._matrix = weights, projection, matrix
        self._asked = asked

    def __matmul__(self, other: Any) -> Any:
        if other is self._weights or (self._asked and named(other) == self._asked):
            return self._projection
        if self._matrix is None:
            raise NeedsBatchError
        return self._matrix() @ other


class MapSeen(DeltaView):
    """``cut.delta`` while a rule is looked at: remembers what it multiplies."""

    def __init__(self, weights: Any, projection: Any) -> None:
        super().__init__(weights, projection, None)
        self.seen: dict[str, Any] = {}

    def __matmul__(self, other: Any) -> Any:
        known = isinstance(other, cp.Expression) and other.is_affine() and not other.is_constant()
        if not known or other.size != self._weights.size or other.ndim != 1:
            raise NeedsBatchError
        self.seen["" if other is self._weights else named(other)] = other
        return self._projection


def named(expression: Any) -> str:
    """Return what an expression is called: its form, and the variables in it."""
    if not isinstance(expression, cp.Expression):
        return ""
    return f"{expression} of {sorted(v.id for v in expression.variables())}"


class NeedsBatchError(Exception):
    """The rule looks into delta itself, so that no template can stand for it."""


class FailedRuleError(IncompatibleError):
    """A rule raised an error of its own."""


class CutView:
    """What a rule sees: a batch of cuts, each a row.

    Attributes
    ----------
    delta : DeltaView
        ``delta @ w`` is phi(x, gold) - phi(x, y) times the weights.
    loss : array
        loss(gold, y).
    margin, scale : arrays
        What the oracle asks for, if one was named: ``scale * (delta @ w) >= margin - slack``.
    """

    def __init__(self, delta: DeltaView, numbers: Mapping[str, Any], pick: Any) -> None:
        self.delta, self._numbers, self._pick = delta, numbers, pick

    @property
    def loss(self) -> Any:
        """The loss of each cut's output."""
        return self._numbers["loss"]

    @property
    def margin(self) -> Any:
        """The margin that the family's oracle asks for."""
        return self._of_oracle("margin")

    @property
    def scale(self) -> Any:
        """The factor of the family's oracle on ``delta @ w``."""
        return self._of_oracle("scale")

    def _of_oracle(self, name: str) -> Any:
        if name not in self._numbers:
            raise IncompatibleError(
                f"cut.{name} is what an oracle asks for: name the oracle, m.cuts(oracle, rule), or "
                "write the margin in terms of cut.loss."
            )
        return self._numbers[name]

    def of(self, variable: Any) -> Any:
        """Return the entry of a per-example variable that belongs to each cut's example."""
        return self._pick(variable)


def said(rule: Callable[[CutView], Any], cut: CutView) -> Any:
    """Return what a rule says of cuts; an error of its own says what it was called with."""
    try:
        return rule(cut)
    except (StructoptError, NeedsBatchError, MemoryError):
        raise
    except Exception as error:
        raise FailedRuleError(
            f"The rule of a cut family failed: {type(error).__name__}: {error} It is called with "
            "many cuts at once: cut.loss is an array, so write np.where(...) in the place of if, "
            "and cut.of(...) for numbers of examples."
        ) from error


def sides_of(rule: Any) -> list[tuple[Any, bool]]:
    """Return the rule's constraints as expressions that must be >= 0, or == 0 where flagged."""
    given = list(rule) if isinstance(rule, list | tuple) else [rule]
    sides: list[tuple[Any, bool]] = []
    for constraint in given:
        if isinstance(constraint, Inequality):
            sides.append((constraint.args[1] - constraint.args[0], False))
        elif isinstance(constraint, Equality):
            sides.append((constraint.args[0] - constraint.args[1], True))
        elif isinstance(constraint, NonNeg | Zero):
            sides.append((constraint.args[0], isinstance(constraint, Zero)))
        elif isinstance(constraint, NonPos):
            sides.append((-constraint.args[0], False))
        else:
            raise IncompatibleError(
                f"A cut family's rule must return affine (in)equalities, not "
                f"{type(constraint).__name__}."
            )
    for expression, _ in sides:
        theirs = [p for p in expression.parameters() if not isinstance(p, CutNumber)]
        if theirs:
            raise IncompatibleError(
                f"The rule of a cut family holds the cp.Parameter {theirs[0]}: rules are lowered "
                "once, so write its number instead."
            )
    if not sides or len(sides) > 2:
        raise IncompatibleError(
            f"A rule returns one constraint, or two sides of one; got {len(sides)}. Declare more "
            "families with m.cuts(...) for more rows."
        )
    return sides
