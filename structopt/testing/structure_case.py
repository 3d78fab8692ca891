"""A structure with small examples, and the truth about them by enumeration."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, NoReturn

import numpy as np
import scipy.sparse as sp

from structopt.arrays import Floats
from structopt.errors import InvalidInputError
from structopt.structures.base.example_shard import as_row
from structopt.structures.base.oracles import Oracle, best_other, other_augmented
from structopt.structures.base.shard import Shard
from structopt.structures.base.small import Small, numbers
from structopt.testing.check import fail

MOST_OUTPUTS = 20_000
"""Outputs of one example that are listed before the case is refused as too large."""


class StructureCase:
    """What the checks of a structure look at.

    Parameters
    ----------
    small : Small
    seed : int
        Of the weights.
    """

    def __init__(self, small: Small, seed: int = 0) -> None:
        self.small, self.given = small, small.structure
        given: Any = small.X
        sparse = sp.issparse(given)
        self.X = [given[[i]] for i in range(given.shape[0])] if sparse else list(given)
        self.Y = list(small.Y)
        fitted = hasattr(self.given, "n_features_")
        self.structure = self.given if fitted else self.given.fitted(self.X, self.Y)
        self.seed = seed

    # ------------------------------------------------------------------ the truth
    @cached_property
    def outputs(self) -> list[list[Any]]:
        """Every output of every example."""
        if self.small.outputs is not None:
            return [list(self.small.outputs(x)) for x in self.X]
        if "k_best" not in self.structure.abilities():
            raise InvalidInputError(
                f"{type(self.structure).__name__} has no 'k_best' to list its outputs with: pass "
                "outputs=, a function from an example to the list of all its outputs."
            )
        nothing = np.zeros(self.structure.n_features_)
        listed = [self.structure.k_best(x, nothing, MOST_OUTPUTS) for x in self.X]
        if max(map(len, listed)) >= MOST_OUTPUTS:
            raise InvalidInputError(
                f"An example has {MOST_OUTPUTS} outputs or more: check smaller examples."
            )
        return listed

    @cached_property
    def phi(self) -> list[Floats]:
        """The features of every output: one matrix for each example."""
        features = self.small.features or self.structure.joint_features
        return [
            np.stack([dense(features(x, y)) for y in outputs])
            for x, outputs in zip(self.X, self.outputs, strict=True)
        ]

    @cached_property
    def losses(self) -> list[Floats]:
        """The loss of every output against gold."""
        loss = self.small.loss or self.structure.loss
        return [
            np.array([loss(gold, y) for y in outputs], dtype=np.float64)
            for gold, outputs in zip(self.Y, self.outputs, strict=True)
        ]

    @cached_property
    def gold(self) -> list[int]:
        """Where gold stands among the outputs of each example."""
        return [self.place(i, y) for i, y in enumerate(self.Y)]

    @cached_property
    def weights(self) -> list[Floats]:
        """Weights to ask at: none at all, whole numbers (ties), and real ones."""
        n, kept = self.structure.n_features_, self.structure.nonnegative_weights()
        rng = np.random.default_rng(self.seed)
        drawn = [np.zeros(n)] + [numbers(rng, whole, n) for whole in (True, True, False, False)]
        for w in drawn:
            w[kept] = np.abs(w[kept])
        return drawn

    def asked(self) -> Iterator[tuple[int, Floats]]:
        """Yield every example with every weights."""
        for w in self.weights:
            for i in range(len(self.X)):
                yield i, w

    def hinge(self, oracle: Oracle, i: int, w: Floats) -> Floats:
        """Return the row that each output of example i would ask for, -inf if it may not."""
        phi, loss = self.phi[i], self.losses[i]
        score: Floats = (phi[self.gold[i]] - phi) @ w
        if oracle.name == "worst":
            return score
        value = np.array(oracle.hinge(loss, score), dtype=np.float64)
        if oracle in (best_other, other_augmented):
            value[self.gold[i]] = -np.inf
        return value

    # ------------------------------------------------------------------ comparing
    def place(self, i: int, y: Any) -> int:
        """Return where an output of example i stands in the list; fail if it does not."""
        for k, other in enumerate(self.outputs[i]):
            if same(other, y):
                return k
        fail(f"{y!r} is not among the {len(self.outputs[i])} outputs of example {i}, {self.X[i]!r}")

    def exactly(self, w: Floats) -> bool:
        """Return whether scores at w are whole numbers, so that ties are ties."""
        return whole(w) and all(whole(phi) for phi in self.phi)

    def near(self, found: Any, truth: Any, more: float = 0.0) -> bool:
        """Return whether numbers agree, up to rounding and up to ``more``."""
        scale = 1.0 + np.max(np.abs(np.where(np.isfinite(truth), truth, 0.0)), initial=0.0)
        both = np.isinf(found) & (np.asarray(found) == truth)
        with np.errstate(invalid="ignore"):
            return bool(np.all(both | (np.abs(found - truth) <= more + self.small.tol * scale)))

    def wrong(self, i: int, w: Floats, said: str) -> NoReturn:
        """Fail with the example, the weights and the gold output."""
        fail(
            f"{said}\n  example {i}: x = {self.X[i]!r}, gold = {self.Y[i]!r}\n  weights: "
            f"{np.array2string(w, threshold=30, precision=4)}"
        )


def rows(shard: Shard, outputs: Any, which: Any, n_features: int) -> Floats:
    """Return a shard's directions as dense rows."""
    found = shard.directions(outputs, np.asarray(which, dtype=np.int64))
    return np.asarray(found.tocsr(shard.base, n_features).toarray(), dtype=np.float64)


def dense(features: Any) -> Floats:
    """Return a feature vector as a dense one."""
    return np.asarray(as_row(features).toarray()[0], dtype=np.float64)


def same(y: Any, other: Any) -> bool:
    """Return whether two outputs are equal, arrays too."""
    if isinstance(y, np.ndarray) or isinstance(other, np.ndarray):
        return np.array_equal(y, other)
    return bool(y == other)


def whole(values: Floats) -> bool:
    """Return whether all numbers are whole."""
    return bool(np.all(values == np.round(values)))
