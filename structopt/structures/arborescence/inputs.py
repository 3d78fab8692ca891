r"""Sentences as candidate arcs: every form an input may have, brought to one.

Nodes are 0 (the root) and 1 .. T (the tokens); an arc (h, m) makes h the head of m.

>>> import numpy as np
>>> arcs = read_arcs(np.ones((3, 2, 4)))  # (T + 1, T, d): the root and two tokens
>>> arcs.n_tokens, list(zip(arcs.head.tolist(), arcs.dependent.tolist()))
(2, [(0, 1), (0, 2), (1, 2), (2, 1)])
>>> arcs.features.shape
(4, 4)
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from structopt.arrays import Ints, stack_sequences
from structopt.errors import InvalidInputError

FORMS = (
    "an array (T + 1, T, d), a sparse matrix with (T + 1) T rows, a pair (arcs, features) or a "
    "networkx.DiGraph"
)


class Arcs(NamedTuple):
    """Candidate arcs of one sentence with their features, a row each."""

    n_tokens: int
    head: Ints
    dependent: Ints
    features: Any


class Sentences(NamedTuple):
    """Stacked sentences: sentence i has arcs ``arcs[i] ..`` and tokens ``tokens[i] ..``."""

    features: Any
    arcs: Ints
    head: Ints
    dependent: Ints
    tokens: Ints


def read_arcs(x: Any, *, example: int | None = None) -> Arcs:
    """Return the candidate arcs of a sentence, self-arcs left out.

    Parameters
    ----------
    x : array, sparse matrix, (arcs, features) or networkx.DiGraph
        Features of every arc, heads x dependents x features; the same with one row per arc, row
        h T + (m - 1) for the arc (h, m); candidates (h, m) with a row each; or a graph with nodes
        0 .. T and an attribute "features" on every edge.
    example : int, optional
        The example's number in messages.
    """
    where = "The input" if example is None else f"The input of example {example}"
    if hasattr(x, "is_directed"):
        return _from_graph(x, where, example)
    if isinstance(x, tuple):
        return _from_pairs(x, where, example)
    rows = x.shape[0] if sp.issparse(x) else None
    if rows is None:
        try:
            x = np.asarray(x, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise InvalidInputError(f"{where} is not {FORMS} ({error}).", example=example) from None
        if x.ndim != 3 or x.shape[0] != x.shape[1] + 1:
            raise InvalidInputError(
                f"{where} has shape {x.shape}; expected (T + 1, T, d): heads (the root first), "
                "dependents, features.",
                example=example,
            )
        rows = x.shape[0] * x.shape[1]
        x = x.reshape(rows, x.shape[2])
    length = math.isqrt(rows)  # the largest T with T (T + 1) <= rows, or one more
    if length * (length + 1) != rows:
        raise InvalidInputError(
            f"{where} has {rows} rows, which is not (T + 1) T for any T: for some of the arcs, "
            "give a pair (arcs, features).",
            example=example,
        )
    head, dependent = np.divmod(np.arange(rows), max(length, 1))
    kept = np.flatnonzero(head != dependent + 1)
    features = sp.csr_array(x)[kept] if sp.issparse(x) else x[kept]
    return Arcs(length, head[kept], dependent[kept] + 1, features)


def _from_graph(graph: Any, where: str, example: int | None) -> Arcs:
    n = graph.number_of_nodes()
    if not graph.is_directed() or graph.is_multigraph() or set(graph) != set(range(n)):
        raise InvalidInputError(
            f"{where} is a {type(graph).__name__} of {n} nodes; expected a DiGraph with the nodes "
            f"0 (the root) to {max(n - 1, 0)}.",
            example=example,
        )
    edges = [(u, v, f) for u, v, f in graph.edges(data="features") if u != v]
    lacking = next(((u, v) for u, v, f in edges if f is None), None)
    if lacking is not None:
        raise InvalidInputError(
            f"{where}: the edge {lacking} has no attribute 'features'.", example=example
        )
    if any(sp.issparse(f) for _, _, f in edges):
        features: Any = sp.vstack([sp.csr_array(f).reshape(1, -1) for _, _, f in edges])
    else:
        features = [f for _, _, f in edges]
    return _from_pairs(([(u, v) for u, v, _ in edges], features), where, example)


def _from_pairs(x: tuple[Any, ...], where: str, example: int | None) -> Arcs:
    if len(x) != 2:
        raise InvalidInputError(f"{where} is a tuple of {len(x)}; expected {FORMS}.")
    pairs = np.asarray(x[0])
    if pairs.ndim != 2 or pairs.shape[1] != 2 or pairs.dtype.kind not in "iu" or not len(pairs):
        raise InvalidInputError(
            f"{where}: its arcs have shape {pairs.shape} and type {pairs.dtype}; expected (m, 2) "
            "integers, m >= 1: head and dependent of each arc.",
            example=example,
        )
    pairs = pairs.astype(np.int64)
    features = x[1] if sp.issparse(x[1]) or isinstance(x[1], np.ndarray) else np.asarray(x[1])
    if features.shape[0] != len(pairs):
        raise InvalidInputError(
            f"{where} has {len(pairs)} arcs but {features.shape[0]} rows of features.",
            example=example,
        )
    head, dependent = pairs[:, 0], pairs[:, 1]
    n = int(dependent.max())
    wrong = (head < 0) | (head > n) | (dependent < 1) | (head == dependent)
    if wrong.any():
        a = int(np.argmax(wrong))
        raise InvalidInputError(
            f"{where}: the arc ({head[a]}, {dependent[a]}) is impossible; heads are 0 (the root) "
            f"to {n}, dependents 1 to {n}, and no token is its own head.",
            example=example,
        )
    code = np.sort(head * (n + 1) + dependent)
    twice = np.flatnonzero(np.diff(code) == 0)
    if len(twice):
        u, v = divmod(int(code[twice[0]]), n + 1)
        raise InvalidInputError(f"{where}: the arc ({u}, {v}) is given twice.", example=example)
    return Arcs(n, head, dependent, features)


def stack_sentences(X: Any, n_inputs: int | None = None, *, start: int = 0) -> Sentences:
    """Return checked sentences in one stack; ``start`` is the number of the first in messages."""
    if not isinstance(X, list | tuple | np.ndarray):
        raise InvalidInputError(
            f"X is a {type(X).__name__}: give a list with one sentence per example, each {FORMS}."
        )
    read = [read_arcs(x, example=i) for i, x in enumerate(X, start)]
    features, arcs, _ = stack_sequences([r.features for r in read], n_inputs, start=start)
    return Sentences(
        features,
        arcs,
        np.concatenate([r.head for r in read]),
        np.concatenate([r.dependent for r in read]),
        np.concatenate([[0], np.cumsum([r.n_tokens for r in read])]).astype(np.int64),
    )
