r"""Constrained binary outputs whose local problems are as hard as wanted.

Each example has c points x_t in d dimensions. The truth scores them by f_t(x) = w_t . x + theta_t
and labels them together, among the legal vectors only:

    y = argmax over y in C of  sum_t (2 y_t - 1) f_t(x_t).

For a fraction kappa of the examples the free labelling [f_t(x_t) > 0] breaks the constraint, so
that no local classifier can be right about it; all of them are right about the rest.

>>> data = make_constrained_labels(n_examples=40, kappa=0.25, seed=0)
>>> data.X.shape, len(data.legal), len(data.Y)
((40, 5, 101), 16, 40)
>>> set(data.Y) <= set(data.legal)
True
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from structopt.arrays import Floats
from structopt.errors import InvalidInputError
from structopt.parameters import Count, PositiveShare, Seed, Share, checked

DRAWS = 1000
"""Batches to draw at most; a constraint that needs more rejects more than 99.9% of the points."""


@dataclass(frozen=True)
class ConstrainedLabels:
    """Inputs (n, c, d + 1), the last column 1; label vectors; and the constraint they obey."""

    X: Floats
    Y: list[tuple[int, ...]]
    legal: list[tuple[int, ...]]


@checked
def make_constrained_labels(
    n_examples: Count = 1000,
    *,
    n_components: Count = 5,
    n_inputs: Count = 100,
    kappa: Share = 0.0,
    legal_fraction: PositiveShare = 0.5,
    seed: Seed = 0,
) -> ConstrainedLabels:
    """Draw a hypothesis, a constraint and examples.

    Parameters
    ----------
    n_examples : int
    n_components, n_inputs : int
        c and d.
    kappa : float in [0, 1]
        Fraction of examples whose free labelling is illegal.
    legal_fraction : float in (0, 1]
        Size of C as a fraction of all 2^c vectors.
    seed : int

    Notes
    -----
    Punyakanok, Roth, Yih and Zimak (2005), section 5.1. They do not state the law of the
    hypothesis: here w_t is uniform on the unit sphere, theta_t uniform on [-1/2, 1/2] and x_t
    standard normal. The column of ones lets a linear classifier learn theta_t.
    """
    rng = np.random.default_rng(seed)
    normal = rng.normal(size=(n_components, n_inputs))
    weights = normal / np.linalg.norm(normal, axis=1, keepdims=True)
    offsets = rng.uniform(-0.5, 0.5, size=n_components)
    every = np.array(list(product((0, 1), repeat=n_components)))
    count = max(1, round(legal_fraction * len(every)))
    legal = every[np.sort(rng.choice(len(every), count, replace=False))]
    n_broken = round(kappa * n_examples)
    if n_broken and count == len(every):
        raise InvalidInputError("With every vector legal no labelling is broken: ask for kappa=0.")
    x = _draw(rng, weights, offsets, legal, n_examples - n_broken, n_broken)
    local = np.einsum("ntd,td->nt", x, weights) + offsets
    y = legal[np.argmax(local @ (2.0 * legal - 1.0).T, axis=1)]
    ones = np.ones((n_examples, n_components, 1))
    return ConstrainedLabels(
        np.concatenate([x, ones], axis=2),
        [tuple(row) for row in y.tolist()],
        [tuple(row) for row in legal.tolist()],
    )


def _draw(
    rng: np.random.Generator,
    weights: Floats,
    offsets: Floats,
    legal: NDArray[np.int64],
    n_kept: int,
    n_broken: int,
) -> Floats:
    """Draw points until there are enough of both kinds, and shuffle them."""
    powers = 2 ** np.arange(len(offsets))
    is_legal = np.zeros(2 ** len(offsets), dtype=bool)
    is_legal[legal @ powers] = True
    wanted, found = {True: n_kept, False: n_broken}, {True: [], False: []}  # type: ignore[var-annotated]
    for _ in range(DRAWS):
        x = rng.normal(size=(max(64, n_kept + n_broken), *weights.shape))
        free = (np.einsum("ntd,td->nt", x, weights) + offsets > 0) @ powers
        for kind in (True, False):
            found[kind].extend(x[is_legal[free] == kind][: wanted[kind] - len(found[kind])])
        if all(len(found[kind]) == wanted[kind] for kind in (True, False)):
            together = np.stack(found[True] + found[False])
            return together[rng.permutation(len(together))]
    raise InvalidInputError(
        f"{DRAWS} draws gave {len(found[True])} legal and {len(found[False])} broken labellings, "
        f"wanted {n_kept} and {n_broken}: choose another legal_fraction or kappa."
    )
