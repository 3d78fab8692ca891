"""Classes beyond the contract of every structure: names, kinds of input, mistakes."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import structopt as so
from structopt.errors import IncompatibleError, InvalidInputError


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
    with pytest.raises(InvalidInputError, match="must hold real numbers"):
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


class Doubled(so.Multiclass):
    def joint_features(self, x, y):
        return 2.0 * super().joint_features(x, y)


@pytest.mark.parametrize(
    "x", [np.ones(5), np.ones(1), np.ones((2, 2)), sp.csr_array(np.ones((1, 5)))]
)
@pytest.mark.parametrize("structure", [so.Multiclass(), so.MultiLabel(), Doubled()])
def test_a_row_of_another_width_has_no_features(structure, x):
    """They stood beyond the end of the row: multiplied by weights, other memory was read."""
    Y = [["a"], ["b"]] if isinstance(structure, so.MultiLabel) else ["a", "b"]
    mine = structure.fitted(np.eye(2), Y)
    with pytest.raises(InvalidInputError, match="expected"):
        mine.joint_features(x, Y[1])
