r"""What an output can be: the contract that every structure keeps.

A structure of your own needs three methods for one example; the rest has defaults or is an ability
that formulations ask for by name.

>>> import numpy as np, structopt as so
>>> class Sign(so.Structure):
...     '''y is -1 or +1, phi(x, y) = y * x / 2.'''
...     def joint_features(self, x, y):
...         return 0.5 * y * np.asarray(x)
...     def loss(self, y, other):
...         return float(y != other)
...     def argmax(self, x, weights, *, gold=None):
...         return max((-1, 1), key=lambda y: self.joint_features(x, y) @ weights
...                    + (0.0 if gold is None else self.loss(gold, y)))
>>> sorted(Sign().abilities())
['argmax']
"""

from __future__ import annotations

import copy
from collections.abc import Sequence, Sized
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp

from structopt.arrays import Floats, Ints, count
from structopt.errors import IncompatibleError, InvalidInputError, StructoptError
from structopt.parameters import Parameters
from structopt.structures.base.costed import plain
from structopt.structures.base.example_shard import (
    ExampleShard,
    as_row,
    check_given,
    failed,
    kept,
)
from structopt.structures.base.oracles import (
    Oracle,
    best_other,
    loss_augmented,
    other_augmented,
    slack_rescaled,
    worst,
)
from structopt.structures.base.shard import Shard
from structopt.structures.base.sketch import Sketch, plain_sketch

ABILITIES = (
    "argmax", "argmin", "second_best", "second_augmented", "k_best", "slack_rescaled", "marginals",
)  # fmt: skip
ADVICE = {
    "argmin": "Define argmin(x, weights), or take a formulation without bounds, such as StructSVM.",
    "second_best": "Define second_best(x, weights, gold) or k_best(x, weights, k), or take a "
    "formulation with loss-rescaled margins, such as M3N.",
    "second_augmented": "Define second_augmented(x, weights, gold), or take margins that are a "
    "multiple of the loss.",
    "slack_rescaled": "Define slack_rescaled(x, weights, gold), or take rescale='margin'.",
}
"""What to do where an ability is missing."""


class Structure(Parameters):
    """Base of every structure: the set of outputs of an example, their features and their loss.

    Write `joint_features`, `loss` and `argmax`; add `argmin`, `second_best`, `k_best` or
    `slack_rescaled` where you can answer them. A structure handed to a model is never changed:
    :meth:`fitted` returns a copy that knows its dimension (`n_features_`).
    """

    exact: ClassVar[bool] = True
    """Whether `argmax` finds the true optimum; a certificate says so when it does not."""
    releases_gil: ClassVar[bool] = False
    """Whether passes run well in threads."""
    fitted_inside: ClassVar[tuple[str, ...]] = ()
    """Parameters that are structures, which fitting fits too."""

    n_features_: int

    checked_in = "fitted"

    # ------------------------------------------------------------------ what a user writes
    def joint_features(self, x: Any, y: Any) -> Any:
        """Return phi(x, y): a vector, or one sparse row."""
        raise NotImplementedError(f"{type(self).__name__} must define joint_features(x, y).")

    def loss(self, y: Any, other: Any) -> float:
        """Return the loss of predicting ``other`` where ``y`` is right; 0 when they are equal."""
        raise NotImplementedError(f"{type(self).__name__} must define loss(y, other).")

    def argmax(self, x: Any, weights: Floats, *, gold: Any = None) -> Any:
        """Return the y that maximises ``w . phi(x, y)``, plus ``loss(gold, y)`` given gold."""
        raise NotImplementedError(f"{type(self).__name__} must define argmax(x, weights, gold=).")

    def complete(self, x: Any, weights: Floats, gold: Any) -> Any:
        """Return the best output that agrees with what is known of gold; by default all of it is.

        A structure with latent parts, or gold outputs that are known in part, writes this: its
        loss does not depend on what is unknown.
        """
        return gold

    def beside(self, gold: Any, y: Any) -> Any:
        """Return an output as it is compared with gold; by default as it is.

        A structure whose features say only what sets outputs apart from gold writes this.
        """
        return y

    # ------------------------------------------------------------------ abilities
    def argmin(self, x: Any, weights: Floats) -> Any:
        """Return the y that minimises ``w . phi(x, y)``."""
        raise self._lacks("argmin")

    def second_best(self, x: Any, weights: Floats, gold: Any) -> Any:
        """Return the best y other than gold, or None if there is no other."""
        if "k_best" not in self.abilities():
            raise self._lacks("second_best")
        others = (y for y in self.k_best(x, weights, 2) if self.loss(gold, y) > 0)
        return next(others, None)

    def second_augmented(self, x: Any, weights: Floats, gold: Any) -> Any:
        """Return the y other than gold that maximises ``w . phi(x, y) + loss(gold, y)``, or None.

        Margins such as ``loss + 1``, which ask something even where the loss is 0, need it.
        """
        raise self._lacks("second_augmented")

    def k_best(self, x: Any, weights: Floats, k: int) -> list[Any]:
        """Return the k best outputs, best first (fewer if there are fewer)."""
        raise self._lacks("k_best")

    def slack_rescaled(self, x: Any, weights: Floats, gold: Any) -> Any:
        """Return the y that maximises ``loss(gold, y) * (1 - w . delta(y))``."""
        raise self._lacks("slack_rescaled")

    def marginals(self, X: Sequence[Any], weights: Floats) -> list[Floats]:
        """Return, for every example, the probability of each label at each part.

        Under ``p(y) ~ exp(w . phi(x, y))``; columns are in the order of ``labels_``.
        """
        raise self._lacks("marginals")

    def abilities(self) -> frozenset[str]:
        """Return the names of the questions this structure can answer."""
        mine = {a for a in ABILITIES if getattr(type(self), a) is not getattr(Structure, a)}
        return frozenset(mine | ({"second_best"} if "k_best" in mine else set()))

    def why_not(self, ability: str) -> str:
        """Return a sentence on why an ability is missing, or on what to do about it."""
        return ADVICE.get(ability, "")

    def part_count(self, y: Any) -> int:
        """Return how many parts of y can be wrong; scores are per part."""
        return len(y) if isinstance(y, Sized) and not isinstance(y, str) else 1

    def part_errors(self, y: Any, other: Any) -> int:
        """Return how many parts of ``other`` differ from ``y``."""
        parts = self.part_count(y)
        if parts == 1 or not isinstance(other, Sequence) or len(other) != parts:
            return parts if self.loss(y, other) > 0 else 0
        return sum(bool(a != b) for a, b in zip(y, other, strict=True))

    def sketch(self, x: Any, y: Any, shown: Any = None) -> Sketch:
        """Return what an output looks like, for reports (:mod:`structopt.structures.base.sketch`).

        ``shown`` is what a reader should see of the input, where that is not x itself: words,
        images, names of nodes.
        """
        return plain_sketch(x, plain(y), shown)

    def sketches(
        self, x: Any, gold: Any, predicted: Any, shown: Any = None
    ) -> tuple[Sketch, Sketch]:
        """Return the sketches of two outputs that are shown beside one another."""
        return self.sketch(x, gold, shown), self.sketch(x, predicted, shown)

    # ------------------------------------------------------------------ fitting and encoding
    def fitted(self, X: Sequence[Any], Y: Sequence[Any]) -> Self:
        """Return a copy that knows the dimension, the labels and whatever else data decides."""
        check_lengths(X, Y)
        fitted = copy.copy(self)
        if not hasattr(type(self), "n_features_"):  # a class may say it
            fitted.n_features_ = as_row(self.joint_features(X[0], Y[0])).shape[1]
        return fitted

    def fit(self, X: Any, Y: Any) -> Self:
        """Renamed: see :meth:`fitted`."""
        raise AttributeError(
            "Structure.fit(X, Y) is now Structure.fitted(X, Y): it returns a copy."
        )

    def encode(self, X: Sequence[Any], Y: Sequence[Any], *, start: int = 0) -> Shard:
        """Encode examples with their gold outputs; ``start`` numbers the first in messages."""
        check_lengths(X, Y)
        whole = self._first_completion(X, Y)
        for i, (x, y) in enumerate(zip(X, whole, strict=True)):
            row = as_row(self.joint_features(x, y))
            if row.shape[1] != self.n_features_ or not np.all(np.isfinite(row.data)):
                raise InvalidInputError(
                    f"joint_features of example {start + i} has {row.shape[1]} entries (expected "
                    f"{self.n_features_}) or one that is not finite.",
                    example=start + i,
                )
            try:
                paid = float(self.loss(Y[i], y))
            except (StructoptError, KeyboardInterrupt):
                raise
            except Exception as error:
                raise failed(self, "loss", start + i, error) from error
            if paid != 0.0:
                raise InvalidInputError(
                    f"The loss of example {start + i}'s gold output is {paid}: "
                    f"{type(self).__name__}.loss(y, other) must be 0 where nothing is wrong.",
                    example=start + i,
                )
        return ExampleShard(self, X, Y, start, whole)

    def _first_completion(self, X: Sequence[Any], Y: Sequence[Any]) -> Sequence[Any]:
        """Return outputs with what is unknown of them chosen in some way."""
        if type(self).complete is Structure.complete:
            return Y
        nothing = np.zeros(self.n_features_)
        return [self.complete(x, nothing, y) for x, y in zip(X, Y, strict=True)]

    def unpack(self, shard: Any, outputs: Any) -> list[Any]:
        """Return a shard's outputs as users write them, one an example."""
        return list(outputs)

    def predict(self, X: Any, weights: Floats, *, given: Any = None) -> list[Any]:
        """Return argmax for every example, among the outputs that have what is given of them.

        ``given`` has an entry for each example (:mod:`structopt.structures.base.given`), None where
        nothing is given; a structure of your own answers it by its :meth:`complete`.
        """
        X = sp.csr_array(X) if sp.issparse(X) else X
        if given is None:
            found = [kept(self.argmax(x, weights)) for x in (X if count(X) else ())]
        else:
            check_lengths(X, given)
            if type(self).complete is Structure.complete:
                raise IncompatibleError(
                    f"{type(self).__name__} cannot be held to parts that are given: write "
                    "complete(x, weights, gold), the best output that agrees with gold's known "
                    "parts."
                )
            pairs = zip(X, given, strict=True)
            found = [self.complete(x, weights, g) if g is not None else self.argmax(x, weights)
                     for x, g in pairs]  # fmt: skip
        for i, y in enumerate(found):
            check_given(y, self, "argmax", i)
        return found

    def nonnegative_weights(self) -> Ints:
        """Return which weights must stay >= 0 for the oracles to be right; usually none."""
        return np.zeros(0, dtype=np.int64)

    def note(self) -> str:
        """Return what a certificate should say about the oracles' answers; usually nothing."""
        return ""

    def feature_names(self) -> list[tuple[str, str]] | None:
        """Return ``(feature, label)`` for each weight; None if unknown."""
        return None

    # ------------------------------------------------------------------ dispatch
    def answer(self, oracle: Oracle, x: Any, gold: Any, weights: Floats) -> Any:
        """Answer one oracle for one example with the per-example methods."""
        if oracle is loss_augmented:
            return self.argmax(x, weights, gold=gold)
        if oracle is best_other:
            return self.second_best(x, weights, gold)
        if oracle is other_augmented:
            return self.second_augmented(x, weights, gold)
        if oracle is slack_rescaled:
            return self.slack_rescaled(x, weights, gold)
        if oracle is worst:
            return self.argmin(x, weights)
        raise IncompatibleError(f"{type(self).__name__} does not know the oracle {oracle.name!r}.")

    def _lacks(self, ability: str) -> IncompatibleError:
        return IncompatibleError(
            f"{type(self).__name__} has no {ability!r}; it offers {sorted(self.abilities())}."
        )


def check_lengths(X: Sequence[Any], Y: Sequence[Any]) -> None:
    """Refuse an empty data set and inputs and outputs of different number."""
    if hasattr(Y, "nnz"):
        raise InvalidInputError("Y is a sparse matrix: give a list or an array of outputs.")
    n_inputs, n_outputs = count(X, "X"), count(Y, "Y")
    if n_inputs != n_outputs:
        raise InvalidInputError(
            f"{n_inputs} inputs but {n_outputs} outputs: give one output per input."
        )
    if n_inputs == 0:
        raise InvalidInputError("The data set is empty: give at least one example.")
