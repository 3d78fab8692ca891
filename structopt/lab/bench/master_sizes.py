r"""Extragradient against simplex, interior point and PDLP on the same masters of growing size.

The masters are those of :mod:`.master_series`: LP-Struct on tagging data with strong and with weak
regularisation, on MedPost and on lattices, and L1-M3N. Every competitor solves each from nothing,
in turns. Measured is the CPU time until a pair (x, y) has a *certified* relative gap of 1e-2, 1e-4
and 1e-6: slacks raised, multipliers scaled (:mod:`structopt.backends.extragradient.judge`), the
same judge for all.

* ours and the paper's variant are watched while they run;
* simplex and interior point know no half-way: the time of their one run counts for every gap;
* PDLP is told its target as relative tolerance, then a tenth of it and so on, down to a
  thousandth, if the certified gap is missed; only the run that reached it counts.

>>> from structopt.lab.harness.runner import run
>>> bench = MasterSizesBench(solvers=["ours"], sizes=[Tagging(12, 20, 3, 1.0)])
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
from structopt.errors import MissingDependencyError, OutOfTimeError
from structopt.lab.bench import lp_solvers
from structopt.lab.bench.master_series import Case, Lattices, MedPost, SparseTagging, Tagging
from structopt.lab.harness import arguments
from structopt.lab.harness.bench import Bench
from structopt.lab.harness.drawing import drawn, new_figure
from structopt.lab.harness.machine import Machine
from structopt.lab.harness.output import write_files
from structopt.lab.harness.study import Cell, Row, every, known, turns, where
from structopt.lab.harness.table import Table
from structopt.master.program import Program
from structopt.report.draw.theme import OKABE_ITO

GAPS = (1e-2, 1e-4, 1e-6)
_FLOOR = 1e-6  # as in the backend: the gap is relative


QUICK: tuple[Case, ...] = (Tagging(25, 20, 4, 1.0), Tagging(60, 30, 5, 1.0))
_GROWING: Sequence[tuple[int, int, int]] = (
    (100, 25, 6),
    (300, 75, 8),
    (900, 225, 10),
    (2700, 675, 12),
    (8100, 2025, 14),
)
_MEDPOST: Sequence[int] = (30, 100, 300, 1000, 3000)
_LATTICES: Sequence[tuple[int, int, int]] = (
    (300, 200, 20_000),
    (1000, 600, 60_000),
    (3000, 2000, 200_000),
    (10_000, 6000, 600_000),
    (30_000, 20_000, 2_000_000),
)


def _of_size(k: int) -> tuple[Case, ...]:
    return (
        *(Tagging(*_GROWING[k], C) for C in (1.0, 10.0)),
        SparseTagging(*_GROWING[k], 1.0),
        MedPost(_MEDPOST[k], 1.0),
        Lattices(*_LATTICES[k], 1.0),
    )


# by size, so that a run that is short of time has whole sizes
FULL = tuple(case for k in range(3) for case in _of_size(k))
LARGE = tuple(case for k in range(5) for case in _of_size(k))


@dataclass
class MasterSizesBench(Bench):
    """Masters of growing size, each solved from nothing by every solver, in turns.

    Parameters
    ----------
    quick, large : bool
        Small masters; larger ones, too, by ours, simplex and interior point only.
    time_limit : float
        CPU seconds (60; 1 if quick) that a solver may spend on one master and gap. Those that only
        know wall time get three times as much of that.
    solvers : sequence of str
        Of :data:`SOLVERS`.
    minutes : float
        After which no master is begun.
    sizes : sequence of Case
        Other masters.
    """

    name = "bench-master-sizes"
    excuses = (MissingDependencyError, OutOfTimeError)

    quick: bool = arguments.quick("small masters: seconds", one_of="size")
    large: bool = arguments.argument(
        False, "larger masters, too; ours, simplex and interior point only: hours", one_of="size"
    )
    time_limit: float | None = arguments.limit(None, "60; with --quick 1")
    solvers: Sequence[str] = arguments.argument(
        (), "only these, of ours, paper, simplex, ipm, HiGHS PDLP, OR-tools PDLP", nargs="+",
        metavar="NAME",
    )  # fmt: skip
    minutes: float = arguments.argument(float("inf"), "after which no master is begun")
    sizes: Sequence[Case] = ()

    def __post_init__(self) -> None:
        self.sizes = self.sizes or (QUICK if self.quick else LARGE if self.large else FULL)
        known(self.solvers, list(SOLVERS), "solver")
        self.solvers = self.solvers or (
            ("ours", "simplex", "ipm") if self.large else tuple(SOLVERS)
        )
        self._limit = self.time_limit or (1.0 if self.quick else 60.0)
        self._masters: dict[int, Program] = {}
        self._until = time.monotonic() + 60.0 * self.minutes

    def cells(self) -> list[Cell]:
        """Return a cell a master and solver."""
        return [
            {"master": number, "solver": name}
            for number in range(len(self.sizes))
            for name in turns(self.solvers, number)
        ]

    def warm_up(self, cell: Cell) -> None:
        """Learn the master, and compile on the first one."""
        if cell["master"] not in self._masters:
            if time.monotonic() > self._until:
                raise OutOfTimeError(f"No master was begun after {self.minutes:g} minutes.")
            first = not self._masters
            self._masters[cell["master"]] = self.sizes[cell["master"]].master()
            if first:
                for variant in ("paper", "alternating"):
                    _watched(self._masters[cell["master"]], 1.0, variant)

    def run(self, cell: Cell) -> dict[str, Any]:
        """Solve one master."""
        master = self._masters[cell["master"]]
        found = SOLVERS[cell["solver"]](master, self._limit)
        size = {"series": self.sizes[cell["master"]].series, "shape": master.A.shape}
        return {"reached": found.reached, "best": found.best, "late": found.late, **size}

    def leave(self, rows: Sequence[Row], command: str, machine: Machine) -> None:
        """Draw the figure beside the tables."""
        if self.out is not None and rows:
            figure = drawing(rows)
            write_files(
                self.out, {f"{self.name}.{kind}": drawn(figure, kind) for kind in ("png", "svg")}
            )

    def tables(self, rows: Sequence[Row], left_out: Sequence[str]) -> list[Table]:
        """Return one row for each master and solver."""
        lines, order, series = [], list(self.solvers), every(rows, "series")

        def place(row: Row) -> tuple[int, int, int]:
            return series.index(row["series"]), row["master"], order.index(row["solver"])

        for row in sorted(rows, key=place):
            times = [row["reached"].get(gap) for gap in GAPS]
            missed = f"> {self._limit:.0f}" if row["late"] else "missed"
            cuts, columns = row["shape"]
            lines.append(
                (
                    f"{row['series']}, {cuts:,} x {columns:,}, {row['solver']}",
                    *(f"{t[0]:.2f}" if t else missed for t in times),
                    *(f"{t[1]:,}" if t else "-" for t in times),
                    f"{row['best']:.1e}",
                )
            )
        return [Table(
            "Masters from nothing",
            ("series, cuts x columns, solver", "CPU s to 1e-2", "to 1e-4", "to 1e-6",
             "iterations to 1e-2", "iterations to 1e-4", "iterations to 1e-6", "best gap"),
            tuple(lines),
            (
                "CPU seconds of one thread to a certified relative gap; one run, in turns.",
                *_verdicts(rows),
                *(f"Left out: {reason}" for reason in left_out),
            ),
        )]  # fmt: skip


def wins(rows: Sequence[Row], series: str, gap: float, rival: str = "simplex") -> int | None:
    """Return the first master, if any, from which on ours beats a rival in a series at a gap."""
    first = None
    for number in every(where(rows, series=series), "master"):
        mine, other = (_seconds(rows, number, name, gap) for name in ("ours", rival))
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
    for series in every(rows, "series"):
        largest = max(every(where(rows, series=series), "master"))
        for gap in GAPS:
            number = wins(rows, series, gap)
            verdict = "simplex is faster on the largest master"
            if all(math.isinf(_seconds(rows, largest, name, gap)) for name in solvers):
                verdict = "nobody gets there on the largest master"
            elif number is not None:
                cuts = where(rows, master=number)[0]["shape"][0]
                verdict = f"ours is faster than simplex from {cuts:,} cuts on"
            found.append(f"{series}, at a gap of {gap:g}: {verdict}.")
    return found


def drawing(rows: Sequence[Row]) -> Any:
    """Return the CPU seconds of all solvers by the size of the master, a panel a series."""
    series = every(rows, "series")
    across = min(3, len(series))
    down = math.ceil(len(series) / across)
    figure = new_figure(3.6 * across, 3.0 * down)
    axes = figure.subplots(down, across, squeeze=False).ravel()
    lines = [(name, gap) for name in every(rows, "solver")
             for gap in (GAPS if name == "ours" else GAPS[-1:])]  # fmt: skip
    for ax, name in zip(axes, series, strict=False):
        here = where(rows, series=name)
        for k, (solver, gap) in enumerate(lines):
            points = sorted(
                (sum(row["shape"]), row["reached"][gap][0])
                for row in where(here, solver=solver) if gap in row["reached"]
            )  # fmt: skip
            label = f"{solver}, {gap:g}" if solver == "ours" else solver
            size, seconds = [p[0] for p in points], [p[1] for p in points]
            ax.plot(size, seconds, "o-", color=OKABE_ITO[k % len(OKABE_ITO)], ms=3, label=label)
        ax.set(xscale="log", yscale="log", title=name, xlabel="cuts + columns", ylabel="CPU s")
        sizes = sorted({sum(row["shape"]) for row in here})
        ax.set_xticks(sizes, [f"{size:,}" for size in sizes], fontsize=7)
        ax.set_xticks([], minor=True)
    for ax in axes[len(series) :]:
        ax.set_axis_off()
    axes[0].legend(fontsize=7)
    return figure


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
