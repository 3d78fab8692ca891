"""Sets of items and of labels: contingency tables against enumeration, what F1 buys, bad input."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import f1_score

import structopt as so
from structopt.errors import InfeasibleError, InvalidInputError
from structopt.structures.subset import tables

LOSSES = {
    "error": so.losses.ErrorRate(),
    "F1": so.losses.FScore(),
    "F2": so.losses.FScore(beta=2.0),
    "precision": so.losses.Precision(),
    "recall": so.losses.Recall(),
}


@st.composite
def batches(draw):
    n = draw(st.integers(1, 6))
    number = st.integers(-4, 4) if draw(st.booleans()) else st.floats(-2, 2, width=32)
    scores = np.array(draw(st.lists(number, min_size=n, max_size=n)), dtype=float)
    gold = np.array(draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    size = draw(st.one_of(st.none(), st.integers(1, n)))
    return scores, gold, size


@pytest.mark.parametrize("name", LOSSES)
@settings(max_examples=30, deadline=None)
@given(drawn=batches())
def test_tables_are_enumeration(name, drawn):
    scores, gold, size = drawn
    loss = LOSSES[name].table(int(gold.sum()), int((~gold).sum()))
    every = [np.array(y) for y in product((False, True), repeat=len(scores))]
    every = [y for y in every if size is None or y.sum() == size]

    def paid(y):
        return loss[(gold & y).sum(), (~gold & y).sum()]

    def margin(y):
        return paid(y) + scores[y].sum()

    def slack(y):
        return paid(y) * (1 - (scores[gold].sum() - scores[y].sum()))

    assert margin(tables.augmented(scores, gold, loss, size)) == pytest.approx(
        max(map(margin, every)), abs=1e-9
    )
    assert slack(tables.rescaled(scores, gold, loss, size)) == pytest.approx(
        max(map(slack, every)), abs=1e-9
    )
    ranked = sorted((scores[y].sum() for y in every), reverse=True)
    found = tables.best_sets(scores, size, 8)
    assert [scores[y].sum() for y in found] == pytest.approx(ranked[:8], abs=1e-9)
    assert len({tuple(y) for y in found}) == len(found)


def test_losses_are_those_of_scikit_learn():
    rng = np.random.default_rng(0)
    structure = so.Subset(so.losses.FScore())
    for _ in range(20):
        gold, y = rng.integers(0, 2, (2, 9))
        gold[0] = 1
        assert 1 - structure.loss(gold, y) == pytest.approx(f1_score(gold, y, zero_division=0))


def test_tables_are_those_of_the_definitions():
    """Empty sets and empty gold among them."""
    for gold in product((False, True), repeat=3):
        for y in product((False, True), repeat=3):
            hit, said, there = (int(np.sum(v)) for v in (np.minimum(gold, y), y, gold))
            place = hit, said - hit
            share = {
                so.losses.FScore(): 2 * hit / (there + said) if there + said else 1.0,
                so.losses.FScore(2.0): 5 * hit / (4 * there + said) if there + said else 1.0,
                so.losses.Precision(): hit / said if said else float(not there),
                so.losses.Recall(): hit / there if there else 1.0,
                so.losses.ErrorRate(): 1 - np.sum(np.not_equal(gold, y)) / 3,
            }
            for loss, right in share.items():
                assert loss.table(there, 3 - there)[place] == pytest.approx(1 - right)


def test_the_hinge_of_f1_bounds_the_loss():
    X, Y = so.datasets.make_rare_items(2, n_items=60, share=0.1, distance=3.0, seed=3)
    structure = so.Subset(so.losses.FScore())
    model = so.StructuredClassifier(structure, so.M3N(C=10.0), tol=1e-3).fit(X, Y)
    paid = [structure.loss(y, found) for y, found in zip(Y, model.predict(X), strict=True)]
    assert model.result_.certificate.certified
    assert sum(paid) < model.result_.certificate.primal < 2.0  # which no weights at all would cost


def test_sets_of_a_fixed_size_learn_precision_at_k():
    X, Y = so.datasets.make_rare_items(2, n_items=60, share=0.1, seed=0)
    top = so.Subset(so.losses.Precision(), size=5)  # gold has 6
    model = so.StructuredClassifier(top, so.M3N(C=1e3), tol=1e-3).fit(X, Y)
    assert model.result_.certificate.certified
    assert [sum(y) for y in model.predict(X)] == [5, 5]
    # the primal value is the hinge over all sets of five, and nothing else
    w, value = model.weights_, float(model.weights_ @ model.weights_) / 2e3
    for x, y in zip(X, Y, strict=True):
        scores = x @ w
        good, bad = np.sort(scores[y == 1])[::-1], np.sort(scores[y == 0])[::-1]
        rows = [1 - a / 5 + good[:a].sum() + bad[: 5 - a].sum() for a in range(6)]
        value += max(0.0, max(rows) - scores[y == 1].sum())
    assert model.result_.certificate.primal == pytest.approx(value, rel=1e-9)


def test_several_labels_an_example():
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=(120, 3)), np.ones(120)])
    indicator = (X[:, :3] + 0.3 * rng.normal(size=(120, 3)) > 0.8).astype(int)
    Y = [{name for name, on in zip("abc", row, strict=True) if on} for row in indicator]
    model = so.StructuredClassifier(so.MultiLabel(loss=so.losses.FScore()), so.M3N(C=10.0))
    assert model.fit(X, Y).score(X, Y) > 0.85
    assert list(model.classes_) == ["a", "b", "c"]
    numbers = so.MultiLabel().fitted(X, indicator)
    assert list(numbers.labels_) == [0, 1, 2]
    named = so.MultiLabel("abc").fitted(X, Y)
    w = rng.normal(size=12)
    both = zip(numbers.predict(X, w), named.predict(X, w), strict=True)
    assert all({"abc"[k] for k in a} == b for a, b in both)
    assert model.predict(X[:1], given=[{"a": True, "c": False}])[0] - {"b"} == {"a"}
    assert "b" in model.predict(X[:1], given=[["b"]])[0]


class Missed:
    """A loss of one's own: two for what is missed, one for what is wrong."""

    def table(self, positives, negatives):
        return 2.0 * (positives - np.arange(positives + 1.0)[:, None]) + np.arange(negatives + 1.0)


class Odd(Missed):
    """One that charges what is right."""

    def table(self, positives, negatives):
        return 1.0 + super().table(positives, negatives)


def test_a_loss_of_ones_own():
    X, Y = so.datasets.make_rare_items(2, n_items=12, share=0.3, seed=0)
    structure = so.Subset(Missed()).fitted(X, Y)
    assert structure.loss([1, 1, 0], [0, 1, 1]) == 3.0
    kept = {"model_files_keep_it": "the loss is a class of this file"}
    small = [x[:4] for x in X], [y[:4] for y in Y]
    so.testing.check_structure(so.Subset(Missed()), *small, exclude=kept)


def test_gold_of_another_size_is_an_output_too():
    X, Y = so.datasets.make_rare_items(6, n_items=30, n_features=3, share=0.2, seed=0)
    three = so.Subset(so.losses.FScore(beta=2.0), size=3)  # gold has 6
    model = so.StructuredClassifier(three, so.M3N(C=10.0), tol=1e-3).fit(X, Y)
    assert model.result_.certificate.certified
    assert so.audit(model, X, Y).agrees


@pytest.mark.parametrize(
    ("structure", "y", "message"),
    [
        (so.Subset(), [1, 0], "output of example 1 is .*: give 3 numbers 0 or 1"),
        (so.Subset(), [1, 0, 2], "give 3 numbers 0 or 1"),
        (so.Subset(size=4), [1, 0, 1], "Example 0 has 3 items, fewer than size=4"),
    ],
)
def test_bad_sets_are_refused(structure, y, message):
    X = [np.eye(3), np.eye(3)]
    with pytest.raises(InvalidInputError, match=message):
        structure.fitted(X, [y, y]).encode(X, [[1, 0, 0], y])


def test_bad_input_is_refused():
    X, Y = [np.eye(3)], [[1, 0, 0]]
    with pytest.raises(InvalidInputError, match="no loss of sets"):
        so.Subset(so.losses.Hamming()).fitted(X, Y)
    with pytest.raises(InvalidInputError, match="charges 1 where all is right"):
        so.Subset(Odd()).fitted(X, Y)
    with pytest.raises(InvalidInputError, match="beta must be"):
        so.Subset(so.losses.FScore(beta=-1.0)).fitted(X, Y)
    with pytest.raises(InvalidInputError, match="size is 0"):
        so.Subset(size=0).fitted(X, Y)
    two = so.Subset(size=2).fitted(X, Y)
    forged = so.Subset(size=2).fitted(X, Y)
    forged.size = -3  # as a model file may say
    with pytest.raises(InvalidInputError, match="size is -3"):
        forged.predict(X, np.ones(3))
    with pytest.raises(InfeasibleError, match="No output of example 0 agrees"):
        two.predict(X, np.ones(3), given=[[1, 1, 1]])
    rows = np.eye(2)
    with pytest.raises(InvalidInputError, match="example 0 is 'ab': give a set"):
        so.MultiLabel().fitted(rows, ["ab", "b"])
    fitted = so.MultiLabel("ab").fitted(rows, [{"a"}, {"b"}])
    with pytest.raises(InvalidInputError, match="'c' of example 1"):
        fitted.encode(rows, [{"a"}, {"c"}])
    with pytest.raises(InvalidInputError, match="example 0 is the array"):
        fitted.encode(rows, np.full((2, 2), 3))
    with pytest.raises(InvalidInputError, match="'z' is none of its 2 candidates"):
        fitted.predict(rows, np.ones(4), given=[{"z": True}, None])
