r"""Lattices encoded for a pass: the edges of all examples in one matrix, decoded in compiled calls.

With edge features X (E, d) a pass is ``score = X w``, then max-plus over each lattice in
topological order. Losses are linear in edges, with gold the gold path:

    loss(gold, y) = missed |gold| + sum_{e in y} (extra [e not in gold] - missed [e in gold]).

Outputs are :class:`~structopt.structures.lattice.graph.Paths`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from structopt.arrays import Floats, Ints, check_weights
from structopt.errors import IncompatibleError
from structopt.structures.base.oracles import Oracle, best_other, loss_augmented, worst
from structopt.structures.base.parts import Directions
from structopt.structures.base.parts_kernels import part_scores
from structopt.structures.base.shard import Answers, Shard
from structopt.structures.lattice import kernels as lattice_kernels
from structopt.structures.lattice.graph import Lattices, Paths


class Costs(NamedTuple):
    """What an edge beside gold costs, and what a gold edge that is missing does."""

    extra: float
    missed: float

    def augmented(self, score: Floats, gold: Ints) -> Floats:
        """Return edge scores plus what each edge adds to the loss (without its constant)."""
        added = score + self.extra
        added[gold] = score[gold] - self.missed
        return added


class Trie(NamedTuple):
    """Paths merged by their prefixes, for a search outside them.

    Attributes
    ----------
    ptr : array of int
        The prefixes that end in each node of the lattices.
    parent, label : arrays of int
        Each prefix without its last edge (-1 if it has none), and that edge.
    """

    ptr: Ints
    parent: Ints
    label: Ints

    @classmethod
    def of(cls, lattices: Lattices, good: Sequence[Sequence[Ints]]) -> Trie:
        """Merge the good paths of every lattice."""
        head = lattices.head
        at: list[int] = []
        parent: list[int] = []
        label: list[int] = []
        for source, paths in zip(lattices.node_ptr[:-1].tolist(), good, strict=True):
            root = len(at)
            at.append(source)
            parent.append(-1)
            label.append(-1)
            known: dict[tuple[int, int], int] = {}
            for path in paths:
                prefix = root
                for e in path.tolist():
                    longer = known.setdefault((prefix, e), len(at))
                    if longer == len(at):
                        at.append(int(head[e]))
                        parent.append(prefix)
                        label.append(e)
                    prefix = longer
        order = np.argsort(at, kind="stable")  # prefixes before longer ones
        renumbered = np.empty(len(at) + 1, dtype=np.int64)
        renumbered[order], renumbered[-1] = np.arange(len(at)), -1
        counts = np.bincount(at, minlength=len(lattices.in_ptr) - 1)
        return cls(
            np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
            renumbered[np.array(parent)[order]],
            np.array(label)[order],
        )


def edge_scores(base: Any, weights: Floats, first: int, stop: int) -> Floats:
    """Return ``X w`` for the rows ``first .. stop - 1``."""
    rows = base.indptr[first : stop + 1]
    return np.asarray(part_scores(rows, base.indices, base.data, weights, 1)).ravel()


class LatticeShard(Shard):
    """Stacked lattices with a gold path each.

    Parameters
    ----------
    lattices : Lattices
    gold : Paths
    costs : Costs
    first : int
        Row of ``lattices.base`` that holds the features of edge 0.
    """

    def __init__(self, lattices: Lattices, gold: Paths, costs: Costs, first: int = 0) -> None:
        self.lattices, self.paths, self.costs, self.first = lattices, gold, costs, first
        self.base, self.gold, self.n_examples = lattices.base, gold.edges, lattices.n_examples
        self._layout = (lattices.node_ptr, lattices.in_ptr, lattices.tail)
        self._trie: Trie | None = None

    def ask(self, oracle: Oracle, weights: Floats) -> Answers:
        """Answer ``oracle`` for every lattice."""
        score = self._scores(weights)
        if oracle is loss_augmented:
            asked = self.costs.augmented(score, self.gold)
            return self._compared(score, lattice_kernels.best_path(asked, *self._layout))
        if oracle is worst:
            return self._compared(score, lattice_kernels.best_path(-score, *self._layout))
        if oracle is best_other:
            if self._trie is None:  # depends on gold alone
                each = [[self.paths.of(i)] for i in range(self.n_examples)]
                self._trie = Trie.of(self.lattices, each)
            found = Paths(*lattice_kernels.best_outside(score, *self._layout, *self._trie))
            answers = self._compared(score, found)
            answers.score[np.diff(found.ptr) == 0] = np.inf  # nothing but gold is possible
            return answers
        raise IncompatibleError(f"Lattice does not know the oracle {oracle.name!r}.")

    def argmax(self, weights: Floats) -> Answers:
        """Return every lattice's best path, without the loss."""
        score = self._scores(weights)
        return self._compared(score, lattice_kernels.best_path(score, *self._layout))

    def k_best(self, weights: Floats, k: int) -> list[Answers]:
        """Return the k best paths of every lattice; ``score`` is infinite where there are fewer."""
        score, edge_ptr = self._scores(weights), self.lattices.edge_ptr
        ranked: list[list[Ints]] = [[] for _ in range(k)]
        missing = np.zeros((k, self.n_examples), dtype=bool)
        for i, first in enumerate(edge_ptr[:-1]):
            own = score[first : edge_ptr[i + 1]]
            ptr, edges, _ = lattice_kernels.k_best(own, *self.lattices.one(i), k)
            paths = Paths(ptr, edges + first)
            missing[len(ptr) - 1 :, i] = True
            for r in range(k):
                ranked[r].append(self.paths.of(i) if missing[r, i] else paths.of(r))
        found = [self._compared(score, Paths.stacked(paths)) for paths in ranked]
        for answers, none in zip(found, missing, strict=True):
            answers.score[none] = np.inf
        return found

    def single(self, i: int) -> LatticeShard:
        """Return lattice i as a shard of its own, over the same base."""
        first, stop = self.lattices.edge_ptr[i : i + 2].tolist()
        in_ptr, tail = self.lattices.one(i)
        alone = replace(
            self.lattices,
            node_ptr=np.array([0, len(in_ptr) - 1]),
            in_ptr=in_ptr,
            tail=tail,
            edges=self.lattices.edges[first:stop],
            start=self.lattices.start + i,
        )
        gold = Paths.stacked([self.paths.of(i) - first])
        return LatticeShard(alone, gold, self.costs, self.first + first)

    def directions(self, outputs: Any, which: Ints) -> Directions:
        """Return delta of the paths ``which``: the edges in which they differ from gold."""
        ptr, source, coef = lattice_kernels.differing_edges(*self.paths, *outputs, which)
        return edge_directions(ptr, source + self.first, coef)

    def content(self) -> Iterator[Any]:
        """Yield arrays that together name the shard's content."""
        yield from super().content()
        yield from (*self._layout, self.paths.ptr, np.array(self.costs))

    def _scores(self, weights: Floats) -> Floats:
        checked = check_weights(weights, self.base.shape[1])
        return edge_scores(self.base, checked, self.first, self.first + len(self.lattices.tail))

    def _compared(self, score: Floats, found: Any) -> Answers:
        """Return paths with their loss and ``w . delta``."""
        loss, delta = lattice_kernels.compare(score, *self.paths, *found, *self.costs)
        return Answers(Paths(*found), loss, delta)


def edge_directions(ptr: Ints, source: Ints, coef: Floats) -> Directions:
    """Return sums of whole base rows."""
    return Directions(ptr, source, np.zeros(len(source), dtype=np.int64), coef)
