r"""A comparison as tables: who ranks where, what each run cost, what warm starts gain.

>>> LIMITATIONS[0].startswith("Small")
True
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from structopt.lab.compare.stats import SHIFT, ranking
from structopt.lab.harness.table import Table
from structopt.report.series import TimeSplit

if TYPE_CHECKING:
    from structopt.lab.compare.compare import Comparison, Problem, Run
    from structopt.lab.compare.sequences import Timing

REFUSED = "does not take it"

LIMITATIONS = (
    "Small problems: sizes and tolerance let the slowest backend finish within the limit. What "
    "wins here need not win on ten thousand examples.",
    "One machine, one thread. CPU seconds forgive other load, but caches and clock rates are "
    "shared: times within some ten percent of one another are ties.",
    "What is measured is structopt's backend, with its options and its warm starts, and not the "
    "bare solver; the reference backend `cvxpy` also rebuilds the problem in every round.",
    "One constant a formulation: easier and harder problems (smaller and larger C) are missing.",
    "The parts oracle, lift, solve are measured in wall time; their shares are applied to the CPU "
    "seconds. The rest is mostly CVXPY compiling the master, once a run.",
    "Backends that draw at random, or hand over to an exact one at the end, are taken as they are; "
    "the column `solver` of the CSV says who solved what.",
    "A sequence is measured once a comparison, and its masters are judged by lower bounds only.",
)


def tables(done: Comparison) -> list[Table]:
    """Return ranking, problems, split and sequences."""
    return [ranking_table(done), cost_table(done), split_table(done), *sequence_tables(done)]


def ranking_table(done: Comparison) -> Table:
    """Return shifted means by formulation and backend, best first."""
    failed = done.failed
    rows = []
    for formulation, ranked in ranking(done.costs).items():
        best = ranked[0][1]
        for place, (backend, mean) in enumerate(ranked, start=1):
            solved = sum(
                (formulation, p.data, backend) not in failed
                for p in done.problems
                if p.formulation == formulation and backend in p.runs
            )
            n = sum(p.formulation == formulation and backend in p.runs for p in done.problems)
            rows.append(
                (formulation, backend, f"{place}", f"{solved} of {n}", f"{mean:.3f}",
                 f"{mean / max(best, 1e-9):.2f}")
            )  # fmt: skip
    return Table(
        "Ranking",
        ("formulation", "backend", "place", "solved", "CPU s", "ratio to best"),
        tuple(rows),
        (
            f"Shifted geometric mean over the data sets (shift {SHIFT:g} s) of the median of "
            f"{done.repeats} repetitions; solved means a certified relative gap of {done.tol:g}; a "
            f"failure costs {done.time_limit:g} s.",
        ),
    )


def cost_table(done: Comparison) -> Table:
    """Return CPU seconds by problem and backend."""
    rows = []
    for problem in done.problems:
        cells = (_cost(problem, backend) for backend in done.backends)
        rows.append((f"{problem.formulation}, {problem.data}", *cells))
    notes = ["CPU seconds. " + _sizes(done)]
    reasons = {f"{b}: {why}" for p in done.problems for b, why in p.refusals.items()}
    notes += [f"{REFUSED}: " + " ".join(sorted(reasons))] if reasons else []
    failures = [
        f"{p.formulation}, {p.data}, {b}: {next(r.reason for r in p.runs[b] if r.reason)}"
        for p in done.problems
        for b in p.runs
        if not p.solved(b)
    ]
    notes += ["Failures: " + "; ".join(failures) + "."] if failures else ["No failures."]
    handed = [
        f"{p.formulation}, {p.data}: {result.solver}"
        for p in done.problems
        for result in p.results.values()
        if result.finisher is not None
    ]
    notes += ["Finished by another backend: " + "; ".join(handed) + "."] if handed else []
    notes.append(
        "On every problem the bounds that the backends prove agree."
        if done.agree
        else "THE BACKENDS DISAGREE: a proved lower bound exceeds another's objective."
    )
    notes += [f"Left out: {reason}." for reason in done.left_out]
    return Table("CPU seconds", ("problem", *done.backends), tuple(rows), tuple(notes))


def _cost(problem: Problem, backend: str) -> str:
    if backend in problem.refusals:
        return REFUSED
    return f"{problem.cost(backend):.3f}" if problem.solved(backend) else "failed"


def _sizes(done: Comparison) -> str:
    return "; ".join({f"{p.data}: {p.size}": None for p in done.problems}) + "."


def split_table(done: Comparison) -> Table:
    """Return where the time of each whole run went, and how well it predicts, if that is known."""
    rows = []
    tested = any(not math.isnan(r.right) for p in done.problems for b in p.runs for r in p.runs[b])
    for problem in done.problems:
        for backend in problem.runs:
            run = problem.middle(backend)
            if run.result is None:
                continue
            c = run.result.certificate
            rows.append(
                (
                    f"{problem.formulation}, {problem.data}",
                    backend,
                    *(f"{seconds:.3f}" for seconds in cpu_split(run).values()),
                    f"{len(run.result.history)}",
                    f"{sum(r.cuts_added for r in run.result.history)}",
                    f"{c.primal:.6g}",
                    f"{c.relative_gap:.1e}",
                    "yes" if c.certified else "no",
                    *([f"{run.right:.1f}"] if tested else []),
                )
            )
    return Table(
        "Whole runs: where the time went",
        ("problem", "backend", "oracle", "lift", "solve", "other", "rounds", "cuts", "objective",
         "gap", "certified", *(["test %"] if tested else [])),
        tuple(rows),
        ("CPU seconds of the middle repetition, divided as the wall time was. " + _sizes(done),),
    )  # fmt: skip


def cpu_split(run: Run) -> dict[str, float]:
    """Return CPU seconds by what they went to: the run's own, divided as its wall time was."""
    if run.result is None:
        return {}
    split = TimeSplit.of(run.result)
    return {what: run.cpu * seconds / max(split.total, 1e-12) for what, seconds in split.items()}


def sequence_tables(done: Comparison) -> list[Table]:
    """Return the sequences of masters, warm against cold; nothing if none was replayed."""
    rows, left_out = [], set()
    for problem in done.problems:
        if problem.replay is None:
            continue
        r = problem.replay
        left_out |= {f"{b} ({why})" for b, why in r.left_out.items()}
        for backend in r.warm:
            warm, cold = r.warm[backend], r.cold[backend]
            both = not (warm.reason or cold.reason)
            rows.append(
                (
                    f"{problem.formulation}, {problem.data}",
                    backend,
                    f"{len(r.cuts)}",
                    f"{sum(r.cuts)}",
                    _seconds(warm),
                    _seconds(cold),
                    f"{cold.total / max(warm.total, 1e-9):.2f}" if both else "",
                )
            )
    if not rows:
        return []
    notes = [
        "The same cuts, appended to a live model or given to a new one for every master; CPU "
        "seconds of all masters, lifting left out."
    ]
    notes += [f"Not here: {', '.join(sorted(left_out))}."] if left_out else []
    return [
        Table(
            "Sequences of masters: warm against cold",
            ("problem", "backend", "masters", "cuts", "warm s", "cold s", "cold / warm"),
            tuple(rows),
            tuple(notes),
        )
    ]


def _seconds(timing: Timing) -> str:
    return f"failed: {timing.reason}" if timing.reason else f"{timing.total:.3f}"
