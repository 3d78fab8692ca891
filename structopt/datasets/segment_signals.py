r"""Signals made of segments: states that last for a while, seen through noise.

A signal is a row of segments. The label of a segment is drawn among the others than the last one's,
its length is n_k - 1, n_k or n_k + 1 with n_k typical of the label, and every position of it shows

    x_t = (1, mu_k + noise * epsilon_t),    epsilon_t ~ N(0, 1),

so that with much noise it is the lengths that tell states apart.

>>> X, Y = make_segment_signals(2, seed=0)
>>> X[0].shape, Y[0][:8]
((40, 2), ['run', 'run', 'run', 'run', 'run', 'walk', 'walk', 'walk'])
"""

from __future__ import annotations

import numpy as np

from structopt.arrays import Floats
from structopt.parameters import Count, NonNegative, Seed, checked

STATES = {"rest": (-1.0, 3), "walk": (0.0, 8), "run": (1.0, 5)}
"""The level and the typical length of each state."""


@checked
def make_segment_signals(
    n_examples: Count = 20, *, length: Count = 40, noise: NonNegative = 1.0, seed: Seed = 0
) -> tuple[list[Floats], list[list[str]]]:
    """Draw signals and the state of each position, for ``Segments(scheme="runs")``.

    Parameters
    ----------
    n_examples : int
    length : int
        Positions of a signal; its last segment is cut off there.
    noise : float
        Standard deviation; levels are 1 apart.
    seed : int
    """
    rng = np.random.default_rng(seed)
    X, Y = [], []
    for _ in range(n_examples):
        labels: list[str] = []
        while len(labels) < length:
            others = [label for label in STATES if label not in labels[-1:]]
            label = others[int(rng.integers(len(others)))]
            labels += [label] * (STATES[label][1] + int(rng.integers(-1, 2)))
        y = labels[:length]
        level = np.array([STATES[label][0] for label in y])
        X.append(np.column_stack([np.ones(length), level + noise * rng.standard_normal(length)]))
        Y.append(y)
    return X, Y
