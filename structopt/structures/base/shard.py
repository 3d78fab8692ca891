"""A data set encoded once, and an oracle pass as a map over its shards.

A :class:`Shard` holds some examples in whatever form its structure likes best and answers an oracle
for all of them in one call. A :class:`DataSet` maps a pass over its shards, in this process or
through joblib with whatever backend is active. The master problem sees only the answers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from structopt.arrays import Floats, Ints
from structopt.errors import IncompatibleError, OracleError, StructoptError
from structopt.structures.base.oracles import Oracle

if TYPE_CHECKING:
    from structopt.structures.base.expectations import Expected
    from structopt.structures.base.relaxation import Relaxation
    from structopt.structures.base.structure import Structure


@dataclass(frozen=True)
class Answers:
    """What a shard answers to an oracle: for each example an output, its loss, and ``w . delta``.

    Where an example has no such output at all (nothing but gold is possible), ``score`` is
    infinite: the constraint cannot be violated.
    """

    outputs: Any
    loss: Floats
    score: Floats
    exact: bool = True
    """Whether these are proven to be the right answers, within `excess` where it is given."""
    excess: Floats | None = None
    """How far each example's true answer may beat this one, in score: an oracle that rounds, or
    stops at a gap, gives it here, and upper bounds stay bounds. None means 0."""


def excess_of(answers: Sequence[Answers]) -> Floats:
    """Return how far each example's true answer may beat the given one, over all shards."""
    each = [np.zeros(len(a.loss)) if a.excess is None else a.excess for a in answers]
    return np.concatenate(each)


class Shard(ABC):
    """Encoded examples, with gold outputs, that answer oracles for given weights.

    Attributes
    ----------
    n_examples : int
        How many examples the shard holds.
    base : sparse matrix or None
        The base matrix of :class:`~structopt.structures.base.parts.Directions`; None when
        directions come as explicit sparse rows.
    """

    n_examples: int
    base: Any = None
    gold: Any = None
    """The encoded gold outputs, where they are an array (for fingerprints)."""

    @abstractmethod
    def ask(self, oracle: Oracle, weights: Floats) -> Answers:
        """Answer ``oracle`` for every example."""

    @abstractmethod
    def directions(self, outputs: Any, which: Ints) -> Any:
        """Return delta of ``outputs[which]``: `Directions` over ``base``, or sparse rows."""

    # ------------------------------------------------------------------ what online methods ask
    def argmax(self, weights: Floats) -> Answers:
        """Return every example's best output, without the loss."""
        raise self._lacks("argmax")

    def k_best(self, weights: Floats, k: int) -> list[Answers]:
        """Return the k best outputs of every example: the best of each, the second of each, ...

        Where an example has fewer, ``score`` is infinite.
        """
        raise self._lacks("k_best")

    def single(self, i: int) -> Shard:
        """Return example i as a shard of its own, over the same ``base``."""
        raise self._lacks("single")

    def relaxation(self) -> Relaxation:
        """Return the examples' outputs as one polytope that can be projected on."""
        raise IncompatibleError(
            f"{type(self).__name__} gives no relaxation (its outputs as a polytope), which the "
            "saddle-point method needs: use the method 'cutting-plane'."
        )

    def expected(self, weights: Floats, loss_weight: float, cost: Floats) -> Expected:
        """Return expectations under exp(w . phi + loss_weight * loss), weighted by cost."""
        raise IncompatibleError(
            f"{type(self).__name__} cannot sum over its outputs (sum-product), which the method "
            "'bregman' needs: use 'extragradient' or 'cutting-plane'."
        )

    def _lacks(self, name: str) -> IncompatibleError:
        return IncompatibleError(
            f"{type(self).__name__} has no {name!r}, which methods that visit examples one at a "
            "time need: define it, or use the method 'cutting-plane'."
        )

    def content(self) -> Iterator[Any]:
        """Yield arrays that together name the shard's content."""
        if self.base is not None:
            yield from (self.base.data, self.base.indices, self.base.indptr)
        if self.gold is not None:
            yield np.asarray(self.gold)


class ExampleShard(Shard):
    """Examples of any structure, asked one at a time through its per-example methods."""

    def __init__(
        self, structure: Structure, X: Sequence[Any], Y: Sequence[Any], start: int
    ) -> None:
        self.structure, self.X, self.Y, self.start = structure, X, Y, start
        self.n_examples = len(X)

    def ask(self, oracle: Oracle, weights: Floats) -> Answers:
        """Answer ``oracle`` example by example."""
        answer = self.structure.answer
        return self._each(oracle.name, lambda x, y: [answer(oracle, x, y, weights)], weights)[0]

    def argmax(self, weights: Floats) -> Answers:
        """Return every example's best output, without the loss."""
        argmax = self.structure.argmax
        return self._each("argmax", lambda x, _: [argmax(x, weights)], weights)[0]

    def k_best(self, weights: Floats, k: int) -> list[Answers]:
        """Return the k best outputs of every example; ``score`` is infinite where there is none."""
        k_best = self.structure.k_best
        return self._each("k_best", lambda x, _: k_best(x, weights, k), weights, k)

    def single(self, i: int) -> ExampleShard:
        """Return example i as a shard of its own."""
        return ExampleShard(self.structure, [self.X[i]], [self.Y[i]], self.start + i)

    def _each(
        self, name: str, question: Callable[[Any, Any], list[Any]], weights: Floats, k: int = 1
    ) -> list[Answers]:
        """Ask a question that has up to k answers, example by example."""
        outputs: list[list[Any]] = [[None] * self.n_examples for _ in range(k)]
        loss, score = np.zeros((k, self.n_examples)), np.full((k, self.n_examples), np.inf)
        for i, (x, gold) in enumerate(zip(self.X, self.Y, strict=True)):
            try:
                for r, y in enumerate(question(x, gold)[:k]):
                    if y is not None:
                        outputs[r][i] = y
                        loss[r, i] = self.structure.loss(gold, y)
                        score[r, i] = float((self._delta(i, y) @ weights)[0])
            except (StructoptError, KeyboardInterrupt):
                raise
            except Exception as error:
                raise OracleError(
                    f"{type(self.structure).__name__} failed to answer {name!r} on example "
                    f"{self.start + i}: {type(error).__name__}: {error}",
                    example=self.start + i,
                ) from error
            given = [r for r in range(k) if outputs[r][i] is not None]
            if not (np.all(np.isfinite(score[given, i])) and np.all(loss[:, i] >= 0)):
                raise OracleError(
                    f"{type(self.structure).__name__} gave loss {loss[:, i]} and score "
                    f"{score[:, i]} on example {self.start + i}; losses must be >= 0 and features "
                    "finite.",
                    example=self.start + i,
                )
        return [Answers(o, a, s) for o, a, s in zip(outputs, loss, score, strict=True)]

    def directions(self, outputs: Any, which: Ints) -> Any:
        """Return delta of ``outputs[which]`` as sparse rows."""
        rows = [self._delta(int(i), outputs[i]) for i in which]
        return sp.vstack(rows, format="csr")

    def content(self) -> Iterator[Any]:
        """Yield the features of the gold outputs."""
        for x, y in zip(self.X, self.Y, strict=True):
            row = as_row(self.structure.joint_features(x, y))
            yield from (row.data, row.indices)

    def _delta(self, i: int, y: Any) -> Any:
        features = self.structure.joint_features
        return sp.csr_array(as_row(features(self.X[i], self.Y[i])) - as_row(features(self.X[i], y)))


def as_row(features: Any) -> Any:
    """Return a feature vector, dense or sparse, as one CSR row."""
    if sp.issparse(features):
        return sp.csr_array(features).reshape(1, -1)
    return sp.csr_array(np.asarray(features, dtype=np.float64).reshape(1, -1))
