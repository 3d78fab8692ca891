"""Small training problems: chains and classes whose outputs are few enough to write all down."""

from __future__ import annotations

from itertools import product

import numpy as np

from structopt.structures.base.small import Small
from structopt.structures.chain.structure import Chain
from structopt.structures.multiclass.structure import Multiclass
from structopt.testing.structure_case import StructureCase


def small_chain(
    seed: int = 0, *, n: int = 4, length: int = 3, n_labels: int = 2, n_inputs: int = 2
) -> StructureCase:
    """Return sequences with random labels: no weights fit them all."""
    rng = np.random.default_rng(seed)
    X = [np.round(rng.normal(size=(length, n_inputs)), 2) for _ in range(n)]
    Y = [rng.integers(n_labels, size=length).tolist() for _ in range(n)]
    outputs = [list(y) for y in product(range(n_labels), repeat=length)]
    return StructureCase(Small(Chain(labels=list(range(n_labels))), X, Y, lambda x: outputs))


def small_classes(
    seed: int = 0, *, n: int = 6, n_labels: int = 3, n_inputs: int = 2
) -> StructureCase:
    """Return rows with random classes."""
    rng = np.random.default_rng(seed)
    X = list(np.round(rng.normal(size=(n, n_inputs)), 2))
    labels = list(range(n_labels))
    Y = rng.integers(n_labels, size=n).tolist()
    return StructureCase(Small(Multiclass(labels=labels), X, Y, lambda x: labels))


def learnable(case: StructureCase, seed: int = 0) -> StructureCase:
    """Return the same inputs with gold outputs that hidden weights like best.

    But for the last example, whose gold output is second best: slacks stay. Where gold says more
    than an output does, it is kept.
    """
    if not case.small.any_gold:
        return case
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=case.structure.n_features_)
    kept = case.structure.nonnegative_weights()
    hidden[kept] = np.abs(hidden[kept])
    Y = []
    for i, (phi, outputs) in enumerate(zip(case.phi, case.outputs, strict=True), 1):
        order = np.argsort(-(phi @ hidden), kind="stable")
        Y.append(outputs[order[0 if i < len(case.X) or len(order) < 2 else 1]])
    small = case.small
    return StructureCase(
        Small(case.given, case.X, Y, small.outputs, small.features, small.loss, exact=small.exact)
    )
