"""Word alignment of the Hansards: alignment error rate by pass, extragradient and perceptron.

Train on 100 of the hand-aligned pairs, test on the other 347, as Taskar, Lacoste-Julien and Jordan
did in their second regime; the dev pairs choose C and the stopping point is the last pass. Words
are counted in the raw text of all files. The data are looked for in the folder that
``STRUCTOPT_DATA`` names.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from structopt.arrays import Floats
from structopt.datasets.hansards import (
    AlignedSentences,
    alignment_error_rate,
    load_hansards,
    load_hansards_corpus,
    one_to_one,
)
from structopt.engines.dataset import DataSet
from structopt.features.word_pairs import WordPairs
from structopt.formulations.m3n import M3N
from structopt.lab.harness.table import Table
from structopt.methods.online.perceptron import Perceptron
from structopt.methods.saddle.extragradient import SaddleExtragradient
from structopt.structures.matching.structure import Matching

TRAIN = 100
"""Hand-aligned test pairs to learn from, the first ones."""


@dataclass
class AlignmentBench:
    """Alignment error rates by pass."""

    C: float
    dev: dict[float, float] = field(default_factory=dict)
    passes: dict[str, list[tuple[int, float, float]]] = field(default_factory=dict)
    """Of each learner: (passes, error rate on the test pairs, relative gap)."""
    heuristic: float = float("nan")

    def table(self) -> Table:
        """Return one row a measured pass."""
        rows = [
            (learner, f"{n}", f"{100 * aer:.2f}", f"{gap:.1e}" if gap < float("inf") else "none")
            for learner, found in self.passes.items()
            for n, aer, gap in found
        ]
        rows.append(("dice above 0.3, matched", "", f"{100 * self.heuristic:.2f}", "none"))
        chosen = ", ".join(f"{100 * aer:.2f} at C = {C:g}" for C, aer in self.dev.items())
        return Table(
            "Word alignment, Hansards: 100 pairs to train, 347 to test",
            ("method", "passes", "AER %", "relative gap"),
            tuple(rows),
            (f"C = {self.C:g} by the dev pairs (AER {chosen}).",),
        )


def bench_alignment(
    *, passes: int = 50, report: Callable[[str], None] = lambda text: None
) -> AlignmentBench:
    """Learn alignments both ways and measure them after every few passes."""
    report("counting words")
    test, dev, corpus = load_hansards("test"), load_hansards("dev"), load_hansards_corpus()
    left, right = (
        [*raw, *a, *b]
        for raw, a, b in zip(corpus, (test.left, test.right), (dev.left, dev.right), strict=True)
    )
    words = WordPairs(left, right)
    X, X_dev = _inputs(words, test), _inputs(words, dev)
    Y = [
        one_to_one(sure or possible, x.shape[:2])
        for x, sure, possible in zip(X, test.sure, test.possible, strict=True)
    ][:TRAIN]
    structure = Matching(false_negative=3.0).fitted(X[:TRAIN], Y)
    data = DataSet.of(structure, X[:TRAIN], Y)

    def rate(weights: Floats, inputs: list[Any], gold: AlignedSentences, first: int) -> float:
        predicted = structure.predict(inputs[first:], weights)
        return alignment_error_rate(predicted, gold.sure[first:], gold.possible[first:])

    bench = AlignmentBench(C=float("nan"))
    for C in (0.003, 0.03, 0.3, 3.0):
        report(f"C = {C:g}")
        run = SaddleExtragradient(structure, M3N(C), data, tol=1e-2, max_iter=20).solve()
        bench.dev[C] = rate(run.weights, X_dev, dev, 0)
    bench.C = min(bench.dev, key=lambda C: bench.dev[C])
    report("extragradient")
    saddle = SaddleExtragradient(structure, M3N(bench.C), data)
    found = bench.passes.setdefault("extragradient", [])
    while saddle.iterations < passes:
        gap = saddle.step().relative_gap
        found.append((saddle.iterations, rate(saddle.current, X, test, TRAIN), gap))
    report("averaged perceptron")
    perceptron = Perceptron(structure, M3N(bench.C), data, max_iter=passes)
    measured = {n for n, _, _ in found} | {1, 2, 5}
    found = bench.passes.setdefault("averaged perceptron", [])
    for n in range(1, passes + 1):
        perceptron.step()
        if n in measured:
            found.append((n, rate(perceptron.model(), X, test, TRAIN), float("inf")))
    dice = [{(i, j) for i, j in zip(*(x[:, :, 3] > 0.3).nonzero(), strict=True)} for x in X[TRAIN:]]
    bench.heuristic = alignment_error_rate(dice, test.sure[TRAIN:], test.possible[TRAIN:])
    return bench


def _inputs(words: WordPairs, sentences: AlignedSentences) -> list[Any]:
    return [words.features(e, f) for e, f in zip(sentences.left, sentences.right, strict=True)]
