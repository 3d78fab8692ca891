r"""Sentences for a grammar: words or rows of features, and perhaps a row for every span.

>>> import numpy as np
>>> words = vocabulary_of((("D", "the"), ("N", "dog")), ("D", "N"))
>>> sentences = read_sentences([["the", "dog"]], 2, None, words)
>>> sentences.base.toarray()        # a word has one column; the last row counts rules
array([[0., 1.],
       [1., 0.],
       [1., 0.]])
>>> span_count(3)
6
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from structopt.arrays import Ints, base_matrix, stack_sequences
from structopt.errors import InvalidInputError


@dataclass(frozen=True)
class Sentences:
    """Stacked sentences: rows of tokens, then rows of spans, then a single 1 in ``base``.

    Attributes
    ----------
    base : CSR array
    offsets, span_ends : arrays of int
        Sentence i has the tokens ``offsets[i] ..``, and the rows of spans ``span_ends[i] ..``.
    words : array of int or None
        The word of each token, where sentences are words.
    n_inputs, n_spans : int
        Columns of tokens and of spans.
    """

    base: Any
    offsets: Ints
    span_ends: Ints
    words: Ints | None
    n_inputs: int
    n_spans: int


@dataclass(frozen=True)
class Vocabulary:
    """The words of a grammar, sorted, and which tags each may have."""

    words: tuple[str, ...]
    allowed: NDArray[np.bool_]
    place: dict[str, int]


@lru_cache(maxsize=16)
def vocabulary_of(lexicon: tuple[tuple[str, str], ...], tags: tuple[str, ...]) -> Vocabulary:
    """Return the words of a lexicon of (tag, word) pairs; a lexicon is read once."""
    words = tuple(sorted({word for _, word in lexicon}))
    place = {word: k for k, word in enumerate(words)}
    allowed = np.zeros((len(words), len(tags)), dtype=bool)
    column = {tag: k for k, tag in enumerate(tags)}
    for tag, word in lexicon:
        allowed[place[word], column[tag]] = True
    return Vocabulary(words, allowed, place)


def span_count(length: Any) -> Any:
    """Return how many spans a sentence has."""
    return length * (length + 1) // 2


def split_input(x: Any) -> tuple[Any, Any]:
    """Return the tokens and the features of spans (or None) of one input."""
    if isinstance(x, tuple) and len(x) == 2 and not isinstance(x[1], str):
        return x
    return x, None


def are_words(tokens: Any) -> bool:
    """Return whether tokens are words, and not rows of numbers."""
    if isinstance(tokens, np.ndarray):
        tokens = tokens.tolist() if tokens.ndim == 1 else []
    some = isinstance(tokens, list | tuple) and len(tokens) > 0
    return some and all(isinstance(token, str) for token in tokens)


def read_sentences(
    X: Any, n_inputs: int | None, n_spans: int | None, vocabulary: Vocabulary | None, start: int = 0
) -> Sentences:
    """Return checked sentences.

    Parameters
    ----------
    X : sequence
        Sentences: words or a (T, d) matrix, or a pair of that and the features of spans.
    n_inputs, n_spans : int, optional
        Columns of tokens and of spans; by default those of the first sentence. 0 spans: none.
    vocabulary : Vocabulary, optional
        The words that are known, if sentences are words.
    start : int
        Number of the first example in messages.
    """
    if isinstance(X, str) or sp.issparse(X) or not hasattr(X, "__len__"):
        raise InvalidInputError(
            f"X is a {type(X).__name__}: give a list with the words, or a (T, d) matrix, per "
            "sentence."
        )
    parted = [split_input(x) for x in X]
    if vocabulary is None:
        wordy = next((i for i, (tokens, _) in enumerate(parted, start) if are_words(tokens)), None)
        if wordy is not None:
            raise InvalidInputError(
                f"Example {wordy} is words, and the grammar was fitted to features: give a (T, d) "
                "matrix (features=so.WordFeatures(...) of a model makes one).",
                example=wordy,
            )
        stacked = stack_sequences([tokens for tokens, _ in parted], n_inputs, start=start)
        matrix, offsets, words = sp.csr_array(stacked.matrix), stacked.offsets, None
    else:
        words, offsets = _places(parted, vocabulary, start)
        ends, width = np.arange(len(words) + 1), len(vocabulary.words)
        matrix = sp.csr_array((np.ones(len(words)), words, ends), shape=(len(words), width))
    lengths = np.diff(offsets)
    blocks = [
        _spans(spans, int(length), n_spans, i)
        for i, ((_, spans), length) in enumerate(zip(parted, lengths, strict=True), start)
    ]
    n_inputs, n_spans = matrix.shape[1], blocks[0].shape[1] if blocks[0].shape[0] else 0
    width = max(n_inputs, n_spans)
    rows = [matrix, *blocks, sp.csr_array(([1.0], [0], [0, 1]), shape=(1, width))]
    for block in rows:
        block.resize(block.shape[0], width)
    ends = np.concatenate([[0], np.cumsum([block.shape[0] for block in blocks])])
    base = base_matrix(sp.vstack(rows, format="csr"))
    return Sentences(base, offsets, ends, words, n_inputs, n_spans)


def _places(parted: Any, vocabulary: Vocabulary, start: int) -> tuple[Ints, Ints]:
    found, lengths = [], []
    for i, (tokens, _) in enumerate(parted, start):
        if not are_words(tokens):
            raise InvalidInputError(
                f"Example {i} is no list of words (or an empty one), and the grammar was fitted to "
                "words.",
                example=i,
            )
        unknown = next((w for w in tokens if w not in vocabulary.place), None)
        if unknown is not None:
            raise InvalidInputError(
                f"The word {unknown!r} of example {i} is unknown to the grammar: add a rule for "
                "it, or give features of tokens in the place of words.",
                example=i,
            )
        found += [vocabulary.place[w] for w in tokens]
        lengths.append(len(tokens))
    return np.array(found), np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def _spans(spans: Any, length: int, n_spans: int | None, example: int) -> Any:
    """Return the features of a sentence's spans, a row each; no rows if there are none."""
    if spans is None:
        if n_spans:
            raise InvalidInputError(
                f"Example {example} has no features of spans, and others do.", example=example
            )
        return sp.csr_array((0, 1))
    if not sp.issparse(spans):
        spans = np.asarray(spans)
        if spans.ndim == 3 and spans.shape[:2] == (length + 1, length + 1):
            spans = spans[np.triu_indices(length + 1, 1)]  # [i, j] with i < j
    if spans.ndim != 2 or spans.shape[0] != span_count(length):
        raise InvalidInputError(
            f"The features of spans of example {example} have shape {spans.shape}; expected "
            f"({length + 1}, {length + 1}, e), or {span_count(length)} rows: the spans (0, 1), "
            f"(0, 2), ... of its {length} tokens.",
            example=example,
        )
    return sp.csr_array(stack_sequences([spans], n_spans, start=example).matrix)
