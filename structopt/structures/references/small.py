"""A tiny random problem with several good outputs an example."""

from __future__ import annotations

from typing import Any

import numpy as np

from structopt.structures.base.small import Small
from structopt.structures.chain.small import small as small_chain
from structopt.structures.lattice.small import small as small_lattice
from structopt.structures.references.structure import References


def small(rng: np.random.Generator) -> Small:
    """Return chains or lattices, with up to three references each."""
    one = (small_chain if rng.integers(2) else small_lattice)(rng)
    assert one.outputs is not None
    assert one.loss is not None
    inner = one.loss
    Y = []
    for x, y in zip(one.X, one.Y, strict=True):
        listed = one.outputs(x)
        more = [listed[k] for k in rng.integers(len(listed), size=int(rng.integers(3)))]
        Y.append([y, *(other for k, other in enumerate(more) if other not in [y, *more[:k]])])

    def loss(gold: Any, y: Any) -> float:
        return min(inner(reference, y) for reference in gold)

    return Small(References(one.structure), one.X, Y, one.outputs, one.features, loss)
