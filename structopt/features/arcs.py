r"""Features of the arcs of a dependency tree: a vocabulary learned from sentences.

An arc (h, m) is described by templates over the words and tags of head and dependent, the tags
beside and between them, and its direction and length, after McDonald, Crammer and Pereira (2005),
Table 1. A feature is a template with its values; those that occur on a gold arc of the training
sentences form the vocabulary, everything else is ignored. Arcs whose tags never stood so far apart
in training are no candidates (arcs from the root and between neighbours always are, so that every
sentence has a tree with a single root).

>>> from structopt.datasets.conllu import Sentence
>>> one = Sentence(["it", "works"], ["it", "work"], ["PRON", "VERB"], ["P", "V"], [2, 0],
...                ["nsubj", "root"])
>>> template = ArcFeatures().fit([one])
>>> arcs, features = template.transform([one])[0]
>>> arcs.tolist(), features.shape[1] == template.n_features_
([[0, 1], [0, 2], [1, 2], [2, 1]], True)
>>> print([name for name in template.get_feature_names_out() if "length" in name][-1])
head=works, head.tag=VERB, dep=it, dep.tag=PRON, side=left, length=1
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from structopt.arrays import Ints
from structopt.datasets.conllu import Sentence
from structopt.errors import InvalidInputError
from structopt.features.rows import FeatureTransformer, check_counts
from structopt.features.vocabulary import Vocabulary

UNKNOWN, ROOT, NONE = 0, 1, 2  # codes of what was not seen, of the root, of what is off the end
LENGTHS = (1, 2, 3, 4, 5, 10, 20, 30)
"""Lengths are told apart up to each of these."""
MAX_TEMPLATES = 64
DIGITS = {
    "hw": "head", "ht": "head.tag", "hf": "head.xpos", "ht-": "head-1.tag", "ht+": "head+1.tag",
    "mw": "dep", "mt": "dep.tag", "mf": "dep.xpos", "mt-": "dep-1.tag", "mt+": "dep+1.tag",
    "between": "between.tag", "side": "side", "length": "length",
}  # fmt: skip
"""What templates are made of: words, tags and fine tags of head and dependent and beside them."""
_PLAIN = [
    *("hw ht", "hw", "ht", "hf", "mw mt", "mw", "mt", "mf"),
    *("hw ht mw mt", "ht mw mt", "hw mw mt", "hw ht mt", "hw ht mw", "hw mw"),
    *("ht mt", "hf mf", "hf mt", "ht mf", "hw mf", "hf mw"),
    *("ht ht+ mt- mt", "ht- ht mt- mt", "ht ht+ mt mt+", "ht- ht mt mt+"),
    *("ht mt- mt", "ht mt mt+", "ht ht+ mt", "ht- ht mt", ""),
]
TEMPLATES = [
    *(tuple(f"{t} {more}".split()) for t in _PLAIN for more in ("", "side length")),
    ("ht", "between", "mt", "side"),  # each tag between head and dependent
]
"""Each alone, and with direction and length; a feature's template is its number here."""


class _Codes(NamedTuple):
    """A sentence as integers, the root in front."""

    word: Ints
    tag: Ints
    fine: Ints


class ArcFeatures(FeatureTransformer):
    """Sentences to candidate arcs with sparse binary features.

    Parameters
    ----------
    min_count : int
        Gold arcs that a feature must occur on.
    prune : bool
        Whether only arcs that training makes plausible are candidates; else all are.

    Attributes
    ----------
    n_features_ : int
    """

    words_: Vocabulary
    tags_: Vocabulary
    fines_: Vocabulary
    reach_: Ints
    vocabulary_: Ints
    n_features_: int

    def __init__(self, *, min_count: int = 1, prune: bool = True) -> None:
        self.min_count, self.prune = min_count, prune

    def _read(self, sentences: Any) -> Sequence[Sentence]:
        check_counts(self.min_count, None)
        if not isinstance(self.prune, bool):
            raise InvalidInputError(f"prune must be True or False; got {self.prune!r}.")
        given = list(sentences) if isinstance(sentences, Sequence) else []
        if not given or not all(isinstance(s, Sentence) for s in given):
            raise InvalidInputError(
                "ArcFeatures reads a list of sentences as so.datasets.read_conllu gives them, at "
                "least one."
            )
        return sentences  # type: ignore[no-any-return]

    def _learn(self, sentences: Sequence[Sentence]) -> None:
        """Learn words, tags, the vocabulary of features and how long arcs get."""
        self.words_ = Vocabulary.of({w.lower() for s in sentences for w in s.forms})
        self.tags_ = Vocabulary.of({t for s in sentences for t in s.upos})
        self.fines_ = Vocabulary.of({t for s in sentences for t in s.xpos})
        n_tags, keys = len(self.tags_) + 3, []
        self.reach_ = np.zeros((2, n_tags, n_tags), np.int64)  # longest arc by direction and tags
        for sentence in sentences:
            codes = self._codes(sentence)
            m = np.arange(1, len(sentence.heads) + 1)
            h = np.asarray(sentence.heads, dtype=np.int64)
            np.maximum.at(self.reach_, ((h < m) * 1, codes.tag[h], codes.tag[m]), abs(h - m))
            keys.append(self._keys(codes, h, m)[0])
        found, count = np.unique(np.concatenate(keys), return_counts=True)
        self.vocabulary_ = found[count >= self.min_count]
        if not len(self.vocabulary_):
            raise InvalidInputError(f"No feature occurs on {self.min_count} arcs: lower min_count.")
        self.n_features_ = self.n_features_out_ = len(self.vocabulary_)

    def check_fitted(self) -> None:
        """Raise ValueError unless keys ascend and there is a reach for every pair of tags."""
        n_tags = len(self.tags_) + 3
        if self.reach_.shape != (2, n_tags, n_tags) or self.vocabulary_.ndim != 1:
            raise ValueError(f"arrays of {self.reach_.shape} and {self.vocabulary_.shape}")
        if np.any(np.diff(self.vocabulary_) <= 0):
            raise ValueError("keys of features that do not ascend")
        if not len(self.vocabulary_) == self.n_features_ == self.n_features_out_:
            raise ValueError(f"{self.n_features_} features, {len(self.vocabulary_)} keys")

    def _rows(self, sentences: Sequence[Sentence]) -> list[tuple[Ints, Any]]:
        """Return candidate arcs (m, 2) and a sparse matrix of their features for each sentence."""
        return [self._features(self._codes(s)) for s in sentences]

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return names such as ``head=saw, dep.tag=NOUN, side=right, length=2``."""
        check_is_fitted(self, "n_features_out_")
        names = np.full(self.n_features_, "arc", dtype=object)
        shown = {digit: self._shown(digit) for digit in DIGITS}
        rest, template = np.divmod(self.vocabulary_, MAX_TEMPLATES)
        for number, digits in enumerate(TEMPLATES):
            mine = np.flatnonzero(template == number)
            keys, columns = rest[mine], []
            for digit in digits[::-1]:
                keys, values = np.divmod(keys, len(shown[digit]))
                columns.append([f"{DIGITS[digit]}={shown[digit][v]}" for v in values.tolist()])
            if columns:
                names[mine] = [", ".join(parts) for parts in zip(*columns[::-1], strict=True)]
        return names

    def _shown(self, digit: str) -> list[str]:
        """Return what each value of a digit is called."""
        if digit == "side":
            return ["left", "right"]
        if digit == "length":
            before = (0, *LENGTHS)
            spans = [f"{a + 1}-{b}" if b > a + 1 else str(b) for a, b in pairwise(before)]
            return [*spans, f"over {LENGTHS[-1]}"]
        known = {"w": self.words_, "f": self.fines_}.get(digit[1], self.tags_)
        return ["<unknown>", "<root>", "<edge>", *known]

    def _features(self, codes: _Codes) -> tuple[Ints, Any]:
        n = len(codes.word)
        h, m = (a.ravel() for a in np.mgrid[0:n, 0:n])
        kept = (h != m) & (m > 0)
        if self.prune:
            length = abs(h - m)
            plausible = length <= self.reach_[(h < m) * 1, codes.tag[h], codes.tag[m]]
            kept &= plausible | (h == 0) | (length == 1)
        h, m = h[kept], m[kept]
        keys, rows = self._keys(codes, h, m)
        places = np.searchsorted(self.vocabulary_, keys)
        places[places == self.n_features_] = 0
        known = self.vocabulary_[places] == keys
        rows, places = rows[known], places[known]
        order = np.argsort(rows * self.n_features_ + places)
        indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=len(h)))])
        arrays = (np.ones(len(order)), places[order], indptr)
        return np.column_stack([h, m]), sp.csr_array(arrays, shape=(len(h), self.n_features_))

    def _codes(self, sentence: Sentence) -> _Codes:
        def numbers(index: Vocabulary, values: list[str]) -> Ints:
            place = index.lookup(values)
            codes: Ints = np.where(place < 0, UNKNOWN, place + NONE + 1)
            return np.concatenate([[ROOT], codes])

        return _Codes(
            numbers(self.words_, [w.lower() for w in sentence.forms]),
            numbers(self.tags_, sentence.upos),
            numbers(self.fines_, sentence.xpos),
        )

    def _keys(self, codes: _Codes, h: Ints, m: Ints) -> tuple[Ints, Ints]:
        """Return the key of every feature of arcs (h, m), and which arc has it.

        A key is template and values as the digits of one number: two features never share one.
        """
        n_words, n_tags, n_fines = (len(i) + 3 for i in (self.words_, self.tags_, self.fines_))

        def tag(at: Ints) -> tuple[Ints, int]:
            padded = np.concatenate([codes.tag, [NONE]])
            return padded[np.where((at < 0) | (at >= len(codes.tag)), -1, at)], n_tags

        found = {
            "hw": (codes.word[h], n_words), "mw": (codes.word[m], n_words),
            "hf": (codes.fine[h], n_fines), "mf": (codes.fine[m], n_fines),
            "ht-": tag(h - 1), "ht": tag(h), "ht+": tag(h + 1),
            "mt-": tag(m - 1), "mt": tag(m), "mt+": tag(m + 1),
            "side": ((h < m) * 1, 2),
            "length": (np.searchsorted(LENGTHS, abs(h - m)), len(LENGTHS) + 1),
        }  # fmt: skip
        *plain, last = TEMPLATES
        keys = [_number(k, [found[d] for d in t], len(h)) for k, t in enumerate(plain)]
        rows = [np.arange(len(h))] * len(plain)
        before = np.cumsum(np.eye(n_tags, dtype=np.int64)[codes.tag], axis=0)
        low, high = np.minimum(h, m), np.maximum(h, m)
        arc, middle = np.nonzero(before[high - 1] - before[low] > 0)  # each tag once
        there = {d: (value[arc], base) for d, (value, base) in found.items() if d in last}
        there["between"] = middle, n_tags
        keys.append(_number(len(plain), [there[d] for d in last], len(arc)))
        rows.append(arc)
        return np.concatenate(keys), np.concatenate(rows)


def _number(template: int, digits: Sequence[tuple[Ints, int]], size: int) -> Ints:
    key = np.zeros(size, dtype=np.int64)
    for value, base in digits:
        key = key * base + value
    return key * MAX_TEMPLATES + template
