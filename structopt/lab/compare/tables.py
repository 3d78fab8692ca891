"""A comparison as tables: who solves what, whose claims are true, what a tolerance means."""

from __future__ import annotations

import math
from typing import Any

from structopt.lab.compare.comparison import Comparison
from structopt.lab.compare.stats import (
    SHIFT,
    Costs,
    by_status,
    claims,
    common,
    mean_error,
    shifted_mean,
    slices,
)
from structopt.lab.harness.study import every
from structopt.lab.harness.table import Table

PRODUCTS = 1000.0
"""Shift of the mean of products."""
TIGHT = 1e-8
"""Tolerance up to which verified answers that differ are a fault and not what they were asked. A
residual moves the objective by as much as multipliers are large: on Netlib's forplan a dual
residual of 8e-7 by a relative 6e-5."""
CLOCK = 1e-3
"""Seconds up to which means are ties: clocks of CPU time may tick in milliseconds."""
UNSTEADY = 0.1
"""Variation of the reference's times above which a comparison says so."""

LIMITATIONS = (
    "One machine and one thread. CPU seconds forgive other load, but caches and clock rates are "
    "shared: times within the variation of the reference problem are ties.",
    "Solvers are called with their defaults, but for tolerance, time and iteration limits; a "
    "solver that is tuned to a set can be faster.",
    "Backends (small letters) are measured with what surrounds their solver; solvers of CVXPY "
    "(capitals) without CVXPY's own work.",
    "Sequences of masters are warm for backends that keep a model, and cold for all others.",
    "A success needs all of primal residual, dual residual and gap. A solver that is asked for "
    "less, such as a gap alone, may have stopped where its own criteria were met.",
)


def tables(done: Comparison) -> list[Table]:
    """Return all tables."""
    found = [ranking_table(key, costs) for key, costs in slices(done.rows).items()]
    found += [claims_table(done), status_table(done), tolerance_table(done)]
    found += products_tables(done)
    found += [cost_table(key, costs) for key, costs in slices(done.rows).items()]
    return found + split_tables(done)


def ranking_table(key: tuple[str, float], costs: Costs) -> Table:
    """Return solvers of one set at one tolerance, best mean first."""
    both, rows = common(costs), []
    means = {s: shifted_mean(c.seconds for c in problems.values()) for s, problems in costs.items()}
    best = max(min(means.values()), CLOCK)
    for solver in sorted(costs, key=lambda s: means[s]):
        problems = costs[solver]
        solved = sum(cost.solved for cost in problems.values())
        shared = shifted_mean(problems[name].seconds for name in both)
        rows.append(
            (solver, f"{solved} of {len(problems)}", f"{means[solver]:.3f}",
             f"{max(means[solver], CLOCK) / best:.2f}", _number(shared, ".3f"),
             _number(mean_error(problems, key[1]), ".1e"))
        )  # fmt: skip
    return Table(
        f"{key[0]} at {key[1]:g}",
        ("solver", "solved", "mean CPU s", "ratio to best", "mean, all solved", "mean error"),
        tuple(rows),
        (
            f"Shifted geometric means (shift {SHIFT:g} s), failures at the limit; beside it over "
            f"the {len(both)} problems that all solved. A solver is ranked by what it takes. "
            "Errors are floored at the tolerance before the geometric mean.",
        ),
    )


def claims_table(done: Comparison) -> Table:
    """Return how many answers that were called optimal are, by our check."""
    found, tolerances = claims(done.rows), sorted(every(done.rows, "tolerance"), reverse=True)
    rows = []
    for solver in every(done.rows, "solver"):
        cells = [found.get((solver, tol)) for tol in tolerances]
        if any(cells):
            rows.append((solver, *(f"{c[1]} of {c[0]}" if c else "-" for c in cells)))
    return Table(
        "Claims that were true",
        ("solver", *(f"at {tol:g}" for tol in tolerances)),
        tuple(rows),
        ("Of the answers that a solver called optimal, those within the tolerance by our check on "
         "the original problem.",),
    )  # fmt: skip


def status_table(done: Comparison) -> Table:
    """Return how attempts ended, by solver."""
    found = by_status(done.rows)
    statuses = sorted({status for counts in found.values() for status in counts})
    rows = [
        (solver, *(f"{counts.get(status, 0)}" for status in statuses))
        for solver, counts in found.items()
    ]
    return Table("How attempts ended", ("solver", *statuses), tuple(rows))


def tolerance_table(done: Comparison) -> Table:
    """Return what each solver was told at each tolerance."""
    rows = []
    for solver, tol in sorted(every(done.rows, "solver", "tolerance"), key=lambda p: (p[0], -p[1])):
        told = next(
            r["settings"] for r in done.rows if (r["solver"], r["tolerance"]) == (solver, tol)
        )
        said = ", ".join(f"{name} = {value:g}" if isinstance(value, float) else f"{name} = {value}"
                         for name, value in told.items())  # fmt: skip
        rows.append((solver, f"{tol:g}", said or "the tolerance itself, or its defaults"))
    return Table("What a tolerance is turned into", ("solver", "tolerance", "options"), tuple(rows))


def cost_table(key: tuple[str, float], costs: Costs) -> Table:
    """Return CPU seconds by problem and solver."""
    names = list(dict.fromkeys(name for problems in costs.values() for name in problems))

    def cell(solver: str, name: str) -> str:
        cost = costs[solver].get(name)
        return "-" if cost is None else f"{cost.seconds:.3f}" if cost.solved else "failed"

    rows = tuple((name, *(cell(solver, name) for solver in costs)) for name in names)
    return Table(f"CPU seconds: {key[0]} at {key[1]:g}", ("problem", *costs), rows)


def products_tables(done: Comparison) -> list[Table]:
    """Return what first-order methods need to what all of them solve; nothing of fewer than two."""
    found = []
    counting = [row for row in done.rows if row.get("products") is not None]
    names = {row["solver"] for row in counting}
    for key, costs in slices(counting).items():
        both = common(costs)
        if len(costs) < 2 or not both:
            continue
        here = [r for r in counting if (r["set"], r["tolerance"]) == key and r["problem"] in both]
        spent = {s: [float(r["products"]) for r in here if r["solver"] == s] for s in costs}
        rows = []
        for solver, problems in costs.items():
            solved = sum(cost.solved for cost in problems.values())
            cpu = [problems[name].seconds for name in both]
            rows.append((solver, f"{solved}", f"{shifted_mean(spent[solver], PRODUCTS):,.0f}",
                         f"{sum(spent[solver]):,.0f}", f"{shifted_mean(cpu):.3f}",
                         f"{sum(cpu):.2f}"))  # fmt: skip
        found.append(
            Table(
                f"Products: {key[0]} at {key[1]:g}",
                ("solver", "solved", "mean products", "sum", "mean CPU s", "sum"),
                tuple(rows),
                (f"Means and sums over the {len(both)} problems that all of "
                 f"{', '.join(sorted(names))} solved; shifted geometric means (shift "
                 f"{PRODUCTS:,.0f} and {SHIFT:g} s).",),
            )
        )  # fmt: skip
    return found


def split_tables(done: Comparison) -> list[Table]:
    """Return where the time of training runs went; nothing if there are none."""
    parts = ("oracle_cpu", "lift_cpu", "solve_cpu", "other_cpu")
    rows = [
        (f"{r['problem']}, {r['solver']}", *(f"{r[part]:.3f}" for part in parts),
         f"{r['iterations']}", f"{r['objective']:.6g}", f"{r['gap']:.1e}")
        for r in done.rows if "oracle_cpu" in r and r["turn"] == 0
    ]  # fmt: skip
    heads = ("run", "oracle", "lift", "solve", "other", "rounds", "objective", "gap")
    note = "CPU seconds of the first repetition, divided as the wall time was."
    return [Table("Training: where the time went", heads, tuple(rows), (note,))] if rows else []


def remarks(done: Comparison) -> list[str]:
    """Return what must be said beside the tables."""
    said = []
    if not math.isnan(done.variation):
        steady = "" if done.variation <= UNSTEADY else (
            " THAT IS MORE THAN 10%: this machine was busy, trust counts more than times."
        )  # fmt: skip
        said.append(
            f"The reference problem was timed {len(done.references)} times; its CPU seconds vary "
            f"by {100 * done.variation:.1f}%.{steady}"
        )
    said += _contradictions(done)
    said += [f"Left out: {reason}" for reason in done.left_out]
    if done.interrupted:
        said.append("Interrupted: the same command goes on from here.")
    return said


def _contradictions(done: Comparison) -> list[str]:
    if done.agree:
        return ["No two verified answers contradict each other."]
    tight = [name for name, tol in done.contradictions.items() if tol <= TIGHT]
    loose = [f"{name} (at {tol:g})" for name, tol in done.contradictions.items() if tol > TIGHT]
    said = [f"VERIFIED ANSWERS CONTRADICT EACH OTHER on {', '.join(tight)}."] if tight else []
    if loose:
        said.append(
            f"VERIFIED ANSWERS CONTRADICT EACH OTHER on {', '.join(loose)}: residuals of that "
            "size, times multipliers that are large, leave the objective open."
        )
    return said


def _number(value: Any, form: str) -> str:
    return "-" if math.isnan(value) else f"{value:{form}}"
