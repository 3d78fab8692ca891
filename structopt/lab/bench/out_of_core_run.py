r"""One training run on drawn rows that come in chunks, alone in a fresh process.

    python -m structopt.lab.bench.out_of_core_run disk 20 4000

learns from 20 chunks of 4,000 rows, of 2,000 numbers each, and prints what it measured as one line
of JSON: the size of the data as a CSR base (``megabytes``), peak resident ``memory`` in MB beyond
what the process had when training began, CPU seconds to ``encode`` and to ``train``, rounds and the
certified gap.
"""

from __future__ import annotations

import resource
import sys
import time
from functools import partial
from typing import Any

import numpy as np

from structopt.datasets.chunks import Chunks, stream
from structopt.engines.dataset import DataSet
from structopt.formulations.m3n import M3N
from structopt.lab.harness.process import answer
from structopt.methods.cutting_plane import CuttingPlane
from structopt.structures.multiclass.structure import Multiclass

WIDTH, LABELS, C, TOLERANCE = 2000, 5, 1e-4, 1e-2


def read(rows: int, seed: int) -> tuple[Any, Any]:
    """Draw a chunk: classes that a few of the columns tell apart."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, LABELS, rows)
    X = rng.normal(size=(rows, WIDTH))
    X[np.arange(rows), y] += 2.0
    return X, y


def learn(way: str, chunks: int, rows: int) -> dict[str, Any]:
    """Learn M3N to a certified gap, with one slack a chunk."""
    structure = Multiclass(labels=list(range(LABELS))).fitted(*read(LABELS * 10, 0))
    before, began = _peak(), time.process_time()
    drawn = stream([partial(read, rows, seed) for seed in range(chunks)])
    if way == "disk":
        data = DataSet.of_chunks(structure, drawn, engine="disk")
    else:
        data = DataSet.of(structure, *_whole(drawn, rows), n_jobs=1)
    encoded = time.process_time()
    with data:
        aim = M3N(C, slacks=chunks)
        result = CuttingPlane(structure, aim, data, tol=TOLERANCE).solve()
    return {
        "megabytes": chunks * rows * WIDTH * 12 / 2**20,
        "memory": _peak() - before,
        "encode": encoded - began,
        "train": time.process_time() - encoded,
        "rounds": len(result.history),
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


def run(way: str, chunks: str, rows: str) -> dict[str, Any]:
    """Compile on small data, then measure."""
    learn(way, 2, 50)
    return learn(way, int(chunks), int(rows))


if __name__ == "__main__":
    answer(partial(run, *sys.argv[1:]))
