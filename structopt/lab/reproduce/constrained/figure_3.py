r"""Semantic roles: LO, L+I and IBT against the number of input features.

The arguments of a predicate are given and their types wanted. Constraints: no core argument twice,
R-X and C-X only where X is, core arguments only as training shows them with a frequent predicate.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from structopt.datasets.srl import Sentence, load_srl
from structopt.features.roles import OUTSIDE, Columns, Proposition, propositions
from structopt.lab.bench.srl import roles
from structopt.lab.harness.study import Cell, Row
from structopt.lab.reproduce import curves
from structopt.lab.reproduce.constrained.learning import AVERAGED, learn_schemes
from structopt.lab.reproduce.experiment import Experiment
from structopt.lab.reproduce.number import Number, mean
from structopt.learn.predictor import accuracy
from structopt.learn.schemes import SCHEMES
from structopt.structures.constrain.structure import constrain
from structopt.structures.multiclass.structure import Multiclass

LEVELS = (
    ("bias", "side"),
    ("tag", "predicate tag"),
    ("relation", "case"),
    ("path", "lemma", "predicate", "far"),
    ("path+side+voice", "path+case", "path+tag"),
    ("path+predicate", "relation+sense", "case+predicate", "relation+lemma"),
)
"""Templates that come in one after the other."""
LINES = (*SCHEMES, "L+I" + AVERAGED, "IBT" + AVERAGED)
ARGUMENTS = 5
"""Only sentences with more arguments are used, as in the paper."""


class ConstrainedFigure3(Experiment):
    """Punyakanok, Roth, Yih and Zimak (2005), Figure 3."""

    name = "constrained-figure-3"
    data: ClassVar[tuple[str, ...]] = ("srl_ewt/en_ewt-up-dev.conllu.gz",)
    differences: ClassVar[str] = (
        "Universal Propositions on the English Web Treebank instead of CoNLL-2004 (Wall Street "
        "Journal, not free): automatic labels on head words, a tenth of the size. The paper does "
        "not say which features it leaves out; here templates are added in six steps. The text "
        "names no learner for this task; the perceptron of its Figure 1 is used, and the same "
        "averaged."
    )
    version = 3

    def cells(self, full: bool) -> list[Cell]:
        """One job a set of features and split: all three schemes."""
        splits, most, epochs = (range(10), 5000, 100) if full else (range(2), 500, 10)
        return [
            {
                "templates": sum(map(len, LEVELS[: k + 1])), "split": split, "most": most,
                "epochs": epochs,
            }
            for k in range(len(LEVELS))
            for split in splits
        ]  # fmt: skip

    def run(self, cell: Cell) -> dict[str, Any]:
        """Learn from four fifths of the sentences by each scheme, test on the others."""
        rng, sentences = np.random.default_rng(cell["split"]), _long(load_srl())
        order = rng.permutation(len(sentences))
        cut = round(0.8 * len(sentences))
        known, new = (
            given(sentences[i] for i in part)[: cell["most"]] for part in (order[:cut], order[cut:])
        )
        labels = sorted({label for p in [*known, *new] for label in p.labels} | {OUTSIDE})
        columns = Columns(known)
        chosen = [name for group in LEVELS for name in group][: cell["templates"]]
        kept = [j for j, name in enumerate(columns.names) if name.partition("=")[0] in chosen]
        structure = constrain(Multiclass(labels), roles(labels, known))
        X, tests = ([(columns(p)[:, kept], p) for p in part] for part in (known, new))
        Y, gold = ([list(p.labels) for p in part] for part in (known, new))
        broken = set(structure.fitted(X, Y).broken(X, Y))
        sound = [i for i in range(len(X)) if i not in broken]
        X, Y = [X[i] for i in sound], [Y[i] for i in sound]
        found: dict[str, Any] = {"features": len(kept), "training": len(X), "test": len(tests)}
        learned = learn_schemes(structure, X, Y, epochs=cell["epochs"], seed=cell["split"])
        for name in LINES:
            right = accuracy(learned.found[name][0], gold, learned.predict(name, tests))
            found[name] = 100.0 * right
        return found | {f"CPU s, {name}": learned.seconds[name] for name in SCHEMES}

    def numbers(self, rows: Sequence[Row]) -> list[Number]:
        """Return the share of arguments whose type is right."""
        counts = [
            Number(f"templates {at}", "features", mean(r["features"] for r in rows
                   if r["templates"] == at))
            for at in dict.fromkeys(row["templates"] for row in rows)
        ]  # fmt: skip
        return [
            *counts,
            *curves.points(rows, x="templates", lines=LINES, unit=" %"),
            *curves.points(rows, x="templates", lines=[f"CPU s, {name}" for name in SCHEMES]),
        ]

    def remarks(self, rows: Sequence[Row]) -> list[str]:
        """Say where IBT leads, beside what the paper says."""
        leads = [
            curves.leads(rows, x="templates", of="IBT" + end, over="L+I" + end)
            for end in ("", AVERAGED)
        ]
        return [f"{said} (paper: IBT wins with few features, L+I with many)." for said in leads]

    def draw(self, rows: Sequence[Row], figure: Any) -> None:
        """Draw accuracy against features."""
        rounded = [
            row | {"features": mean(r["features"] for r in rows
                                    if r["templates"] == row["templates"])}
            for row in rows
        ]  # fmt: skip
        curves.draw(figure, rounded, x="features", lines=LINES, ylabel="accuracy %", log=True)


def given(sentences: Iterable[Sentence]) -> list[Proposition]:
    """Return predicates with their arguments as the only candidates."""
    found = []
    for p in propositions(sentences):
        real = [k for k, label in enumerate(p.labels) if label != OUTSIDE]
        if real:
            places, labels = tuple(p.candidates[k] for k in real), tuple(p.labels[k] for k in real)
            spans = tuple((t, t + 1) for t in places)  # given arguments do not overlap
            found.append(replace(p, candidates=places, labels=labels, spans=spans))
    return found


def _long(sentences: Iterable[Sentence]) -> list[Sentence]:
    return [s for s in sentences if sum(len(p.arguments) for p in s.predicates) > ARGUMENTS]


experiment = ConstrainedFigure3()
