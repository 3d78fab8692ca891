r"""Features that the user computes: a mapping a token, as sklearn-crfsuite and CRFsuite take them.

    {"word": "cat", "length": 3.0, "upper": False}    word:cat = 1, length = 3
    {"near": ["the", "sat"]}                          near:the = 1, near:sat = 1
    {"near": {"left": "the"}}                         near:left:the = 1
    ["word=cat", "bias"]                              word=cat = 1, bias = 1

>>> features = DictFeatures()
>>> X = features.fit_transform([[{"word": "the", "up": True}, {"word": "cat", "length": 3}]])
>>> [str(name) for name in features.get_feature_names_out()], X[0].toarray().tolist()
(['length', 'up', 'word:cat', 'word:the'], [[0.0, 1.0, 0.0, 1.0], [3.0, 0.0, 1.0, 0.0]])
>>> DictFeatures().fit_transform([{"word": "spam"}, {"word": "ham"}]).toarray().tolist()
[[0.0, 1.0], [1.0, 0.0]]
"""

from __future__ import annotations

import math
import numbers
from array import array
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from structopt.arrays import Ints, count
from structopt.errors import InvalidInputError
from structopt.features.rows import (
    FeatureRows,
    FeatureTransformer,
    check_counts,
    hashed,
    hashed_names,
)
from structopt.features.vocabulary import Vocabulary


class Read(NamedTuple):
    """Attributes of all tokens: the distinct names, and codes and values in one line."""

    names: list[str]
    codes: Ints
    values: Any
    ends: Ints
    offsets: Ints | None


class DictFeatures(FeatureTransformer):
    """Mappings or lists of attributes to sparse matrices.

    Parameters
    ----------
    separator : str
        Between a key and a value that is a string.
    min_count : int
        Attributes that occur fewer times in training are left out.
    hashing : int, optional
        Number of columns to hash attributes into, instead of one column each.

    Attributes
    ----------
    n_features_out_ : int
    vocabulary_ : Vocabulary
        Names, sorted; empty with hashing.

    Notes
    -----
    A list of lists of mappings (sentences of tokens) gives a list of matrices, a list of mappings
    one matrix with a row each, as :class:`~structopt.Multiclass` takes it. An attribute that was
    not seen in training gives no feature.
    """

    vocabulary_: Vocabulary

    def __init__(
        self, *, separator: str = ":", min_count: int = 1, hashing: int | None = None
    ) -> None:
        self.separator = separator
        self.min_count = min_count
        self.hashing = hashing

    def _read(self, X: Any) -> Read:
        check_counts(self.min_count, self.hashing)
        table = hasattr(X, "nnz") or hasattr(X, "columns")
        if isinstance(X, str | Mapping) or table or count(X) == 0:
            raise InvalidInputError(
                f"X is {type(X).__name__}: give a list of at least one sentence (a list of "
                "mappings), or of mappings."
            )
        number: dict[str, int] = {}
        # not lists: a Python integer takes 28 bytes
        codes, values, ends = array("q"), array("d"), array("q", [0])
        single = isinstance(X[0], Mapping)
        lengths = array("q")
        for i, sentence in enumerate(X):
            _check_sentence(sentence, i, single)
            for t, token in enumerate([sentence] if single else sentence):
                try:
                    for name, value in self._attributes(token):
                        codes.append(number.setdefault(name, len(number)))
                        values.append(value)
                except (TypeError, ValueError) as error:
                    where = "" if single else f"Token {t} of "
                    raise InvalidInputError(
                        f"{where}{'example' if single else 'sentence'} {i}: {error}", example=i
                    ) from None
                ends.append(len(codes))
            lengths.append(1 if single else len(sentence))
        offsets = None if single else np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        return Read(list(number), np.asarray(codes), np.asarray(values), np.asarray(ends), offsets)

    def _learn(self, read: Read) -> None:
        names = []
        if self.hashing is None:
            counts = np.bincount(read.codes, minlength=len(read.names))
            kept = np.flatnonzero(counts >= self.min_count).tolist()
            names = [read.names[k] for k in kept]
        self.vocabulary_ = Vocabulary.of(names)
        self.n_features_out_ = len(names) if self.hashing is None else int(self.hashing)

    def check_fitted(self) -> None:
        """Raise ValueError unless every feature has a name."""
        if self.n_features_out_ != (self.hashing or len(self.vocabulary_)):
            raise ValueError(f"{self.n_features_out_} features, {len(self.vocabulary_)} names")

    def _rows(self, read: Read) -> Any:
        if self.hashing is None:
            columns = self.vocabulary_.lookup(read.names)
        else:
            columns = np.array([hashed(name) % self.hashing for name in read.names], dtype=np.int64)
        indices = columns[read.codes] if len(read.names) else np.zeros(0, dtype=np.int64)
        known = (indices >= 0) & (read.values != 0)
        ends = np.concatenate([[0], np.cumsum(known)])[read.ends]
        shape = (len(read.ends) - 1, self.n_features_out_)
        matrix = sp.csr_array((read.values[known], indices[known], ends), shape=shape)
        matrix.sum_duplicates()
        if read.offsets is not None:
            return FeatureRows.cut(matrix, read.offsets, self)
        matrix.features = self  # the names reach the model behind it in a pipeline
        return matrix

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return names such as ``word:cat``."""
        check_is_fitted(self, "n_features_out_")
        if self.hashing is not None:
            return hashed_names(self.hashing)
        return np.array(list(self.vocabulary_), dtype=object)

    def _attributes(self, token: Any, before: str = "") -> Iterator[tuple[str, float]]:
        """Yield the names and values of a token's attributes."""
        if isinstance(token, str):
            raise TypeError(f"{token!r} is no token: give a mapping, or a list of attributes.")
        if not isinstance(token, Mapping):
            for name in token:
                if not isinstance(name, str):
                    raise TypeError(f"the attribute {name!r} is no string.")
                yield before + name, 1.0
            return
        for key, value in token.items():
            name = f"{before}{key}"
            if isinstance(value, str):
                yield f"{name}{self.separator}{value}", 1.0
            elif isinstance(value, numbers.Real | np.bool_):
                if not math.isfinite(value):
                    raise ValueError(f"{name!r} is {value}: leave out what is not finite.")
                yield name, float(value)
            elif isinstance(value, Mapping | list | tuple | set | frozenset):
                yield from self._attributes(value, name + self.separator)
            else:
                raise TypeError(
                    f"{name!r} is {value!r}: values are strings, numbers, booleans, lists of "
                    "strings or mappings of these."
                )


def _check_sentence(sentence: Any, i: int, single: bool) -> None:
    if single:
        if not isinstance(sentence, Mapping):
            raise InvalidInputError(
                f"Example {i} is a {type(sentence).__name__}, the first a mapping.", example=i
            )
    elif (
        isinstance(sentence, str | Mapping) or not hasattr(sentence, "__len__") or not len(sentence)
    ):
        raise InvalidInputError(
            f"Sentence {i} is {sentence!r}: give a list of at least one token.", example=i
        )
