r"""Lattices encoded for a pass: the edges of all examples in one matrix, decoded in compiled calls.

With edge features X (E, d) a pass is ``score = X w``, then max-plus over each lattice in
topological order. Losses are linear in edges, with gold the gold path:

    loss(gold, y) = missed |gold| + sum_{e in y} (extra [e not in gold] - missed [e in gold]).

Outputs are :class:`~structopt.structures.lattice.inputs.Paths`.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any, Self

import numpy as np

from structopt.arrays import Floats, Ints, check_weights
from structopt.structures.base.expectations import Expected
from structopt.structures.base.input_rows import InputRows
from structopt.structures.base.oracles import (
    Oracle,
    best_other,
    loss_augmented,
    other_augmented,
    worst,
)
from structopt.structures.base.parts import Directions
from structopt.structures.base.shard import Answers, Shard, decoders, forget
from structopt.structures.lattice import kernels, marginals
from structopt.structures.lattice.inputs import Lattices, Paths
from structopt.structures.lattice.relaxation import LatticeRelaxation
from structopt.structures.lattice.trie import Trie
from structopt.structures.losses.part_costs import PartCosts


class LatticeShard(Shard):
    """Stacked lattices with a gold path each.

    Parameters
    ----------
    lattices : Lattices
    gold : Paths
    costs : PartCosts
    decoder : {"compiled", "networkx"}
    """

    inputs_in = "rows"

    def __init__(
        self, lattices: Lattices, gold: Paths, costs: PartCosts, decoder: str = "compiled"
    ) -> None:
        self.lattices, self.paths, self.costs, self.decoder = lattices, gold, costs, decoder
        self.base, self.gold, self.n_examples = lattices.base, gold.edges, lattices.n_examples
        self.start = lattices.start
        self.right = gold  # what losses are measured from; `paths`, what directions are
        self.rows = InputRows.over(self.base)

    def ask(self, oracle: Oracle, weights: Floats) -> Answers:
        """Answer ``oracle`` for every lattice."""
        score = self.part_scores(weights)
        if oracle is loss_augmented:
            return self._best(score, score + self._added)
        if oracle is worst:
            return self._best(score, -score)
        if oracle in (best_other, other_augmented):
            given = (*self.lattices.layout, *self._trie)
            aim = score if oracle is best_other else score + self._added
            found = Paths(*decoders(kernels, self.decoder).best_outside(aim, *given))
            return self._compared(score, found, np.diff(found.ptr) == 0)
        raise self._unknown(oracle)

    def argmax(self, weights: Floats) -> Answers:
        """Return every lattice's best path, without the loss."""
        score = self.part_scores(weights)
        return self._best(score, score)

    def within(self, weights: Floats, held: Any) -> tuple[Paths, Any]:
        """Return every lattice's best path with edges held in (1) or out (0), and who has none.

        A path crosses the cut behind any node exactly once, so that one through the edge (u, v) is
        one that takes no other edge across the cut behind u.
        """
        lattices = self.lattices
        barred, tail, head = held == 0, lattices.tail, lattices.head
        for e in np.flatnonzero(held == 1):
            across = (tail <= tail[e]) & (head > tail[e])
            across[e] = False
            barred |= across
        score = np.where(barred, -np.inf, self.part_scores(weights))
        found = Paths(*decoders(kernels, self.decoder).best_path(score, *lattices.layout))
        paths = [found.of(i) for i in range(self.n_examples)]
        return found, np.array([not len(p) or bool(barred[p].any()) for p in paths])

    def k_best(self, weights: Floats, k: int) -> list[Answers]:
        """Return the k best paths of every lattice; ``score`` is infinite where there are fewer."""
        score, edge_ptr = self.part_scores(weights), self.lattices.edge_ptr
        ranked: list[list[Ints]] = [[] for _ in range(k)]
        missing = np.zeros((k, self.n_examples), dtype=bool)
        for i, first in enumerate(edge_ptr[:-1]):
            own = score[first : edge_ptr[i + 1]]
            ptr, edges, _ = decoders(kernels, self.decoder).k_best(own, *self.lattices.one(i), k)
            paths = Paths(ptr, edges + first)
            missing[len(ptr) - 1 :, i] = True
            for r in range(k):
                ranked[r].append(self.paths.of(i) if missing[r, i] else paths.of(r))
        every = zip(ranked, missing, strict=True)
        return [self._compared(score, Paths.stacked(paths), none) for paths, none in every]

    def relaxation(self) -> LatticeRelaxation:
        """Return the paths of every lattice as flows."""
        return LatticeRelaxation(self)

    def expected(self, weights: Floats, loss_weight: float, cost: Floats) -> Expected:
        """Return expectations over all paths."""
        return marginals.expected(self, weights, loss_weight, cost)

    def part_scores(self, weights: Floats) -> Floats:
        """Return the score of every edge."""
        return edge_scores(self.rows, weights)

    def added_loss(self) -> tuple[Floats, Floats]:
        """Return what each edge adds to the loss, and what missing all of gold costs."""
        return self._added, float(self.costs.missed) * np.diff(self.right.ptr)

    def part(self, a: int, b: int) -> Self:
        """Return lattices a to b - 1 as a shard over the same base."""
        first, stop = (int(self.lattices.edge_ptr[i]) for i in (a, b))
        gold = Paths.stacked([self.paths.of(i) - first for i in range(a, b)])
        part = type(self)(self.lattices.part(a, b), gold, self.costs, self.decoder)
        part.right = Paths.stacked([self.right.of(i) - first for i in range(a, b)])
        part.rows = self.rows[first:stop]
        return part

    @property
    def n_scores(self) -> int:
        """How many edges there are."""
        return len(self.lattices.tail)

    def joined(self, outputs: Sequence[Any], edges: Ints) -> Paths:
        """Return the paths of runs, with the numbers that edges have in the whole."""
        first = self.lattices.edge_ptr[edges[:-1]]
        runs = zip(outputs, first, strict=True)
        return Paths.joined([Paths(run.ptr, run.edges + start) for run, start in runs])

    def single(self, i: int) -> Self:
        """Return lattice i as a shard of its own."""
        return self.part(i, i + 1)

    @property
    def anchor(self) -> Paths:
        """The gold paths."""
        return self.paths

    def anchored(self, outputs: Any) -> Self:
        """Return the same lattices with delta measured from other paths; losses stay."""
        moved = forget(copy.copy(self))
        moved.paths, moved.gold = Paths(*outputs), outputs.edges
        return moved

    def directions(self, outputs: Any, which: Ints) -> Directions:
        """Return delta of the paths ``which``: the edges in which they differ from gold."""
        ptr, source, coef = kernels.differing_edges(*self.paths, *outputs, which)
        return edge_directions(ptr, source + self.rows.first, coef)

    def content(self) -> Iterator[Any]:
        """Yield arrays that together name the shard's content."""
        yield from super().content()
        yield from (*self.lattices.layout, self.paths.ptr, np.array(edge_costs(self.costs)))
        if self.right is not self.paths:
            yield from self.right

    @cached_property
    def _added(self) -> Floats:
        mask = np.zeros(len(self.lattices.tail), dtype=bool)
        mask[self.right.edges] = True
        return self.costs.added(mask)

    @cached_property
    def _trie(self) -> Trie:  # depends on gold alone
        return Trie.of(self.lattices, self.paths, np.arange(self.n_examples + 1))

    def _best(self, score: Floats, aim: Floats) -> Answers:
        return self._compared(
            score, decoders(kernels, self.decoder).best_path(aim, *self.lattices.layout)
        )

    def _compared(self, score: Floats, found: Any, missing: Any = ()) -> Answers:
        """Return paths with their loss and ``w . delta``, infinite where they are missing."""
        loss, delta = kernels.compare(score, *self.paths, *found, *edge_costs(self.costs))
        if self.right is not self.paths:
            loss, _ = kernels.compare(score, *self.right, *found, *edge_costs(self.costs))
        if len(missing):
            delta[missing] = np.inf
        return Answers(Paths(*found), loss, delta)


def edge_costs(costs: PartCosts) -> tuple[float, float]:
    """Return what an edge beside gold costs, and what a gold edge that is missing does."""
    return float(costs.extra), float(costs.missed)


def edge_scores(rows: InputRows, weights: Floats) -> Floats:
    """Return ``X w``; weights of a few edges need no check."""
    checked = weights if rows.few else check_weights(weights, rows.base.shape[1])
    return rows.scores(checked, 1).ravel()


def edge_directions(ptr: Ints, source: Ints, coef: Floats) -> Directions:
    """Return sums of whole base rows."""
    return Directions(ptr, source, np.zeros(len(source), dtype=np.int64), coef)
