"""Sentences to tag, drawn and turned into features, for the experiments on text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from structopt.errors import InvalidInputError
from structopt.features.words import WordFeatures

Sentence = tuple[list[str], list[str]]
"""Words and tags."""


@dataclass(frozen=True)
class Part:
    """Sentences as matrices, and their tags."""

    X: list[Any]
    Y: list[list[str]]


def draw(
    sentences: Sequence[Sentence], sizes: Sequence[int], seed: int, features: WordFeatures
) -> list[Part]:
    """Return disjoint random parts of given sizes; the features are fitted on the first.

    Raises
    ------
    InvalidInputError
        There are too few sentences.
    """
    if sum(sizes) > len(sentences):
        raise InvalidInputError(
            f"There are {len(sentences)} sentences, and parts of {list(sizes)} were asked for."
        )
    order = np.random.default_rng(seed).permutation(len(sentences))[: sum(sizes)]
    ends = np.cumsum(sizes)[:-1]
    parts = [[sentences[i] for i in which] for which in np.split(order, ends)]
    features.fit([words for words, _ in parts[0]])
    return [
        Part(features.transform([words for words, _ in part]), [tags for _, tags in part])
        for part in parts
    ]


def error(model: Any, part: Part) -> float:
    """Return the percentage of words that a fitted model tags wrong."""
    return wrong_percent(model.predict(part.X), part.Y)


def wrong_percent(predicted: Sequence[Sequence[Any]], gold: Sequence[Sequence[Any]]) -> float:
    """Return the percentage of wrong tags; a tag that training did not show is one.

    >>> wrong_percent([["A", "B"], ["C", "C"]], [["A", "B"], ["C", "X"]])
    25.0
    """
    wrong: list[bool] = [
        p != g
        for tags, truth in zip(predicted, gold, strict=True)
        for p, g in zip(tags, truth, strict=True)
    ]
    return 100.0 * sum(wrong) / len(wrong)
