"""Sparse rows and sentences to learn from: those of shared tasks, and drawn ones of any size.

>>> X, y, C = drawn(100, 50_000, 5)
>>> X.shape, int(X.count_nonzero(axis=1).max()) <= NONZEROS, C
((100, 50000), True, 1.0)
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from itertools import groupby, pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from structopt.arrays import cut_rows

NONZEROS, COLUMNS = 15, 50_000
SENTENCES, HELD_OUT, WORDS = 3000, 500, 20_000


def strings(words: Sequence[str]) -> list[list[str]]:
    """Return what is said of each word of a sentence, nothing twice."""
    said = []
    for t, word in enumerate(words):
        of = ["bias", f"word={word}", f"lower={word.lower()}", f"shape={_shape(word)}"]
        of += [f"last {k} {word[-k:]}" for k in (1, 2, 3, 4)]
        of += [f"first {k} {word[:k]}" for k in (1, 2, 3)]
        for step in (-2, -1, 1, 2):
            inside = 0 <= t + step < len(words)
            of.append(f"{step} {words[t + step]}" if inside else f"{step} outside")
        said.append([*of, f"pair {words[t - 1]} {word}"] if t else of)
    return said


def _shape(word: str) -> str:
    """Return a word's letters and digits by kind, each run once: "McKay2" is "XxXxd"."""
    kinds = (
        "X" if c.isupper() else "x" if c.islower() else "d" if c.isdigit() else c for c in word
    )
    return "".join(kind for kind, _ in groupby(kinds))


def numbered(said: Sequence[Sequence[str]], names: dict[str, int], *, new: bool) -> Any:
    """Return strings as a 0/1 matrix; ``new`` ones get a column, or are left out.

    >>> names = {}
    >>> numbered([["a", "b"], ["a"]], names, new=True).indices, names
    (array([0, 1, 0], dtype=int32), {'a': 0, 'b': 1})
    """
    columns, ends = array("i"), array("i", [0])  # not lists of Python's numbers
    for of in said:
        if new:
            columns.extend(names.setdefault(name, len(names)) for name in of)
        else:
            columns.extend(names[name] for name in of if name in names)
        ends.append(len(columns))
    where = np.frombuffer(columns, np.int32) if columns else np.zeros(0, np.int32)
    values = np.ones(len(where))
    return sp.csr_array((values, where, np.frombuffer(ends, np.int32)), (len(said), len(names)))


def sentences() -> tuple[list[Any], list[Any]]:
    """Return the strings and tags of CoNLL-2002's Spanish sentences, those held out last."""
    from structopt.datasets import load_conll2002

    read = load_conll2002()[: SENTENCES + HELD_OUT]
    return [strings(s.words) for s in read], [s.column(-1) for s in read]


def coded(X: Sequence[Any]) -> list[Any]:
    """Return sentences as matrices over the strings of those to learn from, views of one matrix."""
    names: dict[str, int] = {}
    known = numbered([of for x in X[:SENTENCES] for of in x], names, new=True)
    other = numbered([of for x in X[SENTENCES:] for of in x], names, new=False)
    ends = np.cumsum([0, *map(len, X)]).tolist()
    whole = sp.vstack([known, other], format="csr")
    return [cut_rows(whole, a, b) for a, b in pairwise(ends)]


def tagged_words() -> tuple[Any, Any, float]:
    """Return 20,000 words of CoNLL-2000 as rows of length 1, their part of speech, and C."""
    from structopt.datasets import load_conll2000

    said: list[list[str]] = []
    tags: list[str] = []
    for s in load_conll2000():
        if len(said) < WORDS:
            said += strings(s.words)
            tags += s.column(1)
    X = numbered(said[:WORDS], {}, new=True)
    X.data /= np.sqrt(np.repeat(np.diff(X.indptr), np.diff(X.indptr)))
    return X, np.unique(tags[:WORDS], return_inverse=True)[1], 1.0


def digits() -> tuple[Any, Any, float]:
    """Return 1,000 digits of 8 x 8 pixels."""
    from sklearn.datasets import load_digits

    found = load_digits()
    return sp.csr_array(found.data[:1000] / 16.0), found.target[:1000], 0.1


def drawn(n: int, d: int, k: int) -> tuple[Any, Any, float]:
    """Return n >= k rows with a few columns each, as Zipf has it, labelled by hidden weights."""
    rng = np.random.default_rng(0)
    used = np.minimum(rng.zipf(1.3, (n, NONZEROS)) - 1, COLUMNS - 1).astype(np.int32)
    hidden, of = rng.standard_normal((COLUMNS, 20)), rng.standard_normal((20, k)) / 20**0.5
    score = hidden[used].sum(axis=1) @ of + 0.5 * rng.standard_normal((n, k))
    ends = np.arange(0, n * NONZEROS + 1, NONZEROS, dtype=np.int32)
    values = np.full(n * NONZEROS, NONZEROS**-0.5)
    X = sp.csr_array((values, used.ravel() * (d // COLUMNS), ends), (n, d))
    X.sum_duplicates()
    y = score.argmax(axis=1)
    y[:k] = np.arange(k)  # every label occurs
    return X, y, 1.0


def drawn_sequences(n_tokens: int, length: int, k: int) -> tuple[list[Any], list[Any], float]:
    """Return rows as above, cut into sequences of one length; labels stay what they are."""
    X, y, _ = drawn(n_tokens, COLUMNS, k)
    starts = range(0, n_tokens, length)
    return [X[a : a + length] for a in starts], [y[a : a + length] for a in starts], 0.1


def spread(d: int) -> tuple[Any, Any, float]:
    """Return the same 60,000 nonzeros in 1,000 columns that stand d / 1,000 apart."""
    rng = np.random.default_rng(0)
    where = rng.integers(0, 1000, (3000, 20)).astype(np.int32)
    y = rng.standard_normal((1000, 10))[where].sum(axis=1).argmax(axis=1)
    ends = np.arange(0, 60_001, 20, dtype=np.int32)
    values = np.full(60_000, 20**-0.5)
    return sp.csr_array((values, (where * (d // 1000)).ravel(), ends), (3000, d)), y, 1.0
