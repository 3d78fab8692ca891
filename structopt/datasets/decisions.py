r"""Costs that depend on inputs, as the literature on predict-then-optimise draws them.

    x ~ N(0, I_p),   B in {0, 1}^{m x p},   c_j = ((B x)_j / sqrt(p) + 3)^degree + 1,

times noise that is uniform in 1 +- ``noise``. A linear model is right at degree 1 and less so the
higher the degree. Elmachtoub and Grigas (2022), section 6.1, with the scale of PyEPO.

>>> X, costs = make_shortest_paths(3, degree=2, seed=0)
>>> X.shape, costs.shape, bool(costs.min() > 0)
((3, 5), (3, 40), True)
>>> X, costs, weights = make_knapsacks(3, n_items=6, seed=0)
>>> costs.shape, weights.shape, bool(costs.max() < 0)
((3, 6), (2, 6), True)
"""

from __future__ import annotations

from numbers import Integral

import numpy as np

from structopt.arrays import Floats
from structopt.errors import InvalidInputError
from structopt.parameters import Count, Seed, Share, checked

_SIDE = 10_000
"""Nodes along a side of a grid: more would draw hundreds of millions of costs an example."""


@checked
def make_shortest_paths(
    n_examples: Count,
    *,
    grid: tuple[int, int] = (5, 5),
    n_features: Count = 5,
    degree: Count = 1,
    noise: Share = 0.0,
    seed: Seed | None = None,
) -> tuple[Floats, Floats]:
    r"""Draw inputs and the costs of a grid's edges, for `so.decisions.GridPaths`.

    Parameters
    ----------
    n_examples : int
    grid : (rows, columns)
        Of nodes.
    n_features : int
        Inputs p.
    degree : int
        Of the polynomial; the costs are divided by 3.5^degree.
    noise : float
        Half width of the factor of each cost.
    seed : int, optional

    Returns
    -------
    X : array (n, p)
    costs : array (n, edges)
    """
    whole = isinstance(grid, tuple | list) and all(isinstance(g, Integral) for g in grid)
    if not whole or len(grid) != 2 or not all(1 <= g <= _SIDE for g in grid):
        raise InvalidInputError(f"grid is {grid!r}: give (rows, columns), from 1 to {_SIDE} each.")
    rows, columns = grid
    m = rows * (columns - 1) + columns * (rows - 1)
    X, costs, _ = _drawn(n_examples, m, n_features, degree, noise, seed)
    return X, costs


@checked
def make_knapsacks(
    n_examples: Count,
    *,
    n_items: Count = 32,
    n_resources: Count = 2,
    n_features: Count = 5,
    degree: Count = 1,
    noise: Share = 0.0,
    seed: Seed | None = None,
) -> tuple[Floats, Floats, Floats]:
    r"""Draw inputs, minus the values of items, and weights that all examples share.

    Values are 5 times the polynomial over 3.5^degree, rounded up; weights are uniform in 3 .. 8, in
    steps of 0.01. The literature's capacity is 20: four or five items fit.

    Parameters
    ----------
    n_examples : int
    n_items, n_resources : int
    n_features, degree, noise, seed
        As in :func:`make_shortest_paths`.

    Returns
    -------
    X : array (n, p)
    costs : array (n, items)
        Minus the values: decisions minimise.
    weights : array (resources, items)
    """
    X, values, rng = _drawn(n_examples, n_items, n_features, degree, noise, seed)
    weights = rng.integers(300, 800, (n_resources, n_items)) / 100.0
    return X, -np.ceil(5.0 * values), weights


def _drawn(
    n: int, m: int, p: int, degree: int, noise: float, seed: int | None
) -> tuple[Floats, Floats, np.random.Generator]:
    rng = np.random.default_rng(seed)
    B, X = rng.binomial(1, 0.5, (m, p)), rng.standard_normal((n, p))
    costs = ((X @ B.T / np.sqrt(p) + 3.0) ** degree + 1.0) / 3.5**degree
    return X, costs * rng.uniform(1.0 - noise, 1.0 + noise, costs.shape), rng
