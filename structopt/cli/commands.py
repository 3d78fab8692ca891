"""The command line; ``structopt --help`` lists it.

Exit codes: 0 success, 1 a run that is not certified or backends that disagree, 2 bad usage or an
error that structopt raises on purpose (one line, no traceback), 130 interrupted, 141 a pipe that
was closed.
"""

from __future__ import annotations

import argparse
import importlib
import os
import shlex
import sys
from collections.abc import Sequence

import structopt
from structopt.errors import StructoptError
from structopt.lab.harness.arguments import Command, declare, made
from structopt.run.interrupts import ending_at_once

USAGE, INTERRUPTED, PIPE = 2, 130, 141

COMMANDS = {
    "train": (
        "cli.train:Train",
        "learn from a file of sequences, rows, trees or roles",
    ),
    "tune": ("cli.tune:Tune", "which price of errors (C) predicts best, by cross-validation"),
    "predict": ("cli.predict:Predict", "what a model makes of the inputs of a file"),
    "evaluate": (
        "cli.evaluate:Evaluate",
        "score a model, or a file with gold and predicted tags",
    ),
    "explain": (
        "cli.explain:Explain",
        "what a model has learned, and why it predicts so",
    ),
    "warm": ("cli.warm:Warm", "compile ahead what the first fit would wait for"),
    "demo": (
        "lab.demo:Demo",
        "train on bundled data with every backend and compare them (under a minute)",
    ),
    "compare": (
        "lab.compare.command:Compare",
        "solvers on programmes, masters and training runs, each answer checked by us",
    ),
    "data list": ("cli.data:List", "what there is, on which terms, and where"),
    "data fetch": ("cli.data:Fetch", "download a data set from its public home"),
    "data sample": ("cli.data:Sample", "write invented sentences with tags, to try things on"),
    "reproduce": (
        "lab.reproduce.command:Reproduce",
        "run a table or figure of the papers again, beside the paper's numbers",
    ),
    "bench masters": (
        "lab.bench.masters:MastersBench",
        "rows appended by structopt, by hand-written highspy, by CVXPY rebuilds",
    ),
    "bench letters": (
        "lab.bench.letters:LettersBench",
        "handwritten words (from STRUCTOPT_DATA) beside CRFsuite",
    ),
    "bench extragradient": (
        "lab.bench.extragradient:ExtragradientBench",
        "what each ingredient of the extragradient solver gains (on STRUCTOPT_DATA's programmes)",
    ),
    "bench master-sizes": (
        "lab.bench.master_sizes:MasterSizesBench",
        "masters by extragradient, simplex, interior point and PDLP",
    ),
    "bench l1": (
        "lab.bench.l1:L1Bench",
        "every way to learn an l1-regularised network (needs STRUCTOPT_DATA)",
    ),
    "bench slacks": (
        "lab.bench.slacks:SlacksBench",
        "n slacks, groups that share one, one slack: rounds, cuts, CPU",
    ),
    "bench out-of-core": (
        "lab.bench.out_of_core:OutOfCoreBench",
        "data in a folder beside data in memory: peak memory and CPU",
    ),
    "bench memory": (
        "lab.bench.memory:MemoryBench",
        "peak memory of a fit, in sizes of its data",
    ),
    "bench threads": (
        "lab.bench.threads:ThreadsBench",
        "a pass by one thread and by two (needs idle cores)",
    ),
    "bench path": ("lab.bench.path:PathBench", "ten values of C as a path and one by one"),
    "bench formulations": (
        "lab.bench.formulations:FormulationBench",
        "formulations beyond the plain hinge beside M3N (needs STRUCTOPT_DATA)",
    ),
    "bench zoo": (
        "lab.bench.zoo:ZooBench",
        "the formulations of examples/zoo.py on letters and chunks; writes their page",
    ),
    "bench margins": ("lab.bench.margins:MarginBench", "relative margins beside plain ones"),
    "bench oracles": (
        "lab.bench.oracles:OracleBench",
        "time per part of every oracle, beside networkx and other libraries",
    ),
    "bench sparse": (
        "lab.bench.sparse:SparseBench",
        "sparse rows and sentences beside liblinear and CRFsuite (sentences need STRUCTOPT_DATA)",
    ),
    "bench first-fit": (
        "lab.bench.first_fit:FirstFitBench",
        "a fit of 20 rows; the README's example with a warm and a cold cache",
    ),
    "bench parts": (
        "lab.bench.parts:PartsBench",
        "trees, lattices, matchings, parses, segments by block ascent and by others",
    ),
    "bench alignment": (
        "lab.bench.alignment:AlignmentBench",
        "word alignment of the Hansards by pass (needs STRUCTOPT_DATA)",
    ),
    "bench roles": (
        "lab.bench.srl:SrlBench",
        "semantic roles: learning with and without inference under constraints",
    ),
    "bench parsing": (
        "lab.bench.parsing:ParseBench",
        "several learners of dependency trees on a treebank in CoNLL-U",
    ),
    "bench decisions": (
        "lab.bench.decisions:DecisionBench",
        "predict, then optimise: certified SPO+ beside PyEPO, InvOpt and regression",
    ),
    "bench rare-items": (
        "lab.bench.rare_items:RareItemsBench",
        "rare classes: trained for error rate, F1, break-even, precision at 10 and AUC",
    ),
    "bench engines": (
        "lab.bench.engines:EnginesBench",
        "passes over data on Dask workers: bytes, CPU, a worker that dies",
    ),
    "bench translation-scale": (
        "lab.bench.translation_scale:TranslationScaleBench",
        "LP (8) on lattices in the shape of LP-Struct's second experiment, as many as you say",
    ),
    "bench saddle": (
        "lab.bench.saddle:SaddleBench",
        "matchings and cuts: extragradient, cutting planes, Frank-Wolfe, perceptron",
    ),
}
"""By what users write: the home of the command's class, which declares its arguments, and help."""

RENAMED = {
    "srl": "train FILE --format roles --model M, then evaluate FILE --model M (the comparison of "
    "schemes is `structopt bench roles`)",
    "parse": "train FILE.conllu --model M, then evaluate FILE.conllu --model M (the comparison of "
    "learners is `structopt bench parsing`)",
}
"""Commands of version 0.1, and what does their work now."""

GROUPS = {
    "data": "list the data sets, or fetch one",
    "bench": "measure structopt against its peers",
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code.

    >>> main(["--version"])
    Traceback (most recent call last):
        ...
    SystemExit: 0
    """
    given = sys.argv[1:] if arguments is None else list(arguments)
    if given and given[0] in RENAMED:
        said = f"`structopt {given[0]}` is now: structopt {RENAMED[given[0]]}."
        print(f"structopt: {said}", file=sys.stderr)
        return USAGE
    parser, command = _parser(given)
    options = parser.parse_args(given)
    assert command is not None, "the parser has refused what is no command"
    try:
        with ending_at_once():
            return made(command, options).execute(shlex.join(["structopt", *given]))
    except BrokenPipeError:  # whoever reads (head, less) has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return PIPE
    except (StructoptError, OSError) as error:
        line = " ".join(str(error).split())
        print(f"structopt: {type(error).__name__}: {line}", file=sys.stderr)
        return USAGE
    except KeyboardInterrupt:
        print("structopt: interrupted", file=sys.stderr)
        return INTERRUPTED


def _parser(given: Sequence[str]) -> tuple[argparse.ArgumentParser, type[Command] | None]:
    """Return the parser, and the command asked for: only that one is imported."""
    parser = argparse.ArgumentParser(
        prog="structopt",
        description="Max-margin structured prediction over LP and QP solvers, with certificates.",
    )
    version = f"%(prog)s {structopt.__version__}"
    parser.add_argument("--version", action="version", version=version)
    groups = {"": parser.add_subparsers(title="commands", metavar="command", required=True)}
    command: type[Command] | None = None
    for words, (home, help) in COMMANDS.items():
        group, _, name = words.rpartition(" ")
        if group not in groups:
            above = groups[""].add_parser(group, help=GROUPS[group])
            groups[group] = above.add_subparsers(title="commands", metavar="command", required=True)
        sub = groups[group].add_parser(name, help=help)
        if list(given[: len(words.split())]) == words.split():
            module, _, kind = home.partition(":")
            command = getattr(importlib.import_module(f"structopt.{module}"), kind)
            declare(command, sub)
            sub.description, sub.epilog = f"{help}.".capitalize(), getattr(command, "example", None)
    return parser, command
