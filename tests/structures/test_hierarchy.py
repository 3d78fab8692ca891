"""Hierarchies beyond the contract of every structure: paths, graphs, mistakes."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import structopt as so
from structopt.errors import IncompatibleError, InvalidInputError

SOME = settings(max_examples=40, deadline=None, derandomize=True)


@SOME
@given(st.integers(0, 2**32 - 1))
def test_a_path_is_a_chain(seed):
    rng = np.random.default_rng(seed)
    X = [rng.standard_normal((int(rng.integers(1, 9)), 3)) for _ in range(4)]
    Y = [rng.integers(0, 4, len(x)).tolist() for x in X]
    paths = [(x, np.arange(len(x)) - 1) for x in X]
    weighted = {0: 2.0, 3: 0.5}
    chain = so.Chain(range(4), so.losses.Hamming(weighted)).fitted(X, Y)
    mine = so.Hierarchy(range(4), so.losses.Hamming(weighted)).fitted(paths, Y)
    assert mine.n_features_ == chain.n_features_
    w = rng.standard_normal(chain.n_features_)
    one, other = mine.encode(paths, Y), chain.encode(X, Y)
    for oracle in (so.loss_augmented, so.oracles.best_other, so.oracles.worst):
        a, b = one.ask(oracle, w), other.ask(oracle, w)
        np.testing.assert_array_equal(a.outputs, b.outputs)
        np.testing.assert_allclose(a.loss, b.loss)
        np.testing.assert_allclose(a.score, b.score, atol=1e-9)
    for x, path, y in zip(X, paths, Y, strict=True):
        assert mine.k_best(path, w, 9) == chain.k_best(x, w, 9)
        np.testing.assert_array_equal(
            mine.joint_features(path, y).toarray(), chain.joint_features(x, y).toarray()
        )


def test_graphs_are_trees_too():
    rng = np.random.default_rng(0)
    nodes, edges = rng.standard_normal((4, 2)), rng.standard_normal((4, 2))
    parents, types = [-1, 0, 0, 2], ["page", "cell", "cell", "cell"]
    directed, undirected = nx.DiGraph(), nx.Graph()
    for graph in (directed, undirected):
        for v in range(4):
            graph.add_node(f"n{v}", features=nodes[v], type=types[v])
        for v in range(1, 4):
            graph.add_edge(f"n{parents[v]}", f"n{v}", features=edges[v])
    sparse = directed.copy()
    for v in range(4):
        sparse.nodes[f"n{v}"]["features"] = sp.csr_array(nodes[[v]])
    forms = [(nodes, parents, edges, types), directed, undirected, sparse]
    Y = ["pabb"] * 4
    mine = so.Hierarchy(allowed={"page": "p", "cell": "ab"}).fitted(forms, Y)
    w = rng.standard_normal(mine.n_features_)
    predicted = mine.predict(forms, w)
    assert predicted == [predicted[0]] * 4
    assert predicted[0][0] == "p"
    assert "p" not in predicted[0][1:]
    assert mine.predict([], w) == []
    assert mine.part_count("pabb") == 4
    assert mine.part_errors("pabb", "paba") == 1
    names = mine.feature_names()
    assert len(names) == mine.n_features_ == 3 * 2 + 9 * 2
    assert names[6:8] == [("e0 below a", "a"), ("e1 below a", "a")]
    plain = so.Hierarchy().fitted([(nodes, parents)], ["aabb"])
    assert plain.feature_names(["u", "v"])[-1] == ("below b", "b")
    others = {"second_best", "second_augmented", "k_best", "marginals"}
    assert mine.abilities() == {"argmax", "argmin"} | others


def bad_cases():
    ones = np.ones((2, 2))
    cycle = nx.DiGraph([("a", "b"), ("b", "a")])
    twice = nx.DiGraph([("a", "c"), ("b", "c")])
    ring = nx.cycle_graph(3)
    bare = nx.DiGraph([("a", "b")])
    for graph in (cycle, twice, ring):
        nx.set_node_attributes(graph, [1.0, 1.0], "features")
    partly = nx.DiGraph([("a", "b"), ("a", "c")])
    nx.set_node_attributes(partly, [1.0, 1.0], "features")
    partly.edges["a", "b"]["features"] = [1.0]
    return [
        (ones, "example 1 is a ndarray: give .nodes, parents"),
        ((ones, [-1]), r"parents of example 1 have shape \(1,\)"),
        ((ones, [-1, 0.0]), "expected 2 integers"),
        ((ones, [-1, 2]), "Node 1 of example 1 has the parent 2, not one of -1 to 1"),
        ((ones, [1, 0]), "parents of example 1 form a cycle that node 0 is on"),
        ((ones, [-1, 1]), "form a cycle that node 1"),
        ((np.ones((2, 3)), [-1, 0]), "example 1 has 3 columns; expected 2"),
        ((np.array([[1, np.nan], [0, 0]]), [-1, 0]), "example 1 holds nan at position 0, column 1"),
        ((ones, [-1, 0], ones), "Example 1 has features on its edges, unlike"),
        ((ones, [-1, 0], None, ["a"]), "2 nodes but 1 types"),
        (cycle, "form a cycle"),
        (twice, "the node 'c' is reached by more than one edge"),
        (ring, "is reached by more than one edge"),
        (bare, "the node 'a' has no attribute 'features'"),
        (partly, "the edge to 'c' has none"),
        ((np.ones((0, 2)), []), "Example 1 is empty"),
    ]


@pytest.mark.parametrize(("x", "message"), bad_cases())
def test_bad_input_is_named(x, message):
    good = (np.ones((2, 2)), [-1, 0])
    mine = so.Hierarchy().fitted([good], ["ab"])
    with pytest.raises(InvalidInputError, match=message):
        mine.encode([good, x], ["ab", "ab"])
    with pytest.raises(InvalidInputError, match=message):
        mine.predict([good, x], np.zeros(8))


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        (None, "Example 1 has no features on its edges"),
        (np.ones((3, 1)), "2 nodes but 3 rows of edge features"),
        (np.ones((2, 2)), "Edge features of example 1 has 2 columns; expected 1"),
        (np.array([[0.0], [np.inf]]), "hold inf at node 1, column 0"),
    ],
)
def test_bad_edges_are_named(edges, message):
    good = (np.ones((2, 2)), [-1, 0], np.ones((2, 1)))
    mine = so.Hierarchy().fitted([good], ["ab"])
    with pytest.raises(InvalidInputError, match=message) as error:
        mine.encode([good, (*good[:2], edges)], ["ab", "ab"])
    assert error.value.example == 1


def test_other_mistakes_are_named():
    x = (np.ones((2, 2)), [-1, 0], None, ["top", "low"])
    with pytest.raises(InvalidInputError, match="decoder is 'fast'"):
        so.Hierarchy(decoder="fast").fitted([x], ["ab"])
    with pytest.raises(InvalidInputError, match=r"allowed\['low'\] is \['q'\]: give at least one"):
        so.Hierarchy(allowed={"low": ["q"]}).fitted([x], ["ab"])
    mine = so.Hierarchy(allowed={"low": "b"}).fitted([x], ["ab"])
    with pytest.raises(InvalidInputError, match="Node 1 of example 3 has the label 'a', which"):
        mine.encode([x], ["aa"], start=3)
    with pytest.raises(InvalidInputError, match="Example 0 gives no types of its nodes"):
        mine.predict([x[:2]], np.zeros(8))
    with pytest.raises(InvalidInputError, match="Example 0 has 2 nodes but 1 labels"):
        mine.encode([x], ["a"])
    with pytest.raises(InvalidInputError, match="2 and 1 labels cannot be compared"):
        mine.loss("ab", "a")
    with pytest.raises(InvalidInputError, match="k must be an integer >= 1; got 0"):
        mine.k_best(x, np.zeros(8), 0)
    with pytest.raises(InvalidInputError, match=r"weights has shape \(3,\); expected \(8,\)"):
        mine.predict([x], np.zeros(3))
    with pytest.raises(InvalidInputError, match="X is a DiGraph: give a sequence"):
        mine.predict(nx.DiGraph([(0, 1)]), np.zeros(8))
    other = so.Oracle("odd", "argmax", "?", margin=abs, scale=abs)
    with pytest.raises(IncompatibleError, match="does not know the oracle 'odd'"):
        mine.encode([x], ["ab"]).ask(other, np.zeros(8))
