r"""Any set of outputs that CVXPY constraints over booleans describe.

An output is a 0/1 vector z of parts, with a feature row F_p(x) for each part:

    score(z) = w . F(x)' z,    loss(gold, z) = sum_p cost_p [z_p != gold_p],    z in constraints(x).

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
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from structopt.arrays import Floats, as_matrix, check_columns, check_weights, first_not_finite
from structopt.errors import InfeasibleError, InvalidInputError, OracleError, StructoptError
from structopt.structures.base.integer.rows import compile_rows
from structopt.structures.base.integer.solver import IntegerProgram
from structopt.structures.base.structure import Structure, check_lengths
from structopt.structures.program.shard import ProgramShard, flipped

Output = tuple[int, ...]


class BooleanProgram(Structure):
    r"""0/1 vectors that satisfy constraints; X is a list of anything, Y a list of 0/1 vectors.

    Parameters
    ----------
    constraints : callable (x, z) -> list of CVXPY constraints
        Linear in the boolean ``cvxpy.Variable`` z of parts, and in any further variables. A
        subclass may define a method of this name instead.
    features : callable x -> (parts, d) matrix, dense or sparse
        One row for each part. A subclass may define a method of this name instead.
    cost : float, vector, or callable gold -> vector
        What each wrong part adds to the loss, >= 0.
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

    constraints: Any = None
    features: Any = None

    def __init__(
        self,
        constraints: Callable[[Any, Any], Any] | None = None,
        features: Callable[[Any], Any] | None = None,
        *,
        cost: Any = 1.0,
        gap: float = 0.0,
        time_limit: float | None = None,
    ) -> None:
        for name, given in (("constraints", constraints), ("features", features)):
            if given is not None:  # else the subclass has a method of that name
                setattr(self, name, given)
        self.cost = cost
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
        fitted.n_features_ = self._features(X[0], 0).shape[1]
        return fitted

    def encode(self, X: Sequence[Any], Y: Sequence[Any], *, start: int = 0) -> ProgramShard:
        """Compile every example once; refuse gold outputs that break their constraints."""
        check_lengths(X, Y)
        programs, features, golds, costs = [], [], [], []
        for i, (x, y) in enumerate(zip(X, Y, strict=True), start):
            matrix = self._features(x, i)
            gold = _output(y, matrix.shape[0], i)
            program = self._program(x, matrix.shape[0], i)
            if not program.contains(gold):
                raise InfeasibleError(
                    f"The gold output of example {i} breaks its constraints: correct one of them.",
                    example=i,
                )
            programs.append(program)
            features.append(matrix)
            golds.append(gold)
            costs.append(self._cost(y, len(gold), i))
        return ProgramShard(programs, features, golds, costs, start)

    # ------------------------------------------------------------------ one example
    def joint_features(self, x: Any, y: Any) -> Any:
        """Return the summed features of the parts of y: a sparse row."""
        matrix = sp.csr_array(self._features(x))
        return sp.csr_array(sp.csr_array(_output(y, matrix.shape[0])[None, :]) @ matrix)

    def loss(self, y: Any, other: Any) -> float:
        """Return the summed costs of the parts in which the outputs differ."""
        gold = _output(y, len(y))
        return float(self._cost(y, len(gold)) @ (gold != _output(other, len(gold))))

    def argmax(self, x: Any, weights: Floats, *, gold: Any = None) -> Output:
        """Return the best output, loss-augmented if gold is given."""
        return self._best(x, weights, gold)

    def argmin(self, x: Any, weights: Floats) -> Output:
        """Return the output with the lowest score."""
        return self._best(x, -np.asarray(weights), None)

    def second_best(self, x: Any, weights: Floats, gold: Any) -> Output | None:
        """Return the best output other than gold; None if there is no other."""
        scores, program = self._asked(x, weights)
        found = program.maximize(scores, forbidden=[_output(gold, len(scores))])
        return None if found is None else _tuple(found.point)

    def k_best(self, x: Any, weights: Floats, k: int) -> list[Output]:
        """Return the k best outputs, best first (fewer if there are fewer)."""
        if k < 1:
            raise InvalidInputError(f"k is {k}; ask for at least one output.")
        scores, program = self._asked(x, weights)
        found: list[Floats] = []
        while len(found) < k and (best := program.maximize(scores, forbidden=found)) is not None:
            found.append(best.point)
        if not found:
            raise _infeasible(None)
        return [_tuple(point) for point in found]

    def predict(self, X: Sequence[Any], weights: Floats) -> list[Output]:
        """Return the best output of every example."""
        return [self._best(x, weights, None, i) for i, x in enumerate(X)]

    def note(self) -> str:
        """Return that answers may stop short of the best, if they may."""
        if self.gap == 0 and self.time_limit is None:
            return ""
        return "branch and bound may stop early; the primal value counts what it leaves open"

    def part_errors(self, y: Any, other: Any) -> int:
        """Return the number of parts that differ."""
        return int(np.count_nonzero(_output(y, len(y)) != _output(other, len(y))))

    # ------------------------------------------------------------------ inside
    def _best(self, x: Any, weights: Any, gold: Any, example: int | None = None) -> Output:
        scores, program = self._asked(x, weights, example)
        if gold is not None:
            scores = scores + flipped(_output(gold, len(scores)), self._cost(gold, len(scores)))
        best = program.maximize(scores)
        if best is None:
            raise _infeasible(example)
        return _tuple(best.point)

    def _asked(
        self, x: Any, weights: Any, example: int | None = None
    ) -> tuple[Floats, IntegerProgram]:
        matrix = self._features(x, example)
        scores = np.asarray(matrix @ check_weights(weights, matrix.shape[1]))
        return scores, self._program(x, len(scores), example)

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

    def _cost(self, gold: Any, parts: int, example: int | None = None) -> Floats:
        given = self.cost(gold) if callable(self.cost) else self.cost
        cost = np.asarray(given, dtype=np.float64)
        if cost.shape not in ((), (parts,)) or not np.all(np.isfinite(cost) & (cost >= 0)):
            raise InvalidInputError(
                f"cost has shape {cost.shape}; it must be a number or {parts} numbers, finite and "
                ">= 0.",
                example=example,
            )
        return np.broadcast_to(cost, parts)


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


def _output(y: Any, parts: int, example: int | None = None) -> Floats:
    """Return a 0/1 output as a float vector."""
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
    return z


def _tuple(point: Floats) -> Output:
    return tuple(int(v) for v in point)


def _infeasible(example: int | None) -> InfeasibleError:
    which = "An example" if example is None else f"Example {example}"
    return InfeasibleError(
        f"{which} has no output at all: its constraints contradict each other.", example=example
    )
