r"""Self-contained HTML reports of a run, or of several runs beside one another.

One file, nothing loaded from anywhere; the one script moves the slider over rounds: without it the
page says the same. Every number stands in a ``<data value="...">`` element with its full value.

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
from typing import Any, NamedTuple

import numpy as np

from structopt.errors import InvalidInputError
from structopt.files import write_atomically
from structopt.parameters import checked
from structopt.report.charts import comparison_charts, run_charts, time_chart
from structopt.report.rounds import SCRIPT, Scrubber, round_table
from structopt.report.series import TimeSplit, joint_bounds
from structopt.report.table import Table
from structopt.report.task import task_of
from structopt.report.template import number, page
from structopt.report.versions import versions
from structopt.report.weights import shown_weights
from structopt.run.certificate import Certificate, contradicts
from structopt.run.example import Example
from structopt.run.result import STATUSES, Result

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
    settings: Mapping[str, str] | None = None,
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
    settings : mapping of str to str, optional
        What it takes to run it again, by name; the versions of packages are added.

    Raises
    ------
    InvalidInputError
        There are not as many names as weights.
    """
    if not all(isinstance(example, Example) for example in examples):
        raise InvalidInputError("examples of a report are Example objects, as model.report makes.")
    if feature_names is not None and len(feature_names) != len(result.weights):
        raise InvalidInputError(
            f"There are {len(result.weights)} weights but {len(feature_names)} feature_names."
        )
    write_atomically(
        path,
        page(
            "run.html",
            script=SCRIPT,
            title=title,
            result=result,
            verdict=verdict(result.certificate),
            why=STATUSES.get(result.status, ""),
            task=task_of(examples) if len(examples) else None,
            weights=shown_weights(result.weights, feature_names),
            certificate=_certificate(result.certificate),
            scrubber=Scrubber.of(SCRUBBER, {"run": result}, {"run": ROUNDS}),
            charts=run_charts(result, SCRUBBER),
            seconds=[
                (f"{what.capitalize()} seconds", number(s, 4))
                for what, s in TimeSplit.of(result).items()
            ],
            rounds=round_table(ROUNDS, result.history, most=MOST_ROUNDS)
            if result.history
            else None,
            settings=[*(settings or {}).items(), ("Versions", versions())],
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
    return page("comparison.html", script=SCRIPT, title=title, note=note, **beside(results))


def beside(results: Mapping[str, Result]) -> dict[str, Any]:
    """Return what the template of several runs takes."""
    if not results:
        raise InvalidInputError("There are no results to compare.")
    # names are free text, idents are not
    idents = {name: f"{ROUNDS}-{i}" for i, name in enumerate(results)}
    return {
        "agreement": Agreement.of(results),
        "results": comparison_table(results),
        "scrubber": Scrubber.of(SCRUBBER, results, idents),
        "bounds": comparison_charts(results, SCRUBBER),
        "time": time_chart(results),
        "rounds": [
            (name, round_table(idents[name], run.history, most=MOST_COMPARED, caption=name))
            for name, run in results.items()
            if run.history
        ],
    }


# ---------------------------------------------------------------------- one run
def verdict(c: Certificate) -> str:
    """Return in a word what a certificate proves, or why it proves nothing.

    >>> verdict(Certificate(4.0, 3.0, 1e-3))
    'open'
    """
    if c.certified:
        return "certified"
    if not c.exact:
        return "approximate"
    if not math.isfinite(c.relative_gap):
        return "missing"
    if contradicts(c.primal, c.dual, c.residual):
        return "contradiction"
    return "open" if c.relative_gap > c.tolerance else "infeasible"


def _certificate(c: Certificate) -> list[tuple[str, object]]:
    return [
        ("Objective (upper bound)", number(c.primal, 8)),
        ("Lower bound", number(c.dual, 8)),
        ("Gap", number(c.gap, 3)),
        ("Relative gap", number(c.relative_gap, 3)),
        ("Tolerance", number(c.tolerance)),
        ("Residual", number(c.residual, 3)),
        ("Oracles", "exact" if c.exact else "approximate"),
        ("Certified", "yes" if c.certified else "no"),
    ]


# ---------------------------------------------------------------------- several runs
class Agreement(NamedTuple):
    """How many runs are certified, and what their bounds prove together.

    ``state`` is "agree", "contradict" or, without any proof, "unknown".
    """

    certified: int
    runs: int
    state: str
    low: float
    high: float

    @classmethod
    def of(cls, results: Mapping[str, Result]) -> Agreement:
        """Compare the bounds of runs."""
        low, high = joint_bounds(results.values())
        state = "contradict" if contradicts(high, low) else "agree"
        certified = sum(r.certificate.certified for r in results.values())
        return cls(certified, len(results), state if math.isfinite(high) else "unknown", low, high)


def comparison_table(results: Mapping[str, Result]) -> Table:
    """Return one column a run, so that the table is no wider than a page."""
    columns: dict[str, dict[str, object]] = {}
    for name, result in results.items():
        c, split = result.certificate, TimeSplit.of(result)
        shown: dict[str, object] = {
            "Status": result.status,
            "Certified": "yes" if c.certified else "no",
            "Objective": number(c.primal, 8),
            "Lower bound": number(c.dual, 8),
            "Gap": number(c.gap, 3),
            "Relative gap": number(c.relative_gap, 3),
            "Rounds": number(len(result.history)),
            "Cuts": number(result.history[-1].cuts if result.history else 0),
            "Nonzero weights": number(int(np.count_nonzero(result.weights))),
            "Seconds": number(result.seconds, 4),
        }
        shown |= {f"{what.capitalize()} seconds": number(s, 4) for what, s in split.items()}
        columns[name if name == result.solver else f"{name} ({result.solver})"] = shown
    rows = [
        [what, *(column[what] for column in columns.values())]
        for what in next(iter(columns.values()))
    ]
    return Table("Runs beside one another", ["Run", *columns], rows, words=(0,))
