r"""A decision: the y of a set that costs least, where costs are predicted from the input.

    c_hat = W x,    score(y) = - scale * c_hat . y,    phi(x, y) = - scale * x (outer) y,

or ``c_hat_j = w . f_j`` where the input is a matrix with a row of features f_j for each part. The
loss of a gold decision that brings its costs (:class:`~structopt.losses.Priced`) is the regret, of
any other the Hamming distance:

    loss(gold, y) = c . (y - gold)      or      sum_j [y_j != gold_j].

With the regret and ``scale=2`` the margin-rescaled hinge is the SPO+ loss,

    max_y [ c . (y - y*) - 2 c_hat . (y - y*) ] = max_y (c - 2 c_hat) . y + 2 c_hat . y* - c . y*.

>>> import numpy as np, structopt as so
>>> structure = so.Decision(so.decisions.GridPaths(2, 2))
>>> gold = so.losses.Priced((0, 1, 0, 1), [1.0, 2.0, 5.0, 1.0])
>>> structure = structure.fitted(np.ones((1, 1)), [gold])
>>> weights = np.array([1.0, 2.0, 0.0, 1.0])
>>> best = structure.argmax(np.ones(1), weights)
>>> best, structure.loss(gold, best), structure.loss((0, 1, 0, 1), best)
((1, 0, 1, 0), 3.0, 4.0)
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp

from structopt.arrays import Floats, as_floats, as_matrix, check_columns, first_not_finite
from structopt.errors import IncompatibleError, InfeasibleError, InvalidInputError
from structopt.parameters import Positive
from structopt.structures.base.costed import plain
from structopt.structures.base.input_rows import InputRows
from structopt.structures.base.packed import PackedStructure
from structopt.structures.base.structure import check_lengths
from structopt.structures.decision.base import DecisionSet, as_rows
from structopt.structures.decision.priced import Priced
from structopt.structures.decision.shard import DecisionShard

Output = tuple[float, ...]


class Decision(PackedStructure):
    r"""Decisions of a set; X are rows (n, p), or a matrix (m, p) an example, Y decisions.

    Parameters
    ----------
    decisions : DecisionSet
        What can be decided, such as ``so.decisions.GridPaths(5, 5)``.
    scale : float
        Factor of costs in scores: 2 is that of SPO+, 1 that of inverse optimisation.
    intercept : bool
        Whether inputs get a column of ones; its weights are as regularised as the others.

    Attributes
    ----------
    n_features_, n_inputs_ : int
        Weights, and columns p of the inputs (without that of the intercept).
    by_part_ : bool
        Whether inputs are matrices with a row for each part, whose weights all parts share.

    Notes
    -----
    Elmachtoub and Grigas, "Smart predict, then optimize", 2022, for the regret; Zattoni Scroccaro,
    Atasoy and Mohajerin Esfahani, "Learning in inverse optimization", 2024, for the distance.
    """

    offers: ClassVar[frozenset[str]] = frozenset({"argmax", "argmin", "second_best"})

    n_inputs_: int
    by_part_: bool

    def __init__(
        self, decisions: DecisionSet, *, scale: Positive = 2.0, intercept: bool = False
    ) -> None:
        self.decisions, self.scale, self.intercept = decisions, scale, intercept

    def abilities(self) -> frozenset[str]:
        """Return the questions it can answer: real decisions have no second best one."""
        own = super().abilities()
        return own if self.decisions.boolean else own - {"second_best"}

    def why_not(self, ability: str) -> str:
        """Return why an ability is missing."""
        if ability == "second_best" and not self.decisions.boolean:
            return "Real decisions have others as near as one likes: only 0/1 ones can be second."
        return super().why_not(ability)

    def _check(self, ability: str, *definitions: str) -> None:
        if ability == "second_best" and not self.decisions.boolean:
            raise IncompatibleError(self.why_not(ability))
        super()._check(ability, *definitions)

    # ------------------------------------------------------------------ fitting and encoding
    def fitted(self, X: Any, Y: Sequence[Any]) -> Self:
        """Return a copy that knows the dimension."""
        check_lengths(X, Y)
        self.decisions.check()
        fitted = copy.copy(self)
        matrix, fitted.by_part_ = _inputs(X, self.decisions.n_parts)
        fitted.n_inputs_ = matrix.shape[1]
        parts = 1 if fitted.by_part_ else self.decisions.n_parts
        fitted.n_features_ = parts * (fitted.n_inputs_ + self.intercept)
        return fitted

    def pack(self, X: Any, Y: Sequence[Any] | None, start: int = 0) -> DecisionShard:
        """Return checked examples as a shard; refuse gold decisions that are not in the set."""
        m = self.decisions.n_parts
        matrix, by_part = self._matrix(X, start)
        n = matrix.shape[0] // m if by_part else matrix.shape[0]
        if Y is None:
            gold = added = np.zeros((n, m))
        else:
            gold = as_rows([plain(y) for y in Y], m, "The decision", start)
            self._check_gold(gold, start)
            added = self._added(Y, gold, start)
        return DecisionShard(self.decisions, InputRows.of(matrix), gold, added, self.scale, start)

    def held(self, X: Any, given: Any, shard: Any) -> Any:
        """Return which parts are held in (1) or out (0), -1 where nothing is given."""
        return self.decisions.held(given, shard.start)

    def unpack(self, shard: DecisionShard, outputs: Any) -> list[Output]:
        """Return every decision as a tuple, of integers where they are 0/1."""
        every = outputs.astype(np.int64) if self.decisions.boolean else outputs
        return [tuple(row) for row in every.tolist()]

    # ------------------------------------------------------------------ what it means
    def joint_features(self, x: Any, y: Any) -> Any:
        """Return ``- scale * x (outer) y``: a sparse row."""
        decision = self._decision(y)
        matrix, by_part = self._matrix([x])
        if by_part:
            return sp.csr_array(-self.scale * (sp.csr_array(decision[None, :]) @ matrix))
        return sp.csr_array(-self.scale * sp.kron(decision[None, :], matrix))

    def loss(self, y: Any, other: Any) -> float:
        """Return the regret of ``other`` if y brings costs, else in how many parts they differ."""
        if isinstance(y, Priced):
            self._decision(y)
            return y.regret(self._decision(other))
        return float(self.part_errors(y, other))

    def part_errors(self, y: Any, other: Any) -> int:
        """Return the number of parts that differ."""
        return int(np.count_nonzero(self._decision(y) != self._decision(other)))

    def _decision(self, y: Any) -> Floats:
        """Return a decision as numbers, without its costs."""
        found = as_floats(plain(y), "a decision")
        if found.shape != (self.decisions.n_parts,):
            raise InvalidInputError(
                f"A decision has shape {found.shape}: give a number for each of "
                f"{self.decisions.n_parts} parts."
            )
        return found

    def note(self) -> str:
        """Return what the set says about its answers."""
        return self.decisions.note()

    def feature_names(self, inputs: Any = None) -> list[tuple[str, str]]:
        """Return ``(input, part)`` for each weight."""
        known = [f"x{k}" for k in range(self.n_inputs_)] if inputs is None else list(inputs)
        known += ["intercept"] if self.intercept else []
        parts = [""] if self.by_part_ else self.decisions.part_names()
        return [(str(name), part) for part in parts for name in known]

    def predict_costs(self, X: Any, weights: Floats) -> Floats:
        """Return the predicted costs of every part, (n, m)."""
        return self.pack(X, None).costs(weights)

    # ------------------------------------------------------------------ inside
    def _matrix(self, X: Any, start: int = 0) -> tuple[Any, bool]:
        """Return inputs as one matrix, ones added, and whether rows are parts."""
        matrix, by_part = _inputs(X, self.decisions.n_parts, start, self.n_inputs_)
        if by_part != self.by_part_:
            said = "a matrix an example" if self.by_part_ else "one row an example"
            raise InvalidInputError(f"Inputs have shape {np.shape(X)}; this model learned {said}.")
        if not self.intercept:
            return matrix, by_part
        ones = np.ones((matrix.shape[0], 1))
        if sp.issparse(matrix):
            return sp.hstack([matrix, sp.csr_array(ones)], format="csr"), by_part
        return np.hstack([matrix, ones]), by_part

    def _check_gold(self, gold: Floats, start: int) -> None:
        outside = np.flatnonzero(~self.decisions.contains(gold))
        if len(outside):
            i = start + int(outside[0])
            raise InfeasibleError(
                f"The decision of example {i} is not in the set of decisions "
                f"({type(self.decisions).__name__}): correct it, or the set.",
                example=i,
            )

    def _added(self, Y: Sequence[Any], gold: Floats, start: int) -> Floats:
        """Return what each part adds to the loss: its cost, or 1 and -1 for the distance."""
        brought = [isinstance(y, Priced) for y in Y]
        if not all(brought) and not self.decisions.boolean:
            i = start + brought.index(False)
            raise IncompatibleError(
                f"The decision of example {i} is real: its distance from others is not linear, so "
                "no exact question is known. Give costs, or so.losses.Priced(y, zeros) for the "
                "suboptimality loss."
            )
        added = 1.0 - 2.0 * gold
        which = np.flatnonzero(brought)
        if len(which):
            costs = [Y[i].costs for i in which.tolist()]
            added[which] = _costs(costs, gold.shape[1], which + start)
        return added


def _costs(costs: list[Floats], m: int, examples: Any) -> Floats:
    for own, i in zip(costs, examples.tolist(), strict=True):
        if own.shape != (m,) or not np.isfinite(own).all():
            raise InvalidInputError(
                f"The costs of example {i} have shape {own.shape}; expected {m} finite numbers.",
                example=i,
            )
    return np.array(costs)


def _inputs(X: Any, m: int, start: int = 0, columns: int | None = None) -> tuple[Any, bool]:
    """Return inputs as one matrix, and whether it has a row for each part of each example."""
    if sp.issparse(X):
        matrix, by_part = as_matrix(X), False
    else:
        if isinstance(X, list | tuple) and len(X) and sp.issparse(X[0]):
            X = sp.vstack([sp.csr_array(x).reshape(1, -1) for x in X], format="csr")
            return _inputs(X, m, start, columns)
        array = as_floats(X, "X")
        by_part = array.ndim == 3
        if by_part and array.shape[1] != m:
            raise InvalidInputError(
                f"X has shape {array.shape}: expected a row of features for each of {m} parts."
            )
        matrix = as_matrix(array.reshape(-1, array.shape[2]) if by_part else array)
    check_columns(matrix, matrix.shape[1] if columns is None else columns, name="X")
    bad = first_not_finite(matrix)
    if bad is not None:
        i = start + (bad[0] // m if by_part else bad[0])
        raise InvalidInputError(
            f"The input of example {i} holds {bad[2]} in column {bad[1]}: replace or drop what is "
            "not finite.",
            example=i,
        )
    return matrix, by_part
