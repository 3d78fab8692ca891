r"""A partial matching in any graph: which nodes go together in pairs.

    score(y) = sum over edges e of y of w . x_e,
    loss(gold, y) = missed |gold - y| + extra |y - gold|                            (PartCosts).

The best matching is Edmonds' (networkx' blossom algorithm), in whole numbers and so exact.

>>> import networkx as nx, numpy as np, structopt as so
>>> x = nx.Graph()
>>> for edge, value in {(0, 1): 3.0, (1, 2): 4.0, (0, 2): 2.0, (2, 3): 3.0}.items():
...     x.add_edge(*edge, features=[value])
>>> structure = so.GraphMatching().fitted([x], [{(0, 1)}])
>>> sorted(structure.argmax(x, np.ones(1)))
[(0, 1), (2, 3)]
>>> sorted(structure.second_best(x, np.ones(1), {(0, 1), (2, 3)}))
[(1, 2)]
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from math import lcm
from typing import Any, ClassVar, Self

import networkx as nx
import numpy as np

from structopt.arrays import Floats, as_floats, check_weights
from structopt.errors import IncompatibleError, InvalidInputError
from structopt.structures.base.example_shard import ExampleShard
from structopt.structures.base.relaxation import Relaxation
from structopt.structures.base.shard import Shard
from structopt.structures.base.structure import Structure, check_lengths
from structopt.structures.losses.part_costs import PartCosts

Edge = tuple[Any, Any]
Edges = frozenset[Edge]


class GraphMatching(Structure):
    r"""Matchings of a graph's nodes among themselves; an output is a frozenset of edges.

    An input x is a networkx graph, undirected and without loops, whose edges have ``features``. An
    output is a set or a list of edges, either node first. For two sides
    :class:`~structopt.Matching` is faster, and its polytope can be projected on: that of a general
    graph has a row for every odd set of nodes (at most half of it in pairs), so the methods that
    need it refuse.

    Parameters
    ----------
    loss : PartCosts, optional
        What an edge too many and an edge too few cost, both > 0; by default 1.

    Notes
    -----
    Edmonds (1965); disulfide bonds of proteins (Taskar, Chatalbashev, Koller and Guestrin 2005) are
    such matchings, as the saddle-point paper says.
    """

    _stored: ClassVar[Mapping[str, str]] = {"loss": "cost"}

    def __init__(self, loss: PartCosts | None = None) -> None:
        self.cost = loss

    # ------------------------------------------------------------------ fitting and encoding
    def fitted(self, X: Sequence[Any], Y: Sequence[Any]) -> Self:
        """Return a copy that knows the dimension."""
        PartCosts.given(self.cost).checked(positive=True)
        check_lengths(X, Y)
        for i, x in enumerate(X):
            _check_graph(x, i)
        some = next((x for x in X if x.number_of_edges()), None)
        if some is None:
            raise InvalidInputError("No graph has an edge: there is nothing to learn.")
        return super().fitted([some], [()])

    def encode(self, X: Sequence[Any], Y: Sequence[Any], *, start: int = 0) -> Shard:
        """Encode examples; refuse gold that is no matching of its graph."""
        check_lengths(X, Y)
        whole = []
        for i, (x, y) in enumerate(zip(X, Y, strict=True), start):
            _check_graph(x, i)
            try:
                chosen = as_edges(x, y)
            except InvalidInputError as error:
                raise InvalidInputError(f"Example {i}: {error}", example=i) from error
            nodes = [node for edge in chosen for node in edge]
            if len(nodes) > len(set(nodes)):
                raise InvalidInputError(
                    f"The output of example {i} has a node in two edges: {sorted(chosen)}.",
                    example=i,
                )
            whole.append(chosen)
        return _GraphMatchingShard(self, X, whole, start)

    # ------------------------------------------------------------------ one example
    def joint_features(self, x: Any, y: Any) -> Floats:
        """Return the sum of the chosen edges' features."""
        _check_graph(x)
        rows = {edge: _features(x, edge) for edge in map(tuple, x.edges)}
        width = {len(row) for row in rows.values()}
        if len(width) > 1:
            raise InvalidInputError(f"Edges of one graph have {sorted(width)} features.")
        total = np.zeros(getattr(self, "n_features_", width.pop() if width else 0))
        for edge in as_edges(x, y):
            total = total + _features(x, edge)
        return total

    def loss(self, y: Any, other: Any) -> float:
        """Return what edges too many and too few cost."""
        costs, (gold, found) = PartCosts.given(self.cost), map(_unordered, (y, other))
        return float(costs.missed) * len(gold - found) + float(costs.extra) * len(found - gold)

    def argmax(self, x: Any, weights: Floats, *, gold: Any = None) -> Edges:
        """Return the best matching, plus the loss where gold is given."""
        return best_matching(x, self._values(x, weights, gold))

    def argmin(self, x: Any, weights: Floats) -> Edges:
        """Return the matching with the lowest score."""
        return best_matching(x, {e: -value for e, value in self._values(x, weights).items()})

    def second_best(self, x: Any, weights: Floats, gold: Any) -> Edges | None:
        """Return the best matching other than gold: one without an edge of it, or with one more."""
        values, mine = self._values(x, weights), as_edges(x, gold)
        found = [best_matching(x, {e: v for e, v in values.items() if e != out}) for out in mine]
        taken = {node for edge in mine for node in edge}
        free = {e: v for e, v in values.items() if not taken & set(e)}
        if free:
            more = best_matching(x, free) or {max(free, key=lambda e: free[e])}
            found.append(mine | more)
        return max(found, key=lambda y: sum(values[e] for e in y), default=None)

    def part_count(self, y: Any) -> int:
        """Return how many edges there are, at least one."""
        return max(1, len(_unordered(y)))

    def part_errors(self, y: Any, other: Any) -> int:
        """Return the number of edges missed or invented, whichever is larger."""
        gold, found = _unordered(y), _unordered(other)
        return min(self.part_count(y), max(len(gold - found), len(found - gold)))

    def _values(self, x: Any, weights: Floats, gold: Any = None) -> dict[Edge, Fraction]:
        """Return what every edge adds, exactly: its score, and its loss given gold."""
        _check_graph(x)
        costs = PartCosts.given(self.cost)
        right = frozenset() if gold is None else as_edges(x, gold)
        w, found = check_weights(weights, self.n_features_), {}
        for edge in map(tuple, x.edges):
            score = float(_features(x, edge) @ w)
            if not np.isfinite(score):
                raise InvalidInputError(f"The edge {edge} scores {score}: weights are too large.")
            value = Fraction(score)
            if gold is not None:
                value += Fraction(-float(costs.missed) if edge in right else float(costs.extra))
            found[edge] = value
        return found


class _GraphMatchingShard(ExampleShard):
    def relaxation(self) -> Relaxation:
        """Say why there is none."""
        raise IncompatibleError(
            "GraphMatching gives no relaxation: the matchings of a general graph are the corners "
            "of a polytope with a row for every odd set of nodes, which nothing here projects on. "
            "Use 'cutting-plane' or 'frank-wolfe', or Matching where the graph has two sides."
        )


def best_matching(x: Any, values: Mapping[Edge, Fraction]) -> Edges:
    """Return the matching with the highest sum of values, by edges of value above 0.

    Values are made whole numbers, so that the blossom algorithm does not round.
    """
    useful = {edge: value for edge, value in values.items() if value > 0}
    scale = lcm(*(value.denominator for value in useful.values())) if useful else 1
    graph = nx.Graph()
    for (u, v), value in useful.items():
        graph.add_edge(u, v, weight=int(value * scale))
    return as_edges(x, nx.max_weight_matching(graph))


def as_edges(x: Any, y: Iterable[Any]) -> Edges:
    """Return an output with its edges as the graph lists them."""
    listed = {frozenset(edge): tuple(edge) for edge in x.edges}
    chosen = []
    scalar = getattr(y, "shape", None) == () or hasattr(y, "nnz")
    if not isinstance(y, Iterable) or isinstance(y, type) or scalar:
        raise InvalidInputError(f"{y!r} is no set of edges: give pairs of nodes.")
    for edge in y:
        try:
            found = listed.get(frozenset(edge))
        except TypeError:  # what is no pair, or of what has no hash
            found = None
        if found is None:
            raise InvalidInputError(f"{edge!r} is no edge of the graph.")
        chosen.append(found)
    return frozenset(chosen)


def _unordered(y: Iterable[Any]) -> frozenset[frozenset[Any]]:
    try:
        return frozenset(frozenset(edge) for edge in y)
    except TypeError:
        raise InvalidInputError(f"{y!r} is no set of edges: give pairs of nodes.") from None


def _features(x: Any, edge: Edge) -> Floats:
    return np.atleast_1d(np.asarray(x.edges[edge]["features"], dtype=np.float64)).ravel()


def _check_graph(x: Any, i: int = 0) -> None:
    """Refuse what is no graph with features on its edges."""
    if not isinstance(x, nx.Graph) or x.is_directed() or x.is_multigraph():
        raise InvalidInputError(
            f"Example {i} is no undirected networkx graph (nx.Graph): {type(x).__name__}.",
            example=i,
        )
    if any(u == v for u, v in x.edges):
        raise InvalidInputError(f"The graph of example {i} has a loop.", example=i)
    for edge, given in x.edges.items():
        row = given.get("features")
        if row is None or not np.all(np.isfinite(as_floats(row, f"features of edge {edge}"))):
            raise InvalidInputError(
                f"Edge {edge} of example {i} needs finite numbers as its attribute 'features'.",
                example=i,
            )
