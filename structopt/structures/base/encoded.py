r"""Examples encoded by a structure; an ``encode`` of the user's own is held to the other methods.

What a shard says of an output must be what the structure's methods say of it:

    delta = phi(x, gold) - phi(x, y),      loss = loss(gold, y).

Shards of this package are tested against that; one that a user packs is looked at for a few
examples, before any work.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from structopt.arrays import cut_rows
from structopt.errors import IncompatibleError, StructoptError
from structopt.structures.base.example_shard import ExampleShard, as_row
from structopt.structures.base.oracles import loss_augmented
from structopt.structures.base.shard import Shard
from structopt.structures.base.structure import Structure

_FEW = 4
"""Examples that are looked at."""
_EQUAL = 1e-9
"""Share of the numbers up to which they count as equal."""


def encoded(structure: Structure, X: Any, Y: Any, *, start: int = 0) -> Shard:
    """Return examples as a shard; ``start`` numbers the first in messages.

    Raises
    ------
    IncompatibleError
        If a method of the user's own packs other examples than its other methods speak of.
    """
    name = type(structure).__name__
    if not any(_is_own(structure, method) for method in ("encode", "pack")):
        return structure.encode(X, Y, start=start)
    try:
        shard = structure.encode(X, Y, start=start)
        wrong = _wrong(structure, shard, X, Y, start)
    except (StructoptError, KeyboardInterrupt, MemoryError):
        raise
    except Exception as error:
        raise IncompatibleError(
            f"{name}.encode(X, Y) failed: {type(error).__name__}: {error}"
        ) from error
    if wrong:
        raise IncompatibleError(f"{name}.encode(X, Y) {wrong}")
    return shard


def _is_own(structure: Structure, method: str) -> bool:
    """Return whether a method was written outside this package."""
    home = next((c for c in type(structure).__mro__ if method in vars(c)), None)
    return home is not None and home.__module__.partition(".")[0] != "structopt"


def _wrong(structure: Structure, shard: Any, X: Any, Y: Any, start: int) -> str:
    """Return what is wrong with a shard, "" if nothing is seen."""
    if not isinstance(shard, Shard):
        return f"gave {shard!r}: give a shard, such as super().encode(X, Y, start=start)."
    if shard.n_examples != len(Y):
        return f"packed {shard.n_examples} of {len(Y)} examples: pack them all."
    if "argmax" not in structure.abilities() or not (shard.along or shard.each):
        return ""
    weights = np.random.default_rng(0).standard_normal(structure.n_features_)
    kept = structure.nonnegative_weights()
    weights[kept] = np.abs(weights[kept])
    for i in np.unique(np.linspace(0, len(Y) - 1, _FEW).astype(int)).tolist():
        if shard.unknown[i]:  # features are those of a completion
            continue
        one = shard.single(i)
        answers = one.ask(loss_augmented, weights)
        listed = isinstance(one, ExampleShard)
        y = (answers.outputs if listed else structure.unpack(one, answers.outputs))[0]
        x, gold = next(iter(cut_rows(X, i, i + 1))), Y[i]
        y = structure.beside(gold, y)
        own = [as_row(structure.joint_features(x, each)) for each in (gold, y)]
        packed = one.directions(answers.outputs, np.zeros(1, dtype=np.int64))
        delta = packed.tocsr(one.base, structure.n_features_).toarray()
        size = float(max(abs(row).max() for row in own))
        off = float(np.abs(delta - (own[0] - own[1]).toarray()).max(initial=0.0))
        loss = float(structure.loss(gold, y)), float(answers.loss[0])
        if off > _EQUAL * size or abs(loss[0] - loss[1]) > _EQUAL * max(loss):
            return (
                f"packs example {start + i} otherwise than the other methods speak of it: between "
                f"gold and another output features differ by {off:.3g}, the loss is {loss[1]:g} "
                f"packed and {loss[0]:g} by loss(gold, y). Override joint_features and loss too, "
                "or change the data before the fit."
            )
    return ""
