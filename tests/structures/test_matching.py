"""Matchings beyond the contract of every structure: fertility, inputs, mistakes."""

import itertools

import networkx as nx
import numpy as np
import pytest
from enumeration import FORMULATIONS, optimum, solve

import structopt as so
from structopt.errors import IncompatibleError, InvalidInputError
from structopt.structures.base.oracles import slack_rescaled
from structopt.structures.matching.small import matchings


def small_pairs(rng, *, n=4, shape=(2, 3), fertility=1):
    X = [np.round(rng.normal(size=(*shape, 2)), 2) for _ in range(n)]
    structure = so.Matching(fertility=fertility)
    edges = list(itertools.product(range(shape[0]), range(shape[1])))
    limits = structure._limits()
    outputs = matchings(edges, *(np.full(k, b) for k, b in zip(shape, limits, strict=True)))
    Y = [outputs[k] for k in rng.integers(len(outputs), size=n)]
    return X, Y, structure.fitted(X, Y), [outputs] * n


@pytest.mark.parametrize("kind", ["svm-unit", "svm-margin", "m3n", "lp", "lp-free", "elastic"])
@pytest.mark.parametrize("fertility", [1, (2, 1), 2])
def test_every_formulation_reaches_the_enumerated_optimum(kind, fertility):
    problem = X, Y, structure, _ = small_pairs(np.random.default_rng(3), fertility=fertility)
    truth = optimum(kind, 1.0, problem)
    result = solve(structure, FORMULATIONS[kind](1.0), X, Y, tol=1e-5)
    assert result.certificate.certified
    assert result.certificate.primal == pytest.approx(truth, rel=1e-4)


@pytest.mark.parametrize("method", ["frank-wolfe", "perceptron", "mira"])
def test_other_methods_train(method, tmp_path):
    rng = np.random.default_rng(0)
    w = np.array([2.0, -1.0, 0.5])
    X = [rng.normal(size=(3, 4, 3)) for _ in range(20)]
    truth = so.Matching().fitted(X, [set()] * 20)
    Y = truth.predict(X, w)
    model = so.StructuredClassifier(so.Matching(), so.M3N(10.0), method=method).fit(X, Y)
    assert model.score(X, Y) > 0.8
    model.save(tmp_path / "model.npz")
    assert so.load_model(tmp_path / "model.npz").predict(X) == model.predict(X)


def test_outputs_come_in_three_forms_and_graphs_are_read():
    x = np.zeros((2, 3, 1))
    structure = so.Matching().fitted([x], [set()])
    same = [
        {(0, 2), (1, 0)},
        [(1, 0), (0, 2)],
        np.array([[0, 2], [1, 0]]),
        np.array([[0, 0, 1], [1, 0, 0]]),
        np.array([[False, False, True], [True, False, False]]),
    ]
    assert all(structure.loss(same[0], y) == 0 for y in same)
    assert {tuple(structure.encode([x], [y]).gold) for y in same} == {
        (False, False, True, True, False, False)
    }
    graph = nx.Graph()
    graph.add_node("le", bipartite=0)
    graph.add_node("chat", bipartite=0, fertility=2)
    graph.add_nodes_from(["the", "big", "cat"], bipartite=1)
    for u, v, value in (("le", "the", 1.0), ("chat", "big", 0.5), ("cat", "chat", 2.0)):
        graph.add_edge(u, v, features=[value])
    aligned = structure.argmax(graph, np.ones(1))
    assert aligned == {("le", "the"), ("chat", "big"), ("chat", "cat")}
    assert structure.encode([graph], [aligned]).gold.all()


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        (np.full((1, 1, 1), np.nan), set(), "nan at edge"),
        (np.zeros((2, 2)), set(), "shape"),
        (np.zeros((1, 2, 3)), set(), "columns"),
        (np.zeros((2, 2, 1)), {(0, 5)}, "not one of the 4 candidate"),
        (np.zeros((2, 2, 1)), {(0, 0), (0, 1)}, "fertility is 1"),
        (np.zeros((2, 2, 1)), np.array([[0, 1], [1, 0]]), "could be pairs or a 0/1"),
        (np.zeros((2, 3, 1)), np.array([[0, 2, 0], [0, 0, 0]]), "other than 0 and 1"),
        (np.zeros((2, 2, 1)), 3, "give a set of pairs"),
        (so.CandidateEdges([(0, 0), (0, 0)], np.zeros((2, 1))), set(), "twice"),
        (so.CandidateEdges([(0, -1)], np.zeros((1, 1))), set(), "outside"),
        (so.CandidateEdges([(0, 1)], np.zeros((2, 1))), set(), "2 rows of features"),
        (so.CandidateEdges([(0, 0)], [[1.0]], (1, 1), ([-1], [1])), set(), "integers >= 0"),
        (nx.path_graph(2), set(), "bipartite=0"),
    ],
)
def test_bad_inputs_are_named(x, y, message):
    good = np.zeros((1, 1, 1))
    structure = so.Matching().fitted([good], [set()])
    with pytest.raises(InvalidInputError, match=message) as caught:
        structure.encode([good, x], [set(), y], start=6)
    assert caught.value.example == 7
    assert "7" in str(caught.value)


@pytest.mark.parametrize(
    "bad", [{"loss": so.losses.PartCosts(extra=0)}, {"fertility": 0}, {"decoder": "magic"}]
)
def test_bad_parameters_are_refused(bad):
    with pytest.raises(InvalidInputError, match=next(iter(bad))):
        so.Matching(**bad).fitted([np.zeros((1, 1, 1))], [set()])


def test_slack_rescaling_is_refused_before_any_work():
    X, Y, structure, _ = small_pairs(np.random.default_rng(0))
    with pytest.raises(IncompatibleError, match="slack_rescaled"):
        solve(structure, so.StructSVM(1.0, rescale="slack"), X, Y)
    with pytest.raises(IncompatibleError, match="does not know"):
        structure.encode(X, Y).ask(slack_rescaled, np.zeros(2))


def test_parallel_passes_and_generated_alignments_agree():
    X, Y = so.datasets.make_alignments(20, n_features=4, mean_edges=12, seed=3)
    X, Y = [*X, np.zeros((0, 3, 4))], [*Y, set()]  # an empty sentence does no harm
    runs = [
        so.StructuredClassifier(so.Matching(), so.M3N(0.1), tol=1e-4, n_jobs=jobs).fit(X, Y)
        for jobs in (1, 2)
    ]
    primal, other = (run.result_.certificate.primal for run in runs)
    assert primal == pytest.approx(other, rel=2e-4)
    assert runs[0].score(X, Y) > 0.5
    again = so.datasets.make_alignments(2, n_features=4, mean_edges=12, seed=3)
    np.testing.assert_array_equal(again[0][1], X[1])
    with pytest.raises(InvalidInputError, match="n_features >= 3"):
        so.datasets.make_alignments(n_features=2)


def test_the_empty_matching_is_all_there_is():
    x = np.zeros((0, 2, 1))
    structure = so.Matching().fitted([np.zeros((1, 1, 1))], [set()])
    assert structure.second_best(x, np.ones(1), set()) is None
    assert structure.argmax(x, np.ones(1)) == frozenset()
    assert structure.encode([x], [set()]).relaxation().project(np.zeros(0), error=1e-3).error == 0
