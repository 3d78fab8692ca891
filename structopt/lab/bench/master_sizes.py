r"""Extragradient against simplex, interior point and PDLP on the same masters of growing size.

LP-Struct with free weights on tagging data: the cuts with which a run to a certified gap of 1% ends
make a master, which every competitor then solves from nothing, in turns. There is a series of
masters for strong regularisation (C = 1: few weights, many cuts in use) and one for weak (C = 10).
Measured is the CPU time until a pair (x, y) has a *certified* relative gap of 1e-2, 1e-4 and 1e-6:
slacks raised, multipliers scaled (:mod:`structopt.backends.extragradient.judge`), the same judge
for all.

* ours and the paper's variant are watched while they run;
* simplex and interior point know no half-way: the time of their one run counts for every gap;
* PDLP is told its target as relative tolerance, then a tenth of it and so on, down to a
  thousandth, if the certified gap is missed; only the run that reached it counts.

>>> from structopt.lab.harness.runner import run
>>> bench = MasterSizesBench(solvers=["ours"], sizes=[Size(12, 20, 3, 1.0)])
>>> run(bench, bench.cells()).rows[0]["reached"].keys() == {1e-2, 1e-4, 1e-6}
True
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from structopt.backends.extragradient.judge import Judge
from structopt.backends.extragradient.outcome import Iterate
from structopt.backends.extragradient.recipe import Variant
from structopt.backends.extragradient.solver import solve
from structopt.errors import StructoptError
from structopt.lab.bench import lp_solvers
from structopt.lab.bench.tagging import make_tagging
from structopt.lab.harness import arguments
from structopt.lab.harness.bench import Bench
from structopt.lab.harness.study import Cell, Row, every, turns, where
from structopt.lab.harness.table import Table
from structopt.master.program import Program

GAPS = (1e-2, 1e-4, 1e-6)
_FLOOR = 1e-6  # as in the backend: the gap is relative


@dataclass(frozen=True)
class Size:
    """What a master is learned from, and the C of its formulation."""

    n_sentences: int
    n_words: int
    n_labels: int
    C: float


QUICK = (Size(25, 20, 4, 1.0), Size(60, 30, 5, 1.0))
_GROWING = ((100, 25, 6), (300, 75, 8), (900, 225, 10), (2700, 675, 12), (8100, 2025, 14))
FULL = tuple(Size(*size, C) for C in (1.0, 10.0) for size in _GROWING[:3])
LARGE = tuple(Size(*size, C) for C in (1.0, 10.0) for size in _GROWING[3:])


@dataclass
class MasterSizesBench(Bench):
    """Masters of growing size, each solved from nothing by every solver, in turns.

    Parameters
    ----------
    quick, large : bool
        Small masters; larger ones, by ours and simplex only.
    time_limit : float
        CPU seconds (60; 1 if quick) that a solver may spend on one master and gap. Those that only
        know wall time get three times as much of that.
    solvers : sequence of str
        Of :data:`SOLVERS`.
    sizes : sequence of Size
        Other masters.
    """

    name = "bench-master-sizes"

    quick: bool = arguments.quick("small masters: seconds", one_of="size")
    large: bool = arguments.argument(
        False, "larger masters, ours and simplex only: an hour", one_of="size"
    )
    time_limit: float | None = arguments.limit(None, "60; with --quick 1")
    solvers: Sequence[str] = ()
    sizes: Sequence[Size] = ()

    def __post_init__(self) -> None:
        self.sizes = self.sizes or (QUICK if self.quick else LARGE if self.large else FULL)
        self.solvers = self.solvers or (("ours", "simplex") if self.large else tuple(SOLVERS))
        self._limit = self.time_limit or (1.0 if self.quick else 60.0)
        self._masters: dict[int, Program] = {}

    def cells(self) -> list[Cell]:
        """Return a cell a master and solver."""
        return [
            {"master": number, "solver": name}
            for number in range(len(self.sizes))
            for name in turns(self.solvers, number)
        ]

    def warm_up(self, cell: Cell) -> None:
        """Compile, and learn the master."""
        if not self._masters:
            small = _master(Size(6, 10, 3, 1.0))
            for variant in ("paper", "alternating"):
                _watched(small, 1.0, variant)
        if cell["master"] not in self._masters:
            self._masters[cell["master"]] = _master(self.sizes[cell["master"]])

    def run(self, cell: Cell) -> dict[str, Any]:
        """Solve one master."""
        master = self._masters[cell["master"]]
        found = SOLVERS[cell["solver"]](master, self._limit)
        size = {"C": self.sizes[cell["master"]].C, "shape": master.A.shape}
        return {"reached": found.reached, "best": found.best, "late": found.late, **size}

    def tables(self, rows: Sequence[Row], left_out: Sequence[str]) -> list[Table]:
        """Return one row for each master and solver."""
        lines, order = [], list(self.solvers)
        for row in sorted(rows, key=lambda r: (r["master"], order.index(r["solver"]))):
            times = [row["reached"].get(gap) for gap in GAPS]
            missed = f"> {self._limit:.0f}" if row["late"] else "missed"
            cuts, columns = row["shape"]
            lines.append(
                (
                    f"C = {row['C']:g}, {cuts:,} x {columns:,}, {row['solver']}",
                    *(f"{t[0]:.2f}" if t else missed for t in times),
                    *(f"{t[1]:,}" if t else "-" for t in times),
                    f"{row['best']:.1e}",
                )
            )
        return [Table(
            "LP-Struct masters from nothing",
            ("C, cuts x columns, solver", "CPU s to 1e-2", "to 1e-4", "to 1e-6",
             "iterations to 1e-2", "iterations to 1e-4", "iterations to 1e-6", "best gap"),
            tuple(lines),
            (
                "CPU seconds of one thread to a certified relative gap; one run, in turns.",
                *_verdicts(rows),
                *(f"Left out: {reason}" for reason in left_out),
            ),
        )]  # fmt: skip


def wins(rows: Sequence[Row], C: float, gap: float) -> int | None:
    """Return the first master, if any, from which on ours beats simplex at this C and gap."""
    first = None
    for number in every(where(rows, C=C), "master"):
        mine, other = (_seconds(rows, number, name, gap) for name in ("ours", "simplex"))
        if mine >= other:
            first = None
        elif first is None:
            first = number
    return first


def _seconds(rows: Sequence[Row], master: int, solver: str, gap: float) -> float:
    found = where(rows, master=master, solver=solver)
    return float(found[0]["reached"].get(gap, (math.inf, 0))[0]) if found else math.inf


def _verdicts(rows: Sequence[Row]) -> list[str]:
    solvers = every(rows, "solver")
    if not {"ours", "simplex"} <= set(solvers):
        return []
    found = []
    for C in every(rows, "C"):
        largest = max(every(where(rows, C=C), "master"))
        for gap in GAPS:
            number = wins(rows, C, gap)
            verdict = "simplex is faster on the largest master"
            if all(math.isinf(_seconds(rows, largest, name, gap)) for name in solvers):
                verdict = "nobody gets there on the largest master"
            elif number is not None:
                cuts = where(rows, master=number)[0]["shape"][0]
                verdict = f"ours is faster than simplex from {cuts:,} cuts on"
            found.append(f"At C = {C:g} and a gap of {gap:g}, {verdict}.")
    return found


def _master(size: Size) -> Program:
    """Return the master with which a run to a gap of 1% ends."""
    from structopt.backends.extragradient.backend import ExtragradientBackend
    from structopt.engines.dataset import DataSet
    from structopt.formulations.lp_struct import LPStruct
    from structopt.methods.cutting_plane import CuttingPlane
    from structopt.structures.chain.structure import Chain

    X, Y = make_tagging(size.n_sentences, n_words=size.n_words, n_labels=size.n_labels)
    structure = Chain(labels=range(size.n_labels)).fitted(X, Y)
    formulation = LPStruct(C=size.C, nonnegative=False)
    run = CuttingPlane(structure, formulation, DataSet.of(structure, X, Y), tol=1e-2)
    certificate = run.solve().certificate
    if not certificate.certified:
        raise StructoptError(f"The run that makes the master is not certified: {certificate}.")
    backend = ExtragradientBackend()
    backend.start(run.master)
    backend.append(run.master.pool.cuts)
    return backend.problem()


# ---------------------------------------------------------------------- solvers
@dataclass(frozen=True)
class Run:
    """One solver on one master: CPU seconds and iterations at each certified gap."""

    reached: dict[float, tuple[float, int]]
    best: float
    late: bool = False
    """Whether the limit ended it."""


def _watched(master: Program, limit: float, variant: Variant) -> Run:
    reached: dict[float, tuple[float, int]] = {}
    best = math.inf
    began = time.process_time()

    def watch(iterate: Iterate) -> bool:
        nonlocal best
        best = min(best, iterate.error)
        now = time.process_time() - began
        for gap in GAPS:
            if iterate.error <= gap:
                reached.setdefault(gap, (now, iterate.iteration))
        return len(reached) == len(GAPS) or now > limit

    # no rule of the solver's own may end it: the watch does
    endless = 2**62
    solve(
        master, tolerance=-1.0, variant=variant, without=["presolve"], max_iter=endless,
        check=lambda problem: Judge(problem, _FLOOR), callback=watch,
    )  # fmt: skip
    return Run(reached, best, late=len(reached) < len(GAPS))


def _once(master: Program, limit: float, method: str) -> Run:
    pair = lp_solvers.highs(master, limit, {"solver": method})
    error = Judge(master, _FLOOR).assess(pair.x, pair.y).error
    reached = {gap: (pair.seconds, pair.iterations) for gap in GAPS if error <= gap}
    late = pair.seconds >= limit
    return Run({} if late else reached, error, late)


def _targeted(
    master: Program, limit: float, run: Callable[[Program, float, float], lp_solvers.Pair]
) -> Run:
    judge, best = Judge(master, _FLOOR), math.inf
    reached: dict[float, tuple[float, int]] = {}
    for gap in GAPS:
        for share in (1.0, 0.1, 0.01, 0.001):
            pair = run(master, limit, share * gap)
            error = judge.assess(pair.x, pair.y).error
            best = min(best, error)
            if pair.seconds >= limit:
                return Run(reached, best, late=True)
            if error <= gap:
                for looser in [g for g in GAPS if g >= gap]:  # those missed before are reached too
                    reached.setdefault(looser, (pair.seconds, pair.iterations))
                break
    return Run(reached, best)


SOLVERS: dict[str, Callable[[Program, float], Run]] = {
    "paper": lambda master, limit: _watched(master, limit, "paper"),
    "ours": lambda master, limit: _watched(master, limit, "alternating"),
    "simplex": lambda master, limit: _once(master, limit, "simplex"),
    "ipm": lambda master, limit: _once(master, limit, "ipm"),
    "HiGHS PDLP": lambda master, limit: _targeted(master, limit, lp_solvers.highs_pdlp),
    "OR-tools PDLP": lambda master, limit: _targeted(master, limit, lp_solvers.ortools_pdlp),
}
