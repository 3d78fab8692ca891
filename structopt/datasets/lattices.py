r"""Random lattices with pseudo-references: paths that are good by a noisy measure of quality.

A lattice has L columns of nodes between its source and its sink; every edge leads to the next
column or skips one. Its edges have features x_e ~ N(0, I), and the quality of a path y is

    q(y) = sum_{e in y} ( w* . x_e + noise * epsilon_e ),    epsilon_e ~ N(0, 1),

with one w*, uniform on the unit sphere, for all lattices. The references of a lattice are its n
best paths by q: right up to the noise, as pseudo-references chosen by a score such as BLEU are.

>>> data = make_lattices(3, n_references=2, seed=0)
>>> len(data.X), [len(paths) for paths in data.Y], data.weights.shape
(3, [2, 2, 2], (10,))
>>> data.X[0].graph["source"], data.Y[0][0][0][0], data.Y[0][0][-1][-1]
(0, 0, 13)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from structopt.arrays import Floats
from structopt.errors import InvalidInputError
from structopt.parameters import Count, Natural, NonNegative, Seed, checked

if TYPE_CHECKING:
    import networkx as nx

Path = tuple[tuple[int, int], ...]

SKIP = 0.3
"""Chance of an edge that skips a column, so that paths differ in length."""


@dataclass(frozen=True)
class LatticeData:
    """Lattices, the references of each, best first, and the true weights w*."""

    X: list[nx.DiGraph]
    Y: list[list[Path]]
    weights: Floats


@checked
def make_lattices(
    n_examples: Natural = 100,
    *,
    n_columns: Count = 4,
    width: Count = 3,
    n_features: Count = 10,
    n_references: Count = 3,
    noise: NonNegative = 0.3,
    seed: Seed = 0,
) -> LatticeData:
    """Draw lattices with references, for ``References(Lattice())``.

    Parameters
    ----------
    n_examples : int
        Number of lattices. The first n are the same for any larger number.
    n_columns, width : int
        Columns between source and sink, and nodes in each.
    n_features : int
        Features of an edge.
    n_references : int
        Good paths of a lattice, fewer than it has.
    noise : float
        Deviation of the quality of an edge from its true score, which has deviation 1.
    seed : int

    Notes
    -----
    A model of the machine translation of Wang and Shawe-Taylor (2009): the true best path is
    unknown, and several paths pass for references by an imperfect measure.

    Examples
    --------
    >>> from structopt.structures.references.structure import References
    >>> from structopt.structures.lattice.structure import Lattice
    >>> data = make_lattices(20, noise=0.0, n_references=1, seed=1)
    >>> structure = References(Lattice()).fitted(data.X, data.Y)
    >>> structure.predict(data.X, data.weights) == [paths[0] for paths in data.Y]
    True
    """
    if n_references >= width**n_columns:
        raise InvalidInputError(
            f"make_lattices needs 1 <= n_references < {width**n_columns} (the paths that skip "
            f"nothing), not {n_references}."
        )
    weights = np.random.default_rng(seed).standard_normal(n_features)
    weights /= np.linalg.norm(weights)
    X, Y = [], []
    for i in range(n_examples):
        rng = np.random.default_rng([seed, i])
        graph = _draw(n_columns, width, n_features, rng)
        quality = {
            (u, v): float(weights @ features + noise * rng.standard_normal())
            for u, v, features in graph.edges(data="features")
        }
        X.append(graph)
        Y.append(_best(graph, quality, n_references))
    return LatticeData(X, Y, weights)


def _draw(n_columns: int, width: int, n_features: int, rng: np.random.Generator) -> nx.DiGraph:
    import networkx as nx

    sink = n_columns * width + 1
    inner = [list(range(1 + c * width, 1 + (c + 1) * width)) for c in range(n_columns)]
    columns = [[0], *inner, [sink]]
    graph = nx.DiGraph(source=0, sink=sink)
    for c, column in enumerate(columns[:-1]):
        for u in column:
            for v in columns[c + 1]:
                graph.add_edge(u, v, features=rng.standard_normal(n_features))
            for v in columns[c + 2] if c + 2 < len(columns) else []:
                if rng.random() < SKIP:
                    graph.add_edge(u, v, features=rng.standard_normal(n_features))
    return graph


def _best(graph: nx.DiGraph, quality: dict[tuple[int, int], float], n: int) -> list[Path]:
    """Return the n best paths to the sink; nodes are numbered along every path."""
    best: dict[int, list[tuple[float, Path]]] = {0: [(0.0, ())]}
    for v in sorted(graph)[1:]:
        reached = [
            (score + quality[u, v], (*path, (u, v)))
            for u in graph.predecessors(v)
            for score, path in best[u]
        ]
        best[v] = sorted(reached, key=lambda found: -found[0])[:n]
    return [path for _, path in best[graph.graph["sink"]]]
