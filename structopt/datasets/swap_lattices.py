r"""Phrase lattices in which neighbours may change places, with several references each, as arrays.

A sentence is a sequence of m phrases, drawn in Zipf's proportions. Its lattice holds every order in
which disjoint pairs of neighbours change places; a node knows the phrase that was written last, so
an arc (u, v) that writes v after u has for features

    14 blanket features:  how well a swap suits the kinds of its two phrases, and 13 of noise,
    v with the way it came to its place (straight, drawn forward, put back): one of 3 x vocabulary,
    two trigrams across the border of u and v, hashed: all other columns.

A phrase is plain (3/4 of them), late or free. The references put a late phrase behind a plain one
that follows it (but for a share ``noise`` of neighbours, where they do the contrary); a free one
may stand before or behind it: both are references, 2^k of them where k phrases are free, at most 2.

>>> X, Y = make_swap_lattices(5, n_features=1000, vocabulary=50, seed=1)
>>> len(X), X.arc_features.shape[1], [len(paths) for paths in Y]
(5, 1000, [2, 1, 1, 2, 2])
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from structopt.arrays import Ints, check_range
from structopt.datasets.lattice_arrays import LatticeArrays, PathArrays
from structopt.errors import InvalidInputError
from structopt.parameters import Count, Natural, Seed, Share, checked

BLANKET = 14
"""Dense features of an arc, as in the paper."""
PLAIN, FREE = 0, 2
MOST = 2
"""Free phrases of a sentence at most; further ones are put behind."""
BLOCK = 1000
"""Sentences that are drawn together, from a seed of their own."""


@checked
def make_swap_lattices(
    n_examples: Natural = 100,
    *,
    n_phrases: Any = (5, 12),
    n_features: Count = 8_000_000,
    vocabulary: Count = 20_000,
    noise: Share = 0.01,
    seed: Seed = 0,
) -> tuple[LatticeArrays, PathArrays]:
    """Draw lattices with references, for ``References(Lattice())``.

    Parameters
    ----------
    n_examples : int
        Number of sentences. The first n are the same for any larger number.
    n_phrases : (int, int)
        Phrases of the shortest and of the longest sentence, at least 2.
    n_features, vocabulary : int
        Columns in all, and different phrases.
    noise : float
        Share of the neighbours that the references order against their kinds.
    seed : int

    Notes
    -----
    The shape of the second experiment of Wang and Shawe-Taylor (2009): 182,000 sentences, phrases
    that change places with neighbours only, 14 blanket features, trigrams and phrases with their
    orientation, about 8 million features in all. :func:`swap_lattice_chunks` draws the same piece
    by piece.

    Examples
    --------
    >>> import structopt as so
    >>> X, Y = make_swap_lattices(20, n_features=2000, vocabulary=30, seed=1)
    >>> structure = so.References(so.Lattice())
    >>> lp8 = so.LPStruct(C=1.0, references="worst", nonnegative=False)
    >>> model = so.StructuredClassifier(structure, lp8, tol=0.1).fit(X, Y)
    >>> model.result_.certificate.certified
    True
    """
    chunks = swap_lattice_chunks(
        n_examples,
        n_phrases=n_phrases,
        n_features=n_features,
        vocabulary=vocabulary,
        noise=noise,
        seed=seed,
    )
    X, Y = zip(*chunks, strict=True)
    return LatticeArrays.concatenated(X), PathArrays.concatenated(Y)


def swap_lattice_chunks(
    n_examples: int,
    *,
    n_phrases: Any = (5, 12),
    n_features: int = 8_000_000,
    vocabulary: int = 20_000,
    noise: float = 0.01,
    seed: int = 0,
) -> Iterator[tuple[LatticeArrays, PathArrays]]:
    """Yield what :func:`make_swap_lattices` returns, a thousand sentences at a time.

    >>> sizes = [len(X) for X, _ in swap_lattice_chunks(1500, n_features=1000, vocabulary=50)]
    >>> sizes
    [1000, 500]
    """
    shortest, longest = check_range(n_phrases, "n_phrases")
    hashed = (n_features - BLANKET - 3 * (vocabulary + 1)) // 2
    if shortest < 2 or hashed < 1:
        raise InvalidInputError(
            f"Sentences of {shortest} phrases at least and {n_features} features: give 2 phrases, "
            f"and more than {BLANKET + 3 * (vocabulary + 1)} features for {vocabulary} phrases."
        )
    rng = np.random.default_rng(seed)
    kind = np.append(rng.choice(3, size=vocabulary, p=[0.75, 0.15, 0.1]), PLAIN)
    share = np.cumsum(1.0 / np.arange(10, vocabulary + 10))
    for start in range(0, max(n_examples, 1), BLOCK):
        own = np.random.default_rng([seed, start])
        sizes = np.sort(own.integers(shortest, longest + 1, size=BLOCK))
        drawn = []
        for m, count in zip(*np.unique(sizes, return_counts=True), strict=True):
            at = own.random((count, m)) * share[-1]
            phrases = np.minimum(np.searchsorted(share, at, side="right"), vocabulary - 1)
            flips = own.random((count, m - 1)) < noise
            before, after = kind[phrases[:, :-1]], kind[phrases[:, 1:]]
            swaps = _apart(((before != PLAIN) & (after == PLAIN)) ^ flips)
            features = _features(int(m), phrases, kind, n_features, hashed, own)
            paths = _paths(int(m), swaps, swaps & (before == FREE))
            drawn.append((_lattices(int(m), features), paths))
        X, Y = zip(*drawn, strict=True)
        some = own.permutation(BLOCK)[: n_examples - start]
        yield LatticeArrays.concatenated(X)[some], PathArrays.concatenated(Y)[some]


class _Arcs(NamedTuple):
    """The arcs of all lattices of m phrases, sorted by head; -1 and m stand for start and end."""

    n_nodes: int
    tail: Ints
    head: Ints
    before: Ints
    phrase: Ints
    way: Ints
    number: dict[tuple[str, int, str], int]
    """Of the arc from a node, "A" straight, "B" after a swap, "M" within one, at a place."""


@cache
def _arcs(m: int) -> _Arcs:
    nodes = sorted(
        [("A", i) for i in range(m + 1)]
        + [("B", i) for i in range(2, m + 1)]
        + [("M", i) for i in range(m - 1)],
        key=lambda node: (node[1], node[0]),
    )
    place = {node: k for k, node in enumerate([*nodes, ("T", m)])}
    listed = []
    for kind, i in nodes:
        last = {"A": i - 1, "B": i - 2, "M": i + 1}[kind]
        if kind == "M":
            listed.append((("M", i), ("B", i + 2), last, i, 2))
        elif i == m:
            listed.append(((kind, i), ("T", m), last, m, 0))
        else:
            listed.append(((kind, i), ("A", i + 1), last, i, 0))
            if i < m - 1:
                listed.append(((kind, i), ("M", i), last, i + 1, 1))
    listed.sort(key=lambda arc: (place[arc[1]], place[arc[0]]))
    number = {(u[0], u[1], v[0]): e for e, (u, v, *_) in enumerate(listed)}
    ends = np.array([(place[u], place[v]) for u, v, *_ in listed], dtype=np.int32).T
    before, phrase, way = np.array([arc[2:] for arc in listed]).T
    return _Arcs(len(place), ends[0], ends[1], before, phrase, way, number)


def _apart(falls: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return which neighbours change places, from left to right, none twice."""
    swaps = falls.copy()
    for j in range(1, falls.shape[1]):
        swaps[:, j] &= ~swaps[:, j - 1]
    return swaps


def _features(
    m: int, phrases: Ints, kind: Ints, n_features: int, hashed: int, rng: np.random.Generator
) -> Any:
    arcs, vocabulary = _arcs(m), len(kind) - 1
    count, width = len(phrases), BLANKET + 3
    bounded = np.column_stack([phrases, np.full((count, 2), vocabulary)])  # start and end as well
    u, v = bounded[:, arcs.before], bounded[:, arcs.phrase]
    values = np.ones((count, len(arcs.tail), width))
    values[..., :BLANKET] = 0.1 * rng.standard_normal((count, len(arcs.tail), BLANKET))
    left = np.minimum(arcs.phrase - (arcs.way == 1), m)  # of the two that change places
    first, second = kind[bounded[:, left]], kind[bounded[:, np.minimum(left + 1, m)]]
    suits = np.where((first != PLAIN) & (second == PLAIN), np.where(first == FREE, 0.0, 0.5), -0.5)
    values[..., 0] += (arcs.way > 0) * suits
    columns = np.empty(values.shape, dtype=np.int32)
    columns[..., :BLANKET] = np.arange(BLANKET)
    columns[..., BLANKET] = BLANKET + 3 * v + arcs.way
    begin = BLANKET + 3 * (vocabulary + 1)
    pair = (u * (vocabulary + 1) + v).astype(np.uint64)
    for k in range(2):  # ranges of their own: columns of a row increase
        mixed = _hash(pair + np.uint64(k << 60)) % hashed
        columns[..., BLANKET + 1 + k] = begin + k * hashed + mixed
    rows = count * len(arcs.tail)
    ends = np.arange(0, width * rows + 1, width, dtype=np.int32)
    return sp.csr_array((values.ravel(), columns.ravel(), ends), shape=(rows, n_features))


def _hash(keys: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return 62 mixed bits of each key: the finaliser of splitmix64 (Steele et al., 2014)."""
    z = keys + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return ((z ^ (z >> np.uint64(31))) >> np.uint64(2)).astype(np.int64)


def _lattices(m: int, features: Any) -> LatticeArrays:
    arcs = _arcs(m)
    size = len(arcs.tail)
    count = features.shape[0] // size
    node_ptr, arc_ptr = (np.arange(count + 1) * each for each in (arcs.n_nodes, size))
    tail, head = np.tile(arcs.tail, count), np.tile(arcs.head, count)
    return LatticeArrays(node_ptr, arc_ptr, tail, head, features)


def _paths(m: int, swaps: NDArray[np.bool_], free: NDArray[np.bool_]) -> PathArrays:
    """Return the paths with these swaps, and those without some of the first that are free."""
    which = np.cumsum(free, axis=1)
    free = free & (which <= MOST)
    counts = 2 ** free.sum(axis=1)
    ends = np.concatenate([[0], np.cumsum(counts)])
    owner = np.repeat(np.arange(len(swaps)), counts)
    subset = (np.arange(ends[-1]) - ends[owner])[:, None]  # bit k undoes free swap k
    undone = free[owner] & ((subset >> np.maximum(which[owner] - 1, 0)) & 1 == 1)
    chosen = swaps[owner] & ~undone
    number, size = _arcs(m).number, len(chosen)
    path = np.empty((size, m + 1), dtype=np.int32)
    after, within = np.zeros(size, dtype=bool), np.zeros(size, dtype=bool)
    for j in range(m):
        here = chosen[:, j] if j < m - 1 else np.zeros(size, dtype=bool)
        for kind, late in (("A", False), ("B", True)):
            for target, moves in (("A", False), ("M", True)):
                which = ~within & (after == late) & (here == moves)
                path[which, j] = number.get((kind, j, target), -1)
        path[within, j] = number.get(("M", j - 1, "B"), -1)
        after, within = within, here
    path[:, m] = np.where(after, number["B", m, "T"], number["A", m, "T"])
    return PathArrays(np.arange(size + 1) * (m + 1), path.ravel(), ends)
