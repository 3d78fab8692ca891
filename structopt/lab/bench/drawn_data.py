"""Examples, mostly of noise, in the sizes at which memory and threads are measured.

>>> structure, X, Y = CASES["chains, sparse"](30)
>>> len(X), X[0].shape, X[0].nnz
(1, (30, 5000), 480)
>>> [len(make(800)[1]) for make in DECODED.values()]
[27, 27, 2, 21, 4, 2]
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


def _second_order(n: int) -> tuple[Structure, Any, Any]:
    from structopt.structures.second_order.structure import SecondOrderChain

    return SecondOrderChain(range(TAGS)), *_sequences(*_sparse_rows(n), LENGTH)


def _segments(n: int) -> tuple[Structure, Any, Any]:
    from structopt.structures.segments.structure import Segments

    X, Y = _sequences(*_sparse_rows(n), LENGTH)
    tags = ["O", *(f"{kind}-{k}" for k in range(4) for kind in "BI")]
    return Segments(tags, longest=6), X, [["O"] * len(y) for y in Y]


def _trees(n: int) -> tuple[Structure, Any, Any]:
    from structopt.structures.arborescence.structure import Arborescence

    rng = np.random.default_rng(0)
    X = rng.normal(size=(max(2, n // (TOKENS * TOKENS)), TOKENS + 1, TOKENS, NONZEROS))
    return Arborescence(projective=True), list(X), [list(range(TOKENS))] * len(X)


def _lattices(n: int) -> tuple[Structure, Any, Any]:
    from structopt.datasets.lattice_arrays import PathArrays
    from structopt.datasets.swap_lattices import make_swap_lattices
    from structopt.structures.lattice.structure import Lattice

    X, Y = make_swap_lattices(max(2, n // ARCS), n_features=COLUMNS, vocabulary=1000)
    paths = [np.asarray(references[0]) for references in Y]
    first = PathArrays(np.cumsum([0, *map(len, paths)]), np.concatenate(paths))
    return Lattice(), X, first


def _parses(n: int) -> tuple[Structure, Any, Any]:
    from structopt.datasets.treebank import make_treebank
    from structopt.structures.grammar.structure import Grammar

    bank = make_treebank(max(2, n // (10 * TOKENS)))
    return Grammar(bank.rules, "S"), bank.X, bank.Y


def _alignments(n: int) -> tuple[Structure, Any, Any]:
    from structopt.datasets.sequence_pairs import make_protein_pairs
    from structopt.structures.alignment_path.structure import AlignmentPath

    return AlignmentPath(), *make_protein_pairs(max(2, n // (TOKENS * TOKENS)))


TOKENS, ARCS = 20, 38
"""Tokens of a sentence, all pairs of which are arcs; arcs of a lattice."""
DECODED: dict[str, Callable[[int], tuple[Structure, Any, Any]]] = {
    "second order, 9 labels": _second_order,
    "segments of up to 6, 4 types": _segments,
    "projective trees over 20 tokens": _trees,
    "lattices of 38 arcs": _lattices,
    "parses of a small grammar": _parses,
    "alignments of 30 by 30 symbols": _alignments,
}
"""Outputs that cost more to find than to score; ``n`` is in proportion to what is decoded."""
