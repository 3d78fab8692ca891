r"""Phrase pairs of aligned sentences, with their probabilities and orientations.

A phrase pair is a run of words on each side, such that no word of it is linked to one outside and
at least one link is inside. It stands straight after (before) its neighbour if the words before
(after) it on both sides are linked, swapped if its neighbour on the target side is linked to the
word on the other side of it in the source, and else otherwise.

>>> table = PhraseTable().fit([["la", "maison", "bleue"]], [["the", "blue", "house"]],
...                           [{(0, 0), (1, 2), (2, 1)}])
>>> [" ".join(pair.target) for pair in table.pairs(("maison", "bleue"))]
['blue house']
>>> table.pairs(("maison",))[0].before.index(max(table.pairs(("maison",))[0].before))  # swapped
1
"""

from __future__ import annotations

import math
import operator
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from typing import Any, NamedTuple, Self

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from structopt.errors import InvalidInputError
from structopt.parameters import Count, check_params

Words = tuple[str, ...]
Links = Collection[tuple[int, int]]
STRAIGHT, SWAPPED, OTHER = 0, 1, 2
Ways = Counter[tuple[tuple[Words, Words], int]]
"""How often a pair's neighbour stands straight, swapped, otherwise."""
LEAST = 1e-4
"""Probability of a word that is linked to no word of the other phrase anywhere in the text."""


class PhrasePair(NamedTuple):
    """A source phrase, what it may become, and logarithms of probabilities.

    Attributes
    ----------
    source, target : tuple of str
    number : int
        Among all pairs of its table; -1 for a word that is passed on as it is.
    scores : (float, float, float, float)
        Of the target given the source and the source given the target, as phrases and word by word.
    before, after : (float, float, float)
        That the pair before (after) it on the target side stands straight, swapped, otherwise.
    """

    source: Words
    target: Words
    number: int
    scores: tuple[float, ...]
    before: tuple[float, ...]
    after: tuple[float, ...]


class PhraseTable(BaseEstimator):  # type: ignore[misc]
    """Phrase pairs, learned from sentence pairs and links of their words.

    Parameters
    ----------
    max_length : int
        Words of a phrase at most, on either side.
    options : int
        Pairs that are kept for a source phrase: those with the most probable targets.

    Attributes
    ----------
    n_pairs_ : int

    Notes
    -----
    Koehn, Och and Marcu (2003), and Moses' orientations by words. A word's probability given a
    phrase is the mean over the phrase's words of its share among their links.

    Examples
    --------
    >>> import structopt as so
    >>> french = [["la", "maison"], ["la", "loi"], ["une", "maison"]]
    >>> english = [["the", "house"], ["the", "bill"], ["a", "house"]]
    >>> links = so.WordAligner(iterations=10).fit(french, english).predict(french, english)
    >>> table = so.PhraseTable().fit(french, english, links)
    >>> [" ".join(pair.target) for pair in table.pairs(("une",))]
    ['a']
    """

    n_pairs_: int

    def __init__(self, *, max_length: Count = 3, options: Count = 5) -> None:
        self.max_length = max_length
        self.options = options

    def fit(
        self,
        source: Sequence[Sequence[str]],
        target: Sequence[Sequence[str]],
        links: Sequence[Links],
    ) -> Self:
        """Count the phrase pairs of sentence pairs; links are (source word, target word)."""
        check_params(self)
        sources, targets = as_sentences(source, "source"), as_sentences(target, "target")
        linked = _as_links(links)
        if not len(sources) == len(targets) == len(linked) or not len(sources):
            raise InvalidInputError(
                f"{len(sources)} source and {len(targets)} target sentences, {len(linked)} sets of "
                "links: give one of each for every pair, and a pair at least."
            )
        pairs, words = Counter[tuple[Words, Words]](), Counter[tuple[str, str]]()
        before, after = Ways(), Ways()
        for k, (f, e, a) in enumerate(zip(sources, targets, linked, strict=True)):
            if not all(0 <= i < len(f) and 0 <= j < len(e) for i, j in a):
                raise InvalidInputError(
                    f"Pair {k} has {len(f)} and {len(e)} words and a link outside them.", example=k
                )
            words.update((f[i], e[j]) for i, j in a)
            for pair, ways in phrase_pairs(f, e, a, self.max_length):
                pairs[pair] += 1
                before[pair, ways[0]] += 1
                after[pair, ways[1]] += 1
        self._keep(pairs, before, after, _Lexicon(words))
        return self

    def pairs(self, phrase: Words) -> list[PhrasePair]:
        """Return what a source phrase may become, the most probable first."""
        check_is_fitted(self, "n_pairs_")
        return self._pairs.get(phrase, [])

    def every(self) -> Iterator[PhrasePair]:
        """Yield all pairs in the order of their numbers."""
        check_is_fitted(self, "n_pairs_")
        for pairs in self._pairs.values():
            yield from pairs

    def _keep(
        self, pairs: Counter[tuple[Words, Words]], before: Ways, after: Ways, lexicon: _Lexicon
    ) -> None:
        totals: tuple[Counter[Words], Counter[Words]] = (Counter(), Counter())
        of: dict[Words, list[Words]] = {}
        for (f, e), count in pairs.items():
            totals[0][f] += count
            totals[1][e] += count
            of.setdefault(f, []).append(e)
        self._pairs: dict[Words, list[PhrasePair]] = {}
        self.n_pairs_ = 0
        for f in sorted(of):
            made = []
            ranked = sorted((-pairs[f, e], e) for e in of[f])
            for fewer, e in ranked[: self.options]:
                count = -fewer
                scores = (
                    math.log(count / totals[0][f]), math.log(count / totals[1][e]),
                    lexicon.log_p(f, e), lexicon.log_q(f, e),
                )  # fmt: skip
                ways = (_log_ways(counts, (f, e), count) for counts in (before, after))
                made.append(PhrasePair(f, e, self.n_pairs_, scores, *ways))
                self.n_pairs_ += 1
            self._pairs[f] = made


def as_sentences(given: Any, name: str) -> list[Words]:
    """Return sentences as tuples of words; refuse what are none.

    >>> as_sentences([["la", "loi"]], "source")
    [('la', 'loi')]
    """
    if not isinstance(given, list | tuple):
        raise InvalidInputError(f"{name} is a {type(given).__name__}: give a list of sentences.")
    for i, sentence in enumerate(given):
        listed = isinstance(sentence, list | tuple)
        if not listed or not all(isinstance(word, str) for word in sentence):
            raise InvalidInputError(f"{name} {i} is no list of words.", example=i)
    return [tuple(sentence) for sentence in given]


def _as_links(given: Any) -> list[list[tuple[int, int]]]:
    if not isinstance(given, list | tuple):
        raise InvalidInputError(f"links is a {type(given).__name__}: give a list of sets of pairs.")
    found = []
    for k, links in enumerate(given):
        try:
            found.append([(operator.index(i), operator.index(j)) for i, j in links])
        except (TypeError, ValueError):
            raise InvalidInputError(
                f"links {k} holds what is no pair (source word, target word) of numbers.", example=k
            ) from None
    return found


def _log_ways(counts: Ways, pair: tuple[Words, Words], count: int) -> tuple[float, ...]:
    return tuple(math.log((counts[pair, way] + 0.5) / (count + 1.5)) for way in range(3))


class _Lexicon:
    """Shares of words among the links of others."""

    def __init__(self, words: Counter[tuple[str, str]]) -> None:
        self.words, self.left, self.right = words, Counter[str](), Counter[str]()
        for (f, e), count in words.items():
            self.left[f] += count
            self.right[e] += count

    def log_p(self, f: Words, e: Words) -> float:
        """Return log p(e | f)."""
        means = (sum(self.words[a, b] / max(1, self.left[a]) for a in f) / len(f) for b in e)
        return sum(math.log(max(mean, LEAST)) for mean in means)

    def log_q(self, f: Words, e: Words) -> float:
        """Return log p(f | e)."""
        means = (sum(self.words[a, b] / max(1, self.right[b]) for b in e) / len(e) for a in f)
        return sum(math.log(max(mean, LEAST)) for mean in means)


def phrase_pairs(
    f: Sequence[str], e: Sequence[str], links: Links, most: int
) -> Iterator[tuple[tuple[Words, Words], tuple[int, int]]]:
    """Yield the phrase pairs of a sentence pair, with how the pairs before and after it stand.

    >>> found = phrase_pairs("ab", "xy", {(0, 0), (1, 1)}, 2)
    >>> sorted((" ".join(s), " ".join(t)) for (s, t), _ in found)
    [('a', 'x'), ('a b', 'x y'), ('b', 'y')]
    """
    linked = set(links)
    rows: list[list[int]] = [[] for _ in f]
    columns: list[list[int]] = [[] for _ in e]
    for i, j in sorted(linked):
        rows[i].append(j)
        columns[j].append(i)

    def bound(i: int, j: int) -> bool:  # beyond both ends the sentences are linked
        return (i, j) in linked or (i, j) in ((-1, -1), (len(f), len(e)))

    for i1 in range(len(f)):
        for i2 in range(i1, min(len(f), i1 + most)):
            inside = [j for i in range(i1, i2 + 1) for j in rows[i]]
            if not inside:
                continue
            j1, j2 = min(inside), max(inside)
            if any(not i1 <= i <= i2 for j in range(j1, j2 + 1) for i in columns[j]):
                continue
            a = j1
            while a >= 0 and j2 - a < most and (a == j1 or not columns[a]):
                b = j2
                while b < len(e) and b - a < most and (b == j2 or not columns[b]):
                    before = STRAIGHT if bound(i1 - 1, a - 1) else (
                        SWAPPED if bound(i2 + 1, a - 1) else OTHER)  # fmt: skip
                    after = STRAIGHT if bound(i2 + 1, b + 1) else (
                        SWAPPED if bound(i1 - 1, b + 1) else OTHER)  # fmt: skip
                    yield (tuple(f[i1 : i2 + 1]), tuple(e[a : b + 1])), (before, after)
                    b += 1
                a -= 1
