r"""What a pass costs where the data live elsewhere: bytes, and CPU seconds of this process.

Sequences are drawn on the workers of a local Dask cluster, so that this process never holds them,
and once more in this process for the pass to compare with. Bytes are those that Dask's workers
count. The cluster has a process of its own, as one has that ``engine="dask"`` starts.

>>> X, Y = drawn(3, 0)
>>> len(X), X[0].shape, len(Y[0])
(3, (8, 128), 8)
"""

from __future__ import annotations

import os
import signal
import statistics
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from structopt.arrays import Floats
from structopt.engines.dask_engine import Dask
from structopt.engines.dataset import DataSet
from structopt.engines.local_dask import LocalDask
from structopt.errors import MissingDependencyError
from structopt.lab.harness import arguments
from structopt.lab.harness.bench import Bench
from structopt.lab.harness.study import Cell, Row
from structopt.lab.harness.table import Table
from structopt.structures.base.oracles import loss_augmented
from structopt.structures.chain.structure import Chain

LENGTH, WIDTH, LABELS = 8, 128, 26
"""As handwritten words have them."""
PARTS = ("pass", "cuts", "sum")
"""A pass; the rows of every answer as a cut; the one row that is their sum."""


def drawn(n: int, seed: int) -> tuple[list[Any], list[list[int]]]:
    """Return sequences of noise, with labels."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, LENGTH, WIDTH))
    return list(X), rng.integers(0, LABELS, (n, LENGTH)).tolist()


@dataclass
class EnginesBench(Bench):
    """Each number of sequences once in this process and once on Dask's workers."""

    name = "bench-engines"

    examples: Sequence[int] = arguments.argument(
        (5_000, 20_000), "sequences (5000 20000)", nargs="+", type=int, metavar="N"
    )
    workers: int = arguments.argument(2, "processes of the local cluster (2)")
    repeats: int = arguments.argument(5, "passes of each kind, of which the median counts (5)")

    def cells(self) -> list[Cell]:
        """Return a cell a size."""
        return [{"examples": n} for n in sorted(self.examples)]

    def run(self, cell: Cell) -> dict[str, Any]:
        """Measure passes elsewhere, a worker that dies, and passes here."""
        try:
            from distributed import Client
        except ImportError as error:
            raise MissingDependencyError("pip install 'structopt-margin[dask]'") from error
        structure = Chain(labels=range(LABELS)).fitted(*drawn(50, 0))
        weights = np.random.default_rng(0).normal(size=structure.n_features_)
        each = cell["examples"] // self.workers
        chunks = [partial(drawn, each, seed) for seed in range(self.workers)]
        numbers: dict[str, Any] = {"weights": weights.nbytes}
        with (
            closing(LocalDask(self.workers, 120.0)) as cluster,
            Client(cluster.address, set_as_default=False) as client,
        ):
            few = [partial(drawn, 20, 0)] * len(chunks)
            self._timed(DataSet.of_chunks(structure, few, engine=client), weights, lambda: 0)
            before = _resident()
            data = DataSet.of_chunks(structure, chunks, engine=Dask(client, timeout=600.0))
            data.ask(loss_augmented, weights)
            numbers["resident"] = _resident() - before
            found = self._timed(data, weights, partial(_sent, client))
            numbers |= {f"there {k}": v for k, v in found.items()}
            numbers |= _killed(client, data, weights)
        here = DataSet.of_chunks(structure, chunks, n_jobs=1)
        numbers["base"] = sum(a.nbytes for a in (here.base.data, here.base.indices))
        found = self._timed(here, weights, lambda: 0)
        return numbers | {f"here {k}": v for k, v in found.items()}

    def _timed(self, data: DataSet, weights: Floats, sent: Callable[[], int]) -> dict[str, float]:
        """Return CPU seconds of this process and bytes of each kind of question."""
        every, all_of_them = np.arange(data.n_examples), np.array([0, data.n_examples])
        seconds: dict[str, list[float]] = {part: [] for part in PARTS}
        moved: dict[str, float] = {}
        for k in range(self.repeats + 1):
            at = (1.0 + 0.1 * k) * weights
            marks, counted = [time.process_time()], [sent()]
            answers = data.ask(loss_augmented, at)
            for question in (
                None,
                partial(data.deltas, answers, every),
                partial(data.combined, answers, every, np.ones(data.n_examples), all_of_them),
            ):
                if question is not None:
                    marks.append(time.process_time())
                    question()
                seconds[PARTS[len(counted) - 1]].append(time.process_time() - marks[-1])
                counted.append(sent())
            moved = dict(zip(PARTS, np.diff(counted).tolist(), strict=True))
        median = {part: statistics.median(values[1:]) for part, values in seconds.items()}
        return median | {f"{part} bytes": moved[part] for part in PARTS}

    def tables(self, rows: Sequence[Row], left_out: Sequence[str]) -> list[Table]:
        """Return what a pass moves, what it costs this process, and what a death costs."""
        moved = tuple(
            (f"{r['examples']:,}", f"{r['base'] / 1e6:,.0f}", f"{r['weights'] / 1e3:,.0f}",
             *(f"{r[f'there {part} bytes'] / 1e6:,.2f}" for part in PARTS),
             f"{r['resident'] / 1e6:,.0f}")
            for r in rows
        )  # fmt: skip
        spent = tuple(
            (f"{r['examples']:,}", *(f"{1e3 * r[f'{at} {part}']:,.0f}" for part in PARTS
             for at in ("here", "there")), f"{r['there pass'] / r['here pass']:.2f}")
            for r in rows
        )  # fmt: skip
        died = tuple(
            (f"{r['examples']:,}", f"{r['shards']}", f"{r['again']}", "yes" if r["same"] else "no")
            for r in rows
        )
        notes = tuple(f"Left out: {reason}." for reason in left_out)
        return [
            Table("What travels, in MB as Dask's workers count",
                  ("sequences", "base here", "weights, kB", *PARTS, "process grew"), moved,
                  ("A pass: losses and scores. Cuts: a row for every sequence. Sum: one row. The "
                   "process grew by building the data and a first pass.",
                   *notes)),
            Table("CPU milliseconds of this process",
                  ("sequences", *(f"{p}, {at}" for p in PARTS for at in ("here", "Dask")),
                   "pass, Dask / here"), spent,
                  (f"Medians of {self.repeats}.",)),
            Table("A worker is killed",
                  ("sequences", "shards", "made again", "same answers"), died),
        ]  # fmt: skip


def _sent(client: Any) -> int:
    """Return the bytes that workers have sent to anyone."""
    each = client.run(lambda dask_worker: dask_worker.transfer_outgoing_bytes_total)
    return int(sum(each.values()))


def _resident() -> int:
    """Return the memory of this process."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def _killed(client: Any, data: DataSet, weights: Floats) -> dict[str, Any]:
    """Kill a worker, ask, and return how many shards there are, and how many were made again."""

    def made(dask_scheduler: Any) -> int:
        log = dask_scheduler.transition_log
        return sum(t[0].startswith("encode") and t[2] == "memory" for t in log)

    def encoded() -> int:
        return int(client.run_on_scheduler(made))

    first, before = data.ask(loss_augmented, weights), encoded()
    os.kill(next(iter(client.run(os.getpid).values())), signal.SIGKILL)
    second = data.ask(loss_augmented, weights)
    same = all(np.array_equal(a.score, b.score) for a, b in zip(first, second, strict=True))
    return {"shards": len(first), "again": encoded() - before, "same": same}
