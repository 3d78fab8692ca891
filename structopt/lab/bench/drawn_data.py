"""Examples of noise in the sizes at which memory and threads are measured.

>>> structure, X, Y = CASES["chains, sparse"](30)
>>> len(X), X[0].shape, X[0].nnz
(1, (30, 5000), 480)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from structopt.arrays import cut_rows
from structopt.structures.base.structure import Structure
from structopt.structures.chain.structure import Chain
from structopt.structures.multiclass.structure import Multiclass

LENGTH, NONZEROS, COLUMNS, TAGS = 30, 16, 5000, 9
"""Sparse: tokens of a sentence, nonzeros of each, columns they are drawn from, labels."""
LETTERS, PIXELS, ALPHABET = 8, 128, 26
"""Dense: as handwritten words have them."""


def _sparse_rows(n: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    size = n * NONZEROS
    where = rng.integers(0, COLUMNS, size, dtype=np.int32)
    ends = np.arange(0, size + 1, NONZEROS, dtype=np.int32)
    X = sp.csr_array((rng.normal(size=size), where, ends), shape=(n, COLUMNS))
    X.sum_duplicates()
    return X, rng.integers(0, TAGS, n)


def _dense_rows(n: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, PIXELS)), rng.integers(0, ALPHABET, n)


def _sequences(rows: Any, y: Any, length: int) -> tuple[list[Any], list[Any]]:
    starts = range(0, len(y), length)
    return [cut_rows(rows, a, a + length) for a in starts], [y[a : a + length] for a in starts]


CASES: dict[str, Callable[[int], tuple[Structure, Any, Any]]] = {
    "chains, sparse": lambda n: (Chain(range(TAGS)), *_sequences(*_sparse_rows(n), LENGTH)),
    "chains, dense": lambda n: (Chain(range(ALPHABET)), *_sequences(*_dense_rows(n), LETTERS)),
    "classes, sparse": lambda n: (Multiclass(range(TAGS)), *_sparse_rows(n)),
    "classes, dense": lambda n: (Multiclass(range(ALPHABET)), *_dense_rows(n)),
}
"""A structure and examples with so many rows in all."""
