r"""Dependency parsing end to end: first-order trees over gold tags, several learners.

    UAS = 100 * (tokens with the right head) / (tokens),    punctuation included.

Features are those of :class:`~structopt.features.arcs.ArcFeatures`, outputs are trees with
a single root. Every learner sees the same encoded data.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from structopt.datasets import load_partut, load_treebank
from structopt.datasets.conllu import Sentence
from structopt.engines.dataset import DataSet
from structopt.features.arcs import ArcFeatures
from structopt.formulations.m3n import M3N
from structopt.lab.harness import arguments
from structopt.lab.harness.bench import Bench
from structopt.lab.harness.measure import error_percent
from structopt.lab.harness.study import Cell, Row, known
from structopt.lab.harness.table import Table
from structopt.methods import registry
from structopt.structures.arborescence.projective_reference import crossing
from structopt.structures.arborescence.structure import Arborescence

ONLINE = ("perceptron", "mira")
LEARNERS = (*ONLINE, "frank-wolfe", "block-ascent", "cutting-plane")


@dataclass
class ParseBench(Bench):
    """Every learner on one treebank.

    Parameters
    ----------
    data : path, optional
        A folder with a treebank; UD English ParTUT by default.
    learners : sequence of str
        Of "perceptron" (averaged), "mira", and "frank-wolfe", "block-ascent" and "cutting-plane",
        which minimise ``1/(2C) |w|^2 + sum hinge`` (M3N).
    C : float
    epochs : int
        Of the online learners.
    tol, time_limit : float
        Relative certified gap, and seconds, at which the others stop.
    seed : int
    projective : bool
        Whether every learner learns projective trees as well (Eisner's), all of them from those
        training sentences that have one.
    sentences : (train, test), optional
        Others.
    """

    name = "parsing"

    data: str | None = arguments.argument(
        None, "folder with *train.conllu[.gz] and *test.conllu[.gz] (UD English ParTUT from "
        "STRUCTOPT_DATA)", metavar="DIR",
    )  # fmt: skip
    learners: Sequence[str] = arguments.argument(
        LEARNERS[:3], f"of {', '.join(LEARNERS)} (the first three)", nargs="+", metavar="NAME"
    )
    C: float = arguments.argument(0.03, "of M3N")
    epochs: int = arguments.argument(10, "of online learners")
    tol: float = 0.02
    time_limit: float = 300.0
    seed: int = 0
    projective: bool = arguments.argument(False, "projective trees beside all")
    sentences: tuple[Sequence[Sentence], ...] = ()

    def __post_init__(self) -> None:
        known(self.learners, LEARNERS, "learner")
        self.train, self.test = self.sentences or self._loaded()
        if self.projective:
            self.train = [s for s in self.train if crossing(s.heads) is None]

    def _loaded(self) -> tuple[Sequence[Sentence], ...]:
        return tuple(
            load_partut(split) if self.data is None else load_treebank(self.data, split)
            for split in ("train", "test")
        )

    def cells(self) -> list[Cell]:
        """Return a cell a learner."""
        kinds = (False, True) if self.projective else (False,)
        return [{"learner": name, "projective": kind} for name in self.learners for kind in kinds]

    @cached_property
    def problem(self) -> tuple[list[tuple[Any, DataSet]], tuple[Any, Any], str]:
        """Structures with the encoded treebank, what to test on, and its size in words."""
        start = time.process_time()
        template = ArcFeatures().fit(self.train)
        X, Y = template.transform(self.train), [s.heads for s in self.train]
        single = all(y.count(0) == 1 for y in Y)
        structure = Arborescence(single_root=single).fitted(X, Y)
        made = [(structure, DataSet.of(structure, X, Y))]
        arcs, encoding = sum(len(pairs) for pairs, _ in X), time.process_time() - start
        size = (
            f"{structure.n_features_} features, {arcs} candidate arcs, M3N with C = {self.C:g}; "
            f"features and encoding took {encoding:.1f} CPU s besides."
        )
        if self.projective:
            structure = Arborescence(single_root=single, projective=True).fitted(X, Y)
            made.append((structure, DataSet.of(structure, X, Y)))
        return made, (template.transform(self.test), [s.heads for s in self.test]), size

    def warm_up(self, cell: Cell) -> None:
        """Decode one sentence."""
        made, test, _ = self.problem
        structure = made[cell["projective"]][0]
        structure.predict(test[0][:1], np.zeros(structure.n_features_))

    def run(self, cell: Cell) -> dict[str, Any]:
        """Train a learner and score it."""
        made, test, _ = self.problem
        structure, data = made[cell["projective"]]
        options: dict[str, Any] = {"tol": self.tol, "time_limit": self.time_limit}
        if cell["learner"] in ONLINE:
            options = {"max_iter": self.epochs}
        options["random_state"] = self.seed
        before, method = time.process_time(), registry.make(cell["learner"])
        result = method(structure, M3N(self.C), data, **options).solve()
        seconds = time.process_time() - before
        return {
            "result": result,
            "cpu": seconds,
            "uas": 100.0 - error_percent(structure, result.weights, *test),
        }

    def tables(self, rows: Sequence[Row], left_out: Sequence[str]) -> list[Table]:
        """Return one row a learner."""
        lines = []
        for row in rows:
            result, proved = row["result"], row["learner"] not in ONLINE
            c = result.certificate
            lines.append(
                (
                    row["learner"] + (", projective" if row["projective"] else ""),
                    f"{row['cpu']:.1f}",
                    f"{len(result.history)}",
                    f"{c.primal:.5g}" if proved else "",
                    f"{c.relative_gap:.1e}" if proved else "",
                    f"{np.count_nonzero(result.weights)}",
                    f"{row['uas']:.2f}",
                )
            )
        return [Table(
            f"Dependency parsing, {len(self.train)} training and {len(self.test)} test sentences",
            ("learner", "CPU s", "rounds", "objective", "certified gap", "nonzeros", "UAS %"),
            tuple(lines),
            (f"{self.problem[-1]} Gold tags, punctuation counts, gaps are relative.",),
        )]  # fmt: skip
