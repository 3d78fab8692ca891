r"""Self-contained HTML reports of a run, or of several runs beside one another.

One file, nothing loaded from anywhere; charts are inline SVG, so that no plotting package is
needed, and the one script moves the slider over rounds: without it the page says the same. Every
number stands in a ``<data value="...">`` element with its full value.

>>> import pathlib, tempfile
>>> import numpy as np
>>> from structopt.run.certificate import Certificate
>>> from structopt.run.result import Result
>>> run = Result(np.array([0.0, 2.0]), Certificate(4.0, 3.999, 1e-3), (), "optimal", 0.1, "highs",
...              cuts=None)
>>> with tempfile.TemporaryDirectory() as folder:
...     path = pathlib.Path(folder, "run.html")
...     write_report(run, path)
...     "Certified" in path.read_text(encoding="utf-8")
True
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence

import numpy as np

from structopt.errors import InvalidInputError
from structopt.files import write_atomically
from structopt.parameters import checked
from structopt.report.draw.charts import comparison_charts, count, run_charts, time_chart
from structopt.report.examples import example_section
from structopt.report.page import (
    NOTHING,
    Markup,
    details,
    facts,
    join,
    number,
    page,
    paragraph,
    percent,
    section,
    table,
    text,
)
from structopt.report.scrubber import SCRIPT, policy, round_table, scrubber
from structopt.report.series import TimeSplit, joint_bounds
from structopt.run.certificate import Certificate, contradicts
from structopt.run.events import Round
from structopt.run.example import Example
from structopt.run.result import STATUSES, Result

TOP_WEIGHTS = 20
MOST_ROUNDS = 1000  # rows of the table of rounds; a browser gets slow long before a run gets long

MOST_COMPARED = 100  # rows of each run where several runs share a page

SCRUBBER, ROUNDS = "scrubber", "rounds"  # idents


@checked
def write_report(
    result: Result,
    path: str | os.PathLike[str],
    *,
    title: str = "structopt run",
    feature_names: Sequence[object] | None = None,
    examples: Sequence[Example] = (),
) -> None:
    """Write one run as a self-contained HTML file.

    Parameters
    ----------
    result : Result
        The run.
    path : path
        The file, written whole or not at all.
    title : str
        Heading of the page.
    feature_names : sequence, optional
        A name for each weight: anything with a ``str()``, or a tuple of such.
    examples : sequence of Example
        Outputs to show beside what was predicted (`StructuredClassifier.report` gathers them).

    Raises
    ------
    InvalidInputError
        There are not as many names as weights.
    """
    if feature_names is not None and len(feature_names) != len(result.weights):
        raise InvalidInputError(
            f"There are {len(result.weights)} weights but {len(feature_names)} feature_names."
        )
    write_atomically(
        path,
        page(
            title,
            _verdict(result),
            section("Certificate", _certificate(result)),
            section(
                "Bounds, cuts and time",
                scrubber(SCRUBBER, {"run": result}, {"run": ROUNDS}),
                run_charts(result, SCRUBBER),
            ),
            section("Examples", example_section(examples)) if examples else NOTHING,
            section("Weights", _weights(result, feature_names)),
            section("Rounds", _rounds(result.history)),
            script=SCRIPT,
            policy=policy(),
        ),
    )


@checked
def write_comparison(
    results: Mapping[str, Result],
    path: str | os.PathLike[str],
    *,
    title: str = "structopt comparison",
    note: str = "",
) -> None:
    """Write several runs of the same problem beside one another, as one self-contained HTML file.

    The runs' intervals [lower bound, objective] must share a point, as all hold the same optimum;
    the page says so, or says that they do not.

    Parameters
    ----------
    results : mapping of str to Result
        The runs by name, for instance by backend.
    path : path
        The file, written whole or not at all.
    title : str
        Heading of the page.
    note : str
        A sentence about the problem, for the top of the page.

    Raises
    ------
    InvalidInputError
        There is nothing to compare.
    """
    write_atomically(path, comparison(results, title=title, note=note))


def comparison(results: Mapping[str, Result], *, title: str, note: str = "") -> bytes:
    """Return what :func:`write_comparison` writes."""
    if not results:
        raise InvalidInputError("There are no results to compare.")
    return page(
        title,
        paragraph(text(note)) if note else NOTHING,
        agreement(results),
        *(section(name, content) for name, content in beside(results).items()),
        script=SCRIPT,
        policy=policy(),
    )


def beside(
    results: Mapping[str, Result], ident: str = "", most: int = MOST_COMPARED
) -> dict[str, Markup]:
    """Return what is shown of several runs, by title.

    ``ident`` keeps idents unique where a page shows several problems; ``most`` is the number of
    rounds shown of each run.
    """
    slider = f"{SCRUBBER}{ident}"
    # names are free text, idents are not
    idents = {name: f"{ROUNDS}{ident}-{i}" for i, name in enumerate(results)}
    rounds = (
        details(
            f"{name}, {count(len(run.history), 'round')}",
            round_table(idents[name], run.history, most=most, caption=name),
        )
        for name, run in results.items()
        if run.history
    )
    return {
        "Results": comparison_table(results),
        "Bounds closing": join(
            [scrubber(slider, results, idents), comparison_charts(results, slider, f"c{ident}-")]
        ),
        "Time": time_chart(results, f"c{ident}-"),
        "Rounds": join(rounds),
    }


# ---------------------------------------------------------------------- one run
def _verdict(result: Result) -> Markup:
    c = result.certificate
    why = STATUSES.get(result.status, "")
    if c.certified:
        claim = (
            f"Certified: the objective at these weights, {number(c.primal)}, is at most "
            f"{number(c.gap, 3)} ({percent(c.relative_gap)}) above the optimum."
        )
    elif not c.exact:
        claim = "Not certified: the oracles are approximate, so the bounds are estimates."
    elif math.isinf(c.relative_gap):
        claim = "Not certified: a bound is still missing."
    elif contradicts(c.primal, c.dual, c.residual):
        claim = "Not certified: the lower bound lies above the upper one, so one of them is wrong."
    elif c.relative_gap > c.tolerance:
        claim = (
            f"Not certified: the gap is {percent(c.relative_gap)} of the objective and "
            f"{percent(c.tolerance)} was asked for."
        )
    else:
        claim = (
            "Not certified: the weights violate the formulation's own constraints by "
            f"{number(c.residual, 3)}."
        )
    tone = "good" if c.certified else "warn"
    return Markup(
        f'<p class="verdict {tone}">{claim}</p>'
        f"<p>Stopped with status <strong>{text(result.status)}</strong> after "
        f"{count(len(result.history), 'round')} and {number(result.seconds, 3)} s, solved by "
        f"<strong>{text(result.solver)}</strong>. {text(why)}</p>"
    )


def _certificate(result: Result) -> Markup:
    c: Certificate = result.certificate
    pairs = [
        ("Objective (upper bound)", number(c.primal, 8)),
        ("Lower bound", number(c.dual, 8)),
        ("Gap", number(c.gap, 3)),
        ("Relative gap", number(c.relative_gap, 3)),
        ("Tolerance", number(c.tolerance)),
        ("Residual", number(c.residual, 3)),
        ("Oracles", text("exact" if c.exact else "approximate")),
        ("Certified", text("yes" if c.certified else "no")),
    ]
    note = paragraph(text(c.note), "soft") if c.note else NOTHING
    return join([facts(pairs), note])


def _weights(result: Result, names: Sequence[object] | None) -> Markup:
    w = np.asarray(result.weights, dtype=np.float64).ravel()
    nonzero = int(np.count_nonzero(w))
    summary = facts(
        [
            ("Weights", number(len(w))),
            ("Nonzero", number(nonzero)),
            ("Share of nonzeros", percent(nonzero / len(w)) if len(w) else text("none")),
            ("Sum of |w|", number(float(np.abs(w).sum()))),
            ("Euclidean norm", number(float(np.linalg.norm(w)))),
        ]
    )
    # Stable, so that ties keep their order and a report can be compared with another.
    order = np.argsort(-np.abs(w), kind="stable")[: min(TOP_WEIGHTS, nonzero)]
    if not len(order):
        return join([summary, paragraph(text("All weights are zero."))])
    largest = float(np.abs(w[order[0]]))
    head = ["Weight", *(["Name"] if names is not None else []), "Value", "Size"]
    rows = [
        [
            number(int(j)),
            *([_name(names[j])] if names is not None else []),
            number(float(w[j])),
            _bar(abs(float(w[j])) / largest, 0 if w[j] > 0 else 1),
        ]
        for j in order
    ]
    caption = f"The {len(order)} largest weights by size, counted from 0"
    left = (1, 3) if names is not None else (2,)
    return join([summary, table(head, rows, caption=caption, words=left)])


def _name(name: object) -> Markup:
    parts = name if isinstance(name, tuple) else (name,)
    return text(" · ".join(str(part) for part in parts))


def _bar(share: float, series: int) -> Markup:
    # A weight that is not finite has no size to draw.
    width = 8.0 * share if math.isfinite(share) else 0.0
    style = f"width:{width:.2f}rem"
    return Markup(f'<span class="bar f{series}" style="{style}" aria-hidden="true"></span>')


def _rounds(history: Sequence[Round]) -> Markup:
    if not history:
        return paragraph(text("No round was finished."))
    return round_table(ROUNDS, history, most=MOST_ROUNDS)


# ---------------------------------------------------------------------- several runs
def agreement(results: Mapping[str, Result]) -> Markup:
    """Return in words how many runs are certified, and whether their bounds agree."""
    certified = sum(r.certificate.certified for r in results.values())
    lead = f"{certified} of {count(len(results), 'run')} certified."
    low, high = joint_bounds(results.values())
    if math.isinf(high):
        return paragraph(Markup(lead), "verdict warn")
    if contradicts(high, low):
        lead += (
            f" The bounds contradict one another: one run proves that no weights reach below "
            f"{number(low, 8)}, another reaches {number(high, 8)}. They are not runs of the same "
            "problem, or a bound is wrong."
        )
        return paragraph(Markup(lead), "verdict warn")
    tone = "good" if certified == len(results) else "warn"
    lead += (
        " All bounds agree: together they place the optimum between "
        f"{number(low, 8)} and {number(high, 8)}."
    )
    return paragraph(Markup(lead), f"verdict {tone}")


_COMPARISON_COLUMNS = (
    "Run",
    "Status",
    "Objective",
    "Lower bound",
    "Gap",
    "Relative gap",
    "Certified",
    "Rounds",
    "Cuts",
    "Nonzero weights",
    "Seconds",
    "Oracle s",
    "Lift s",
    "Solve s",
    "Other s",
)


def comparison_table(results: Mapping[str, Result]) -> Markup:
    """Return one row a run."""
    rows = []
    for name, result in results.items():
        c, split = result.certificate, TimeSplit.of(result)
        label = text(name if name == result.solver else f"{name} ({result.solver})")
        rows.append(
            [
                label,
                text(result.status),
                number(c.primal, 8),
                number(c.dual, 8),
                number(c.gap, 3),
                number(c.relative_gap, 3),
                text("yes" if c.certified else "no"),
                number(len(result.history)),
                number(result.history[-1].cuts if result.history else 0),
                number(int(np.count_nonzero(result.weights))),
                number(result.seconds, 4),
                *(number(seconds, 4) for _, seconds in split.items()),
            ]
        )
    return table(_COMPARISON_COLUMNS, rows, caption="Runs beside one another", words=(0, 1))
