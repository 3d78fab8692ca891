r"""Constituency trees: precision and recall of labelled brackets, as F1.

>>> gold = [("S", ("NP", "D", "N"), ("VP", "V", ("NP", "D", "N")))]
>>> given = [("S", ("NP", "D", "N"), ("VP", ("VP", "V", "D"), "N"))]
>>> parse_f1(gold, given)                     # 3 of 4 brackets, tags left out
0.75
>>> parse_f1(gold, given, tags=True)          # 8 of 9
0.8888888888888888
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from structopt.arrays import Floats
from structopt.errors import InvalidInputError
from structopt.learn.metrics.counted import Counted, divided
from structopt.structures.grammar.trees import productions


def parse_f1(
    Y: Sequence[Any], predicted: Sequence[Any], *, tags: bool = False, sample_weight: Any = None
) -> float:
    """Return the F1 of labelled brackets over all trees, 0 to 1.

    Parameters
    ----------
    Y, predicted : sequences of trees
        Nested tuples, binary or not.
    tags : bool
        Whether tags over single tokens count as well; usually not (PARSEVAL).
    sample_weight : array, optional
        Factor of each tree.
    """
    return PARSES(Y, predicted, sample_weight, tags=tags)


def _counts(Y: Sequence[Any], predicted: Sequence[Any], tags: bool = False) -> Floats:
    rows = []
    for i, pair in enumerate(zip(Y, predicted, strict=True)):
        nodes = [productions(tree, i, most=2**31) for tree in pair]
        lengths = [one[0].stop for one in nodes]
        if lengths[0] != lengths[1]:
            raise InvalidInputError(
                f"The trees of example {i} have {lengths[0]} and {lengths[1]} leaves.", example=i
            )
        gold, found = ({n[:3] for n in one if tags or n.below} for one in nodes)
        rows.append((len(gold & found), len(gold), len(found)))
    return np.array(rows, dtype=np.float64)


def _f1(counts: Floats) -> Floats:
    return divided(2 * counts[..., 0], counts[..., 1] + counts[..., 2])


PARSES = Counted(_counts, _f1)
