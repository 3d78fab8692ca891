"""Predict, then optimise: the certified optimum is that of SPO+ written out in CVXPY."""

import pickle
from functools import partial

import cvxpy as cp
import networkx as nx
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.model_selection import GridSearchCV

import structopt as so
from structopt.structures.decision.small import members

GRID = so.decisions.GridPaths(2, 3)


def problem(n=12, of=GRID, p=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p))
    costs = 2.0 + X @ rng.normal(size=(p, of.n_parts)) + rng.normal(size=(n, of.n_parts))
    return X, costs


def spo_plus(of, X, costs, C):
    """min |W|^2 / (2 C) + sum of SPO+ losses, every decision written out."""
    Z = np.array(members(of), dtype=float)
    inputs = np.hstack([X, np.ones((len(X), 1))])
    W = cp.Variable((of.n_parts, inputs.shape[1]))
    total = 0
    for x, c in zip(inputs, costs, strict=True):
        best = Z[np.argmin(Z @ c)]
        total += cp.max(Z @ (c - 2 * W @ x)) + 2 * (W @ x) @ best - c @ best
    found = cp.Problem(cp.Minimize(cp.sum_squares(W) / (2 * C) + total))
    return found.solve(cp.CLARABEL), W.value


@pytest.mark.parametrize(
    ("of", "seed"),
    [
        (GRID, 0),
        (so.decisions.Knapsack([1.0, 2.0, 3.0, 2.0], 4.0), 1),
        (so.decisions.Assignments(2, 3), 2),
        (so.decisions.LinearProgram(lambda y: [cp.sum(y) == 2], 4), 3),
    ],
)
def test_the_certificate_is_that_of_spo_plus(of, seed):
    X, costs = problem(of=of, seed=seed)
    truth, W = spo_plus(of, X, costs, C=0.5)
    model = so.DecisionModel(of, so.M3N(C=0.5), tol=1e-6).fit(X, costs)
    found = model.result_.certificate
    assert found.certified
    assert found.dual - 1e-6 <= truth <= found.primal + 1e-6
    assert found.primal == pytest.approx(truth, rel=1e-5)
    inputs = np.hstack([X, np.ones((len(X), 1))])
    np.testing.assert_allclose(model.predict_costs(X), inputs @ W.T, atol=0.01)


def test_observed_decisions_are_inverse_optimisation_with_constraints():
    """The augmented suboptimality loss with costs >= 1, every decision written out."""
    X, costs = problem(seed=4)
    Y = GRID.minimize(costs).points
    Z = np.array(members(GRID), dtype=float)
    W = cp.Variable((GRID.n_parts, 2))
    total = 0
    for x, y in zip(X, Y, strict=True):
        distance = np.abs(Z - y).sum(axis=1)
        total += cp.max(distance + (y - Z) @ (W @ x))
    truth = cp.Problem(cp.Minimize(cp.sum_squares(W) / 2 + total), [W >= -0.1]).solve(cp.CLARABEL)
    bounded = so.M3N(C=1.0, constraints=lambda w: [w >= -0.1])
    model = so.DecisionModel(GRID, bounded, fit_intercept=False, tol=1e-5).fit(X, decisions=Y)
    found = model.result_.certificate
    assert found.dual - 1e-4 <= truth <= found.primal + 1e-4
    assert found.primal == pytest.approx(truth, rel=1e-3)
    assert 0 <= model.score(X, Y) <= 1
    again = so.DecisionModel(GRID, bounded, target="decisions", fit_intercept=False, tol=1e-5)
    np.testing.assert_allclose(again.fit(X, Y).weights_, model.weights_, atol=1e-3)


@pytest.mark.parametrize("method", ["frank-wolfe", "subgradient", "em", "mira"])
def test_other_methods_learn_too(method):
    X, costs = problem()
    formulation = so.L1M3N(0.5) if method == "em" else so.M3N(0.5)
    model = so.DecisionModel(GRID, formulation, method=method, tol=0.1, max_iter=200)
    assert model.fit(X, costs).regret(X, costs) < 0.5


def test_features_of_parts_share_their_weights():
    rng = np.random.default_rng(0)
    X, w = rng.normal(size=(40, GRID.n_parts, 3)), np.array([1.0, -2.0, 0.5])
    costs = X @ w
    model = so.DecisionModel(GRID, so.M3N(C=10.0)).fit(X, costs)
    assert model.weights_.shape == (4,)
    assert model.regret(X, costs) == pytest.approx(0.0, abs=1e-3)


def test_scikit_learn_takes_it():
    X, costs = problem(n=30)
    model = so.DecisionModel(GRID, so.M3N(), tol=1e-2)
    assert clone(model).decisions.get_params() == GRID.get_params()
    search = GridSearchCV(model, {"formulation": [so.M3N(0.01), so.M3N(1.0)]}, cv=2)
    search.fit(X, costs)
    best = search.best_estimator_
    assert search.score(X, costs) == -best.regret(X, costs)
    again = pickle.loads(pickle.dumps(best))
    np.testing.assert_array_equal(again.predict(X), best.predict(X))
    assert best.predict(X).dtype == np.int64
    assert best.regrets(X, costs).min() >= -1e-9
    with pytest.raises(so.errors.IncompatibleError, match="pickle"):
        best.save("model")


def test_weights_and_paths_of_costs():
    X, costs = problem(n=20)
    weight = np.r_[np.ones(10), np.zeros(10)]
    kept = so.DecisionModel(GRID, so.M3N(), tol=1e-5).fit(X, costs, sample_weight=weight)
    alone = so.DecisionModel(GRID, so.M3N(), tol=1e-5).fit(X[:10], costs[:10])
    np.testing.assert_allclose(kept.weights_, alone.weights_, atol=0.02)
    path = so.fit_path(so.DecisionModel(GRID, so.M3N(), tol=1e-2), X, costs, [0.1, 1.0])
    assert all(model.result_.certificate.certified for model in path.models)


def test_audits_and_reports_take_costs(tmp_path):
    X, costs = problem()
    model = so.DecisionModel(GRID, so.M3N(0.5)).fit(X, costs)
    assert so.audit(model, X, costs).agrees
    model.report(tmp_path / "run.html", X, costs)
    assert (tmp_path / "run.html").stat().st_size > 10_000
    with pytest.raises(so.errors.InvalidInputError, match="empty"):
        model.fit(X[:0], costs[:0])
    with pytest.raises(so.errors.InvalidInputError, match="regressor is 'ridge'"):
        so.TwoStage(GRID, "ridge").fit(X, costs)


def test_networkx_graphs_stand_for_their_paths():
    graph = nx.DiGraph([("s", "a"), ("s", "t"), ("a", "t")], source="s", sink="t")
    X, costs = np.eye(3), np.array([[1.0, 3.0, 1.0], [2.0, 3.0, 2.0], [0.1, 1.0, 5.0]])
    model = so.DecisionModel(graph, so.M3N(C=10.0)).fit(X, costs)
    assert model.predict(X).tolist() == [[1, 0, 1], [0, 1, 0], [0, 1, 0]]
    assert model.coef_["label"][0] == "s-a"


def test_real_decisions_learn_from_costs_only():
    mix = so.decisions.LinearProgram(lambda y: [cp.sum(y) == 1, y >= 0, y <= 0.6], 3, boolean=False)
    X, costs = problem(of=mix)
    model = so.DecisionModel(mix, so.M3N(), tol=1e-4).fit(X, costs)
    assert model.result_.certificate.certified
    assert model.predict(X).max() == pytest.approx(0.6)
    with pytest.raises(so.errors.IncompatibleError, match="example 0 is real"):
        model.fit(X, decisions=model.predict(X))
    with pytest.raises(so.errors.IncompatibleError, match="only 0/1 ones"):
        so.DecisionModel(mix, so.StructSVM()).fit(X, costs)


@pytest.mark.parametrize("regressor", [None, GradientBoostingRegressor(n_estimators=3)])
def test_the_two_stage_baseline_decides_as_well(regressor):
    X, costs = problem(n=30)
    model = so.TwoStage(GRID, regressor).fit(X, costs)
    assert model.predict_costs(X).shape == costs.shape
    assert model.score(X, costs) == -model.regret(X, costs) <= 0
    assert clone(model).decisions.rows == 2


def learn(X, costs, of=GRID, **given):
    return so.DecisionModel(of, so.M3N(), **given).fit(X, costs)


def changed(values, place, value):
    values = np.array(values)
    values[place] = value
    return values


X, COSTS = problem()
LOOP = so.decisions.ShortestPaths([(0, 1), (1, 0), (1, 2)], 0, 2)


@pytest.mark.parametrize(
    ("ask", "said"),
    [
        (
            partial(learn, X, changed(COSTS, (3, 1), np.nan)),
            "costs of example 3 holds nan at part 1",
        ),
        (partial(learn, X, COSTS[:, :3]), r"shape \(12, 3\); expected \(examples, 7\)"),
        (partial(learn, X, [*COSTS[:11].tolist(), [1.0]]), "costs of example 11 holds 1 numbers"),
        (partial(learn, X[:5], COSTS), "5 inputs but 12 outputs"),
        (partial(learn, changed(X, (4, 1), np.inf), COSTS), "example 4 holds inf in column 1"),
        (partial(learn, np.ones((12, 3, 2)), COSTS), "each of 7 parts"),
        (partial(learn, X, None), "fit\\(X, decisions"),
        (partial(learn, X, COSTS, "grid"), "decisions is a str"),
        (
            partial(learn, X, COSTS, so.BooleanProgram(lambda x, z: [], np.atleast_2d)),
            r"so.decisions.LinearProgram\(lambda y",
        ),
        (partial(learn, X, COSTS, target="prices"), "target must be"),
        (
            partial(learn, X, np.tile([1.0, -2.0, 1.0], (12, 1)), LOOP),
            "costs of example 0 are negative around a cycle",
        ),
        (
            lambda: so.DecisionModel(GRID, so.M3N()).fit(X, decisions=np.ones((12, 7))),
            "decision of example 0 is not in the set",
        ),
        (lambda: learn(X, COSTS).predict(np.ones((2, 5))), "X has 5"),
        (lambda: learn(X, COSTS).regret(X, COSTS[:3]), "12 inputs but 3"),
        (lambda: learn(X, COSTS).regret(X, 0 * COSTS), "cannot be normalised"),
    ],
)
def test_bad_input_is_refused_by_name(ask, said):
    with pytest.raises(so.errors.StructoptError, match=said):
        ask()


def test_generators_are_those_of_the_literature():
    inputs, costs = so.datasets.make_shortest_paths(50, degree=3, noise=0.0, seed=1)
    assert inputs.shape == (50, 5)
    assert costs.shape == (50, so.decisions.GridPaths(5, 5).n_parts)
    # (B x / sqrt(p) + 3)^3 = 3.5^3 c - 1: its cube root is linear in x, with 0 or 1 as slopes
    root = np.cbrt(3.5**3 * costs - 1.0) - 3.0
    slopes = np.linalg.lstsq(inputs, root * np.sqrt(5), rcond=None)[0]
    np.testing.assert_allclose(slopes, np.round(slopes), atol=1e-9)
    assert set(np.round(slopes).ravel()) == {0.0, 1.0}
    inputs, costs, weights = so.datasets.make_knapsacks(50, degree=2, noise=0.5, seed=1)
    assert np.all(costs == np.round(costs))
    assert 3.0 <= weights.min() <= weights.max() < 8.0
    of = so.decisions.Knapsack(weights, 20.0)
    assert of.contains(of.minimize(costs).points).all()
