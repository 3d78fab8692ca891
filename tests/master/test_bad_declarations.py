"""What cannot be learned is refused in one sentence, with the term, before any oracle is asked."""

import cvxpy as cp
import numpy as np
import pytest

import structopt as so
from structopt.errors import IncompatibleError, UnboundedError
from structopt.master.declare import RestrictedMaster

OBJECTIVES = {
    "concave": (lambda w, xi: cp.sum(xi) + cp.sum(cp.sqrt(w)), IncompatibleError, "is concave"),
    "not DCP": (lambda w, xi: cp.sum(xi) + cp.sqrt(cp.sum_squares(w)), IncompatibleError, "convex"),
    "a vector": (lambda w, xi: xi, IncompatibleError, "one scalar"),
    "unbounded": (
        lambda w, xi: cp.sum_squares(w) + cp.sum(xi) - cp.Variable(name="b"),
        UnboundedError,
        r"moves b \(1 of 1\)",
    ),
    "no price": (lambda w, xi: cp.sum_squares(w) - cp.sum(xi), UnboundedError, "moves xi"),
    "integer": (
        lambda w, xi: cp.sum_squares(w) + cp.sum(xi) + cp.Variable(integer=True, name="k"),
        IncompatibleError,
        "k is integer",
    ),
    "matrix mark": (
        lambda w, xi: cp.sum(xi) + cp.trace(cp.Variable((2, 2), PSD=True, name="S")),
        IncompatibleError,
        "S >> 0",
    ),
}
RULES = {
    "slack's sign": (lambda c, w, xi: c.delta @ w >= c.loss + c.of(xi), "slack xi tightens"),
    "quadratic": (lambda c, w, xi: cp.square(c.delta @ w) <= 1, "is linear in what belongs"),
    "wrong side": (lambda c, w, xi: c.delta @ w + cp.norm2(w) >= 1 - c.of(xi), "relaxes the mar"),
    "no weights": (lambda c, w, xi: c.of(xi) >= c.loss, "does not bound cut.delta @ w"),
    "of gold": (lambda c, w, xi: c.delta @ w >= c.loss + cp.norm2(w) - c.of(xi), "even of gold"),
    "two maps": (lambda c, w, xi: c.delta @ w + c.delta @ (2 * w) >= 1 - c.of(xi), "their sum"),
}


def declared(objective, rule):
    m = RestrictedMaster(n_examples=3, n_features=2)
    w, xi = m.weights(), m.slacks()
    m.minimize(objective(w, xi))
    m.cuts(lambda cut: rule(cut, w, xi))
    return m.compile()


@pytest.mark.parametrize("name", OBJECTIVES)
def test_objectives(name):
    objective, error, message = OBJECTIVES[name]
    with pytest.raises(error, match=message):
        declared(objective, lambda c, w, xi: c.delta @ w >= c.loss - c.of(xi))


@pytest.mark.parametrize("name", RULES)
def test_rules(name):
    rule, message = RULES[name]
    with pytest.raises(IncompatibleError, match=message):
        declared(lambda w, xi: cp.sum_squares(w) + cp.sum(xi), rule)


def test_constraints_that_are_none():
    m = RestrictedMaster(n_examples=3, n_features=2)
    w, xi = m.weights(), m.slacks()
    m.minimize(cp.sum_squares(w) + cp.sum(xi))
    m.cuts(lambda cut: cut.delta @ w >= cut.loss - cut.of(xi))
    m.subject_to(cp.norm2(w) >= 1)
    with pytest.raises(IncompatibleError, match=r"1.0 <= .*w.* is not convex"):
        m.compile()


def test_groups_of_weights_are_named():
    X, y = so.datasets.make_classes(12, seed=0)
    structure = so.Multiclass().fitted(X, y)
    m = RestrictedMaster(12, structure.n_features_, names=structure.feature_names)
    labels, features = m.groups(by="label"), m.groups(by="feature")
    assert set(labels) == {str(label) for label in structure.labels_}
    every = np.sort(np.concatenate(list(features.values())))
    assert np.array_equal(every, np.arange(structure.n_features_))
    with pytest.raises(so.errors.InvalidInputError, match="not by 'class'"):
        m.groups(by="class")
    with pytest.raises(IncompatibleError, match="does not name"):
        RestrictedMaster(1, 1).groups()
