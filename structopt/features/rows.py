"""What feature transformers share: they read inputs once and return rows that know their names.

>>> import numpy as np, scipy.sparse as sp
>>> rows = FeatureRows.cut(sp.csr_array(np.eye(3)), np.array([0, 2, 3]))
>>> [x.shape for x in rows]
[(2, 3), (1, 3)]
"""

from __future__ import annotations

from abc import abstractmethod
from itertools import pairwise
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import murmurhash3_32
from sklearn.utils.validation import check_is_fitted

from structopt.arrays import Ints
from structopt.errors import InvalidInputError
from structopt.features.containers import Containers


class FeatureRows(list[Any]):
    """One matrix an example, and the transformer that made them (``features``)."""

    features: Any = None

    @classmethod
    def cut(cls, matrix: Any, offsets: Ints, features: Any = None) -> FeatureRows:
        """Cut a CSR or dense matrix into examples; rows of CSR keep their arrays in common."""
        rows = cls()
        rows.features = features
        for a, b in pairwise(offsets.tolist()):
            if not sp.issparse(matrix):
                rows.append(matrix[a:b])
                continue
            ends = matrix.indptr[a : b + 1]
            part = slice(ends[0], ends[-1])
            given = (matrix.data[part], matrix.indices[part], ends - ends[0])
            rows.append(sp.csr_array(given, shape=(b - a, matrix.shape[1])))
        return rows


class FeatureTransformer(Containers, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A scikit-learn transformer of sequences: inputs are read once, in :meth:`_read`."""

    n_features_out_: int

    @abstractmethod
    def _read(self, X: Any) -> Any:
        """Return the inputs as arrays of codes."""

    @abstractmethod
    def _learn(self, read: Any) -> None:
        """Collect the features."""

    @abstractmethod
    def _rows(self, read: Any) -> Any:
        """Return the features of what was read."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Collect the features that occur."""
        self._learn(self._read(X))
        return self

    def check_fitted(self) -> None:
        """Raise ValueError where what fitting found, read from a file, does not fit together."""

    def transform(self, X: Any) -> Any:
        """Return one CSR matrix (tokens, features) a sequence."""
        check_is_fitted(self, "n_features_out_")
        return self._contained(self._rows(self._read(X)))

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Fit and transform, reading the inputs once."""
        read = self._read(X)
        self._learn(read)
        return self._contained(self._rows(read))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.string = True
        return tags


def check_counts(min_count: Any, hashing: Any) -> None:
    """Refuse a ``min_count`` below 1 and a number of hashed columns below 2."""
    if not isinstance(min_count, int | np.integer) or min_count < 1:
        raise InvalidInputError(f"Give min_count >= 1; it is {min_count!r}.")
    if hashing is None:
        return
    if not isinstance(hashing, int | np.integer) or not 2 <= hashing < 2**31:
        raise InvalidInputError(
            f"hashing is {hashing!r}: give the number of columns, such as 2**20, or None."
        )
    if min_count > 1:
        raise InvalidInputError(
            f"min_count is {min_count}, but hashed features are not counted: drop one of the two."
        )


def hashed(text: str) -> int:
    """Return a number of 32 bits that is the same in every process."""
    return int(murmurhash3_32(text, seed=0, positive=True))


def hashed_names(n: int) -> NDArray[np.object_]:
    """Return names for hashed columns, of which only the number is known."""
    return np.array([f"hash{j}" for j in range(n)], dtype=object)
