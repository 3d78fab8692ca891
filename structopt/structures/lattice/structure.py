r"""A path through a lattice: a directed acyclic graph with a source and a sink.

    score(y) = sum_{e in y} w . features(e),
    loss(gold, y) = extra * |y \ gold| + missed * |gold \ y|            (edges of paths as sets).

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
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, ClassVar, Self

import networkx as nx
import numpy as np
import scipy.sparse as sp

from structopt.arrays import Floats, Ints, check_weights
from structopt.errors import InvalidInputError
from structopt.structures.base.example_shard import ExampleShard
from structopt.structures.base.shard import Shard
from structopt.structures.base.structure import Structure, check_lengths
from structopt.structures.lattice import kernels as lattice_kernels
from structopt.structures.lattice.features import FeatureSpace
from structopt.structures.lattice.graph import Lattices, Path, as_list, as_path
from structopt.structures.lattice.nbest import nbest_lattice
from structopt.structures.lattice.reference_shard import LatticeReferenceShard
from structopt.structures.lattice.shard import Costs, LatticeShard, Trie, edge_scores

DECODERS = ("compiled", "networkx")


class Lattice(Structure):
    r"""Paths from source to sink: X is a list of networkx graphs, Y a list of paths.

    A graph is a `DiGraph` or `MultiDiGraph` without cycles. Its attributes ``source`` and ``sink``
    name the ends; without them the only node that no edge enters, and the only one that none
    leaves, are taken. Edges carry ``features`` (a vector or one sparse row on every edge, or a
    mapping from names to numbers on every edge; none at all is a vector of zeros) and, if you like,
    a ``label``. A path is a sequence of edges: ``(u, v)``, or ``(u, v, key)`` of a multigraph.

    Parameters
    ----------
    extra : float
        Loss of an edge that is not in gold.
    missed : float
        Loss of a gold edge that is left out.
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

    names_: tuple[str, ...] | None

    def __init__(
        self, *, extra: float = 1.0, missed: float = 1.0, decoder: str = "compiled"
    ) -> None:
        self.extra, self.missed, self.decoder = extra, missed, decoder

    # ------------------------------------------------------------------ fitting and encoding
    def fitted(self, X: Sequence[Any], Y: Sequence[Any]) -> Self:
        """Return a copy that knows the dimension and the names of the features."""
        if self.decoder not in DECODERS:
            raise InvalidInputError(f"decoder is {self.decoder!r}; it must be one of {DECODERS}.")
        costs = np.array([self.extra, self.missed], dtype=np.float64)
        if not (np.isfinite(costs).all() and (costs >= 0).all() and costs.any()):
            raise InvalidInputError(
                f"extra is {self.extra} and missed is {self.missed}: both must be finite and >= 0, "
                "and one of them positive."
            )
        graphs = as_list(X)
        check_lengths(graphs, Y)
        # encode refuses what is no graph; with several references a graph comes several times
        found = {id(graph): i for i, graph in enumerate(graphs) if isinstance(graph, nx.Graph)}
        edges = [
            (i, edge[:-1], edge[-1])
            for i in found.values()
            for edge in graphs[i].edges(data="features")
        ]
        space = FeatureSpace.of([edge[2] for edge in edges], lambda e: edges[e][:2])
        fitted = copy.copy(self)
        fitted.n_features_, fitted.names_ = space.n_features, space.names
        return fitted

    def encode(self, X: Sequence[Any], Y: Sequence[Any], *, start: int = 0) -> Shard:
        """Encode lattices with their gold paths; ``start`` numbers the first in messages."""
        check_lengths(X, Y)
        lattices = self._read(X, start)
        gold = lattices.paths(Y)
        if self.decoder == "networkx":
            return ExampleShard(self, X, Y, start)
        return LatticeShard(lattices, gold, self._costs)

    def encode_references(
        self,
        X: Sequence[Any],
        Y: Sequence[Any],
        *,
        distance: Callable[[Any, Any], float] | None,
        start: int,
    ) -> Shard | None:
        """Encode lattices with lists of good paths, for `References`."""
        lattices = self._read(X, start)
        good = [lattices.numbers(i, references) for i, references in enumerate(Y)]
        if self.decoder == "networkx":
            return None
        return LatticeReferenceShard(lattices, good, self._costs, distance)

    # ------------------------------------------------------------------ one example
    def joint_features(self, x: Any, y: Any) -> Any:
        """Return the summed features of the path's edges: a sparse row."""
        lattices = self._read([x])
        (path,) = lattices.numbers(0, [y])
        return sp.csr_array(lattices.base[path].sum(axis=0).reshape(1, -1))

    def loss(self, y: Any, other: Any) -> float:
        """Return ``extra`` per edge of ``other`` alone plus ``missed`` per edge of y alone."""
        gold, predicted = set(as_path(y)), set(as_path(other))
        return float(self.extra * len(predicted - gold) + self.missed * len(gold - predicted))

    def argmax(self, x: Any, weights: Floats, *, gold: Any = None) -> Path:
        """Return the best path, loss-augmented if gold is given."""
        lattices, score = self._scored(x, weights)
        if gold is not None:
            score = self._costs.augmented(score, lattices.numbers(0, [gold])[0])
        return self._ask("best_path", lattices, score)

    def argmin(self, x: Any, weights: Floats) -> Path:
        """Return the path with the lowest score."""
        return self.argmax(x, -np.asarray(weights))

    def second_best(self, x: Any, weights: Floats, gold: Any) -> Path | None:
        """Return the best path other than gold; None if there is no other."""
        return self.best_outside(x, weights, [gold])

    def best_outside(self, x: Any, weights: Floats, references: Sequence[Any]) -> Path | None:
        """Return the best path that is none of the references; None if there is no other."""
        lattices, score = self._scored(x, weights)
        trie = Trie.of(lattices, [lattices.numbers(0, references)])
        return self._ask("best_outside", lattices, score, *trie) or None

    def k_best(self, x: Any, weights: Floats, k: int) -> list[Path]:
        """Return the k best paths, best first (fewer if there are fewer)."""
        if k < 1:
            raise InvalidInputError(f"k is {k}; ask for at least one output.")
        lattices, score = self._scored(x, weights)
        ptr, edges, _ = self._decoders().k_best(score, lattices.in_ptr, lattices.tail, k)
        return [lattices.named(edges[a:b]) for a, b in pairwise(ptr.tolist())]

    def part_errors(self, y: Any, other: Any) -> int:
        """Return how many edges of y the path ``other`` misses."""
        return len(set(as_path(y)) - set(as_path(other)))

    # ------------------------------------------------------------------ many examples
    def predict(self, X: Sequence[Any], weights: Floats) -> list[Path]:
        """Return the best path of every lattice, in one pass."""
        if len(X) == 0:
            return []
        lattices = self._read(X)
        score = self._scores(lattices, weights)
        ptr, edges = self._decoders().best_path(
            score, lattices.node_ptr, lattices.in_ptr, lattices.tail
        )
        return [lattices.named(edges[a:b]) for a, b in pairwise(ptr.tolist())]

    def feature_names(self) -> list[tuple[str, str]] | None:
        """Return ``(name, "")`` for each weight; None if features are vectors."""
        return None if self.names_ is None else [(name, "") for name in self.names_]

    # ------------------------------------------------------------------ graphs
    @staticmethod
    def words(x: Any, y: Any) -> list[Any]:
        """Return the labels of the edges of a path; edges without a label are passed over."""
        labels = (x.edges[edge].get("label") for edge in as_path(y))
        return [label for label in labels if label is not None]

    of_nbest = staticmethod(nbest_lattice)

    # ------------------------------------------------------------------ inside
    @property
    def _costs(self) -> Costs:
        return Costs(float(self.extra), float(self.missed))

    def _read(self, X: Any, start: int = 0) -> Lattices:
        return Lattices.of(X, FeatureSpace(self.n_features_, self.names_), start=start)

    def _scores(self, lattices: Lattices, weights: Any) -> Floats:
        checked = check_weights(weights, self.n_features_)
        return edge_scores(lattices.base, checked, 0, len(lattices.tail))

    def _scored(self, x: Any, weights: Any) -> tuple[Lattices, Floats]:
        lattices = self._read([x])
        return lattices, self._scores(lattices, weights)

    def _decoders(self) -> Any:
        if self.decoder == "networkx":
            from structopt.structures.lattice import reference as lattice_reference

            return lattice_reference
        return lattice_kernels

    def _ask(self, decoder: str, lattices: Lattices, score: Floats, *given: Ints) -> Path:
        layout = (lattices.node_ptr, lattices.in_ptr, lattices.tail)
        _, edges = getattr(self._decoders(), decoder)(score, *layout, *given)
        return lattices.named(edges)
