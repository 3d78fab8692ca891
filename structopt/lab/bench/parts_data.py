"""Sparse problems of several structures to learn from: drawn ones of any width, parses, names.

>>> structure, X, Y = drawn("trees", 1000, 5)
>>> type(structure).__name__, X[0][0].shape, len(Y[0])
('Hierarchy', (15, 1000), 15)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from structopt.datasets.lattice_arrays import LatticeArrays, PathArrays
from structopt.structures.base.structure import Structure

Problem = tuple[Structure, Any, Any]
OCCURRING, NONZEROS, LABELS = 1000, 8, 6


class _Drawn:
    """Rows with a few columns each, as Zipf has it, and a hidden score of each row and label."""

    def __init__(self, width: int, n_labels: int) -> None:
        self.width, self.rng = width, np.random.default_rng(0)
        self.hidden = self.rng.standard_normal((OCCURRING, n_labels))
        self.pair = self.rng.standard_normal((n_labels, n_labels))

    def rows(self, n: int) -> tuple[Any, Any]:
        """Return n rows and their scores."""
        where = np.minimum(self.rng.zipf(1.3, (n, NONZEROS)) - 1, OCCURRING - 1)
        ends = np.arange(0, n * NONZEROS + 1, NONZEROS)
        values = np.full(n * NONZEROS, NONZEROS**-0.5)
        columns = where.ravel() * (self.width // OCCURRING)
        X = sp.csr_array((values, columns, ends), shape=(n, self.width))
        X.sum_duplicates()
        noise = 0.5 * self.rng.standard_normal((n, self.hidden.shape[1]))
        return X, self.hidden[where].sum(axis=1) + noise


def _trees(width: int, n: int) -> Problem:
    from structopt.structures.hierarchy.structure import Hierarchy

    drawn, X, Y = _Drawn(width, LABELS), list[Any](), list[Any]()
    for _ in range(n):
        rows, score = drawn.rows(15)
        parents = [-1, *(int(drawn.rng.integers(v)) for v in range(1, 15))]
        y = [int(score[0].argmax())]
        for v in range(1, 15):
            y.append(int((score[v] + drawn.pair[y[parents[v]]]).argmax()))
        X.append((rows, parents))
        Y.append(y)
    return Hierarchy(range(LABELS)), X, Y


def _sequences(width: int, n: int) -> Problem:
    from structopt.structures.second_order.structure import SecondOrderChain

    drawn, X, Y = _Drawn(width, LABELS), list[Any](), list[Any]()
    for _ in range(n):
        rows, score = drawn.rows(10)
        y = [int(score[0].argmax())]
        for t in range(1, 10):
            y.append(int((score[t] + drawn.pair[y[-1]]).argmax()))
        X.append(rows)
        Y.append(y)
    return SecondOrderChain(range(LABELS)), X, Y


def _matchings(width: int, n: int) -> Problem:
    from scipy.optimize import linear_sum_assignment

    from structopt.structures.matching.inputs import CandidateEdges
    from structopt.structures.matching.structure import Matching

    drawn, X, Y = _Drawn(width, 1), list[Any](), list[Any]()
    edges = [(i, j) for i in range(7) for j in range(7)]
    for _ in range(n):
        rows, score = drawn.rows(49)
        table = score.reshape(7, 7)
        pairs = zip(*linear_sum_assignment(-table), strict=True)
        X.append(CandidateEdges(edges, rows, (7, 7)))
        Y.append({(int(i), int(j)) for i, j in pairs if table[i, j] > 0})
    return Matching(), X, Y


def _lattices(width: int, n: int) -> Problem:
    """Twelve layers of four states; the best path by the hidden scores is gold."""
    from structopt.structures.lattice.structure import Lattice

    drawn, steps = _Drawn(width, 1), []
    nodes = np.concatenate([[0], np.repeat(np.arange(1, 13), 4), [13]])  # their layers
    for a in range(len(nodes)):
        steps += [(a, b) for b in np.flatnonzero(nodes == nodes[a] + 1).tolist()]
    tail, head = np.array(steps).T
    rows, score = drawn.rows(n * len(tail))
    each = score.reshape(n, len(tail))
    paths = []
    for own in each:
        best, came = np.full(len(nodes), -np.inf), np.zeros(len(nodes), dtype=int)
        best[0] = 0.0
        for e, (a, b) in enumerate(steps):
            if best[a] + own[e] > best[b]:
                best[b], came[b] = best[a] + own[e], e
        path, at = [], len(nodes) - 1
        while at:
            path.append(int(came[at]))
            at = int(tail[came[at]])
        paths.append(path[::-1])
    ends = np.arange(n + 1)
    X = LatticeArrays(ends * len(nodes), ends * len(tail), np.tile(tail, n), np.tile(head, n), rows)
    return Lattice(), X, PathArrays(13 * ends, np.concatenate(paths))


def _rankings(width: int, n: int) -> Problem:
    from structopt.structures.ranking.structure import Ranking

    drawn, X, Y = _Drawn(width, 1), list[Any](), list[Any]()
    for _ in range(n):
        rows, score = drawn.rows(30)
        X.append(rows)
        Y.append((score[:, 0] > np.median(score)).astype(int).tolist())
    return Ranking(), X, Y


DRAWN: dict[str, tuple[Callable[[int, int], Problem], int, float]] = {
    "trees": (_trees, 300, 0.3),
    "second order": (_sequences, 300, 0.3),
    "lattices": (_lattices, 200, 0.3),
    "matchings": (_matchings, 200, 0.3),
    "rankings": (_rankings, 60, 3.0),
}
"""What is drawn, how many examples, and C."""


def drawn(name: str, width: int, n: int) -> Problem:
    """Return a structure with n examples over so many columns, of which 1,000 occur."""
    return DRAWN[name][0](width, n)


def parses() -> Problem:
    """Return the candidate arcs of UD English ParTUT's training sentences, and their trees."""
    from structopt.datasets import load_partut
    from structopt.features.arcs import ArcFeatures
    from structopt.structures.arborescence.structure import Arborescence

    read = load_partut("train")
    template, heads = ArcFeatures().fit(read), [s.heads for s in read]
    single = all(y.count(0) == 1 for y in heads)
    return Arborescence(single_root=single), template.transform(read), heads


def named() -> Problem:
    """Return 1,500 of CoNLL-2002's Spanish sentences, and their names as segments."""
    from structopt.datasets import load_conll2002
    from structopt.features.columns import ColumnFeatures
    from structopt.structures.segments.structure import Segments

    read = load_conll2002("train")[:1500]
    rows = [[row[:2] for row in one.rows] for one in read]
    features = ColumnFeatures(
        ["word[-2..2].lower", "word[0].shape", "word[0].prefix3", "word[0].suffix3",
         "word[0].suffix2", "pos[-2..2]", "pos[-1]|pos[0]"], columns=["word", "pos"],
    )  # fmt: skip
    return Segments(), features.fit(rows).transform(rows), [one.column(-1) for one in read]
