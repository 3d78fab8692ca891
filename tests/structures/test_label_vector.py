"""Vectors of labels with a legal set, against brute force."""

import itertools

import numpy as np
import pytest
from enumeration import constraints, solve
from hypothesis import given, settings
from hypothesis import strategies as st

import structopt as so


@st.composite
def problems(draw):
    """One example, a legal set (or none), and weights from a coarse grid, so that ties occur."""
    c, n_labels, d = draw(st.integers(1, 3)), draw(st.integers(2, 3)), draw(st.integers(1, 2))
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    every = list(itertools.product(range(n_labels), repeat=c))
    legal = None
    if draw(st.booleans()):
        chosen = rng.choice(len(every), rng.integers(1, len(every) + 1), replace=False)
        legal = [every[k] for k in sorted(chosen)]
    gold = (legal or every)[rng.integers(len(legal or every))]
    x = rng.integers(-1, 2, size=(c, d)).astype(float)
    structure = so.LabelVector(legal, labels=range(n_labels)).fitted([x], [gold])
    weights = rng.integers(-2, 3, size=structure.n_features_).astype(float)
    brute = so.Enumerated(legal or every, structure.joint_features, structure.loss)
    return structure, brute, x, gold, weights


@given(problems())
@settings(max_examples=200, deadline=None)
def test_every_oracle_equals_brute_force(problem):
    structure, brute, x, gold, weights = problem
    assert brute.score(x, structure.argmax(x, weights), weights) == brute.score(
        x, brute.argmax(x, weights), weights
    )
    assert brute.score(x, structure.argmin(x, weights), weights) == brute.score(
        x, brute.argmin(x, weights), weights
    )
    mine, truth = (s.argmax(x, weights, gold=gold) for s in (structure, brute))
    assert brute.score(x, mine, weights) + brute.loss(gold, mine) == brute.score(
        x, truth, weights
    ) + brute.loss(gold, truth)
    mine, truth = (s.second_best(x, weights, gold) for s in (structure, brute))
    assert (mine is None) == (truth is None)
    if mine is not None:
        assert mine != gold
        assert mine in brute.outputs_of(x)
        assert brute.score(x, mine, weights) == brute.score(x, truth, weights)


@given(problems())
@settings(max_examples=100, deadline=None)
def test_scores_and_directions_are_those_of_the_features(problem):
    structure, _, x, gold, weights = problem
    shard = structure.encode([x, x], [gold, gold])
    for one, first in ((shard, 0), (shard.single(1), 1)):
        answers = one.ask(so.loss_augmented, weights)
        deltas = one.directions(answers.outputs, np.arange(one.n_examples))
        rows = deltas.tocsr(one.base, structure.n_features_).toarray()
        np.testing.assert_allclose(rows @ weights, answers.score)
        y = tuple(structure.labels_.decode(answers.outputs[0]))
        expected = structure.joint_features(x, gold) - structure.joint_features(x, y)
        np.testing.assert_allclose(rows[0], expected.toarray().ravel())
        assert answers.loss[0] == structure.loss(gold, y), first


def test_training_reaches_the_enumerated_optimum():
    data = so.datasets.make_constrained_labels(8, n_components=3, n_inputs=2, kappa=0.5, seed=3)
    structure = so.LabelVector(data.legal, labels=(0, 1)).fitted(data.X, data.Y)
    import cvxpy as cp

    w, xi = cp.Variable(structure.n_features_), cp.Variable(len(data.Y), nonneg=True)
    rows = constraints(data.X, data.Y, structure, [data.legal] * len(data.Y))
    left = [delta @ w >= loss - xi[i] for i, delta, loss in rows]
    full = cp.Problem(cp.Minimize(cp.sum_squares(w) / 2 + cp.sum(xi)), left)
    full.solve(solver=cp.CLARABEL)
    result = solve(structure, so.M3N(1.0), data.X, data.Y, tol=1e-5)
    assert result.certificate.certified
    assert result.certificate.primal == pytest.approx(full.value, rel=2e-5)


@pytest.mark.parametrize(
    ("X", "Y", "legal", "message"),
    [
        (np.zeros((2, 2)), [(0, 1), (1, 1)], None, r"shape \(2,\): give \(components, inputs\)"),
        (np.zeros((1, 2, 1)), [(0, 1, 1)], None, "3 labels for 2 components"),
        (np.full((1, 2, 1), np.nan), [(0, 1)], None, "example 0 holds a number that is not finite"),
        (np.zeros((1, 2, 1)), [(0, 1)], [(0, 0), (1, 1)], "not among the 2 legal ones"),
        (np.zeros((1, 2, 1)), [(0, 1)], [], "legal is empty"),
        ([np.zeros((2, 1)), np.zeros((2, 2))], [(0, 1), (0, 1)], None, r"example 1 has shape"),
    ],
)
def test_bad_input_is_named(X, Y, legal, message):
    with pytest.raises(so.errors.InvalidInputError, match=message):
        so.StructuredClassifier(so.LabelVector(legal), so.M3N()).fit(X, Y)


def test_a_model_file_keeps_the_legal_set(tmp_path):
    data = so.datasets.make_constrained_labels(30, n_inputs=3, seed=0)
    model = so.StructuredClassifier(so.LabelVector(data.legal), so.M3N()).fit(data.X, data.Y)
    model.save(tmp_path / "m.npz")
    again = so.load_model(tmp_path / "m.npz")
    assert again.predict(data.X) == model.predict(data.X)
    assert set(again.predict(data.X)) <= set(data.legal)
