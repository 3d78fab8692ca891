r"""Brute force over a finite set of outputs: the truth for tests and lessons.

Every question is answered by looking at every output y of the example's set Y(x),

    argmax_{y in Y(x)}  w . phi(x, y) + loss(gold, y),

and where several are equally good, the first of the list wins.

>>> import numpy as np
>>> bits = Enumerated([(0, 0), (0, 1), (1, 0), (1, 1)], lambda x, y: np.asarray(x) * y)
>>> bits.argmax([1.0, -2.0], np.ones(2)), bits.k_best([1.0, -2.0], np.ones(2), 2)
((1, 0), [(1, 0), (0, 0)])
>>> bits.second_best([1.0, -2.0], np.ones(2), (1, 0)), bits.loss((1, 0), (0, 0))
((0, 0), 1.0)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from structopt.arrays import Floats, check_weights
from structopt.errors import InvalidInputError
from structopt.parameters import Count, checked
from structopt.structures.base.example_shard import as_row
from structopt.structures.base.given import agrees, nothing_agrees
from structopt.structures.base.shard import Shard
from structopt.structures.base.structure import Structure, check_lengths


class Enumerated(Structure):
    r"""A finite set of outputs, given as a list.

    Parameters
    ----------
    outputs : list, or callable x -> list
        The outputs of every example, or of example x. They must compare with ``==`` (tuples,
        strings, numbers; not arrays).
    joint_features : callable (x, y) -> vector
        phi(x, y), dense or one sparse row.
    loss : callable (gold, y) -> float, optional
        By default 0/1.
    """

    # the methods of the same names call them, so that a subclass may write these instead
    _stored: ClassVar[Mapping[str, str]] = {"joint_features": "features", "loss": "cost"}

    def __init__(
        self,
        outputs: Sequence[Any] | Callable[[Any], Sequence[Any]],
        joint_features: Callable[[Any, Any], Any] | None = None,
        loss: Callable[[Any, Any], float] | None = None,
    ) -> None:
        self.outputs = outputs
        self.features = joint_features
        self.cost = loss

    def joint_features(self, x: Any, y: Any) -> Any:
        """Return phi(x, y) as the given function does."""
        return super().joint_features(x, y) if self.features is None else self.features(x, y)

    def loss(self, y: Any, other: Any) -> float:
        """Return what the given function does; 0 or 1 if there is none."""
        return float(y != other) if self.cost is None else self.cost(y, other)

    def outputs_of(self, x: Any) -> list[Any]:
        """Return every output that example x can have."""
        outputs = list(self.outputs(x) if callable(self.outputs) else self.outputs)
        if not outputs:
            raise InvalidInputError("An example has no outputs at all: Enumerated needs some.")
        return outputs

    def score(self, x: Any, y: Any, weights: Floats) -> float:
        """Return w . phi(x, y)."""
        row = as_row(self.joint_features(x, y))
        return float((row @ check_weights(weights, row.shape[1]))[0])

    def argmax(self, x: Any, weights: Floats, *, gold: Any = None) -> Any:
        """Return the y that maximises ``w . phi(x, y)``, plus ``loss(gold, y)`` given gold."""

        def value(y: Any) -> float:
            return self.score(x, y, weights) + (0.0 if gold is None else self.loss(gold, y))

        return max(self.outputs_of(x), key=value)

    def argmin(self, x: Any, weights: Floats) -> Any:
        """Return the y that minimises ``w . phi(x, y)``."""
        return min(self.outputs_of(x), key=lambda y: self.score(x, y, weights))

    def second_best(self, x: Any, weights: Floats, gold: Any) -> Any:
        """Return the best y other than gold, or None if there is no other."""
        others = [y for y in self.outputs_of(x) if y != gold]
        return max(others, key=lambda y: self.score(x, y, weights), default=None)

    @checked
    def k_best(self, x: Any, weights: Floats, k: Count) -> list[Any]:
        """Return the k best outputs, best first (fewer if there are fewer)."""
        return sorted(self.outputs_of(x), key=lambda y: -self.score(x, y, weights))[:k]

    def slack_rescaled(self, x: Any, weights: Floats, gold: Any) -> Any:
        """Return the y that maximises ``loss(gold, y) * (1 - w . delta(y))``."""
        gold_score = self.score(x, gold, weights)

        def value(y: Any) -> float:
            return self.loss(gold, y) * (1.0 - (gold_score - self.score(x, y, weights)))

        return max(self.outputs_of(x), key=value)

    def predict(self, X: Any, weights: Floats, *, given: Any = None) -> list[Any]:
        """Return the best output of every example, among those that agree with what is given.

        What is given of an output may be the output, a set of outputs, `Not`; where outputs are
        sequences, an entry for each part.
        """
        if given is None:
            return super().predict(X, weights)
        check_lengths(X, given)
        found = []
        for i, (x, told) in enumerate(zip(X, given, strict=True)):
            left = [y for y in self.outputs_of(x) if agrees(told, y)]
            if not left:
                raise nothing_agrees(told, i)
            found.append(max(left, key=lambda y: self.score(x, y, weights)))
        return found

    def encode(self, X: Sequence[Any], Y: Sequence[Any], *, start: int = 0) -> Shard:
        """Encode examples; refuse a gold output that is not in its example's set."""
        check_lengths(X, Y)
        for i, (x, y) in enumerate(zip(X, Y, strict=True), start):
            if y not in self.outputs_of(x):
                raise InvalidInputError(
                    f"The gold output {y!r} of example {i} is not among its "
                    f"{len(self.outputs_of(x))} outputs.",
                    example=i,
                )
        return super().encode(X, Y, start=start)
