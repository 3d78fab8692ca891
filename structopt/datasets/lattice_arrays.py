"""Lattices and paths as arrays: what comes in where a graph object each would be too much.

Lattice i has the nodes ``0 .. node_ptr[i + 1] - node_ptr[i] - 1``, numbered by itself; the first is
its source and the last its sink. Its arcs are ``arc_ptr[i] .. arc_ptr[i + 1] - 1``, each from
``tail`` to ``head``, with a row of ``arc_features``. A path is a sequence of arcs, each by its
number within its lattice.

>>> import numpy as np
>>> X = LatticeArrays(node_ptr=[0, 3, 5], arc_ptr=[0, 3, 5], tail=[0, 0, 1, 0, 0],
...                   head=[1, 2, 2, 1, 1], arc_features=np.eye(5))
>>> len(X), X[1:].head.tolist(), X[0].arc_features.shape, X[[1, 0]].arc_ptr.tolist()
(2, [1, 1], (3, 5), [0, 2, 5])
>>> Y = PathArrays(ptr=[0, 2, 3], arcs=[0, 2, 1])
>>> Y[0], Y[1]
((0, 2), (1,))

Several references each: example i has the paths ``references[i] .. references[i + 1] - 1``.

>>> several = PathArrays(ptr=[0, 2, 3, 4], arcs=[0, 2, 1, 1], references=[0, 2, 3])
>>> several[0], len(several)
([(0, 2), (1,)], 2)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from structopt.arrays import Ints, as_matrix, base_matrix, count, cut_rows
from structopt.errors import InvalidInputError


@dataclass(frozen=True, eq=False)
class LatticeArrays(Sequence[Any]):
    """Many lattices in a few arrays.

    A slice of them is a view, an array of numbers or a mask takes some, and a number gives a data
    set of one.

    Parameters
    ----------
    node_ptr, arc_ptr : arrays of int, shape (n + 1,)
        Where the nodes and the arcs of each lattice begin.
    tail, head : arrays of int, shape (E,)
        The node that each arc leaves, and the one that it enters, numbered within its lattice.
    arc_features : sparse or dense matrix, shape (E, d)
        Arrays that are mapped from files stay mapped, if arcs are sorted by the node they enter,
        nodes are in topological order, and every arc lies between source and sink.
    labels : sequence, shape (E,), optional
        What each arc says; None says nothing.

    Examples
    --------
    >>> import structopt as so
    >>> X = so.LatticeArrays([0, 2], [0, 2], [0, 0], [1, 1], [[1.0, 0.0], [0.0, 1.0]])
    >>> Y = so.PathArrays([0, 1], [1])
    >>> model = so.StructuredClassifier(so.Lattice(), so.LPStruct(C=10.0)).fit(X, Y)
    >>> model.predict(X), model.score(X, Y)
    ([(1,)], 1.0)
    """

    node_ptr: Any
    arc_ptr: Any
    tail: Any
    head: Any
    arc_features: Any
    labels: Any = None

    def __post_init__(self) -> None:
        for name in ("node_ptr", "arc_ptr", "tail", "head"):
            object.__setattr__(self, name, _whole(getattr(self, name), name))
        if not (sp.issparse(self.arc_features) and self.arc_features.format == "csr"):
            given = self.arc_features
            if not isinstance(given, np.memmap):  # which is to stay one
                given = as_matrix(given, name="arc_features")
            object.__setattr__(self, "arc_features", base_matrix(given))
        _check_ends(self.node_ptr, "node_ptr", None)
        _check_ends(self.arc_ptr, "arc_ptr", len(self.tail))
        if len(self.node_ptr) != len(self.arc_ptr):
            raise InvalidInputError(
                f"node_ptr tells of {len(self.node_ptr) - 1} lattices and arc_ptr of "
                f"{len(self.arc_ptr) - 1}: give both an entry per lattice, and the end of the last."
            )
        rows = self.arc_features.shape[0]
        if not len(self.tail) == len(self.head) == rows:
            raise InvalidInputError(
                f"{len(self.tail)} tails, {len(self.head)} heads and {rows} rows of arc_features: "
                "give one of each for every arc."
            )
        if hasattr(self.labels, "nnz"):
            raise InvalidInputError("labels is a sparse matrix: give a list, one entry an arc.")
        if self.labels is not None and count(self.labels, "labels") != rows:
            raise InvalidInputError(f"{len(self.labels)} labels for {rows} arcs.")

    @classmethod
    def of_nbest(cls, list_ptr: Any, features: Any, labels: Any = None) -> LatticeArrays:
        """Return n-best lists as lattices of two nodes: every hypothesis is an arc.

        Hypotheses ``list_ptr[i] .. list_ptr[i + 1] - 1`` are those of sentence i, a row of
        ``features`` each.

        >>> X = LatticeArrays.of_nbest([0, 2, 5], np.ones((5, 3)))
        >>> len(X), X[1].tail.tolist(), X[1].head.tolist()
        (2, [0, 0, 0], [1, 1, 1])
        """
        ends = _whole(list_ptr, "list_ptr")
        size, n = int(ends[-1]), len(ends) - 1
        tail, head = np.zeros(size, dtype=np.int32), np.ones(size, dtype=np.int32)
        return cls(2 * np.arange(n + 1), ends, tail, head, features, labels)

    @classmethod
    def concatenated(cls, parts: Sequence[LatticeArrays]) -> LatticeArrays:
        """Return the lattices of all parts, which have features of one width, and no labels."""
        width = parts[0].arc_features.shape[1]
        rows = [part.arc_features for part in parts]
        if any(csr.shape[1] != width for csr in rows):
            raise InvalidInputError(
                f"Parts have {[csr.shape[1] for csr in rows]} features: give one width."
            )
        data, indices = (np.concatenate([getattr(r, n) for r in rows]) for n in ("data", "indices"))
        ends = _ends([csr.indptr for csr in rows])
        shape = (len(ends) - 1, width)
        return cls(
            _ends([part.node_ptr for part in parts]),
            _ends([part.arc_ptr for part in parts]),
            np.concatenate([part.tail for part in parts]),
            np.concatenate([part.head for part in parts]),
            sp.csr_array((data, indices, ends.astype(indices.dtype)), shape=shape),
        )

    def __len__(self) -> int:
        return len(self.node_ptr) - 1

    def __iter__(self) -> Iterator[LatticeArrays]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, key: Any) -> LatticeArrays:
        if isinstance(key, np.ndarray | list):
            which = np.arange(len(self))[key]
            nodes, (arcs, own) = _gathered(self.node_ptr, which)[0], _gathered(self.arc_ptr, which)
            labels = None if self.labels is None else np.asarray(self.labels, dtype=object)[own]
            features = self.arc_features[own]
            return LatticeArrays(nodes, arcs, self.tail[own], self.head[own], features, labels)
        a, b = _range(key, len(self))
        cut = slice(int(self.arc_ptr[a]), int(self.arc_ptr[b]))
        return replace(
            self,
            node_ptr=self.node_ptr[a : b + 1] - self.node_ptr[a],
            arc_ptr=self.arc_ptr[a : b + 1] - self.arc_ptr[a],
            tail=self.tail[cut],
            head=self.head[cut],
            arc_features=cut_rows(self.arc_features, cut.start, cut.stop),
            labels=None if self.labels is None else self.labels[cut],
        )

    @property
    def nbytes(self) -> int:
        """Bytes of all numbers."""
        csr = self.arc_features
        every = (self.node_ptr, self.arc_ptr, self.tail, self.head, csr.data, csr.indices)
        return int(csr.indptr.nbytes + sum(array.nbytes for array in every))


@dataclass(frozen=True, eq=False)
class PathArrays(Sequence[Any]):
    """The paths of many lattices in two arrays, or in three where there are several references.

    Parameters
    ----------
    ptr : array of int
        Path p takes the arcs ``arcs[ptr[p] : ptr[p + 1]]``.
    arcs : array of int
        Each by its number within its lattice.
    references : array of int, shape (n + 1,), optional
        Where the paths of each lattice begin; without it there is one each.

    Examples
    --------
    >>> import structopt as so
    >>> Y = so.PathArrays([0, 1, 2], [1, 0], references=[0, 2])
    >>> list(Y)
    [[(1,), (0,)]]
    """

    ptr: Any
    arcs: Any
    references: Any = None

    def __post_init__(self) -> None:
        for name in ("ptr", "arcs"):
            object.__setattr__(self, name, _whole(getattr(self, name), name))
        _check_ends(self.ptr, "ptr", len(self.arcs))
        if self.references is not None:
            object.__setattr__(self, "references", _whole(self.references, "references"))
            _check_ends(self.references, "references", len(self.ptr) - 1)

    @classmethod
    def concatenated(cls, parts: Sequence[PathArrays]) -> PathArrays:
        """Return the paths of all parts, each with several references or each without."""
        several = [part.references for part in parts]
        return cls(
            _ends([part.ptr for part in parts]),
            np.concatenate([part.arcs for part in parts]),
            None if several[0] is None else _ends(several),
        )

    def __len__(self) -> int:
        return len(self.ptr if self.references is None else self.references) - 1

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, np.ndarray | list):
            which, ends = np.arange(len(self))[key], None
            if self.references is not None:
                ends, which = _gathered(self.references, which)
            ptr, own = _gathered(self.ptr, which)
            return PathArrays(ptr, self.arcs[own], ends)
        a, b = _range(key, len(self))
        if isinstance(key, slice):
            ends = None if self.references is None else self.references[a : b + 1]
            first, stop = (a, b) if ends is None else (int(ends[0]), int(ends[-1]))
            ptr = self.ptr[first : stop + 1]
            arcs = self.arcs[int(ptr[0]) : int(ptr[-1])]
            return PathArrays(ptr - ptr[0], arcs, None if ends is None else ends - ends[0])
        if self.references is None:
            return tuple(self.arcs[self.ptr[a] : self.ptr[b]].tolist())
        listed = range(int(self.references[a]), int(self.references[b]))
        return [tuple(self.arcs[self.ptr[p] : self.ptr[p + 1]].tolist()) for p in listed]


def _whole(values: Any, name: str) -> Ints:
    """Return integers as they are, as an array; refuse what is none."""
    try:
        array = np.asarray(values)
    except ValueError as error:  # lists of unlike lengths
        raise InvalidInputError(f"{name} must be a list of integers ({error}).") from error
    if array.ndim != 1 or (array.dtype.kind not in "iu" and array.size):
        raise InvalidInputError(
            f"{name} has the type {array.dtype} and shape {array.shape}: give a list of integers."
        )
    return array if array.size else array.astype(np.int64)


def _check_ends(ends: Ints, name: str, stop: int | None) -> None:
    if len(ends) == 0 or ends[0] != 0 or (stop is not None and ends[-1] != stop):
        expected = "" if stop is None else f", and ends with {stop}"
        raise InvalidInputError(f"{name} begins with 0{expected}: got {ends[:1]} .. {ends[-1:]}.")
    falls = np.flatnonzero(np.diff(ends) < 0)
    if len(falls):
        raise InvalidInputError(f"{name} falls after entry {falls[0]}: ends are in order.")


def _ends(parts: Sequence[Ints]) -> Ints:
    """Return the ends of parts put behind each other."""
    lengths = [np.zeros(1, dtype=np.int64), *(np.diff(part) for part in parts)]
    return np.cumsum(np.concatenate(lengths), dtype=np.int64)


def _gathered(ends: Ints, which: Ints) -> tuple[Ints, Ints]:
    """Return the ends of some parts, and the places of their entries."""
    lengths = np.diff(ends)[which]
    new = np.concatenate([[0], np.cumsum(lengths)])
    return new, np.repeat(ends[:-1][which] - new[:-1], lengths) + np.arange(new[-1])


def _range(key: Any, n: int) -> tuple[int, int]:
    if isinstance(key, slice):
        a, b, step = key.indices(n)
        if step != 1:
            raise InvalidInputError("Arrays of lattices and paths are cut without steps.")
        return a, max(a, b)
    i = int(key) + (n if key < 0 else 0)
    if not 0 <= i < n:
        raise IndexError(f"{key} of {n} examples")
    return i, i + 1
