r"""The page of a solver comparison: ranking, profile, costs, warm starts, and every problem's runs.

The performance profile of Dolan and More shows for each backend the share of the problems it takes
that it solves within tau times the best time,

    rho_s(tau) = share of p with t_ps <= tau min_s' t_ps'.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from structopt.lab.compare.stats import profile
from structopt.lab.compare.tables import LIMITATIONS, cost_table, ranking_table, sequence_tables
from structopt.report.draw.charts import comparison_charts, count, figure, time_chart
from structopt.report.draw.svg import Line, bar_chart, bar_key, line_chart, line_key
from structopt.report.html import agreement, comparison_table, round_idents, round_tables
from structopt.report.page import page, section, table, text
from structopt.report.scrubber import SCRIPT, policy, scrubber

if TYPE_CHECKING:
    from structopt.lab.compare.compare import Comparison, Problem
    from structopt.lab.harness.table import Table

MOST_ROUNDS = 25  # of each of many runs on one page: some fifty runs stay below a megabyte


def comparison_page(done: Comparison, *, command: str = "") -> bytes:
    """Return a comparison as one self-contained HTML file; ``command`` is what made it."""
    made = f"<p>Made by <code>{text(command)}</code></p>" if command else ""
    limits = "".join(f"<li>{text(limit)}</li>" for limit in LIMITATIONS)
    return page(
        "structopt: solver comparison",
        _verdict(done),
        made,
        f'<p class="soft">{text(done.machine)}</p>',
        section("Ranking", _table(ranking_table(done), words=(0, 1)), _profile(done)),
        section("CPU seconds", _table(cost_table(done), words=(0,))),
        *(
            section("Warm starts", _table(t, words=(0, 1)), _sequences(done))
            for t in sequence_tables(done)
        ),
        section(
            "Problems",
            '<p class="soft">Each backend\'s middle repetition. Seconds below are wall time, '
            "which other load on the machine lengthens.</p>",
            *(_problem(i, p) for i, p in enumerate(done.problems)),
        ),
        section("Limitations", f"<ul>{limits}</ul>"),
        script=SCRIPT,
        policy=policy(),
    )


def _verdict(done: Comparison) -> str:
    runs = [run for p in done.problems for backend in p.runs.values() for run in backend]
    solved = sum(not run.reason for run in runs)
    refused = sum(len(p.refusals) for p in done.problems)
    tone = "good" if done.agree and solved == len(runs) else "warn"
    words = "agree" if done.agree else "DISAGREE"
    return (
        f'<p class="verdict {tone}">{solved} of {count(len(runs), "run")} certified within '
        f"{done.limit:g} CPU seconds, on {count(len(done.problems), 'problem')}; "
        f"{refused} times a backend does not take a problem. The proved bounds {words}.</p>"
    )


def _table(given: Table, *, words: tuple[int, ...]) -> str:
    notes = "".join(f'<p class="soft">{text(note)}</p>' for note in given.notes)
    rows = [[text(cell) for cell in row] for row in given.rows]
    return table(given.columns, rows, caption=given.title, words=words) + notes


def _profile(done: Comparison) -> str:
    ratios = profile(done.costs, done.failed)
    finite = [r for values in ratios.values() for r in values if np.isfinite(r)]
    most = 1.2 * max([2.0, *finite])
    lines = []
    for i, (backend, values) in enumerate(ratios.items()):
        solved = [r for r in values if np.isfinite(r)]
        share = np.arange(1, len(solved) + 1) / len(values)
        first = 0.0 if not solved or solved[0] > 1.0 else share[solved.count(1.0) - 1]
        x = np.array([1.0, *solved, most])
        y = np.array([first, *share, share[-1] if solved else 0.0])
        lines.append(Line(f"{backend} (takes {len(values)})", x, np.maximum(y, first), i))
    chart = line_chart(
        "profile",
        lines,
        title="Performance profile",
        description="; ".join(
            f"{backend} is fastest on {sum(r == 1.0 for r in values)} of the {len(values)} "
            f"problems it takes and solves {sum(np.isfinite(values))}"
            for backend, values in ratios.items()
        ),
        x_label="times the CPU seconds of the fastest backend",
        y_label="share of the problems it takes",
        x_from=1.0,
        x_log=True,
        y_limits=(0.0, 1.05),
    )
    caption = (
        "Dolan and Moré's profile: the share of the problems that a backend takes which it solves "
        "within so many times the best time. Higher and further left is better. Backends that take "
        "other problems are not compared by it."
    )
    return f'<div class="charts">{figure(chart, line_key(lines), caption)}</div>'


def _sequences(done: Comparison) -> str:
    totals: dict[str, list[float]] = {}
    for problem in done.problems:
        if problem.replay is None:
            continue
        for backend, warm in problem.replay.warm.items():
            cold = problem.replay.cold[backend]
            if not (warm.reason or cold.reason):
                total = totals.setdefault(backend, [0.0, 0.0])
                total[0] += warm.total
                total[1] += cold.total
    if not totals:
        return ""
    rows = [
        row
        for backend, (warm, cold) in totals.items()
        for row in ((f"{backend}, warm", [warm]), (f"{backend}, cold", [0.0, cold]))
    ]
    description = "; ".join(
        f"{backend}: warm {warm:.3g} s, cold {cold:.3g} s"
        for backend, (warm, cold) in totals.items()
    )
    chart = bar_chart("sequences", rows, title="Warm against cold", description=description)
    caption = "CPU seconds over all sequences that a backend solved both ways."
    return f'<div class="charts">{figure(chart, bar_key(["warm", "cold"]), caption)}</div>'


def _problem(number: int, problem: Problem) -> str:
    name = f"{problem.formulation}, {problem.data} ({problem.size})"
    results = problem.results
    refusals = "".join(
        f"<li>{text(backend)} does not take it: {text(why)}</li>"
        for backend, why in problem.refusals.items()
    )
    refused = f'<ul class="soft">{refusals}</ul>' if refusals else ""
    if not results:
        return f"<h3>{text(name)}</h3><p>No run ended with a result.</p>{refused}"
    slider, prefix = f"scrubber-{number}", f"p{number}-"
    return (
        f"<h3>{text(name)}</h3>{agreement(results)}<details><summary>Runs of "
        f"{text(name)}</summary>{comparison_table(results)}{refused}"
        + scrubber(slider, results, round_idents(results, f"rounds-{number}"))
        + comparison_charts(results, slider, prefix)
        + f'<div class="charts">{time_chart(results, prefix)}</div>'
        + round_tables(results, f"rounds-{number}", MOST_ROUNDS)
        + "</details>"
    )
