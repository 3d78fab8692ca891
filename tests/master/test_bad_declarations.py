"""What cannot be learned is refused in one sentence, with the term, before any oracle is asked."""

import cvxpy as cp
import numpy as np
import pytest

import structopt as so
from structopt.errors import IncompatibleError, UnboundedError
from structopt.master.declare import RestrictedMaster
from structopt.names import of_kind

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
    "nan": (lambda w, xi: cp.sum_squares(w) + np.nan * cp.sum(xi), IncompatibleError, "NaN or inf"),
    "infinite": (lambda w, xi: cp.norm2(w) + np.inf * cp.sum(xi), IncompatibleError, "NaN or inf"),
    "a number": (lambda w, xi: 3.0, IncompatibleError, "one scalar CVXPY expression; got 3.0"),
    "nothing": (lambda w, xi: None, IncompatibleError, "must call"),
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


def test_a_rule_that_fails_is_told_what_it_is_called_with():
    with pytest.raises(IncompatibleError, match=r"ambiguous.*many cuts at once.*np\.where"):
        declared(
            lambda w, xi: cp.sum_squares(w) + cp.sum(xi),
            lambda c, w, xi: c.delta @ w >= (c.loss if c.loss > 1 else 0) - c.of(xi),
        )


def test_constraints_that_are_none():
    m = RestrictedMaster(n_examples=3, n_features=2)
    w, xi = m.weights(), m.slacks()
    m.minimize(cp.sum_squares(w) + cp.sum(xi))
    m.cuts(lambda cut: cut.delta @ w >= cut.loss - cut.of(xi))
    m.subject_to(cp.norm2(w) >= 1)
    with pytest.raises(IncompatibleError, match=r"1.0 <= .*w.* is not convex"):
        m.compile()


CONSTRAINTS = {
    "nan": lambda w: cp.sum(w) == np.nan,
    "equal to infinity": lambda w: cp.sum(w) == np.inf,
    "above infinity": lambda w: w >= np.inf,
    "below its negative": lambda w: w <= np.array([1.0, -np.inf]),
}


@pytest.mark.parametrize("name", CONSTRAINTS)
def test_numbers_of_constraints(name):
    with pytest.raises(IncompatibleError, match="NaN or infinite"):
        constrained(CONSTRAINTS[name])


def test_infinite_bounds_are_none():
    program = constrained(lambda w: w <= np.array([1.0, np.inf]))
    assert constrained(lambda w: w[0] <= 1.0).ub[:2].tolist() == [1.0, np.inf]
    assert program.residual(np.array([1.0, 1e9, 0, 0, 0])) == 0.0
    assert program.residual(np.array([1.5, 0, 0, 0, 0])) > 0.0


def constrained(constraint):
    m = RestrictedMaster(n_examples=3, n_features=2)
    w, xi = m.weights(), m.slacks()
    m.minimize(cp.sum_squares(w) + cp.sum(xi))
    m.cuts(lambda cut: cut.delta @ w >= cut.loss - cut.of(xi))
    m.subject_to(constraint(w))
    return m.compile()


@pytest.mark.parametrize("method", ["auto", *(entry.key for entry in of_kind("method"))])
def test_what_was_left_out_is_told_by_every_method(method):
    class Unfinished(so.Formulation):
        def master(self, m):
            w, xi = m.weights(), m.slacks()
            m.cuts(lambda cut: cut.delta @ w >= cut.loss - cut.of(xi))

    X, y = so.datasets.make_classes(12, seed=0)
    message = "minimum over scales" if method == "em" else r"must call m\.weights"
    with pytest.raises(IncompatibleError, match=message):
        so.StructuredClassifier(so.Multiclass(), Unfinished(), method=method).fit(X, y)


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


@pytest.mark.parametrize("method", [e.key for e in of_kind("method") if e.key != "em"])
def test_an_error_of_the_declaration_itself_is_told_as_such(method):
    class Scalar(so.Formulation):
        def master(self, m):
            w, xi = m.weights(), m.slack()
            m.minimize(cp.sum_squares(w) + np.ones(m.n_examples) @ xi)

    model = so.StructuredClassifier(so.Multiclass(), Scalar(), method=method)
    with pytest.raises(
        IncompatibleError, match=r"Scalar\.master\(m\) failed: .*3 examples"
    ) as told:
        model.fit(np.eye(3), list("abc"))
    assert told.value.__cause__ is not None
