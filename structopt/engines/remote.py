"""A data set whose shards live elsewhere: it is asked, and nothing of its size comes back.

Weights go out once a pass. Losses and scores come back, the outputs stay beside their shards; of
the answers that become cuts the rows are fetched, and where only a weighted sum of them is wanted,
it is summed where the data are.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from itertools import chain, pairwise
from typing import Any, NoReturn, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from structopt.arrays import Floats, Ints, base_matrix, count, cut_rows
from structopt.engines import where
from structopt.engines.dataset import DataSet
from structopt.engines.place import Remote
from structopt.engines.traffic import Traffic
from structopt.errors import EngineError, IncompatibleError
from structopt.structures.base.oracles import Oracle
from structopt.structures.base.parts import Directions
from structopt.structures.base.shard import Answers
from structopt.structures.base.structure import Structure

_T = TypeVar("_T")

_FAN_IN = 8
"""Vectors that one task sums up."""


class RemoteDataSet(DataSet):
    """Shards on the workers of an engine, as one thing to ask.

    Parameters
    ----------
    engine : Remote
    chunks : list of handles
        Of pairs (X, Y).
    structure : Structure
        Fitted.
    sizes : sequence of int, optional
        Examples of each chunk, where that is known.
    sample_weight : array, optional
        Factor of each example's slack.
    """

    base = None
    """There is no base in this process: cuts bring rows of their own."""

    def __init__(
        self,
        engine: Remote,
        chunks: Sequence[Any],
        structure: Structure,
        *,
        sizes: Sequence[int] | None = None,
        sample_weight: Floats | None = None,
    ) -> None:
        self._engine, self._down, self._up = engine, 0, 0
        self.n_features, self.exact = structure.n_features_, structure.exact
        self.n_jobs, self.threads = None, structure.releases_gil
        if sizes is None:
            sizes = self._got(engine.map(where.size, chunks), "reading chunks")
        self._count(sizes, sample_weight)
        (self._structure,) = engine.map(where.opened, [where.packed(structure)])
        n, starts = len(chunks), self.starts[:-1].tolist()
        self._handles = engine.map(where.encode, [self._structure] * n, chunks, starts)
        self._facts: list[where.Facts] = self._got(engine.map(where.facts, self._held), "encoding")

    @classmethod
    def scattered(
        cls, engine: Remote, structure: Structure, X: Any, Y: Any, *, sample_weight: Any = None
    ) -> RemoteDataSet:
        """Send examples of this process to the workers, in one chunk a shard."""
        n_examples = count(X)
        edges = np.linspace(0, n_examples, min(engine.n_shards, n_examples) + 1).astype(int)
        cuts = [where.packed((cut_rows(X, a, b), Y[a:b])) for a, b in pairwise(edges.tolist())]
        chunks = engine.spread([partial(where.opened, cut) for cut in cuts])
        sizes = np.diff(edges).tolist()
        made = cls(engine, chunks, structure, sizes=sizes, sample_weight=sample_weight)
        made._down += sum(map(len, cuts))
        return made

    # ------------------------------------------------------------------ what every question does
    def _got(self, handles: Sequence[Any], doing: str) -> list[Any]:
        values = self._engine.get(handles, doing)
        self._up += sum(map(_bytes, values))
        return values

    def _sent(self, weights: Floats) -> list[Any]:
        """Send weights once; return their handle for each shard."""
        self._down += weights.nbytes
        return [self._engine.share(np.ascontiguousarray(weights))] * len(self._held)

    def _chosen(
        self, answers: Sequence[Answers], which: Ints
    ) -> list[tuple[Any, Any, Ints, tuple[int, int]]]:
        """Return the shards that examples ``which`` (sorted) are in, with their answers.

        Then the numbers of the examples in the shard, and which of ``which`` they are.
        """
        at = np.searchsorted(which, self.starts).tolist()
        return [
            (held, answer.outputs, which[a:b] - start, (a, b))
            for held, answer, start, (a, b) in zip(
                self._held, answers, self.starts[:-1].tolist(), pairwise(at), strict=True
            )
            if b > a
        ]

    def _rows(self, handles: Sequence[Any], doing: str) -> Any:
        """Fetch sparse rows, those of each handle below those of the one before."""
        found = self._got(self._engine.map(where.arrays, handles), doing)
        each = [sp.csr_array(a, shape=(len(a[2]) - 1, self.n_features)) for a in found]
        return base_matrix(each[0] if len(each) == 1 else sp.vstack(each, format="csr"))

    @property
    def traffic(self) -> Traffic:
        """Bytes of weights and choices that were sent, and of answers that came back."""
        return Traffic(self._down, self._up)

    @property
    def _held(self) -> list[Any]:
        if not self._handles:
            raise EngineError("These data were closed, and are no longer there to be asked.")
        return self._handles

    def close(self) -> None:
        """Close a cluster or a connection that was opened for these data."""
        self._handles = []
        self._engine.close()

    # ------------------------------------------------------------------ questions
    def each(self, function: Callable[..., _T], *given: Any) -> list[_T]:
        """Return ``function(shard, number of its first example, *given)`` of every shard."""
        shared = [[value] * len(self._held) for value in (function, *given)]
        starts = self.starts[:-1].tolist()
        handles = self._engine.map(where.applied, self._held, starts, *shared)
        return self._got(handles, "looking into shards")

    def _ask(self, oracle: Oracle, weights: Floats) -> list[Answers]:
        n = len(self._held)
        stay = self._engine.map(where.ask, self._held, [oracle] * n, self._sent(weights))
        told = self._got(self._engine.map(where.said, stay), f"asking {oracle.name!r}")
        return [Answers(handle, *one) for handle, one in zip(stay, told, strict=True)]

    def deltas(self, answers: Sequence[Answers], which: Ints) -> tuple[Directions, Any]:
        """Return delta of the answers of examples ``which`` (sorted), and rows that it is over."""
        chosen = self._chosen(answers, which)
        if not chosen:
            return Directions.rows(0, 0), base_matrix(sp.csr_array((0, self.n_features)))
        held, stay, local, _ = zip(*chosen, strict=True)
        self._down += sum(one.nbytes for one in local)
        made = self._engine.map(where.rows, held, stay, local, [self.n_features] * len(chosen))
        return Directions.rows(0, len(which)), self._rows(made, "making cuts")

    def combined(
        self, answers: Sequence[Answers], which: Ints, multipliers: Floats, edges: Ints
    ) -> Any:
        """Return ``sum_k multipliers_k delta_k`` over each run of examples, as sparse rows.

        The examples of a shard are summed where they are, and shards on the way.
        """
        chosen = self._chosen(answers, which)
        if not chosen:
            return base_matrix(sp.csr_array((len(edges) - 1, self.n_features)))
        held, stay, local, at = zip(*chosen, strict=True)
        each = [multipliers[a:b] for a, b in at]
        runs = [np.clip(edges, a, b) - a for a, b in at]
        self._down += sum(one.nbytes for one in (*local, *each, *runs))
        width = [self.n_features] * len(chosen)
        parts = self._engine.map(where.combined, held, stay, local, each, runs, width)
        while len(parts) > 1:
            groups = [parts[i : i + _FAN_IN] for i in range(0, len(parts), _FAN_IN)]
            parts = self._engine.map(where.total, groups)
        return self._rows(parts, "summing cuts up")

    def outputs(self, structure: Structure, answers: Sequence[Answers]) -> list[Any]:
        """Return the outputs of all examples as users write them."""
        stay = [answer.outputs for answer in answers]
        shared = [self._structure] * len(stay)
        handles = self._engine.map(where.held_outputs, self._held, shared, stay)
        return list(chain.from_iterable(self._got(handles, "fetching outputs")))

    # ------------------------------------------------------------------ what is known by now
    @property
    def unknown(self) -> NDArray[np.bool_]:
        """Which examples have a gold output that is known in part only."""
        return np.concatenate([one.unknown for one in self._facts])

    @property
    def nonzeros(self) -> int:
        """How many numbers the inputs are, over all shards."""
        return sum(one.nonzeros for one in self._facts)

    @cached_property
    def cut_entries(self) -> float:
        """About how many entries the cut of one example has."""
        width = [self.n_features] * len(self._held)
        made = self._engine.map(where.cut_entries, self._held, width)
        return float(np.mean(self._got(made, "looking at how long cuts are")))

    @cached_property
    def _largest(self) -> float:
        return max(one.largest for one in self._facts)

    @cached_property
    def _content(self) -> bytes:
        digest = hashlib.blake2b(self.sample_weight.tobytes(), digest_size=16)
        for one in self._facts:
            digest.update(one.content)
        return digest.digest()

    def asked_apart(self, oracle: Oracle, weights: Floats, which: Sequence[int]) -> list[Any]:
        """Return nothing: rows of cuts are made where answers are, by the same methods."""
        return []

    # ------------------------------------------------------------------ what is not here
    def sample(self) -> bytes:
        """Return nothing: copies that live elsewhere are not changed."""
        return b""

    def check_here(self) -> NoReturn:
        """Refuse: the examples are elsewhere."""
        raise IncompatibleError(
            "The examples live on other machines or on disk (engine=...), where they are asked "
            "all at once, and this needs them in its own process: use method='cutting-plane' with "
            "a convex formulation, or leave out the engine."
        )

    @property
    def shards(self) -> Any:  # type: ignore[override]
        """There are none in this process: whoever needs them is refused."""
        self.check_here()

    def single(self, i: int) -> Any:
        """Refuse: examples are not visited one by one over a network."""
        self.check_here()


def _bytes(value: Any) -> int:
    """Return the size of the arrays in what came back."""
    if isinstance(value, np.ndarray):
        return value.nbytes
    return sum(map(_bytes, value)) if isinstance(value, tuple | list) else 0
