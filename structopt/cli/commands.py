"""The command line; ``structopt --help`` lists it.

Exit codes: 0 success, 1 a run that is not certified or backends that disagree, 2 bad usage or an
error that structopt raises on purpose (one line, no traceback), 130 interrupted.
"""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import structopt
from structopt.cli import bench as cli_bench
from structopt.cli.output import FAILED, INTERRUPTED, USAGE, plain_progress, publish, show, spinner
from structopt.errors import StructoptError
from structopt.run.interrupts import ending_at_once

if TYPE_CHECKING:
    from structopt.lab.demo import Demo
    from structopt.lab.harness.table import Table


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
        with ending_at_once():
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

    data = commands.add_parser("data", help="list the data sets, or fetch one")
    data_commands = data.add_subparsers(title="commands", metavar="command", required=True)
    listed = data_commands.add_parser("list", help="what there is, on which terms, and where")
    listed.set_defaults(run=_data_list)
    fetched = data_commands.add_parser("fetch", help="download a data set from its public home")
    fetched.add_argument("name", metavar="NAME", help="a name of `structopt data list`")
    sums = fetched.add_mutually_exclusive_group()
    sums.add_argument(
        "--no-checksum", action="store_true", help="take what comes and say its SHA-256 sum"
    )
    sums.add_argument(
        "--sha256", nargs="+", metavar="FILE=SUM", help="the sums expected of the downloads"
    )
    fetched.set_defaults(run=_data_fetch)

    srl = commands.add_parser(
        "srl", help="semantic roles: learning with and without inference under constraints"
    )
    srl.add_argument("--data", metavar="FILE", help="a CoNLL-U file with roles (STRUCTOPT_DATA's)")
    srl.add_argument("--sentences", type=int, metavar="N", help="only the first N sentences")
    srl.add_argument("--C", type=float, default=0.1, help="of M3N (0.1)")
    srl.add_argument("--rounds", type=int, default=30, metavar="N", help="passes at most (30)")
    srl.add_argument("--seed", type=int, default=0, help="of the split into training and test")
    srl.add_argument("--out", metavar="DIR", help="also write Markdown and CSV there")
    srl.set_defaults(run=_srl)
    parse = commands.add_parser(
        "parse", help="train dependency parsers on a treebank in CoNLL-U and score them"
    )
    parse.add_argument(
        "--data", metavar="DIR",
        help="folder with *train.conllu[.gz] and *test.conllu[.gz] (default: UD English ParTUT "
        "from STRUCTOPT_DATA)",
    )  # fmt: skip
    parse.add_argument(
        "--learners", nargs="+", metavar="NAME", default=["perceptron", "mira", "frank-wolfe"],
        help="of perceptron, mira, frank-wolfe, cutting-plane (default: the first three)",
    )  # fmt: skip
    parse.add_argument("--C", type=float, default=0.03, help="of M3N (default 0.03)")
    parse.add_argument(
        "--epochs", type=int, default=10, metavar="N", help="of online learners (default 10)"
    )
    parse.add_argument("--out", metavar="DIR", help="also write Markdown and CSV there")
    parse.set_defaults(run=_parse)

    reproduce = commands.add_parser(
        "reproduce", help="run a table or figure of the papers again, beside the paper's numbers"
    )
    reproduce.add_argument("name", nargs="?", metavar="NAME", help="such as lp-struct-table-1")
    reproduce.add_argument("--list", action="store_true", help="name every table and figure")
    reproduce.add_argument("--full", action="store_true", help="the paper's sizes: can take hours")
    reproduce.add_argument(
        "--out", default="structopt-results", metavar="DIR",
        help="where results go, and finished parts are looked for (structopt-results)",
    )  # fmt: skip
    reproduce.add_argument("--no-picture", action="store_true", help="leave out matplotlib")
    reproduce.set_defaults(run=_reproduce)

    cli_bench.add(commands)
    return parser


# ---------------------------------------------------------------------- commands
def _demo(options: argparse.Namespace) -> int:
    from rich.console import Console

    from structopt.lab.demo import run_demo
    from structopt.run.progress import Progress

    console = Console()
    console.print("Handwritten digit words, three formulations, every backend that takes them.")
    watch = Progress if console.is_terminal else plain_progress
    demo = run_demo(options.out, quick=options.quick, watch=watch)
    show(_demo_table(demo), console)
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
    from structopt.lab.harness.table import Table
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

    from structopt.lab.compare.compare import compare_backends
    from structopt.lab.compare.stats import order_changes, read_costs
    from structopt.lab.compare.tables import cost_table, ranking_table

    earlier = None
    if options.against is not None:  # before any work: the folder may be the one written to
        earlier = read_costs(Path(options.against) / "compare.csv")
    with spinner() as report:
        done = compare_backends(
            options.formulation, options.data, options.backend, quick=options.quick,
            tol=options.tol, time_limit=options.limit, repeats=options.repeats, report=report,
        )  # fmt: skip
    console = Console()
    for table in (ranking_table(done), cost_table(done)):  # the files have more
        show(table, console)
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


def _data_list(options: argparse.Namespace) -> int:
    from structopt.datasets.catalogue import CATALOGUE
    from structopt.datasets.home import data_home

    home = data_home()
    print(f"Data sets are looked for in {home}\n")
    for name, entry in CATALOGUE.items():
        missing = entry.missing(home)
        state = "present" if not missing else "absent"
        if 0 < len(missing) < len(entry.files):
            state = f"in part; missing: {', '.join(missing)}"
        print(f"{name}: {entry.what}")
        print(f"  {state}")
        print(f"  terms: {entry.licence}")
        print(f"  folder: {home / entry.folder}")
        print(f"  from: {f'structopt data fetch {name}' if entry.sources else entry.page}\n")
    return 0


def _data_fetch(options: argparse.Namespace) -> int:
    from structopt.datasets.catalogue import CATALOGUE
    from structopt.datasets.download import fetch
    from structopt.errors import InvalidInputError

    known: Any = None if options.no_checksum else "recorded"
    if options.sha256 is not None:
        if not all(file and sum_ for file, _, sum_ in (s.partition("=") for s in options.sha256)):
            raise InvalidInputError(f"--sha256 takes FILE=SUM, not {' '.join(options.sha256)}.")
        known = dict(pair.split("=", 1) for pair in options.sha256)
    with spinner() as report:
        done = fetch(options.name, known_hash=known, report=report)
    print(f"terms of {options.name}: {CATALOGUE[options.name].licence}")
    for one in done:
        for path in one.paths:
            print(f"{'already there' if one.was_there else 'written'}: {path}")
        if one.sha256 is not None and not one.was_there:
            print(f"  SHA-256 of {one.url}: {one.sha256}")
    return 0


def _reproduce(options: argparse.Namespace) -> int:
    from rich.console import Console

    from structopt.errors import InvalidInputError
    from structopt.lab.harness.command import listing, reproduce

    console = Console()
    if options.list:
        for line in listing(options.out):
            console.print(line, markup=False, highlight=False, soft_wrap=True)
        return 0
    if options.name is None:
        raise InvalidInputError("Which table or figure? `structopt reproduce --list` names them.")
    outcome, table, files = reproduce(
        options.name, full=options.full, out=options.out, command=options.command,
        picture=not options.no_picture,
    )  # fmt: skip
    show(table, console)
    for path in files:
        console.print(f"written: {path}", markup=False, soft_wrap=True)
    if outcome.interrupted:
        console.print(
            f"Interrupted after {len(outcome.rows)} of {outcome.total} cells; the same command "
            "goes on from there."
        )
        return INTERRUPTED
    return 0


def _srl(options: argparse.Namespace) -> int:
    import warnings

    from structopt.datasets.srl import load_srl, read_srl
    from structopt.errors import ConvergenceWarning
    from structopt.lab.bench.srl import bench_srl

    with spinner() as report, warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the table shows every gap
        sentences = load_srl() if options.data is None else read_srl(options.data)
        bench = bench_srl(
            sentences[: options.sentences], C=options.C, max_iter=options.rounds,
            seed=options.seed, report=report,
        )  # fmt: skip
    return publish("srl", [bench.table()], options)


def _parse(options: argparse.Namespace) -> int:
    from structopt.datasets import load_partut, load_treebank
    from structopt.lab.bench import parsing

    parts = ("train", "test")
    if options.data is None:
        train, test = (load_partut(part) for part in parts)
    else:
        train, test = (load_treebank(options.data, part) for part in parts)
    with spinner() as report:
        bench = parsing.run(
            train, test, learners=options.learners, C=options.C, epochs=options.epochs,
            report=report,
        )  # fmt: skip
    return publish("parse", [bench.table()], options)
