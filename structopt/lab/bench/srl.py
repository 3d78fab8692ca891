r"""Semantic roles under constraints: learning with and without inference.

f(x, y) = sum_t W[y_t] . x_t over the candidates t of a predicate, y limited by constraints:

* LO: candidates are learned and labelled one by one;
* L+I: the weights of LO, the best labelling that satisfies the constraints;
* IBT: the constraints hold in training too (M3N over the labellings that satisfy them).

The constraints: no core argument twice; R-X and C-X only where X is; arguments do not overlap;
core arguments only as the training data shows them with the predicate, if it is frequent there.

Notes
-----
Punyakanok, Roth, Yih and Zimak, "Learning and Inference over Constrained Output", 2005, section 5.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from structopt.datasets.srl import Sentence
from structopt.errors import InvalidInputError
from structopt.features.roles import OUTSIDE, Columns, Proposition, propositions
from structopt.formulations.m3n import M3N
from structopt.lab.harness.table import Table
from structopt.learn.estimator import StructuredClassifier
from structopt.structures.constrain.rules import Rule, allowed, at_most_one, if_then, no_overlap
from structopt.structures.constrain.structure import Constrained, constrain
from structopt.structures.multiclass.structure import Multiclass

FREQUENT = 10
"""Training examples of a predicate from which on its core arguments count as known."""


@dataclass(frozen=True)
class Scheme:
    """How one way of learning and predicting did on the test sentences."""

    name: str
    precision: float
    recall: float
    broken: int
    relative_gap: float
    learning: float
    predicting: float

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall over labelled arguments."""
        both = self.precision + self.recall
        return 0.0 if both == 0 else 2 * self.precision * self.recall / both


@dataclass(frozen=True)
class SrlBench:
    """LO, L+I and IBT on one split."""

    schemes: tuple[Scheme, ...]
    training: int
    left_out: int
    test: int
    features: int

    def table(self) -> Table:
        """Return the comparison as a table."""
        rows = tuple(
            (
                s.name, f"{100 * s.precision:.2f}", f"{100 * s.recall:.2f}", f"{100 * s.f1:.2f}",
                str(s.broken), f"{s.relative_gap:.1e}", f"{s.learning:.1f}", f"{s.predicting:.2f}",
            )
            for s in self.schemes
        )  # fmt: skip
        columns = (
            "scheme", "precision %", "recall %", "F1 %", "broken", "gap", "learning s",
            "predicting s",
        )  # fmt: skip
        notes = (
            f"{self.training} predicates to learn from ({self.left_out} more break the constraints "
            f"themselves and are left out), {self.test} to test on, {self.features} features a "
            "label. broken: test predicates whose labels break the constraints.",
        )
        return Table("Semantic roles, with and without inference", columns, rows, notes)


def bench_srl(
    sentences: Sequence[Sentence],
    *,
    share: float = 0.8,
    C: float = 1.0,
    tol: float = 1e-2,
    max_iter: int = 60,
    seed: int = 0,
    report: Callable[[str], None] = lambda text: None,
) -> SrlBench:
    """Learn from a share of the sentences by LO, L+I and IBT, and test on the others.

    Parameters
    ----------
    sentences : sequence of Sentence
        From :func:`structopt.datasets.load_srl`.
    share : float
        Of the sentences to learn from, drawn with ``seed``.
    C, tol, max_iter : float, float, int
        Of `M3N` and of its block Frank-Wolfe method.
    report : callable
        Told what is being done.
    """
    order = np.random.default_rng(seed).permutation(len(sentences))
    cut = round(share * len(sentences))
    known = propositions(sentences[i] for i in order[:cut])
    new = propositions(sentences[i] for i in order[cut:])
    if not known or not new:
        raise InvalidInputError(
            f"{len(sentences)} sentences hold {len(known)} predicates to learn from and {len(new)} "
            "to test on: give more sentences."
        )
    labels = sorted({label for p in known for label in p.labels} | {OUTSIDE})
    report("describing candidates")
    columns = Columns(known)
    rules = roles(labels, known)
    examples, tests = ([(columns(p), p) for p in group] for group in (known, new))
    gold = [list(p.labels) for p in known]
    free = constrain(Multiclass(labels), rules).fitted(examples, gold)
    left_out = set(free.broken(examples, gold))
    kept = [i for i in range(len(known)) if i not in left_out]
    examples, gold = [examples[i] for i in kept], [gold[i] for i in kept]

    def learn(structure: Any, X: Any, Y: Any, name: str) -> tuple[StructuredClassifier, float]:
        model = StructuredClassifier(
            structure, M3N(C=C), method="frank-wolfe", tol=tol, max_iter=max_iter,
            random_state=seed,
            callbacks=[lambda r: report(f"{name}: round {r.round}, gap {r.relative_gap:.1e}")],
        )  # fmt: skip
        begun = time.process_time()
        model.fit(X, Y)
        return model, time.process_time() - begun

    rows = sp.vstack([matrix for matrix, _ in examples], format="csr")
    flat = [label for y in gold for label in y]
    alone, seconds = learn(Multiclass(labels), rows, flat, "LO")
    joint, joint_seconds = learn(constrain(Multiclass(labels), rules), examples, gold, "IBT")
    schemes = [
        _tested("LO", constrain(alone.structure_, []), alone, tests, free, seconds),
        _tested("L+I", constrain(alone.structure_, rules), alone, tests, free, seconds),
        _tested("IBT", joint.structure_, joint, tests, free, joint_seconds),
    ]
    return SrlBench(tuple(schemes), len(kept), len(left_out), len(new), len(columns.names))


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


def _tested(
    name: str, structure: Any, model: StructuredClassifier, tests: Sequence[Any], free: Constrained,
    learning: float,
) -> Scheme:  # fmt: skip
    begun = time.process_time()
    answers = structure.predict(tests, model.result_.weights)
    predicting = time.process_time() - begun
    right = given = wanted = 0
    for (_, p), answer in zip(tests, answers, strict=True):
        right += sum(a == b != OUTSIDE for a, b in zip(p.labels, answer, strict=True))
        given += sum(a != OUTSIDE for a in answer)
        wanted += len(p.predicate.arguments)  # also those that no candidate stands for
    return Scheme(
        name, right / max(1, given), right / max(1, wanted), len(free.broken(tests, answers)),
        model.result_.certificate.relative_gap, learning, predicting,
    )  # fmt: skip
