r"""Features of words in a sentence, as sparse matrices with names.

An *attribute* is a function of one word (itself, its last three characters, its shape), a
*template* an attribute of the word at some distance. Each value of a template seen in training is a
column:

    x_t[template = (attribute a, distance o), value v] = [a(word_{t+o}) = v].

Attributes are computed once per distinct word and looked up per token, so that a corpus of some
hundred thousand tokens takes about a second.

>>> features = WordFeatures(("word", "suffix2"), window=(-1, 0))
>>> X = features.fit_transform([["the", "cat"], ["the", "hat"]])
>>> X[0].shape, [str(n) for n in features.get_feature_names_out()][:3]
((2, 9), ['word[-1]=<edge>', 'word[-1]=the', 'word[0]=cat'])
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from structopt.arrays import Ints
from structopt.errors import InvalidInputError

EDGE = "<edge>"
"""The value of every attribute beyond the ends of a sentence."""

_RUNS = re.compile(r"(.)\1+")


def _shape(word: str) -> str:
    """Return the word with letters and digits replaced by their kind, runs cut short.

    >>> _shape("McDonald-2005")
    'XxXx-d'
    """
    kinds = "".join(
        "X" if c.isupper() else "x" if c.islower() else "d" if c.isdigit() else c for c in word
    )
    return _RUNS.sub(r"\1", kinds)


ATTRIBUTES: dict[str, Callable[[str], str]] = {
    "word": lambda word: word,
    "lower": str.lower,
    "shape": _shape,
    "capital": lambda word: "yes" if word[:1].isupper() else "no",
    "all_capitals": lambda word: "yes" if word.isupper() else "no",
    "capital_inside": lambda word: "yes" if any(c.isupper() for c in word[1:]) else "no",
    "digit": lambda word: "yes" if any(c.isdigit() for c in word) else "no",
    "hyphen": lambda word: "yes" if "-" in word else "no",
    "period": lambda word: "yes" if word.endswith(".") else "no",
    "punctuation": lambda word: "no" if any(c.isalnum() for c in word) else "yes",
}
"""Attributes by name; ``prefix1``, ``suffix3`` and the like are made as they are asked for."""

SPELLING = (
    "word", "capital", "all_capitals", "capital_inside", "digit", "hyphen", "period", "punctuation",
    "prefix1", "prefix2", "prefix3", "suffix1", "suffix2", "suffix3",
)  # fmt: skip
"""Word identity and spelling, after Altun, Tsochantaridis and Hofmann (2003)."""


class WordFeatures(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Sentences (lists of words) to sparse matrices, one row a word.

    Parameters
    ----------
    attributes : sequence of str or of callables str -> str
        Names of :data:`ATTRIBUTES`, ``prefixN``, ``suffixN``, or functions of your own.
    window : sequence of int
        Distances of the words that are looked at; 0 is the word itself.
    min_count : int
        Values that occur fewer times in training are left out.
    bias : bool
        Add a column of ones.

    Attributes
    ----------
    n_features_out_ : int

    Notes
    -----
    A value that was not seen in training gives no feature. Labels of neighbours are the business of
    the structure (the transitions of :class:`~structopt.Chain`).
    """

    n_features_out_: int

    def __init__(
        self,
        attributes: Sequence[str | Callable[[str], str]] = ("word",),
        *,
        window: Sequence[int] = (0,),
        min_count: int = 1,
        bias: bool = False,
    ) -> None:
        self.attributes = attributes
        self.window = window
        self.min_count = min_count
        self.bias = bias

    def fit(self, X: Sequence[Sequence[str]], y: Any = None) -> Self:
        """Collect the values of every template."""
        if self.min_count < 1 or not len(self.window) or not len(self.attributes):
            raise InvalidInputError("Give min_count >= 1, a window and at least one attribute.")
        self._functions = [_function(a) for a in self.attributes]
        self._names = [a if isinstance(a, str) else a.__name__ for a in self.attributes]
        tokens = _Tokens(X)
        self._columns: list[dict[str, int]] = []
        first = int(self.bias)
        for k, distance in self._templates():
            values, codes = tokens.values(self._functions[k])
            counts = np.bincount(
                tokens.shifted(codes, distance, len(values)), None, len(values) + 1
            )
            seen = sorted(
                value
                for value, count in zip([*values, EDGE], counts.tolist(), strict=True)
                if count >= self.min_count
            )
            self._columns.append({value: first + j for j, value in enumerate(seen)})
            first += len(seen)
        self.n_features_out_ = first
        return self

    def transform(self, X: Sequence[Sequence[str]]) -> list[Any]:
        """Return one CSR matrix (words, features) a sentence."""
        check_is_fitted(self, "n_features_out_")
        tokens = _Tokens(X)
        parts = [np.zeros(tokens.total, dtype=np.int64)] if self.bias else []
        for (k, distance), columns in zip(self._templates(), self._columns, strict=True):
            values, codes = tokens.values(self._functions[k])
            place = np.array([columns.get(value, -1) for value in [*values, EDGE]], dtype=np.int64)
            parts.append(place[tokens.shifted(codes, distance, len(values))])
        table = np.stack(parts, axis=1)  # rows ascend, since templates do
        known = table >= 0
        ends = np.concatenate([[0], np.cumsum(known.sum(axis=1))])
        indices, data = table[known], np.ones(int(ends[-1]))
        matrices = []
        for a, b in pairwise(tokens.offsets.tolist()):
            rows = slice(ends[a], ends[b])
            given = (data[rows], indices[rows], ends[a : b + 1] - ends[a])
            matrices.append(sp.csr_array(given, shape=(b - a, self.n_features_out_)))
        return matrices

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return names such as ``suffix2[0]=ed``."""
        check_is_fitted(self, "n_features_out_")
        names = ["bias"] if self.bias else []
        for (k, distance), columns in zip(self._templates(), self._columns, strict=True):
            names += [f"{self._names[k]}[{distance}]={value}" for value in columns]
        return np.array(names, dtype=object)

    def _templates(self) -> list[tuple[int, int]]:
        return [(k, int(distance)) for k in range(len(self.attributes)) for distance in self.window]


class _Tokens:
    """All words of all sentences in one line, each distinct word once."""

    def __init__(self, X: Sequence[Sequence[str]]) -> None:
        if len(X) == 0:
            raise InvalidInputError("There are no sentences: give at least one.")
        number: dict[str, int] = {}
        codes: list[int] = []
        lengths = []
        for i, words in enumerate(X):
            if isinstance(words, str) or len(words) == 0:
                raise InvalidInputError(
                    f"Sentence {i} is {words!r}: give a list of at least one word.", example=i
                )
            lengths.append(len(words))
            for word in words:
                if not isinstance(word, str):
                    raise InvalidInputError(
                        f"Sentence {i} holds {word!r}, which is no string.", example=i
                    )
                codes.append(number.setdefault(word, len(number)))
        self.words = list(number)
        self.codes = np.array(codes, dtype=np.int64)
        self.offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        self.total = len(self.codes)
        self._owner = np.repeat(np.arange(len(lengths)), lengths)

    def values(self, attribute: Callable[[str], str]) -> tuple[list[str], Ints]:
        """Return the distinct values of an attribute, and the value of every token."""
        number: dict[str, int] = {}
        of_word = [number.setdefault(attribute(word), len(number)) for word in self.words]
        return list(number), np.array(of_word, dtype=np.int64)[self.codes]

    def shifted(self, codes: Ints, distance: int, edge: int) -> Ints:
        """Return the code at ``t + distance`` of the same sentence, ``edge`` beyond its ends."""
        where = np.arange(self.total) + distance
        inside = (where >= 0) & (where < self.total)
        inside[inside] = self._owner[where[inside]] == self._owner[inside]
        found = np.full(self.total, edge, dtype=np.int64)
        found[inside] = codes[where[inside]]
        return found


def _function(attribute: str | Callable[[str], str]) -> Callable[[str], str]:
    if callable(attribute):
        return attribute
    if attribute in ATTRIBUTES:
        return ATTRIBUTES[attribute]
    found = re.fullmatch(r"(prefix|suffix)([1-9]\d*)", attribute)
    if found is None:
        known = [*ATTRIBUTES, "prefixN", "suffixN"]
        raise InvalidInputError(f"Unknown attribute {attribute!r}; choose from {known}.")
    n = int(found[2])
    return (lambda word: word[:n]) if found[1] == "prefix" else (lambda word: word[-n:])
