"""Lattices beyond the contract of every structure: references, n-best lists, mistakes."""

from __future__ import annotations

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
from structopt.structures.lattice.small import every_path, random_lattice, small
from structopt.structures.lattice.trie import Trie
from structopt.testing.structure_case import StructureCase, rows

MANY = settings(max_examples=200, deadline=None, derandomize=True)
ENGINES = ("compiled", "networkx")


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
    trie = Trie.of(lattices, Paths.stacked(good), np.array([0, len(good)]))
    outside = lattice_kernels.best_outside(score, node_ptr, in_ptr, tail, *trie)
    expected = lattice_reference.best_outside(score, node_ptr, in_ptr, tail, *trie)
    np.testing.assert_array_equal(outside[1], expected.edges)


def by_first_edge(reference, y):
    return float(reference[0] != y[0]) + 0.1 * abs(len(reference) - len(y))


@pytest.mark.parametrize("decoder", ENGINES)
@pytest.mark.parametrize("distance", [None, by_first_edge])
def test_oracles_of_several_references_are_brute_force(distance, decoder):
    for seed in range(40 if decoder == "compiled" else 4):
        rng = np.random.default_rng(seed)
        made = small(rng)
        made.structure.set_params(decoder=decoder)
        case = StructureCase(made, seed)
        for i, w in case.asked():
            several_references(case, i, w, distance, rng)


def several_references(case, i, w, distance, rng):
    x, paths = case.X[i], case.outputs[i]
    places = rng.choice(len(paths), size=min(len(paths), 3), replace=False)
    good = [paths[k] for k in places]
    structure = so.References(case.given, distance=distance).fitted([x], [good])
    shard = structure.encode([x], [good])
    bad = [y for y in paths if y not in good]
    apart, score = distance or case.small.loss, dict(zip(paths, case.phi[i] @ w, strict=True))
    outside = structure.second_best(x, w, good)
    assert (outside is None) == (not bad)
    if bad:
        best = max(bad, key=score.get)
        assert score[outside] == pytest.approx(score[best], abs=1e-9)
        assert outside == best or not case.exactly(w)
    questions = (
        so.worst_reference, so.nearest_reference, so.oracles.best_other, so.nearest_to_best,
    )  # fmt: skip
    for oracle in questions:
        answers = shard.ask(oracle, w)
        assert answers.exact == (oracle is not so.nearest_to_best or len(good) == 1 or not bad)
        if not bad:
            assert np.isinf(answers.score[0])
            continue
        partners = dict.fromkeys(bad, good)
        if oracle is so.nearest_reference:
            partners = {y: [min(good, key=lambda g: apart(g, y))] for y in bad}
        among = bad
        if oracle is so.nearest_to_best:  # the best of all, then the reference nearest to it
            among = [shard.bad(answers.outputs, 0)]
            assert score[among[0]] == pytest.approx(max(score[y] for y in bad), abs=1e-9)
            partners = {among[0]: [min(good, key=lambda g: apart(g, among[0]))]}
        expected = min(score[g] - score[y] for y in among for g in partners[y])
        assert answers.score[0] == pytest.approx(expected, abs=1e-9)
        assert answers.loss[0] > 0
        delta = rows(shard, answers.outputs, [0], structure.n_features_)[0]
        assert delta @ w == pytest.approx(expected, abs=1e-9)


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
        x = random_lattice(rng, **kind)
        if len(every_path(x)) > 2:
            X.append(x)
    outputs = [every_path(x) for x in X]
    Y = [paths[int(rng.integers(len(paths)))] for paths in outputs]
    return X, Y, so.Lattice().fitted(X, Y), outputs


def test_what_losses_are_measured_from_is_content_too():
    """Delta is measured from the same paths, losses from others: these are other data."""
    X, Y, structure, outputs = small_problem(3)
    others = [next(y for y in paths if y != gold) for paths, gold in zip(outputs, Y, strict=True)]
    data = [so.DataSet.of(structure, X, gold) for gold in (Y, Y, others)]
    answers = data[0].argmax(np.ones(structure.n_features_))
    named = [each.anchored(answers).fingerprint("") for each in data]
    assert named[0] == named[1] != named[2]


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
    with pytest.raises(InvalidInputError, match="X is a MultiDiGraph: give a sequence"):
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
    with pytest.raises(InvalidInputError, match="k must be an integer >= 1; got 0"):
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
