"""The Hansards as a task: labels by hand or found, word pairs and generative models as features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from structopt.arrays import Floats
from structopt.datasets.hansards import (
    load_hansards,
    load_hansards_corpus,
    one_to_one,
)
from structopt.engines.dataset import DataSet
from structopt.features.word_pairs import WordPairs
from structopt.learn.baselines.word_aligner import WordAligner, intersected
from structopt.learn.metrics import alignment_error_rate
from structopt.structures.losses.part_costs import PartCosts
from structopt.structures.matching.structure import Matching

MISSED = 3.0
"""Cost of a missed link against a wrong one, as in the authors' later work."""


@dataclass(frozen=True)
class Alignments:
    """Hand-aligned pairs: the first to learn from, others to test on, the dev pairs to choose by.

    Attributes
    ----------
    structure, data
        Fitted to, and made of, the pairs to learn from.
    edges : int
        Their candidate edges.
    sets : dict of str to (inputs, sure, possible)
        "validation" and "test".
    """

    structure: Matching
    data: DataSet
    edges: int
    sets: dict[str, tuple[list[Any], Any, Any]]

    @classmethod
    def of(
        cls, train: int, held: int, labels: str = "hand", features: str | None = None
    ) -> Alignments:
        """Learn from ``train`` pairs, test on the test pairs after the first ``held``.

        ``labels`` "hand" are those of the first test pairs; else the pairs are unaligned ones with
        the links that a generative model finds in both directions. ``features`` names a generative
        model whose posteriors are features too.
        """
        gold, dev, corpus = load_hansards("test"), load_hansards("dev"), load_hansards_corpus()
        words = WordPairs(
            [*corpus[0], *gold.left, *dev.left], [*corpus[1], *gold.right, *dev.right]
        )
        more = None if features is None else BothWays.of(features, gold, dev, corpus)

        def seen(left: Sequence[Any], right: Sequence[Any]) -> list[Any]:
            X = [words.features(e, f) for e, f in zip(left, right, strict=True)]
            return X if more is None else more.added(X, left, right)

        X, X_dev = (seen(pairs.left, pairs.right) for pairs in (gold, dev))
        if labels == "hand":
            known = list(zip(X, gold.sure, gold.possible, strict=True))[:train]
            X_train = X[:train]
            Y = [one_to_one(sure or possible, x.shape[:2]) for x, sure, possible in known]
        else:
            left, right = (list(side[:train]) for side in corpus)
            X_train = seen(left, right)
            Y = BothWays.of(labels, gold, dev, corpus).links(left, right)
        structure = Matching(PartCosts(missed=MISSED)).fitted(X_train, Y)
        sets = {
            "validation": (X_dev, dev.sure, dev.possible),
            "test": (X[held:], gold.sure[held:], gold.possible[held:]),
        }
        edges = sum(x.shape[0] * x.shape[1] for x in X_train)
        return cls(structure, DataSet.of(structure, X_train, Y), edges, sets)

    def errors(self, weights: Floats) -> dict[str, float]:
        """Return the alignment error rates in percent."""
        return {
            name: 100.0
            * alignment_error_rate(sure, self.structure.predict(X, weights), possible=possible)
            for name, (X, sure, possible) in self.sets.items()
        }


@dataclass(frozen=True)
class BothWays:
    """A generative model of each direction, learned from all sentence pairs without labels."""

    there: WordAligner
    back: WordAligner

    @classmethod
    def of(cls, model: Any, gold: Any, dev: Any, corpus: Any, iterations: int = 5) -> BothWays:
        """Learn from the corpus and the sentences of the test and dev pairs."""
        left = _lower([*corpus[0], *gold.left, *dev.left])
        right = _lower([*corpus[1], *gold.right, *dev.right])
        made = WordAligner(model, iterations=iterations)
        return cls(made.fit(left, right), WordAligner(**made.get_params()).fit(right, left))

    def links(self, left: Sequence[Any], right: Sequence[Any]) -> list[Any]:
        """Return the links of both directions."""
        e, f = _lower(left), _lower(right)
        return intersected(self.there.predict(e, f), self.back.predict(f, e))

    def added(self, X: Sequence[Any], left: Sequence[Any], right: Sequence[Any]) -> list[Any]:
        """Return features with both posteriors, their product and the links of both."""
        e, f = _lower(left), _lower(right)
        found = []
        for x, a, b, links in zip(
            X, self.there.posteriors(e, f), self.back.posteriors(f, e), self.links(left, right),
            strict=True,
        ):  # fmt: skip
            both = np.zeros(a.shape)
            for i, j in links:
                both[i, j] = 1.0
            found.append(np.concatenate([x, np.stack([a, b.T, a * b.T, both], axis=2)], axis=2))
        return found


def generative(model: str, held: int, iterations: int) -> dict[str, Any]:
    """Return the errors of a generative model alone, as one point of a curve."""
    gold, dev, corpus = load_hansards("test"), load_hansards("dev"), load_hansards_corpus()
    both = BothWays.of(model, gold, dev, corpus, iterations)
    error = {}
    for name, pairs, first in (("validation", dev, 0), ("test", gold, held)):
        links = both.links(pairs.left[first:], pairs.right[first:])
        sure, possible = pairs.sure[first:], pairs.possible[first:]
        error[name] = [100.0 * alignment_error_rate(sure, links, possible=possible)]
    return {"iterations": [iterations], "loss": [None], **error}


def _lower(sentences: Sequence[Sequence[str]]) -> list[list[str]]:
    return [[word.lower() for word in sentence] for sentence in sentences]
