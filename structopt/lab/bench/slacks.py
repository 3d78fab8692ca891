"""Who shares a slack: rounds, cuts and CPU from n slacks over groups of examples down to one.

M3N by cutting planes, to a certified relative gap. Letters are looked for in the folder that
``STRUCTOPT_DATA`` names; chains are drawn.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from structopt.datasets import load_letters, make_chain_crf
from structopt.engines.dataset import DataSet
from structopt.errors import InvalidInputError
from structopt.formulations.m3n import M3N
from structopt.lab.harness import arguments
from structopt.lab.harness.bench import Bench
from structopt.lab.harness.study import Cell, Row, every, in_turns, median, where
from structopt.lab.harness.table import Table
from structopt.methods.cutting_plane import CuttingPlane
from structopt.structures.chain.structure import Chain

TOLERANCE = 1e-2
NAMED = ("n", "one", "shards", "auto")
GROUPS = ("n", "2048", "512", "256", "32", "8", "2", "one")


@dataclass
class SlacksBench(Bench):
    """One learning problem with its slacks shared by groups of different size, in turns.

    Parameters
    ----------
    groups : sequence of str
        "n", "one", "shards", "auto", or numbers of groups; what is more than there are examples is
        left out.
    invented : int
        Draw so many chains instead of reading letters.
    C : float
    engine : str
        Where the data live, as `DataSet.of` has it.
    repeats : int
    """

    name = "bench-slacks"

    groups: Sequence[str] = arguments.argument(
        GROUPS, "n, one, shards, auto, or numbers of groups", nargs="+", metavar="K"
    )
    invented: int = arguments.argument(0, "chains drawn at random instead of letters")
    C: float = arguments.argument(0.1, "of M3N", flag="--C")
    engine: str = arguments.argument("this process", "where the data live (this process)")
    repeats: int = arguments.repeats(1)

    @cached_property
    def _data(self) -> tuple[Chain, DataSet]:
        if self.invented:
            X, Y = make_chain_crf(self.invented, n_features=20, n_relevant=10, seed=0)
        else:
            X, Y = load_letters([1])
        structure = Chain().fitted(X, Y)
        jobs = 1 if self.engine == "this process" else None
        return structure, DataSet.of(structure, X, Y, n_jobs=jobs, engine=self.engine)

    def cells(self) -> list[Cell]:
        """Return a cell a number of groups and turn."""
        _, data = self._data
        for k in self.groups:
            if k not in NAMED and not (k.isdecimal() and int(k) >= 1):
                raise InvalidInputError(f"groups are {', '.join(NAMED)} or numbers; got {k!r}.")
        fewer = [k for k in self.groups if not k.isdecimal() or int(k) < data.n_examples]
        return in_turns([{"slacks": k} for k in fewer], self.repeats)

    def warm_up(self, cell: Cell) -> None:
        """Do one round."""
        self._run(cell, max_iter=1)

    def run(self, cell: Cell) -> dict[str, Any]:
        """Learn, and count."""
        began, driven = time.perf_counter(), time.process_time()
        run = self._run(cell)
        seconds, wall = time.process_time() - driven, time.perf_counter() - began
        cuts = run.master.pool.cuts
        certificate = run.result().certificate
        return {
            "cpu": seconds,
            "wall": wall,
            "groups": len(run.master.slack_columns),
            "up": sum(record.bytes_up for record in run.history) / 1e6,
            "rounds": len(run.history),
            "cuts": len(cuts),
            "entries": int(cuts.deltas(run.data.n_features).nnz),
            "gap": certificate.relative_gap,
            "certified": certificate.certified,
        }

    def _run(self, cell: Cell, **limits: Any) -> CuttingPlane:
        k = cell["slacks"]
        structure, data = self._data
        aim = M3N(self.C, slacks=int(k) if k.isdecimal() else k)
        run = CuttingPlane(structure, aim, data, tol=TOLERANCE, **limits)
        run.solve()
        return run

    def tables(self, rows: Sequence[Row], left_out: Sequence[str]) -> list[Table]:
        """Return one row a number of groups."""
        _, data = self._data
        what = f"{self.invented} drawn chains" if self.invented else "letters, fold 1"
        lines = []
        for k in every(rows, "slacks"):
            mine = where(rows, slacks=k)
            counts = (f"{mine[-1][name]}" for name in ("rounds", "cuts", "entries"))
            seconds = (f"{median(mine, name):.2f}" for name in ("cpu", "wall"))
            own = (f"{mine[-1]['up']:.1f}", f"{mine[-1]['groups']}", f"{mine[-1]['gap']:.1e}")
            lines.append((k, *counts, *seconds, *own))
        return [
            Table(
                f"Who shares a slack: {what} ({data.n_examples}, {data.n_features} weights)",
                ("slacks", "rounds", "cuts", "entries of cuts", "CPU s", "wall s", "MB up",
                 "groups", "gap"),
                tuple(lines),
                (f"M3N(C={self.C:g}) by cutting planes to a certified gap of {TOLERANCE:g}, data "
                 f"by engine {self.engine!r}. Seconds of this process, medians of {self.repeats}; "
                 "cuts and their nonzeros are those of the last master.",),
            )
        ]  # fmt: skip
