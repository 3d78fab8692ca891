r"""A path through a lattice: a directed acyclic graph with a source and a sink.

    score(y) = sum_{e in y} w . features(e),
    loss(gold, y) = extra * |y \ gold| + missed * |gold \ y|    (PartCosts; paths as sets of edges).

Of two paths that both lead from source to sink neither holds all edges of the other, so the loss is
0 for gold alone. Of two equally good paths the one wins whose edge comes first in ``graph.edges``
at the last edge (seen from the sink) where they differ.

>>> import networkx as nx, numpy as np, structopt as so
>>> x = nx.DiGraph(source="s", sink="t")
>>> x.add_edge("s", "a", label="the", features={"lm": -1.0})
>>> x.add_edge("s", "b", label="a", features={"lm": -2.0})
>>> x.add_edge("a", "t", label="house", features={"lm": -1.0, "tm": -3.0})
>>> x.add_edge("b", "t", label="house", features={"lm": -1.0, "tm": -1.0})
>>> gold = (("s", "b"), ("b", "t"))
>>> structure = so.Lattice().fitted([x], [gold])
>>> best = structure.argmax(x, np.array([1.0, 1.0]))
>>> best, so.Lattice.words(x, best), structure.loss(gold, best)
((('s', 'b'), ('b', 't')), ['a', 'house'], 0.0)
>>> structure.second_best(x, np.array([1.0, 1.0]), gold)
(('s', 'a'), ('a', 't'))
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import networkx as nx
import numpy as np
import scipy.sparse as sp

from structopt.datasets.lattice_arrays import LatticeArrays, PathArrays
from structopt.errors import InvalidInputError
from structopt.structures.base.given import held_parts
from structopt.structures.base.packed import PackedStructure, check_decoder
from structopt.structures.base.sketch import Path as PathSketch
from structopt.structures.base.structure import check_lengths
from structopt.structures.lattice.arrays import read_arrays, read_paths
from structopt.structures.lattice.features import FeatureSpace
from structopt.structures.lattice.inputs import Lattices, Path, as_list, as_path
from structopt.structures.lattice.nbest import nbest_lattice
from structopt.structures.lattice.shard import LatticeShard
from structopt.structures.losses.part_costs import PartCosts


class Lattice(PackedStructure):
    r"""Paths from source to sink: X is a list of networkx graphs or `LatticeArrays`, Y of paths.

    A graph is a `DiGraph` or `MultiDiGraph` without cycles. Its attributes ``source`` and ``sink``
    name the ends; without them the only node that no edge enters, and the only one that none
    leaves, are taken. Edges carry ``features`` (a vector or one sparse row on every edge, or a
    mapping from names to numbers on every edge; none at all is a vector of zeros) and, if you like,
    a ``label``. A path is a sequence of edges: ``(u, v)``, or ``(u, v, key)`` of a multigraph.
    Many lattices come as :class:`~structopt.LatticeArrays`, with :class:`~structopt.PathArrays` or
    lists of paths as Y; an edge is then the number of an arc within its lattice.

    Parameters
    ----------
    loss : PartCosts, optional
        What an edge that is not in gold costs, and a gold edge that is left out; by default 1.
    decoder : {"compiled", "networkx"}
        Who decodes. "networkx" is the slow reference that the compiled kernels must agree with.

    Attributes
    ----------
    n_features_ : int
    names_ : tuple of str or None
        The names of the features, sorted. A name that the training data do not have is ignored.

    Notes
    -----
    Wang and Shawe-Taylor (2009), section on machine translation: word lattices, where several good
    paths an example come as ``References(Lattice())``.
    """

    releases_gil: ClassVar[bool] = True
    offers: ClassVar[frozenset[str]] = frozenset(
        {"argmax", "argmin", "second_best", "second_augmented", "k_best"}
    )

    names_: tuple[str, ...] | None

    def __init__(self, *, loss: Any = None, decoder: str = "compiled") -> None:
        self.cost, self.decoder = loss, decoder

    # ------------------------------------------------------------------ fitting and encoding
    def fitted(self, X: Sequence[Any], Y: Sequence[Any]) -> Self:
        """Return a copy that knows the dimension and the names of the features."""
        check_decoder(self.decoder)
        PartCosts.given(self.cost).checked()
        check_lengths(X, Y)
        fitted = copy.copy(self)
        if isinstance(X, LatticeArrays):
            fitted.n_features_, fitted.names_ = X.arc_features.shape[1], None
            return fitted
        graphs = as_list(X)
        # encode refuses what is no graph; with several references a graph comes several times
        found = {id(graph): i for i, graph in enumerate(graphs) if isinstance(graph, nx.Graph)}
        edges = [
            (i, edge[:-1], edge[-1])
            for i in found.values()
            for edge in graphs[i].edges(data="features")
        ]
        space = FeatureSpace.of([edge[2] for edge in edges], lambda e: edges[e][:2])
        fitted.n_features_, fitted.names_ = space.n_features, space.names
        return fitted

    def read(self, X: Any, start: int = 0) -> Lattices:
        """Return checked lattices; ``start`` numbers the first in messages."""
        if isinstance(X, LatticeArrays):
            return read_arrays(X, self.n_features_, start=start)
        return Lattices.of(X, FeatureSpace(self.n_features_, self.names_), start=start)

    def pack(self, X: Any, Y: Sequence[Any] | None, start: int = 0) -> LatticeShard:
        """Return checked lattices as a shard."""
        lattices = self.read(X, start)
        costs = PartCosts.given(self.cost)
        gold = read_paths(lattices, Y) if isinstance(Y, PathArrays) else lattices.paths(Y)
        if len(gold.ptr) - 1 != lattices.n_examples:
            raise InvalidInputError(
                f"There are {len(gold.ptr) - 1} paths for {lattices.n_examples} lattices: where "
                "several outputs of one are right, use References(Lattice())."
            )
        return LatticeShard(lattices, gold, costs, self.decoder)

    def one(self, x: Any) -> Any:
        """Return x as the inputs of a data set with one example; arrays of one are such."""
        return x if isinstance(x, LatticeArrays) else [x]

    def held(self, X: Any, given: Any, shard: Any) -> Any:
        """Return which edges a path must have and must not: 1 and 0, -1 where nothing is given."""
        named = (shard.lattices.names(i) for i in range(shard.n_examples))
        each = enumerate(zip(given, named, strict=True), shard.start)
        return np.concatenate([held_parts(told, names, i) for i, (told, names) in each])

    def unpack(self, shard: LatticeShard, outputs: Any) -> list[Path]:
        """Return every path as the tuple of its edges."""
        return [shard.lattices.named(outputs.of(i)) for i in range(shard.n_examples)]

    # ------------------------------------------------------------------ what it means
    def joint_features(self, x: Any, y: Any) -> Any:
        """Return the summed features of the path's edges: a sparse row."""
        lattices = self.read(self.one(x))
        (path,) = lattices.numbers(0, [y])
        return sp.csr_array(lattices.base[path].sum(axis=0).reshape(1, -1))

    def loss(self, y: Any, other: Any) -> float:
        """Return ``extra`` per edge of ``other`` alone plus ``missed`` per edge of y alone."""
        if self.own_loss is not None:
            return float(self.own_loss(y, other))
        return PartCosts.given(self.cost).of(set(as_path(y)), set(as_path(other)))

    def part_errors(self, y: Any, other: Any) -> int:
        """Return how many edges of y the path ``other`` misses."""
        return len(set(as_path(y)) - set(as_path(other)))

    def feature_names(self) -> list[tuple[str, str]] | None:
        """Return ``(name, "")`` for each weight; None if features are vectors."""
        return None if self.names_ is None else [(name, "") for name in self.names_]

    def sketch(self, x: Any, y: Any, shown: Any = None) -> PathSketch:
        """Return the path, its words, and the edges that it passes by."""
        taken, every = as_path(y), _steps(x)
        passed = tuple(step for edge, step in every.items() if edge not in set(taken))
        return PathSketch(tuple(every[edge] for edge in taken), passed)

    # ------------------------------------------------------------------ graphs
    @staticmethod
    def words(x: Any, y: Any) -> list[Any]:
        """Return the labels of the edges of a path; edges without a label are passed over."""
        steps = _steps(x)
        labels = (steps[edge][2] for edge in as_path(y))
        return [label for label in labels if label is not None]

    of_nbest = staticmethod(nbest_lattice)


def _steps(x: Any) -> dict[Any, tuple[Any, Any, Any]]:
    """Return tail, head and label of every edge."""
    if not isinstance(x, LatticeArrays):
        return {edge: (edge[0], edge[1], x.edges[edge].get("label")) for edge in x.edges}
    labels = [None] * len(x.tail) if x.labels is None else list(x.labels)
    return dict(enumerate(zip(x.tail.tolist(), x.head.tolist(), labels, strict=True)))
