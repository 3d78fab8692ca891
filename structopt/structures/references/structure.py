r"""Several good outputs an example: pseudo-references, over any structure with k-best decoding.

With good outputs G_i, a constraint pairs a bad output y with a good one g:

    w . (phi(x_i, g) - phi(x_i, y)) >= 1 - xi_i,    y outside G_i,

where g is the reference nearest to y in a structural distance (LP 7), or every one of them, of
which the worst-scored is violated most (LP 8). With one reference both are LP (6).

>>> import numpy as np, structopt as so
>>> X = [np.eye(2)]
>>> Y = [["ab", "aa"]]                          # two sequences that would both be right
>>> structure = so.References(so.Chain(labels="ab")).fitted(X, Y)
>>> structure.second_best(X[0], np.zeros(8), Y[0])
['b', 'a']
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from structopt.arrays import Floats, Ints
from structopt.errors import IncompatibleError, InvalidInputError
from structopt.structures.base.example_shard import as_row
from structopt.structures.base.oracles import Oracle, best_other, nearest_reference, worst_reference
from structopt.structures.base.shard import Answers, Shard
from structopt.structures.base.structure import Structure, check_lengths

Distance = Callable[[Any, Any], float]

MAX_K = 4096
"""Outputs that are listed before the search for the most violated pair gives up its proof."""


class References(Structure):
    """A structure whose gold is a list of references; Y holds such a list for every example.

    Parameters
    ----------
    structure : Structure
        What an output can be; it needs the ability `k_best`.
    distance : callable, optional
        ``distance(reference, y)``, for :data:`nearest_reference`; the structure's loss by default.
    """

    def __init__(self, structure: Structure, distance: Distance | None = None) -> None:
        self.structure, self.distance = structure, distance

    def fitted(self, X: Sequence[Any], Y: Sequence[Any]) -> Self:
        """Return a copy whose inner structure is fitted to the first references."""
        check_lengths(X, Y)
        for i, references in enumerate(Y):
            if isinstance(references, str) or len(references) == 0:
                raise InvalidInputError(
                    f"Example {i} has no list of references: give at least one good output, as "
                    "[y] or [y1, y2, ...].",
                    example=i,
                )
        if "k_best" not in self.structure.abilities():
            raise IncompatibleError(
                f"References needs 'k_best'; {type(self.structure).__name__} offers "
                f"{sorted(self.structure.abilities())}."
            )
        fitted = copy.copy(self)
        first = [y for references in Y for y in references]
        inputs = [x for x, references in zip(X, Y, strict=True) for _ in references]
        fitted.structure = self.structure.fitted(inputs, first)
        fitted.n_features_ = fitted.structure.n_features_
        return fitted

    def abilities(self) -> frozenset[str]:
        """Return what can be asked; loss-augmented decoding cannot."""
        return frozenset({"second_best", "k_best", "references"})

    def joint_features(self, x: Any, y: Any) -> Any:
        """Return the inner structure's features of an output."""
        return self.structure.joint_features(x, y)

    def loss(self, y: Any, other: Any) -> float:
        """Return the smallest loss of ``other`` against any of the references ``y``."""
        return min(self.structure.loss(reference, other) for reference in y)

    def argmax(self, x: Any, weights: Floats, *, gold: Any = None) -> Any:
        """Return the best output; loss-augmented decoding is not offered for several references."""
        if gold is not None:
            raise self._lacks("argmax with gold")
        return self.structure.argmax(x, weights)

    def k_best(self, x: Any, weights: Floats, k: int) -> list[Any]:
        """Return the k best outputs."""
        return self.structure.k_best(x, weights, k)

    def second_best(self, x: Any, weights: Floats, gold: Any) -> Any:
        """Return the best output outside the references ``gold``, or None."""
        return next(self._bad(x, weights, gold), None)

    def predict(self, X: Sequence[Any], weights: Floats) -> list[Any]:
        """Return the best output of every example."""
        return self.structure.predict(X, weights)

    def part_count(self, y: Any) -> int:
        """Return the parts of the first reference."""
        return self.structure.part_count(y[0])

    def part_errors(self, y: Any, other: Any) -> int:
        """Return the errors against the closest reference."""
        return min(self.structure.part_errors(reference, other) for reference in y)

    def feature_names(self) -> list[tuple[str, str]] | None:
        """Return the inner structure's names."""
        return self.structure.feature_names()

    def encode(self, X: Sequence[Any], Y: Sequence[Any], *, start: int = 0) -> Shard:
        """Encode examples with their references."""
        check_lengths(X, Y)
        own = self.structure.encode_references(X, Y, distance=self.distance, start=start)
        return ReferenceShard(self, X, Y) if own is None else own

    def pair(self, oracle: Oracle, x: Any, references: Any, weights: Floats) -> Pair | None:
        """Return the most violated (good, bad) pair, or None if nothing bad is possible."""
        scores = [self._score(x, g, weights) for g in references]
        lowest = min(scores)
        if oracle is worst_reference or oracle is best_other or len(references) == 1:
            bad = next(self._bad(x, weights, references), None)
            return None if bad is None else Pair(references[int(np.argmin(scores))], bad, True)
        distance = self.distance or self.structure.loss
        best, best_value = None, -np.inf
        for k, bad in enumerate(self._bad(x, weights, references)):
            score = self._score(x, bad, weights)
            if best is not None and score - lowest <= best_value:
                return best  # no later output scores higher, and no reference lower
            near = int(np.argmin([distance(g, bad) for g in references]))
            if score - scores[near] > best_value:
                best_value, best = score - scores[near], Pair(references[near], bad, True)
            if k >= MAX_K and best is not None:
                return Pair(best.good, best.bad, False)
        return best

    def _bad(self, x: Any, weights: Floats, references: Any) -> Iterator[Any]:
        """Yield outputs outside the references, best first."""
        done, k = 0, len(references) + 1
        while True:
            listed = self.structure.k_best(x, weights, k)
            for y in listed[done:]:
                if all(self.structure.loss(g, y) > 0 for g in references):
                    yield y
            if len(listed) < k:
                return
            done, k = k, 2 * k

    def _score(self, x: Any, y: Any, weights: Floats) -> float:
        return float((as_row(self.joint_features(x, y)) @ weights)[0])


class Pair:
    """A reference, an output outside the references, and whether no pair is violated more."""

    def __init__(self, good: Any, bad: Any, exact: bool) -> None:
        self.good, self.bad, self.exact = good, bad, exact


class ReferenceShard(Shard):
    """Examples with lists of references, asked one at a time."""

    def __init__(self, structure: References, X: Sequence[Any], Y: Sequence[Any]) -> None:
        self.structure, self.X, self.Y = structure, X, Y
        self.n_examples = len(X)

    def ask(self, oracle: Oracle, weights: Floats) -> Answers:
        """Find the most violated pair of every example."""
        if oracle not in (best_other, nearest_reference, worst_reference):
            raise IncompatibleError(f"References does not know the oracle {oracle.name!r}.")
        pairs = [
            self.structure.pair(oracle, x, references, weights)
            for x, references in zip(self.X, self.Y, strict=True)
        ]
        loss, score = np.zeros(len(pairs)), np.full(len(pairs), np.inf)
        for i, pair in enumerate(pairs):
            if pair is not None:
                loss[i] = self.structure.loss(self.Y[i], pair.bad)
                score[i] = float((self._delta(i, pair) @ weights)[0])
        return Answers(pairs, loss, score, all(p is None or p.exact for p in pairs))

    def single(self, i: int) -> ReferenceShard:
        """Return example i as a shard of its own."""
        return ReferenceShard(self.structure, self.X[i : i + 1], self.Y[i : i + 1])

    def directions(self, outputs: Any, which: Ints) -> Any:
        """Return delta of the pairs ``which`` as sparse rows."""
        return sp.vstack([self._delta(int(i), outputs[i]) for i in which], format="csr")

    def content(self) -> Iterator[Any]:
        """Yield the features of all references."""
        for x, references in zip(self.X, self.Y, strict=True):
            for y in references:
                row = as_row(self.structure.joint_features(x, y))
                yield from (row.data, row.indices)

    def _delta(self, i: int, pair: Pair) -> Any:
        features = self.structure.joint_features
        return sp.csr_array(
            as_row(features(self.X[i], pair.good)) - as_row(features(self.X[i], pair.bad))
        )
