r"""Word alignments: the alignment error rate.

>>> alignment_error_rate([{(0, 0)}], [{(0, 0), (1, 1)}], possible=[{(0, 0), (1, 1)}])
0.0
>>> alignment_error_rate([{(0, 0)}], [{(0, 1)}])
1.0
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from structopt.arrays import Floats
from structopt.errors import InvalidInputError
from structopt.learn.metrics.counted import Counted, divided


def alignment_error_rate(
    sure: Sequence[Collection[Any]],
    predicted: Sequence[Collection[Any]],
    *,
    possible: Sequence[Collection[Any]] | None = None,
    sample_weight: Any = None,
) -> float:
    r"""Return the alignment error rate over all pairs of sentences.

    .. math:: 1 - \frac{|A\cap S| + |A\cap P|}{|A| + |S|}

    with predicted links A, sure links S and possible links P, S among them (Och and Ney 2003).

    Parameters
    ----------
    sure, predicted : sequences of collections
        Links of every pair.
    possible : sequence of collections, optional
        Links that are no error; by default the sure ones alone.
    sample_weight : array, optional
        Factor of each pair.
    """
    return ALIGNMENT(sure, predicted, sample_weight, possible=possible)


def _counts(
    sure: Sequence[Collection[Any]],
    predicted: Sequence[Collection[Any]],
    possible: Sequence[Collection[Any]] | None = None,
) -> Floats:
    allowed = sure if possible is None else possible
    if len(allowed) != len(sure):
        raise InvalidInputError(f"possible has {len(allowed)} sets of links, sure {len(sure)}.")
    rows = []
    for a, s, p in zip(predicted, sure, allowed, strict=True):
        links, good = set(a), set(s)
        rows.append((len(links & good) + len(links & (set(p) | good)), len(links) + len(good)))
    return np.array(rows, dtype=np.float64)


def _value(counts: Floats) -> Floats:
    return divided(counts[..., 1] - counts[..., 0], counts[..., 1])


ALIGNMENT = Counted(_counts, _value, higher_is_better=False)
