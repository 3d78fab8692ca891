"""Wang and Shawe-Taylor (2009), Table 2: n-best lists reranked by LP (7), LP (8) and MERT."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from structopt import datasets
from structopt.datasets.nbest import NBestList
from structopt.formulations.lp_struct import LPStruct
from structopt.lab.harness.measure import learn, proof
from structopt.lab.harness.study import Cell, Row
from structopt.lab.reproduce.experiment import Experiment
from structopt.lab.reproduce.number import Number, deviation, mean
from structopt.learn.estimator import StructuredClassifier
from structopt.structures.lattice.structure import Lattice
from structopt.structures.references.structure import References

PAPER = {"LP (7)": (32.35, 7.95), "LP (8)": (32.30, 8.19), "MERT": (31.69, 7.94)}
REFERENCES = {"LP (7)": "nearest", "LP (8)": "worst"}


class Translation(Experiment):
    """The table."""

    name = "lp-struct-table-2"
    data = ("smt_nbest/nbest.out.gz", "smt_nbest/reference.txt.gz")
    differences = (
        "80 n-best lists of Europarl from Moses' own tests, half to learn from and half to test "
        "on, instead of 182,000 Hansard pairs with a decoder in the loop; 15 dense features and "
        "1- to 3-grams instead of 8 million; free weights. Forty sentences a side are few: "
        "differences of a point of BLEU are noise."
    )

    def cells(self, full: bool) -> list[Cell]:
        """Return one cell a learner and draw of the halves (the first is the files' order)."""
        draws = range(10 if full else 3)
        linear = {"C": 10.0, "ngrams": 3, "good": 3, "tol": 1e-3, "limit": 120.0}
        return [
            {"model": model, "draw": k, **({} if model == "MERT" else linear)}
            for k in draws
            for model in PAPER
        ]

    def run(self, cell: Cell) -> dict[str, Any]:
        """Learn on one half, translate the other."""
        from structopt.learn.baselines.mert import MERT
        from structopt.learn.metrics import corpus_bleu, corpus_nist

        lists, references = datasets.load_smt_nbest()
        order = np.arange(len(lists))
        if cell["draw"] > 0:
            order = np.random.default_rng(cell["draw"]).permutation(order)
        halves = np.split(order, [len(lists) // 2])
        (train, gold), (test, truth) = (
            ([lists[i] for i in half], [references[i] for i in half]) for half in halves
        )
        train, test = _scaled(train, test)
        if cell["model"] == "MERT":
            began = time.process_time()
            model = MERT(random_state=cell["draw"]).fit(train, gold)
            found: dict[str, Any] = {"cpu": time.process_time() - began}
            texts, train_texts = model.predict(test), model.predict(train)
        else:
            texts, train_texts, found = _linear(cell, train, gold, test)
        return {
            "bleu": corpus_bleu(texts, truth),
            "nist": corpus_nist(texts, truth),
            "train_bleu": corpus_bleu(train_texts, gold),
            **found,
        }

    def numbers(self, rows: Sequence[Row]) -> list[Number]:
        """Return the scores."""
        numbers = []
        for model, (bleu, nist) in PAPER.items():
            of = [row for row in rows if row["model"] == model]
            for metric, key, paper in (("BLEU %", "bleu", bleu), ("NIST", "nist", nist)):
                values = [row[key] for row in of]
                numbers.append(Number(model, metric, mean(values), deviation(values), paper))
            numbers += [
                Number(model, "train BLEU %", mean(row["train_bleu"] for row in of)),
                Number(model, "CPU s", mean(row["cpu"] for row in of)),
            ]
        return numbers


def _linear(
    cell: Cell, train: list[NBestList], gold: list[str], test: list[NBestList]
) -> tuple[list[str], list[str], dict[str, Any]]:
    from structopt.learn.metrics import pseudo_references
    from structopt.structures.lattice.nbest import nbest_words

    X, Y = [], []
    for one, good in zip(train, pseudo_references(train, gold, n=cell["good"]), strict=True):
        x, paths = _lattice(one, cell["ngrams"])
        X.append(x)
        Y.append([paths[h] for h in good])
    formulation = LPStruct(
        cell["C"],
        nonnegative=False,
        references=REFERENCES[cell["model"]],  # type: ignore[arg-type]
    )
    model = StructuredClassifier(
        References(Lattice()), formulation, tol=cell["tol"], time_limit=cell["limit"]
    )
    cpu = learn(model, X, Y)
    unseen = [_lattice(one, cell["ngrams"])[0] for one in test]
    texts, again = (
        [" ".join(nbest_words(y)) for y in model.predict(inputs)] for inputs in (unseen, X)
    )
    return texts, again, {"cpu": cpu, **proof(model)}


def _lattice(one: NBestList, ngrams: int) -> tuple[Any, Any]:
    named = [dict(zip(one.names, row.tolist(), strict=True)) for row in one.features]
    return Lattice.of_nbest(one.hypotheses, named, ngrams=ngrams)


def _scaled(
    train: list[NBestList], test: list[NBestList]
) -> tuple[list[NBestList], list[NBestList]]:
    """Divide every feature by its spread within the lists of the training half."""
    from dataclasses import replace

    within = np.concatenate([one.features - one.features.mean(axis=0) for one in train])
    spread = within.std(axis=0)
    spread[spread == 0] = 1.0
    left, right = (
        [replace(one, features=one.features / spread) for one in part] for part in (train, test)
    )
    return left, right


experiment = Translation()
