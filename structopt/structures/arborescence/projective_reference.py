r"""Projective trees by networkx: all trees, best first, until one has no arcs that cross.

The functions take what those of :mod:`structopt.structures.arborescence.projective_kernels` take.

>>> crossing([3, 0, 2]), crossing([2, 0, 2])        # 3 -> 1 and 0 -> 2 cross
(((3, 1), (0, 2)), None)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import combinations, islice
from typing import Any

from structopt.arrays import Floats, Ints
from structopt.structures.arborescence.reference import (
    candidates,
    decreasing,
    first_of,
    rows_of,
    second_of,
)

Arc = tuple[int, int]


def crossing(heads: Sequence[Any]) -> tuple[Arc, Arc] | None:
    """Return two arcs (head, token) that cross, or None if the tree is projective."""
    arcs = [(int(h), m) for m, h in enumerate(heads, 1)]
    for one, other in combinations(arcs, 2):
        (a, b), (c, d) = sorted(one), sorted(other)
        if a < c < b < d or c < a < d < b:
            return one, other
    return None


def decode(
    scores: Floats, arcs: Ints, head: Ints, dependent: Ints, tokens: Ints, single_root: bool
) -> tuple[Ints, int]:
    """Return the best tree of every sentence as arcs, and the first sentence without one or -1."""

    def best(graph: Any) -> list[int] | None:
        return next(_projective(graph, single_root, head), None)

    return first_of(best, scores, arcs, head, dependent, tokens)


def best_other(
    scores: Floats, arcs: Ints, head: Ints, dependent: Ints, tokens: Ints, gold: Ints,
    single_root: bool,
) -> tuple[Ints, Any]:  # fmt: skip
    """Return the best tree of every sentence other than gold, and where there is none."""
    trees = partial(_projective, single_root=single_root, head=head)
    return second_of(trees, scores, arcs, head, dependent, tokens, gold)


def k_best(table: Floats, single_root: bool, k: int) -> Ints:
    """Return the heads of the k best trees as rows, best first (-1 for the root's own)."""
    graph, head = candidates(table)
    return rows_of(islice(_projective(graph, single_root, head), k), head, len(table))


def _projective(graph: Any, single_root: bool, head: Ints) -> Iterator[list[int]]:
    trees = decreasing(graph, single_root)
    return (tree for tree in trees if crossing(head[tree].tolist()) is None)
