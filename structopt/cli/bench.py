"""The command ``structopt bench``: one sub-command a benchmark."""

from __future__ import annotations

import argparse
from typing import Any

from structopt.cli.output import FAILED, publish, spinner


def add(commands: Any) -> None:
    """Add the command to a parser's sub-commands."""
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
    extragradient = benches.add_parser(
        "extragradient", help="masters by extragradient, simplex, interior point and PDLP"
    )
    size = extragradient.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help="small masters: seconds")
    size.add_argument(
        "--large", action="store_true", help="larger masters, ours and simplex only: an hour"
    )
    extragradient.add_argument(
        "--limit", type=float, metavar="S",
        help="CPU seconds a solver may take (60; with --quick 1)",
    )  # fmt: skip
    extragradient.add_argument("--out", metavar="DIR", help="also write Markdown and CSV there")
    extragradient.set_defaults(run=_bench_extragradient)
    l1 = benches.add_parser(
        "l1", help="every way to learn an l1-regularised network (needs STRUCTOPT_DATA)"
    )
    l1.add_argument("--words", type=int, default=100, metavar="N", help="training words (100)")
    l1.add_argument(
        "--limit", type=float, default=120.0, metavar="S", help="CPU seconds a method may take"
    )
    _measured(l1, repeats=1)
    l1.set_defaults(run=_bench_l1)
    path = benches.add_parser("path", help="ten values of C as a path and one by one")
    path.add_argument(
        "--cases", nargs="+", metavar="CASE", default=["digits-m3n", "digits-l1", "digits-lp"],
        help="digits-m3n, digits-l1, digits-lp, letters-m3n (which needs STRUCTOPT_DATA)",
    )  # fmt: skip
    path.add_argument("--words", type=int, metavar="N", help="training words (all)")
    path.add_argument("--values", type=int, default=10, metavar="N", help="values of C (10)")
    path.add_argument(
        "--decades", type=float, default=1.0, metavar="D", help="powers of ten they span (1)"
    )
    _measured(path, repeats=3)
    path.set_defaults(run=_bench_path)
    margins = benches.add_parser("margins", help="relative margins beside plain ones")
    margins.add_argument(
        "--cases", nargs="+", metavar="CASE", default=["digits", "words"],
        help="digits, words, letters (which needs STRUCTOPT_DATA)",
    )  # fmt: skip
    _measured(margins, repeats=3)
    margins.set_defaults(run=_bench_margins)
    oracles = benches.add_parser(
        "oracles", help="time per part of every oracle, beside networkx and other libraries"
    )
    oracles.add_argument("--only", nargs="+", metavar="NAME", help="of these structures only")
    _measured(oracles, repeats=5)
    oracles.set_defaults(run=_bench_oracles)
    alignment = benches.add_parser(
        "alignment", help="word alignment of the Hansards by pass (needs STRUCTOPT_DATA)"
    )
    alignment.add_argument("--passes", type=int, default=50, metavar="N", help="passes (50)")
    alignment.add_argument("--out", metavar="DIR", help="also write Markdown and CSV there")
    alignment.set_defaults(run=_bench_alignment)
    saddle = benches.add_parser(
        "saddle", help="matchings and cuts: extragradient, cutting planes, Frank-Wolfe, perceptron"
    )
    saddle.add_argument("--quick", action="store_true", help="a twentieth of the size: seconds")
    saddle.add_argument(
        "--limit", type=float, default=120.0, metavar="S", help="CPU seconds a method may take"
    )
    saddle.add_argument("--out", metavar="DIR", help="also write Markdown and CSV there")
    saddle.set_defaults(run=_bench_saddle)


def _measured(parser: argparse.ArgumentParser, *, repeats: int) -> None:
    parser.add_argument(
        "--repeats", type=int, default=repeats, metavar="N",
        help=f"repetitions, of which the median counts (default {repeats})",
    )  # fmt: skip
    parser.add_argument("--out", metavar="DIR", help="also write Markdown and CSV there")


def _bench_masters(options: argparse.Namespace) -> int:
    from structopt.lab.bench.masters import FULL, QUICK, bench_masters

    with spinner() as report:
        bench = bench_masters(
            QUICK if options.quick else FULL, repeats=options.repeats, report=report
        )
    return publish("bench-masters", [bench.table()], options)


def _bench_letters(options: argparse.Namespace) -> int:
    from structopt.lab.bench.letters import bench_letters

    with spinner() as report:
        bench = bench_letters(options.folds, repeats=options.repeats, report=report)
    publish(f"bench-letters-{options.folds}", bench.tables(), options)
    return 0 if bench.certified else FAILED


def _bench_extragradient(options: argparse.Namespace) -> int:
    from structopt.lab.bench.extragradient import (
        COMPETITORS,
        FULL,
        LARGE,
        QUICK,
        bench_extragradient,
    )

    sizes = QUICK if options.quick else LARGE if options.large else FULL
    usual = 1.0 if options.quick else 60.0
    limit = usual if options.limit is None else options.limit
    names = ("ours", "simplex") if options.large else COMPETITORS
    with spinner() as report:
        bench = bench_extragradient(sizes, limit=limit, competitors=names, report=report)
    return publish("bench-extragradient", [bench.table()], options)


def _bench_l1(options: argparse.Namespace) -> int:
    from structopt.lab.bench.l1 import bench_l1

    with spinner() as report:
        bench = bench_l1(
            words=options.words, limit=options.limit, repeats=options.repeats, report=report
        )
    return publish("bench-l1", [bench.table()], options)


def _bench_path(options: argparse.Namespace) -> int:
    from structopt.lab.bench.path import bench_path

    with spinner() as report:
        bench = bench_path(
            options.cases, n_values=options.values, decades=options.decades, n_words=options.words,
            repeats=options.repeats, report=report,
        )  # fmt: skip
    publish("bench-path", [bench.table()], options)
    return 0 if bench.certified else FAILED


def _bench_margins(options: argparse.Namespace) -> int:
    from structopt.lab.bench.margins import bench_margins

    with spinner() as report:
        bench = bench_margins(options.cases, repeats=options.repeats, report=report)
    publish("bench-margins", [bench.table()], options)
    return 0 if bench.certified else FAILED


def _bench_oracles(options: argparse.Namespace) -> int:
    from structopt.lab.bench import oracles_graphs  # noqa: F401  registers its cases
    from structopt.lab.bench.oracles import bench_oracles

    with spinner() as report:
        bench = bench_oracles(options.only, repeats=options.repeats, report=report)
    return publish("bench-oracles", [bench.table()], options)


def _bench_alignment(options: argparse.Namespace) -> int:
    from structopt.lab.bench.alignment import bench_alignment

    with spinner() as report:
        bench = bench_alignment(passes=options.passes, report=report)
    return publish("bench-alignment", [bench.table()], options)


def _bench_saddle(options: argparse.Namespace) -> int:
    from structopt.lab.bench.saddle import bench_saddle

    with spinner() as report:
        bench = bench_saddle(quick=options.quick, limit=options.limit, report=report)
    publish("bench-saddle", bench.tables(), options)
    return 0 if bench.certified else FAILED
