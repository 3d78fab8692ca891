"""Inputs that are one row an example: a matrix, or a list of rows, some of them sparse."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import scipy.sparse as sp

from structopt.arrays import as_floats, as_matrix, check_columns, first_not_finite
from structopt.errors import InvalidInputError


def one_row(x: Any) -> Any:
    """Return x as a matrix of one row."""
    return x.reshape(1, -1) if sp.issparse(x) else as_floats(x, "x").reshape(1, -1)


def row_matrix(X: Any, n_inputs: int | None, start: int = 0) -> Any:
    """Return checked rows as a matrix; ``start`` numbers the first in messages."""
    rows = isinstance(X, Sequence) and len(X) > 0 and any(sp.issparse(x) for x in X)
    matrix = as_matrix(sp.vstack([one_row(x) for x in X]) if rows else X)
    check_columns(matrix, matrix.shape[1] if n_inputs is None else n_inputs, name="X")
    bad = first_not_finite(matrix)
    if bad is not None:
        raise InvalidInputError(
            f"Input of example {start + bad[0]} holds {bad[2]} in column {bad[1]}: replace or "
            "drop what is not finite (NaN, inf).",
            example=start + bad[0],
        )
    return matrix
