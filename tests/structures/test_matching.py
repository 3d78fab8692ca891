"""Matchings: every oracle against brute force, the formulations against the full problem."""

import itertools

import networkx as nx
import numpy as np
import pytest
from enumeration import FORMULATIONS, optimum, solve
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

import structopt as so
from structopt.errors import IncompatibleError, InvalidInputError
from structopt.structures.base.oracles import best_other, loss_augmented, slack_rescaled, worst
from structopt.structures.matching.inputs import read_pair


def matchings(edges, left, right):
    """Return every subset of edges that keeps the limits."""
    found = []
    for keep in itertools.product([False, True], repeat=len(edges)):
        mask = np.array(keep, dtype=bool)
        chosen = np.asarray(edges).reshape(-1, 2)[mask]
        if np.all(np.bincount(chosen[:, 0], minlength=len(left)) <= left) and np.all(
            np.bincount(chosen[:, 1], minlength=len(right)) <= right
        ):
            found.append(frozenset((int(i), int(j)) for i, j in chosen))
    return found


@st.composite
def pairs(draw):
    """A small pair with ties (scores are few integers), limits 0 to 3 and missing edges."""
    n1, n2 = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    every = list(itertools.product(range(n1), range(n2)))
    edges = draw(st.lists(st.sampled_from(every), unique=True, min_size=1, max_size=9))
    limit = st.just(1) if draw(st.booleans()) else st.integers(0, 3)
    fertility = tuple(draw(st.lists(limit, min_size=n, max_size=n)) for n in (n1, n2))
    value = st.integers(-2, 3).map(float)
    features = draw(
        st.lists(st.lists(value, min_size=2, max_size=2), min_size=len(edges), max_size=len(edges))
    )
    x = so.CandidateEdges(edges, features, (n1, n2), fertility)
    outputs = matchings(edges, *(np.array(f) for f in fertility))
    return x, outputs, draw(st.sampled_from(outputs))


weights_ = st.lists(st.sampled_from([-1.0, 0.0, 0.5, 1.0]), min_size=2, max_size=2).map(np.array)


@given(problem=pairs(), weights=weights_)
@hypothesis_settings(max_examples=200, deadline=None)
def test_oracles_equal_brute_force(problem, weights):
    check_oracles(problem, weights, "compiled")


@given(problem=pairs(), weights=weights_)
@hypothesis_settings(max_examples=25, deadline=None)
def test_the_reference_equals_brute_force(problem, weights):
    check_oracles(problem, weights, "networkx")


def check_oracles(problem, weights, decoder):
    x, outputs, gold = problem
    structure = so.Matching(so.losses.PartCosts(1.5, 0.5), decoder=decoder).fitted([x], [gold])
    row = {y: structure.joint_features(x, y) for y in outputs}
    truth = so.Enumerated(outputs, lambda _, y: row[y], structure.loss).fitted([x], [gold])

    def score(y):
        return float((row[y] @ weights)[0])

    def augmented(y):
        return score(y) + structure.loss(gold, y)

    found = structure.argmax(x, weights)
    assert found in outputs
    assert score(found) == pytest.approx(score(truth.argmax(x, weights)))
    hard = structure.argmax(x, weights, gold=gold)
    assert augmented(hard) == pytest.approx(augmented(truth.argmax(x, weights, gold=gold)))
    assert score(structure.argmin(x, weights)) == pytest.approx(score(truth.argmin(x, weights)))
    other, best = structure.second_best(x, weights, gold), truth.second_best(x, weights, gold)
    assert (other is None) == (best is None)
    if other is not None:
        assert other != gold
        assert other in outputs
        assert score(other) == pytest.approx(score(best))
    ranked = structure.k_best(x, weights, 6)
    assert len(set(ranked)) == len(ranked)
    np.testing.assert_allclose(
        [score(y) for y in ranked], [score(y) for y in truth.k_best(x, weights, 6)]
    )


@given(problems=st.lists(pairs(), min_size=1, max_size=3), weights=weights_)
@hypothesis_settings(max_examples=40, deadline=None)
def test_shards_agree_with_single_examples(problems, weights):
    X, Y = [x for x, _, _ in problems], [gold for _, _, gold in problems]
    structure = so.Matching(so.losses.PartCosts(2.0, 1.0)).fitted(X, Y)
    shard = structure.encode(X, Y)
    for oracle in (loss_augmented, best_other, worst):
        answers = shard.ask(oracle, weights)
        present = np.flatnonzero(np.isfinite(answers.score))
        rows = shard.directions(answers.outputs, present).tocsr(shard.base, 2).toarray()
        np.testing.assert_allclose(rows @ weights, answers.score[present])
        for row, i in zip(rows, present, strict=True):
            pair = read_pair(X[i], (1, 1), 2)
            a, b = shard.offsets[i], shard.offsets[i + 1]
            y = pair.named(answers.outputs[a:b])
            delta = structure.joint_features(X[i], Y[i]) - structure.joint_features(X[i], y)
            np.testing.assert_allclose(delta.toarray()[0], row)
            assert answers.loss[i] == pytest.approx(structure.loss(Y[i], y))
            alone = shard.single(int(i)).ask(oracle, weights)
            assert alone.score[0] == pytest.approx(answers.score[i])
            mine = shard.single(int(i)).directions(alone.outputs, np.array([0]))
            np.testing.assert_allclose(mine.tocsr(shard.base, 2).toarray()[0], row)


@given(problems=st.lists(pairs(), min_size=1, max_size=3), weights=weights_)
@hypothesis_settings(max_examples=40, deadline=None)
def test_the_relaxation_is_the_same_problem(problems, weights):
    X, Y = [x for x, _, _ in problems], [gold for _, _, gold in problems]
    structure = so.Matching(so.losses.PartCosts(2.0, 1.0)).fitted(X, Y)
    shard = structure.encode(X, Y)
    relaxed = shard.relaxation()
    total = sum(structure.joint_features(x, y) for x, y in zip(X, Y, strict=True))
    np.testing.assert_allclose(relaxed.features(relaxed.gold), total.toarray()[0])
    at_gold = np.bincount(relaxed.owner, relaxed.loss * relaxed.gold, minlength=len(X))
    np.testing.assert_allclose(relaxed.loss_constant + at_gold, 0.0)
    z = shard.ask(loss_augmented, weights).outputs.astype(float)
    answers = shard.ask(loss_augmented, weights)
    own = np.bincount(relaxed.owner, relaxed.loss * z, minlength=len(X))
    np.testing.assert_allclose(relaxed.loss_constant + own, answers.loss)
    apart = relaxed.scores(weights) * (relaxed.gold - z)
    np.testing.assert_allclose(
        np.bincount(relaxed.owner, apart, minlength=len(X)), answers.score, atol=1e-12
    )
    rows = relaxed.polytope()
    assert not rows.equality.any()
    for point in (relaxed.gold, z, relaxed.project(3 * z - 0.3, error=1e-9).point):
        assert np.all(rows.A @ point <= rows.b + 1e-12)
        assert np.all(point >= 0)


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


def test_l1_and_relative_margins_train_too():
    X, Y, _, _ = small_pairs(np.random.default_rng(5))
    for formulation in (so.L1M3N(1.0), so.StructRMM(1.0, B=4.0)):
        model = so.StructuredClassifier(so.Matching(), formulation, tol=1e-3).fit(X, Y)
        assert model.result_.certificate.certified


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
