"""A rule as a linear map: read off CVXPY's own lowering once, then applied as plain arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import cvxpy.settings as names
import numpy as np
import scipy.sparse as sp
from cvxpy.cvxcore.python import canonInterface
from cvxpy.lin_ops import lin_op

from structopt.arrays import Floats
from structopt.errors import IncompatibleError
from structopt.master.cuts import Cuts, take_rows

MOVING = "a variable is multiplied by cut.loss (or cut.margin, cut.scale)"


class Template:
    """A rule as a linear map from (1, loss, margin, scale, example) to coefficients."""

    def __init__(self, sides: Sequence[tuple[Any, bool]], parameters: Mapping[str, Any],
                 projection: Any, columns: Mapping[int, int], size: int) -> None:  # fmt: skip
        sizes, starts, total = {lin_op.CONSTANT_ID: 1}, {}, 0
        for parameter in parameters.values():
            sizes[parameter.id], starts[parameter.id] = parameter.size, total
            total += parameter.size
        starts[lin_op.CONSTANT_ID] = total
        self.size = size
        self.sides = []
        for expression, equality in sides:
            if any(p.id not in starts for p in expression.parameters()):
                raise ValueError("a Parameter of the user's own")
            tensor = canonInterface.get_problem_matrix(
                [expression.canonical_form[0]], size + 1, {**columns, projection.id: size},
                sizes, starts, 1, names.COO_CANON_BACKEND,
            )  # fmt: skip
            # rows: parameters, then the constant; columns: x, the projection, the constant
            table = sp.csr_array(sp.csr_array(tensor).T)
            blocks = {
                name: table[starts[p.id] : starts[p.id] + p.size] for name, p in parameters.items()
            }
            self.sides.append(TemplateSide(blocks, table[[total]], size, equality))

    def rows(self, cuts: Cuts) -> Cuts:
        """Return cuts with their rows."""
        return assemble(cuts, [side.rows(cuts) for side in self.sides])


class TemplateSide:
    """One side of a rule: what a cut's row takes from its example and from its numbers.

    Plain arrays, because rules usually touch x through ``cut.of`` only, and a dozen small sparse
    products a round would cost more than all else that is done to the round's rows.
    """

    def __init__(self, blocks: Mapping[str, Any], constant: Any, size: int, equality: bool) -> None:
        self.equality = equality
        self._x = sp.csr_array(blocks["pick"][:, :size])
        self._x.sum_duplicates()
        self._x.eliminate_zeros()
        self._ends = blocks["pick"][:, size:].toarray()
        self._added = [
            (name, sp.csr_array(block[:, :size]), block[:, size:].toarray())
            for name, block in (
                (None, constant),
                *((n, b) for n, b in blocks.items() if n != "pick"),
            )
            if block.nnz
        ]

    def read(self, cuts: Cuts) -> tuple[Floats, Floats, str]:
        """Return factors and margins, numbers by examples, and what no oracle knows of."""
        ends = np.broadcast_to(self._ends, (len(cuts), *self._ends.shape))
        odd = ""
        for name, x, end in self._added:
            values = np.ones(len(cuts)) if name is None else getattr(cuts, name)
            ends = ends + values[:, None, None] * end
            odd = MOVING if name is not None and x.count_nonzero() else odd
        return ends[:, :, 0], -ends[:, :, 1], odd

    def rows(self, cuts: Cuts) -> tuple[Floats, Any, Floats, bool]:
        """Return factors, the other columns, constants, and whether the side is an equality."""
        extra = take_rows(self._x, cuts.example)
        ends = self._ends[cuts.example]
        for name, x, end in self._added:
            values = np.ones(len(cuts)) if name is None else getattr(cuts, name)
            ends = ends + values[:, None] * end
            if x.nnz:
                extra = sp.csr_array(extra + sp.csr_array(values[:, None]) @ x)
        return ends[:, 0], extra, ends[:, 1], self.equality


def assemble(cuts: Cuts, sides: Sequence[tuple[Floats, Any, Floats, bool]]) -> Cuts:
    """Return cuts with the rows of a rule's one or two sides."""
    factor, extra, constant, equality = sides[0]
    upper = -constant if equality else np.full(len(constant), np.inf)
    if len(sides) == 2:
        other_factor, other_extra, other_constant, other_equality = sides[1]
        opposite = np.allclose(factor, -other_factor, 1e-12, 0.0)
        opposite = opposite and (extra + other_extra).count_nonzero() == 0
        if equality or other_equality or not opposite:
            raise IncompatibleError(
                "The two constraints of a rule must bound the same expression from both sides; "
                "declare two families with m.cuts(...) instead."
            )
        upper = other_constant
    factor, upper = np.asarray(factor, dtype=np.float64), np.asarray(upper)
    return replace(cuts, factor=factor, extra=extra, lower=-constant, upper=upper)
