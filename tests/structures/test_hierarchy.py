"""Hierarchies against brute force: every oracle, both engines, ties included."""

from __future__ import annotations

import itertools
import pickle

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from enumeration import optimum, solve
from hypothesis import given, settings
from hypothesis import strategies as st

import structopt as so
from structopt.errors import IncompatibleError, InvalidInputError
from structopt.structures.hierarchy.inputs import Tree, stack_trees

MANY = settings(max_examples=200, deadline=None, derandomize=True)
SOME = settings(max_examples=40, deadline=None, derandomize=True)
LABELS = "dcba"  # not in their natural order: ties must follow the order declared


class Instance:
    """Trees, weights, a fitted Hierarchy, and the truth by enumeration.

    ``whole`` numbers are small integers: scores are exact and often tied. Outputs are enumerated in
    the order of the tie rule.
    """

    def __init__(self, seed, whole, sparse, edges, typed, weighted, decoder="compiled", examples=1):
        self.rng = rng = np.random.default_rng(seed)
        self.whole, self.known = whole, {}
        n_labels, self.d = int(rng.integers(1, 5)), int(rng.integers(1, 4))
        self.most = {1: 6, 2: 6, 3: 4, 4: 3}[n_labels]
        self.labels = list(LABELS[:n_labels])
        self.e = int(rng.integers(1, 3)) if edges else 0
        size = int(rng.integers(1, n_labels + 1))
        self.allowed = {"few": list(rng.permutation(self.labels)[:size])} if typed else None
        self.X = [self.draw(sparse) for _ in range(examples)]
        self.Y = [[str(rng.choice(self.may(x, v))) for v in range(len(x.parents))] for x in self.X]
        steps = [0.5, 1.0, 3.0] if whole else [0.3, 1.0, 1.7]
        self.class_weight = dict(zip(self.labels, rng.choice(steps, n_labels), strict=True))
        chosen = self.class_weight if weighted else None
        loss = so.losses.Hamming(chosen)
        self.mine = so.Hierarchy(self.labels, loss, self.allowed, decoder).fitted(self.X, self.Y)
        if not weighted:
            self.class_weight = dict.fromkeys(self.labels, 1.0)
        self.weights = self.number(self.mine.n_features_)

    def number(self, *shape):
        rng = self.rng
        return rng.integers(-2, 3, shape) * 1.0 if self.whole else rng.standard_normal(shape)

    def draw(self, sparse):
        rng, n = self.rng, int(self.rng.integers(1, self.most + 1))
        name = rng.permutation(n)  # parents need not come first, and there may be several roots
        parents = np.empty(n, dtype=int)
        for place, v in enumerate(name):
            parents[v] = -1 if place == 0 or rng.random() < 0.15 else name[rng.integers(place)]
        nodes = self.number(n, self.d)
        edges = self.number(n, self.e) if self.e else None
        types = rng.choice(["few", "any"], n).tolist()
        return Tree(sp.csr_matrix(nodes) if sparse else nodes, parents, edges, types)

    def may(self, x, v):
        few = self.allowed is not None and x.types[v] == "few"
        return [k for k in self.labels if not few or k in self.allowed["few"]]

    def outputs(self, x):
        if id(x) not in self.known:
            order = stack_trees([x]).order.tolist()
            every = itertools.product(*(self.may(x, v) for v in range(len(x.parents))))
            place = self.labels.index
            self.known[id(x)] = sorted(map(list, every), key=lambda y: [place(y[v]) for v in order])
        return self.known[id(x)]

    def features(self, x, y):
        nodes = x.nodes.toarray() if sp.issparse(x.nodes) else x.nodes
        n, k = len(self.labels), [self.labels.index(a) for a in y]
        W, E = np.zeros((n, self.d)), np.zeros((n, n, max(self.e, 1)))
        for v, u in enumerate(x.parents):
            W[k[v]] += nodes[v]
            if u >= 0:
                E[k[u], k[v]] += x.edges[v] if self.e else 1
        return np.concatenate([W.ravel(), E.ravel()])

    def loss(self, y, other):
        return sum(self.class_weight[a] * (a != b) for a, b in zip(y, other, strict=True))

    def score(self, x, y):
        return self.features(x, y) @ self.weights


# seed, then: whole numbers, sparse, edge features, node types, class weights
kinds = st.tuples(st.integers(0, 2**32 - 1), *[st.booleans()] * 5)


def check_oracles(this):
    mine, w, x, gold = this.mine, this.weights, this.X[0], this.Y[0]
    outputs = this.outputs(x)
    known = {tuple(y): this.score(x, y) for y in outputs}

    def score(y):
        return known[tuple(y)]

    def augmented(y):
        return score(y) + this.loss(gold, y)

    best = max(outputs, key=score)
    for found, expected, value in [
        (mine.argmax(x, w), best, score),
        (mine.predict([x], w)[0], best, score),
        (mine.argmin(x, w), min(outputs, key=score), score),
        (mine.argmax(x, w, gold=gold), max(outputs, key=augmented), augmented),
    ]:
        assert value(found) == pytest.approx(value(expected), abs=1e-9)
        assert not this.whole or found == expected
    for right in (gold, best):
        others = [y for y in outputs if y != right]
        found = mine.second_best(x, w, right)
        if not others:
            assert found is None
        else:
            assert found != right
            assert score(found) == pytest.approx(max(map(score, others)), abs=1e-9)
    for k in (1, 4, 90):
        found = mine.k_best(x, w, k)
        assert len(found) == min(k, len(outputs)) == len({tuple(y) for y in found})
        expected = sorted(map(score, outputs), reverse=True)[:k]
        np.testing.assert_allclose([score(y) for y in found], expected, atol=1e-9)
    phi = mine.joint_features(x, gold)
    np.testing.assert_allclose(phi.toarray()[0], this.features(x, gold), atol=1e-12)


@MANY
@given(kind=kinds)
def test_every_oracle_is_brute_force(kind):
    check_oracles(Instance(*kind))


@SOME
@given(kind=kinds)
def test_every_oracle_of_the_reference_is_brute_force(kind):
    check_oracles(Instance(*kind, decoder="networkx"))


@SOME
@given(kind=kinds)
def test_shards_keep_the_contract(kind):
    this = Instance(*kind, examples=3)
    mine, w, n = this.mine, this.weights, this.mine.n_features_
    shard = pickle.loads(pickle.dumps(mine.encode(this.X, this.Y)))
    reference = so.structures.base.example_shard.ExampleShard(mine, this.X, this.Y, 0)
    every = np.arange(3)
    oracles = (so.loss_augmented, so.oracles.worst, so.oracles.best_other)
    asked = [(o.name, shard.ask(o, w), reference.ask(o, w)) for o in oracles]
    asked.append(("argmax", shard.argmax(w), reference.argmax(w)))
    pairs = zip(shard.k_best(w, 3), reference.k_best(w, 3), strict=True)
    asked += [("k_best", a, b) for a, b in pairs]
    for name, answers, expected in asked:
        share = 1.0 if name == "loss_augmented" else 0.0
        np.testing.assert_allclose(
            share * answers.loss - answers.score, share * expected.loss - expected.score, atol=1e-9
        )
        delta = shard.directions(answers.outputs, every)
        score = np.where(np.isinf(answers.score), 0.0, answers.score)
        np.testing.assert_allclose(delta.dot(shard.base, w), score, atol=1e-9)
        for i, (x, gold) in enumerate(zip(this.X, this.Y, strict=True)):
            own = answers.outputs[shard.offsets[i] : shard.offsets[i + 1]]
            y = mine.labels_.decode(own)
            assert answers.loss[i] == pytest.approx(this.loss(gold, y))
            assert mine.loss(gold, y) == pytest.approx(this.loss(gold, y))
            row = delta.tocsr(shard.base, n).toarray()[i]
            difference = this.features(x, gold) - this.features(x, y)
            np.testing.assert_allclose(row, difference, atol=1e-12)
    for i in range(3):
        one = shard.single(i)
        assert one.single(0) is one
        for oracle in oracles:
            alone, together = one.ask(oracle, w), shard.ask(oracle, w)
            np.testing.assert_allclose(alone.loss[0], together.loss[i])
            np.testing.assert_allclose(alone.score[0], together.score[i], atol=1e-12)
            assert np.all(
                abs(
                    one.directions(alone.outputs, every[:1]).tocsr(shard.base, n)
                    - shard.directions(together.outputs, every[[i]]).tocsr(shard.base, n)
                ).toarray()
                < 1e-12
            )


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


def test_trains_to_the_enumerated_optimum():
    rng = np.random.default_rng(3)
    X = [(np.round(rng.normal(size=(3, 2)), 2), [-1, 0, 0]) for _ in range(4)]
    Y = [rng.integers(0, 2, 3).tolist() for _ in X]
    structure = so.Hierarchy(labels=range(2)).fitted(X, Y)
    every = [list(y) for y in itertools.product(range(2), repeat=3)]
    problem = X, Y, structure, [every] * 4
    aims = {"m3n": so.M3N(2.0), "lp-free": so.LPStruct(2.0, nonnegative=False)}
    for kind, formulation in aims.items():
        result = solve(structure, formulation, X, Y, tol=1e-6)
        assert result.certificate.certified
        assert result.certificate.primal == pytest.approx(optimum(kind, 2.0, problem), rel=1e-4)
    data = so.DataSet.of(structure, X, Y)
    for method in (so.Perceptron, so.MIRA):
        assert np.isfinite(method(structure, so.M3N(), data, max_iter=3).solve().weights).all()
    exact = so.FrankWolfe(structure, so.M3N(2.0), data, tol=1e-4).solve()
    assert exact.certificate.primal == pytest.approx(optimum("m3n", 2.0, problem), rel=1e-3)


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
    assert mine.abilities() == {"argmax", "argmin", "second_best", "k_best", "marginals"}


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
    with pytest.raises(InvalidInputError, match="k is 0"):
        mine.k_best(x, np.zeros(8), 0)
    with pytest.raises(InvalidInputError, match=r"weights has shape \(3,\); expected \(8,\)"):
        mine.predict([x], np.zeros(3))
    with pytest.raises(InvalidInputError, match="X is a DiGraph: give a list"):
        mine.predict(nx.DiGraph([(0, 1)]), np.zeros(8))
    other = so.Oracle("odd", "argmax", "?", margin=abs, scale=abs)
    with pytest.raises(IncompatibleError, match="does not know the oracle 'odd'"):
        mine.encode([x], ["ab"]).ask(other, np.zeros(8))
