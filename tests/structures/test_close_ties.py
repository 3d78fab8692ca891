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


@pytest.mark.parametrize("noise", [0.0, 1e-3, 1e-2])
def test_constrained_decoding_by_multipliers(noise):
    """Scores share a large number, beside which a loose tolerance takes all for equal."""
    rng = np.random.default_rng(0)
    length, n_labels, proven = 4, 2, 0
    columns, none = length * n_labels, np.zeros(n_labels)
    every = np.array(list(itertools.product(range(n_labels), repeat=length)))
    for _ in range(150):
        unary = rng.integers(-2, 3, (length, n_labels)) + noise * rng.normal(
            size=(length, n_labels)
        )
        unary[0] += 1000.0
        transition = rng.integers(0, 2) * rng.normal(size=(n_labels, n_labels))
        weigh = np.zeros((length, n_labels))
        weigh[:, 0] = rng.integers(1, 4, length)  # what label 0 takes of a room
        room = np.array([float(rng.integers(1, 6))])
        rows = Rows(
            sp.csr_array(weigh.reshape(1, -1)), np.array([-np.inf]), room, np.zeros(columns),
            np.ones(columns), np.ones(columns, dtype=bool), columns,
        )  # fmt: skip
        found = by_multipliers(ChainScores(unary, transition, none, none), rows)
        if found is None:
            continue
        proven += 1
        allowed = every[(every == 0) @ weigh[:, 0] <= room[0]]
        total = unary[np.arange(length), allowed].sum(axis=1)
        total += transition[allowed[:, :-1], allowed[:, 1:]].sum(axis=1)
        own = total[np.all(allowed == found[0], axis=1)]
        assert len(own) == 1
        assert own[0] + found[1] >= total.max() - 1e-6
    assert proven > 50


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
