"""Shivaswamy and Jebara (2009), Table 1: named entities and parts of speech."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from structopt import datasets
from structopt.features.attributes import SPELLING
from structopt.features.kernel_map import KernelMap
from structopt.features.words import WordFeatures
from structopt.lab.harness.measure import learn
from structopt.lab.harness.study import Cell, Row
from structopt.lab.reproduce.experiment import Experiment
from structopt.lab.reproduce.number import Number, deviation, mean, paired_p
from structopt.lab.reproduce.struct_rmm.relative_margins import (
    EPS,
    Tried,
    as_printed,
    chosen,
    compare_margins,
    printed_numbers,
)
from structopt.lab.reproduce.tagging import Part, draw, error, wrong_percent
from structopt.learn.baselines.crf import CRF
from structopt.structures.chain.structure import Chain

PAPER = {
    "NER": {"crf": (5.13, 0.28), "svm": (5.09, 0.32), "rmm": (5.05, 0.28), "p": 0.07},
    "POS": {"crf": (11.34, 0.64), "svm": (11.14, 0.60), "rmm": (10.42, 0.47), "p": 0.00},
}
LEARNERS = {"crf": "CRF", "svm": "StructSVM", "rmm": "StructRMM"}
WINDOW = (-1, 0, 1)
REGULARISERS = (0.01, 0.1, 1.0)
"""C2 of the CRF; the best on validation data counts."""
FEW = {
    "train": 20, "validation": 200, "test": 200, "C": 300.0, "fraction": 0.5, "degree": 1,
    "rank": 4000, "tol": 2e-2,
}  # fmt: skip
"""Where Algorithm 1 is run as printed: it solves the dual again after every example."""


class Sequences(Experiment):
    """The table."""

    name = "struct-rmm-table-1"
    data = ("conll2002_spanish/esp.train.gz", "conll2000_chunking/train.txt.gz")
    differences = (
        "named entities from the same corpus; parts of speech from CoNLL-2000 (the same Wall "
        "Street Journal, 44 tags) instead of the whole Penn treebank. Features are word identity "
        "and spelling of the word and its neighbours. The kernel of degree 2 is a factor of "
        "limited rank; the CRF has the same features without a kernel. The small setting "
        "has fewer sentences and draws, and no kernel. Algorithm 1 as printed, but for its slips, "
        f"is run on {FEW['train']} sentences at C = {FEW['C']:g} and half of the largest "
        f"projection, with eps = eps_B = {EPS:g}."
    )

    def cells(self, full: bool) -> list[Cell]:
        """Return one cell a task, kind of learner and draw, and few sentences for Algorithm 1."""
        setting = (
            {"train": 240, "validation": 1000, "test": 1000}
            if full
            else {"train": 60, "validation": 200, "test": 200}
        )
        margins = {
            "C": [10.0, 100.0, 1000.0] if full else [30.0, 300.0],
            "fractions": [0.9, 0.7, 0.5] if full else [0.8, 0.5],
            "degree": 2 if full else 1, "rank": 4000, "tol": 2e-2,
        }  # fmt: skip
        return [
            {"task": task, "kind": kind, "draw": k, **setting, **more}
            for k in range(10 if full else 2)
            for task in PAPER
            for kind, more in (("CRF", {"C2": list(REGULARISERS)}), ("margins", margins))
        ] + [{"task": task, "kind": "printed", "draw": 0, **FEW} for task in PAPER]

    def run(self, cell: Cell) -> dict[str, Any]:
        """Learn on one draw of one task."""
        if cell["task"] == "NER":
            sentences = [(s.words, s.column(-1)) for s in datasets.load_conll2002()]
        else:
            sentences = [(s.words, s.column(1)) for s in datasets.load_conll2000()]
        sizes = (cell["train"], cell["validation"], cell["test"])
        features = WordFeatures(SPELLING, window=WINDOW)
        train, *others = draw(sentences, sizes, cell["draw"], features)
        if cell["kind"] == "CRF":
            return _crf(cell, train, others)
        Z, parts, features_used = _mapped(cell, train, others)

        def errors(structure: Any, weights: Any) -> tuple[float, float]:
            left, right = (wrong_percent(structure.predict(p.X, weights), p.Y) for p in parts)
            return left, right

        if cell["kind"] == "printed":
            printed = as_printed(
                Chain(), Z, train.Y, errors,
                C=cell["C"], fraction=cell["fraction"], tol=cell["tol"],
            )  # fmt: skip
            return {"printed": printed}
        found = compare_margins(
            Chain(), Z, train.Y, errors,
            C=cell["C"], fractions=cell["fractions"], tol=cell["tol"],
        )  # fmt: skip
        return {"features": features_used, **found}

    def numbers(self, rows: Sequence[Row]) -> list[Number]:
        """Return mean errors, and the p-value of StructRMM against StructSVM."""
        found = []
        for task, paper in PAPER.items():
            of = [row for row in rows if row["task"] == task]
            for key, learner in LEARNERS.items():
                values = [row[key] for row in of if key in row]
                cpu = mean(row.get(f"{key}_cpu") for row in of)
                found += [
                    Number(
                        learner, f"{task} error %", mean(values), deviation(values), *paper[key]
                    ),  # type: ignore[misc]
                    Number(learner, f"{task} CPU s", cpu),
                ]
            p = paired_p([row for row in of if "rmm" in row], "svm", "rmm")
            found.append(Number("p-value", f"{task} error %", p, None, paper["p"]))  # type: ignore[arg-type]
        for task in PAPER:
            few = [row for row in rows if row["task"] == task and "printed" in row]
            found += printed_numbers(f"{task}, {FEW['train']} sentences", few)
        return found


def _mapped(cell: Cell, train: Part, others: list[Part]) -> tuple[list[Any], list[Part], int]:
    """Return the inputs with k(x, y) = ((x.y + 1) / features)^degree, or plain ones at degree 1."""
    lit = len(SPELLING) * len(WINDOW)  # features of a word that are 1, so that k(x, x) is near 1
    if cell["degree"] == 1:
        scaled = [[x / lit**0.5 for x in part.X] for part in (train, *others)]
        parts = [Part(X, part.Y) for X, part in zip(scaled[1:], others, strict=True)]
        return scaled[0], parts, train.X[0].shape[1]
    kernel = KernelMap(
        "polynomial", degree=cell["degree"], gamma=1 / lit, coef0=1 / lit, max_rank=cell["rank"]
    )
    Z = kernel.fit_transform(train.X)
    return Z, [Part(kernel.transform(part.X), part.Y) for part in others], kernel.rank_


def _crf(cell: Cell, train: Part, others: list[Part]) -> dict[str, Any]:
    tried, cpu = [], 0.0
    for C2 in cell["C2"]:
        model = CRF(C2=C2)
        cpu += learn(model, train.X, train.Y)
        tried.append(Tried(C2, 1.0, *(error(model, part) for part in others)))
    return {
        "crf": (chosen(tried).test + min(tried, key=lambda t: t.test).validation) / 2,
        "crf_C2": chosen(tried).C,
        "crf_cpu": cpu / len(tried),
    }


experiment = Sequences()
