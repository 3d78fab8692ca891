"""Both values of the saddle-point form at any pair, against enumeration and CVXPY."""

import cvxpy as cp
import numpy as np
import pytest
from enumeration import small_chain, small_classes

import structopt as so
from structopt.errors import IncompatibleError
from structopt.methods.method import Method
from structopt.methods.saddle.form import SaddleForm
from structopt.methods.subgradient.l1_ball import project_l1_ball

SETS = {
    "free": None,
    "nonnegative": lambda w: [w >= 0],
    "box": lambda w: [w <= 0.3, w >= -0.2],
    "ball": lambda w: [cp.norm1(w) <= 0.5],
    "ball and signs": lambda w: [cp.norm1(w) <= 0.5, w >= 0],
    "plane": lambda w: [cp.sum(w) == 0.25],
    "rows": lambda w: [w[0] + w[1] <= 0.1, w[0] - w[2] >= -0.3],
}
WEIGHT = np.array([1.0, 0.5, 2.0, 0.0])


class Only(Method):
    """Declares and compiles."""

    name = "only"

    def step(self):
        raise NotImplementedError


def form_of(problem, formulation, weight=WEIGHT):
    data = so.DataSet.of(problem[2], *problem[:2], sample_weight=weight)
    return SaddleForm(Only(problem[2], formulation, data).master, data, "only")


@pytest.mark.parametrize("slacks", ["n", "one"])
@pytest.mark.parametrize("name", SETS)
def test_values_at_any_pair(name, slacks):
    for make in (small_chain, small_classes):
        rng = np.random.default_rng(4)
        X, Y, structure, outputs = problem = make(rng, n=4)
        form = form_of(problem, so.M3N(0.8, slacks=slacks, constraints=SETS[name]))
        np.testing.assert_allclose(form.cost, WEIGHT)
        np.testing.assert_allclose(form.curvature, 1 / 0.8)
        assert form.regularised
        size = structure.n_features_
        w = cp.Variable(size)
        kept = SETS[name](w) if SETS[name] else []
        for scale in (0.1, 1.0, 5.0):
            # D at a mixture of outputs
            gradient, loss = np.zeros(size), 0.0
            for i, (x, gold) in enumerate(zip(X, Y, strict=True)):
                share = rng.dirichlet(np.ones(len(outputs[i])) / scale)
                for p, y in zip(share, outputs[i], strict=True):
                    delta = structure.joint_features(x, y) - structure.joint_features(x, gold)
                    gradient += WEIGHT[i] * p * delta.toarray()[0]
                    loss += WEIGHT[i] * p * structure.loss(gold, y)
            inner = cp.sum_squares(w) / 1.6 + gradient @ w
            truth = loss + cp.Problem(cp.Minimize(inner), kept).solve(cp.CLARABEL)
            found = form.dual(gradient, loss)
            assert found <= truth + 1e-7
            assert found == pytest.approx(truth, abs=1e-5)
            # P by enumeration
            v = scale * rng.normal(size=size)
            hinges = []
            for i, (x, gold) in enumerate(zip(X, Y, strict=True)):
                scores = [float((structure.joint_features(x, y) @ v)[0]) for y in outputs[i]]
                losses = [structure.loss(gold, y) for y in outputs[i]]
                hinges.append(max(np.add(scores, losses)) - scores[losses.index(0)])
            primal = form.primal(v)
            assert primal.value == pytest.approx(v @ v / 1.6 + WEIGHT @ hinges)
            assert primal.exact
            # the nearest point of W, in any metric, and a point of W
            for metric in (1.0, 2.5, rng.uniform(0.2, 3.0, size)):
                near = form.nearest(v, metric)
                m = np.broadcast_to(metric, size)
                target = cp.Problem(cp.Minimize(cp.sum(cp.multiply(m, cp.square(w - v)))), kept)
                far = target.solve(cp.CLARABEL)
                assert m @ (near - v) ** 2 == pytest.approx(far, abs=1e-5)
                np.testing.assert_allclose(near, w.value, atol=1e-3)
            inside, missed = form.inside(form.nearest(v))
            assert missed <= 1e-6
            w.value = inside
            assert all(np.all(c.violation() <= 1e-9) for c in kept)


def test_far_pulls_are_bounded_too():
    """Multipliers of the rows as large as the pull."""
    problem = small_classes(np.random.default_rng(1), n=4)
    form = form_of(problem, so.M3N(0.8, constraints=SETS["plane"]))
    size = problem[2].n_features_
    w = cp.Variable(size)
    for far in (1e3, 1e5):
        gradient = far * np.random.default_rng(2).normal(size=size)
        inner = cp.sum_squares(w) / 1.6 + gradient @ w
        truth = cp.Problem(cp.Minimize(inner), SETS["plane"](w)).solve(cp.CLARABEL)
        found = form.dual(gradient, 0.0)
        assert found <= truth + 1e-9 * abs(truth)
        assert found == pytest.approx(truth, rel=1e-6)


def test_without_a_regulariser_no_pull_proves_anything():
    form = form_of(small_classes(np.random.default_rng(1), n=4), so.M3N(np.inf))
    assert not form.regularised
    size = len(form.curvature)
    assert form.dual(np.zeros(size), 2.0) == 2.0
    assert form.dual(np.eye(size)[0], 2.0) <= 0.0  # weights 0 cost nothing


def test_other_forms_are_refused():
    problem = small_classes(np.random.default_rng(1), n=4)
    with pytest.raises(IncompatibleError, match="l1 term"):
        form_of(problem, so.L1M3N(1.0))
    with pytest.raises(IncompatibleError, match="asks best_other"):
        form_of(problem, so.StructSVM(1.0))


@pytest.mark.parametrize("far", [1e3, 1e6, 1e9, 1e12])
def test_far_aims_are_no_rays(far):
    problem = small_classes(np.random.default_rng(1), n=4)
    form = form_of(problem, so.M3N(0.8, constraints=SETS["ball"]))
    v = far * np.random.default_rng(3).normal(size=problem[2].n_features_)
    near = form.nearest(v, np.ones(len(v)))  # by a solver: another metric has no closed form
    np.testing.assert_allclose(near, project_l1_ball(v, 0.5).point, atol=1e-5)
