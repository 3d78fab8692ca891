"""A separable regulariser plus a hinge an example: read as it is, refused for one thing more."""

import cvxpy as cp
import numpy as np
import pytest
from enumeration import small_classes

import structopt as so
from structopt.errors import IncompatibleError
from structopt.master.declare import RestrictedMaster
from structopt.master.form import HingeForm
from structopt.structures.base.oracles import loss_augmented

WEIGHT = np.array([1.0, 0.5, 2.0, 0.0])
PROBLEM = small_classes(np.random.default_rng(0), n=4)
D = PROBLEM[2].n_features_
STIFF = np.linspace(0.5, 2.0, D)


def plain(w, xi, cut):
    return cut.delta @ w >= cut.loss - cut.of(xi)


def form_of(
    objective, rule=plain, kept=None, beside=lambda w, xi: [], ball=False, more=None, weight=WEIGHT
):
    X, Y, structure, _ = PROBLEM
    data = so.DataSet.of(structure, X, Y, sample_weight=weight)
    m = RestrictedMaster(4, D, sample_weight=weight)
    w, xi = m.weights(kept), m.slacks()
    m.minimize(objective(w, xi))
    m.subject_to(*beside(w, xi))
    m.cuts(loss_augmented, lambda cut: rule(w, xi, cut))
    if more is not None:
        m.cuts(loss_augmented, lambda cut: more(w, xi, cut))
    m.compile()
    return HingeForm.of(m, data, "a method", ball=ball), data


def ridge(w, xi):
    return cp.sum_squares(cp.multiply(np.sqrt(STIFF), w)) / 2 + 3 * cp.sum(xi)


def test_what_is_read():
    form, data = form_of(ridge)
    assert form.is_ridge
    assert form.oracle is loss_augmented
    np.testing.assert_allclose(form.cost, 3 * WEIGHT)
    np.testing.assert_allclose(form.curvature, STIFF)
    both, _ = form_of(
        lambda w, xi: cp.sum_squares(w) / 2 + 0.2 * cp.norm1(w) + cp.sum(xi),
        kept=lambda w: [w >= -0.3, w <= 0.4],
    )
    assert not both.is_ridge
    np.testing.assert_allclose(both.l1, 0.2)
    np.testing.assert_allclose([both.lb[0], both.ub[0]], [-0.3, 0.4])
    prices, _ = form_of(lambda w, xi: cp.norm1(cp.multiply(STIFF, w)) + cp.sum(xi))
    np.testing.assert_allclose(prices.l1, STIFF)
    assert not prices.is_ridge
    some, _ = form_of(lambda w, xi: cp.sum_squares(w[1:]) / 2 + cp.sum(xi))
    assert not some.is_ridge
    below, _ = form_of(lambda w, xi: cp.sum_squares(w) / 2 + cp.sum(xi), kept=lambda w: [w >= 0])
    above, _ = form_of(lambda w, xi: cp.sum_squares(w) / 2 + cp.sum(xi), kept=lambda w: [w <= 0])
    assert not below.is_ridge
    assert not above.is_ridge
    ball, _ = form_of(lambda w, xi: cp.sum(xi), kept=lambda w: [cp.norm1(w) <= 0.7], ball=True)
    assert ball.radius == pytest.approx(0.7)
    assert form.radius == np.inf
    # values by enumeration, infinite beyond a bound
    X, Y, structure, outputs = PROBLEM
    w = 0.5 * np.random.default_rng(1).normal(size=D)
    hinges = [
        max(
            structure.loss(gold, y)
            - float(((structure.joint_features(x, gold) - structure.joint_features(x, y)) @ w)[0])
            for y in outputs[i]
        )
        for i, (x, gold) in enumerate(zip(X, Y, strict=True))
    ]
    expected = STIFF @ w**2 / 2 + 3 * WEIGHT @ hinges
    assert form.value(w, data) == pytest.approx(expected)
    inside = np.clip(w, -0.3, 0.4)
    assert np.isfinite(both.value(inside, data))
    for far in (0.41, -0.31):
        out = inside.copy()
        out[-1] = far
        assert both.value(out, data) == np.inf
    assert both.regulariser(inside) == pytest.approx(
        inside @ inside / 2 + 0.2 * np.abs(inside).sum()
    )


V = cp.Variable(name="v")
REFUSED = {
    "a norm": {"objective": lambda w, xi: cp.norm2(w) + cp.sum(xi)},
    "coupled": {"objective": lambda w, xi: cp.square(cp.sum(w)) + cp.sum(xi)},
    "a row": {"objective": ridge, "kept": lambda w: [cp.sum(w) == 1]},
    "another variable": {"objective": lambda w, xi: ridge(w, xi) + cp.square(V)},
    "its price": {"objective": lambda w, xi: ridge(w, xi) + V, "beside": lambda w, xi: [V >= 0]},
    "a tilt": {"objective": lambda w, xi: ridge(w, xi) + w[0]},
    "squared slacks": {"objective": lambda w, xi: cp.sum_squares(w) + cp.sum_squares(xi)},
    "a squared slack": {"objective": lambda w, xi: ridge(w, xi) + cp.square(xi[1])},
    "slacks held down": {"objective": ridge, "beside": lambda w, xi: [xi <= 2]},
    "slacks held up": {"objective": ridge, "beside": lambda w, xi: [xi[2] >= 0.5]},
    "a sum of slacks": {"objective": ridge, "beside": lambda w, xi: [cp.sum(xi) <= 9]},
    "two families": {"objective": ridge, "more": plain},
    "half a slack": {
        "objective": ridge, "rule": lambda w, xi, cut: cut.delta @ w >= cut.loss - cut.of(xi) / 2
    },
    "a little more of a slack": {
        "objective": ridge,
        "rule": lambda w, xi, cut: cut.delta @ w >= cut.loss - (1 + 1e-10) * cut.of(xi),
    },
    "a ball for a method without": {
        "objective": lambda w, xi: cp.sum(xi), "kept": lambda w: [cp.norm1(w) <= 1]
    },
    "one slack": {"objective": ridge, "rule": lambda w, xi, cut: cut.delta @ w >= cut.loss - xi[0]},
    "two slacks": {
        "objective": ridge,
        "rule": lambda w, xi, cut: cut.delta @ w >= cut.loss - cut.of(xi) - xi[0],
    },
    "no slack": {"objective": ridge, "rule": lambda w, xi, cut: cut.delta @ w >= cut.loss},
    "a weight beside it": {
        "objective": ridge,
        "rule": lambda w, xi, cut: cut.delta @ w >= cut.loss + w[0] - cut.of(xi),
    },
    "a ball with a ridge": {
        "objective": ridge, "kept": lambda w: [cp.norm1(w) <= 1], "ball": True
    },
    "a ball with a price": {
        "objective": lambda w, xi: cp.norm1(w) + cp.sum(xi), "ball": True,
        "kept": lambda w: [cp.norm1(w) <= 1],
    },
    "a ball and a row": {
        "objective": lambda w, xi: cp.sum(xi), "ball": True,
        "kept": lambda w: [cp.norm1(w) <= 1, w[0] + w[1] >= 0],
    },
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_one_thing_more_is_refused(name):
    with pytest.raises(IncompatibleError, match="The method 'a method' learns"):
        form_of(**REFUSED[name], weight=np.ones(4))
