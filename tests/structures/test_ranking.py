"""Rankings: loss-augmented orders are those of enumeration, the optimum is that of a plain QP."""

from itertools import permutations

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score, ndcg_score, roc_auc_score

import structopt as so
from structopt.errors import IncompatibleError, InfeasibleError, InvalidInputError
from structopt.structures.base.given import agrees

LOSSES = {
    "pairs": so.losses.SwappedPairs(),
    "precision": so.losses.AveragePrecision(),
    "gain": so.losses.NDCG(),
    "gain at 2": so.losses.NDCG(k=2),
    "at 2": so.losses.PrecisionAt(2),
    "break-even": so.losses.PrecisionAt(None),
}


@st.composite
def lists(draw, grades):
    n = draw(st.integers(2, 5))
    number = st.integers(-8, 8) if draw(st.booleans()) else st.floats(-2, 2, width=32)
    scores = np.array(draw(st.lists(number, min_size=n, max_size=n)), dtype=float) / 4
    relevance = draw(st.lists(st.sampled_from(range(grades)), min_size=n, max_size=n))
    relevance[0], relevance[-1] = (0, 1) if draw(st.booleans()) else (1, 0)
    return scores, np.array(relevance, dtype=float)


def value(loss, scores, relevance, order):
    """The loss plus the score of an order, pair by pair."""
    pairs = [(i, j) for r, i in enumerate(order) for j in order[r + 1 :]]
    pairs = [(i, j) for i, j in pairs if relevance[i] != relevance[j]]
    score = sum(scores[i] - scores[j] for i, j in pairs) / (2 * len(pairs))
    return loss.of(relevance, np.array(order)) + score


@pytest.mark.parametrize("name", LOSSES)
@settings(max_examples=30, deadline=None)
@given(data=st.data())
def test_the_loss_augmented_order_is_that_of_enumeration(name, data):
    loss = LOSSES[name]
    scores, relevance = data.draw(lists(2 if name in ("precision", "at 2") else 4))
    best = max(value(loss, scores, relevance, y) for y in permutations(range(len(scores))))
    found = loss.order(scores, relevance).tolist()
    assert sorted(found) == list(range(len(scores)))
    assert value(loss, scores, relevance, found) == pytest.approx(best, abs=1e-9)
    # the shard's features are those of the pairs
    X = [scores[:, None]]
    structure = so.Ranking(loss).fitted(X, [relevance])
    row = structure.joint_features(X[0], so.Order(found, relevance))
    gold = structure.joint_features(X[0], relevance)
    answers = structure.encode(X, [relevance]).ask(so.loss_augmented, np.ones(1))
    assert answers.loss[0] - answers.score[0] == pytest.approx(best - float(gold.sum()), abs=1e-9)
    assert value(loss, scores, relevance, found) - structure.loss(relevance, found) == (
        pytest.approx(float(row.sum()), abs=1e-9)
    )


@settings(max_examples=30, deadline=None)
@given(lists(4))
def test_the_best_other_order(drawn):
    scores, relevance = drawn
    structure = so.Ranking().fitted([scores[:, None]], [relevance])
    found = structure.second_best(scores[:, None], np.ones(1), relevance)
    zero = so.losses.SwappedPairs()
    every = [y for y in permutations(range(len(scores))) if zero.of(relevance, np.array(y)) > 0]

    def score(y):
        return value(zero, scores, relevance, y) - zero.of(relevance, np.array(y))

    assert zero.of(relevance, np.array(found)) > 0
    assert score(list(found)) == pytest.approx(max(map(score, every)), abs=1e-9)


def test_losses_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    for _ in range(20):
        n = int(rng.integers(3, 30))
        scores, relevance = rng.normal(size=n), rng.integers(0, 2, n).astype(float)
        relevance[:2] = 0, 1
        order = np.argsort(-scores)
        of = {name: 1 - loss.of(relevance, order) for name, loss in LOSSES.items()}
        assert of["pairs"] == pytest.approx(roc_auc_score(relevance, scores))
        assert of["precision"] == pytest.approx(average_precision_score(relevance, scores))
        graded = rng.integers(0, 4, n).astype(float)
        graded[0] = 3
        for k in (None, 5):
            truth = ndcg_score([2**graded - 1], [scores], k=k)
            assert 1 - so.losses.NDCG(k).of(graded, order) == pytest.approx(truth)


def test_swapped_pairs_are_the_ranking_svm():
    rng = np.random.default_rng(1)
    X = [rng.normal(size=(n, 3)) for n in (4, 6, 5)]
    Y = [(rng.random(len(x)) < 0.5).astype(int) for x in X]
    for y in Y:
        y[:2] = 0, 1
    model = so.StructuredClassifier(so.Ranking(), so.M3N(C=2.0), tol=1e-7).fit(X, Y)
    w = cp.Variable(3)
    hinges = []
    for x, y in zip(X, Y, strict=True):
        rows = np.array([x[i] - x[j] for i in np.flatnonzero(y) for j in np.flatnonzero(y == 0)])
        hinges.append(cp.sum(cp.pos(1 - rows @ w)) / len(rows))
    optimum = cp.Problem(cp.Minimize(cp.sum_squares(w) / 4 + sum(hinges))).solve(cp.CLARABEL)
    assert model.result_.certificate.primal == pytest.approx(optimum, rel=1e-6)


FORMULATIONS = [
    so.LPStruct(C=1e3, nonnegative=False),
    so.StructSVM(C=1e3, rescale="margin"),
    so.L1M3N(C=1e3),
]


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_formulations_that_need_what_rankings_offer(formulation):
    X, Y = so.datasets.make_rankings(8, n_items=6, n_features=3, seed=0)
    model = so.StructuredClassifier(so.Ranking(so.losses.NDCG()), formulation, tol=1e-3)
    assert model.fit(X, Y).result_.certificate.certified
    assert model.score(X, Y) > 0.6


@settings(max_examples=40, deadline=None)
@given(lists(5), st.integers(1, 130))
def test_the_k_best_orders_at_prediction_are_those_of_all_permutations(drawn, k):
    scores, relevance = drawn
    structure = so.Ranking().fitted([scores[:, None]], [relevance])
    found = structure.k_best(scores[:, None], np.ones(1), k)

    def score(y):
        return float(structure.joint_features(scores[:, None], so.Order(y)).sum())

    every = sorted(map(score, permutations(range(len(scores)))), reverse=True)
    assert len({tuple(y) for y in found}) == len(found)
    np.testing.assert_allclose([score(y) for y in found], every[:k], atol=1e-12)
    assert found[0] == structure.argmax(scores[:, None], np.ones(1))


def test_an_audit_lists_orders_and_says_what_it_leaves_out():
    X, Y = so.datasets.make_rankings(3, n_items=4, n_features=3, seed=0)
    model = so.StructuredClassifier(so.Ranking(), so.M3N(1.0), tol=1e-3).fit(X, Y)
    found = so.audit(model, X, Y)
    assert found.agrees
    assert "features depend on gold" in str(found)


def test_references_and_slack_rescaling_are_refused():
    X, Y = so.datasets.make_rankings(3, n_items=4, n_features=3, seed=0)
    with pytest.raises(IncompatibleError, match="depend on gold"):
        so.References(so.Ranking()).fitted(X, [[y] for y in Y])
    with pytest.raises(IncompatibleError, match="slack_rescaled"):
        so.StructuredClassifier(so.Ranking(), so.StructSVM(rescale="slack")).fit(X, Y)


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_items_given_at_some_ranks(data):
    n = data.draw(st.integers(1, 5))
    scores = np.array(data.draw(st.lists(st.integers(-3, 3), min_size=n, max_size=n)), dtype=float)
    entry = st.sampled_from([None, *range(n), {0, n - 1}, so.Not(0)] if n > 1 else [None, 0])
    told = data.draw(st.lists(entry, min_size=n, max_size=n))
    structure = so.Ranking()
    structure.n_features_ = 1

    def fits(y):
        return all(agrees(entry, item) for entry, item in zip(told, y, strict=True))

    def score(y):
        return sum(scores[i] - scores[j] for r, i in enumerate(y) for j in y[r + 1 :])

    right = [y for y in permutations(range(n)) if fits(y)]
    if not right:
        with pytest.raises(InfeasibleError, match="No output of example 0"):
            structure.predict([scores[:, None]], np.ones(1), given=[told])
        return
    (found,) = structure.predict([scores[:, None]], np.ones(1), given=[told])
    assert fits(found)
    assert score(found) == max(map(score, right))


def test_orders_are_equal_where_the_pairs_that_count_are():
    assert so.Order([0, 1, 2], [1, 1, 0]) == so.Order([1, 0, 2], [1, 1, 0])
    assert so.Order([0, 2, 1], [1, 1, 0]) != so.Order([1, 2, 0], [1, 1, 0])
    assert so.Order([0, 1]) == [0, 1] != so.Order([1, 0])


@pytest.mark.parametrize(
    ("loss", "y", "message"),
    [
        (None, [1, 1, 1], "All 3 items of example 1 have the relevance 1: there is no pair"),
        (None, [1, 0], "output of example 1 is .*: give 3 finite numbers"),
        (None, [1, 0, np.nan], "give 3 finite numbers"),
        (None, "abc", "give 3 finite numbers"),
        (None, so.Order([0, 1, 2]), "order without relevance"),
        (so.losses.AveragePrecision(), [2, 0, 1], "of example 1 needs relevances 0 and 1; got 2"),
        (so.losses.NDCG(), [5000, 0, 1], "of finite gain; got 0 to 5000"),
        (so.losses.NDCG(), [-1, 0, 1], "needs relevances >= 0 of example 1"),
    ],
)
def test_bad_relevances_are_refused(loss, y, message):
    X = [np.eye(3), np.eye(3)]
    structure = so.Ranking(loss).fitted(X, [[1, 0, 0], [1, 0, 0]])
    with pytest.raises(InvalidInputError, match=message) as raised:
        structure.encode(X, [[1, 0, 0], y])
    assert raised.value.example == 1


def test_bad_losses_and_orders_are_refused():
    X, Y = [np.eye(3)], [[1, 0, 0]]
    with pytest.raises(InvalidInputError, match="no loss of rankings"):
        so.Ranking(so.losses.Hamming()).fitted(X, Y)
    with pytest.raises(InvalidInputError, match="k must be an integer >= 1"):
        so.Ranking(so.losses.PrecisionAt(0)).fitted(X, Y).encode(X, Y)
    with pytest.raises(InvalidInputError, match="give the numbers 0 to 2"):
        so.Ranking().fitted(X, Y).loss(Y[0], [0, 0, 1])
    with pytest.raises(InvalidInputError, match="Example 1 is empty"):
        so.Ranking().fitted(X, Y).predict([np.eye(3), np.zeros((0, 3))], np.ones(3))


class Top:
    """A loss of one's own: whether the best place is wrong."""

    def of(self, relevance, order):
        return float(relevance[order[0]] < relevance.max())

    def order(self, scores, relevance):
        every = permutations(range(len(scores)))
        return np.array(max(every, key=lambda y: value(self, scores, relevance, y)))


def test_a_loss_of_ones_own():
    X, Y = so.datasets.make_rankings(6, n_items=4, n_features=3, grades=2, seed=0)
    model = so.StructuredClassifier(so.Ranking(Top()), so.M3N(), tol=1e-3).fit(X, Y)
    assert model.result_.certificate.certified


def test_an_audit_compares_orders_by_the_pairs_of_gold():
    X, Y = so.datasets.make_rankings(5, n_items=5, n_features=3, seed=0)
    model = so.StructuredClassifier(so.Ranking(so.losses.NDCG()), so.M3N(), tol=1e-4).fit(X, Y)
    assert so.audit(model, X, Y).agrees

    class Twice(so.Ranking):
        def loss(self, y, other):
            return 2.0 * super().loss(y, other)

        def argmax(self, x, weights, *, gold=None):
            found = super().argmax(x, weights / 2 if gold is not None else weights, gold=gold)
            return list(found)

    double = so.StructuredClassifier(Twice(so.losses.NDCG()), so.M3N(), tol=1e-4).fit(X, Y)
    half = so.StructuredClassifier(so.Ranking(so.losses.NDCG()), so.M3N(C=4.0), tol=1e-4)
    assert double.result_.certificate.certified
    assert half.fit(X, Y).result_.certificate.certified


def test_other_relevances_are_other_data():
    """Also where gold is the same order."""
    X, structure = [np.eye(3)], so.Ranking(loss=so.losses.NDCG()).fitted([np.eye(3)], [[2, 1, 0]])
    named = {so.DataSet.of(structure, X, [y]).fingerprint("") for y in ([2, 1, 0], [3, 1, 0])}
    assert len(named) == 2
