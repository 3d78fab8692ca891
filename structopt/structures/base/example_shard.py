"""Examples of any structure, asked one at a time: what a user's own methods are asked through."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from structopt.arrays import Floats, Ints
from structopt.errors import InvalidInputError, OracleError, StructoptError
from structopt.structures.base.oracles import Oracle
from structopt.structures.base.parts import UNIT, Directions
from structopt.structures.base.shard import Answers, Shard

_SAMPLED = 8
"""Examples that are looked at again at the end of a run."""


class ExampleShard(Shard):
    """Examples of any structure, asked one at a time through its per-example methods."""

    each = ("X", "Y", "reference")
    base = UNIT

    def __init__(
        self, structure: Any, X: Any, Y: Sequence[Any], start: int, whole: Any = None
    ) -> None:
        self.structure, self.Y, self.start = structure, Y, start
        self.reference = Y if whole is None else whole
        """What directions are measured from: gold, with a completion of what is unknown."""
        self.X = [X[[i]] for i in range(X.shape[0])] if sp.issparse(X) else X
        self.n_examples = len(Y)

    def name(self) -> str:
        """Return what the structure is called."""
        return type(self.structure).__name__

    def ask(self, oracle: Oracle, weights: Floats) -> Answers:
        """Answer ``oracle`` example by example."""
        answer = self.structure.answer

        def question(x: Any, y: Any) -> list[Any]:
            return [answer(oracle, x, y, weights)]

        return self._each(oracle.name, oracle.needs, question, weights)[0]

    def argmax(self, weights: Floats) -> Answers:
        """Return every example's best output, without the loss."""
        argmax = self.structure.argmax
        return self._each("argmax", "argmax", lambda x, _: [argmax(x, weights)], weights)[0]

    def k_best(self, weights: Floats, k: int) -> list[Answers]:
        """Return the k best outputs of every example; ``score`` is infinite where there is none."""
        k_best = self.structure.k_best
        return self._each("k_best", "k_best", lambda x, _: k_best(x, weights, k), weights, k)

    def _each(
        self,
        name: str,
        method: str,
        question: Callable[[Any, Any], list[Any]],
        weights: Floats,
        k: int = 1,
    ) -> list[Answers]:
        """Ask a question, which has up to k answers by a method, example by example."""
        outputs: list[list[Any]] = [[None] * self.n_examples for _ in range(k)]
        before = weights.copy()
        loss, score = np.zeros((k, self.n_examples)), np.full((k, self.n_examples), np.inf)
        for i, (x, gold) in enumerate(zip(self.X, self.Y, strict=True)):
            try:
                answers = question(x, gold)
                if method != "second_best":  # which is None where there is no other
                    for y in [None] if answers is None else answers:
                        check_given(y, self.structure, method, self.start + i)
                for r, y in enumerate(answers[:k]):
                    if y is not None:
                        outputs[r][i] = y = kept(self.structure.beside(gold, y))
                        loss[r, i] = self.structure.loss(gold, y)
                        score[r, i] = float((self._delta(i, y) @ weights)[0])
            except (StructoptError, KeyboardInterrupt):
                raise
            except Exception as error:
                raise failed(self.structure, repr(name), self.start + i, error) from error
            given = [r for r in range(k) if outputs[r][i] is not None]
            priced = np.all((loss[:, i] >= 0) & (loss[:, i] < np.inf))
            if not (np.all(np.isfinite(score[given, i])) and priced):
                raise OracleError(
                    f"{type(self.structure).__name__} gave loss {loss[:, i]} and score "
                    f"{score[:, i]} on example {self.start + i}; losses must be >= 0, and losses "
                    "and features finite.",
                    example=self.start + i,
                )
        if not np.array_equal(weights, before):
            raise OracleError(
                f"{type(self.structure).__name__} changed the weights that it was asked with: they "
                "are the model's own, copy them first."
            )
        ranks = max(1, int(np.isfinite(score).any(axis=1).sum()))
        every = zip(outputs[:ranks], loss[:ranks], score[:ranks], strict=True)
        return [Answers(*ranked) for ranked in every]

    @property
    def anchor(self) -> Any:
        """The outputs that directions are measured from."""
        return self.reference

    def anchored(self, outputs: Any) -> Self:
        """Return the same examples with delta measured from ``outputs``; losses stay."""
        moved = copy.copy(self)
        moved.reference = outputs
        return moved

    def completed(self, weights: Floats) -> Self:
        """Return the examples with what is unknown of gold chosen as these weights like best."""
        complete = self.structure.complete
        pairs = zip(self.X, self.Y, strict=True)
        return self.anchored([complete(x, weights, y) for x, y in pairs])

    def directions(self, outputs: Any, which: Ints) -> Directions:
        """Return delta of ``outputs[which]``, entry by entry."""
        rows = [self._delta(int(i), outputs[i]) for i in which]
        return Directions.entries(sp.vstack(rows, format="csr"))

    def content(self) -> Iterator[Any]:
        """Yield the features of the gold outputs."""
        for x, y in zip(self.X, self.reference, strict=True):
            row = as_row(self.structure.joint_features(x, y))
            yield from (row.data, row.indices)

    def sample(self) -> Iterator[Any]:
        """Yield the features of a few gold outputs."""
        for i in range(0, self.n_examples, max(1, self.n_examples // _SAMPLED)):
            yield as_row(self.structure.joint_features(self.X[i], self.reference[i])).data

    def _delta(self, i: int, y: Any) -> Any:
        features, good = self.structure.joint_features, self.reference[i]
        return sp.csr_array(as_row(features(self.X[i], good)) - as_row(features(self.X[i], y)))


def failed(structure: Any, question: str, example: int, error: Exception) -> OracleError:
    """Return what is raised where a method of the user's raised something."""
    return OracleError(
        f"{type(structure).__name__} failed to answer {question} on example {example}: "
        f"{type(error).__name__}: {error}",
        example=example,
    )


def kept(y: Any) -> Any:
    """Return an output that stays as it is: an argmax may fill one list anew for each example."""
    return copy.deepcopy(y) if isinstance(y, list | np.ndarray | dict | set) else y


def check_given(y: Any, structure: Any, method: str, example: int) -> None:
    """Refuse None where a method of the user's must give an output."""
    if y is None:
        raise OracleError(
            f"{type(structure).__name__}.{method}() gave None on example {example}: it must return "
            "an output; does it end without a return?",
            example=example,
        )


def as_row(features: Any) -> Any:
    """Return a feature vector, dense or sparse, as one CSR row."""
    given = features if sp.issparse(features) else np.asarray(features)
    if given.dtype.kind not in "fiub" or math.prod(given.shape) > max(given.shape, default=0):
        raise InvalidInputError(
            f"joint_features gave {given.dtype} of shape {given.shape}: give a vector of numbers, "
            "or one sparse row."
        )
    if sp.issparse(given):
        return sp.csr_array(given, dtype=np.float64).reshape(1, -1)
    return sp.csr_array(given.astype(np.float64).reshape(1, -1))
