"""Dependency trees: the share of tokens with the right head, and with the right label as well.

>>> gold = [[(2, "subj"), (0, "root"), (2, "obj")]]
>>> given = [[(2, "obj"), (0, "root"), (1, "obj")]]
>>> unlabelled_attachment(gold, given), labelled_attachment(gold, given)
(0.6666666666666666, 0.3333333333333333)
>>> unlabelled_attachment([[2, 0, 2]], [[2, 0, 1]], where=[[True, True, False]])
1.0
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from structopt.arrays import Floats
from structopt.errors import InvalidInputError
from structopt.learn.metrics.counted import Counted, ratio


def unlabelled_attachment(
    Y: Sequence[Any], predicted: Sequence[Any], *, where: Any = None, sample_weight: Any = None
) -> float:
    """Return the unlabelled attachment score (UAS), 0 to 1.

    Parameters
    ----------
    Y, predicted : sequences
        For each sentence the head of every token, or its (head, label).
    where : sequence of sequences of bool, optional
        Tokens that count; False at those that do not (punctuation, say).
    sample_weight : array, optional
        Factor of each sentence.
    """
    return UNLABELLED(Y, predicted, sample_weight, where=where)


def labelled_attachment(
    Y: Sequence[Any], predicted: Sequence[Any], *, where: Any = None, sample_weight: Any = None
) -> float:
    """Return the labelled attachment score (LAS): head and label are right.

    Each token is a pair (head, label); see :func:`unlabelled_attachment`.
    """
    return LABELLED(Y, predicted, sample_weight, where=where)


def _counts(
    Y: Sequence[Any], predicted: Sequence[Any], where: Any = None, *, labelled: bool
) -> Floats:
    if where is not None and len(where) != len(Y):
        raise InvalidInputError(f"where has {len(where)} masks for {len(Y)} sentences.")
    rows = []
    for i, (y, p) in enumerate(zip(Y, predicted, strict=True)):
        mask = [True] * len(y) if where is None else where[i]
        if not len(y) == len(p) == len(mask):
            raise InvalidInputError(
                f"Sentence {i} has {len(y)} gold heads, {len(p)} predicted ones and {len(mask)} in "
                "where: give one of each a token.",
                example=i,
            )
        right = [
            _arc(a, labelled, i) == _arc(b, labelled, i)
            for a, b, counts in zip(y, p, mask, strict=True)
            if counts
        ]
        rows.append((sum(right), len(right)))
    return np.array(rows, dtype=np.float64)


def _arc(token: Any, labelled: bool, i: int) -> Any:
    if isinstance(token, tuple | list) and len(token) == 2:
        return tuple(token) if labelled else token[0]
    if labelled:
        raise InvalidInputError(
            f"A token of sentence {i} is {token!r}: the labelled score needs pairs (head, label); "
            "for heads alone there is unlabelled_attachment.",
            example=i,
        )
    return token


UNLABELLED = Counted(partial(_counts, labelled=False), ratio)
LABELLED = Counted(partial(_counts, labelled=True), ratio)
