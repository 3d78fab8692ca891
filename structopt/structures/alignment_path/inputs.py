r"""Pairs of sequences as arrays: symbols, or features of every pair of positions.

>>> pairs = read_pairs([("ab", "b")], ("a", "b"), 0)
>>> pairs.pair_offset, pairs.deleted, pairs.inserted     # columns of weights
(array([1, 3]), array([4, 5]), array([7]))
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from structopt.arrays import Ints, as_floats, stack_sequences
from structopt.errors import InvalidInputError
from structopt.structures.base.parts import UNIT

FORMS = "a pair of sequences of symbols (strings, or lists of them) or an array (n, m, d)"


@dataclass(frozen=True)
class Pairs:
    """Stacked pairs of sequences; example e has the symbols ``a_ends[e] ..``, ``b_ends[e] ..``.

    Attributes
    ----------
    base : CSR array
        The features of pairs of positions (none where weights belong to symbols), and a single 1.
    a_ends, b_ends, pair_ends : arrays of int
    pair_offset : array of int or None
        The weight of each pair of positions, where weights belong to symbols.
    deleted, inserted : arrays of int
        The weight of leaving out each symbol of the first and of the second sequence.
    """

    base: Any
    a_ends: Ints
    b_ends: Ints
    pair_ends: Ints
    pair_offset: Ints | None
    deleted: Ints
    inserted: Ints


def are_symbols(x: Any) -> bool:
    """Return whether an input is two sequences of symbols."""
    return isinstance(x, tuple | list) and len(x) == 2 and all(map(_sequence, x))


def _sequence(one: Any) -> bool:
    return isinstance(one, str) or (
        isinstance(one, list | tuple) and all(isinstance(s, str) for s in one)
    )


def read_pairs(X: Any, symbols: tuple[str, ...] | None, d: int, start: int = 0) -> Pairs:
    """Return checked pairs of sequences.

    Parameters
    ----------
    X : sequence
        See :data:`FORMS`.
    symbols : tuple of str, optional
        The alphabet; None if inputs are features.
    d : int
        Features of a pair of positions.
    start : int
        Number of the first example in messages.
    """
    if isinstance(X, str) or not hasattr(X, "__len__"):
        raise InvalidInputError(f"X is a {type(X).__name__}: give a list, each {FORMS}.")
    for i, x in enumerate(X, start):
        if are_symbols(x) != (symbols is not None):
            fitted = "features" if symbols is None else "symbols"
            raise InvalidInputError(
                f"The input of example {i} must be {FORMS}, as those that the structure was fitted "
                f"to ({fitted}).",
                example=i,
            )
    if symbols is None:
        return _of_features(X, d, start)
    place = {symbol: k for k, symbol in enumerate(symbols)}
    coded = [[_codes(one, place, i) for one in x] for i, x in enumerate(X, start)]
    first, second = (np.concatenate([pair[s] for pair in coded]) for s in range(2))
    k = len(symbols)
    offsets = [(a[:, None] * k + b).ravel() for a, b in coded]
    a_ends, b_ends = (_ends([len(pair[s]) for pair in coded]) for s in range(2))
    pair_ends = _ends([len(o) for o in offsets])
    gaps = (k * k + first, k * k + k + second)
    return Pairs(UNIT, a_ends, b_ends, pair_ends, np.concatenate(offsets), *gaps)


def _of_features(X: Any, d: int, start: int) -> Pairs:
    blocks, lengths = [], []
    for i, x in enumerate(X, start):
        given = np.zeros(0) if sp.issparse(x) else x
        array = as_floats(given, f"The input of example {i}")
        if array.ndim != 3 or not array.size:
            raise InvalidInputError(
                f"The input of example {i} has shape {np.shape(x)}; expected (n, m, d), none of "
                "them 0: features of every pair of positions.",
                example=i,
            )
        lengths.append(array.shape[:2])
        blocks.append(array.reshape(-1, array.shape[2]))
    stacked = stack_sequences(blocks, d, start=start)
    a_ends, b_ends = (_ends([pair[s] for pair in lengths]) for s in range(2))
    deleted = np.full(a_ends[-1], d)
    inserted = np.full(b_ends[-1], d + 1)
    return Pairs(stacked.base(), a_ends, b_ends, stacked.offsets, None, deleted, inserted)


def _codes(one: Any, place: dict[str, int], example: int) -> Ints:
    if not len(one):
        raise InvalidInputError(f"Example {example} has an empty sequence.", example=example)
    unknown = next((s for s in one if s not in place), None)
    if unknown is not None:
        raise InvalidInputError(
            f"The symbol {unknown!r} of example {example} is unknown: name every symbol in "
            "symbols=.",
            example=example,
        )
    return np.array([place[s] for s in one], dtype=np.int64)


def _ends(lengths: Any) -> Ints:
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
