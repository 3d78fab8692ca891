"""Arborescences against brute force: every oracle, both engines, ties included."""

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
from structopt.structures.arborescence import kernels

MANY = settings(max_examples=200, deadline=None, derandomize=True)
SOME = settings(max_examples=25, deadline=None, derandomize=True)


def is_tree(heads, single_root):
    heads = [int(h) for h in heads]
    for m in range(1, len(heads) + 1):
        for _ in heads:
            m = heads[m - 1] if m else 0
        if m:
            return False
    return not single_root or heads.count(0) == 1


class Instance:
    """A sentence with some candidate arcs, weights, and the truth by enumeration.

    Whole numbers are small integers: scores are exact and often tied.
    """

    def __init__(self, seed, whole, single_root, sparse, decoder="compiled", examples=1):
        self.rng = rng = np.random.default_rng(seed)
        self.whole, self.single_root = whole, single_root
        self.d = int(rng.integers(1, 4))
        self.X, self.Y, self.known = [], [], {}
        for _ in range(examples):
            x, y = self.draw(sparse)
            self.X.append(x)
            self.Y.append(y)
        self.mine = so.Arborescence(single_root, decoder).fitted(self.X, self.Y)
        self.weights = self.number(self.d)

    def number(self, *shape):
        rng = self.rng
        return rng.integers(-2, 3, shape) * 1.0 if self.whole else rng.standard_normal(shape)

    def draw(self, sparse):
        rng, length = self.rng, int(self.rng.integers(1, 5))
        every = [(h, m) for h in range(length + 1) for m in range(1, length + 1) if h != m]
        trees = [
            y
            for y in itertools.product(range(length + 1), repeat=length)
            if is_tree(y, self.single_root)
        ]
        gold = trees[rng.integers(len(trees))]
        share = rng.choice([0.0, 0.5, 1.0])
        arcs = [a for a in every if gold[a[1] - 1] == a[0] or rng.random() < share]
        features = self.number(len(arcs), self.d)
        return (np.array(arcs), sp.csr_matrix(features) if sparse else features), list(gold)

    def outputs(self, x):
        if id(x) not in self.known:
            self.known[id(x)] = self.every(x)
        return self.known[id(x)]

    def every(self, x):
        given_ = {tuple(a): r for r, a in enumerate(x[0].tolist())}
        length = x[0][:, 1].max()
        heads = [[h for h in range(length + 1) if (h, m) in given_] for m in range(1, length + 1)]
        return [list(y) for y in itertools.product(*heads) if is_tree(y, self.single_root)]

    def features(self, x, y):
        features = x[1].toarray() if sp.issparse(x[1]) else x[1]
        row = {tuple(a): r for r, a in enumerate(x[0].tolist())}
        return sum(features[row[h, m]] for m, h in enumerate(y, 1))

    def loss(self, y, other):
        return float(sum(a != b for a, b in zip(y, other, strict=True)))

    def score(self, x, y):
        return self.features(x, y) @ self.weights


# seed, then: whole numbers, single root, sparse
kinds = st.tuples(st.integers(0, 2**32 - 1), *[st.booleans()] * 3)


def check_oracles(this, most=200):
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
    for right in (gold, best):
        others = [y for y in outputs if y != right]
        found = mine.second_best(x, w, right)
        if not others:
            assert found is None
        else:
            assert found != right
            assert score(found) == pytest.approx(max(map(score, others)), abs=1e-9)
    for k in (1, 4, most):
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
    check_oracles(Instance(*kind, decoder="networkx"), most=8)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(kind=kinds)
def test_shards_keep_the_contract(kind):
    this = Instance(*kind, examples=3)
    mine, w = this.mine, this.weights
    shard = pickle.loads(pickle.dumps(mine.encode(this.X, this.Y)))
    reference = so.structures.base.example_shard.ExampleShard(mine, this.X, this.Y, 0)
    every = np.arange(3)
    asked = [
        (o.name, shard.ask(o, w), reference.ask(o, w))
        for o in (so.loss_augmented, so.oracles.worst)
    ]
    asked.append(
        ("best_other", shard.ask(so.oracles.best_other, w), reference.ask(so.oracles.best_other, w))
    )
    asked.append(("argmax", shard.argmax(w), reference.argmax(w)))
    ranks, expected = shard.k_best(w, 3), reference.k_best(w, 3)
    assert all(np.isinf(none.score).all() for none in expected[len(ranks) :])
    asked += [("k_best", a, b) for a, b in zip(ranks, expected, strict=False)]
    for name, answers, expected in asked:
        hinge = answers.loss if name == "loss_augmented" else 0.0
        wanted = expected.loss if name == "loss_augmented" else 0.0
        np.testing.assert_allclose(hinge - answers.score, wanted - expected.score, atol=1e-9)
        delta = shard.directions(answers.outputs, every)
        score = np.where(np.isinf(answers.score), 0.0, answers.score)
        np.testing.assert_allclose(delta.dot(shard.base, w), score, atol=1e-9)
        heads = shard.head[answers.outputs]
        for i, (x, gold) in enumerate(zip(this.X, this.Y, strict=True)):
            y = heads[shard.tokens[i] : shard.tokens[i + 1]].tolist()
            assert answers.loss[i] == this.loss(gold, y)
            row = delta.tocsr(shard.base, this.d).toarray()[i]
            difference = this.features(x, gold) - this.features(x, y)
            np.testing.assert_allclose(row, difference, atol=1e-12)
    for i in range(3):
        one = shard.single(i)
        for oracle in (so.loss_augmented, so.oracles.best_other, so.oracles.worst):
            alone, together = one.ask(oracle, w), shard.ask(oracle, w)
            assert (alone.loss[0], alone.score[0]) == (together.loss[i], together.score[i])
            np.testing.assert_array_equal(
                one.directions(alone.outputs, every[:1]).tocsr(shard.base, this.d).toarray(),
                shard.directions(together.outputs, every[[i]]).tocsr(shard.base, this.d).toarray(),
            )


@settings(max_examples=30, deadline=None, derandomize=True)
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_large_trees_are_those_of_networkx(seed, whole):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 16))
    table = rng.integers(-3, 4, (n, n)) * 1.0 if whole else rng.standard_normal((n, n))
    table[rng.random((n, n)) < 0.3] = -np.inf
    table[:, 0] = np.where(np.isfinite(table[:, 0]), table[:, 0], -5.0)
    graph = nx.DiGraph()
    for v, u in itertools.product(range(1, n), range(n)):
        if u != v and np.isfinite(table[v, u]):
            graph.add_edge(u, v, weight=table[v, u])
    expected = nx.maximum_spanning_arborescence(graph).size(weight="weight")
    heads = np.empty(n, dtype=np.int64)
    assert kernels.best_tree(table, False, heads)
    assert is_tree(heads[1:], False)
    assert kernels.total(table, heads) == pytest.approx(expected)
    singles = []
    for child in range(1, n):
        only = graph.copy()
        only.remove_edges_from([(0, v) for v in range(1, n) if v != child])
        if all(only.in_degree(v) for v in range(1, n)):
            try:
                tree = nx.maximum_spanning_arborescence(only)
            except nx.NetworkXException:
                continue
            singles.append(tree.size(weight="weight"))
    found = kernels.best_tree(table, True, heads)
    assert found == bool(singles)
    if found:
        assert is_tree(heads[1:], True)
        assert kernels.total(table, heads) == pytest.approx(max(singles))


def test_scores_of_very_different_size_keep_their_precision():
    # one root arc is forced without large penalties: the choice below hangs on 1e-9
    x = np.zeros((4, 3, 1))
    x[0, :, 0] = [1e6, 1e6 + 1e-9, 1e6]
    structure = so.Arborescence(single_root=True).fitted([x], [[0, 1, 1]])
    y = structure.argmax(x, np.ones(1))
    assert y == [2, 0, y[2]]
    assert y.count(0) == 1


def test_every_form_of_input_says_the_same():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((4, 3, 2))
    pairs = [(h, m) for h in range(4) for m in range(1, 4) if h != m]
    rows = np.array([x[h, m - 1] for h, m in pairs])
    graph = nx.DiGraph()
    for (h, m), row in zip(pairs, rows, strict=True):
        graph.add_edge(h, m, features=row)
    sparse = nx.DiGraph()
    for (h, m), row in zip(pairs, rows, strict=True):
        sparse.add_edge(h, m, features=sp.csr_array(row[None]))
    forms = [x, x.tolist(), sp.csr_matrix(x.reshape(12, 2)), (pairs, rows), graph, sparse]
    Y = [[0, 1, 1]] * len(forms)
    mine = so.Arborescence().fitted(forms, Y)
    for w in rng.standard_normal((20, 2)):
        assert len({tuple(y) for y in mine.predict(forms, w)}) == 1
        answers = mine.encode(forms, Y).ask(so.loss_augmented, w)
        np.testing.assert_allclose(answers.score, answers.score[0], atol=1e-12)
    assert mine.predict([], w) == []
    assert mine.part_count(Y[0]) == 3
    assert mine.part_errors(Y[0], np.array([0, 3, 1])) == 1
    assert mine.feature_names(["a", "b"]) == [("a", "arc"), ("b", "arc")]
    assert len(mine.feature_names()) == 2
    assert mine.abilities() == {"argmax", "argmin", "second_best", "k_best"}


def test_trains_to_the_enumerated_optimum():
    rng = np.random.default_rng(3)
    X = [np.round(rng.normal(size=(4, 3, 2)), 2) for _ in range(4)]
    Y = [[0, 1, 1], [2, 0, 2], [0, 0, 2], [3, 1, 0]]
    structure = so.Arborescence().fitted(X, Y)
    every = [list(y) for y in itertools.product(range(4), repeat=3) if is_tree(y, False)]
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


ARCS = np.array([(0, 1), (1, 2)])


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (np.ones((2, 2, 1)), r"example 1 has shape \(2, 2, 1\); expected \(T \+ 1, T, d\)"),
        (sp.eye_array(5).tocsr(), r"example 1 has 5 rows, which is not \(T \+ 1\) T"),
        ("tree", "example 1 is not an array"),
        ((ARCS, np.ones((3, 2))), "example 1 has 2 arcs but 3 rows"),
        ((ARCS, np.ones((2, 3))), "example 1 has 3 columns; expected 2"),
        ((ARCS, np.array([[1, np.nan], [0, 0]])), "example 1 holds nan at position 0, column 1"),
        ((np.array([(0, 1), (2, 2)]), np.ones((2, 2))), r"the arc \(2, 2\) is impossible"),
        ((np.array([(0, 1), (0, 1)]), np.ones((2, 2))), r"the arc \(0, 1\) is given twice"),
        ((np.array([0, 1]), np.ones((2, 2))), "expected .m, 2. integers"),
        ((ARCS, ARCS, ARCS), "tuple of 3"),
        (nx.Graph([(0, 1)]), "expected a DiGraph with the nodes"),
        (nx.DiGraph([(0, 1)]), r"edge \(0, 1\) has no attribute 'features'"),
        (np.ones((1, 0, 2)), "Example 1 is empty"),
    ],
)
def test_bad_input_is_named(x, message):
    good = (ARCS, np.ones((2, 2)))
    mine = so.Arborescence().fitted([good], [[0, 1]])
    with pytest.raises(InvalidInputError, match=message):
        mine.encode([good, x], [[0, 1], [0, 1]])
    with pytest.raises(InvalidInputError, match=message):
        mine.predict([good, x], np.zeros(2))


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([0], "2 tokens but 1 heads"),
        ([0, 3], "token 2 has the head 3, not one of 0 to 2"),
        ([2, 1], "token 1 is on or below a cycle"),
        ([0, 2], "token 2 is on or below a cycle"),
        ([0, 0], r"arc \(0, 2\) of the output of example 4 is not among its candidates"),
        (3, "output of example 4 is 3: give the head of every token"),
        ([0.0, 1.0], "give the head of every token as an integer"),
    ],
)
def test_bad_output_is_named(y, message):
    good = (ARCS, np.ones((2, 2)))
    mine = so.Arborescence().fitted([good], [[0, 1]])
    with pytest.raises(InvalidInputError, match=message) as error:
        mine.encode([good], [y], start=4)
    assert error.value.example == 4


def test_other_mistakes_are_named():
    x = np.ones((3, 2, 2))
    with pytest.raises(InvalidInputError, match="decoder is 'fast'"):
        so.Arborescence(decoder="fast").fitted([x], [[0, 1]])
    mine = so.Arborescence(single_root=True).fitted([x], [[0, 1]])
    with pytest.raises(InvalidInputError, match="2 tokens hang on the root, and single_root"):
        mine.encode([x], [[0, 0]])
    only_root = (np.array([(0, 1), (0, 2)]), np.ones((2, 2)))
    for ask in (mine.argmax, mine.argmin, lambda x, w: mine.k_best(x, w, 2)):
        with pytest.raises(InvalidInputError, match="example 0 hold no spanning tree"):
            ask(only_root, np.zeros(2))
    with pytest.raises(InvalidInputError, match="k is 0"):
        mine.k_best(x, np.zeros(2), 0)
    with pytest.raises(InvalidInputError, match="2 and 1 heads cannot be compared"):
        mine.loss([0, 1], [0])
    with pytest.raises(InvalidInputError, match=r"weights has shape \(3,\)"):
        mine.predict([x], np.zeros(3))
    with pytest.raises(InvalidInputError, match="X is a DiGraph: give a list"):
        so.Arborescence().fitted([x], [[0, 1]]).predict(nx.DiGraph([(0, 1)]), np.zeros(2))
    other = so.Oracle("odd", "argmax", "?", margin=abs, scale=abs)
    with pytest.raises(IncompatibleError, match="does not know the oracle 'odd'"):
        mine.encode([x], [[0, 1]]).ask(other, np.zeros(2))
