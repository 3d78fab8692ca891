"""The plain form is read off a declaration exactly where the compiled programme has it."""

import cvxpy as cp
import numpy as np
import pytest

import structopt as so
from structopt.errors import IncompatibleError
from structopt.master import plain
from structopt.master.declare import RestrictedMaster
from structopt.master.form import HingeForm
from structopt.master.plain import PlainForm, plain_form

WEIGHT = np.array([0.0, 0.5, 1.0, 3.0])


class Own(so.Formulation):
    """Declares what it is given."""

    def __init__(self, objective, rule, oracle=None):
        self.objective, self.rule, self.oracle = objective, rule, oracle

    def master(self, m):
        w, xi = m.weights(), m.slacks()
        m.minimize(self.objective(w, xi))
        named = () if self.oracle is None else (self.oracle,)
        m.cuts(*named, lambda cut: self.rule(cut, w, xi))


def ridge(w, xi):
    return cp.sum_squares(w) / 2 + 3 * cp.sum(xi)


def margin(cut, w, xi):
    return cut.delta @ w >= cut.loss - cut.of(xi)


PLAIN = [
    so.M3N(C=0.3),
    so.StructSVM(C=2.0),
    so.StructSVM(rescale="margin"),
    so.StructSVM(rescale="slack"),
    Own(ridge, margin),
    Own(lambda w, xi: ridge(w, xi) + 2 * cp.sum_squares(w) / 5, margin),
    Own(ridge, lambda cut, w, xi: cut.of(xi) + cut.delta @ w - cut.loss >= 0),
    Own(ridge, lambda cut, w, xi: cut.delta @ w >= 1 - cut.of(xi)),
]
OTHER = [
    so.M3N(C=np.inf),
    so.M3N(slacks="one"),
    so.M3N(w0=np.ones(5)),
    so.M3N(constraints=lambda w: [w[0] >= 0]),
    so.L1M3N(),
    so.LPStruct(),
    so.StructRMM(B=2.0),
    Own(lambda w, xi: cp.sum_squares(w[:3]) + cp.sum(xi), margin),
    Own(lambda w, xi: cp.sum_squares(w[0]) + cp.sum(xi), margin),
    Own(lambda w, xi: cp.sum_squares(2 * w) + cp.sum(xi), margin),
    Own(lambda w, xi: cp.sum_squares(w) + cp.sum(xi[1:]), margin),
    Own(lambda w, xi: cp.sum_squares(w) + cp.max(xi), margin),
    Own(lambda w, xi: ridge(w, xi) + cp.norm1(w), margin),
    Own(ridge, lambda cut, w, xi: cut.delta @ w >= cut.loss - 2 * cut.of(xi)),
    Own(ridge, lambda cut, w, xi: 2 * (cut.delta @ w) >= 2 * cut.loss - cut.of(xi)),
    Own(ridge, lambda cut, w, xi: cut.delta @ w >= cut.loss - 1 - cut.of(xi)),
    Own(ridge, lambda cut, w, xi: cut.delta @ w >= cut.loss * cut.of(np.ones(4)) - cut.of(xi)),
]


def declared(formulation, n_features=5):
    m = RestrictedMaster(4, n_features, sample_weight=WEIGHT)
    formulation.master(m)
    return m


@pytest.mark.parametrize("formulation", PLAIN)
def test_what_is_read_is_what_is_compiled(formulation):
    read, compiled = plain_form(declared(formulation)), declared(formulation)
    compiled.compile()
    shape = type("Shape", (), {"sample_weight": WEIGHT})
    form = HingeForm.of(compiled, shape, "test")
    assert isinstance(read, PlainForm)
    assert read.oracle is form.oracle
    np.testing.assert_allclose(read.cost, form.cost, rtol=1e-14)
    np.testing.assert_allclose(read.curvature * np.ones(5), form.curvature, rtol=1e-14)
    assert form.is_ridge


@pytest.mark.parametrize("formulation", OTHER)
def test_other_forms_are_left_to_the_compiler(formulation):
    assert isinstance(plain_form(declared(formulation)), str)


RULES = [
    margin,
    lambda cut, w, xi: 1 - cut.of(xi) <= cut.delta @ w,
    lambda cut, w, xi: np.float64(2) * (cut.delta @ w) / 4 >= -(3 - cut.loss) - cut.of(xi) * 5,
]
ONLY_CVXPY = [  # equations, functions, lists, arrays and branches are nothing for forms
    lambda cut, w, xi: cut.delta @ w == cut.loss - cut.of(xi),
    lambda cut, w, xi: cut.delta @ w >= cp.sqrt(cut.loss) - cut.of(xi),
    lambda cut, w, xi: cut.delta @ w >= np.ones(1) - cut.of(xi),
    lambda cut, w, xi: cut.delta @ w >= cut.loss**2 - cut.of(xi),
    lambda cut, w, xi: [cut.delta @ w >= cut.loss - cut.of(xi)],
    lambda cut, w, xi: cut.delta @ w >= (cut.loss or 1) - cut.of(xi),
    lambda cut, w, xi: cut.loss * (1 - cut.delta @ w) <= cut.of(xi),
    lambda cut, w, xi: cut.delta @ w >= cut.of(xi) * cut.of(xi),
]


def parts_of(rule):
    master = declared(Own(ridge, rule))
    weights, slacks = master.declared_variables
    return master.families[0], weights, slacks[0], {"loss": plain.LOSSES}


@pytest.mark.parametrize("rule", RULES)
def test_rules_by_arithmetic_are_rules_in_cvxpy(rule):
    read, valued = plain._read(*parts_of(rule)), plain._valued(*parts_of(rule))
    np.testing.assert_allclose(read, valued, rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize("rule", ONLY_CVXPY)
def test_what_is_not_arithmetic_is_read_in_cvxpy(rule):
    with pytest.raises(Exception):  # noqa: B017, PT011 - whatever it meets first
        plain._read(*parts_of(rule))


def test_a_refusal_says_what_was_read():
    X, y = so.datasets.make_classes(10, seed=0)
    structure = so.Multiclass().fitted(X, y)
    data = so.DataSet.of(structure, X, y)
    with pytest.raises(IncompatibleError, match=r"its objective has the term norm1\(w\)"):
        so.BlockAscent(structure, so.L1M3N(), data)
