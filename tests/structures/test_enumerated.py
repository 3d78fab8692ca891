"""Brute force against numbers worked out by hand, and a user's own structure asked through it."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import structopt as so
from structopt.errors import IncompatibleError, InvalidInputError, OracleError
from structopt.structures.base.example_shard import ExampleShard

LETTERS = ["a", "b", "c"]


def block(x, y):
    """One weight per letter, times x."""
    return x * (np.array(LETTERS) == y)


def distance(y, other):
    return abs(ord(y) - ord(other)) / 2


class Three(so.Structure):
    """What a user must write, and no more: one of three letters."""

    def joint_features(self, x, y):
        return sp.csr_array([block(x, y)])

    def loss(self, y, other):
        return distance(y, other)

    def argmax(self, x, weights, *, gold=None):
        extra = (lambda y: 0.0) if gold is None else (lambda y: self.loss(gold, y))
        return max(LETTERS, key=lambda y: block(x, y) @ weights + extra(y))


def test_answers_worked_out_by_hand():
    # scores at x = 1: a 3, b 2.5, c 0; losses against a: 0, 0.5, 1
    weights, letters = np.array([3.0, 2.5, 0.0]), so.Enumerated(LETTERS, block, distance)
    assert letters.argmax(1.0, weights) == "a"
    assert letters.argmin(1.0, weights) == "c"
    # with the loss: 3, 3, 1, and the first of the list wins
    assert letters.argmax(1.0, weights, gold="a") == "a"
    assert letters.second_best(1.0, weights, "a") == "b"
    assert letters.k_best(1.0, weights, 2) == ["a", "b"]
    assert letters.k_best(1.0, weights, 9) == ["a", "b", "c"]
    # loss * (1 - w.delta): 0, 0.5 * (1 - 0.5), 1 * (1 - 3)
    assert letters.slack_rescaled(1.0, weights, "a") == "b"


def test_default_loss_outputs_by_example_and_no_other_output():
    few = so.Enumerated(lambda x: LETTERS[: int(x)], block)
    assert few.loss("a", "b") == 1.0
    assert few.loss("a", "a") == 0.0
    assert few.argmax(2.0, np.array([0.0, 0.0, 9.0])) == "a"
    assert few.second_best(1.0, np.zeros(3), "a") is None
    shard = few.fitted([1.0], ["a"]).encode([1.0, 3.0], ["a", "a"])
    answers = shard.ask(so.oracles.best_other, np.array([0.0, 1.0, 0.0]))
    assert answers.outputs == [None, "b"]
    assert answers.score.tolist() == [np.inf, -3.0]
    with pytest.raises(InvalidInputError, match="no outputs at all"):
        few.argmax(0.0, np.zeros(3))
    with pytest.raises(InvalidInputError, match="gold output 'c' of example 6 is not among its 2"):
        few.fitted([1.0], ["a"]).encode([3.0, 2.0], ["c", "c"], start=5)


def test_parameters_are_what_was_given():
    letters = so.Enumerated(LETTERS, block, distance)
    assert letters.get_params() == {"outputs": LETTERS, "joint_features": block, "loss": distance}
    assert so.Enumerated(**letters.get_params()).loss("a", "c") == 1.0


@settings(max_examples=200, deadline=None, derandomize=True)
@given(
    st.lists(st.tuples(st.integers(-3, 3), st.sampled_from(LETTERS)), min_size=2, max_size=6),
    st.lists(st.integers(-3, 3), min_size=3, max_size=3),
)
def test_users_own_structure_answers_as_brute_force(examples, weights):
    X, Y = [float(x) for x, _ in examples], [y for _, y in examples]
    w = np.array(weights, dtype=float)
    mine, truth = Three().fitted(X, Y), so.Enumerated(LETTERS, block, distance).fitted(X, Y)
    assert mine.n_features_ == truth.n_features_ == 3
    shard = mine.encode(X, Y)
    assert isinstance(shard, ExampleShard)
    answers = shard.ask(so.loss_augmented, w)
    expected = truth.encode(X, Y).ask(so.loss_augmented, w)
    assert answers.outputs == expected.outputs
    np.testing.assert_array_equal(answers.loss, expected.loss)
    np.testing.assert_array_equal(answers.score, expected.score)
    which = np.arange(len(X))
    delta = shard.directions(answers.outputs, which).tocsr(shard.base, 3).toarray()
    for i in which:
        row = block(X[i], Y[i]) - block(X[i], answers.outputs[i])
        np.testing.assert_array_equal(delta[i], row)
    # two shards, one data set
    parts = [mine.encode(X[:1], Y[:1]), mine.encode(X[1:], Y[1:], start=1)]
    data = so.DataSet(parts, 3, threads=True)
    split = data.ask(so.loss_augmented, w)
    np.testing.assert_array_equal(np.concatenate([a.loss for a in split]), answers.loss)
    found = data.directions(split, which).tocsr(data.base, 3)
    np.testing.assert_array_equal(found.toarray(), delta)
    assert mine.predict(X, w) == [truth.argmax(x, w) for x in X]


def test_what_a_structure_lacks_is_refused_in_one_sentence():
    mine = Three().fitted([1.0], ["a"])
    assert mine.abilities() == {"argmax"}
    sentence = r"^Three has no '{}'; it offers \['argmax'\]\.$"
    for ability, arguments in [
        ("argmin", (1.0, np.zeros(3))),
        ("second_best", (1.0, np.zeros(3), "a")),
        ("k_best", (1.0, np.zeros(3), 2)),
        ("slack_rescaled", (1.0, np.zeros(3), "a")),
    ]:
        with pytest.raises(IncompatibleError, match=sentence.format(ability)):
            getattr(mine, ability)(*arguments)
    for oracle in (so.oracles.best_other, so.slack_rescaled):
        with pytest.raises(IncompatibleError, match="Three has no"):
            mine.encode([1.0], ["a"]).ask(oracle, np.zeros(3))


def test_second_best_comes_free_with_k_best():
    class More(Three):
        def k_best(self, x, weights, k):
            return so.Enumerated(LETTERS, block).k_best(x, weights, k)

    more = More().fitted([1.0], ["a"])
    assert more.abilities() == {"argmax", "k_best", "second_best"}
    assert more.second_best(1.0, np.array([3.0, 2.0, 1.0]), "a") == "b"
    assert more.second_best(1.0, np.array([3.0, 2.0, 1.0]), "c") == "a"


def test_a_failing_oracle_names_structure_question_and_example():
    class Broken(Three):
        def argmax(self, x, weights, *, gold=None):
            return {2.0: 1 / 0}[x] if x == 2.0 else "a"

    shard = Broken().fitted([1.0], ["a"]).encode([1.0, 2.0], ["a", "a"], start=40)
    sentence = r"Broken failed to answer 'loss_augmented' on example 41: ZeroDivisionError"
    with pytest.raises(OracleError, match=sentence) as info:
        shard.ask(so.loss_augmented, np.zeros(3))
    assert info.value.example == 41


def test_features_that_change_length_or_are_not_finite_are_refused():
    ragged = so.Enumerated([0, 1], lambda x, y: np.ones(int(x)))
    with pytest.raises(InvalidInputError, match=r"example 1 has 3 entries \(expected 2\)"):
        ragged.fitted([2], [0]).encode([2, 3], [0, 1])
    with pytest.raises(InvalidInputError, match="1 inputs but 2 outputs"):
        ragged.fitted([2], [0, 1])
    with pytest.raises(InvalidInputError, match="empty"):
        ragged.fitted([], [])


def test_methods_of_a_subclass_are_used_and_not_hidden():
    class Squares(so.Enumerated):
        def joint_features(self, x, y):
            return np.array([x * y])

        def loss(self, y, other):
            return float((y - other) ** 2)

    mine = Squares([0, 1, 3]).fitted([1.0], [0])
    assert mine.loss(0, 3) == 9.0
    assert mine.argmax(1.0, np.array([-2.0])) == 0
    assert mine.argmax(1.0, np.array([-2.0]), gold=0) == 3
    assert mine.encode([1.0], [0]).ask(so.loss_augmented, np.array([-2.0])).loss.tolist() == [9.0]
    with pytest.raises(NotImplementedError, match="must define joint_features"):
        so.Enumerated([0, 1]).fitted([1.0], [0])
