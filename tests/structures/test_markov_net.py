"""Markov nets beyond the contract of every structure: bounds, training, refusals."""

from __future__ import annotations

import itertools
from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
from enumeration import optimum, solve
from hypothesis import given, settings
from hypothesis import strategies as st

import structopt as so
from structopt.errors import IncompatibleError, InvalidInputError
from structopt.structures.markov_net import search as markov_net_search
from structopt.structures.markov_net.small import small
from structopt.testing import structure_oracles as oracles
from structopt.testing.structure_case import StructureCase
from structopt.testing.structure_shards import (
    shard_answers_are_brute_force,
    shard_argmax_is_brute_force,
)
from structopt.testing.structure_sums import expectations_are_sums_over_outputs


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


# ------------------------------------------------------------------ bounded tree-width
def skip_chain(x):
    """A sequence as a graph with edges between neighbours and between those two apart."""
    graph = nx.DiGraph()
    for t, row in enumerate(x):
        graph.add_node(t, x=row)
        for before in (1, 2):
            if t >= before:
                graph.add_edge(t - before, t, x=np.eye(2)[before - 1])
    return graph


def test_a_skip_chain_is_a_second_order_chain():
    rng = np.random.default_rng(3)
    X = [rng.standard_normal((n, 2)) for n in (1, 2, 3, 6, 9)]
    Y = [rng.integers(3, size=len(x)).tolist() for x in X]
    chain = so.SecondOrderChain(range(3)).fitted(X, Y)
    graphs = [skip_chain(x) for x in X]
    net = so.MarkovNet(range(3), width=2).fitted(graphs, Y)
    assert net.abilities() == chain.abilities() - {"second_augmented"}
    w = rng.standard_normal(net.n_features_)
    both = w[6:].reshape(3, 3, 2)  # of pairs, next to each other and two apart
    triples = np.broadcast_to(both[:, None, :, 1], (3, 3, 3))
    v = np.concatenate([w[:6], both[:, :, 0].ravel(), triples.ravel()])
    one, other = net.encode(graphs, Y), chain.encode(X, Y)
    for oracle in (so.loss_augmented, so.oracles.best_other, so.oracles.worst):
        a, b = one.ask(oracle, w), other.ask(oracle, v)
        np.testing.assert_allclose(a.loss, b.loss)
        np.testing.assert_allclose(a.score, b.score, atol=1e-9)
        assert not np.any(a.excess)
    for a, b in zip(net.marginals(graphs, w), chain.marginals(X, v), strict=True):
        np.testing.assert_allclose(a, b, atol=1e-9)
    five = [list(y.values()) for y in net.k_best(graphs[4], w, 5)]
    assert five == chain.k_best(X[4], v, 5)
    rate = np.ones(len(X))
    a, b = one.expected(w, 0.5, rate), other.expected(v, 0.5, rate)
    assert a.log_partition == pytest.approx(b.log_partition)
    assert a.loss == pytest.approx(b.loss)


@settings(max_examples=8, deadline=None, derandomize=True)
@given(st.integers(0, 2**32 - 1))
def test_within_their_width_nets_are_answered_as_by_enumeration(seed):
    made = replace(small(np.random.default_rng(seed)), exact=True)
    made.structure.set_params(branch=False, width=4)
    case = StructureCase(made, seed % 100)
    assert not case.structure.wide_
    shard_answers_are_brute_force(case)
    oracles.k_best_is_brute_force(case)
    oracles.second_best_is_brute_force(case)
    expectations_are_sums_over_outputs(case)


def test_what_is_wider_than_stated_is_relaxed_or_refused():
    rng = np.random.default_rng(0)
    X, Y, _ = drawn(rng, nx.complete_graph(4), n=2)
    wide, exact = (so.MarkovNet([0, 1], width=w).fitted(X, Y) for w in (2, 3))
    w = np.append(np.zeros(4), [-1.0, 0.0, -1.0])  # neighbours like to differ
    assert wide.encode(X, Y).argmax(w).excess.min() > 0.5
    assert not np.any(exact.encode(X, Y).argmax(w).excess)
    assert "wider than 2 are relaxed" in wide.note()
    assert exact.note() == ""
    assert sorted(wide.abilities()) == ["argmax", "argmin"]
    assert "raise width= of MarkovNet" in wide.why_not("k_best")
    tree = nx.path_graph(3)
    nx.set_node_attributes(tree, [0.0, 0.0], "x")
    mixed = so.MarkovNet([0, 1]).fitted([tree], [[0, 0, 1]])
    with pytest.raises(IncompatibleError, match=r"Example 1 is wider than 1 \(networkx finds 3"):
        mixed.marginals([tree, X[0]], w)
    with pytest.raises(IncompatibleError, match="wider than 2"):
        so.StructuredClassifier(so.MarkovNet([0, 1], width=2), so.LPStruct()).fit(X, Y)
    result = so.StructuredClassifier(so.MarkovNet([0, 1], width=3), so.LPStruct()).fit(X, Y).result_
    assert result.certificate.certified
    with pytest.raises(InvalidInputError, match="width must be an integer >= 1; got 0"):
        so.MarkovNet([0, 1], width=0).fitted(X, Y)
    many = so.MarkovNet(range(500), width=3)
    with pytest.raises(
        InvalidInputError, match=r"a table of 500\^4 numbers: .* at most 1"
    ) as error:
        many.fitted([tree, X[0]], [[0, 0, 1], Y[0]])
    assert error.value.example == 1
