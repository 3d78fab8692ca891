r"""Labellings that must satisfy hard constraints.

    argmax  score(y)    over the labellings y of x that satisfy every constraint.

On a `Chain` an example is a sequence, as ever; transitions that it forbids stay forbidden. On a
`Multiclass` it is a *set* of rows that are labelled together, score(y) = sum_t W[y_t] . x_t, with
the weights of the `Multiclass` model.

>>> import cvxpy as cp, numpy as np, structopt as so
>>> X, Y = [np.eye(2), np.eye(2)], [["a", "b"], ["b", "a"]]
>>> def as_many(x, z):                                      # a constraint of one's own
...     return [cp.sum(z["a"]) == cp.sum(z["b"])]
>>> once = so.constrain(so.Chain(), [so.constraints.at_most_one("b"), as_many]).fitted(X, Y)
>>> weights = np.array([0.0, 0.0, 2.0, 1.0, 0.0, 0.0, 0.0, 0.0])     # both positions want b
>>> once.argmax(X[0], weights), once.k_best(X[0], weights, 4)
(['b', 'a'], [['b', 'a'], ['a', 'b']])
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp

from structopt.arrays import Ints
from structopt.errors import (
    IncompatibleError,
    InfeasibleError,
    InvalidInputError,
    OracleError,
    StructoptError,
)
from structopt.parameters import checked
from structopt.structures.base.integer.rows import LinearRows, compile_rows
from structopt.structures.base.labelled import LabelledStructure
from structopt.structures.base.structure import Structure, check_lengths
from structopt.structures.chain.shard import ChainShard
from structopt.structures.chain.structure import Chain
from structopt.structures.chain.transitions import Bools
from structopt.structures.constrain.rules import Labelling, Rule
from structopt.structures.constrain.search import Checker, LabellingSet
from structopt.structures.constrain.shard import ConstrainedShard
from structopt.structures.multiclass.structure import Multiclass

FITTED = ("labels_", "n_inputs_", "class_weight_", "confusion_", "n_features_", "allowed_")


@checked
def constrain(structure: Structure, constraints: Rule | Sequence[Rule]) -> Constrained:
    """Return a `Chain` or `Multiclass` whose outputs must satisfy constraints.

    Parameters
    ----------
    structure : Chain or Multiclass
        If it is fitted (a model's ``structure_``), so is the result, and its weights fit:
        constraints can be added to a model that was trained without them.
    constraints : callable (x, z), or a sequence of them
        Each returns a list of CVXPY constraints on the labelling ``z``, see
        :class:`~structopt.structures.constrain.rules.Labelling`; ready-made ones are in
        ``structopt.structures.constrain.rules``.
    """
    made = Constrained(structure, constraints)
    made._plain()  # refuses other structures
    if hasattr(structure, "n_features_"):
        for name in FITTED:
            setattr(made, name, getattr(structure, name, None))
    return made


class Constrained(LabelledStructure):
    r"""A `Chain` or `Multiclass` with hard constraints; made by :func:`constrain`.

    X is a list of (T, d) matrices, or of pairs ``(matrix, context)``: then the constraints are
    called with the context (words, spans, a predicate) instead of the matrix. Y is a list of label
    sequences.

    Raises
    ------
    InfeasibleError
        A gold labelling breaks its constraints, or no labelling satisfies them; it names the
        example.
    """

    n_inputs_: int

    allowed_: Bools | None = None

    offers: ClassVar[frozenset[str]] = frozenset({"argmax", "argmin", "second_best", "k_best"})

    def __init__(self, structure: Structure, constraints: Rule | Sequence[Rule]) -> None:
        self.structure = structure
        self.constraints = constraints

    # ------------------------------------------------------------------ fitting and encoding
    def fitted(self, X: Sequence[Any], Y: Sequence[Any]) -> Self:
        """Return a copy that knows the labels, their weights and the dimension."""
        check_lengths(X, Y)
        chain = self._plain().fitted([_parted(x)[0] for x in X], Y)
        fitted = copy.copy(self)
        for name in FITTED:
            setattr(fitted, name, getattr(chain, name))
        if not self.chained:
            fitted.n_features_ = len(chain.labels_) * chain.n_inputs_
        return fitted

    def pack(self, X: Any, Y: Sequence[Any] | None, start: int = 0) -> ConstrainedShard:
        """Compile every example's constraints; refuse gold outputs that break them."""
        chain = self._free(X, Y, start)
        sets = self._sets(X, chain.offsets, start)
        if chain.known is not None:
            raise InvalidInputError(
                "A label is None, unknown: what is unknown is completed for a plain Chain or "
                "Multiclass, not under constraints."
            )
        broken: Any = [] if Y is None else Checker(sets, chain.offsets).broken(chain.gold)
        if len(broken):
            i = start + int(broken[0])
            raise InfeasibleError(
                f"The gold labels of example {i} break its constraints ({len(broken)} of {len(X)} "
                "examples do): correct them, or drop the constraint.",
                example=i,
            )
        return ConstrainedShard(chain, sets, self.chained)

    def unconstrained(self) -> Constrained:
        """Return the same structure with every labelling legal; weights mean the same in both."""
        free = copy.copy(self)
        free.constraints = []
        return free

    def local_problems(self, X: Any, Y: Any) -> Iterator[tuple[Any, Ints, slice]]:
        """Yield all positions, their labels as integers, and where the weights of labels stand."""
        chain = self._free(X, Y)
        yield chain.tokens.matrix, chain.gold, slice(0, len(self.labels_) * self.n_inputs_)

    def broken(self, X: Sequence[Any], Y: Sequence[Any]) -> list[int]:
        """Return the examples whose labels in Y break their constraints."""
        check_lengths(X, Y)
        chain = self._free(X, Y)
        sets = self._sets(X, chain.offsets, 0)
        found: list[int] = Checker(sets, chain.offsets).broken(chain.gold).tolist()
        return found

    # ------------------------------------------------------------------ what it means
    def joint_features(self, x: Any, y: Any) -> Any:
        """Return what the structure without constraints returns: a sparse row."""
        row = self._chain().joint_features(_parted(x)[0], y)
        return row if self.chained else sp.csr_array(row[:, : self.n_features_])

    def feature_names(self, inputs: Sequence[str] | None = None) -> list[tuple[str, str]]:
        """Return ``(feature, label)`` for each weight; inputs are x0, x1, ... unless named."""
        return self._chain().feature_names(inputs)[: self.n_features_]

    # ------------------------------------------------------------------ inside
    @property
    def cost(self) -> Any:
        """The loss of the structure without constraints."""
        return self.structure.get_params(deep=False).get("loss")

    @property
    def chained(self) -> bool:
        """Whether transitions have weights."""
        return isinstance(self.structure, Chain)

    @property
    def boundaries(self) -> bool:
        """Whether the first and the last label have weights."""
        return bool(getattr(self.structure, "boundaries", False))

    def _plain(self) -> Chain:
        """Return the chain that does the work; its transitions are not used for a Multiclass."""
        given = self.structure
        if not isinstance(given, Chain | Multiclass) or getattr(given, "decoder", "") == "networkx":
            raise IncompatibleError(
                f"constrain takes a compiled Chain or Multiclass, not {given!r}; "
                "describe other sets of outputs with so.BooleanProgram."
            )
        if given.overridden():
            raise IncompatibleError(
                f"{type(given).__name__} overrides {sorted(given.overridden())}, which constrain "
                "would not ask: constrain a plain Chain or Multiclass."
            )
        transitions = getattr(given, "transitions", None)
        return Chain(given.labels, given.cost, self.boundaries, transitions=transitions)

    def _chain(self) -> Chain:
        chain = self._plain()
        for name in FITTED:
            setattr(chain, name, getattr(self, name))
        if not self.chained:
            chain.n_features_ += len(self.labels_) ** 2
        return chain

    def _free(self, X: Any, Y: Any, start: int = 0) -> ChainShard:
        """Return the examples as a chain without constraints."""
        return self._chain().pack([_parted(x)[0] for x in X], Y, start)

    def _sets(self, X: Sequence[Any], offsets: Ints, start: int) -> list[LabellingSet]:
        given = enumerate(zip(X, np.diff(offsets).tolist(), strict=True), start)
        return [self._set(x, length, i) for i, (x, length) in given]

    def _set(self, x: Any, length: int, example: int) -> LabellingSet:
        z = Labelling(self.labels_, length)
        given = self.constraints
        rules: Sequence[Callable[..., Any]] = [given] if callable(given) else given
        where = f" on example {example}"
        made: list[Any] = []
        for rule in rules:
            try:
                made += list(rule(_parted(x)[1], z))
            except InvalidInputError as error:
                raise InvalidInputError(f"{error} (asked{where})", example=example) from error
            except (StructoptError, KeyboardInterrupt):
                raise
            except Exception as error:
                name = getattr(rule, "__name__", repr(rule))
                raise OracleError(
                    f"The constraint {name} failed{where}: {type(error).__name__}: {error}",
                    example=example,
                ) from error
        listed = all(isinstance(rows, LinearRows) for rows in made)  # then CVXPY is not needed
        rows = compile_rows(made, z if listed else z.variable, example=example)
        return LabellingSet(rows, length, len(self.labels_), self.chained, self.allowed_)


def _parted(x: Any) -> tuple[Any, Any]:
    """Return the matrix of an example, and what its constraints are called with."""
    return x if isinstance(x, tuple) and len(x) == 2 else (x, x)
