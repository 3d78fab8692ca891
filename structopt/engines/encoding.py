"""From examples to shards: how many there are in this process, and what each holds.

>>> edges(10, 2), edges(10, 2, at_least=6)
([0, 5, 10], [0, 10])
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from structopt.arrays import count, cut_rows
from structopt.engines import lanes, where
from structopt.engines.chunks import read
from structopt.engines.place import Here
from structopt.errors import InvalidInputError
from structopt.structures.base.encoded import encoded
from structopt.structures.base.shard import Shard
from structopt.structures.base.structure import Structure


def edges(n_examples: int, n_jobs: int | None, *, at_least: int = 1) -> list[int]:
    """Return where the examples of each worker begin, and the end of the last."""
    from joblib import effective_n_jobs

    if n_jobs == 0:
        raise InvalidInputError("n_jobs is 0: give the number of workers, or -1 for all cores.")
    workers = min(effective_n_jobs(n_jobs), max(1, n_examples // at_least))
    return np.linspace(0, n_examples, workers + 1).astype(int).tolist()  # type: ignore[no-any-return]


def shards(structure: Structure, X: Any, Y: Sequence[Any], found: Here) -> list[Shard]:
    """Encode examples, a shard a worker; one for threads that are given views of it."""
    cuts = edges(count(X), found.n_jobs)
    if len(cuts) > 2 and found.threads:
        one = encoded(structure, cut_rows(X, 0, 1), Y[:1])
        if lanes.take(one):
            cuts = [0, cuts[-1]]
    return [
        encoded(structure, cut_rows(X, start, stop), Y[start:stop], start=start)
        for start, stop in pairwise(cuts)
    ]


def shards_of_chunks(structure: Structure, made: Sequence[Any]) -> list[Shard]:
    """Read and encode chunks one after the other, a shard each."""
    found: list[Shard] = []
    for number, make in enumerate(made):
        start = sum(shard.n_examples for shard in found)
        chunk = read(make, number, len(made))
        found.append(where.encode(structure, chunk, start).shard)
    return found
