"""A data set encoded once, and an oracle pass as a map over its shards.

A :class:`Shard` holds some examples in whatever form its structure likes best and answers an oracle
for all of them in one call. A :class:`DataSet` maps a pass over its shards, in this process or
through joblib with whatever backend is active. The master problem sees only the answers.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from structopt.errors import IncompatibleError, InvalidInputError, OracleError, StructoptError
from structopt.structures.oracles import Oracle
from structopt.structures.parts import Directions, Floats, Ints

if TYPE_CHECKING:
    from structopt.structures.base import Structure
    from structopt.structures.expectations import Expected
    from structopt.structures.relaxation import Relaxation


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
        The base matrix of :class:`~structopt.structures.parts.Directions`; None when directions
        come as explicit sparse rows.
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


class DataSet:
    """All shards of a data set, as one thing to ask.

    Parameters
    ----------
    shards : list of Shard
    n_features : int
    sample_weight : array, optional
        Factor of each example's slack; 0 leaves an example out.
    n_jobs : int, optional
        Parallel workers of a pass, in joblib's sense; None leaves it to the active joblib backend.
    threads : bool
        Whether the shards release the interpreter lock, so that threads suffice.
    """

    def __init__(
        self,
        shards: Sequence[Shard],
        n_features: int,
        *,
        sample_weight: Floats | None = None,
        n_jobs: int | None = None,
        threads: bool = False,
    ) -> None:
        self.shards, self.n_features = list(shards), n_features
        self.n_jobs, self.threads = n_jobs, threads
        counts = [shard.n_examples for shard in shards]
        self.starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        self.n_examples = int(self.starts[-1])
        given = np.ones(self.n_examples) if sample_weight is None else sample_weight
        weight = np.asarray(given, dtype=np.float64)
        usable = np.isfinite(weight) & (weight >= 0)
        if weight.shape != (self.n_examples,) or not np.all(usable):
            raise InvalidInputError(
                f"sample_weight must hold {self.n_examples} finite numbers >= 0; got shape "
                f"{weight.shape}."
            )
        if not np.any(weight > 0):
            raise InvalidInputError("Every sample_weight is 0: there is nothing to learn from.")
        self.sample_weight = weight
        bases = [shard.base for shard in shards]
        self.base = None if any(b is None for b in bases) else sp.vstack(bases, format="csr")
        self._sources = np.cumsum([0] + [0 if b is None else b.shape[0] for b in bases])
        self._singles: list[Shard | None] = [None] * self.n_examples

    @classmethod
    def of(
        cls,
        structure: Structure,
        X: Any,
        Y: Sequence[Any],
        *,
        sample_weight: Any = None,
        n_jobs: int | None = None,
    ) -> DataSet:
        """Encode examples for a fitted structure, one shard a worker."""
        from joblib import effective_n_jobs

        n_examples = X.shape[0] if hasattr(X, "shape") else len(X)
        workers = min(effective_n_jobs(n_jobs), max(1, n_examples))
        edges = np.linspace(0, n_examples, workers + 1).astype(int)
        shards = [
            structure.encode(X[start:stop], Y[start:stop], start=int(start))
            for start, stop in pairwise(edges)
        ]
        return cls(
            shards,
            structure.n_features_,
            sample_weight=sample_weight,
            n_jobs=n_jobs,
            threads=structure.releases_gil,
        )

    def fingerprint(self, salt: str) -> str:
        """Return a name for the data's content, salted with what else it depends on."""
        return hashlib.blake2b(salt.encode() + self._content, digest_size=16).hexdigest()

    @cached_property
    def _content(self) -> bytes:
        digest = hashlib.blake2b(self.sample_weight.tobytes(), digest_size=16)
        for shard in self.shards:
            for array in shard.content():
                digest.update(np.asarray(array).tobytes())
        return digest.digest()

    def single(self, i: int) -> Shard:
        """Return example i as a shard of its own, for methods that visit one at a time.

        It is made when it is first asked for, and kept.
        """
        found = self._singles[i]
        if found is None:
            of = int(np.searchsorted(self.starts, i, side="right")) - 1
            found = self.shards[of].single(i - int(self.starts[of]))
            self._singles[i] = found
        return found

    def ask(self, oracle: Oracle, weights: Floats) -> list[Answers]:
        """One pass: every shard's answers, in order."""
        if len(self.shards) == 1:
            return [self.shards[0].ask(oracle, weights)]
        from joblib import Parallel, delayed

        pool = Parallel(n_jobs=self.n_jobs, prefer="threads" if self.threads else "processes")
        try:
            return list(pool(delayed(shard.ask)(oracle, weights) for shard in self.shards))
        except (StructoptError, KeyboardInterrupt):
            raise
        except Exception as error:
            raise OracleError(
                f"A parallel oracle pass failed: {type(error).__name__}: {error} Try n_jobs=1, or "
                "fewer workers if memory ran out."
            ) from error

    def directions(self, answers: Sequence[Answers], which: Ints) -> Any:
        """Return delta of the answers of examples ``which`` (sorted), over the whole data set."""
        batches = []
        for shard, answer, start, end, source in zip(
            self.shards, answers, self.starts[:-1], self.starts[1:], self._sources[:-1], strict=True
        ):
            local = which[(which >= start) & (which < end)] - start
            if len(local):
                batch = shard.directions(answer.outputs, local)
                batches.append(batch if self.base is None else batch.moved(int(source)))
        if self.base is None:
            return sp.vstack(batches, format="csr")
        return Directions.concatenate(batches)


def as_row(features: Any) -> Any:
    """Return a feature vector, dense or sparse, as one CSR row."""
    if sp.issparse(features):
        return sp.csr_array(features).reshape(1, -1)
    return sp.csr_array(np.asarray(features, dtype=np.float64).reshape(1, -1))
