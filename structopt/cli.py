"""The command line: ``structopt demo | compare`` and ``structopt bench masters | letters | l1``.

Exit codes: 0 success, 1 a run that is not certified or backends that disagree, 2 bad usage or an
error that structopt raises on purpose (one line, no traceback), 130 interrupted.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import structopt
from structopt.errors import StructoptError

if TYPE_CHECKING:
    from structopt.bench.table import Table
    from structopt.demo import Demo
    from structopt.events import Callback

FAILED, USAGE, INTERRUPTED = 1, 2, 130


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code.

    >>> main(["--version"])
    Traceback (most recent call last):
        ...
    SystemExit: 0
    """
    given = sys.argv[1:] if arguments is None else list(arguments)
    parser = _parser()
    options = parser.parse_args(given)
    options.command = shlex.join(["structopt", *given])
    try:
        code: int = options.run(options)
    except (StructoptError, OSError) as error:
        line = " ".join(str(error).split())
        print(f"structopt: {type(error).__name__}: {line}", file=sys.stderr)
        return USAGE
    except KeyboardInterrupt:
        print("structopt: interrupted", file=sys.stderr)
        return INTERRUPTED
    return code


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="structopt",
        description="Max-margin structured prediction over LP and QP solvers, with certificates.",
    )
    version = f"%(prog)s {structopt.__version__}"
    parser.add_argument("--version", action="version", version=version)
    commands = parser.add_subparsers(title="commands", metavar="command", required=True)

    demo = commands.add_parser(
        "demo", help="train on bundled data with every backend and compare them (under a minute)"
    )
    demo.add_argument("--out", default="structopt-demo", metavar="DIR", help="where reports go")
    demo.add_argument("--quick", action="store_true", help="fewer words and backends: seconds")
    demo.set_defaults(run=_demo)

    compare = commands.add_parser(
        "compare", help="every backend on every formulation and data set, certified"
    )
    compare.add_argument("--quick", action="store_true", help="smaller data: under a minute")
    for what in ("formulation", "data", "backend"):
        compare.add_argument(
            f"--{what}", action="append", metavar="NAME", help="only this one (may be repeated)"
        )
    compare.add_argument(
        "--tol", type=float, default=1e-2, metavar="GAP", help="relative certified gap (0.01)"
    )
    compare.add_argument(
        "--limit", type=float, metavar="S", help="CPU seconds a run, and what a failure costs"
    )
    compare.add_argument("--repeats", type=int, metavar="N", help="of which the median counts")
    compare.add_argument(
        "--against", metavar="DIR", help="an earlier comparison: does it rank the same way?"
    )
    compare.add_argument(
        "--out", default="structopt-compare", metavar="DIR", help="where CSV, Markdown, HTML go"
    )
    compare.set_defaults(run=_compare)

    bench = commands.add_parser("bench", help="measure structopt against its peers")
    benches = bench.add_subparsers(title="benchmarks", metavar="benchmark", required=True)
    masters = benches.add_parser(
        "masters", help="rows appended by structopt, by hand-written highspy, by CVXPY rebuilds"
    )
    masters.add_argument("--quick", action="store_true", help="a smaller master: half a minute")
    _measured(masters, repeats=5)
    masters.set_defaults(run=_bench_masters)
    letters = benches.add_parser(
        "letters", help="handwritten words (from STRUCTOPT_DATA) beside CRFsuite"
    )
    letters.add_argument(
        "--folds", choices=("1", "1-9"), default="1", help="train on 704 words, or on 6,251"
    )
    _measured(letters, repeats=5)
    letters.set_defaults(run=_bench_letters)
    l1 = benches.add_parser(
        "l1", help="every way to learn an l1-regularised network (needs STRUCTOPT_DATA)"
    )
    l1.add_argument("--words", type=int, default=100, metavar="N", help="training words (100)")
    l1.add_argument(
        "--limit", type=float, default=120.0, metavar="S", help="seconds a method may take (120)"
    )
    _measured(l1, repeats=1)
    l1.set_defaults(run=_bench_l1)
    return parser


def _measured(parser: argparse.ArgumentParser, *, repeats: int) -> None:
    parser.add_argument(
        "--repeats", type=int, default=repeats, metavar="N",
        help=f"repetitions, of which the median counts (default {repeats})",
    )  # fmt: skip
    parser.add_argument("--out", metavar="DIR", help="also write Markdown and CSV there")


# ---------------------------------------------------------------------- commands
def _demo(options: argparse.Namespace) -> int:
    from rich.console import Console

    from structopt.demo import run_demo
    from structopt.progress import Progress

    console = Console()
    console.print("Handwritten digit words, three formulations, every backend that takes them.")
    watch = Progress if console.is_terminal else _plain_progress
    demo = run_demo(options.out, quick=options.quick, watch=watch)
    _show(_demo_table(demo), console)
    for problem in demo.problems:
        low, high = problem.bounds
        verdict = "all runs are certified, and the backends agree"
        if not problem.agree:
            verdict = "THE BACKENDS DISAGREE" if problem.certified else "NOT CERTIFIED"
        console.print(f"{problem.name}: {verdict}; the optimum lies in \\[{low:.6g}, {high:.6g}].")
    console.print(f"{demo.seconds:.0f} s in all. Written:")
    for path in demo.files:
        console.print(f"  {path}", soft_wrap=True)
    for note in demo.notes:
        console.print(note, markup=False)
    console.print(
        "Next: open one of the reports in a browser; look at structopt/demo.py, where a "
        "formulation of one's own takes eight lines; try `structopt bench masters --quick`."
    )
    return 0 if all(problem.agree for problem in demo.problems) else FAILED


def _demo_table(demo: Demo) -> Table:
    from structopt.bench.table import Table
    from structopt.report.series import TimeSplit

    rows = []
    for problem in demo.problems:
        for run in problem.runs:
            c, split = run.result.certificate, TimeSplit.of(run.result)
            rows.append(
                (
                    problem.name,
                    run.backend,
                    f"{c.primal:.5g}",
                    f"{c.relative_gap:.1e}" if c.certified else "none",
                    f"{len(run.result.history)}",
                    *(f"{s:.2f}" for s in (split.oracle, split.lift, split.solve)),
                    f"{run.result.seconds:.2f}",
                    f"{100 * run.accuracy:.1f}",
                )
            )
    return Table(
        "Backends",
        ("formulation", "backend", "objective", "certified gap", "rounds", "oracle s", "lift s",
         "solve s", "total s", "test %"),
        tuple(rows),
        ("Gaps are relative. " + "; ".join(f"{p.name}: {p.data}" for p in demo.problems) + ".",),
    )  # fmt: skip


def _compare(options: argparse.Namespace) -> int:
    from pathlib import Path

    from rich.console import Console

    from structopt.bench.compare import compare
    from structopt.bench.compare_stats import order_changes, read_costs
    from structopt.bench.compare_tables import cost_table, ranking_table

    earlier = None
    if options.against is not None:  # before any work: the folder may be the one written to
        earlier = read_costs(Path(options.against) / "compare.csv")
    with _spinner() as report:
        done = compare(
            options.formulation, options.data, options.backend, quick=options.quick,
            tol=options.tol, time_limit=options.limit, repeats=options.repeats, report=report,
        )  # fmt: skip
    console = Console()
    for table in (ranking_table(done), cost_table(done)):  # the files have more
        _show(table, console)
    console.print(str(done.machine), markup=False, highlight=False)
    if earlier is not None:
        pairs, changed = order_changes(earlier, done.costs)
        console.print(
            f"{options.against} ranks {pairs - len(changed)} of {pairs} pairs of backends the same "
            "way." + "".join(f"\n  {change}" for change in changed), markup=False, highlight=False,
        )  # fmt: skip
    for path in done.write(options.out, command=options.command):
        console.print(f"written: {path}", markup=False, soft_wrap=True)
    return 0 if done.agree else FAILED


def _bench_masters(options: argparse.Namespace) -> int:
    from structopt.bench.masters import FULL, QUICK, bench_masters

    with _spinner() as report:
        bench = bench_masters(
            QUICK if options.quick else FULL, repeats=options.repeats, report=report
        )
    return _publish("bench-masters", [bench.table()], options)


def _bench_letters(options: argparse.Namespace) -> int:
    from structopt.bench.letters import bench_letters

    with _spinner() as report:
        bench = bench_letters(options.folds, repeats=options.repeats, report=report)
    _publish(f"bench-letters-{options.folds}", bench.tables(), options)
    return 0 if bench.certified else FAILED


def _bench_l1(options: argparse.Namespace) -> int:
    from structopt.bench.l1 import bench_l1

    with _spinner() as report:
        bench = bench_l1(
            words=options.words, limit=options.limit, repeats=options.repeats, report=report
        )
    return _publish("bench-l1", [bench.table()], options)


# ---------------------------------------------------------------------- showing
@contextmanager
def _plain_progress(label: str, tol: float) -> Iterator[Callback]:
    """Progress where a live line would only leave control codes in a file."""
    print(label, flush=True)
    yield lambda record: None


@contextmanager
def _spinner() -> Iterator[Callable[[str], None]]:
    from rich.console import Console

    with Console(stderr=True).status("starting") as status:
        yield lambda text: status.update(text)


def _publish(name: str, tables: Sequence[Table], options: argparse.Namespace) -> int:
    from rich.console import Console

    from structopt.bench.table import write_tables
    from structopt.bench.timing import Machine

    console, machine = Console(), Machine.here()
    for table in tables:
        _show(table, console)
    console.print(str(machine), markup=False, highlight=False)
    if options.out is not None:
        for path in write_tables(name, tables, machine, options.command, options.out):
            console.print(f"written: {path}", markup=False, soft_wrap=True)
    return 0


def _show(table: Table, console: Any) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table as Shown

    # one blank between columns and one word a line in headings: the tables fit eighty characters
    shown = Shown(box=SIMPLE_HEAD, padding=0, show_edge=False)
    for place, column in enumerate(table.columns):
        heading = column.replace(" ", "\n")
        shown.add_column(heading, justify="right" if place else "left", vertical="bottom")
    for row in table.rows:
        shown.add_row(*row)
    console.print(f"\n{table.title}\n", markup=False, highlight=False)
    console.print(shown, "")
    for note in table.notes:
        console.print(note, markup=False, highlight=False)


if __name__ == "__main__":
    sys.exit(main())
