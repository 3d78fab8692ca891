r"""Inputs of segments: the tokens of each sequence, and perhaps features of its spans.

An example is a (T, d) matrix, or a pair of it and of what describes spans: an array (T, L, p) with
the features of the span of k positions from s at [s, k - 1], or a function ``(begin, end)`` that
returns p numbers. Spans beyond the longest length, or beyond the end, are never looked at.

>>> import numpy as np
>>> def is_even(begin, end):
...     return [float((end - begin) % 2 == 0)]
>>> read = Sequences.of([(np.eye(2), is_even)], 2, 1, 3)
>>> read.spans.toarray().ravel(), read.stacked.offsets
(array([0., 1., 0., 0., 0., 0.]), array([0, 2]))
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from structopt.arrays import Floats, Stacked, as_floats, base_matrix, stack_sequences
from structopt.errors import InvalidInputError


@dataclass(frozen=True)
class Sequences:
    """Stacked tokens, and the features of all spans: row s * L + k - 1 is that of k positions."""

    stacked: Stacked
    spans: Any

    @classmethod
    def of(
        cls, X: Any, n_inputs: int | None, n_spans: int, most: int, *, start: int = 0
    ) -> Sequences:
        """Read examples of d inputs and p features of spans, up to ``most`` positions long."""
        whole = sp.issparse(X) or hasattr(X, "columns") or isinstance(X, str)
        tokens = X if whole or not hasattr(X, "__len__") else [tokens_of(x) for x in X]
        stacked = stack_sequences(tokens, n_inputs, start=start)
        given = [isinstance(x, tuple) for x in X]
        for i, has in enumerate(given, start):
            if has != (n_spans > 0):
                said = "has features of spans, unlike" if has else "has no features of spans, as"
                raise InvalidInputError(
                    f"Example {i} {said} those that the structure was fitted to: give (tokens, "
                    "spans) everywhere or nowhere.",
                    example=i,
                )
        if not n_spans:
            return cls(stacked, None)
        rows = []
        for i, (x, (a, b)) in enumerate(zip(X, pairwise(stacked.offsets.tolist()), strict=True)):
            rows.append(_described(x[1], b - a, most, n_spans, start + i))
        return cls(stacked, sp.csr_array(np.concatenate(rows).reshape(-1, n_spans)))

    def base(self) -> Any:
        """Return the tokens, the spans, and a row that is a single 1, as the kernels read them."""
        if self.spans is None:
            return self.stacked.base()
        tokens, one = sp.csr_array(self.stacked.matrix), sp.csr_array([[1.0]])
        width = max(tokens.shape[1], self.spans.shape[1])
        blocks = [_widened(block, width) for block in (tokens, self.spans, one)]
        return base_matrix(sp.vstack(blocks, format="csr"))


def tokens_of(x: Any) -> Any:
    """Return the tokens of an example."""
    return x[0] if isinstance(x, tuple) and len(x) == 2 else x


def span_width(x: Any) -> int:
    """Return how many features describe a span of an example; 0 if none do."""
    if not isinstance(x, tuple):
        return 0
    if len(x) != 2:
        raise InvalidInputError(f"An example is a tuple of {len(x)}: give (tokens, spans).")
    if callable(x[1]):
        return int(np.size(x[1](0, 1)))
    shape = np.shape(x[1])
    if len(shape) != 3 or not shape[2]:
        raise InvalidInputError(
            f"The spans of example 0 have shape {shape}: give an array (T, L, p), or a function "
            "(begin, end) that returns p numbers."
        )
    return int(shape[2])


def _described(given: Any, length: int, most: int, n_spans: int, example: int) -> Floats:
    """Return the features of all spans of one example, (T, L, p)."""
    found = np.zeros((length, most, n_spans))
    name = f"Features of spans of example {example}"
    if callable(given):
        for s in range(length):
            for k in range(1, min(most, length - s) + 1):
                row = np.ravel(as_floats(given(s, s + k), name))
                if len(row) != n_spans:
                    raise InvalidInputError(
                        f"{name}: ({s}, {s + k}) has {len(row)}; expected {n_spans}.",
                        example=example,
                    )
                found[s, k - 1] = row
    else:
        array = as_floats(given, name)
        wanted = min(most, length)
        shape_fits = array.ndim == 3 and array.shape[0] == length and array.shape[2] == n_spans
        if not shape_fits or array.shape[1] < wanted:
            raise InvalidInputError(
                f"{name} have shape {array.shape}; expected ({length}, {wanted} or more, "
                f"{n_spans}).",
                example=example,
            )
        every = np.arange(length)[:, None] + np.arange(1, wanted + 1) <= length
        found[:, :wanted] = np.where(every[..., None], array[:, :wanted], 0.0)
    if not np.all(np.isfinite(found)):
        s, k, j = (int(v[0]) for v in np.nonzero(~np.isfinite(found)))
        raise InvalidInputError(
            f"{name} hold {found[s, k, j]} at ({s}, {s + k + 1}), column {j}: replace what is not "
            "finite (NaN, inf).",
            example=example,
        )
    return found


def _widened(block: Any, width: int) -> Any:
    return sp.csr_array((block.data, block.indices, block.indptr), shape=(block.shape[0], width))


def check_sequences(X: Sequence[Any]) -> None:
    """Refuse what is one matrix, or a frame: they are no lists of sequences."""
    if sp.issparse(X) or hasattr(X, "columns"):
        stack_sequences(X)
