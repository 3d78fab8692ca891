r"""Any scikit-learn transformer by token, and several kinds of features side by side.

>>> from sklearn.feature_extraction.text import CountVectorizer
>>> letters = PerToken(CountVectorizer(analyzer="char"))
>>> X = JoinedFeatures([letters, PerToken(CountVectorizer(token_pattern=r"\S+"))])
>>> [x.shape for x in X.fit_transform([["a", "ab"], ["b"]])]
[(2, 5), (1, 5)]
>>> [str(name) for name in X.get_feature_names_out()]
['a', 'b', 'a', 'ab', 'b']
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from structopt.arrays import as_matrix, count
from structopt.errors import InvalidInputError
from structopt.features.rows import FeatureRows, FeatureTransformer


class PerToken(FeatureTransformer):
    """Apply a transformer of rows to the tokens of sequences.

    Parameters
    ----------
    transformer : transformer
        Such as ``TfidfVectorizer(analyzer="char_wb", ngram_range=(1, 4))`` for words,
        ``StandardScaler()`` for arrays, ``OneHotEncoder()`` for rows of columns.

    Attributes
    ----------
    transformer_ : transformer
        The fitted copy.
    n_features_out_ : int
    """

    transformer_: Any

    def __init__(self, transformer: Any) -> None:
        self.transformer = transformer

    def _read(self, X: Any) -> tuple[Any, Any]:
        if isinstance(X, str) or hasattr(X, "nnz") or count(X) == 0:
            raise InvalidInputError("Give a list of at least one sequence of tokens.")
        for i, x in enumerate(X):
            length = count(x, f"Sequence {i}")
            if isinstance(x, str) or length == 0:
                raise InvalidInputError(
                    f"Sequence {i} is {x!r}: give at least one token.", example=i
                )
        lengths = [x.shape[0] if hasattr(x, "shape") else len(x) for x in X]
        if any(sp.issparse(x) for x in X):
            tokens = sp.vstack(list(X), format="csr")
        elif all(hasattr(x, "shape") for x in X):
            widths = {np.shape(x)[1:] for x in X}
            if len(widths) > 1:
                raise InvalidInputError(f"Sequences have rows of shapes {sorted(widths)}.")
            tokens = np.concatenate([np.asarray(x) for x in X])
        else:
            tokens = [token for x in X for token in x]
        return tokens, np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)

    def _learn(self, read: Any) -> None:
        if isinstance(self.transformer, type) or not hasattr(self.transformer, "get_params"):
            raise InvalidInputError(
                f"transformer is {self.transformer!r}: give one of scikit-learn's kind."
            )
        self.transformer_ = clone(self.transformer).fit(read[0])
        self.n_features_out_ = int(self.transformer_.transform(read[0][:1]).shape[1])

    def _rows(self, read: Any) -> FeatureRows:
        tokens, offsets = read
        return FeatureRows.cut(as_matrix(self.transformer_.transform(tokens)), offsets, self)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the transformer's names."""
        check_is_fitted(self, "n_features_out_")
        return np.asarray(self.transformer_.get_feature_names_out(input_features), dtype=object)


class JoinedFeatures(FeatureTransformer):
    """Put the features of several transformers of sequences side by side.

    Parameters
    ----------
    transformers : sequence of transformers
        Each takes the same inputs and returns one matrix a sequence.
    """

    transformers_: list[Any]

    def __init__(self, transformers: Sequence[Any]) -> None:
        self.transformers = transformers

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit every transformer."""
        self.fit_transform(X, y)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Fit every transformer and join what they return."""
        listed = isinstance(self.transformers, list | tuple) and len(self.transformers)
        if not listed or not all(hasattr(part, "fit_transform") for part in self.transformers):
            raise InvalidInputError("There are no transformers to join: give at least one.")
        self.transformers_ = [clone(part) for part in self.transformers]
        found = [part.fit_transform(X, y) for part in self.transformers_]
        self.n_features_out_ = sum(int(rows[0].shape[1]) for rows in found)
        return self._contained(self._joined(found))

    def transform(self, X: Any) -> Any:
        """Return one matrix (tokens, features) a sequence."""
        check_is_fitted(self, "n_features_out_")
        return self._contained(self._joined([part.transform(X) for part in self.transformers_]))

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of all transformers, one after the other."""
        check_is_fitted(self, "n_features_out_")
        names = [part.get_feature_names_out() for part in self.transformers_]
        return np.concatenate(names)

    def _joined(self, found: list[Any]) -> FeatureRows:
        rows = FeatureRows()
        rows.features = self
        for parts in zip(*found, strict=True):
            if any(sp.issparse(part) for part in parts):
                rows.append(sp.hstack([sp.csr_array(part) for part in parts], format="csr"))
            else:
                rows.append(np.hstack(parts))
        return rows
