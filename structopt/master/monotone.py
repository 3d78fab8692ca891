"""Whether expressions rise with some variables, by CVXPY's own rules of composition.

>>> xi, w = cp.Variable(3, nonneg=True), cp.Variable(2)
>>> rises(cp.sum(cp.huber(xi)) + cp.norm1(w), {xi.id}), rises(cp.sum_largest(xi, 2), {xi.id})
(True, True)
>>> rises(cp.sum_squares(xi - cp.sum(xi) / 3), {xi.id})
False
"""

from __future__ import annotations

from collections.abc import Set
from typing import Any

import cvxpy as cp


def rises(expression: Any, variables: Set[int], *, falling: bool = False) -> bool:
    """Return whether an expression is known never to fall as variables rise (``falling``: rise)."""
    if not variables & {v.id for v in expression.variables()}:
        return True
    if isinstance(expression, cp.Variable):
        return not falling
    up, down = (expression.is_incr, expression.is_decr)[:: -1 if falling else 1]
    return all(
        (up(i) and rises(argument, variables))
        or (down(i) and rises(argument, variables, falling=True))
        for i, argument in enumerate(expression.args)
        if variables & {v.id for v in argument.variables()}
    )
