r"""Word alignment by generative models of translation: IBM models 1 and 2, the hidden Markov model.

    p(f, a | e) = prod_j p(a_j | ...) t(f_j | e_{a_j}),        a_j = a word of e, or none (null)

    IBM 1    p(a_j) = 1 / (l + 1)
    IBM 2    p(a_j | j, l, m), a table
    HMM      p(a_j = i | a_{j-1} = i') = (1 - p0) c(i - i') / sum_k c(k - i'),   null: p0

Parameters are found by EM from sentence pairs alone; each model begins with what model 1 learned.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, Self, get_args

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from structopt.arrays import Floats, Ints
from structopt.errors import InvalidInputError
from structopt.parameters import Count, Share, check_params

Model = Literal["ibm1", "ibm2", "hmm"]
Links = frozenset[tuple[int, int]]
Sentences = Sequence[Sequence[str]]
LEAST = 1e-7
"""t of a pair of words that were never seen together, and the least of all others at prediction."""


class WordAligner(BaseEstimator):  # type: ignore[misc]
    r"""A generative model of which words translate which, learned without alignments.

    .. math::
        \max_{t,\,p} \sum_{(e, f)} \log \sum_a \prod_j p(a_j \mid a_{j-1}, j)\; t(f_j \mid e_{a_j})

    Every right word comes from one left word or from none, so a left word may have many links;
    :func:`intersected` takes what both directions agree on, which is one to one.

    Parameters
    ----------
    model : {"ibm1", "ibm2", "hmm"}
    iterations : int
        Steps of EM of model 1, and then as many of the model itself.
    null : float
        Probability that a word has no partner, of the HMM.

    Attributes
    ----------
    log_likelihood_ : list of float
        Before every step; model 1's first. EM never lowers it within a model, but for the HMM,
        whose jumps c are taken from expected counts (as Vogel et al. do), not maximised.

    Notes
    -----
    Brown, Della Pietra, Della Pietra and Mercer (1993); Vogel, Ney and Tillmann (1996), with the
    empty word of Och and Ney (2003).

    Examples
    --------
    >>> import structopt as so
    >>> english = [["the", "house"], ["the", "book"], ["a", "book"]]
    >>> german = [["das", "Haus"], ["das", "Buch"], ["ein", "Buch"]]
    >>> model = so.WordAligner("ibm1", iterations=10).fit(english, german)
    >>> sorted(model.predict(english, german)[0])
    [(0, 0), (1, 1)]
    """

    log_likelihood_: list[float]

    def __init__(self, model: Model = "hmm", *, iterations: Count = 5, null: Share = 0.2) -> None:
        self.model = model
        self.iterations = iterations
        self.null = null

    # ------------------------------------------------------------------ learning
    def fit(self, left: Sentences, right: Sentences) -> Self:
        """Learn how left words become right words."""
        check_params(self)
        if self.model not in get_args(Model):
            raise InvalidInputError(f"model is one of {get_args(Model)}, not {self.model!r}.")
        if not 0 < self.null < 1:
            raise InvalidInputError(f"null is {self.null}; it must lie between 0 and 1.")
        both = _pairs(left, right)
        if not both:
            raise InvalidInputError("There is no sentence pair to learn from: give one at least.")
        self._left = {w: k for k, w in enumerate(sorted({w for e, _ in both for w in e}), start=1)}
        self._right = {w: k for k, w in enumerate(sorted({w for _, f in both for w in f}))}
        codes = [self._codes(e, f) for e, f in both]
        self._known, pair = np.unique(
            np.concatenate([c.ravel() for c in codes]), return_inverse=True
        )
        source = self._known // len(self._right)
        self._t: Floats = 1.0 / np.bincount(source)[source]
        ends = np.cumsum([c.size for c in codes])[:-1]
        tables = [p.reshape(c.shape) for p, c in zip(np.split(pair, ends), codes, strict=True)]
        self._places: dict[tuple[int, int], Floats] = {}
        self._jumps: Floats = np.ones(2 * max(len(e) for e, _ in both) + 1)
        self._now: Model = "ibm1"
        self.log_likelihood_ = []
        stages: list[Model] = ["ibm1"] if self.model == "ibm1" else ["ibm1", self.model]
        for self._now in stages:
            for _ in range(self.iterations):
                found = [self._expect(self._t[table]) for table in tables]
                self.log_likelihood_.append(float(sum(one.log for one in found)))
                self._maximise(found)
                counts = np.bincount(pair, np.concatenate([one.links.ravel() for one in found]))
                self._t = counts / np.maximum(np.bincount(source, counts)[source], 1e-300)
        return self

    def _codes(self, e: Sequence[str], f: Sequence[str]) -> Ints:
        """Return a number for every pair of a word, or null in the first row, and a right word."""
        rows = np.array([0, *(self._left.get(w, -1) for w in e)], dtype=np.int64)
        columns = np.array([self._right.get(w, -1) for w in f], dtype=np.int64)
        codes = rows[:, None] * len(self._right) + columns[None, :]
        return np.where((rows[:, None] < 0) | (columns[None, :] < 0), -1, codes)

    # ------------------------------------------------------------------ expectations
    def _expect(self, t: Floats) -> Expectation:
        """Return the posterior of all links, given t of a sentence pair."""
        if self._now == "hmm":
            return self._forward_backward(t)
        even = np.full(t.shape, 1.0 / len(t))
        joint = t * (self._places.get(t.shape, even) if self._now == "ibm2" else even)
        total = joint.sum(axis=0)
        return Expectation(joint / total, float(np.log(total).sum()), None)

    def _moves(self, length: int) -> Floats:
        """Return p(i | i') of jumps, i' from before the first word on."""
        centre = len(self._jumps) // 2
        away = np.arange(length)[None, :] - np.arange(-1, length)[:, None]
        c = self._jumps[np.clip(away + centre, 0, len(self._jumps) - 1)]
        return np.asarray(c / c.sum(axis=1, keepdims=True))

    def _forward_backward(self, t: Floats) -> Expectation:
        """Sum over all sequences of states: a word, or null after a word (or at the beginning)."""
        length, m = len(t) - 1, t.shape[1]
        at = np.concatenate([np.arange(length), np.arange(-1, length)])  # where the reader stands
        move = np.zeros((len(at), len(at)))
        move[:, :length] = (1.0 - self.null) * self._moves(length)[at + 1]
        move[np.arange(len(at)), length + at + 1] = self.null
        emit = np.concatenate([t[1:], np.repeat(t[:1], length + 1, axis=0)]).T
        ahead, scale = np.empty((m, len(at))), np.empty(m)
        before = np.zeros(len(at))
        before[length] = 1.0  # null at the beginning
        for j in range(m):
            ahead[j] = (before @ move) * emit[j]
            scale[j] = ahead[j].sum()
            before = ahead[j] = ahead[j] / scale[j]
        back = np.ones((m, len(at)))
        for j in range(m - 2, -1, -1):
            back[j] = move @ (emit[j + 1] * back[j + 1]) / scale[j + 1]
        state = ahead * back
        links = np.concatenate([state[:, length:].sum(axis=1)[:, None], state[:, :length]], axis=1)
        start = np.zeros((1, len(at)))
        start[0, length] = 1.0
        after = emit * back / scale[:, None]
        taken = move * (np.concatenate([start, ahead[:-1]]).T @ after)
        jumps = np.zeros((length + 1, length))
        np.add.at(jumps, at + 1, taken[:, :length])
        return Expectation(links.T, float(np.log(scale).sum()), jumps)

    def _maximise(self, found: Sequence[Expectation]) -> None:
        """Set what p(a) needs from expected counts."""
        if self._now == "ibm2":
            places: dict[tuple[int, int], Floats] = {}
            for one in found:
                shape = one.links.shape
                places[shape] = places.get(shape, 0.0) + one.links
            self._places = {s: np.asarray(c / c.sum(axis=0)) for s, c in places.items()}
        elif self._now == "hmm":
            jumps, centre = np.zeros_like(self._jumps), len(self._jumps) // 2
            for one in found:
                assert one.jumps is not None
                rows, columns = np.indices(one.jumps.shape)
                np.add.at(jumps, columns - rows + 1 + centre, one.jumps)
            self._jumps = np.maximum(jumps, LEAST * jumps.sum())

    # ------------------------------------------------------------------ use
    def posteriors(self, left: Sentences, right: Sentences) -> list[Floats]:
        """Return, pair by pair, the probability of every link: an array (left, right words).

        Columns sum to 1 or less; the rest is that the word has no partner.
        """
        check_is_fitted(self, "log_likelihood_")
        return [self._posterior(e, f)[1:] for e, f in _pairs(left, right)]

    def predict(self, left: Sentences, right: Sentences) -> list[Links]:
        """Return the most probable link of every right word, none where null is."""
        check_is_fitted(self, "log_likelihood_")
        found = []
        for e, f in _pairs(left, right):
            best = self._posterior(e, f).argmax(axis=0).tolist()
            found.append(frozenset((i - 1, j) for j, i in enumerate(best) if i > 0))
        return found

    def _posterior(self, e: Sequence[str], f: Sequence[str]) -> Floats:
        codes = self._codes(e, f)
        where = np.minimum(np.searchsorted(self._known, codes), len(self._known) - 1)
        t = np.where(self._known[where] == codes, self._t[where], 0.0)
        return self._expect(np.maximum(t, LEAST)).links


class Expectation(NamedTuple):
    """What one sentence pair contributes: p(a_j = i) with null first, log p(f | e), and jumps."""

    links: Floats
    log: float
    jumps: Floats | None


def intersected(forward: Sequence[Links], backward: Sequence[Links]) -> list[Links]:
    """Return the links of both directions, one to one where each gives a word one partner.

    ``backward`` is what a model of the exchanged languages predicts: its links are (right, left).

    >>> intersected([frozenset({(0, 0), (0, 1)})], [frozenset({(0, 0), (1, 1)})])
    [frozenset({(0, 0)})]
    """
    turned = [frozenset((i, j) for j, i in links) for links in backward]
    return [a & b for a, b in zip(forward, turned, strict=True)]


def _pairs(left: Sentences, right: Sentences) -> list[tuple[Sequence[str], Sequence[str]]]:
    """Return sentence pairs, or say which is none."""
    for name, given in (("left", left), ("right", right)):
        if not isinstance(given, list | tuple):
            raise InvalidInputError(
                f"{name} is a {type(given).__name__}: give a list of sentences."
            )
    if len(left) != len(right):
        raise InvalidInputError(
            f"left and right have {len(left)} and {len(right)} sentences: give equally many."
        )
    both = list(zip(left, right, strict=True))
    for k, (e, f) in enumerate(both):
        if not all(isinstance(side, list | tuple) for side in (e, f)):
            raise InvalidInputError(f"Sentence pair {k}: give lists of words.", example=k)
        if not all(isinstance(word, str) for side in (e, f) for word in side):
            raise InvalidInputError(f"Sentence pair {k} holds what is no word.", example=k)
        if not len(e) or not len(f):
            raise InvalidInputError(f"Sentence pair {k} has an empty side.", example=k)
    return both
