r"""Labellings that must satisfy hard constraints.

    argmax  score(y)    over the labellings y of x that satisfy every constraint.

On a `Chain` an example is a sequence, as ever. On a `Multiclass` it is a *set* of rows that are
labelled together, score(y) = sum_t W[y_t] . x_t, with the weights of the `Multiclass` model.

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
from itertools import pairwise
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from structopt.arrays import Floats, Ints, check_weights
from structopt.errors import (
    IncompatibleError,
    InfeasibleError,
    InvalidInputError,
    OracleError,
    StructoptError,
)
from structopt.structures.base.input_rows import InputRows
from structopt.structures.base.integer.rows import LinearRows, compile_rows
from structopt.structures.base.labels import LabelSet
from structopt.structures.base.structure import Structure, check_lengths
from structopt.structures.chain import kernels as chain_kernels
from structopt.structures.chain.scores import ChainScores
from structopt.structures.chain.structure import Chain
from structopt.structures.constrain.rules import Labelling, Rule
from structopt.structures.constrain.shard import Checker, ConstrainedShard, LabellingSet
from structopt.structures.multiclass.structure import Multiclass

FITTED = ("labels_", "n_inputs_", "class_weight_", "n_features_")


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
            setattr(made, name, getattr(structure, name))
    return made


class Constrained(Structure):
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

    labels_: LabelSet
    n_inputs_: int
    class_weight_: Floats

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

    def encode(self, X: Sequence[Any], Y: Sequence[Any], *, start: int = 0) -> ConstrainedShard:
        """Compile every example's constraints; refuse gold outputs that break them."""
        check_lengths(X, Y)
        chain = self._chain()
        stacked, gold = chain._stack([_parted(x)[0] for x in X], Y, start)
        offsets = stacked.offsets
        sets = self._sets(X, offsets, start)
        broken = Checker(sets, offsets).broken(gold)
        if len(broken):
            i = start + int(broken[0])
            raise InfeasibleError(
                f"The gold labels of example {i} break its constraints ({len(broken)} of {len(X)} "
                "examples do): correct them, or drop the constraint.",
                example=i,
            )
        return ConstrainedShard(
            sets, self.chained, stacked, gold, self.class_weight_, self.boundaries, start
        )

    def unconstrained(self) -> Constrained:
        """Return the same structure with every labelling legal; weights mean the same in both."""
        free = copy.copy(self)
        free.constraints = []
        return free

    def local_problems(self, X: Any, Y: Any) -> Iterator[tuple[Any, Ints, slice]]:
        """Yield all positions, their labels as integers, and where the weights of labels stand."""
        stacked, gold = self._chain()._stack([_parted(x)[0] for x in X], Y)
        yield stacked.matrix, gold, slice(0, len(self.labels_) * self.n_inputs_)

    # ------------------------------------------------------------------ one example
    def joint_features(self, x: Any, y: Any) -> Any:
        """Return what the structure without constraints returns: a sparse row."""
        row = self._chain().joint_features(_parted(x)[0], y)
        return row if self.chained else sp.csr_array(row[:, : self.n_features_])

    def loss(self, y: Any, other: Any) -> float:
        """Return the summed class weights of the positions of y that ``other`` gets wrong."""
        return self._chain().loss(y, other)

    def argmax(self, x: Any, weights: Floats, *, gold: Any = None) -> list[Any]:
        """Return the best labels, loss-augmented if gold is given."""
        scores, own = self._asked(x, weights)
        if gold is not None:
            labels = self.labels_.encode(gold)
            unary = scores.unary + self.class_weight_[labels][:, None]
            every = np.arange(len(labels))
            unary[every, labels] = scores.unary[every, labels]
            scores = scores._replace(unary=unary)
        return self._first(own.best(scores))

    def argmin(self, x: Any, weights: Floats) -> list[Any]:
        """Return the labels with the lowest score."""
        return self.argmax(x, -np.asarray(weights))

    def second_best(self, x: Any, weights: Floats, gold: Any) -> list[Any] | None:
        """Return the best labels other than gold; None if there are no others."""
        scores, own = self._asked(x, weights)
        found = own.best(scores, known=[self.labels_.encode(gold)])
        return self.labels_.decode(found[0][0]) if found else None

    def k_best(self, x: Any, weights: Floats, k: int) -> list[list[Any]]:
        """Return the k best labellings, best first (fewer if there are fewer)."""
        if k < 1:
            raise InvalidInputError(f"k is {k}; ask for at least one output.")
        scores, own = self._asked(x, weights)
        return [self.labels_.decode(labels) for labels, _ in own.best(scores, k=k)]

    def part_count(self, y: Any) -> int:
        """Return the number of positions."""
        return len(y)

    def part_errors(self, y: Any, other: Any) -> int:
        """Return the number of positions at which ``other`` differs."""
        return self._chain().part_errors(y, other)

    # ------------------------------------------------------------------ many examples
    def predict(self, X: Sequence[Any], weights: Floats) -> list[list[Any]]:
        """Return the best labels of every example that satisfy its constraints."""
        if len(X) == 0:
            return []
        (tokens, offsets, _), none = self._chain()._stack([_parted(x)[0] for x in X], None)
        scores = self._scores(tokens, weights)
        labels = chain_kernels.viterbi(*scores, offsets, none, np.zeros(len(none)))
        sets = self._sets(X, offsets, 0)
        for i in Checker(sets, offsets).broken(labels):
            a, b = offsets[i], offsets[i + 1]
            found = sets[i].best(scores._replace(unary=scores.unary[a:b]))
            sets[i].release()
            if not found:
                raise _infeasible(int(i))
            labels[a:b] = found[0][0]
        decoded = self.labels_.decode(labels)
        return [decoded[a:b] for a, b in pairwise(offsets.tolist())]

    def broken(self, X: Sequence[Any], Y: Sequence[Any]) -> list[int]:
        """Return the examples whose labels in Y break their constraints."""
        check_lengths(X, Y)
        (_, offsets, _), labels = self._chain()._stack([_parted(x)[0] for x in X], Y)
        found: list[int] = Checker(self._sets(X, offsets, 0), offsets).broken(labels).tolist()
        return found

    def feature_names(self, inputs: Sequence[str] | None = None) -> list[tuple[str, str]]:
        """Return ``(feature, label)`` for each weight; inputs are x0, x1, ... unless named."""
        return self._chain().feature_names(inputs)[: self.n_features_]

    # ------------------------------------------------------------------ inside
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
        return Chain(given.labels, given.cost, self.boundaries)

    def _chain(self) -> Chain:
        chain = self._plain()
        for name in FITTED:
            setattr(chain, name, getattr(self, name))
        if not self.chained:
            chain.n_features_ += len(self.labels_) ** 2
        return chain

    def _asked(self, x: Any, weights: Any) -> tuple[ChainScores, LabellingSet]:
        (tokens, offsets, _), _ = self._chain()._stack([_parted(x)[0]], None)
        return self._scores(tokens, weights), self._sets([x], offsets, None)[0]

    def _scores(self, tokens: Any, weights: Any) -> ChainScores:
        vector = check_weights(weights, self.n_features_)
        n_labels = len(self.labels_)
        if not self.chained:
            vector = np.concatenate([vector, np.zeros(n_labels * n_labels)])
        return ChainScores.of(InputRows.of(tokens), vector, n_labels, self.boundaries)

    def _sets(self, X: Sequence[Any], offsets: Ints, start: int | None) -> list[LabellingSet]:
        lengths = np.diff(offsets).tolist()
        numbers = [None] * len(X) if start is None else range(start, start + len(X))
        return [self._set(x, n, i) for x, n, i in zip(X, lengths, numbers, strict=True)]

    def _set(self, x: Any, length: int, example: int | None) -> LabellingSet:
        z = Labelling(self.labels_, length)
        given = self.constraints
        rules: Sequence[Callable[..., Any]] = [given] if callable(given) else given
        where = "" if example is None else f" on example {example}"
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
        return LabellingSet(rows, length, len(self.labels_), self.chained)

    def _first(self, found: list[tuple[Ints, float]]) -> list[Any]:
        if not found:
            raise _infeasible(None)
        return self.labels_.decode(found[0][0])


def _parted(x: Any) -> tuple[Any, Any]:
    """Return the matrix of an example, and what its constraints are called with."""
    return x if isinstance(x, tuple) and len(x) == 2 else (x, x)


def _infeasible(example: int | None) -> InfeasibleError:
    which = "An example" if example is None else f"Example {example}"
    return InfeasibleError(
        f"{which} has no labelling that satisfies its constraints: they contradict each other.",
        example=example,
    )
