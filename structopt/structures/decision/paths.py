r"""Shortest paths through any graph of networkx, with or without cycles.

Without cycles: :class:`~structopt.structures.decision.dag.DagPaths`, compiled. With cycles, simple
paths are a 0-1 programme over arcs a,

    out(v) - in(v) = [v = source] - [v = target],   out(v) <= 1,   sum_{a inside S} y_a <= |S| - 1,

whose cycles are cut off when they appear: learning asks for costs that may be negative around a
cycle, even if those that were seen are not (those are refused).

>>> import numpy as np
>>> paths = ShortestPaths([("s", "a"), ("a", "s"), ("a", "t"), ("s", "t")], "s", "t")
>>> paths.minimize(np.array([[1.0, -5.0, 1.0, 3.0]])).points
array([[1., 0., 1., 0.]])
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from structopt.arrays import Floats
from structopt.errors import InfeasibleError, InvalidInputError
from structopt.structures.base.integer.rows import LinearRows
from structopt.structures.decision.base import Decided, DecisionSet, no_excess
from structopt.structures.decision.dag import DagPaths
from structopt.structures.decision.edges import Edge, edges_of
from structopt.structures.decision.lazy import Cut, LazyProgram, linear_rows
from structopt.structures.decision.walks import are_paths, cycles


class ShortestPaths(DecisionSet, trusted=True):
    """Simple paths from source to target; costs are in the order of the graph's edges.

    Parameters
    ----------
    graph : networkx graph or sequence of (tail, head)
        Directed or not, multigraphs too. A list of edges is directed, and can be saved with a
        model.
    source, target : node, optional
        By default the graph's attributes ``source`` and ``sink``.
    """

    def __init__(self, graph: Any, source: Any = None, target: Any = None) -> None:
        self.graph, self.source, self.target = graph, source, target

    @cached_property
    def edges(self) -> list[Edge]:
        """The edges, in the order of costs."""
        return edges_of(self.graph, directed=True)[0]

    @property
    def n_parts(self) -> int:
        """How many edges there are."""
        return len(self.edges)

    @cached_property
    def ends(self) -> tuple[Any, Any]:
        """Source and target."""
        own = getattr(self.graph, "graph", {})
        source = own.get("source") if self.source is None else self.source
        target = own.get("sink") if self.target is None else self.target
        for name, end in (("source", source), ("target", target)):
            if end is None:
                raise InvalidInputError(f"The graph has no {name}: say {name}=...")
            if end not in self._network:
                raise InvalidInputError(f"The {name}, {end!r}, is no node of the graph.")
        if source == target:
            raise InvalidInputError(f"Source and target are the same node, {source!r}.")
        return source, target

    @cached_property
    def _directed(self) -> bool:
        return edges_of(self.graph, directed=True)[1]

    @cached_property
    def _arcs(self) -> list[tuple[Any, Any, int]]:
        """Arcs with the edge each stands for; an edge without direction is two."""
        forth = [(u, v, j) for j, (u, v) in enumerate(self.edges)]
        return forth if self._directed else forth + [(v, u, j) for u, v, j in forth]

    @cached_property
    def _network(self) -> Any:
        network = nx.MultiDiGraph()
        network.add_edges_from((u, v) for u, v, _ in self._arcs)
        return network

    def check(self) -> None:
        """Refuse a target that cannot be reached."""
        source, target = self.ends
        if not nx.has_path(self._network, source, target):
            raise InfeasibleError(f"No path leads from {source!r} to {target!r} in the graph.")

    def check_costs(self, costs: Floats, start: int = 0) -> None:
        """Refuse costs that were seen and are negative around a cycle."""
        if self._dag is not None:
            return
        network = nx.DiGraph()
        cheap: dict[Edge, int] = {}
        for i, own in enumerate(costs):
            if own.min(initial=0.0) >= 0:
                continue
            for u, v, j in self._arcs:
                if (u, v) not in cheap or own[j] < own[cheap[u, v]]:
                    cheap[u, v] = j
            network.add_weighted_edges_from((u, v, own[j]) for (u, v), j in cheap.items())
            if nx.negative_edge_cycle(network):
                raise InvalidInputError(
                    f"The costs of example {start + i} are negative around a cycle: its shortest "
                    "path is not defined by its costs. Are they meant to be their negatives?",
                    example=start + i,
                )

    def minimize(self, costs: Floats, start: int = 0) -> Decided:
        """Return the shortest simple path of each row of costs."""
        if self._dag is not None:
            return no_excess(self._dag.minimize(costs))
        points, excess = np.zeros_like(costs), np.zeros(len(costs))
        edge = np.array([j for _, _, j in self._arcs])
        for i, own in enumerate(costs):
            best = self._program.maximize(-own[edge], fallback=None)
            if best is None:
                raise InfeasibleError(f"Example {start + i} has no path.", example=start + i)
            points[i, edge[best.point > 0.5]] = 1.0
            excess[i] = best.excess
        return Decided(points, excess)

    def contains(self, points: Floats) -> NDArray[np.bool_]:
        """Return whether each point is a simple path."""
        return are_paths(points, self.edges, *self.ends, directed=self._directed)

    def part_names(self) -> list[str]:
        """Return the edges as text."""
        return [f"{u}-{v}" for u, v in self.edges]

    # ------------------------------------------------------------------ inside
    @cached_property
    def _dag(self) -> DagPaths | None:
        if not self._directed or not nx.is_directed_acyclic_graph(self._network):
            return None
        return DagPaths(self.edges, *self.ends)

    @cached_property
    def _program(self) -> LazyProgram:
        """Flow rows, then at most one arc out of each node."""
        place = {v: k for k, v in enumerate(self._network)}
        n, m = len(place), len(self._arcs)
        tail, head = (np.array([place[arc[side]] for arc in self._arcs]) for side in (0, 1))
        arcs, balance = np.arange(m), np.zeros(n)
        balance[place[self.ends[0]]], balance[place[self.ends[1]]] = 1.0, -1.0
        rows = LinearRows(
            np.concatenate([tail, head, n + tail]),
            np.concatenate([arcs, arcs, arcs]),
            np.concatenate([np.ones(m), -np.ones(m), np.ones(m)]),
            np.concatenate([balance, np.zeros(n)]),
            np.concatenate([balance, 1.0 - (balance < 0)]),  # none out of the target
        )
        return LazyProgram(linear_rows(rows, m), self._broken)

    def _broken(self, point: Floats) -> list[Cut]:
        """Return the cuts that the cycles of a point break."""
        taken = [self._arcs[a] for a in np.flatnonzero(point > 0.5)]
        # a path and cycles beside it, which leave and enter each node once
        found = cycles([(u, v) for u, v, _ in taken])
        return [
            ([a for a, (u, v, _) in enumerate(self._arcs) if u in s and v in s], len(s) - 1.0)
            for s in map(set, found)
        ]
