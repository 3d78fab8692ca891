r"""Asking an oracle in several ways, and comparing its answers with each other.

An oracle of the user's own may be wrong in one and the same way in every round, so that no answer
contradicts an earlier one: an argmax that forgets the loss, or gives gold whenever it is told gold.
Asked at other weights, with and without gold, it gives other outputs of the same example; at every
weights tried the answer must have the largest value of them all, features and losses computed anew.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from structopt.arrays import Floats
from structopt.engines.dataset import DataSet
from structopt.errors import OracleError, StructoptError
from structopt.structures.base.example_shard import ExampleShard, as_row, failed, kept
from structopt.structures.base.oracles import (
    Oracle,
    best_other,
    loss_augmented,
    other_augmented,
    slack_rescaled,
    worst,
)
from structopt.structures.base.structure import Structure

QUESTIONS = (loss_augmented, best_other, other_augmented, slack_rescaled, worst)
"""Oracles whose question is known."""
OTHERS = (best_other, other_augmented)
"""Those that are asked of all outputs but gold."""
_EXAMPLES = 16
"""Examples that a run looks at before it says that it is certified: some 150 questions."""
_ROUNDING = 1e-7


class Beaten(NamedTuple):
    """An answer that another output beats at the same weights."""

    oracle: Oracle
    output: Any
    value: float
    better: Any
    better_value: float

    def __str__(self) -> str:
        return (
            f"asked {self.oracle.name!r}, it gives {_shown(self.output)} of value "
            f"{self.value:.9g}, but {_shown(self.better)} has {self.better_value:.9g} at the same "
            "weights"
        )


class Known(NamedTuple):
    """An output, its features and its loss."""

    output: Any
    features: Any
    loss: float

    @classmethod
    def of(cls, structure: Structure, x: Any, gold: Any, y: Any) -> Known:
        """Compute both anew."""
        y = structure.beside(gold, y)
        return cls(y, as_row(structure.joint_features(x, y)), float(structure.loss(gold, y)))

    def value(self, oracle: Oracle, gold: Known, weights: Floats) -> tuple[float, float]:
        """Return ``margin - scale * w . delta``, and the size of what was summed."""
        delta = gold.features - self.features
        score = float((delta @ weights)[0])
        summed = float((abs(gold.features) @ np.abs(weights))[0])
        summed += float((abs(self.features) @ np.abs(weights))[0]) + abs(self.loss)
        return float(oracle.margin(self.loss) - oracle.scale(self.loss) * score), summed


def trial_weights(structure: Structure, weights: Floats, rng: np.random.Generator) -> list[Floats]:
    """Return weights to ask at: none, the given ones, less, more, and others of their size."""
    size = float(np.abs(weights).max(initial=0.0)) or 1.0
    other = size * rng.standard_normal(len(weights))
    kept = structure.nonnegative_weights()
    other[kept] = np.abs(other[kept])
    # far out every output that fits beats what is always given; a copy, which may be written to
    return [0.0 * weights, weights.copy(), 0.5 * weights, 10.0 * weights, other, 0.3 * other]


def beaten(
    structure: Structure, oracle: Oracle, x: Any, gold: Any, trials: list[Floats], *more: Any
) -> Iterator[Beaten]:
    """Yield answers at the weights tried that other answers, or ``more`` outputs, beat."""
    # gold itself, unless it is known in part only
    right = Known.of(structure, x, gold, structure.complete(x, trials[0], gold))
    answers = [kept(structure.answer(oracle, x, gold, w)) for w in trials]
    plain = []
    if "argmax" in structure.abilities():
        backwards = [] if len(structure.nonnegative_weights()) else [-trials[1], -trials[-2]]
        plain = [kept(structure.argmax(x, w)) for w in (trials[1], trials[-2], *backwards)]
    outputs = [y for y in (*answers, *plain, *more) if y is not None]
    known = [Known.of(structure, x, gold, y) for y in outputs]
    known = [k for k in known if k.loss > 0] if oracle in OTHERS else [right, *known]
    for w, y in zip(trials, answers, strict=True):
        if not known:
            return
        value, size = -np.inf, 0.0
        if y is not None:
            value, size = Known.of(structure, x, gold, y).value(oracle, right, w)
        values = [k.value(oracle, right, w) for k in known]
        best = int(np.argmax([v for v, _ in values]))
        if values[best][0] - value > _ROUNDING * max(size, values[best][1]):
            yield Beaten(oracle, y, value, known[best].output, values[best][0])


def probe(data: DataSet, oracles: set[Oracle], weights: Floats) -> None:
    """Raise an OracleError if a user's own methods contradict each other on a few examples."""
    asked = [oracle for oracle in QUESTIONS if oracle in oracles]
    for oracle in asked if data.exact else ():
        _same_elsewhere(data, oracle, weights)
    for wrong in filter(None, data.each(_contradiction, asked, weights, len(data.starts) - 1)):
        raise wrong


def _same_elsewhere(data: DataSet, oracle: Oracle, weights: Floats) -> None:
    """Refuse answers of other processes that are not what this one gives for the same examples."""
    which = np.unique(np.linspace(0, data.n_examples - 1, _EXAMPLES).astype(int)).tolist()
    size = data.term_size(weights)
    for i, pair in zip(which, data.asked_apart(oracle, weights, which), strict=False):
        there, here = (oracle.hinge(a.loss, a.score) for a in pair)
        if not np.allclose(there, here, rtol=_ROUNDING, atol=_ROUNDING * (1.0 + size)):
            raise OracleError(
                f"Asked {oracle.name!r} about example {i}, another process gives an output of "
                f"value {there[0]:.9g}, and this one of {here[0]:.9g}: the structure depends on "
                "what other processes do not have (a global, an attribute of a class), so nothing "
                "is proven. Keep it in the structure's own attributes, or use n_jobs=1.",
                example=i,
            )


def _contradiction(
    shard: Any, start: int, oracles: list[Oracle], weights: Floats, n_shards: int
) -> OracleError | None:
    """Return what contradicts itself in a shard, where the shard is."""
    if not isinstance(shard, ExampleShard) or not shard.structure.exact:
        return None
    rng = np.random.default_rng(start)
    count = min(shard.n_examples, max(1, _EXAMPLES // n_shards))
    for i in rng.choice(shard.n_examples, size=count, replace=False).tolist():
        trials = trial_weights(shard.structure, weights, rng)
        for oracle in oracles:
            try:
                found = list(beaten(shard.structure, oracle, shard.X[i], shard.Y[i], trials))
            except (StructoptError, KeyboardInterrupt):
                raise
            except Exception as error:
                raise failed(shard.structure, "argmax or loss", start + i, error) from error
            for wrong in found[:1]:
                name = type(shard.structure).__name__
                return OracleError(
                    f"{name} does not find the best output of example {start + i}: {wrong}. "
                    "So nothing is proven. Does argmax use gold, and do argmax, loss and "
                    "joint_features speak of the same outputs? A structure that only "
                    "approximates says so by `exact = False`.",
                    example=start + i,
                )
    return None


def _shown(output: Any) -> str:
    said = " ".join(repr(output).split())
    return said if len(said) <= 60 else said[:57] + "..."
