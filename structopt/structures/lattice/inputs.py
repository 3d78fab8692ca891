r"""Lattices as arrays: networkx graphs read once, checked, pruned and stacked.

Only what lies on a path from source to sink is kept. Nodes stand in topological order, so that a
lattice's first node is its source and its last one its sink; edges are sorted by the node they
enter, and among those in the order of ``graph.edges``. The edges into node v are
``in_ptr[v] .. in_ptr[v + 1] - 1``, and a path is an increasing sequence of edge numbers.

>>> import networkx as nx
>>> graph = nx.DiGraph([("s", "a"), ("s", "t"), ("a", "t"), ("a", "lost")], source="s", sink="t")
>>> nx.set_edge_attributes(graph, 1.0, "features")
>>> lattices = Lattices.of([graph], FeatureSpace(1, None))
>>> lattices.edges, lattices.in_ptr, lattices.tail
([('s', 'a'), ('s', 't'), ('a', 't')], array([0, 0, 1, 3]), array([0, 0, 1]))
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import networkx as nx
import numpy as np

from structopt.arrays import Ints
from structopt.errors import InvalidInputError
from structopt.structures.lattice.features import FeatureSpace

Edge = tuple[Any, ...]
Path = tuple[Any, ...]
"""Edges, or the numbers of arcs."""


class Paths(NamedTuple):
    """One path per example: example i takes the edges ``edges[ptr[i] : ptr[i + 1]]``."""

    ptr: Ints
    edges: Ints

    def of(self, i: int) -> Ints:
        """Return the edges of path i."""
        return self.edges[self.ptr[i] : self.ptr[i + 1]]

    @classmethod
    def stacked(cls, paths: Sequence[Any]) -> Paths:
        """Stack sequences of edge numbers."""
        ptr = np.cumsum([0, *(len(path) for path in paths)]).astype(np.int64)
        flat = [np.asarray(path, dtype=np.int64) for path in paths]
        return cls(ptr, np.concatenate(flat) if flat else np.zeros(0, dtype=np.int64))

    @classmethod
    def joined(cls, runs: Sequence[Paths]) -> Paths:
        """Return the paths of runs of examples as one.

        >>> one = Paths(np.array([0, 2]), np.array([4, 5]))
        >>> Paths.joined([one, one])
        Paths(ptr=array([0, 2, 4]), edges=array([4, 5, 4, 5]))
        """
        lengths = [np.diff(run.ptr) for run in runs]
        return cls(
            np.cumsum(np.concatenate([[0], *lengths])), np.concatenate([r.edges for r in runs])
        )


@dataclass(frozen=True)
class Lattices:
    """Stacked lattices.

    Attributes
    ----------
    node_ptr : array of int
        Lattice i has the nodes ``node_ptr[i] .. node_ptr[i + 1] - 1``.
    in_ptr : array of int
        The edges into each node.
    tail : array of int
        The node each edge leaves.
    edges : list of tuples, or array of int
        The edges as the graphs name them; their numbers within each lattice if it came as arrays.
    base : CSR array
        The features of each edge.
    start : int
        Number of the first example in messages.
    arc_ptr : array of int, optional
        Where the arcs of each lattice begin among those that were given as arrays.
    """

    node_ptr: Ints
    in_ptr: Ints
    tail: Ints
    edges: Any
    base: Any
    start: int = 0
    arc_ptr: Ints | None = None

    @classmethod
    def of(cls, X: Any, space: FeatureSpace, *, start: int = 0) -> Lattices:
        """Read graphs, with the features of their edges in ``space``."""
        node_ptr, in_counts, tails, edges, features, owner = [0], [], [], [], [], []
        for i, graph in enumerate(as_list(X), start):
            one = _read(graph, i)
            tails.append(one.tail + node_ptr[-1])
            in_counts.append(one.in_counts)
            node_ptr.append(node_ptr[-1] + len(one.in_counts))
            edges += one.edges
            features += one.features
            owner += [i] * len(one.edges)
        in_ptr = np.concatenate([[0], np.cumsum(np.concatenate(in_counts))]).astype(np.int64)
        base = space.matrix(features, lambda e: (owner[e], edges[e]))
        return cls(np.array(node_ptr), in_ptr, np.concatenate(tails), edges, base, start)

    @property
    def n_examples(self) -> int:
        """How many lattices there are."""
        return len(self.node_ptr) - 1

    @property
    def edge_ptr(self) -> Ints:
        """Lattice i has the edges ``edge_ptr[i] .. edge_ptr[i + 1] - 1``."""
        return self.in_ptr[self.node_ptr]

    @property
    def head(self) -> Ints:
        """The node each edge enters."""
        return np.repeat(np.arange(len(self.in_ptr) - 1), np.diff(self.in_ptr))

    @property
    def layout(self) -> tuple[Ints, Ints, Ints]:
        """What the decoders read: ``node_ptr``, ``in_ptr`` and ``tail``."""
        return self.node_ptr, self.in_ptr, self.tail

    def part(self, a: int, b: int) -> Lattices:
        """Return lattices a to b - 1, numbered from 0, with the features of all."""
        nodes = self.node_ptr[a : b + 1]
        in_ptr = self.in_ptr[nodes[0] : nodes[-1] + 1]
        own = slice(int(in_ptr[0]), int(in_ptr[-1]))
        return replace(
            self,
            node_ptr=nodes - nodes[0],
            in_ptr=in_ptr - in_ptr[0],
            tail=self.tail[own] - nodes[0],
            edges=self.edges[own],
            start=self.start + a,
            arc_ptr=None if self.arc_ptr is None else self.arc_ptr[a : b + 1] - self.arc_ptr[a],
        )

    def one(self, i: int) -> tuple[Ints, Ints]:
        """Return ``in_ptr`` and ``tail`` of lattice i on its own, numbered from 0."""
        first, stop = int(self.node_ptr[i]), int(self.node_ptr[i + 1])
        in_ptr = self.in_ptr[first : stop + 1]
        return in_ptr - in_ptr[0], self.tail[in_ptr[0] : in_ptr[-1]] - first

    def paths(self, Y: Sequence[Any] | None) -> Paths:
        """Return the gold paths as edge numbers, one per lattice; empty ones without Y."""
        if Y is None:
            return Paths.stacked([()] * self.n_examples)
        return Paths.stacked([self.numbers(i, [y])[0] for i, y in enumerate(Y)])

    def numbers(self, i: int, references: Any) -> list[Ints]:
        """Return paths of lattice i as edge numbers; refuse what is no path from source to sink."""
        names = self.names(i)
        place = {edge: e for e, edge in enumerate(names, int(self.edge_ptr[i]))}
        source, sink = int(self.node_ptr[i]), int(self.node_ptr[i + 1]) - 1
        found = []
        for y in references:
            path = as_path(y, self.start + i)
            at = source
            for edge in path:
                e = place.get(edge)
                if e is None:
                    raise self._no_path(i, f"{edge!r} is no edge on a way from source to sink")
                if self.tail[e] != at:
                    raise self._no_path(i, f"{edge!r} does not begin where the path has come to")
                at = int(np.searchsorted(self.in_ptr, e, side="right")) - 1
            if at != sink:
                raise self._no_path(i, f"it has {len(path)} edges and does not end in the sink")
            found.append(np.array([place[edge] for edge in path], dtype=np.int64))
        return found

    def names(self, i: int) -> list[Any]:
        """Return the edges of lattice i as users see them."""
        own = self.edges[slice(*self.edge_ptr[i : i + 2].tolist())]
        return own if self.arc_ptr is None else own.tolist()  # type: ignore[no-any-return]

    def named(self, path: Ints) -> Path:
        """Return a path as the tuple of edges that users see."""
        if self.arc_ptr is not None:
            return tuple(self.edges[path].tolist())
        return tuple(self.edges[e] for e in path.tolist())

    def _no_path(self, i: int, reason: str) -> InvalidInputError:
        return InvalidInputError(
            f"The output of example {self.start + i} is no path of its lattice: {reason}. Give the "
            "edges in order, as (u, v) of a DiGraph, (u, v, key) of a MultiDiGraph, or the numbers "
            "of arcs within their lattice.",
            example=self.start + i,
        )


class _Read(NamedTuple):
    tail: Ints
    in_counts: Ints
    edges: list[Edge]
    features: list[Any]


def _read(graph: Any, example: int) -> _Read:
    """Return one graph's arrays, pruned to what lies between source and sink."""
    source, sink = _ends(graph, example)
    order = _topological(graph, example)
    between = ({source} | nx.descendants(graph, source)) & ({sink} | nx.ancestors(graph, sink))
    if sink not in between:
        raise InvalidInputError(
            f"In the lattice of example {example} no path leads from {source!r} to {sink!r}.",
            example=example,
        )
    place = {node: k for k, node in enumerate(node for node in order if node in between)}
    listed: list[tuple[Edge, Any]]
    if graph.is_multigraph():
        listed = [((u, v, key), data) for u, v, key, data in graph.edges(keys=True, data=True)]
    else:
        listed = [((u, v), data) for u, v, data in graph.edges(data=True)]
    kept = [(edge, data) for edge, data in listed if edge[0] in place and edge[1] in place]
    kept.sort(key=lambda pair: place[pair[0][1]])  # stable: the order of graph.edges within a node
    heads = [place[edge[1]] for edge, _ in kept]
    return _Read(
        np.array([place[edge[0]] for edge, _ in kept], dtype=np.int64),
        np.bincount(heads, minlength=len(place)).astype(np.int64),
        [edge for edge, _ in kept],
        [data.get("features") for _, data in kept],
    )


def _ends(graph: Any, example: int) -> tuple[Any, Any]:
    """Return source and sink: the graph's attributes, or its only nodes without (out) edges."""
    if not isinstance(graph, nx.DiGraph):
        raise InvalidInputError(
            f"The input of example {example} is a {type(graph).__name__}: give a networkx DiGraph "
            "or MultiDiGraph without cycles, or all lattices as LatticeArrays.",
            example=example,
        )
    ends = []
    for name, degree in (("source", graph.in_degree), ("sink", graph.out_degree)):
        if name in graph.graph:
            end = graph.graph[name]
            if end not in graph:
                raise InvalidInputError(
                    f"The {name} of example {example}, {end!r}, is no node of its lattice.",
                    example=example,
                )
        else:
            found = [node for node, d in degree() if d == 0]
            if len(found) != 1:
                raise InvalidInputError(
                    f"The lattice of example {example} has {len(found)} nodes that could be its "
                    f"{name}: name one, as graph.graph[{name!r}] = node.",
                    example=example,
                )
            end = found[0]
        ends.append(end)
    if ends[0] == ends[1]:
        raise InvalidInputError(
            f"Source and sink of example {example} are the same node, {ends[0]!r}: a path needs at "
            "least one edge.",
            example=example,
        )
    return ends[0], ends[1]


def _topological(graph: Any, example: int) -> list[Any]:
    try:
        return list(nx.topological_sort(graph))
    except nx.NetworkXUnfeasible:
        cycle = " -> ".join(repr(edge[0]) for edge in nx.find_cycle(graph))
        raise InvalidInputError(
            f"The lattice of example {example} has a cycle, {cycle} -> ...: a lattice has none.",
            example=example,
        ) from None


def as_list(X: Any) -> list[Any]:
    """Return the graphs as a list; refuse a lone graph, which would be read as its nodes."""
    if isinstance(X, nx.Graph):
        raise InvalidInputError("X is one graph: give a list with one lattice per example.")
    return list(X)


def as_path(y: Any, example: int | None = None) -> Path:
    """Return an output as a tuple of edges, each a tuple, or the number of an arc."""
    try:
        if isinstance(y, str):
            raise TypeError
        path = tuple(_as_edge(edge) for edge in y)
        hash(path)
    except TypeError:
        where = "" if example is None else f" of example {example}"
        raise InvalidInputError(
            f"The output{where} is {y!r}: give a path as its edges (u, v) or (u, v, key), or as "
            "numbers of arcs.",
            example=example,
        ) from None
    return path


def _as_edge(edge: Any) -> Any:
    return int(edge) if isinstance(edge, int | np.integer) else tuple(edge)
