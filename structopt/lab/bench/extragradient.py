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

>>> bench = bench_extragradient([Size(12, 20, 3, 1.0)], limit=10.0, competitors=["ours", "simplex"])
>>> bench.runs["ours"][0].reached.keys() == {1e-2, 1e-4, 1e-6}
True
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from structopt.backends.extragradient.judge import Judge
from structopt.backends.extragradient.outcome import Iterate, Variant
from structopt.backends.extragradient.problem import Problem
from structopt.backends.extragradient.solver import solve
from structopt.errors import MissingDependencyError, StructoptError
from structopt.lab.bench import lp_solvers
from structopt.lab.bench.tagging import make_tagging
from structopt.lab.harness.machine import turns
from structopt.lab.harness.table import Table

GAPS = (1e-2, 1e-4, 1e-6)
COMPETITORS = ("paper", "ours", "simplex", "ipm", "HiGHS PDLP", "OR-tools PDLP")
_FLOOR = 1e-6  # as in the backend: the gap is relative
Report = Callable[[str], None]


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


@dataclass(frozen=True)
class Run:
    """One competitor on one master: CPU seconds and iterations at each certified gap."""

    reached: dict[float, tuple[float, int]]
    best: float
    late: bool = False
    """Whether the limit ended it."""


@dataclass
class ExtragradientBench:
    """The runs of every competitor, one per master."""

    limit: float
    sizes: list[Size] = field(default_factory=list)
    masters: list[Problem] = field(default_factory=list)
    runs: dict[str, list[Run]] = field(default_factory=dict)
    missing: list[str] = field(default_factory=list)

    def wins(self, C: float, gap: float) -> int | None:
        """Return the first master, if any, from which on ours beats simplex at this C and gap."""
        first = None
        for number, size in enumerate(self.sizes):
            if size.C != C:
                continue
            mine, other = (self._seconds(name, number, gap) for name in ("ours", "simplex"))
            if mine >= other:
                first = None
            elif first is None:
                first = number
        return first

    def _seconds(self, name: str, number: int, gap: float) -> float:
        return self.runs[name][number].reached.get(gap, (math.inf, 0))[0]

    def table(self) -> Table:
        """Return one row for each master and competitor."""
        rows = []
        for number, (size, master) in enumerate(zip(self.sizes, self.masters, strict=True)):
            cuts, columns = master.A.shape
            for name, runs in self.runs.items():
                run = runs[number]
                times = [run.reached.get(gap) for gap in GAPS]
                rows.append(
                    (
                        f"C = {size.C:g}, {cuts:,} x {columns:,}, {name}",
                        *(f"{t[0]:.2f}" if t else self._missed(run) for t in times),
                        *(f"{t[1]:,}" if t else "-" for t in times),
                        f"{run.best:.1e}",
                    )
                )
        return Table(
            "LP-Struct masters from nothing",
            ("C, cuts x columns, solver", "CPU s to 1e-2", "to 1e-4", "to 1e-6",
             "iterations to 1e-2", "iterations to 1e-4", "iterations to 1e-6", "best gap"),
            tuple(rows),
            (
                "CPU seconds of one thread to a certified relative gap; one run, in turns.",
                *self._verdicts(),
                *(f"Left out: {reason}" for reason in self.missing),
            ),
        )  # fmt: skip

    def _missed(self, run: Run) -> str:
        return f"> {self.limit:.0f}" if run.late else "missed"

    def _verdicts(self) -> list[str]:
        if not {"ours", "simplex"} <= set(self.runs):
            return []
        found = []
        for C in dict.fromkeys(size.C for size in self.sizes):
            largest = max(k for k, size in enumerate(self.sizes) if size.C == C)
            for gap in GAPS:
                number = self.wins(C, gap)
                verdict = "simplex is faster on the largest master"
                if all(math.isinf(self._seconds(name, largest, gap)) for name in self.runs):
                    verdict = "nobody gets there on the largest master"
                elif number is not None:
                    cuts = self.masters[number].A.shape[0]
                    verdict = f"ours is faster than simplex from {cuts:,} cuts on"
                found.append(f"At C = {C:g} and a gap of {gap:g}, {verdict}.")
        return found


def bench_extragradient(
    sizes: Sequence[Size] = FULL,
    *,
    limit: float = 60.0,
    competitors: Sequence[str] = COMPETITORS,
    report: Report = lambda text: None,
) -> ExtragradientBench:
    """Make the masters and let every competitor solve each of them, in turns.

    Parameters
    ----------
    sizes : sequence of Size
    limit : float
        CPU seconds that a competitor may spend on one master and gap. Solvers that only know wall
        time get three times as much of that.
    competitors : sequence of str
        Of :data:`COMPETITORS`.
    report : callable
        Told in words what is going on.
    """
    solvers: dict[str, Callable[[Problem, float], Run]] = {
        "paper": lambda master, limit: _watched(master, limit, "paper"),
        "ours": lambda master, limit: _watched(master, limit, "restarted"),
        "simplex": lambda master, limit: _once(master, limit, "simplex"),
        "ipm": lambda master, limit: _once(master, limit, "ipm"),
        "HiGHS PDLP": lambda master, limit: _targeted(master, limit, lp_solvers.highs_pdlp),
        "OR-tools PDLP": lambda master, limit: _targeted(master, limit, lp_solvers.ortools_pdlp),
    }
    bench = ExtragradientBench(limit, runs={name: [] for name in competitors})
    small = _master(Size(6, 10, 3, 1.0))
    for variant in ("paper", "restarted"):  # compile
        _watched(small, 1.0, variant)
    for number, size in enumerate(sizes):
        report(f"master {number + 1} of {len(sizes)}: training")
        master = _master(size)
        bench.sizes.append(size)
        bench.masters.append(master)
        for name in turns(list(bench.runs), number):
            report(f"master {number + 1} of {len(sizes)}, {master.A.shape[0]:,} cuts: {name}")
            try:
                bench.runs[name].append(solvers[name](master, limit))
            except MissingDependencyError as error:
                bench.missing.append(str(error))
                del bench.runs[name]
    return bench


def _master(size: Size) -> Problem:
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
    backend.append(run.master.rows)
    return backend.problem()


# ---------------------------------------------------------------------- competitors
def _watched(master: Problem, limit: float, variant: Variant) -> Run:
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
    solve(master, tolerance=-1.0, variant=variant, floor=_FLOOR, max_iter=endless, callback=watch)
    return Run(reached, best, late=len(reached) < len(GAPS))


def _once(master: Problem, limit: float, method: str) -> Run:
    pair = lp_solvers.highs(master, limit, {"solver": method})
    error = Judge(master, _FLOOR).assess(pair.x, pair.y).error
    reached = {gap: (pair.seconds, pair.iterations) for gap in GAPS if error <= gap}
    late = pair.seconds >= limit
    return Run({} if late else reached, error, late)


def _targeted(
    master: Problem, limit: float, run: Callable[[Problem, float, float], lp_solvers.Pair]
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
