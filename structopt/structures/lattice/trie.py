"""Paths merged by their prefixes: what a search for the best other path must stay outside of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from structopt.arrays import Ints
from structopt.structures.lattice.inputs import Lattices


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
