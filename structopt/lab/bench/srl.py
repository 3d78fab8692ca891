r"""Semantic roles under constraints: learning with and without inference.

f(x, y) = sum_t W[y_t] . x_t over the candidates t of a predicate, y limited by constraints:

LO, L+I and IBT (:class:`structopt.ConstraintScheme`) leave them out, predict with them, or learn
with them too.

The constraints: no core argument twice; R-X and C-X only where X is; arguments do not overlap;
core arguments only as the training data shows them with the predicate, if it is frequent there.

Notes
-----
Punyakanok, Roth, Yih and Zimak, "Learning and Inference over Constrained Output", 2005, section 5.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from structopt.datasets.srl import Sentence, load_srl, read_srl
from structopt.errors import InvalidInputError
from structopt.features.roles import OUTSIDE, Columns, Proposition, propositions
from structopt.formulations.m3n import M3N
from structopt.lab.harness import arguments
from structopt.lab.harness.bench import Bench
from structopt.lab.harness.measure import learn
from structopt.lab.harness.study import Cell, Row
from structopt.lab.harness.table import Table
from structopt.learn.estimator import StructuredClassifier
from structopt.learn.schemes import SCHEMES, ConstraintScheme
from structopt.structures.constrain.rules import Rule, allowed, at_most_one, if_then, no_overlap
from structopt.structures.constrain.structure import Constrained, constrain
from structopt.structures.multiclass.structure import Multiclass

FREQUENT = 10
"""Training examples of a predicate from which on its core arguments count as known."""


@dataclass
class SrlBench(Bench):
    """LO, L+I and IBT on one split of some sentences.

    Parameters
    ----------
    data : path, optional
        A CoNLL-U file with roles; that of ``STRUCTOPT_DATA`` by default.
    most : int, optional
        Only the first sentences.
    C, tol, max_iter : float, float, int
        Of `M3N` and of its block Frank-Wolfe method.
    seed : int
        Of the split.
    share : float
        Of the sentences to learn from.
    sentences : sequence of Sentence, optional
        Others, from :func:`structopt.datasets.load_srl`.
    """

    name = "roles"

    data: str | None = arguments.argument(
        None, "a CoNLL-U file with roles (STRUCTOPT_DATA's)", metavar="FILE"
    )
    most: int | None = arguments.argument(
        None, "only the first N sentences", flag="--sentences", type=int, metavar="N"
    )
    C: float = arguments.argument(0.1, "of M3N")
    max_iter: int = arguments.argument(30, "passes at most", flag="--rounds")
    seed: int = arguments.argument(0, "of the split into training and test")
    tol: float = 1e-2
    share: float = 0.8
    sentences: Sequence[Sentence] = ()

    def __post_init__(self) -> None:
        sentences = self.sentences or (load_srl() if self.data is None else read_srl(self.data))
        sentences = sentences[: self.most]
        order = np.random.default_rng(self.seed).permutation(len(sentences))
        cut = round(self.share * len(sentences))
        self._known, self._new = (
            propositions(sentences[i] for i in part) for part in (order[:cut], order[cut:])
        )
        if not self._known or not self._new:
            raise InvalidInputError(
                f"{len(sentences)} sentences hold {len(self._known)} predicates to learn from and "
                f"{len(self._new)} to test on: give more sentences."
            )

    def cells(self) -> list[Cell]:
        """Return a cell a scheme."""
        return [{"scheme": scheme} for scheme in SCHEMES]

    @cached_property
    def problem(self) -> tuple[Constrained, list[Any], list[Any], list[Any], str]:
        """The structure, inputs and outputs to learn from, inputs to test on, and sizes in words.

        Predicates whose own labels break the constraints are left out.
        """
        labels = sorted({label for p in self._known for label in p.labels} | {OUTSIDE})
        columns = Columns(self._known)
        X, tests = ([(columns(p), p) for p in group] for group in (self._known, self._new))
        Y = [list(p.labels) for p in self._known]
        structure = constrain(Multiclass(labels), roles(labels, self._known))
        broken = set(structure.fitted(X, Y).broken(X, Y))
        kept = [i for i in range(len(X)) if i not in broken]
        size = (
            f"{len(kept)} predicates to learn from ({len(broken)} more break the constraints "
            f"themselves and are left out), {len(tests)} to test on, {len(columns.names)} features "
            "a label."
        )
        return structure, [X[i] for i in kept], [Y[i] for i in kept], tests, size

    def run(self, cell: Cell) -> dict[str, Any]:
        """Learn by one scheme, and test."""
        structure, X, Y, tests, _ = self.problem
        learner = StructuredClassifier(
            structure, M3N(C=self.C), method="frank-wolfe", tol=self.tol, max_iter=self.max_iter,
            random_state=self.seed,
        )  # fmt: skip
        scheme = ConstraintScheme(cell["scheme"], structure, learner=learner)
        learning, began = learn(scheme, X, Y), time.process_time()
        answers = scheme.predict(tests)
        predicting = time.process_time() - began
        assert scheme.model_ is not None, "a StructuredClassifier learned"
        return {
            **argument_scores([p for _, p in tests], answers),
            "broken": len(structure.fitted(X, Y).broken(tests, answers)),
            "relative_gap": scheme.model_.result_.certificate.relative_gap,
            "learning": learning,
            "predicting": predicting,
        }

    def tables(self, rows: Sequence[Row], left_out: Sequence[str]) -> list[Table]:
        """Return the comparison as a table."""
        lines = tuple(
            (
                row["scheme"], *(f"{100 * row[key]:.2f}" for key in ("precision", "recall", "f1")),
                f"{row['broken']}", f"{row['relative_gap']:.1e}", f"{row['learning']:.1f}",
                f"{row['predicting']:.2f}",
            )
            for row in rows
        )  # fmt: skip
        columns = (
            "scheme", "precision %", "recall %", "F1 %", "broken", "gap", "learning s",
            "predicting s",
        )  # fmt: skip
        notes = (f"{self.problem[-1]} broken: test predicates whose labels break the constraints.",)
        return [Table("Semantic roles, with and without inference", columns, lines, notes)]


def argument_scores(found: Sequence[Proposition], answers: Sequence[Any]) -> dict[str, float]:
    """Return precision, recall and F1 of the arguments of predicates."""
    right = given = wanted = 0
    for p, answer in zip(found, answers, strict=True):
        right += sum(a == b != OUTSIDE for a, b in zip(p.labels, answer, strict=True))
        given += sum(a != OUTSIDE for a in answer)
        wanted += len(p.predicate.arguments)  # also those that no candidate stands for
    return {
        "precision": right / max(1, given),
        "recall": right / max(1, wanted),
        "f1": 2.0 * right / max(1, given + wanted),
    }


def roles(labels: Sequence[str], training: Sequence[Proposition]) -> list[Rule]:
    """Return the constraints on the labels of one predicate's candidates."""
    core = [
        label
        for label in labels
        if label[:3] == "ARG" and label[3:4].isalnum() and "M" not in label
    ]
    seen: dict[str, set[str]] = {}
    times = Counter(p.lemma for p in training)
    for p in training:
        seen.setdefault(p.lemma, set()).update(p.labels)
    rest = set(labels) - set(core)

    def legal(p: Proposition) -> set[str]:
        if times[p.lemma] < FREQUENT:
            return set(labels)
        return rest | seen[p.lemma]

    linked = [(a, a[2:]) for a in labels if a[:2] in ("R-", "C-") and a[2:] in labels]
    return [
        at_most_one(*core),
        *(if_then(cause, effect) for cause, effect in linked),
        no_overlap(lambda p: p.spans, OUTSIDE),
        allowed(legal),
    ]
