"""Examples with lists of references, asked one at a time: the search for the most violated pair."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import scipy.sparse as sp

from structopt.arrays import Floats, Ints, check_weights
from structopt.structures.base.example_shard import as_row
from structopt.structures.base.oracles import (
    Oracle,
    best_other,
    nearest_reference,
    nearest_to_best,
    worst_reference,
)
from structopt.structures.base.parts import Directions
from structopt.structures.base.shard import Answers, Shard
from structopt.structures.base.structure import Structure

MAX_K = 4096
"""Outputs that are listed before the search for the most violated pair gives up its proof."""
KNOWN = (best_other, nearest_reference, nearest_to_best, worst_reference)
"""The questions that several references leave open."""


class Pair(NamedTuple):
    """A reference, an output outside the references, and whether no pair is violated more."""

    good: Any
    bad: Any
    exact: bool


class Asked(Protocol):
    """What is asked of a structure with references."""

    structure: Structure
    distance: Callable[[Any, Any], float] | None

    def joint_features(self, x: Any, y: Any) -> Any:
        """Return the features of an output."""

    def loss(self, y: Any, other: Any) -> float:
        """Return the loss of an output against the references y."""


class ReferenceShard(Shard):
    """Examples with lists of references over any structure with k-best decoding."""

    each = ("X", "Y")

    def __init__(
        self, structure: Asked, X: Sequence[Any], Y: Sequence[Any], start: int = 0
    ) -> None:
        self.structure, self.X, self.Y, self.start = structure, X, Y, start
        self.n_examples = len(X)

    def ask(self, oracle: Oracle, weights: Floats) -> Answers:
        """Find the most violated pair of every example."""
        if oracle not in KNOWN:
            raise self._unknown(oracle)
        pairs = [self._pair(oracle, i, weights) for i in range(self.n_examples)]
        loss, score = np.zeros(len(pairs)), np.full(len(pairs), np.inf)
        for i, pair in enumerate(pairs):
            if pair is not None:
                loss[i] = self.structure.loss(self.Y[i], pair.bad)
                score[i] = float((self._delta(i, pair) @ weights)[0])
        return Answers(pairs, loss, score, all(p is None or p.exact for p in pairs))

    def bad(self, outputs: Any, i: int) -> Any:
        """Return the output outside the references of an answer's pair i."""
        return None if outputs[i] is None else outputs[i].bad

    def directions(self, outputs: Any, which: Ints) -> Directions:
        """Return delta of the pairs ``which``, entry by entry."""
        rows = [self._delta(int(i), outputs[i]) for i in which]
        return Directions.entries(sp.vstack(rows, format="csr"))

    def content(self) -> Iterator[Any]:
        """Yield the features of all references."""
        for x, references in zip(self.X, self.Y, strict=True):
            for y in references:
                row = as_row(self.structure.joint_features(x, y))
                yield from (row.data, row.indices)

    def _pair(self, oracle: Oracle, i: int, weights: Floats) -> Pair | None:
        """Return the most violated (good, bad) pair, or None if nothing bad is possible."""
        references = self.Y[i]
        scores = [self._score(i, g, weights) for g in references]
        distance = self.structure.distance or self.structure.structure.loss
        if oracle is not nearest_reference or len(references) == 1:
            bad = next(self._bad(i, weights), None)
            if bad is None or oracle is not nearest_to_best or len(references) == 1:
                return None if bad is None else Pair(references[int(np.argmin(scores))], bad, True)
            near = int(np.argmin([distance(g, bad) for g in references]))
            return Pair(references[near], bad, False)  # another pair may be violated more
        lowest, best, best_value = min(scores), None, -np.inf
        for k, bad in enumerate(self._bad(i, weights)):
            score = self._score(i, bad, weights)
            if best is not None and score - lowest <= best_value:
                return best  # no later output scores higher, and no reference lower
            near = int(np.argmin([distance(g, bad) for g in references]))
            if score - scores[near] > best_value:
                best_value, best = score - scores[near], Pair(references[near], bad, True)
            if k >= MAX_K and best is not None:
                return best._replace(exact=False)
        return best

    def _bad(self, i: int, weights: Floats) -> Iterator[Any]:
        """Yield outputs outside the references, best first."""
        inner, references = self.structure.structure, self.Y[i]
        done, k = 0, len(references) + 1
        while True:
            listed = inner.k_best(self.X[i], weights, k)
            for y in listed[done:]:
                if all(inner.loss(g, y) > 0 for g in references):
                    yield y
            if len(listed) < k:
                return
            done, k = k, 2 * k

    def _score(self, i: int, y: Any, weights: Floats) -> float:
        row = as_row(self.structure.joint_features(self.X[i], y))
        return float((row @ check_weights(weights, row.shape[1]))[0])

    def _delta(self, i: int, pair: Pair) -> Any:
        features = self.structure.joint_features
        return sp.csr_array(
            as_row(features(self.X[i], pair.good)) - as_row(features(self.X[i], pair.bad))
        )
