r"""Pairs of node sets with candidate edges: what users hand in, read and checked.

An example is two sets of nodes and the edges that may be matched between them, each with a vector
of features; every node may have a limit (fertility) on how many of its edges are matched. It comes
as an array ``(n1, n2, d)``, as :class:`CandidateEdges`, or as a bipartite networkx graph.

>>> import numpy as np
>>> pair = read_pair(np.zeros((2, 3, 4)), (1, 1), None)
>>> pair.edges[:4].tolist(), pair.features.shape
([[0, 0], [0, 1], [0, 2], [1, 0]], (6, 4))
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Integral
from typing import Any, NamedTuple

import networkx as nx
import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from structopt.arrays import Ints, as_matrix, check_columns, first_not_finite
from structopt.errors import InvalidInputError
from structopt.structures.base.given import held_parts


@dataclass(frozen=True)
class CandidateEdges:
    """A pair of node sets of which only some edges can be matched.

    Parameters
    ----------
    edges : array of int, shape (E, 2)
        Left and right node of each candidate, numbered from 0; no edge twice.
    features : array or sparse matrix, shape (E, d)
    shape : (n1, n2), optional
        Sizes of the two sets; by default just large enough for the edges.
    fertility : (array (n1,), array (n2,)), optional
        How many edges each node may have, where it differs from the structure's.

    Examples
    --------
    >>> x = CandidateEdges([(0, 1), (1, 0)], [[0.5], [2.0]], shape=(2, 2))
    """

    edges: Any
    features: Any
    shape: tuple[int, int] | None = None
    fertility: tuple[Any, Any] | None = None


class Pair(NamedTuple):
    """A checked example: edges sorted by left, then right node."""

    edges: Ints
    features: Any
    shape: tuple[int, int]
    fertility: tuple[Ints, Ints]
    names: tuple[list[Any], list[Any]] | None
    """The nodes of a networkx graph; None where nodes are numbers."""

    def named(self, mask: NDArray[np.bool_]) -> frozenset[tuple[Any, Any]]:
        """Return the chosen edges as a set of (left, right)."""
        chosen = self.edges[mask].tolist()
        if self.names is None:
            return frozenset((i, j) for i, j in chosen)
        left, right = self.names
        return frozenset((left[i], right[j]) for i, j in chosen)


def read_pair(
    x: Any, fertility: tuple[int, int], n_inputs: int | None, example: int | None = None
) -> Pair:
    """Read one example; ``fertility`` is the limit of left and right nodes that have no own."""
    where = "The input" if example is None else f"Input of example {example}"
    names, limits = None, None
    if isinstance(x, nx.Graph):
        x, names = _from_graph(x, fertility, where, example)
    if isinstance(x, CandidateEdges):
        edges, shape = _checked_edges(x, where, example)
        features, limits = x.features, x.fertility
    else:
        edges, features, shape = _from_array(x, where, example)
    if len(edges) == 0 and n_inputs is not None:  # no candidates: nothing to say about columns
        features = np.zeros((0, n_inputs))
    matrix = as_matrix(features, name=f"{where} (features)", example=example)
    if matrix.shape[0] != len(edges):
        raise InvalidInputError(
            f"{where} has {len(edges)} candidate edges but {matrix.shape[0]} rows of features.",
            example=example,
        )
    columns = matrix.shape[1] if n_inputs is None else n_inputs
    check_columns(matrix, columns, name=f"{where} (features)", example=example)
    bad = first_not_finite(matrix)
    if bad is not None:
        i, j = edges[bad[0]].tolist()
        raise InvalidInputError(
            f"{where} holds {bad[2]} at edge ({i}, {j}), column {bad[1]}: replace or drop what is "
            "not finite.",
            example=example,
        )
    order = np.lexsort((edges[:, 1], edges[:, 0]))
    if np.any(order[1:] < order[:-1]):
        edges, matrix = edges[order], matrix[order]
    twice = np.flatnonzero(np.all(edges[1:] == edges[:-1], axis=1))
    if len(twice):
        raise InvalidInputError(
            f"{where} names the edge {tuple(edges[twice[0]].tolist())} twice.", example=example
        )
    return Pair(edges, matrix, shape, _limits(limits, fertility, shape, where, example), names)


def as_set(y: Any, example: int | None = None) -> frozenset[tuple[Any, Any]]:
    """Return a matching as a set of pairs.

    A boolean or sparse matrix is an indicator; so is any other array, unless it has two columns of
    integers: those are pairs.
    """
    where = "An output" if example is None else f"The output of example {example}"
    if sp.issparse(y):
        y = y.toarray() != 0
    if isinstance(y, np.ndarray) and y.ndim == 2:
        if y.dtype != bool and y.shape[1] == 2 and y.dtype.kind in "iu":
            return frozenset((i, j) for i, j in y.tolist())
        if y.size and not np.all((y == 0) | (y == 1)):
            raise InvalidInputError(
                f"{where} is a matrix with entries other than 0 and 1.", example=example
            )
        return frozenset((int(i), int(j)) for i, j in np.argwhere(y != 0))
    pairs = y.tolist() if isinstance(y, np.ndarray) else y
    try:
        return frozenset((_plain(i), _plain(j)) for i, j in pairs)
    except (TypeError, ValueError):
        raise InvalidInputError(
            f"{where} is {y!r}: give a set of pairs (left, right) or a 0/1 matrix.",
            example=example,
        ) from None


def gold_mask(pair: Pair, y: Any, example: int | None = None) -> NDArray[np.bool_]:
    """Return which candidate edges y has; refuse edges that are none, and too many at a node."""
    where = "The output" if example is None else f"The output of example {example}"
    two = isinstance(y, np.ndarray) and y.ndim == 2 and y.dtype.kind in "iu"
    if two and y.shape == pair.shape and y.shape[1] == 2:
        raise InvalidInputError(
            f"{where} is an integer array of shape {y.shape}, which could be pairs or a 0/1 "
            "matrix: give a boolean matrix, or a set of pairs.",
            example=example,
        )
    chosen = as_set(y, example)
    if not chosen:
        return np.zeros(len(pair.edges), dtype=bool)
    mask = np.fromiter(
        (edge in chosen for edge in _names_of(pair)), dtype=bool, count=len(pair.edges)
    )
    if int(mask.sum()) < len(chosen):
        known = set(_names_of(pair))
        stray = next(edge for edge in chosen if edge not in known)
        raise InvalidInputError(
            f"{where} has the edge {stray!r}, which is not one of the {len(pair.edges)} candidate "
            f"edges between {pair.shape[0]} and {pair.shape[1]} nodes.",
            example=example,
        )
    for side, limit in enumerate(pair.fertility):
        used = np.bincount(pair.edges[mask, side], minlength=len(limit))
        if np.any(used > limit):
            node = int(np.argmax(used > limit))
            raise InvalidInputError(
                f"{where} has {used[node]} edges at {('left', 'right')[side]} node {node}, whose "
                f"fertility is {limit[node]}: raise it with fertility=.",
                example=example,
            )
    return mask


def known_edges(pair: Pair, y: Any, example: int | None = None) -> NDArray[np.int8]:
    """Return for each candidate edge whether y has it: 1, 0, or -1 where that is unknown.

    A mapping says it of the edges that it names (the others are none), a matrix with NaN, None or
    masked entries of all; anything else is known in full.
    """
    if not is_partial(y):
        return gold_mask(pair, y, example).astype(np.int8)
    sure, open_ = parted(y, example)
    known = gold_mask(pair, sure, example).astype(np.int8)
    unknown = [edge in open_ for edge in _names_of(pair)]
    known[np.array(unknown, dtype=bool)] = -1
    return known


def given_edges(pair: Pair, given: Any, example: int) -> NDArray[np.int8]:
    """Return for each candidate edge whether a matching must have it (1), must not (0), or may.

    A mapping or a matrix says it of edges, a set or list names those that it must have.
    """
    if isinstance(given, np.ndarray) and given.shape == pair.shape:
        hidden, cells = np.ma.getmaskarray(given), np.asarray(given, dtype=object)
        named = {e: None if hidden[e] else cells[e] for e in np.ndindex(pair.shape)}
        given = {edge: named[edge] for edge in _names_of(pair)}
    return held_parts(given, _names_of(pair), example)


def is_partial(y: Any) -> bool:
    """Return whether an output is in a form that may leave edges open."""
    matrix = isinstance(y, np.ndarray) and y.ndim == 2 and y.dtype.kind in "fO"
    return isinstance(y, Mapping | np.ma.MaskedArray) or (matrix and any(map(_open, y.flat)))


def parted(y: Any, example: int | None = None) -> tuple[Any, Any]:
    """Return the edges that an output has, and those of which it is unknown."""
    if not is_partial(y):
        return as_set(y, example), frozenset()
    if isinstance(y, Mapping):
        named = list(y.items())
    else:
        hidden = np.ma.getmaskarray(y)
        given = np.asarray(y, dtype=object)
        named = [(place, None if hidden[place] else given[place]) for place in np.ndindex(y.shape)]
    odd = [value for _, value in named if not _open(value) and value not in (0, 1)]
    if odd:
        raise InvalidInputError(
            f"An output says {odd[0]!r} of an edge: give True, False, or None where it is unknown.",
            example=example,
        )
    sure = frozenset(edge for edge, value in named if not _open(value) and value)
    return sure, frozenset(edge for edge, value in named if _open(value))


def _open(value: Any) -> bool:
    return value is None or value != value  # NaN is not equal to itself


def _names_of(pair: Pair) -> list[tuple[Any, Any]]:
    if pair.names is None:
        return list(zip(*pair.edges.T.tolist(), strict=True))
    left, right = pair.names
    return [(left[i], right[j]) for i, j in pair.edges.tolist()]


def _plain(node: Any) -> Any:
    return node.item() if isinstance(node, np.generic) else node


def _from_array(x: Any, where: str, example: int | None) -> tuple[Ints, Any, tuple[int, int]]:
    try:
        array = np.asarray(x, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidInputError(
            f"{where} cannot be read as an array (n1, n2, d), CandidateEdges or a bipartite "
            f"networkx graph ({error}).",
            example=example,
        ) from error
    if array.ndim != 3:
        raise InvalidInputError(
            f"{where} has shape {array.shape}: give an array (n1, n2, d), CandidateEdges or a "
            "bipartite networkx graph.",
            example=example,
        )
    n1, n2, d = array.shape
    edges = np.stack([np.repeat(np.arange(n1), n2), np.tile(np.arange(n2), n1)], axis=1)
    return edges, array.reshape(n1 * n2, d), (n1, n2)


def _checked_edges(
    x: CandidateEdges, where: str, example: int | None
) -> tuple[Ints, tuple[int, int]]:
    try:
        given = np.asarray(x.edges)
    except ValueError as error:  # rows of unlike lengths
        raise InvalidInputError(f"{where}: edges are pairs ({error}).", example=example) from error
    if given.size == 0:
        given = np.zeros((0, 2), dtype=np.int64)
    if given.ndim != 2 or given.shape[1] != 2 or given.dtype.kind not in "iu":
        raise InvalidInputError(
            f"{where}: edges has shape {given.shape} and type {given.dtype}; expected integers of "
            "shape (E, 2).",
            example=example,
        )
    edges: Ints = given.astype(np.int64)
    least = (int(edges[:, 0].max(initial=-1)) + 1, int(edges[:, 1].max(initial=-1)) + 1)
    shape = least if x.shape is None else x.shape
    told = np.array(shape, dtype=object).ravel().tolist()
    if len(as_whole := [int(n) for n in told if isinstance(n, Integral)]) != 2:
        raise InvalidInputError(
            f"{where}: shape is {x.shape!r}; give (left nodes, right nodes).", example=example
        )
    n1, n2 = as_whole
    if n1 < least[0] or n2 < least[1] or edges.min(initial=0) < 0:
        raise InvalidInputError(
            f"{where} has edges outside its shape ({n1}, {n2}): nodes are numbered from 0.",
            example=example,
        )
    return edges, (n1, n2)


def _from_graph(
    graph: Any, fertility: tuple[int, int], where: str, example: int | None
) -> tuple[CandidateEdges, tuple[list[Any], list[Any]]]:
    sides: tuple[list[Any], list[Any]] = ([], [])
    limits: tuple[list[int], list[int]] = ([], [])
    place: dict[Any, tuple[int, int]] = {}
    for node, attributes in graph.nodes(data=True):
        side = attributes.get("bipartite")
        if side not in (0, 1):
            raise InvalidInputError(
                f"{where}: node {node!r} needs the attribute bipartite=0 (left) or 1 (right).",
                example=example,
            )
        place[node] = (side, len(sides[side]))
        sides[side].append(node)
        limits[side].append(attributes.get("fertility", fertility[side]))
    edges, features = [], []
    for u, v, attributes in graph.edges(data=True):
        if place[u][0] == place[v][0] or "features" not in attributes:
            raise InvalidInputError(
                f"{where}: edge ({u!r}, {v!r}) must join a left and a right node and have the "
                "attribute features=.",
                example=example,
            )
        a, b = (u, v) if place[u][0] == 0 else (v, u)
        edges.append((place[a][1], place[b][1]))
        features.append(np.asarray(attributes["features"], dtype=np.float64).ravel())
    shape = (len(sides[0]), len(sides[1]))
    if len({len(f) for f in features}) > 1:
        raise InvalidInputError(
            f"{where}: the features of its edges differ in length.", example=example
        )
    matrix = np.array(features) if features else np.zeros((0, 0))
    return CandidateEdges(edges, matrix, shape, limits), sides


def _limits(
    given: Any, default: tuple[int, int], shape: tuple[int, int], where: str, example: int | None
) -> tuple[Ints, Ints]:
    sides = [np.full(n, limit) for n, limit in zip(shape, default, strict=True)]
    if given is not None and not (isinstance(given, tuple | list) and len(given) == 2):
        raise InvalidInputError(
            f"{where}: fertility is {given!r}; give one list for left and one for right nodes.",
            example=example,
        )
    for side, own in enumerate(given or ()):
        limit = np.asarray(own)
        whole = limit.dtype.kind in "iu" or limit.size == 0
        if limit.shape != (shape[side],) or not whole or np.any(limit < 0):
            raise InvalidInputError(
                f"{where}: fertility of the {('left', 'right')[side]} nodes must be "
                f"{shape[side]} integers >= 0; got {own!r}.",
                example=example,
            )
        sides[side] = limit
    left, right = (side.astype(np.int64) for side in sides)
    return left, right
