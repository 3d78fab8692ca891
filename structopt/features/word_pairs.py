r"""Features of word pairs for alignment, counted in parallel text.

    dice(e, f) = 2 c(e, f) / (c(e) + c(f)),

with c the number of sentence pairs that hold the word, or both.

>>> pairs = WordPairs([["the", "house"], ["the", "bill"]], [["la", "chambre"], ["la", "loi"]])
>>> x = pairs.features(["the", "house"], ["la", "chambre"])
>>> x.shape == (2, 2, len(WordPairs.NAMES)), float(x[0, 0, 1]), float(x[0, 1, 1])
(True, 1.0, 0.6666666666666666)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import takewhile

import numpy as np
from numpy.typing import NDArray

from structopt.errors import InvalidInputError

STEM = 4
"""Letters that a word keeps for the second dice: it joins inflected forms."""
FREQUENT = 20
"""Rank up to which a word counts as frequent, mostly articles, prepositions and punctuation."""


class WordPairs:
    """Turns sentence pairs into features of every word pair.

    Parameters
    ----------
    left, right : sequences of token lists
        Parallel text to count in; no alignment is needed.
    """

    NAMES = (
        "bias", "dice", "dice of stems", "dice, best of row and column", "dice, diagonal before",
        "dice, diagonal after", "equal", "equal ends", "common beginning", "both punctuation",
        "one punctuation", "distance", "distance squared", "distance x frequent", "near", "ranks",
        "both frequent", "one frequent", "dice > 0.3", "unseen",
    )  # fmt: skip

    def __init__(self, left: Sequence[Sequence[str]], right: Sequence[Sequence[str]]) -> None:
        if len(left) != len(right) or not left:
            raise InvalidInputError(
                f"Parallel text needs equally many sentences; got {len(left)} and {len(right)}."
            )
        self._words = _Counts(left, right, str.lower)
        self._stems = _Counts(left, right, lambda word: word.lower()[:STEM])

    def features(self, left: Sequence[str], right: Sequence[str]) -> NDArray[np.float64]:
        """Return an array (words left, words right, features)."""
        n1, n2 = len(left), len(right)
        dice, stems = self._words.dice(left, right), self._stems.dice(left, right)
        best = (dice >= dice.max(axis=0, keepdims=True)) & (dice >= dice.max(axis=1, keepdims=True))
        before, after = np.zeros((n1, n2)), np.zeros((n1, n2))
        before[1:, 1:], after[:-1, :-1] = dice[:-1, :-1], dice[1:, 1:]
        equal = np.array([[a == b for b in right] for a in left], dtype=np.float64)
        begins = np.array([[_alike(a, b) for b in right] for a in left])
        marks = [np.array([not any(map(str.isalnum, w)) for w in side]) for side in (left, right)]
        both = np.outer(marks[0], marks[1]).astype(np.float64)
        one = (marks[0][:, None] != marks[1][None, :]).astype(np.float64)
        place = (np.arange(n1) + 0.5) / n1, (np.arange(n2) + 0.5) / n2
        far = np.abs(place[0][:, None] - place[1][None, :])
        ranks = self._words.ranks(left, right)
        often = [r <= FREQUENT for r in ranks]
        frequent = np.outer(often[0], often[1]).astype(np.float64)
        mixed = (often[0][:, None] != often[1][None, :]).astype(np.float64)
        apart = np.abs(np.log1p(ranks[0])[:, None] - np.log1p(ranks[1])[None, :]) / 5.0
        ends = np.zeros((n1, n2))
        ends[0, 0] = ends[-1, -1] = 1.0
        near = (far < 1.0 / max(n1, n2)).astype(np.float64)
        unseen = (dice == 0).astype(np.float64)
        columns = [
            np.ones((n1, n2)), dice, stems, best * dice, before, after, equal, ends * equal, begins,
            both, one, far, far**2, far * frequent, near, apart, frequent, mixed,
            (dice > 0.3).astype(np.float64), unseen,
        ]  # fmt: skip
        return np.stack(columns, axis=2)


class _Counts:
    """In how many sentence pairs words occur, alone and together."""

    def __init__(
        self,
        left: Sequence[Sequence[str]],
        right: Sequence[Sequence[str]],
        key: Callable[[str], str],
    ) -> None:
        self._of = key
        self._alone: list[Counter[str]] = [Counter(), Counter()]
        self._together: Counter[tuple[str, str]] = Counter()
        for a, b in zip(left, right, strict=True):
            words = [sorted({self._of(w) for w in side}) for side in (a, b)]
            for counts, side in zip(self._alone, words, strict=True):
                counts.update(side)
            self._together.update((e, f) for e in words[0] for f in words[1])
        self._rank = [
            {word: rank for rank, (word, _) in enumerate(counts.most_common(), start=1)}
            for counts in self._alone
        ]

    def dice(self, left: Sequence[str], right: Sequence[str]) -> NDArray[np.float64]:
        e, f = ([self._of(w) for w in side] for side in (left, right))
        together = np.array([[self._together[a, b] for b in f] for a in e], dtype=np.float64)
        alone = [
            np.array([c[w] for w in side], dtype=np.float64)
            for c, side in zip(self._alone, (e, f), strict=True)
        ]
        return 2.0 * together / np.maximum(alone[0][:, None] + alone[1][None, :], 1.0)

    def ranks(self, left: Sequence[str], right: Sequence[str]) -> list[NDArray[np.float64]]:
        found = []
        for rank, side in zip(self._rank, (left, right), strict=True):
            last = len(rank) + 1
            found.append(np.array([rank.get(self._of(w), last) for w in side], dtype=np.float64))
        return found


def _alike(a: str, b: str) -> float:
    """Return the share of letters that both words begin with."""
    letters = zip(a.lower(), b.lower(), strict=False)  # the shorter word ends it
    return len(list(takewhile(lambda pair: pair[0] == pair[1], letters))) / max(len(a), len(b), 1)
