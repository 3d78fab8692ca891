"""Multiclass against brute force: every oracle, one row at a time and as a whole shard."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import structopt as so
from structopt.errors import IncompatibleError, InvalidInputError

MANY = settings(max_examples=200, deadline=None, derandomize=True)
ORACLES = (so.loss_augmented, so.oracles.best_other, so.slack_rescaled)


def draw(seed, sparse, whole, weighted):
    """A fitted structure, data, weights and the same thing by enumeration."""
    rng = np.random.default_rng(seed)
    n_labels, n_inputs, n = rng.integers(2, 6), rng.integers(1, 4), rng.integers(1, 7)
    labels = [f"y{k}" for k in range(n_labels)]

    def number(*shape):
        return rng.integers(-2, 3, shape) * 1.0 if whole else rng.standard_normal(shape)

    X, weights = number(n, n_inputs), number(n_labels * n_inputs)
    Y = [labels[k] for k in rng.integers(0, n_labels, n)]
    class_weight = {y: float(rng.integers(1, 4)) for y in labels} if weighted else None
    structure = so.Multiclass(labels, so.losses.Hamming(class_weight)).fitted(X, Y)

    def features(x, y):
        out = np.zeros((n_labels, n_inputs))
        out[labels.index(y)] = np.ravel(x.toarray() if sp.issparse(x) else x)
        return out.ravel()

    cost = class_weight or dict.fromkeys(labels, 1.0)
    truth = so.Enumerated(labels, features, lambda y, other: cost[y] * (y != other)).fitted(X, Y)
    return structure, truth, sp.csr_matrix(X) if sparse else X, Y, weights


instances = given(st.integers(0, 2**32 - 1), st.booleans(), st.booleans(), st.booleans())


@MANY
@instances
def test_each_row_answers_as_brute_force(seed, sparse, whole, weighted):
    mine, truth, X, Y, w = draw(seed, sparse, whole, weighted)
    for i, gold in enumerate(Y):
        x = X[[i]] if sparse else X[i]
        # labels are listed in their order, so that ties fall alike
        assert mine.argmax(x, w) == truth.argmax(x, w)
        assert mine.argmax(x, w, gold=gold) == truth.argmax(x, w, gold=gold)
        assert mine.argmin(x, w) == truth.argmin(x, w)
        assert mine.second_best(x, w, gold) == truth.second_best(x, w, gold)
        assert mine.k_best(x, w, 3) == truth.k_best(x, w, 3)
        assert mine.slack_rescaled(x, w, gold) == truth.slack_rescaled(x, w, gold)
        for y in mine.labels_:
            assert mine.loss(gold, y) == truth.loss(gold, y)
            np.testing.assert_array_equal(
                mine.joint_features(x, y).toarray()[0], truth.joint_features(x, y)
            )
    assert mine.predict(X, w) == [truth.argmax(x, w) for x in (X.toarray() if sparse else X)]


@MANY
@instances
def test_shard_answers_as_brute_force(seed, sparse, whole, weighted):
    mine, truth, X, Y, w = draw(seed, sparse, whole, weighted)
    rows = list(X.toarray() if sparse else X)
    shard, every = mine.encode(X, Y), np.arange(len(Y))
    for oracle in ORACLES:
        answers, expected = shard.ask(oracle, w), truth.encode(rows, Y).ask(oracle, w)
        assert mine.labels_.decode(answers.outputs) == expected.outputs
        np.testing.assert_allclose(answers.loss, expected.loss)
        np.testing.assert_allclose(answers.score, expected.score, atol=1e-12)
        directions = shard.directions(answers.outputs, every)
        delta = directions.tocsr(shard.base, mine.n_features_).toarray()
        for i in every:
            y = expected.outputs[i]
            difference = truth.joint_features(rows[i], Y[i]) - truth.joint_features(rows[i], y)
            np.testing.assert_array_equal(delta[i], difference)
        np.testing.assert_allclose(directions.dot(shard.base, w), answers.score, atol=1e-12)


@MANY
@instances
def test_two_shards_answer_as_one(seed, sparse, whole, weighted):
    mine, _, X, Y, w = draw(seed, sparse, whole, weighted)
    cut = len(Y) // 2
    pieces = [(0, cut), (cut, len(Y))] if cut else [(0, len(Y))]
    shards = [mine.encode(X[a:b], Y[a:b], start=a) for a, b in pieces]
    one = so.DataSet([mine.encode(X, Y)], mine.n_features_)
    two = so.DataSet(shards, mine.n_features_, threads=True)
    which = np.arange(len(Y))[::2]
    for oracle in ORACLES:
        whole_answer, parts = one.ask(oracle, w), two.ask(oracle, w)
        for field in ("outputs", "loss", "score"):
            np.testing.assert_allclose(
                np.concatenate([getattr(a, field) for a in parts]),
                getattr(whole_answer[0], field),
                atol=1e-12,
            )
        np.testing.assert_array_equal(
            two.directions(parts, which).tocsr(two.base, mine.n_features_).toarray(),
            one.directions(whole_answer, which).tocsr(one.base, mine.n_features_).toarray(),
        )


def test_names_counts_and_kinds_of_input():
    X, Y = np.eye(3)[:2], np.array([7, 5])
    mine = so.Multiclass().fitted(X, Y)
    assert list(mine.labels_) == [5, 7]
    assert mine.n_features_ == len(mine.feature_names()) == 6
    assert mine.feature_names()[:4] == [("x0", "5"), ("x1", "5"), ("x2", "5"), ("x0", "7")]
    assert mine.feature_names(["a", "b", "c"])[1] == ("b", "5")
    assert mine.part_count(7) == 1
    w = np.array([0.0, 1, 0, 1, 0, 0])
    for same in (X, X.tolist(), list(X), sp.csr_array(X), [sp.csr_array(x[None]) for x in X]):
        assert mine.predict(same, w) == [7, 5]
        assert mine.encode(same, Y).n_examples == 2
    assert all(type(y) is int for y in mine.predict(X, w))


def test_a_declared_label_may_be_absent():
    mine = so.Multiclass(["b", "a", "never"]).fitted(np.eye(2), ["a", "b"])
    assert mine.n_features_ == 6
    assert mine.predict(np.eye(2), np.array([0.0, 0, 0, 0, 1, 1])) == ["never", "never"]
    balanced = so.Multiclass(["b", "a", "never"], so.losses.Hamming("balanced")).fitted(
        np.eye(3), ["a", "b", "a"]
    )
    assert balanced.class_weight_.tolist() == [1.0, 0.5, 1.0]


def test_bad_input_is_named():
    X, Y = np.eye(2), ["a", "b"]
    mine = so.Multiclass().fitted(X, Y)
    bad = np.array([[0.0, 1.0], [0.0, np.nan]])
    for call in (
        lambda: so.Multiclass().fitted(bad, Y),
        lambda: mine.encode(bad, Y),
        lambda: mine.predict(bad, np.zeros(4)),
        lambda: mine.predict(sp.csr_array(bad), np.zeros(4)),
    ):
        with pytest.raises(InvalidInputError, match="example 1 holds nan in column 1"):
            call()
    with pytest.raises(InvalidInputError, match="example 11 holds inf in column 0"):
        mine.encode(np.array([[0.0, 1.0], [np.inf, 0.0]]), Y, start=10)
    with pytest.raises(InvalidInputError, match=r"The only label is 'a'.*labels="):
        so.Multiclass().fitted(X, ["a", "a"])
    with pytest.raises(InvalidInputError, match="'c' of example 1 is not one of the 2"):
        mine.encode(X, ["a", "c"])
    with pytest.raises(InvalidInputError, match="2 inputs but 3 outputs"):
        so.Multiclass().fitted(sp.csr_array(X), ["a", "b", "a"])
    with pytest.raises(InvalidInputError, match=r"X has 1 dimension\(s\), shape \(2,\)"):
        so.Multiclass().fitted(np.ones(2), Y)
    with pytest.raises(InvalidInputError, match="X has 3 columns; expected 2"):
        mine.predict(np.ones((1, 3)), np.zeros(4))
    with pytest.raises(InvalidInputError, match="cannot be read as a matrix of real numbers"):
        so.Multiclass().fitted([["x", "y"], ["z", "u"]], Y)
    with pytest.raises(InvalidInputError, match="no columns"):
        so.Multiclass().fitted(np.ones((2, 0)), Y)
    with pytest.raises(InvalidInputError, match=r"weights has shape \(3,\); expected \(4,\)"):
        mine.predict(X, np.zeros(3))
    with pytest.raises(InvalidInputError, match="weights holds nan at 2"):
        mine.encode(X, Y).ask(so.loss_augmented, np.array([0, 0, np.nan, 0]))
    other = so.Oracle("odd", "argmax", "?", margin=abs, scale=abs)
    with pytest.raises(IncompatibleError, match="does not know the oracle 'odd'"):
        mine.encode(X, Y).ask(other, np.zeros(4))


@pytest.mark.parametrize("sparse", [False, True])
def test_the_relaxation_is_the_same_problem(sparse):
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(5, 3)), [0, 1, 2, 2, 0]
    inputs = sp.csr_array(X) if sparse else X
    structure = so.Multiclass(loss=so.losses.Hamming({2: 3.0})).fitted(inputs, Y)
    shard, weights = structure.encode(inputs, Y), rng.normal(size=9)
    relaxed = shard.relaxation()
    total = sum(structure.joint_features(x, y).toarray()[0] for x, y in zip(X, Y, strict=True))
    np.testing.assert_allclose(relaxed.features(relaxed.gold), total)
    answers = shard.ask(so.loss_augmented, weights)
    z = np.zeros((5, 3))
    z[np.arange(5), answers.outputs] = 1.0
    own = np.bincount(relaxed.owner, relaxed.loss * z.ravel())
    np.testing.assert_allclose(relaxed.loss_constant + own, answers.loss)
    apart = np.bincount(relaxed.owner, relaxed.scores(weights) * (relaxed.gold - z.ravel()))
    np.testing.assert_allclose(apart, answers.score)
    rows, found = relaxed.polytope(), relaxed.project(rng.normal(size=15), error=1e-9)
    assert rows.equality.all()
    np.testing.assert_allclose(rows.A @ found.point, rows.b)
    assert found.error <= 1e-12
