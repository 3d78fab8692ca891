r"""Any set of outputs that CVXPY constraints over booleans describe.

An output is a 0/1 vector z of parts, with a feature row F_p(x) for each part:

    score(z) = w . F(x)' z,    loss(gold, z) = the costs of the parts that differ (PartCosts),

over the z in constraints(x).

Every question is an integer linear programme over the same rows, solved by HiGHS: `argmax` adds the
loss to the scores, `argmin` negates them, `second_best` and `k_best` forbid what is known already.
Of equally good outputs any may be returned.

>>> import cvxpy as cp, numpy as np, structopt as so
>>> def at_most_two(x, z):                  # x: a row of numbers for each part
...     return [cp.sum(z) <= 2, z[0] + z[1] <= 1]
>>> structure = so.BooleanProgram(at_most_two, np.atleast_2d)
>>> x = np.array([[3.0], [2.5], [1.0], [-1.0]])
>>> structure.argmax(x, np.ones(1))
(1, 0, 1, 0)
>>> structure.k_best(x, np.ones(1), 3)
[(1, 0, 1, 0), (0, 1, 1, 0), (1, 0, 0, 0)]
>>> structure.argmin(x, np.ones(1)), structure.loss((1, 0, 1, 0), (0, 1, 1, 0))
((0, 0, 0, 1), 2.0)
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp

from structopt.arrays import as_matrix, check_columns, count, first_not_finite
from structopt.errors import InfeasibleError, InvalidInputError, OracleError, StructoptError
from structopt.structures.base.costed import costs_of, plain
from structopt.structures.base.given import held_entries
from structopt.structures.base.integer.rows import compile_rows
from structopt.structures.base.integer.solver import IntegerProgram
from structopt.structures.base.packed import PackedStructure
from structopt.structures.base.structure import check_lengths
from structopt.structures.base.vectors import Mask
from structopt.structures.losses.part_costs import PartCosts
from structopt.structures.program.shard import ProgramShard

Output = tuple[int, ...]


class BooleanProgram(PackedStructure):
    r"""0/1 vectors that satisfy constraints; X is a list of anything, Y a list of 0/1 vectors.

    Parameters
    ----------
    constraints : callable (x, z) -> list of CVXPY constraints
        Linear in the boolean ``cvxpy.Variable`` z of parts, and in any further variables. A
        subclass may define a method of this name instead.
    features : callable x -> (parts, d) matrix, dense or sparse
        One row for each part. A subclass may define a method of this name instead.
    loss : PartCosts, optional
        What each part too many and each part too few costs: numbers, vectors with an entry for
        each part, or callables gold -> vector; by default 1.
    gap : float
        Relative gap at which branch and bound may stop. Certificates count what it leaves open.
    time_limit : float, optional
        Seconds that branch and bound may take for one question; again certificates count it.

    Attributes
    ----------
    n_features_ : int
        Columns d of the features.

    Notes
    -----
    Punyakanok, Roth, Yih and Zimak, "Learning and Inference over Constrained Output", 2005: the
    argmax under constraints is an integer linear programme.
    """

    offers: ClassVar[frozenset[str]] = frozenset({"argmax", "argmin", "second_best", "k_best"})

    constraints: Any = None
    features: Any = None

    def __init__(
        self,
        constraints: Callable[[Any, Any], Any] | None = None,
        features: Callable[[Any], Any] | None = None,
        *,
        loss: Any = None,
        gap: float = 0.0,
        time_limit: float | None = None,
    ) -> None:
        for name, given in (("constraints", constraints), ("features", features)):
            if given is not None:  # else the subclass has a method of that name
                setattr(self, name, given)
        self.cost = loss
        self.gap = gap
        self.time_limit = time_limit

    # ------------------------------------------------------------------ fitting and encoding
    def fitted(self, X: Sequence[Any], Y: Sequence[Any]) -> Self:
        """Return a copy that knows the dimension."""
        check_lengths(X, Y)
        for name in ("constraints", "features"):
            if not callable(getattr(self, name, None)):
                raise InvalidInputError(
                    f"{type(self).__name__} has no {name}: give a function, or define a method."
                )
        fitted = copy.copy(self)
        fitted.n_features_ = self._features(next(iter(X)), 0).shape[1]
        return fitted

    def pack(self, X: Sequence[Any], Y: Sequence[Any] | None, start: int = 0) -> ProgramShard:
        """Compile every example once; refuse gold outputs that break their constraints."""
        listed = [] if Y is None else list(Y)  # a frame is not read by position
        programs, features, golds, known, added = [], [], [], [], []
        for i, x in enumerate(X):
            matrix = self._features(x, start + i)
            program = self._program(x, matrix.shape[0], start + i)
            gold = np.zeros(matrix.shape[0], dtype=bool)
            open_ = np.zeros(matrix.shape[0], dtype=bool)
            if Y is not None:
                gold, open_ = _parted(listed[i], len(gold), start + i)
                if not open_.any() and not program.contains(gold.astype(np.float64)):
                    raise InfeasibleError(
                        f"The gold output of example {start + i} breaks its constraints: correct "
                        "one of them.",
                        example=start + i,
                    )
            programs.append(program)
            features.append(matrix)
            golds.append(gold)
            known.append(np.where(open_, -1, gold).astype(np.int8))
            added.append(np.zeros(len(gold)) if Y is None else self._added(Y[i], gold, start + i))
        return ProgramShard(programs, features, golds, added, start).begun(np.concatenate(known))

    def held(self, X: Any, given: Any, shard: Any) -> Any:
        """Return which parts are fixed at 1 or 0, -1 where nothing is given."""
        sizes = np.diff(shard.offsets).tolist()
        each = enumerate(zip(given, sizes, strict=True), shard.start)
        return np.concatenate([held_entries(told, n, i) for i, (told, n) in each])

    def unpack(self, shard: ProgramShard, outputs: Any) -> list[Output]:
        """Return the 0/1 vectors of every example."""
        every = outputs.astype(int).tolist()
        return [tuple(every[a:b]) for a, b in pairwise(shard.offsets.tolist())]

    # ------------------------------------------------------------------ what it means
    def joint_features(self, x: Any, y: Any) -> Any:
        """Return the summed features of the parts of y: a sparse row."""
        matrix = sp.csr_array(self._features(x))
        return sp.csr_array(sp.csr_array(_output(y, matrix.shape[0])[None, :] * 1.0) @ matrix)

    def loss(self, y: Any, other: Any) -> float:
        """Return the summed costs of the parts in which the outputs differ."""
        if self.own_loss is not None:
            return float(self.own_loss(y, other))
        gold, open_ = _parted(y, count(y, "An output"))
        predicted = _output(other, len(gold))
        return float(np.abs(self._added(y, gold)) @ ((gold != predicted) & ~open_))

    def note(self) -> str:
        """Return that answers may stop short of the best, if they may."""
        if self.gap == 0 and self.time_limit is None:
            return ""
        return "branch and bound may stop early; the primal value counts what it leaves open"

    def part_errors(self, y: Any, other: Any) -> int:
        """Return the number of parts that differ."""
        gold, open_ = _parted(y, len(y))
        return int(np.count_nonzero((gold != _output(other, len(y))) & ~open_))

    # ------------------------------------------------------------------ inside
    def _program(self, x: Any, parts: int, example: int | None) -> IntegerProgram:
        import cvxpy as cp

        z = cp.Variable(parts, boolean=True, name="z")
        constraints = _called(self.constraints, "constraints", example, x, z)
        rows = compile_rows(constraints, z, example=example)
        return IntegerProgram(rows, gap=self.gap, time_limit=self.time_limit)

    def _features(self, x: Any, example: int | None = None) -> Any:
        name = "Features" if example is None else f"Features of example {example}"
        matrix = as_matrix(_called(self.features, "features", example, x), name=name)
        expected = getattr(self, "n_features_", matrix.shape[1])
        check_columns(matrix, expected, name=name, example=example)
        bad = first_not_finite(matrix)
        if bad is not None or matrix.shape[0] == 0:
            reason = "no parts" if bad is None else f"{bad[2]} at part {bad[0]}, column {bad[1]}"
            raise InvalidInputError(f"{name}: {reason}.", example=example)
        return matrix

    def _added(self, y: Any, gold: Mask, example: int | None = None) -> Any:
        brought = costs_of(y)
        if brought is None:
            return PartCosts.given(self.cost).added(gold, y, example)
        if brought.shape not in ((), gold.shape):
            raise InvalidInputError(
                f"An output of {len(gold)} parts brings costs of shape {brought.shape}.",
                example=example,
            )
        return np.where(gold, -brought, brought)


def _called(function: Callable[..., Any], name: str, example: int | None, *given: Any) -> Any:
    """Call a function of the user's; say which one failed, and where."""
    try:
        return function(*given)
    except (StructoptError, KeyboardInterrupt):
        raise
    except Exception as error:
        where = "" if example is None else f" on example {example}"
        raise OracleError(
            f"{name} failed{where}: {type(error).__name__}: {error}", example=example
        ) from error


def _parted(y: Any, parts: int, example: int | None = None) -> tuple[Mask, Mask]:
    """Return a 0/1 output as a mask, and which of its entries are None or NaN: unknown."""
    given = plain(y)
    try:
        z = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        z = np.zeros(0)
    if z.shape != (parts,) or not np.isnan(z).any():
        return _output(given, parts, example), np.zeros(parts, dtype=bool)
    return _output(np.where(np.isnan(z), 0.0, z), parts, example), np.isnan(z)


def _output(y: Any, parts: int, example: int | None = None) -> Mask:
    """Return a 0/1 output as a mask."""
    y = plain(y)
    try:
        z = np.asarray(y, dtype=np.float64)
    except (TypeError, ValueError):
        z = np.zeros(0)
    if z.shape != (parts,) or not np.all((z == 0) | (z == 1)):
        where = "An output" if example is None else f"The output of example {example}"
        raise InvalidInputError(
            f"{where} must hold {parts} numbers 0 or 1, one for each part; got {y!r}.",
            example=example,
        )
    mask: Mask = z == 1
    return mask
