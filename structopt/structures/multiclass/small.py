"""A tiny random problem of classes."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from structopt.arrays import Floats
from structopt.structures.base.small import Small, numbers
from structopt.structures.losses.hamming import Hamming
from structopt.structures.multiclass.structure import Multiclass


def small(rng: np.random.Generator) -> Small:
    """Return up to six rows of two to five classes, dense or sparse, with class weights or not."""
    n, d, whole = int(rng.integers(1, 7)), int(rng.integers(1, 4)), bool(rng.integers(2))
    labels = [f"y{k}" for k in rng.permutation(int(rng.integers(2, 6)))]
    cost = {y: float(rng.integers(1, 4)) for y in labels}
    rows = list(numbers(rng, whole, n, d))
    X = [sp.csr_array(x[None]) for x in rows] if rng.integers(2) else rows
    weighted = bool(rng.integers(2))

    def features(x: Any, y: Any) -> Floats:
        table = np.zeros((len(labels), d))
        table[labels.index(y)] = x.toarray()[0] if sp.issparse(x) else x
        return table.ravel()

    def loss(gold: Any, y: Any) -> float:
        return 0.0 if gold == y else cost[gold] if weighted else 1.0

    structure = Multiclass(labels, Hamming(cost) if weighted else None)
    Y = [labels[k] for k in rng.integers(len(labels), size=n)]
    return Small(structure, X, Y, lambda x: labels, features, loss, ordered="all")
