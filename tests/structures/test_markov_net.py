"""Markov nets on any graph: answers and bounds against enumeration, training, and refusals."""

from __future__ import annotations

import itertools

import networkx as nx
import numpy as np
import pytest
from enumeration import FORMULATIONS, optimum, solve
from hypothesis import given, settings
from hypothesis import strategies as st

import structopt as so
from structopt.errors import IncompatibleError, InvalidInputError
from structopt.structures.markov_net import search as markov_net_search


@st.composite
def nets(draw, forest=False):
    n, K = draw(st.integers(1, 5)), draw(st.integers(1, 3))
    small = st.integers(-3, 3)
    directed = draw(st.booleans())
    x = nx.DiGraph() if directed else nx.Graph()
    x.add_nodes_from(draw(st.permutations(range(n))))
    if forest:
        edges = [(v, draw(st.integers(0, v - 1))) for v in range(1, n) if draw(st.booleans())]
    else:
        every = itertools.permutations(range(n), 2) if directed else None
        every = list(every or itertools.combinations(range(n), 2))
        edges = draw(st.lists(st.sampled_from(every), unique=True, max_size=7)) if every else []
    d_edge = draw(st.integers(1, 2))
    for u, v in edges:
        x.add_edge(u, v, x=[1.0] + [float(draw(small)) for _ in range(d_edge - 1)])
    for v in x.nodes:
        x.nodes[v]["x"] = [float(draw(small))]
    gold = {v: draw(st.integers(0, K - 1)) for v in x.nodes}
    structure = so.MarkovNet(labels=range(K)).fitted([x], [gold])
    w = np.array([draw(small) for _ in range(structure.n_features_)], dtype=float)
    return structure, x, gold, w


def scored(structure, x, w):
    """Return every labelling with its score."""
    K = len(structure.labels_)
    outputs = [
        dict(zip(x.nodes, y, strict=True)) for y in itertools.product(range(K), repeat=len(x))
    ]
    return [(y, float((structure.joint_features(x, y) @ w)[0])) for y in outputs]


def check(structure, x, gold, w, *, exact):
    table = scored(structure, x, w)
    gold_score = next(s for y, s in table if y == gold)
    shard = structure.encode([x, x], [gold, gold])
    for asked in (shard, shard.single(1)):
        for oracle, values in (
            (so.loss_augmented, [s + structure.loss(gold, y) for y, s in table]),
            (so.oracles.worst, [-s for _, s in table]),
        ):
            answers = asked.ask(oracle, w)
            score = gold_score - answers.score
            value = score + answers.loss if oracle is so.loss_augmented else -score
            best = max(values)
            assert np.all(value <= best + 1e-7)
            assert np.all(best <= value + answers.excess + 1e-7)
            if exact:
                np.testing.assert_allclose(value, best, atol=1e-7)
                assert np.all(answers.excess <= 1e-6)
        best = max(s for _, s in table)
        free = asked.argmax(w)
        assert np.all(gold_score - free.score + free.excess >= best - 1e-7)
    answers = shard.ask(so.loss_augmented, w)
    delta = shard.directions(answers.outputs, np.array([0, 1])).tocsr(shard.base, len(w)).toarray()
    np.testing.assert_allclose(delta @ w, answers.score, atol=1e-9)
    net = structure._net(x)
    codes = answers.outputs[: len(x)]
    named = dict(zip(net.nodes, structure.labels_.decode(codes), strict=True))
    expected = structure.joint_features(x, gold) - structure.joint_features(x, named)
    np.testing.assert_allclose(delta[0], expected.toarray()[0])
    return table


@settings(max_examples=200)
@given(nets(forest=True))
def test_forests_are_answered_exactly(problem):
    structure, x, gold, w = problem
    table = check(structure, x, gold, w, exact=True)
    by_score = {tuple(y[v] for v in x.nodes): s for y, s in table}
    best = structure.argmax(x, w)
    assert list(best) == list(x.nodes)
    assert by_score[tuple(best.values())] == pytest.approx(max(by_score.values()))
    least = structure.argmin(x, w)
    assert by_score[tuple(least.values())] == pytest.approx(min(by_score.values()))


@settings(max_examples=200)
@given(nets())
def test_bounds_hold_on_any_graph(problem):
    check(*problem, exact=False)


@settings(max_examples=60)
@given(nets())
def test_branching_answers_any_graph_exactly(problem):
    structure, x, gold, w = problem
    check(structure.set_params(branch=True), x, gold, w, exact=True)


@settings(max_examples=60)
@given(nets())
def test_messages_alone_give_bounds(problem):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(markov_net_search, "SMALL", -1)
        check(*problem, exact=False)


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


@pytest.mark.parametrize("kind", ["svm-margin", "m3n"])
@pytest.mark.parametrize("graph", [nx.star_graph(3), nx.complete_graph(4)], ids=["tree", "loopy"])
def test_training_reaches_the_enumerated_optimum(kind, graph):
    X, Y, outputs = drawn(np.random.default_rng(1), graph)
    structure = so.MarkovNet(labels=[0, 1], branch=True).fitted(X, Y)
    result = solve(structure, FORMULATIONS[kind](1.0), X, Y, tol=1e-5)
    truth = optimum(kind, 1.0, (X, Y, structure, [outputs] * len(X)))
    assert result.certificate.certified
    assert result.certificate.primal == pytest.approx(truth, rel=1e-4)


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
