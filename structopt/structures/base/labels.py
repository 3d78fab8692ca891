r"""Labels of the user's own to the integers 0 .. K-1 and back, with a weight for each.

The weight of a label scales the loss of getting it wrong, loss = weight[gold] * [y != gold]:

    "balanced":  weight[k] = n / (K * count[k]),     None:  weight[k] = 1.

>>> labels = LabelSet.from_data([["b", "a"], ["b"]])
>>> labels, labels.encode(["b", "a", "a"]), labels.decode([1, 0])
(LabelSet(['a', 'b']), array([1, 0, 0]), ['b', 'a'])
>>> labels.weights({"b": 3.0})
array([1., 3.])
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import chain
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from structopt.arrays import Floats, Ints
from structopt.errors import InvalidInputError


class LabelSet(Sequence[Any]):
    """An ordered set of distinct hashable labels; a label's position is its integer.

    Parameters
    ----------
    labels : iterable
        The labels, in the order wanted. NumPy scalars are kept as the Python scalars they equal.

    Raises
    ------
    InvalidInputError
        If there is no label, one twice, or one that cannot be looked up (unhashable, or NaN).
    """

    def __init__(self, labels: Iterable[Any]) -> None:
        if not isinstance(labels, Iterable) or getattr(labels, "ndim", 1) != 1:
            raise InvalidInputError(f"labels must be a list of labels; got {labels!r}.")
        self._labels = [_checked(label, "among the declared labels", None) for label in labels]
        self._index = {label: k for k, label in enumerate(self._labels)}
        if not self._labels:
            raise InvalidInputError("The list of labels is empty: declare at least one label.")
        if len(self._index) < len(self._labels):
            twice = next(a for k, a in enumerate(self._labels) if self._index[a] != k)
            raise InvalidInputError(f"The label {twice!r} is declared more than once.")

    @classmethod
    def from_data(cls, sequences: Iterable[Iterable[Any]]) -> LabelSet:
        """Collect the labels of all sequences: sorted where they can be, else as first seen."""
        sequences = list(sequences)
        try:
            found = dict.fromkeys(chain.from_iterable(sequences))
            found.pop(None, None)  # which says that a label is unknown
            seen = dict.fromkeys(_checked(label, "of an example", None) for label in found)
        except (TypeError, InvalidInputError):
            for i, sequence in enumerate(sequences):  # whose it is
                for label in sequence:
                    _checked(label, f"of example {i}", i)
            raise
        try:
            return cls(sorted(seen))
        except TypeError:  # labels of mixed types have no order of their own
            return cls(seen)

    def encode(
        self,
        labels: Iterable[Any],
        *,
        example: int | None = None,
        start: int = 0,
        partial: bool = False,
    ) -> Ints:
        """Return the integers of ``labels``.

        Parameters
        ----------
        labels : iterable
        example : int, optional
            The example whose sequence this is; None when each label is an example of its own.
        start : int
            The number of the first of those examples.
        partial : bool
            Whether labels may be unknown, None: they are -1. (None may also be a declared label.)
        """
        labels = labels.tolist() if isinstance(labels, np.ndarray) else list(labels)
        try:
            return np.array([self._index[label] for label in labels], dtype=np.int64)
        except (KeyError, TypeError):
            index, unknown = self._index, partial and None not in self._index
            with contextlib.suppress(KeyError, TypeError):
                if unknown:
                    codes = [-1 if label is None else index[label] for label in labels]
                    return np.array(codes, dtype=np.int64)
            for t, label in enumerate(labels):
                i = start + t if example is None else example
                where = f"of example {i}" + ("" if example is None else f", position {t},")
                if label is None and unknown:
                    continue
                if label is None and None not in index:
                    raise InvalidInputError(
                        f"The label {where} is None, unknown, where all of an output is needed.",
                        example=i,
                    ) from None
                if _checked(label, where, i) not in self._index:
                    raise InvalidInputError(
                        f"The label {label!r} {where} is not one of the {len(self)} known labels "
                        f"{_some(self._labels)}: declare every label that can occur with "
                        "labels=[...].",
                        example=i,
                    ) from None
            raise

    def decode(self, codes: Iterable[int]) -> list[Any]:
        """Return the labels of integers."""
        codes = codes.tolist() if isinstance(codes, np.ndarray) else codes
        return [self._labels[k] for k in codes]

    @cached_property
    def array(self) -> NDArray[Any]:
        """The labels as an array: of numbers or strings where all are, else of objects.

        >>> LabelSet(["a", "b"]).array, LabelSet([1, "b"]).array
        (array(['a', 'b'], dtype='<U1'), array([1, 'b'], dtype=object))
        """
        kinds = {type(label) for label in self._labels}
        if len(kinds) == 1 and kinds <= {str, int, float, bool}:
            return np.array(self._labels)
        return np.fromiter(self._labels, object, len(self))

    def weights(self, class_weight: Any, codes: Ints | None = None) -> Floats:
        """Return one weight per label.

        Parameters
        ----------
        class_weight : mapping, "balanced" or None
            Labels to weights; a label left out weighs 1.
        codes : array of int, optional
            The data's gold labels, which "balanced" counts. A label that never occurs weighs 1.
        """
        if class_weight is None:
            return np.ones(len(self))
        if isinstance(class_weight, str) and class_weight == "balanced":
            counts = np.bincount(np.zeros(0, int) if codes is None else codes, minlength=len(self))
            return np.where(counts > 0, counts.sum() / (len(self) * np.maximum(counts, 1)), 1.0)
        if not isinstance(class_weight, Mapping):
            raise InvalidInputError(
                f"class_weight is {class_weight!r}: give a mapping of labels to weights, "
                "'balanced' or None."
            )
        weights = np.ones(len(self))
        for label, weight in class_weight.items():
            if label not in self._index:
                raise InvalidInputError(
                    f"class_weight names the label {label!r}, which is not one of "
                    f"{_some(self._labels)}."
                )
            if not (_is_number(weight) and weight > 0 and math.isfinite(weight)):
                raise InvalidInputError(
                    f"class_weight of {label!r} is {weight!r}: it must be a finite number > 0."
                )
            weights[self._index[label]] = weight
        return weights

    def __len__(self) -> int:
        return len(self._labels)

    def __contains__(self, label: object) -> bool:
        try:
            return label in self._index
        except TypeError:  # unhashable
            return False

    @overload
    def __getitem__(self, k: int) -> Any: ...
    @overload
    def __getitem__(self, k: slice) -> list[Any]: ...
    def __getitem__(self, k: int | slice) -> Any:
        return self._labels[k]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LabelSet) and self._labels == other._labels

    def __hash__(self) -> int:
        return hash(tuple(self._labels))

    def __repr__(self) -> str:
        return f"LabelSet({self._labels!r})"


def _checked(label: Any, where: str, example: int | None) -> Any:
    """Return a label that can be a dictionary's key, as a Python scalar if it is a NumPy one."""
    if isinstance(label, np.generic):
        item = label.item()  # but a datetime64[ns] would become a bare int
        label = item if item == label else label
    try:
        hash(label)
    except TypeError:
        raise InvalidInputError(
            f"The label {label!r} {where} is a {type(label).__name__}, which cannot be hashed: use "
            "strings, numbers or tuples.",
            example=example,
        ) from None
    if label != label:
        raise InvalidInputError(
            f"A label {where} is {label!r}, which is not equal to itself: give it a name.",
            example=example,
        )
    return label


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)


def _some(labels: list[Any]) -> str:
    """Return the first labels for a message."""
    return f"{labels!r}" if len(labels) <= 8 else f"[{', '.join(map(repr, labels[:8]))}, ...]"


def as_labels(y: Any, example: int | None = None) -> list[Any]:
    """Return a sequence of labels as a list."""
    try:
        return y.tolist() if isinstance(y, np.ndarray) and y.ndim else list(y)
    except TypeError:
        where = "" if example is None else f" of example {example}"
        raise InvalidInputError(
            f"The output{where} is {y!r}: give a sequence with one label per position.",
            example=example,
        ) from None
