r"""Noun phrases: L+I and IBT against the number of features, pruned by frequency.

Two classifiers look at every word, one for the beginning of a phrase and one for its end. Legal are
brackets that open and close in turn: with +1 for a beginning and -1 for an end, in the order
begin_1, end_1, begin_2, end_2, ..., every partial sum is 0 or 1 and the last one 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from structopt.datasets.columns import ColumnSentence, load_conll2000
from structopt.features.words import WordFeatures
from structopt.lab.harness.study import Cell, Row, every, where
from structopt.lab.reproduce import curves
from structopt.lab.reproduce.constrained.learning import AVERAGED, learn_schemes
from structopt.lab.reproduce.experiment import Experiment
from structopt.lab.reproduce.number import Number
from structopt.structures.base.integer.rows import LinearRows
from structopt.structures.constrain.rules import Labelling
from structopt.structures.constrain.structure import constrain
from structopt.structures.multiclass.structure import Multiclass

LINES = ("L+I", "IBT", "L+I" + AVERAGED, "IBT" + AVERAGED)
WINDOW = (-2, -1, 0, 1, 2)


class ConstrainedFigure4(Experiment):
    """Punyakanok, Roth, Yih and Zimak (2005), Figure 4."""

    name = "constrained-figure-4"
    data: ClassVar[tuple[str, ...]] = (
        "conll2000_chunking/train.txt.gz",
        "conll2000_chunking/test.txt.gz",
    )
    differences: ClassVar[str] = (
        "the NP chunks of CoNLL-2000 (the same sections of the Wall Street Journal, chunks derived "
        "by another script) with tags by a tagger; words and tags in a window of two; a part of "
        "the sentences, few and more of them. The paper states neither its features nor its "
        "learner; the perceptron of its Figure 1 is used, and the same averaged."
    )
    version = 3

    def cells(self, full: bool) -> list[Cell]:
        """One job a number of sentences, of features, and a draw: both schemes, averaged or not."""
        tests, draws, epochs = (1000, 5, 50) if full else (200, 3, 10)
        return [
            {"sentences": n, "features": k, "draw": draw, "tests": tests, "epochs": epochs}
            for n in ((200, 2000) if full else (200,))
            for k in (10, 30, 100, 300, 1000, 3000)
            for draw in range(draws)
        ]

    def run(self, cell: Cell) -> dict[str, Any]:
        """Learn on some sentences by each scheme, and score phrases on others."""
        rng, parts = np.random.default_rng(cell["draw"]), []
        for part, size in (("train", cell["sentences"]), ("test", cell["tests"])):
            sentences = load_conll2000(part)
            parts.append([sentences[i] for i in rng.permutation(len(sentences))[:size]])
        seen, new = parts
        X, tests = described(seen, new, cell["features"])
        Y, gold = ([brackets(s) for s in part] for part in parts)
        found: dict[str, Any] = {"features used": X[0].shape[1] // 2}
        learned = learn_schemes(
            constrain(Multiclass([0, 1]), in_turn), X, Y, epochs=cell["epochs"], seed=cell["draw"]
        )
        for name in LINES:
            found[name] = 100.0 * f1(gold, learned.predict(name, tests))
        return found | {f"CPU s, {name}": learned.seconds[name] for name in LINES[:2]}

    def numbers(self, rows: Sequence[Row]) -> list[Number]:
        """Return F1 of phrases."""
        return [
            *curves.points(rows, x="features", lines=LINES, panel="sentences", unit=" F1 %"),
            *curves.points(
                rows, x="features", lines=[f"CPU s, {n}" for n in LINES[:2]], panel="sentences"
            ),
        ]

    def remarks(self, rows: Sequence[Row]) -> list[str]:
        """Say where IBT leads, beside what the paper says."""
        found = []
        for n in every(rows, "sentences"):
            here = where(rows, sentences=n)
            for end in ("", AVERAGED):
                leads = curves.leads(here, x="features", of="IBT" + end, over="L+I" + end)
                found.append(
                    f"{n} sentences, {leads} (paper: IBT wins only where features are few)."
                )
        return found

    def draw(self, rows: Sequence[Row], figure: Any) -> None:
        """Draw F1 against features."""
        curves.draw(
            figure, rows, x="features", lines=LINES, panel="sentences", ylabel="F1 %", log=True
        )


def in_turn(x: Any, z: Labelling) -> list[LinearRows]:
    """Return the constraint on beginnings and ends, which take turns as rows."""
    t, s = np.tril_indices(z.length)
    sign = np.where(s % 2 == 0, 1.0, -1.0)
    rows = z.rows(t, z.place(s, z.column(1)), sign, z.length, 0.0, 1.0)
    rows.upper[-1] = 0.0
    return [rows]


def brackets(sentence: ColumnSentence) -> list[int]:
    """Return whether a noun phrase begins at a word, and whether one ends, word by word.

    >>> rows = [["the", "DT", "B-NP"], ["cat", "NN", "I-NP"], ["sat", "VB", "B-VP"]]
    >>> brackets(ColumnSentence(rows))
    [1, 0, 0, 1, 0, 0]
    """
    tags = [*sentence.column(-1), "O"]
    found = []
    for tag, following in pairwise(tags):
        found += [int(tag == "B-NP"), int(tag.endswith("-NP") and following != "I-NP")]
    return found


def described(
    seen: Sequence[ColumnSentence], new: Sequence[ColumnSentence], most: int
) -> tuple[list[Any], list[Any]]:
    """Return two rows a word, a half of the columns each; only the most frequent features."""
    halves = []
    for column in (0, 1):
        features = WordFeatures(("word",), window=WINDOW, bias=column == 0)
        known = features.fit_transform([s.column(column) for s in seen])
        halves.append((known, features.transform([s.column(column) for s in new])))
    known, tests = ([sp.hstack(pair, format="csr") for pair in zip(*h, strict=True)]
                    for h in zip(*halves, strict=True))  # fmt: skip
    often = np.asarray(sum(matrix.sum(axis=0) for matrix in known)).ravel()
    kept = np.sort(np.argsort(-often, kind="stable")[:most])
    return [_twice(m[:, kept]) for m in known], [_twice(m[:, kept]) for m in tests]


def f1(gold: Sequence[Sequence[int]], predicted: Sequence[Sequence[int]]) -> float:
    """Return the harmonic mean of precision and recall over phrases.

    >>> f1([[1, 0, 0, 1]], [[1, 0, 0, 1]]), f1([[1, 1, 0, 0]], [[0, 0, 1, 1]])
    (1.0, 0.0)
    """
    sets = [
        {(i, b, e) for i, y in enumerate(outputs) for b, e in _phrases(y)}
        for outputs in (gold, predicted)
    ]
    return 2.0 * len(sets[0] & sets[1]) / max(1, len(sets[0]) + len(sets[1]))


def _phrases(y: Sequence[int]) -> list[tuple[int, int]]:
    begins, ends = (np.flatnonzero(np.asarray(y)[k::2]).tolist() for k in (0, 1))
    return list(zip(begins, ends, strict=True))


def _twice(matrix: Any) -> Any:
    wide = sp.block_diag([matrix, matrix], format="csr")
    order = np.arange(2 * matrix.shape[0]).reshape(2, -1).T.ravel()
    return sp.csr_array(wide[order])


experiment = ConstrainedFigure4()
