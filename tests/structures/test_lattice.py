"""Lattices against brute force: every oracle, both engines, ties included."""

from __future__ import annotations

import itertools
import pickle

import cvxpy as cp
import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from enumeration import optimum, solve
from hypothesis import given, settings
from hypothesis import strategies as st

import structopt as so
from structopt.errors import IncompatibleError, InvalidInputError
from structopt.structures.lattice import kernels as lattice_kernels
from structopt.structures.lattice import reference as lattice_reference
from structopt.structures.lattice.inputs import Lattices, Paths
from structopt.structures.lattice.nbest import nbest_index, nbest_words
from structopt.structures.lattice.trie import Trie

MANY = settings(max_examples=200, deadline=None, derandomize=True)
ENGINES = ("compiled", "networkx")
ORACLES = (so.loss_augmented, so.oracles.best_other, so.oracles.worst)
CONVENTIONS = ("dense", "sparse", "named")


def random_graph(rng, *, multi, whole, d, convention):
    """A lattice on up to 6 nodes, with nodes off the way and edges without features."""
    n = int(rng.integers(2, 7))
    graph = (nx.MultiDiGraph if multi else nx.DiGraph)()
    names = [f"n{k}" for k in rng.permutation(n)]  # the topological order is not the natural one

    def features():
        if rng.random() < 0.1:
            return {}
        value = rng.integers(-2, 3, d) * 1.0 if whole else rng.standard_normal(d)
        if convention == "named":
            return {"features": {f"f{j}": value[j] for j in range(d)}}
        return {"features": sp.csr_array(value[None]) if convention == "sparse" else value}

    for _ in range(int(rng.integers(1, 12))):
        u, v = sorted(rng.choice(n, size=2, replace=False).tolist())
        graph.add_edge(names[u], names[v], **features())
    backbone = np.flatnonzero(rng.random(n) < 0.5).tolist()
    for u, v in itertools.pairwise(sorted({0, *backbone, n - 1})):
        graph.add_edge(names[u], names[v], **features())
    graph.add_edge(names[0], "dead end", **features())
    graph.add_edge("nowhere", names[n - 1], **features())
    graph.graph.update(source=names[0], sink=names[n - 1])
    return graph


def every_path(graph):
    """All paths in the order of the tie rule, by depth-first search."""
    source, sink = graph.graph["source"], graph.graph["sink"]
    keys = {"keys": True} if graph.is_multigraph() else {}
    order = {edge: k for k, edge in enumerate(graph.edges(**keys))}

    def extend(node):
        if node == sink:
            yield ()
        for edge in graph.out_edges(node, **keys):
            for rest in extend(edge[1]):
                yield (edge, *rest)

    return sorted(extend(source), key=lambda path: [order[edge] for edge in path[::-1]])


class Instance:
    """Lattices, weights, a fitted Lattice, and the truth by enumeration."""

    def __init__(self, decoder, seed, multi, whole, convention, examples=1):
        rng = np.random.default_rng(seed)
        self.whole, self.d = whole, int(rng.integers(1, 4))
        given = {"multi": multi, "whole": whole, "d": self.d, "convention": convention}
        self.X = [random_graph(rng, **given) for _ in range(examples)]
        self.X[0].edges[next(iter(self.X[0].edges))]["features"] = {
            "named": {f"f{j}": 1.0 for j in range(self.d)},
            "dense": [1.0] * self.d,
            "sparse": sp.coo_array(np.ones(self.d)),
        }[convention]
        self.paths = [every_path(x) for x in self.X]
        self.Y = [paths[int(rng.integers(len(paths)))] for paths in self.paths]
        self.extra, self.missed = rng.choice([0.5, 1.0, 2.0], 2)
        self.mine = so.Lattice(loss=so.losses.PartCosts(self.extra, self.missed), decoder=decoder)
        self.mine = self.mine.fitted(self.X, self.Y)
        self.weights = rng.integers(-2, 3, self.d) * 1.0 if whole else rng.standard_normal(self.d)
        of = {id(x): paths for x, paths in zip(self.X, self.paths, strict=True)}
        self.truth = so.Enumerated(lambda x: of[id(x)], self.features, self.loss)
        self.rng = rng

    def features(self, x, y):
        total = np.zeros(self.d)
        for edge in y:
            value = x.edges[edge].get("features")
            if isinstance(value, dict):
                value = [value[f"f{j}"] for j in range(self.d)]
            elif sp.issparse(value):
                value = value.toarray().ravel()
            total += 0.0 if value is None else value
        return total

    def loss(self, y, other):
        return self.extra * len(set(other) - set(y)) + self.missed * len(set(y) - set(other))

    def score(self, x, y):
        return float(self.features(x, y) @ self.weights)

    def agree(self, mine, truth, value):
        """Same value, and with whole numbers the same output."""
        assert value(mine) == pytest.approx(value(truth), abs=1e-9)
        assert not self.whole or mine == truth


kinds = st.tuples(
    st.integers(0, 2**32 - 1), st.booleans(), st.booleans(), st.sampled_from(CONVENTIONS)
)


@pytest.mark.parametrize("decoder", ENGINES)
@MANY
@given(kind=kinds)
def test_every_oracle_is_brute_force(decoder, kind):
    this = Instance(decoder, *kind)
    mine, truth, w = this.mine, this.truth, this.weights
    x, gold, paths = this.X[0], this.Y[0], this.paths[0]

    def score(y):
        return this.score(x, y)

    def augmented(y):
        return score(y) + this.loss(gold, y)

    this.agree(mine.argmax(x, w), truth.argmax(x, w), score)
    this.agree(mine.predict([x], w)[0], truth.argmax(x, w), score)
    this.agree(mine.argmin(x, w), truth.argmin(x, w), score)
    this.agree(mine.argmax(x, w, gold=gold), truth.argmax(x, w, gold=gold), augmented)
    other, expected = mine.second_best(x, w, gold), truth.second_best(x, w, gold)
    if expected is None:
        assert other is None
    else:
        assert other != gold
        this.agree(other, expected, score)
    references = [paths[k] for k in this.rng.integers(len(paths), size=min(4, len(paths)))]
    outside = so.References(mine).second_best(x, w, references)
    rest = [y for y in paths if y not in references]
    if not rest:
        assert outside is None
    else:
        assert outside in rest
        this.agree(outside, max(rest, key=score), score)
    best, expected = mine.k_best(x, w, 7), truth.k_best(x, w, 7)
    assert len(best) == len(expected) == len(set(best))
    for a, b in zip(best, expected, strict=True):
        this.agree(a, b, score)
    np.testing.assert_allclose(
        mine.joint_features(x, gold).toarray().ravel(), this.features(x, gold), atol=1e-12
    )
    assert mine.loss(gold, best[-1]) == this.loss(gold, best[-1])


@settings(MANY, max_examples=30)
@given(kind=kinds)
def test_shards_keep_the_contract(kind):
    shards_keep_the_contract("compiled", kind)


@settings(MANY, max_examples=5)
@given(kind=kinds)
def test_shards_of_the_reference_keep_it_too(kind):
    shards_keep_the_contract("networkx", kind)


def shards_keep_the_contract(decoder, kind):
    this = Instance(decoder, *kind, examples=3)
    mine, w = this.mine, this.weights
    shard = mine.encode(this.X, this.Y)

    def check(part, answers, which, values):
        """Loss, w.delta and directions of a shard that holds the examples ``which``."""
        for r, i in enumerate(which):
            x, gold = this.X[i], this.Y[i]
            if np.isinf(answers.score[r]):
                assert values[r] is None
                continue
            delta = part.directions(answers.outputs, np.array([r]))
            delta = delta.tocsr(part.base, mine.n_features_)
            y = mine.unpack(part, answers.outputs)[r]
            expected = this.features(x, gold) - this.features(x, y)
            np.testing.assert_allclose(delta.toarray().ravel(), expected, atol=1e-9)
            assert answers.score[r] == pytest.approx(expected @ w, abs=1e-9)
            assert answers.loss[r] == pytest.approx(this.loss(gold, y))
            assert this.score(x, y) == pytest.approx(values[r], abs=1e-9)

    def value(i, y):
        return None if y is None else this.score(this.X[i], y)

    for oracle in ORACLES:
        expected = [
            value(i, mine.answer(oracle, x, y, w))
            for i, (x, y) in enumerate(zip(this.X, this.Y, strict=True))
        ]
        check(shard, shard.ask(oracle, w), [0, 1, 2], expected)
        for i in range(3):
            alone = shard.single(i)
            check(alone, alone.ask(oracle, w), [i], expected[i : i + 1])
    best = [mine.k_best(x, w, 3) for x in this.X]
    for r, answers in enumerate(shard.k_best(w, 3)):
        ranked = [paths[r] if r < len(paths) else None for paths in best]
        check(shard, answers, [0, 1, 2], [value(i, y) for i, y in enumerate(ranked)])
    check(shard, shard.argmax(w), [0, 1, 2], [value(i, paths[0]) for i, paths in enumerate(best)])


@MANY
@given(seed=st.integers(0, 2**32 - 1), whole=st.booleans())
def test_kernels_are_networkx_on_larger_lattices(seed, whole):
    """Up to 40 edges, too many paths to list: the kernels against exact longest paths."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 11))
    pairs = [(v - 1, v) for v in range(1, n)]
    pairs += [tuple(sorted(rng.choice(n, 2, replace=False).tolist())) for _ in range(3 * n)]
    pairs.sort(key=lambda pair: pair[1])
    tail = np.array([u for u, _ in pairs])
    in_ptr = np.concatenate([[0], np.cumsum(np.bincount([v for _, v in pairs], minlength=n))])
    score = rng.integers(-2, 3, len(tail)) * 1.0 if whole else rng.standard_normal(len(tail))
    node_ptr = np.array([0, n])
    mine = lattice_kernels.k_best(score, in_ptr, tail, 6)
    slow = lattice_reference.k_best(score, in_ptr, tail, 6)
    for a, b in zip(mine, slow, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-9)
    best = lattice_kernels.best_path(score, node_ptr, in_ptr, tail)
    expected = lattice_reference.best_path(score, node_ptr, in_ptr, tail)
    np.testing.assert_array_equal(best[1], expected.edges)
    paths = [Paths(*mine[:2]).of(r) for r in range(len(mine[0]) - 1)]
    good = [paths[r] for r in rng.integers(len(paths), size=3)]
    lattices = Lattices(node_ptr, in_ptr, tail, [], None)
    trie = Trie.of(lattices, [good])
    outside = lattice_kernels.best_outside(score, node_ptr, in_ptr, tail, *trie)
    expected = lattice_reference.best_outside(score, node_ptr, in_ptr, tail, *trie)
    np.testing.assert_array_equal(outside[1], expected.edges)


def by_first_edge(reference, y):
    return float(reference[0] != y[0]) + 0.1 * abs(len(reference) - len(y))


@pytest.mark.parametrize("distance", [None, by_first_edge])
@MANY
@given(kind=kinds)
def test_oracles_of_several_references_are_brute_force(distance, kind):
    several_references("compiled", distance, kind)


@settings(MANY, max_examples=10)
@given(kind=kinds)
def test_references_over_networkx_are_brute_force(kind):
    several_references("networkx", None, kind)


def several_references(decoder, distance, kind):
    this = Instance(decoder, *kind)
    x, paths, w = this.X[0], this.paths[0], this.weights
    places = this.rng.choice(len(paths), size=min(len(paths), 3), replace=False)
    good = [paths[k] for k in places]
    structure = so.References(this.mine, distance=distance).fitted([x], [good])
    shard = structure.encode([x], [good])
    bad = [y for y in paths if y not in good]
    apart = distance or this.loss
    for oracle in (so.worst_reference, so.nearest_reference, so.oracles.best_other):
        answers = shard.ask(oracle, w)
        assert answers.exact
        if not bad:
            assert np.isinf(answers.score[0])
            continue
        partners = dict.fromkeys(bad, good)
        if oracle is so.nearest_reference:
            partners = {y: [min(good, key=lambda g: apart(g, y))] for y in bad}
        expected = min(this.score(x, g) - this.score(x, y) for y in bad for g in partners[y])
        assert answers.score[0] == pytest.approx(expected, abs=1e-9)
        assert answers.loss[0] > 0
        delta = shard.directions(answers.outputs, np.array([0]))
        delta = delta.tocsr(shard.base, structure.n_features_)
        assert float((delta @ w)[0]) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("limit", [None, 5])
def test_nearest_reference_past_the_first_list(limit, monkeypatch):
    """One long bad list: the pair that is violated most stands far behind the best path."""
    graph = nx.MultiDiGraph(source="s", sink="t")
    for k in range(60):
        graph.add_edge("s", "t", features=[float(-k), 0.0])
    graph.add_edge("s", "a", features=[0.0, 1.0])
    graph.add_edge("a", "t", features=[-100.0, 0.0])  # a reference, far below
    graph.add_edge("a", "t", features=[-70.0, 0.0])  # the only path near to it
    good = [(("s", "t", 0),), (("s", "a", 0), ("a", "t", 0))]
    structure = so.References(so.Lattice()).fitted([graph], [good])
    if limit is not None:
        monkeypatch.setattr("structopt.structures.references.shard.MAX_K", limit)
    answers = structure.encode([graph], [good]).ask(so.nearest_reference, np.array([1.0, 0.0]))
    assert answers.exact == (limit is None)
    # -100 against -70; the others lose by 1 or more, and one that loses by 1 stands in front
    assert answers.score[0] == pytest.approx(-30.0 if limit is None else 1.0)


def small_problem(seed, n=4):
    rng = np.random.default_rng(seed)
    kind = {"multi": True, "whole": False, "d": 3, "convention": "dense"}
    X = []
    while len(X) < n:
        x = random_graph(rng, **kind)
        if len(every_path(x)) > 2:
            X.append(x)
    outputs = [every_path(x) for x in X]
    Y = [paths[int(rng.integers(len(paths)))] for paths in outputs]
    return X, Y, so.Lattice().fitted(X, Y), outputs


@pytest.mark.parametrize("kind", ["m3n", "lp", "lp-free", "svm-unit", "svm-margin"])
def test_formulations_reach_the_optimum(kind):
    from enumeration import FORMULATIONS

    problem = small_problem(7)
    X, Y, structure, _ = problem
    truth = optimum(kind, 0.7, problem)
    result = solve(structure, FORMULATIONS[kind](0.7), X, Y, tol=1e-5)
    assert result.certificate.certified
    assert result.certificate.primal == pytest.approx(truth, rel=5e-5, abs=1e-6)
    two = solve(structure, FORMULATIONS[kind](0.7), X, Y, tol=1e-5, n_jobs=2)
    assert two.certificate.primal == pytest.approx(truth, rel=5e-5, abs=1e-6)


def test_methods_that_visit_one_example_at_a_time():
    problem = small_problem(7)
    X, Y, _, outputs = problem
    model = so.StructuredClassifier(so.Lattice(), so.M3N(0.7), method="frank-wolfe", tol=1e-4)
    truth = optimum("m3n", 0.7, problem)
    assert model.fit(X, Y).result_.certificate.primal == pytest.approx(truth, rel=2e-4)
    for method in ("perceptron", "mira"):
        model = so.StructuredClassifier(so.Lattice(), so.M3N(0.7), method=method, max_iter=20)
        assert all(y in paths for y, paths in zip(model.fit(X, Y).predict(X), outputs, strict=True))


@pytest.mark.parametrize("kind", ["nearest", "worst"])
@pytest.mark.parametrize("seed", range(4))
def test_lp_7_and_lp_8_reach_the_optimum(kind, seed):
    X, _, lattice, outputs = small_problem(seed)
    rng = np.random.default_rng(seed)
    Y = [[paths[k] for k in rng.choice(len(paths), 2, replace=False)] for paths in outputs]
    structure = so.References(so.Lattice()).fitted(X, Y)
    result = solve(structure, so.LPStruct(0.8, references=kind), X, Y, tol=1e-5, backend="highs")
    w, xi = cp.Variable(3, nonneg=True), cp.Variable(len(X), nonneg=True)
    rows = []
    for i, (x, good) in enumerate(zip(X, Y, strict=True)):
        for bad in set(outputs[i]) - set(good):
            near = min(good, key=lambda g: lattice.loss(g, bad))
            for g in [near] if kind == "nearest" else good:
                delta = lattice.joint_features(x, g) - lattice.joint_features(x, bad)
                rows.append(delta.toarray().ravel() @ w >= 1 - xi[i])
    full = cp.Problem(cp.Minimize(cp.norm1(w) + 0.8 * cp.sum(xi)), rows)
    full.solve(solver=cp.HIGHS)
    assert result.certificate.certified
    assert result.certificate.primal == pytest.approx(full.value, rel=2e-5, abs=1e-7)


def test_nbest_lists_are_lattices_of_parallel_paths():
    hypotheses = ["the house", "the home", "the house", "a house", ""]
    features = np.arange(10.0).reshape(5, 2)
    x, paths = so.Lattice.of_nbest(hypotheses, features)
    structure = so.Lattice().fitted([x], [paths[0]])
    assert set(every_path(x)) == set(paths)
    for h, path in enumerate(paths):
        assert nbest_index(path) == h
        assert nbest_words(path) == so.Lattice.words(x, path) == hypotheses[h].split()
        assert structure.joint_features(x, path).toarray().ravel().tolist() == features[h].tolist()
    # "the" is shared: house against home, and an edge of its own each
    assert structure.loss(paths[0], paths[1]) == 4
    assert structure.loss(paths[0], paths[2]) == 2
    assert structure.argmax(x, np.array([-1.0, 0.5])) == paths[0]
    assert structure.argmax(x, np.array([1.0, -0.5])) == paths[4]
    x, paths = so.Lattice.of_nbest(["a b a", "a b"], [{"f": 1.0}, {"f": 2.0}], ngrams=2)
    structure = so.Lattice().fitted([x], [paths[0]])
    assert structure.names_ == ("1-gram a", "1-gram b", "2-gram a b", "2-gram b a", "f")
    assert structure.joint_features(x, paths[0]).toarray().tolist() == [[2, 1, 1, 1, 1]]
    x, paths = so.Lattice.of_nbest(["a b"], [[1.0]], ngrams=2)
    with pytest.raises(InvalidInputError, match="breaks the convention"):
        so.Lattice().fitted([x], paths)
    with pytest.raises(InvalidInputError, match="5 hypotheses with 4 rows"):
        so.Lattice.of_nbest(hypotheses, features[:4])
    with pytest.raises(InvalidInputError, match="0 hypotheses"):
        so.Lattice.of_nbest([], [])
    with pytest.raises(InvalidInputError, match="Hypothesis 1 holds 3"):
        so.Lattice.of_nbest([["a"], [3]], [[1.0], [2.0]])


def chain_graph(*features):
    graph = nx.MultiDiGraph(source=0, sink=1)
    for value in features:
        graph.add_edge(0, 1, features=value)
    return graph


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (nx.Graph([(0, 1)]), "is a Graph: give a networkx DiGraph"),
        (nx.DiGraph([(0, 1), (1, 2), (2, 1)], source=0, sink=2), "has a cycle, 1 -> 2 -> ..."),
        (nx.DiGraph([(0, 1), (2, 1)]), "2 nodes that could be its source"),
        (nx.DiGraph([(0, 1), (0, 2)]), "2 nodes that could be its sink"),
        (nx.DiGraph([(0, 1)], source=7), "source of example 1, 7, is no node"),
        (nx.DiGraph([(0, 1)], source=0, sink=0), "are the same node"),
        (nx.DiGraph([(0, 1), (2, 3)], source=0, sink=3), "no path leads from 0 to 3"),
        (chain_graph([1.0]), r"Edge \(0, 1, 0\) of example 1 has 1 features; expected 2"),
        (chain_graph({"a": 1.0}), "breaks the convention of the first edge"),
        (chain_graph(["a", "b"]), "are no real numbers"),
        (chain_graph([[1.0, 2.0]]), r"features of shape \(1, 2\)"),
        (chain_graph(sp.csr_array(np.ones((2, 2)))), r"features of shape \(2, 2\)"),
        (chain_graph([1.0, np.nan]), "a feature that is not finite"),
        ("graph", "is a str"),
    ],
)
def test_bad_lattices_are_refused(graph, message):
    good = chain_graph([1.0, 2.0], [0.0, 1.0])
    path = ((0, 1, 0),)
    structure = so.Lattice().fitted([good], [path])
    with pytest.raises(InvalidInputError, match=message) as caught:
        structure.encode([good, graph], [path, path])
    assert caught.value.example == 1
    with pytest.raises(InvalidInputError):
        structure.predict([graph], np.ones(2))


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ((("s", "b"),), "no edge on a way"),
        ((("s", "a"),), "1 edges and does not end in the sink"),
        ((), "0 edges and does not end"),
        ((("a", "t"),), "does not begin where"),
        (3, "is 3: give a path"),
        ("st", "give a path"),
        (None, "is None: give a path"),
        (([], {}), "no edge on a way"),
        (([[1]],), "give a path"),
    ],
)
def test_bad_paths_are_refused(y, message):
    graph = nx.DiGraph([("s", "a"), ("a", "t")])
    nx.set_edge_attributes(graph, 1.0, "features")
    gold = (("s", "a"), ("a", "t"))
    structure = so.Lattice().fitted([graph], [gold])
    with pytest.raises(InvalidInputError, match=message) as caught:
        structure.encode([graph, graph], [gold, y])
    assert caught.value.example == 1
    with pytest.raises(InvalidInputError, match=message):
        so.References(so.Lattice()).fitted([graph], [[gold]]).encode([graph], [[gold, y]])


def test_other_refusals():
    graph = chain_graph([1.0, 2.0], [0.0, 1.0])
    path = ((0, 1, 0),)
    for arguments, message in [
        ({"decoder": "magic"}, "decoder is 'magic'"),
        ({"loss": so.losses.PartCosts(extra=-1.0)}, "extra=-1.0"),
        ({"loss": so.losses.PartCosts(extra=0.0, missed=0.0)}, "one of them positive"),
        ({"loss": so.losses.PartCosts(missed=np.inf)}, "must be finite"),
        ({"loss": 2.0}, "give so.losses.PartCosts"),
        ({"extra": 2.0}, "is now loss=so.losses.PartCosts"),
    ]:
        with pytest.raises(InvalidInputError, match=message):
            so.Lattice(**arguments).fitted([graph], [path])
    with pytest.raises(InvalidInputError, match="X is one graph"):
        so.Lattice().fitted(graph, [path, path])
    with pytest.raises(InvalidInputError, match="No edge of any lattice has features"):
        so.Lattice().fitted([nx.DiGraph([(0, 1)])], [path])
    with pytest.raises(InvalidInputError, match="features of all edges are empty"):
        so.Lattice().fitted([chain_graph({})], [path])
    with pytest.raises(InvalidInputError, match="named 3: names are strings"):
        so.Lattice().fitted([chain_graph({3: 1.0})], [path])
    with pytest.raises(InvalidInputError, match="breaks the convention"):
        so.Lattice().fitted([chain_graph({"a": 1.0}, [1.0])], [path])
    structure = so.Lattice().fitted([graph], [path])
    with pytest.raises(InvalidInputError, match="k is 0"):
        structure.k_best(graph, np.ones(2), 0)
    with pytest.raises(InvalidInputError, match="expected \\(2,\\)"):
        structure.argmax(graph, np.ones(3))
    with pytest.raises(IncompatibleError, match="does not know the oracle"):
        structure.encode([graph], [path]).ask(so.slack_rescaled, np.ones(2))
    with pytest.raises(IncompatibleError, match="slack_rescaled"):
        so.StructuredClassifier(so.Lattice(), so.StructSVM(rescale="slack")).fit([graph], [path])


def test_names_and_model_file(tmp_path):
    graph = chain_graph({"lm": 1.0}, {"tm": 2.0, "lm": -1.0})
    path = ((0, 1, 1),)
    model = so.StructuredClassifier(
        so.Lattice(loss=so.losses.PartCosts(2.0)), so.LPStruct(5.0)
    ).fit([graph], [path])
    assert model.predict([graph]) == [path]
    assert model.score([graph], [path]) == 1.0
    assert model.coef_["feature"].tolist() == ["lm", "tm"]
    model.save(tmp_path / "model")
    loaded = so.load_model(tmp_path / "model")
    assert loaded.structure_.names_ == ("lm", "tm")
    assert loaded.structure.cost.extra == 2.0
    unseen = chain_graph({"new": 9.0}, {"tm": 1.0})  # a name without a weight counts nothing
    assert loaded.predict([unseen]) == [path]
    assert loaded.predict([]) == []


def test_shards_travel_between_processes():
    X, Y, structure, _ = small_problem(3)
    shard = structure.encode(X, Y)
    again = pickle.loads(pickle.dumps(shard))
    w = np.array([1.0, -1.0, 0.5])
    np.testing.assert_array_equal(
        shard.ask(so.oracles.best_other, w).score, again.ask(so.oracles.best_other, w).score
    )
    data = so.DataSet.of(structure, X, Y)
    other = so.DataSet.of(so.Lattice(loss=so.losses.PartCosts(3.0)).fitted(X, Y), X, Y)
    assert data.fingerprint("") == so.DataSet.of(structure, X, Y).fingerprint("")
    assert data.fingerprint("") != other.fingerprint("")
