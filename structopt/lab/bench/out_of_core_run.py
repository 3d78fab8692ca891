r"""One training run on drawn rows that come in chunks, alone in a fresh process.

    python -m structopt.lab.bench.out_of_core_run disk 20 4000 500

learns from 20 chunks of 4,000 rows, of 2,000 numbers each, and prints what it measured as one line
of JSON: the size of the data as a CSR base (``megabytes``), peak resident ``memory`` in MB beyond
what the process had when training began, CPU seconds to ``encode`` and to ``train``, the ``groups``
of examples that share a slack, rounds, the cuts that stood at the end and the certified gap. The
last number is a bound: if it is not 0, the operating system gives the process so many MB of
addresses more than it has when training begins.
"""

from __future__ import annotations

import resource
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from structopt.datasets.chunks import Chunks, stream
from structopt.engines.dataset import DataSet
from structopt.formulations.m3n import M3N
from structopt.lab.harness.process import answer
from structopt.methods.cutting_plane import CuttingPlane
from structopt.structures.multiclass.structure import Multiclass

WIDTH, LABELS, C, TOLERANCE = 2000, 5, 1e-4, 1e-2
MEMORY, ROUNDS = 500, 30
"""MB to learn in where no number is given, and rounds whose cuts a quarter of them is to hold: what
grows is copied into twice the room, and a shard is mapped besides."""


def groups(chunks: int, within: int) -> int:
    """Return how many slacks there are: one a chunk, or as many as the memory allows.

    A cut may have an entry, of 12 bytes, in every column.

    >>> groups(10, 0), groups(160, 500), groups(160, 200)
    (10, 36, 14)
    """
    largest = 12 * WIDTH * LABELS
    return max(1, min(chunks, (within or MEMORY) * 2**20 // (4 * ROUNDS * largest)))


def read(rows: int, seed: int) -> tuple[Any, Any]:
    """Draw a chunk: classes that a few of the columns tell apart."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, LABELS, rows)
    X = rng.normal(size=(rows, WIDTH))
    X[np.arange(rows), y] += 2.0
    return X, y


def learn(way: str, chunks: int, rows: int, within: int = 0) -> dict[str, Any]:
    """Learn M3N to a certified gap, with as many slacks as the memory allows."""
    structure = Multiclass(labels=list(range(LABELS))).fitted(*read(LABELS * 10, 0))
    if within:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        most = pages * resource.getpagesize() + within * 2**20
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
    before, began = _peak(), time.process_time()
    drawn = stream([partial(read, rows, seed) for seed in range(chunks)])
    if way == "disk":
        data = DataSet.of_chunks(structure, drawn, engine="disk")
    else:
        data = DataSet.of(structure, *_whole(drawn, rows), n_jobs=1)
    encoded = time.process_time()
    with data:
        aim = M3N(C, slacks=groups(chunks, within))
        result = CuttingPlane(structure, aim, data, tol=TOLERANCE).solve()
    return {
        "megabytes": chunks * rows * WIDTH * 12 / 2**20,
        "memory": _peak() - before,
        "encode": encoded - began,
        "train": time.process_time() - encoded,
        "groups": groups(chunks, within),
        "rounds": len(result.history),
        "cuts": result.history[-1].cuts,
        "found": sum(record.cuts_added for record in result.history),
        "objective": result.certificate.primal,
        "gap": result.certificate.relative_gap,
        "certified": result.certificate.certified,
    }


def _whole(drawn: Chunks, rows: int) -> tuple[Any, Any]:
    """Return all chunks in two arrays."""
    X, y = np.empty((rows * len(drawn), WIDTH)), np.empty(rows * len(drawn), np.int64)
    for number, chunk in enumerate(drawn):
        X[number * rows : (number + 1) * rows], y[number * rows : (number + 1) * rows] = chunk()
    return X, y


def _peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def run(way: str, chunks: str, rows: str, within: str = "0") -> dict[str, Any]:
    """Compile on small data, then measure."""
    learn(way, 2, 50)
    return learn(way, int(chunks), int(rows), int(within))


if __name__ == "__main__":
    answer(partial(run, *sys.argv[1:]))
