"""A data set encoded once, and an oracle pass as a map over its shards.

A :class:`DataSet` maps a pass over its shards, in this process or through joblib with whatever
backend is active; :class:`~structopt.engines.remote.RemoteDataSet` asks shards that live elsewhere.
Whoever trains asks (`ask`, `deltas`, `combined`) and sees only the answers.
"""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Callable, Sequence
from functools import cached_property
from itertools import chain
from typing import Any, Self, TypeVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from structopt.arrays import Floats, Ints, as_floats, base_matrix, check_weights
from structopt.engines import encoding, lanes, where
from structopt.engines.processes import asked_apart
from structopt.engines.traffic import Traffic
from structopt.engines.trust import check_gold
from structopt.errors import InvalidInputError
from structopt.parameters import checked
from structopt.structures.base.example_shard import ExampleShard
from structopt.structures.base.oracles import Oracle
from structopt.structures.base.parts import Directions
from structopt.structures.base.shard import Answers, Shard, asked
from structopt.structures.base.structure import Structure, check_lengths

_T = TypeVar("_T")


class DataSet:
    """All shards of a data set, as one thing to ask.

    Parameters
    ----------
    shards : list of Shard
    n_features : int
    sample_weight : array, optional
        Factor of each example's slack; 0 leaves an example out.
    n_jobs : int, optional
        Parallel workers of a pass, in joblib's sense; None leaves it to the active joblib backend,
        and where none is chosen is two threads for large shards of compiled code.
    threads : bool
        Whether the shards release the interpreter lock, so that threads suffice.
    exact : bool
        Whether answers claim to be the best: those that are worse than gold are refused then.

    Examples
    --------
    >>> import structopt as so
    >>> X, Y = so.datasets.make_chain_crf(8, n_features=5, n_relevant=3, seed=0)
    >>> structure = so.Chain().fitted(X, Y)
    >>> data = so.DataSet.of(structure, X, Y)
    >>> data.n_examples, data.n_features == structure.n_features_
    (8, True)
    """

    def __init__(
        self,
        shards: Sequence[Shard],
        n_features: int,
        *,
        sample_weight: Floats | None = None,
        n_jobs: int | None = None,
        threads: bool = False,
        exact: bool = True,
    ) -> None:
        self.shards, self.n_features = list(shards), n_features
        self.n_jobs, self.threads, self.exact = n_jobs, threads, exact
        self._count([shard.n_examples for shard in shards], sample_weight)
        bases = [shard.base for shard in shards]
        # the only one as it is, several below each other
        self.base = bases[0] if len(bases) == 1 else base_matrix(sp.vstack(bases, format="csr"))
        self._sources = np.cumsum([0] + [base.shape[0] for base in bases])
        self._singles: dict[int, Shard] = {}

    def _count(self, counts: Sequence[int], sample_weight: Floats | None) -> None:
        """Number the examples of all shards, and see that each has a weight."""
        self.starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        self.n_examples = int(self.starts[-1])
        given = np.ones(self.n_examples) if sample_weight is None else sample_weight
        weight = as_floats(given, "sample_weight")
        usable = np.isfinite(weight) & (weight >= 0)
        if weight.shape != (self.n_examples,) or not np.all(usable):
            raise InvalidInputError(
                f"sample_weight must hold {self.n_examples} finite numbers >= 0; got shape "
                f"{weight.shape}."
            )
        if not np.any(weight > 0):
            raise InvalidInputError("Every sample_weight is zero: there is nothing to learn from.")
        self.sample_weight = weight

    @classmethod
    @checked
    def of(
        cls,
        structure: Structure,
        X: Any,
        Y: Sequence[Any],
        *,
        sample_weight: Any = None,
        n_jobs: int | None = None,
        engine: Any = None,
    ) -> DataSet:
        """Encode examples for a fitted structure, one shard a worker.

        Parameters
        ----------
        structure : Structure
            Fitted.
        X, Y : sequences
            Inputs and outputs, as the structure takes them.
        sample_weight : array, optional
            Factor of each example's slack.
        n_jobs : int, optional
            Shards that are asked at once, in joblib's sense; of a cluster every thread by default.
        engine : str, Client, Dask or Disk, optional
            Where shards live: "this process", "threads" or "processes" (joblib's), "disk" or a
            :class:`~structopt.Disk`, or "dask", the address of a scheduler, a Dask ``Client`` or
            :class:`~structopt.Dask`. None is this process, with joblib's workers if ``n_jobs``
            asks for them.
        """
        from structopt.engines.place import Remote, place

        check_lengths(X, Y)
        if not hasattr(structure, "n_features_"):
            raise InvalidInputError(
                f"{type(structure).__name__} does not know its n_features_: fit it, "
                "structure.fitted(X, Y). A fitted() of your own begins with what "
                "super().fitted(X, Y) returns."
            )
        X = sp.csr_array(X) if sp.issparse(X) else X
        found = place(engine, n_jobs, threads=structure.releases_gil)
        if isinstance(found, Remote):
            from structopt.engines.remote import RemoteDataSet

            return RemoteDataSet.scattered(found, structure, X, Y, sample_weight=sample_weight)
        return cls(
            encoding.shards(structure, X, Y, found),
            structure.n_features_,
            sample_weight=sample_weight,
            n_jobs=found.n_jobs,
            threads=found.threads,
            exact=structure.exact,
        )

    @classmethod
    @checked
    def of_chunks(
        cls,
        structure: Structure,
        chunks: Any,
        *,
        sample_weight: Any = None,
        n_jobs: int | None = None,
        engine: Any = None,
    ) -> DataSet:
        """Encode chunks where their shards are to live: this process need not see the examples.

        Parameters
        ----------
        structure : Structure
            Fitted, on some of the examples or on what names all labels and inputs.
        chunks : list or Dask bag
            A shard each: functions without arguments, or Dask's delayed values or futures, that
            give a pair (X, Y); of a bag of pairs (x, y) each partition is one.
        sample_weight, n_jobs, engine
            As in :meth:`of`.

        Examples
        --------
        >>> import structopt as so
        >>> from functools import partial
        >>> X, Y = so.datasets.make_chain_crf(8, n_features=5, n_relevant=3, seed=0)
        >>> structure = so.Chain().fitted(X, Y)
        >>> read = partial(so.datasets.make_chain_crf, 8, n_features=5, n_relevant=3)
        >>> chunks = [partial(read, seed=seed) for seed in range(3)]
        >>> so.DataSet.of_chunks(structure, chunks).n_examples
        24
        """
        from structopt.engines.chunks import makers
        from structopt.engines.place import Remote, place

        if not hasattr(structure, "n_features_"):
            raise InvalidInputError(
                "Chunks need a fitted structure: structure.fitted(X, Y) with examples that show "
                "every label and input."
            )
        made, found = makers(chunks), place(engine, n_jobs, threads=structure.releases_gil)
        if isinstance(found, Remote):
            from structopt.engines.remote import RemoteDataSet

            handles = found.spread(made)
            return RemoteDataSet(found, handles, structure, sample_weight=sample_weight)
        return cls(
            encoding.shards_of_chunks(structure, made),
            structure.n_features_,
            sample_weight=sample_weight,
            n_jobs=found.n_jobs,
            threads=found.threads,
            exact=structure.exact,
        )

    # ------------------------------------------------------------------ where the shards live
    def each(self, function: Callable[..., _T], *given: Any) -> list[_T]:
        """Return ``function(shard, number of its first example, *given)`` of every shard.

        It runs where the shard is; what it returns should be small.
        """
        starts = self.starts[:-1].tolist()
        return [function(s, at, *given) for s, at in zip(self.shards, starts, strict=True)]

    @property
    def traffic(self) -> Traffic:
        """Bytes that went to the shards and came back so far: none in this process."""
        return Traffic()

    def close(self) -> None:
        """Let go of what was opened for the shards: a local cluster, a connection."""
        return

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def fingerprint(self, salt: str) -> str:
        """Return a name for the data's content, salted with what else it depends on."""
        return hashlib.blake2b(salt.encode() + self._content, digest_size=16).hexdigest()

    @cached_property
    def _content(self) -> bytes:
        return where.content(self.shards, self.sample_weight.tobytes())

    def sample(self) -> bytes:
        """Return a name for a few of the data's numbers: it tells whether they were changed."""
        return where.sample(self.shards, self.sample_weight.tobytes())

    def check_here(self) -> None:
        """Refuse data that live elsewhere, for whoever needs the examples in this process."""

    def single(self, i: int) -> Shard:
        """Return example i as a shard of its own, for methods that visit one at a time.

        It is made when it is first asked for, and kept.
        """
        if i not in self._singles:
            of = self._shard_of(i)
            self._singles[i] = self.shards[of].single(i - int(self.starts[of]))
        return self._singles[i]

    def single_directions(self, i: int, answers: Answers) -> Directions:
        """Return delta of what ``single(i)`` answered, over the whole data set."""
        source = int(self._sources[self._shard_of(i)])
        batch = self.single(i).directions(answers.outputs, np.zeros(1, dtype=np.int64))
        return batch.moved(source) if source else batch

    def _shard_of(self, i: int) -> int:
        return int(np.searchsorted(self.starts, i, side="right")) - 1

    # ------------------------------------------------------------------ what outer loops change
    def changed(self, shards: Sequence[Shard], sample_weight: Floats | None = None) -> DataSet:
        """Return the same examples, each shard in another form over its own base."""
        other = copy.copy(self)
        other.shards, other._singles = list(shards), {}
        for name in ("_content", "_lanes"):
            vars(other).pop(name, None)
        if sample_weight is not None:
            other.sample_weight = sample_weight
        return other

    def anchored(self, answers: Sequence[Answers]) -> DataSet:
        """Return the examples with delta measured from other outputs than gold; losses stay."""
        pairs = zip(self.shards, answers, strict=True)
        return self.changed([shard.anchored(answer.outputs) for shard, answer in pairs])

    def completed(self, weights: Floats) -> DataSet:
        """Return the examples with what is unknown of gold chosen as these weights like best."""
        return self.changed([shard.completed(weights) for shard in self.shards])

    def relabelled(self, weights: Floats) -> DataSet:
        """Return the examples completed, and what was unknown charged as any gold part is."""
        return self.changed([shard.relabelled(weights) for shard in self.shards])

    def moved_from(self, other: DataSet) -> Directions:
        """Return phi(anchor here) - phi(anchor there) of every example of the same data."""
        before = [Answers(shard.anchor, np.zeros(0), np.zeros(0)) for shard in other.shards]
        return self.directions(before, np.arange(self.n_examples))

    @property
    def unknown(self) -> NDArray[np.bool_]:
        """Which examples have a gold output that is known in part only."""
        return np.concatenate([shard.unknown for shard in self.shards])

    def note(self) -> str:
        """Return what a certificate should say about the gold outputs; usually nothing."""
        if not (open_ := int(self.unknown.sum())):
            return ""
        return (
            f"{open_} gold outputs are known in part: the rest was completed and held fixed, a "
            "convex upper bound of the latent objective"
        )

    def argmax(self, weights: Floats) -> list[Answers]:
        """Return every shard's best outputs, without the loss."""
        return [shard.argmax(weights) for shard in self.shards]

    def ask(self, oracle: Oracle, weights: Floats) -> list[Answers]:
        """One pass: every shard's answers, in order; refused where gold itself is better."""
        answers = self._ask(oracle, weights)
        if self.exact:
            check_gold(oracle, answers, self.term_size(weights))
        return answers

    def term_size(self, weights: Floats) -> float:
        """Return the size of the largest term that a score is a sum of."""
        return self._largest * float(np.abs(weights).max(initial=0.0))

    @cached_property
    def _largest(self) -> float:
        return where.largest(self.base.data)

    def _ask(self, oracle: Oracle, weights: Floats) -> list[Answers]:
        if len(self.shards) == 1:
            if isinstance(self._lanes, lanes.Lanes):
                weights = check_weights(weights, self.n_features)
            return [asked(self._lanes, oracle, weights)]
        return asked_apart(self.shards, oracle, weights, self.n_jobs, threads=self.threads)

    @cached_property
    def _lanes(self) -> Any:
        """The only shard, or runs of it if it is large or several threads ask it."""
        (shard,) = self.shards
        if not self.threads or shard.n_scores is None:
            return shard
        n_threads = lanes.n_lanes(shard, self.n_jobs)
        several = n_threads > 1 or shard.n_scores >= 2 * lanes.RUN
        return lanes.Lanes(shard, n_threads) if several else shard

    def asked_apart(
        self, oracle: Oracle, weights: Floats, which: Sequence[int]
    ) -> list[tuple[Answers, Answers]]:
        """Return what other processes answer about single examples, each with what this one does.

        That is nothing where this process answers, or where a user's own methods are not asked.
        """
        own = all(isinstance(shard, ExampleShard) for shard in self.shards)
        if self.threads or len(self.shards) == 1 or not own:
            return []
        ones = [self.single(i) for i in which]
        there = asked_apart(ones, oracle, weights, self.n_jobs)
        here = [asked(one, oracle, weights) for one in ones]
        return list(zip(there, here, strict=True))

    def directions(self, answers: Sequence[Answers], which: Ints) -> Directions:
        """Return delta of the answers of examples ``which`` (sorted), over the whole data set."""
        batches = []
        for shard, answer, start, end, source in zip(
            self.shards, answers, self.starts[:-1], self.starts[1:], self._sources[:-1], strict=True
        ):
            local = which[(which >= start) & (which < end)] - start
            if len(local):
                batch = shard.directions(answer.outputs, local)
                batches.append(batch.moved(int(source)) if source else batch)
        return batches[0] if len(batches) == 1 else Directions.concatenate(batches)

    def combined(
        self, answers: Sequence[Answers], which: Ints, multipliers: Floats, edges: Ints
    ) -> Any:
        """Return ``sum_k multipliers_k delta_k`` over each run of examples, as sparse rows.

        ``which`` are the examples (sorted), and a run is those between two edges.
        """
        if len(which) == 0:
            return base_matrix(sp.csr_array((len(edges) - 1, self.n_features)))
        sums = self.directions(answers, which).summed(multipliers, edges)
        return base_matrix(sums.tocsr(self.base, self.n_features))

    def deltas(self, answers: Sequence[Answers], which: Ints) -> tuple[Directions, Any]:
        """Return delta of the answers of examples ``which`` (sorted), and the base that it is over.

        That is ``base``, or where the shards live elsewhere one with the rows that are needed.
        """
        return self.directions(answers, which), self.base

    def outputs(self, structure: Structure, answers: Sequence[Answers]) -> list[Any]:
        """Return the outputs of all examples as users write them."""
        pairs = zip(self.shards, answers, strict=True)
        return list(chain.from_iterable(where.outputs(s, structure, a) for s, a in pairs))
