r"""Features of edges: vectors of one length, or named numbers; one convention for a data set.

A :class:`FeatureSpace` of dimension d turns the attribute ``features`` of edges into rows of a
matrix (E, d). An edge without the attribute has no features. Names that were not there when the
space was made have no weight and are left out.

>>> space = FeatureSpace.of([{"lm": -2.0}, {"tm": -1.0, "lm": -0.5}, None], lambda e: (0, e))
>>> space.names, space.matrix([{"lm": 3.0, "new": 1.0}], lambda e: (0, e)).toarray()
(('lm', 'tm'), array([[3., 0.]]))
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from structopt.arrays import Floats, base_matrix
from structopt.errors import InvalidInputError

Where = Callable[[int], tuple[int, Any]]
"""From an edge's number to its example and its name, for messages."""


@dataclass(frozen=True)
class FeatureSpace:
    """Dimension of the features, and their names if they have names."""

    n_features: int
    names: tuple[str, ...] | None

    @classmethod
    def of(cls, features: Sequence[Any], where: Where) -> FeatureSpace:
        """Return the space that the features of some edges live in."""
        given = [(e, value) for e, value in enumerate(features) if value is not None]
        if not given:
            raise InvalidInputError(
                "No edge of any lattice has features: set the edge attribute 'features'."
            )
        first = given[0][1]
        if not isinstance(first, Mapping):
            return cls(_vector(first, where, given[0][0])[0], None)
        names: set[str] = set()
        for e, value in given:
            if not isinstance(value, Mapping):
                raise _mixed(where, e)
            names.update(value)
        for name in names:
            if not isinstance(name, str):
                raise InvalidInputError(f"A feature is named {name!r}: names are strings.")
        if not names:
            raise InvalidInputError("The features of all edges are empty: there is no weight.")
        return cls(len(names), tuple(sorted(names)))

    def matrix(self, features: Sequence[Any], where: Where) -> Any:
        """Return the features as rows of a CSR array."""
        columns: list[Any] = []
        values: list[Any] = []
        lengths = np.zeros(len(features) + 1, dtype=np.int64)
        place = None if self.names is None else {name: k for k, name in enumerate(self.names)}
        for e, value in enumerate(features):
            if value is None:
                continue
            if isinstance(value, Mapping) != (place is not None):
                raise _mixed(where, e)
            if place is not None:
                known = [(place[k], v) for k, v in value.items() if k in place]
                at, number = [k for k, _ in known], _numbers([v for _, v in known], where, e)
            else:
                size, at, number = _vector(value, where, e)
                if size != self.n_features:
                    example, edge = where(e)
                    raise InvalidInputError(
                        f"Edge {edge!r} of example {example} has {size} features; expected "
                        f"{self.n_features}.",
                        example=example,
                    )
            if not np.isfinite(number).all():
                example, edge = where(e)
                raise InvalidInputError(
                    f"Edge {edge!r} of example {example} has a feature that is not finite: replace "
                    "it, or drop the edge.",
                    example=example,
                )
            columns.append(at)
            values.append(number)
            lengths[e + 1] = len(number)
        indices = np.concatenate([np.zeros(0), *columns]).astype(np.int64)
        data = np.concatenate([np.zeros(0), *values])
        shape = (len(features), self.n_features)
        return base_matrix(sp.csr_array((data, indices, np.cumsum(lengths)), shape=shape))


def _vector(value: Any, where: Where, e: int) -> tuple[int, Any, Floats]:
    """Return a vector's length, the columns of its entries, and the entries."""
    if sp.issparse(value):
        row = sp.coo_array(value)
        if row.ndim == 1 or row.shape[0] == 1:
            return row.shape[-1], row.coords[-1], _numbers(row.data, where, e)
        shape = row.shape
    else:
        vector = np.atleast_1d(_numbers(value, where, e))
        if vector.ndim == 1:
            columns = np.flatnonzero(vector)
            return len(vector), columns, vector[columns]
        shape = vector.shape
    example, edge = where(e)
    raise InvalidInputError(
        f"Edge {edge!r} of example {example} has features of shape {shape}: give a vector, one "
        "sparse row, or a mapping from names to numbers.",
        example=example,
    )


def _numbers(value: Any, where: Where, e: int) -> Floats:
    try:
        array = np.asarray(value)
        if array.dtype.kind not in "biuf" and array.size:
            raise TypeError(f"values of type {array.dtype}")
        return array.astype(np.float64)
    except (TypeError, ValueError) as error:
        example, edge = where(e)
        raise InvalidInputError(
            f"The features of edge {edge!r} of example {example} are no real numbers ({error}).",
            example=example,
        ) from error


def _mixed(where: Where, e: int) -> InvalidInputError:
    example, edge = where(e)
    return InvalidInputError(
        f"Edge {edge!r} of example {example} breaks the convention of the first edge: features are "
        "vectors (dense or sparse) on every edge, or mappings from names on every edge.",
        example=example,
    )
