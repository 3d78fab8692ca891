r"""A pass over one shard in runs of its examples, by several threads side by side or by one.

The runs are views of one shard (:meth:`~structopt.structures.base.shard.Shard.runs`), so nothing
is held twice, and every example is answered by the same compiled code. Sparse inputs give the same
answers to the last digit however many runs there are; of dense ones BLAS may round the products
of fewer rows another way.

>>> import numpy as np, structopt as so
>>> X, Y = so.datasets.make_chain_crf(9, n_features=5, n_relevant=3, seed=0)
>>> structure = so.Chain().fitted(X, Y)
>>> shard, weights = structure.encode(X, Y), np.ones(structure.n_features_)
>>> two = Lanes(shard, 2).ask(so.loss_augmented, weights)
>>> bool(np.all(two.outputs == shard.ask(so.loss_augmented, weights).outputs))
True
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import Any

import numpy as np

from structopt.arrays import Floats
from structopt.structures.base.input_rows import InputRows
from structopt.structures.base.oracles import Oracle
from structopt.structures.base.shard import Answers, Shard, excess_of

LARGE = 2**20
"""Nonzeros of a base, or scores, from which on two threads are used unasked: a pass then takes some
3 ms, and to start and join a thread 0.1 ms."""
RUN = 2**16
"""Scores that are worked out at once: 512 kB of them."""


class Lanes:
    """A shard whose examples are answered run by run, by one thread or several.

    A run is small enough for its scores to stay in a cache: there is no array of all of them. The
    runs, and so the answers, are the same however many threads there are.

    Parameters
    ----------
    shard : Shard
        One that says how many scores it works out, and joins the outputs of runs.
    n_threads : int
    """

    def __init__(self, shard: Shard, n_threads: int) -> None:
        self.shard, self.n_threads = shard, n_threads
        n_runs = max(n_threads, (shard.n_scores or 0) // RUN)
        self.edges = np.linspace(0, shard.n_examples, min(n_runs, shard.n_examples) + 1).astype(int)
        self.runs = shard.runs(self.edges.tolist())

    def ask(self, oracle: Oracle, weights: Floats) -> Answers:
        """Answer ``oracle`` for every example of the shard; weights were checked."""
        given, answers = np.array(weights), [_NONE] * len(self.runs)
        waiting = iter(range(len(self.runs)))

        def work() -> None:
            for number in waiting:  # whoever is free takes the next
                answers[number] = self.runs[number].ask(oracle, given)

        others = [_pool(self.n_threads - 1).submit(work) for _ in range(self.n_threads - 1)]
        try:
            work()
            for one in others:
                one.result()
        finally:
            for value in vars(self.runs[0]).values():
                if isinstance(value, InputRows) and value.turned is not None:
                    value.turned.forget()
        return joined(self.shard.joined([a.outputs for a in answers], self.edges), answers)


_NONE = Answers(None, np.zeros(0), np.zeros(0))


def joined(outputs: Any, answers: Sequence[Answers]) -> Answers:
    """Return what runs of examples answered as one, with the outputs of all."""
    return Answers(
        outputs,
        np.concatenate([a.loss for a in answers]),
        np.concatenate([a.score for a in answers]),
        all(a.exact for a in answers),
        None if all(a.excess is None for a in answers) else excess_of(answers),
    )


def take(shard: Shard) -> bool:
    """Return whether a shard can be asked side by side, and joblib leaves it to threads."""
    from joblib.parallel import get_active_backend

    backend, _ = get_active_backend(prefer="threads")
    shared = bool(getattr(backend, "supports_sharedmem", False))  # processes do not say so
    return shard.n_scores is not None and shared


def n_lanes(shard: Shard, n_jobs: int | None) -> int:
    """Return by how many threads a shard of code that releases the interpreter lock is asked.

    ``n_jobs`` are joblib's; None is two where the shard is large and nobody else has a say: not in
    a worker of joblib, nor where a backend of it is chosen.
    """
    from joblib import cpu_count, effective_n_jobs
    from joblib.parallel import get_active_backend

    if not take(shard):
        return 1
    backend, chosen = get_active_backend(prefer="threads")
    threads = effective_n_jobs(n_jobs)
    alone = n_jobs is None and chosen in (None, 1) and backend.nesting_level in (None, 0)
    if alone and max(shard.base.nnz, shard.n_scores or 0) >= LARGE:
        threads = max(threads, min(2, cpu_count()))
    return int(min(threads, shard.n_examples))


@lru_cache
def _pool(n_threads: int) -> ThreadPoolExecutor:
    """Return threads that wait for work: to start them anew would cost more than a small pass."""
    return ThreadPoolExecutor(n_threads, thread_name_prefix="structopt")


if hasattr(os, "register_at_fork"):  # not on Windows, which does not fork
    os.register_at_fork(after_in_child=_pool.cache_clear)  # a child has no threads but its own
