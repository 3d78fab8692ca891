r"""The loss of labels that form a hierarchy: how far apart two of them are.

    loss(gold, y) = sum_t (edges on the way from gold_t to y_t in the tree of labels).

>>> import numpy as np, structopt as so
>>> loss = so.losses.TreeDistance({"cat": "animal", "dog": "animal", "car": "thing"})
>>> structure = so.Multiclass(loss=loss).fitted(np.eye(3), ["cat", "dog", "car"])
>>> structure.loss("cat", "dog"), structure.loss("cat", "car")
(2.0, 4.0)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from structopt.arrays import Floats
from structopt.errors import InvalidInputError
from structopt.parameters import Parameters


class TreeDistance(Parameters):
    """The number of edges between labels in a tree.

    Parameters
    ----------
    parents : mapping
        Each label, and each node between labels and the root, to what stands above it. Nodes
        without a parent hang on one common root. Labels may be inner nodes.
    """

    checked_in = "confusion"

    def __init__(self, parents: Mapping[Any, Any]) -> None:
        self.parents = parents

    def confusion(self, labels: Sequence[Any]) -> Floats:
        """Return the distance of every two labels."""
        lines = [self._line(label) for label in labels]
        table = np.zeros((len(labels), len(labels)))
        for a, up in enumerate(lines):
            for b, other in enumerate(lines):
                shared = sum(p == q for p, q in zip(up[::-1], other[::-1], strict=False))
                table[a, b] = len(up) + len(other) - 2 * shared
        return table

    def _line(self, label: Any) -> list[Any]:
        """Return a label and everything above it, the topmost last."""
        if label not in self.parents and label not in self.parents.values():
            raise InvalidInputError(
                f"losses.TreeDistance does not know the label {label!r}: name what stands above it."
            )
        line = [label]
        while line[-1] in self.parents:
            line.append(self.parents[line[-1]])
            if len(line) > len(self.parents) + 1:
                raise InvalidInputError(
                    f"losses.TreeDistance has a cycle above the label {label!r}: give a tree."
                )
        return line
