r"""Lattices with several references each: the oracles of LP (7) and LP (8).

With references G_i (good paths) and s the score of a path at weights w,

    LP (8):  max_{y not in G_i} s(y) - min_{g in G_i} s(g),
    LP (7):  max_{y not in G_i} s(y) - s(g(y)),     g(y) the reference nearest to y.

The best path outside G_i comes from one pass over the product of the lattice with the trie of G_i.
For LP (7) paths are listed best first; the search ends with a proof once s(y) minus the lowest
reference is no more than what has been found, since later paths score no higher.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from structopt.arrays import Floats, Ints
from structopt.structures.base.input_rows import InputRows
from structopt.structures.base.oracles import Oracle, nearest_reference, nearest_to_best
from structopt.structures.base.parts import Directions
from structopt.structures.base.shard import Answers, Shard
from structopt.structures.lattice import kernels
from structopt.structures.lattice.inputs import Lattices, Path, Paths
from structopt.structures.lattice.shard import edge_costs, edge_directions, edge_scores
from structopt.structures.lattice.trie import Trie
from structopt.structures.losses.part_costs import PartCosts
from structopt.structures.references import good_kernels
from structopt.structures.references import shard as listed_shard


class Pairs(NamedTuple):
    """The good and the bad path of every example's constraint."""

    good: Paths
    bad: Paths


class LatticeReferenceShard(Shard):
    """Stacked lattices with a list of good paths each.

    Parameters
    ----------
    lattices : Lattices
    good : Paths
        The references of all lattices, as edge numbers.
    references : array of int
        Lattice i has the paths ``references[i] .. references[i + 1] - 1`` of them.
    costs : PartCosts
        Of the structural distance, if there is no other.
    distance : callable, optional
        ``distance(reference, y)`` on paths as users write them.
    """

    def __init__(
        self,
        lattices: Lattices,
        good: Paths,
        references: Ints,
        costs: PartCosts,
        distance: Callable[[Any, Any], float] | None = None,
    ) -> None:
        self.lattices, self.costs, self.distance = lattices, edge_costs(costs), distance
        self.base, self.n_examples, self.start = lattices.base, lattices.n_examples, lattices.start
        self.rows = InputRows.over(self.base)
        self.good, self.references = good, references
        self._trie = Trie.of(lattices, good, references)

    def ask(self, oracle: Oracle, weights: Floats) -> Answers:
        """Find the most violated pair of every lattice."""
        if oracle not in listed_shard.KNOWN:
            raise self._unknown(oracle)
        score = edge_scores(self.rows, weights)
        bad = Paths(*kernels.best_outside(score, *self.lattices.layout, *self._trie))
        values, lowest = good_kernels.lowest(score, self.references, *self.good)
        good, exact = Paths(*good_kernels.taken(*self.good, lowest)), True
        if oracle is nearest_reference:
            good, bad, exact = self._nearest_of_all(score, values, good, bad)
        if oracle is nearest_to_best:
            good, exact = self._nearest_to(good, bad)
        found = Pairs(good, bad)
        _, delta = kernels.compare(score, *good, *bad, *self.costs)
        delta[np.diff(bad.ptr) == 0] = np.inf  # nothing but the references is possible
        loss = good_kernels.nearest(self.references, *self.good, *bad, *self.costs)
        return Answers(found, loss, delta, exact)

    def bad(self, outputs: Any, i: int) -> Path:
        """Return the path outside the references of an answer's pair i."""
        return self.lattices.named(outputs.bad.of(i))

    def _nearest_of_all(
        self, score: Floats, values: Floats, good: Paths, bad: Paths
    ) -> tuple[Paths, Paths, bool]:
        """Return the most violated pairs, searched where there are several references."""
        pairs, exact = [], True
        for i, (a, b) in enumerate(pairwise(self.references.tolist())):
            pair = good.of(i), bad.of(i)
            if b - a > 1 and len(pair[1]):
                pair, proven = self._nearest(i, score, values[a:b])
                exact = exact and proven
            pairs.append(pair)
        chosen, others = (Paths.stacked(paths) for paths in zip(*pairs, strict=True))
        return chosen, others, exact

    def _nearest_to(self, good: Paths, bad: Paths) -> tuple[Paths, bool]:
        """Return the reference nearest to each bad path, and whether there was never a choice."""
        chosen, exact = [], True
        for i, many in enumerate((np.diff(self.references) > 1).tolist()):
            path, own = bad.of(i), good.of(i)
            if many and len(path):
                exact = False  # another pair may be violated more
                own = self._of(i).of(int(np.argmin(self._distances(i, path, self.distance))))
            chosen.append(own)
        return Paths.stacked(chosen), exact

    def _of(self, i: int) -> Paths:
        """Return the references of lattice i."""
        return Paths(
            self.good.ptr[self.references[i] : self.references[i + 1] + 1], self.good.edges
        )

    def _nearest(self, i: int, score: Floats, values: Floats) -> tuple[tuple[Ints, Ints], bool]:
        """Return the most violated (good, bad) pair of lattice i, and whether that is proven."""
        first, stop = self.lattices.edge_ptr[i : i + 2].tolist()
        layout, good = self.lattices.one(i), self._of(i)
        k = len(values) + 8
        while True:
            ptr, edges, value = kernels.k_best(score[first:stop], *layout, k)
            listed = Paths(ptr, edges + first)
            if self.distance is None:
                r, g, proven = kernels.nearest_pair(*listed, value, *good, values, *self.costs)
            else:
                r, g, proven = self._nearest_by_distance(i, listed, value, values)
            proven = proven or len(value) < k
            if proven or (k >= listed_shard.MAX_K and r >= 0):
                return (good.of(int(g)), listed.of(int(r))), bool(proven)
            k *= 4

    def _nearest_by_distance(
        self, i: int, listed: Paths, value: Floats, values: Floats
    ) -> tuple[int, int, bool]:
        """Do what the kernel `nearest_pair` does, in the user's distance."""
        best, chosen, partner = -np.inf, -1, -1
        for r, top in enumerate(value.tolist()):
            if top - values.min() <= best:
                return chosen, partner, True
            path = listed.of(r)
            if self._distances(i, path, None).min() == 0:
                continue  # a reference
            near = int(np.argmin(self._distances(i, path, self.distance)))
            if top - values[near] > best:
                best, chosen, partner = top - values[near], r, near
        return chosen, partner, False

    def _distances(self, i: int, path: Ints, distance: Any) -> Floats:
        if distance is None:
            return np.asarray(kernels.distances(*self._of(i), path, *self.costs))
        named, good = self.lattices.named, self._of(i)
        return np.array(
            [distance(named(good.of(g)), named(path)) for g in range(len(good.ptr) - 1)]
        )

    def directions(self, outputs: Any, which: Ints) -> Directions:
        """Return delta of the pairs ``which``: the edges in which good and bad differ."""
        parts = kernels.differing_edges(*outputs.good, *outputs.bad, which)
        return edge_directions(*parts)

    def content(self) -> Iterator[Any]:
        """Yield arrays that together name the shard's content."""
        yield from super().content()
        yield from self.lattices.layout
        yield np.array(self.costs)
        yield from (self.references, *self.good)
