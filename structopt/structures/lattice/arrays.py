r"""Lattices that come as arrays, read at array speed: checked, pruned and put in order.

Nothing is made per arc but numbers. Arcs that are sorted by the node they enter, with nodes in
topological order and nothing to prune, leave the features where they are; others are moved once.

>>> import numpy as np
>>> from structopt.datasets.lattice_arrays import LatticeArrays, PathArrays
>>> given = LatticeArrays([0, 4], [0, 4], [2, 0, 0, 0], [3, 2, 3, 1], np.eye(4))
>>> lattices = read_arrays(given, 4)
>>> lattices.edges.tolist(), lattices.tail.tolist()  # arc 3 leads nowhere
([1, 0, 2], [0, 1, 0])
>>> read_paths(lattices, PathArrays([0, 2], [1, 0])).edges.tolist()
[0, 1]
"""

from __future__ import annotations

from typing import Any

import numpy as np

from structopt.arrays import Ints, base_matrix, first_not_finite
from structopt.datasets.lattice_arrays import LatticeArrays, PathArrays
from structopt.errors import InvalidInputError
from structopt.structures.lattice import arrays_kernels
from structopt.structures.lattice.inputs import Lattices, Paths


def read_arrays(given: LatticeArrays, n_features: int, *, start: int = 0) -> Lattices:
    """Return checked lattices; ``start`` numbers the first in messages."""
    node_ptr, arc_ptr = (p.astype(np.int64, copy=False) for p in (given.node_ptr, given.arc_ptr))
    n = len(given)
    if given.arc_features.shape[1] != n_features:
        raise InvalidInputError(
            f"Arcs have {given.arc_features.shape[1]} features; expected {n_features}."
        )
    sizes, counts = np.diff(node_ptr), np.diff(arc_ptr)
    few = np.flatnonzero((sizes < 2) | (counts == 0))
    if len(few):
        i = int(few[0])
        raise _refused(
            start + i,
            f"has {sizes[i]} nodes and {counts[i]} arcs: it needs a source, a sink and an arc",
        )
    owner = np.repeat(np.arange(n, dtype=np.int32), counts)
    for name, nodes in (("tail", given.tail), ("head", given.head)):
        odd = (nodes < 0) | (nodes >= sizes[owner])
        if np.any(odd):
            e = int(np.argmax(odd))
            i = int(owner[e])
            raise _refused(
                start + i,
                f"has an arc, number {e - arc_ptr[i]}, with the {name} {nodes[e]}: its nodes are "
                f"0 .. {sizes[i] - 1}",
            )
    place, kept, bad, reason = arrays_kernels.between(node_ptr, arc_ptr, given.tail, given.head)
    if bad >= 0:
        why = "has a cycle" if reason == 1 else "has no path from node 0 to its last node"
        raise _refused(start + bad, f"{why}: it leads without cycles from the first to the last")
    nodes_before = np.concatenate([[0], np.cumsum(kept)]).astype(np.int64)
    tail, head = (
        np.where((new := place[node_ptr[owner] + nodes]) < 0, -1, new + nodes_before[owner])
        for nodes in (given.tail, given.head)
    )
    alive = (tail >= 0) & (head >= 0)
    base = base_matrix(given.arc_features)
    if (wrong := first_not_finite(base)) is not None:
        i = int(owner[wrong[0]])
        raise _refused(
            start + i,
            f"holds {wrong[2]} at arc {wrong[0] - arc_ptr[i]}, feature {wrong[1]}: replace what is "
            "not finite",
        )
    arcs = np.arange(len(owner)) - arc_ptr[owner]
    if not alive.all() or np.any(np.diff(head) < 0):
        order = np.flatnonzero(alive)
        order = order[np.argsort(head[order], kind="stable")]
        base, arcs, tail, head = base[order], arcs[order], tail[order], head[order]
    into = np.bincount(head, minlength=int(nodes_before[-1]))
    in_ptr = np.concatenate([[0], np.cumsum(into)]).astype(np.int64)
    arcs = arcs.astype(np.int32, copy=False)
    return Lattices(nodes_before, in_ptr, tail, arcs, base, start, arc_ptr)


def read_paths(lattices: Lattices, given: PathArrays) -> Paths:
    """Return paths as edge numbers; refuse what leads not from source to sink."""
    arc_ptr, edge_ptr = lattices.arc_ptr, lattices.edge_ptr
    if arc_ptr is None:
        raise InvalidInputError(
            "Y is PathArrays, which number the arcs of LatticeArrays: give X as such, or paths of "
            "edges (u, v)."
        )
    n = lattices.n_examples
    counts = np.ones(n, dtype=np.int64) if given.references is None else np.diff(given.references)
    if np.any(counts == 0):
        i = lattices.start + int(np.argmin(counts))
        raise InvalidInputError(f"Example {i} has no reference: give at least one.", example=i)
    owner = np.repeat(np.arange(n), counts)
    lattice = np.repeat(owner, np.diff(given.ptr))
    outside = (given.arcs < 0) | (given.arcs >= np.diff(arc_ptr)[lattice])
    edges = np.where(outside, 0, given.arcs) + arc_ptr[lattice]
    numbers = np.full(int(arc_ptr[-1]), -1, dtype=np.int64)
    whose = np.repeat(np.arange(n), np.diff(edge_ptr))
    numbers[arc_ptr[whose] + lattices.edges] = np.arange(len(lattices.tail))
    edges = np.where(outside, -1, numbers[edges])
    ptr = given.ptr.astype(np.int64, copy=False)
    bad, step = arrays_kernels.first_broken(
        ptr, edges, owner, lattices.node_ptr, lattices.tail, lattices.head
    )
    if bad >= 0:
        i, arcs = lattices.start + int(owner[bad]), given.arcs[ptr[bad] : ptr[bad + 1]]
        why = f"it has {len(arcs)} arcs and does not end in the sink"
        if step < len(arcs):
            why = f"arc {arcs[step]} does not lead on from where it has come to"
        raise InvalidInputError(
            f"An output of example {i} is no path of its lattice: {why}. Give the arcs' numbers "
            "within the lattice, in order from source to sink.",
            example=i,
        )
    return Paths(ptr, edges)


def references_of(given: PathArrays) -> Ints:
    """Return where the paths of each example begin."""
    ends: Any = np.arange(len(given) + 1) if given.references is None else given.references
    return np.asarray(ends, dtype=np.int64)


def _refused(example: int, what: str) -> InvalidInputError:
    return InvalidInputError(f"The lattice of example {example} {what}.", example=example)
