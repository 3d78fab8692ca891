r"""Ways that zigzag: what comes next depends on the two steps before.

A walker turns left or right and goes straight for a step in between; each turn is the other one
than the last, but for slips. Every step shows

    x_t = e(y_t) + noise * epsilon_t,    epsilon_t ~ N(0, 1) in R^3, and a column of ones.

A chain knows that turns follow straight steps, but not which turn: the last one is two steps back.

>>> X, Y = make_zigzags(2, seed=0)
>>> X[0].shape, Y[0][:5]
((30, 4), ['straight', 'right', 'straight', 'left', 'straight'])
"""

from __future__ import annotations

import numpy as np

from structopt.arrays import Floats
from structopt.parameters import Count, NonNegative, Seed, Share, checked

STEPS = ("left", "right", "straight")


@checked
def make_zigzags(
    n_examples: Count = 20,
    *,
    length: Count = 30,
    slip: Share = 0.05,
    noise: NonNegative = 1.0,
    seed: Seed = 0,
) -> tuple[list[Floats], list[list[str]]]:
    """Draw ways and their steps, for `SecondOrderChain`.

    Parameters
    ----------
    n_examples : int
    length : int
        Steps of a way.
    slip : float
        How often a turn is the same as the last one.
    noise : float
        Standard deviation; steps are sqrt(2) apart.
    seed : int
    """
    rng = np.random.default_rng(seed)
    X, Y = [], []
    for _ in range(n_examples):
        labels = ["straight"]
        turn = int(rng.integers(2))
        while len(labels) < length:
            labels += [STEPS[turn], "straight"]
            turn = turn if rng.random() < slip else 1 - turn
        y = labels[:length]
        seen = np.eye(len(STEPS))[[STEPS.index(step) for step in y]]
        seen += noise * rng.standard_normal(seen.shape)
        X.append(np.column_stack([seen, np.ones(length)]))
        Y.append(y)
    return X, Y
