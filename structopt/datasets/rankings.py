r"""Queries with items to be ranked, and batches of items of which few are to be found.

Items of a query have features x ~ N(0, I); their relevance is a grade of

    w* . x + noise * epsilon,    epsilon ~ N(0, 1),

with one w*, uniform on the unit sphere, for all queries: in each query the same shares of items get
the grades 0, 1, ..., the highest fewest. A batch is the same with two classes, moved apart along
one direction, of which the positive one is rare.

>>> X, Y = make_rankings(2, n_items=6, seed=0)
>>> [x.shape for x in X], [sorted(y.tolist()) for y in Y]
([(6, 10), (6, 10)], [[0, 0, 0, 1, 1, 2], [0, 0, 0, 1, 1, 2]])
>>> X, Y = make_rare_items(1, n_items=200, share=0.05, seed=0)
>>> X[0].shape, int(Y[0].sum())
((200, 11), 10)
"""

from __future__ import annotations

import numpy as np

from structopt.arrays import Floats, Ints
from structopt.parameters import Count, NonNegative, Positive, Seed, Share, checked


@checked
def make_rankings(
    n_queries: Count = 50,
    *,
    n_items: Count = 20,
    n_features: Count = 10,
    grades: Count = 3,
    noise: NonNegative = 0.3,
    seed: Seed = 0,
) -> tuple[list[Floats], list[Ints]]:
    """Draw queries for `Ranking`.

    Parameters
    ----------
    n_queries, n_items, n_features : int
    grades : int
        Relevances 0 to grades - 1.
    noise : float
        What the features do not tell, as a standard deviation.
    seed : int

    Returns
    -------
    X : list of arrays (n_items, n_features)
    Y : list of arrays (n_items,)
        The relevance of each item.
    """
    rng = np.random.default_rng(seed)
    weights = rng.normal(size=n_features)
    weights /= np.linalg.norm(weights)
    # grade g has a share that falls with g, and every grade an item if there are enough
    shares = np.arange(grades, 0, -1) / (grades * (grades + 1) / 2)
    ends = np.round(np.cumsum(shares) * n_items).astype(np.int64)
    X, Y = [], []
    for _ in range(n_queries):
        x = rng.normal(size=(n_items, n_features))
        order = np.argsort(x @ weights + noise * rng.normal(size=n_items))
        relevance = np.empty(n_items, dtype=np.int64)
        relevance[order] = np.searchsorted(ends, np.arange(n_items), side="right")
        X.append(x)
        Y.append(relevance)
    return X, Y


@checked
def make_rare_items(
    n_batches: Count = 2,
    *,
    n_items: Count = 500,
    n_features: Count = 10,
    share: Share = 0.05,
    distance: Positive = 2.0,
    seed: Seed = 0,
) -> tuple[list[Floats], list[Ints]]:
    """Draw batches for `Subset`, with a last column of ones for a threshold.

    Parameters
    ----------
    n_batches, n_items, n_features : int
    share : float
        Of items that are positive, at least one of each batch.
    distance : float
        Between the means of the classes, whose standard deviation is 1.
    seed : int

    Returns
    -------
    X : list of arrays (n_items, n_features + 1)
    Y : list of arrays (n_items,)
        1 for the positive items, else 0.
    """
    rng = np.random.default_rng(seed)
    along = rng.normal(size=n_features)
    along *= distance / np.linalg.norm(along)
    X, Y = [], []
    for _ in range(n_batches):
        y = (np.arange(n_items) < max(1, round(share * n_items))).astype(np.int64)
        rng.shuffle(y)
        x = rng.normal(size=(n_items, n_features)) + np.outer(y, along)
        X.append(np.column_stack([x, np.ones(n_items)]))
        Y.append(y)
    return X, Y
