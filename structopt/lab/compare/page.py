r"""The page of a solver comparison: ranking, profile, costs, warm starts, and every problem's runs.

The performance profile of Dolan and More shows for each backend the share of the problems it takes
that it solves within tau times the best time,

    rho_s(tau) = share of p with t_ps <= tau min_s' t_ps'.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np

from structopt.lab.compare.stats import profile
from structopt.lab.compare.tables import LIMITATIONS, cost_table, ranking_table, sequence_tables
from structopt.report.draw.charts import count, figure, side_by_side
from structopt.report.draw.svg import Line, bar_chart, bar_key, line_chart, line_key
from structopt.report.html import agreement, beside
from structopt.report.page import (
    NOTHING,
    Markup,
    details,
    join,
    page,
    paragraph,
    section,
    table,
    text,
)
from structopt.report.scrubber import SCRIPT, policy

if TYPE_CHECKING:
    from structopt.lab.compare.compare import Comparison, Problem
    from structopt.lab.harness.table import Table

MOST_ROUNDS = 25  # of each of many runs on one page: some fifty runs stay below a megabyte


def comparison_page(done: Comparison, *, command: str = "") -> bytes:
    """Return a comparison as one self-contained HTML file; ``command`` is what made it."""
    made = Markup(f"<p>Made by <code>{text(command)}</code></p>") if command else NOTHING
    return page(
        "structopt: solver comparison",
        _verdict(done),
        made,
        paragraph(text(done.machine), "soft"),
        section("Ranking", _table(ranking_table(done), words=(0, 1)), _profile(done)),
        section("CPU seconds", _table(cost_table(done), words=(0,))),
        *(
            section("Warm starts", _table(t, words=(0, 1)), _sequences(done))
            for t in sequence_tables(done)
        ),
        section(
            "Problems",
            paragraph(
                text(
                    "Each backend's middle repetition. Seconds below are wall time, which other "
                    "load on the machine lengthens."
                ),
                "soft",
            ),
            *(_problem(i, p) for i, p in enumerate(done.problems)),
        ),
        section("Limitations", _list(LIMITATIONS)),
        script=SCRIPT,
        policy=policy(),
    )


def _list(sentences: Iterable[str]) -> Markup:
    items = "".join(f"<li>{text(sentence)}</li>" for sentence in sentences)
    return Markup(f'<ul class="soft">{items}</ul>') if items else NOTHING


def _verdict(done: Comparison) -> Markup:
    runs = [run for p in done.problems for backend in p.runs.values() for run in backend]
    solved = sum(not run.reason for run in runs)
    refused = sum(len(p.refusals) for p in done.problems)
    tone = "good" if done.agree and solved == len(runs) else "warn"
    words = "agree" if done.agree else "DISAGREE"
    said = (
        f"{solved} of {count(len(runs), 'run')} certified within {done.time_limit:g} CPU seconds, "
        f"on {count(len(done.problems), 'problem')}; {refused} times a backend does not take a "
        f"problem. The proved bounds {words}."
    )
    return paragraph(text(said), f"verdict {tone}")


def _table(given: Table, *, words: tuple[int, ...]) -> Markup:
    rows = [[text(cell) for cell in row] for row in given.rows]
    shown = table(given.columns, rows, caption=given.title, words=words)
    return join([shown, *(paragraph(text(note), "soft") for note in given.notes)])


def _profile(done: Comparison) -> Markup:
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
    return side_by_side(figure(chart, line_key(lines), caption))


def _sequences(done: Comparison) -> Markup:
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
        return NOTHING
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
    return side_by_side(figure(chart, bar_key(["warm", "cold"]), caption))


def _problem(number: int, problem: Problem) -> Markup:
    name = f"{problem.formulation}, {problem.data} ({problem.size})"
    title, results = Markup(f"<h3>{text(name)}</h3>"), problem.results
    refused = _list(f"{b} does not take it: {why}" for b, why in problem.refusals.items())
    if not results:
        return join([title, paragraph(text("No run ended with a result.")), refused])
    shown = beside(results, f"-{number}", MOST_ROUNDS)
    return join([title, agreement(results), details(f"Runs of {name}", *shown.values(), refused)])
