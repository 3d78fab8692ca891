"""A tiny random problem of 0/1 vectors under constraints."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from structopt.arrays import Floats
from structopt.structures.base.small import Small, chosen, numbers
from structopt.structures.losses.part_costs import PartCosts
from structopt.structures.program.structure import BooleanProgram


def budget(x: Any, z: Any) -> list[Any]:
    """At most two parts, and not the first two together."""
    import cvxpy as cp

    return [cp.sum(z) <= 2, z[0] + z[1] <= 1]


def small(rng: np.random.Generator) -> Small:
    """Return two examples of three or four parts."""
    d, parts, whole = int(rng.integers(1, 4)), int(rng.integers(3, 5)), bool(rng.integers(2))
    cost = rng.choice([0.5, 1.0, 2.0], parts)
    outputs = [z for z in product((0, 1), repeat=parts) if sum(z) <= 2 and z[0] + z[1] <= 1]
    X = list(numbers(rng, whole, 2, parts, d))

    def features(x: Any, y: Any) -> Floats:
        return np.asarray(np.array(y) @ x)

    def loss(gold: Any, y: Any) -> float:
        return float(cost @ (np.array(gold) != np.array(y)))

    structure = BooleanProgram(budget, np.asarray, loss=PartCosts(cost, cost))
    Y = [chosen(rng, outputs) for _ in X]
    return Small(structure, X, Y, lambda x: outputs, features, loss, tol=1e-7)
