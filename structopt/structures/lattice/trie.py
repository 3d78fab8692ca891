"""Paths merged by their prefixes: what a search for the best other path must stay outside of."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from structopt.arrays import Ints
from structopt.structures.lattice.arrays_kernels import prefixes
from structopt.structures.lattice.inputs import Lattices, Paths


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
    def of(cls, lattices: Lattices, paths: Paths, references: Ints) -> Trie:
        """Merge the paths ``references[i] .. references[i + 1] - 1`` of every lattice i."""
        sources = lattices.node_ptr[:-1]
        at, parent, label = prefixes(sources, references, *paths, lattices.head)
        order = np.argsort(at, kind="stable")  # prefixes before longer ones
        renumbered = np.empty(len(at) + 1, dtype=np.int64)
        renumbered[order], renumbered[-1] = np.arange(len(at)), -1
        counts = np.bincount(at, minlength=len(lattices.in_ptr) - 1)
        return cls(
            np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
            renumbered[parent[order]],
            label[order],
        )
