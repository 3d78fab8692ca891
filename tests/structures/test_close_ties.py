"""Outputs that are equal up to the last digits: what is called proven must be, what is not is told.

Scores are whole numbers with a little noise, so that many outputs lie within any loose tolerance of
the best one, and are then compared by the noise alone.
"""

import itertools

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp

import structopt as so
from structopt.structures.base.integer.rows import Rows
from structopt.structures.chain.scores import ChainScores
from structopt.structures.constrain.multipliers import by_multipliers
from structopt.structures.cut.search import CutSearch

NOISE = [1e-2, 1e-4, 1e-6]


@pytest.mark.parametrize("noise", NOISE)
def test_constrained_decoding_by_multipliers(noise):
    rng = np.random.default_rng(0)
    length, n_labels, proven = 5, 3, 0
    every = np.array(list(itertools.product(range(n_labels), repeat=length)))
    for _ in range(60):
        values = [rng.integers(-2, 3, size) for size in ((length, n_labels), (n_labels, n_labels))]
        values = [v + noise * rng.normal(size=v.shape) for v in values]
        scores = ChainScores(values[0], values[1], np.zeros(n_labels), np.zeros(n_labels))
        A = np.zeros((1, length, n_labels))
        A[0, :, 0] = 1.0  # so many of label 0
        upper = np.array([float(rng.integers(0, 3))])
        columns = length * n_labels
        rows = Rows(
            sp.csr_array(A.reshape(1, -1)), np.array([-np.inf]), upper, np.zeros(columns),
            np.ones(columns), np.ones(columns, dtype=bool), columns,
        )  # fmt: skip
        found = by_multipliers(scores, rows)
        if found is None:
            continue
        proven += 1
        allowed = every[(every == 0).sum(axis=1) <= upper[0]]
        total = values[0][np.arange(length), allowed].sum(axis=1)
        total += values[1][allowed[:, :-1], allowed[:, 1:]].sum(axis=1)
        labels, excess = found
        own = total[np.all(allowed == labels, axis=1)]
        assert len(own) == 1
        assert own[0] + excess >= total.max() - 1e-8
    assert proven > 20


@pytest.mark.parametrize("noise", NOISE)
def test_the_second_best_cut(noise):
    rng = np.random.default_rng(1)
    for _ in range(60):
        n = int(rng.integers(3, 6))
        pairs = np.array(list(itertools.combinations(range(n), 2)))
        edges = pairs[rng.random(len(pairs)) < 0.6]
        scores = rng.integers(-2, 3, n) + noise * rng.normal(size=n)
        costs = rng.integers(0, 3, len(edges)) + noise * rng.random(len(edges))
        every = np.array(list(itertools.product((0, 1), repeat=n)))
        total = every @ scores - (every[:, edges[:, 0]] != every[:, edges[:, 1]]) @ costs
        order = np.argsort(-total)
        search = CutSearch(n, edges)
        best, excess = search.best(scores, costs)
        own = total[np.all(every == best, axis=1)][0]
        assert total.max() - 1e-12 <= own + excess
        assert excess <= 1e-6
        for given in (best, every[order[-1]], every[order[1]]):
            other, excess = search.best_other(scores, costs, given)
            assert np.any(other != given)
            rest = total[np.any(every != given, axis=1)]
            own = total[np.all(every == other, axis=1)][0]
            assert rest.max() - 1e-12 <= own + excess
            assert excess <= 1e-6


@pytest.mark.parametrize("branch", [False, True])
def test_what_a_net_leaves_open_is_told(branch):
    rng = np.random.default_rng(2)
    graph = nx.cycle_graph(5)
    X, Y = [graph], [dict.fromkeys(graph, 0)]
    for node in graph:
        graph.nodes[node]["x"] = np.ones(1)
    told = 0
    for _ in range(20):
        found = so.MarkovNet(labels=[0, 1], branch=branch).fitted(X, Y)
        weights = rng.normal(size=found.n_features_)
        weights[-4:] = [-1.0, 1.0, 1.0, -1.0] + 0.1 * rng.normal(size=4)
        answers = found.encode(X, Y).argmax(weights)
        every = [dict(enumerate(y)) for y in itertools.product((0, 1), repeat=5)]
        scores = [float((found.joint_features(graph, y) @ weights)[0]) for y in every]
        gold = float((found.joint_features(graph, Y[0]) @ weights)[0])
        own = gold - answers.score[0]
        excess = 0.0 if answers.excess is None else answers.excess[0]
        assert own <= max(scores) + 1e-9
        assert own + excess >= max(scores) - 1e-9
        told += excess > 0.01
    assert (told == 0) if branch else (told > 0)
