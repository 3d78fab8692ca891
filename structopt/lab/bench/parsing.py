r"""Dependency parsing end to end: first-order trees over gold tags, several learners.

    UAS = 100 * (tokens with the right head) / (tokens),    punctuation included.

Features are those of :class:`~structopt.features.arcs.ArcFeatures`, outputs are trees with
a single root. Every learner sees the same encoded data.

>>> from structopt.datasets.conllu import Sentence
>>> it_works = Sentence(["it", "works"], ["it", "work"], ["PRON", "VERB"], ["P", "V"], [2, 0],
...                     ["nsubj", "root"])
>>> bench = run([it_works], [it_works], learners=["perceptron"], epochs=2)
>>> bench.runs[0].uas
100.0
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from structopt.datasets.conllu import Sentence
from structopt.engines.dataset import DataSet
from structopt.errors import InvalidInputError
from structopt.features.arcs import ArcFeatures
from structopt.formulations.m3n import M3N
from structopt.lab.harness.table import Table
from structopt.methods import registry
from structopt.run.result import Result
from structopt.structures.arborescence.structure import Arborescence

ONLINE = ("perceptron", "mira")
LEARNERS = (*ONLINE, "frank-wolfe", "cutting-plane")
DEFAULT = (*ONLINE, "frank-wolfe")


@dataclass(frozen=True)
class Run:
    """What a learner found: the CPU seconds of training, and the score on the test sentences."""

    learner: str
    result: Result
    seconds: float
    uas: float


@dataclass(frozen=True)
class ParseBench:
    """Every learner's run on one treebank."""

    runs: tuple[Run, ...]
    sentences: tuple[int, int]
    n_features: int
    n_arcs: int
    encoding: float
    C: float

    def table(self) -> Table:
        """Return one row a learner."""
        rows = []
        for r in self.runs:
            c = r.result.certificate
            proved = r.learner not in ONLINE
            rows.append(
                (
                    r.learner,
                    f"{r.seconds:.1f}",
                    f"{len(r.result.history)}",
                    f"{c.primal:.5g}" if proved else "",
                    f"{c.relative_gap:.1e}" if proved else "",
                    f"{np.count_nonzero(r.result.weights)}",
                    f"{r.uas:.2f}",
                )
            )
        train, test = self.sentences
        return Table(
            f"Dependency parsing, {train} training and {test} test sentences",
            ("learner", "CPU s", "rounds", "objective", "certified gap", "nonzeros", "UAS %"),
            tuple(rows),
            (f"{self.n_features} features, {self.n_arcs} candidate arcs, M3N with C = {self.C:g}; "
             f"features and encoding took {self.encoding:.1f} CPU s besides. Gold tags, "
             "punctuation counts, gaps are relative.",),
        )  # fmt: skip


def run(
    train: Sequence[Sentence],
    test: Sequence[Sentence],
    *,
    learners: Sequence[str] = DEFAULT,
    C: float = 0.03,
    epochs: int = 10,
    tol: float = 0.02,
    limit: float = 300.0,
    seed: int = 0,
    report: Callable[[str], None] = lambda text: None,
) -> ParseBench:
    """Train every learner on sentences and score it on others.

    Parameters
    ----------
    train, test : sequences of Sentence
    learners : sequence of str
        Of "perceptron" (averaged), "mira", and "frank-wolfe" and "cutting-plane", which minimise
        ``1/(2C) |w|^2 + sum hinge`` (M3N).
    C : float
    epochs : int
        Of the online learners.
    tol, limit : float
        Relative certified gap, and seconds, at which the others stop.
    """
    unknown = [name for name in learners if name not in LEARNERS]
    if unknown:
        raise InvalidInputError(f"There is no learner {unknown[0]!r}; known: {list(LEARNERS)}.")
    start = time.process_time()
    report("features")
    template = ArcFeatures().fit(train)
    X, Y = template.transform(train), [s.heads for s in train]
    structure = Arborescence(single_root=all(y.count(0) == 1 for y in Y)).fitted(X, Y)
    data = DataSet.of(structure, X, Y)
    encoding = time.process_time() - start
    held_out = template.transform(test), [s.heads for s in test]
    structure.predict(held_out[0][:1], np.zeros(structure.n_features_))  # compile
    runs = []
    for learner in learners:
        report(f"training: {learner}")
        options: dict[str, Any] = {"tol": tol, "time_limit": limit, "random_state": seed}
        if learner in ONLINE:
            options = {"max_iter": epochs, "random_state": seed}
        before = time.process_time()
        result = registry.make(learner)(structure, M3N(C), data, **options).solve()
        seconds = time.process_time() - before
        runs.append(Run(learner, result, seconds, _uas(structure, result.weights, *held_out)))
    arcs = sum(len(pairs) for pairs, _ in X)
    sizes = (len(train), len(test))
    return ParseBench(tuple(runs), sizes, structure.n_features_, arcs, encoding, C)


def _uas(structure: Arborescence, weights: Any, X: Sequence[Any], Y: Sequence[Any]) -> float:
    predicted = structure.predict(X, weights)
    wrong = sum(structure.part_errors(y, p) for y, p in zip(Y, predicted, strict=True))
    return 100.0 * (1.0 - wrong / sum(map(len, Y)))
