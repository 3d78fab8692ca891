"""Markov nets beyond the contract of every structure: bounds, training, refusals."""

from __future__ import annotations

import itertools
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from enumeration import optimum, solve

import structopt as so
from structopt.errors import IncompatibleError, InvalidInputError
from structopt.structures.markov_net import search as markov_net_search
from structopt.structures.markov_net.small import small
from structopt.testing.structure_case import StructureCase
from structopt.testing.structure_shards import (
    shard_answers_are_brute_force,
    shard_argmax_is_brute_force,
)


def test_messages_alone_give_bounds(monkeypatch):
    monkeypatch.setattr(markov_net_search, "SMALL", -1)
    for seed in range(40):
        made = replace(small(np.random.default_rng(seed)), exact=False)
        made.structure.set_params(branch=False)
        shard_answers_are_brute_force(StructureCase(made, seed))
        shard_argmax_is_brute_force(StructureCase(made, seed))


def test_outputs_name_the_nodes_in_the_graph_s_order():
    case = StructureCase(small(np.random.default_rng(0)))
    for i, w in case.asked():
        assert list(case.structure.argmax(case.X[i], w)) == list(case.X[i].nodes)


def cycle(n):
    x = nx.cycle_graph(n)
    nx.set_node_attributes(x, [0.0], "x")
    return x


@pytest.mark.parametrize(("n", "left_open"), [(3, 1.0), (4, 0.0), (5, 1.0)])
def test_a_frustrated_cycle_by_hand(n, left_open):
    # two labels, -1 for each pair of equal neighbours: an odd cycle has one such pair at least
    # (score -1), the relaxation takes half of each label and reaches 0; an even one alternates
    gold = dict.fromkeys(range(n), 0)
    structure = so.MarkovNet(labels=[0, 1]).fitted([cycle(n)], [gold])
    w = np.array([0.0, 0.0, -1.0, 0.0, -1.0])
    answers = structure.encode([cycle(n)], [gold]).argmax(w)
    assert answers.exact
    # gold's score is -n
    assert -n - answers.score[0] == pytest.approx(-left_open)
    assert answers.excess[0] == pytest.approx(left_open, abs=1e-6)
    branched = so.MarkovNet(labels=[0, 1], branch=True).fitted([cycle(n)], [gold])
    assert branched.encode([cycle(n)], [gold]).argmax(w).excess[0] == pytest.approx(0.0, abs=1e-6)


def drawn(rng, graph, n=3):
    X, Y = [], []
    for _ in range(n):
        x = graph.copy()
        for v in x.nodes:
            x.nodes[v]["x"] = np.round(rng.normal(size=2), 2)
        X.append(x)
        Y.append({v: int(rng.integers(2)) for v in x.nodes})
    outputs = [
        dict(zip(graph.nodes, y, strict=True)) for y in itertools.product((0, 1), repeat=len(graph))
    ]
    return X, Y, outputs


def test_certificates_of_relaxed_training_enclose_the_optimum():
    X, Y, outputs = drawn(np.random.default_rng(5), nx.complete_graph(4), n=4)
    structure = so.MarkovNet(labels=[0, 1]).fitted(X, Y)
    result = solve(structure, so.M3N(10.0), X, Y, tol=1e-4, max_iter=60)
    truth = optimum("m3n", 10.0, (X, Y, structure, [outputs] * len(X)))
    assert result.certificate.dual <= truth * (1 + 1e-6)
    assert result.certificate.primal >= truth * (1 - 1e-6)
    assert "cycles are relaxed" in result.certificate.note


def test_a_model_of_a_grid_learns_and_is_read_back(tmp_path):
    rng = np.random.default_rng(0)
    X, Y = [], []
    for _ in range(6):
        x = nx.grid_2d_graph(6, 6)
        Y.append({v: "left" if v[1] < 3 else "right" for v in x.nodes})
        for v in x.nodes:
            x.nodes[v]["x"] = [1.0, (1.0 if v[1] < 3 else -1.0) + 1.5 * rng.normal()]
        X.append(x)
    model = so.StructuredClassifier(so.MarkovNet(), so.M3N(C=1.0), tol=1e-2).fit(X, Y)
    assert model.result_.certificate.certified
    assert model.score(X, Y) > 0.9
    predicted = model.predict(X[:1])
    assert set(predicted[0]) == set(X[0].nodes)
    model.save(tmp_path / "grid.model")
    assert so.load_model(tmp_path / "grid.model").predict(X[:1]) == predicted


def test_what_cannot_be_used_is_refused_by_name():
    x = cycle(3)
    y = dict.fromkeys(range(3), "a")
    fitted = so.MarkovNet(labels="ab").fitted([x], [y])
    bare = nx.path_graph(2)
    nan = cycle(3)
    nan.nodes[1]["x"] = [np.nan]
    loop = cycle(3)
    loop.add_edge(0, 0)
    for graph, gold, reason in [
        (bare, "ab", "node 0 of example 4 needs the attribute 'x'"),
        (nan, "aaa", "node 1 of example 4"),
        (loop, "aaa", "from a node to itself"),
        (nx.DiGraph(x), "aaa", "first graph is undirected"),
        (nx.MultiGraph(x), "aaa", "give a networkx Graph"),
        ([1, 2], "aa", "Example 4 is a list"),
        (nx.Graph(), "", "no nodes"),
        (x, {0: "a"}, "each of its 3 nodes"),
        (x, "aa", "each of its 3 nodes"),
        (x, "aaz", "'z' of example 4"),
    ]:
        with pytest.raises(InvalidInputError, match=reason) as info:
            fitted.encode([graph], [gold], start=4)
        assert info.value.example == 4
    wide = cycle(3)
    nx.set_node_attributes(wide, [0.0, 1.0], "x")
    with pytest.raises(InvalidInputError, match="nodes of example 0 have 2 inputs; expected 1"):
        fitted.encode([wide], ["aaa"])
    with pytest.raises(IncompatibleError, match="'second_best'"):
        so.StructuredClassifier(so.MarkovNet(labels="ab"), so.LPStruct()).fit([x], [y])
