r"""The loss of labelled structures: what wrong labels cost.

    loss(gold, y) = sum_t class_weight[gold_t] * [y_t != gold_t].

>>> import numpy as np, structopt as so
>>> structure = so.Chain(loss=so.losses.Hamming({"b": 3.0})).fitted([np.eye(2)], ["ab"])
>>> structure.loss("ab", "aa"), structure.loss("ab", "bb")
(3.0, 1.0)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from structopt.parameters import Parameters


class Hamming(Parameters):
    """The number of wrong labels, each weighted by the label that would have been right.

    Parameters
    ----------
    class_weight : mapping, "balanced" or None
        Labels to weights > 0, where one left out weighs 1; "balanced" weighs label k with
        n / (K count[k]), as scikit-learn does; None weighs all alike.
    """

    def __init__(self, class_weight: Mapping[Any, float] | str | None = None) -> None:
        self.class_weight = class_weight
