"""Cuts beyond the contract of every structure: weights >= 0, rounding, inputs, mistakes."""

import itertools

import networkx as nx
import numpy as np
import pytest
from enumeration import optimum, solve

import structopt as so
from structopt.errors import IncompatibleError, InvalidInputError
from structopt.methods import registry
from structopt.structures.base.oracles import loss_augmented, slack_rescaled, worst
from structopt.structures.cut.search import CutSearch


@pytest.mark.parametrize("digits", [15, 1, 0])  # of the scores: fewer make ties
def test_the_best_other_than_the_best_by_brute_force(digits):
    rng = np.random.default_rng(digits)
    for _ in range(400):
        n = int(rng.integers(2, 7))
        pairs = [pair for pair in itertools.combinations(range(n), 2) if rng.random() < 0.6]
        edges = np.array(pairs, dtype=np.int64).reshape(-1, 2)
        scores = np.round(2 * rng.normal(size=n), digits) / 2
        costs = np.round(2 * rng.exponential(0.4, size=len(edges)), digits) / 2
        outputs = np.array(list(itertools.product([0, 1], repeat=n)))
        cut = outputs[:, edges[:, 0]] != outputs[:, edges[:, 1]]
        values = outputs @ scores - cut @ costs
        first, second = np.sort(values)[:-3:-1]
        search = CutSearch(n, edges)
        best, short = search.best(scores, costs)
        other, shorter = search.best_other(scores, costs, best)
        assert not np.array_equal(other, best)
        for labels, truth, excess in ((best, first, short), (other, second, shorter)):
            found = values[np.all(outputs == labels, axis=1)][0]
            assert truth - 1e-12 <= found + excess
            assert excess <= 1e-8


def test_rounding_is_bounded_and_small():
    rng = np.random.default_rng(0)
    side = 20
    grid = nx.convert_node_labels_to_integers(nx.grid_2d_graph(side, side))
    x = (np.array(grid.edges), 1e4 * rng.normal(size=(side * side, 1)), None)
    structure = so.GraphCut().fitted([x], [[0] * side * side])
    shard = structure.encode([x], [[0] * side * side])
    answers = shard.ask(loss_augmented, np.array([1.0, 3e3]))
    reference = so.GraphCut(decoder="networkx").fitted([x], [[0] * side * side])
    truth = reference.encode([x], [[0] * side * side]).ask(loss_augmented, np.array([1.0, 3e3]))
    beaten = (truth.loss - truth.score) - (answers.loss - answers.score)
    assert beaten[0] <= answers.excess[0] + 1e-9
    assert 0 <= answers.excess[0] <= 1e-9 * np.abs(x[1]).sum()


def small_graphs(rng, *, n=4, odd=False):
    edges = [(0, 1), (1, 2), (2, 3)] + ([(0, 2)] if odd else [(0, 3)])
    X = [
        (edges, np.round(rng.normal(size=(4, 2)), 2), np.round(rng.uniform(size=(4, 1)), 2))
        for _ in range(n)
    ]
    Y = [list(rng.integers(2, size=4)) for _ in range(n)]
    outputs = [list(y) for y in itertools.product([0, 1], repeat=4)]
    return X, Y, so.GraphCut().fitted(X, Y), [outputs] * n


@pytest.mark.parametrize("backend", ["auto", "clarabel", "osqp", "ascent", "cvxpy"])
def test_edge_weights_stay_nonnegative_where_they_would_not(backend):
    # neighbours differ in every example: without the bound the edge weight is negative
    rng = np.random.default_rng(0)
    X = [([(0, 1), (1, 2)], rng.normal(size=(3, 1))) for _ in range(6)]
    Y = [[0, 1, 0], [1, 0, 1]] * 3
    structure = so.GraphCut().fitted(X, Y)
    outputs = [list(y) for y in itertools.product([0, 1], repeat=3)]
    problem = (X, Y, structure, [outputs] * 6)
    free, kept = (
        optimum("m3n", 1.0, problem),
        optimum("m3n", 1.0, problem, extra=lambda w: [w[1] >= 0]),
    )
    assert free < kept - 1e-3
    result = solve(structure, so.M3N(1.0), X, Y, tol=1e-4, backend=backend)
    assert result.weights[1] >= 0
    assert result.certificate.certified
    assert result.certificate.primal == pytest.approx(kept, rel=2e-4)


def test_l1_and_relative_margins_train_where_they_can():
    X, Y, structure, _ = small_graphs(np.random.default_rng(5))
    for formulation in (so.L1M3N(1.0), so.StructRMM(1.0, B=4.0)):
        assert solve(structure, formulation, X, Y, tol=1e-3).certificate.certified
    X, Y, structure, _ = small_graphs(np.random.default_rng(5), odd=True)
    assert "argmin" not in structure.abilities()
    with pytest.raises(IncompatibleError, match="maximum cut"):
        solve(structure, so.StructRMM(1.0, B=4.0), X, Y)
    with pytest.raises(IncompatibleError, match="Example 3 has a cycle of odd length"):
        structure.encode(X, Y, start=3).ask(worst, np.zeros(3))


def test_graphs_and_outputs_come_in_several_forms(tmp_path):
    graph = nx.Graph([("a", "b"), ("b", "c")])
    nx.set_node_attributes(graph, {"a": [2.0], "b": [-0.5], "c": [1.0]}, "features")
    rows = np.array([[2.0], [-0.5], [1.0]])
    same = [graph, (graph, rows), ([(0, 1), (1, 2)], rows), (np.array([[0, 1], [1, 2]]), rows)]
    Y = [{"a": "on", "b": "on", "c": "off"}, ["on", "on", "off"], np.array(["on", "on", "off"])]
    structure = so.GraphCut(labels=("off", "on")).fitted([graph], Y[:1])
    for x in same:
        assert structure.argmax(x, np.array([1.0, 1.0])) == ["on", "on", "on"]
    assert {tuple(structure.encode([graph], [y]).gold) for y in Y} == {(1, 1, 0)}
    model = so.StructuredClassifier(so.GraphCut(labels=("off", "on")), so.M3N(10.0))
    model.fit([same[2]] * 3, [Y[1]] * 3)
    model.save(tmp_path / "model.npz")
    assert so.load_model(tmp_path / "model.npz").predict(same) == model.predict(same)


@pytest.mark.parametrize(
    ("x", "y", "message"),
    [
        (([(0, 1)], [[np.nan], [0.0]]), [0, 1], "nan"),
        (([(0, 1)], np.zeros((2, 2))), [0, 1], "2 columns; expected 1"),
        (([(0, 2)], np.zeros((2, 1))), [0, 1], "number nodes from 0"),
        (([(1, 1)], np.zeros((2, 1))), [0, 1], "to itself"),
        (([(0, 1)], np.zeros((2, 1)), [[-1.0]]), [0, 1], "must be >= 0"),
        (([(0, 1)], np.zeros((2, 1)), np.ones((2, 1))), [0, 1], "1 edges but 2 rows"),
        (([(0, 1)], np.zeros((2, 1))), [0], "1 labels; its graph has 2"),
        (([(0, 1)], np.zeros((2, 1))), [0, 7], "7"),
        (([], np.zeros((0, 1))), [], "no nodes"),
        (3, [0], "give .edges, node_features"),
        (nx.path_graph(2), [0, 1], "attribute features"),
    ],
)
def test_bad_inputs_are_named(x, y, message):
    good = ([(0, 1)], np.zeros((2, 1)))
    structure = so.GraphCut().fitted([good], [[0, 1]])
    with pytest.raises(InvalidInputError, match=message) as caught:
        structure.encode([good, x], [[0, 1], y], start=6)
    assert caught.value.example == 7


def test_what_cannot_be_answered_is_refused():
    X, Y, structure, _ = small_graphs(np.random.default_rng(0))
    with pytest.raises(IncompatibleError, match="slack_rescaled"):
        solve(structure, so.StructSVM(1.0, rescale="slack"), X, Y)
    with pytest.raises(IncompatibleError, match="does not know"):
        structure.encode(X, Y).ask(slack_rescaled, np.zeros(3))
    with pytest.raises(InvalidInputError, match="edge weight is -1"):
        structure.predict(X, np.array([0.0, 0.0, -1.0]))
    for bad in ({"labels": (0, 1, 2)}, {"decoder": "magic"}):
        with pytest.raises(InvalidInputError, match=next(iter(bad))):
            so.GraphCut(**bad).fitted(X, Y)


def contrary(rng, n=6):
    """Return examples whose neighbours always differ: free edge weights would be negative."""
    X = [([(0, 1), (1, 2)], rng.normal(size=(3, 1))) for _ in range(n)]
    return X, [[0, 1, 0], [1, 0, 1]] * (n // 2)


@pytest.mark.parametrize("method", ["perceptron", "mira"])
@pytest.mark.parametrize("average", [True, False])
def test_online_methods_keep_edge_weights_nonnegative(method, average):
    X, Y = contrary(np.random.default_rng(0))
    structure = so.GraphCut().fitted(X, Y)
    run = registry.make(method)(
        structure, so.M3N(), so.DataSet.of(structure, X, Y), max_iter=4, average=average
    )
    models = []
    for _ in range(4):
        run.step()
        models.append(run.model())
        assert run.current[1] >= 0
        assert models[-1][1] >= 0


def test_the_average_of_projected_weights_is_their_average():
    X, Y = contrary(np.random.default_rng(1))
    structure = so.GraphCut().fitted(X, Y)
    run = so.Perceptron(structure, so.M3N(), so.DataSet.of(structure, X, Y), max_iter=5)
    seen, learn = [], run._learn

    def watch(*args):
        mistake = learn(*args)
        seen.append(run.current.copy())
        return mistake

    run._learn = watch
    for _ in range(5):
        run.step()
    np.testing.assert_allclose(run.model(), np.mean(seen, axis=0), atol=1e-12)


@pytest.mark.parametrize(("method", "formulation"), [("frank-wolfe", so.M3N()), ("em", so.L1M3N())])
def test_methods_that_learn_free_weights_refuse(method, formulation):
    X, Y = contrary(np.random.default_rng(0))
    model = so.StructuredClassifier(so.GraphCut(), formulation, method=method)
    with pytest.raises(IncompatibleError, match=r"Cut keeps some.* >= 0"):
        model.fit(X, Y)


def test_the_certificate_says_what_rounding_costs():
    # sevenths do not round evenly; one integer round leaves an excess behind
    rng = np.random.default_rng(0)
    X = [([(0, 1), (1, 2), (0, 2)], rng.normal(size=(3, 2)) / 7) for _ in range(8)]
    Y = [list(rng.integers(2, size=3)) for _ in X]
    structure = so.GraphCut().fitted(X, Y)
    exact = solve(structure, so.M3N(1.0), X, Y, tol=1e-4)
    data = so.DataSet.of(structure, X, Y)
    shard = data.shards[0]
    ask = shard.ask

    def coarse(oracle, weights):
        answers = ask(oracle, weights)
        return so.Answers(answers.outputs, answers.loss, answers.score, excess=np.full(8, 1e-5))

    shard.ask = coarse
    result = so.CuttingPlane(structure, so.M3N(1.0), data, tol=1e-3).solve()
    assert result.certificate.certified
    assert "8e-05 of the primal" in result.certificate.note
    assert result.certificate.primal >= exact.certificate.dual


def test_parallel_passes_and_generated_scenes_agree():
    X, Y = so.datasets.make_grids(4, side=6, n_features=4, seed=3)
    runs = [
        so.StructuredClassifier(so.GraphCut(), so.M3N(0.1), tol=1e-4, n_jobs=jobs).fit(X, Y)
        for jobs in (1, 2)
    ]
    primal, other = (run.result_.certificate.primal for run in runs)
    assert primal == pytest.approx(other, rel=2e-4)
    assert runs[0].score(X, Y) > 0.8
    again = so.datasets.make_grids(2, side=6, n_features=4, seed=3)
    np.testing.assert_array_equal(again[0][1][1], X[1][1])
    with pytest.raises(InvalidInputError, match="side >= 2"):
        so.datasets.make_grids(side=1)
