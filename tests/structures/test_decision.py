"""Sets of decisions: exact against a look at every 0/1 vector, and refusals by name."""

from itertools import permutations

import cvxpy as cp
import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import structopt as so
from structopt.structures.decision import knapsack
from structopt.structures.decision.small import members


def tours(n):
    found = set()
    for order in permutations(range(1, n)):
        edges = zip((0, *order), (*order, 0), strict=True)
        found.add(frozenset((min(e), max(e)) for e in edges))
    return found


def cyclic(rng):
    """A directed graph in which source and target are joined, and most have cycles."""
    edges = [(u, v) for u in range(4) for v in range(4) if u != v and rng.random() < 0.6]
    return so.decisions.ShortestPaths([*edges[:8], (0, 3)], 0, 3)


def undirected(rng):
    graph = nx.cycle_graph(4)
    graph.add_edge(0, 2)
    return so.decisions.ShortestPaths(graph, 0, 3)


def two_resources(rng):
    return so.decisions.Knapsack(rng.uniform(1.0, 4.0, (2, 6)), [7.0, 8.0])


def budget(y):
    return [cp.sum(y) <= 3, y[0] + y[1] >= 1]


SETS = {
    "grid": lambda rng: so.decisions.GridPaths(3, 2),
    "cyclic": cyclic,
    "undirected": undirected,
    "assignments": lambda rng: so.decisions.Assignments(2, 3),
    "knapsack": two_resources,
    "trees": lambda rng: so.decisions.SpanningTrees(nx.complete_graph(4)),
    "tours": lambda rng: so.decisions.Tours(5),
    "program": lambda rng: so.decisions.LinearProgram(budget, 5),
}


@pytest.mark.parametrize("name", SETS)
@given(seed=st.integers(0, 10_000))
@settings(max_examples=8, deadline=None)
def test_minimum_and_second_best_are_brute_force(name, seed):
    rng = np.random.default_rng(seed)
    of = SETS[name](rng)
    of.check()
    every = np.array(members(of), dtype=float)
    costs = rng.integers(-3, 4, (3, of.n_parts)).astype(float) if seed % 2 else None
    costs = rng.normal(size=(3, of.n_parts)) if costs is None else costs
    found = of.minimize(costs)
    assert of.contains(found.points).all()
    assert np.all(found.excess <= 1e-9)
    np.testing.assert_allclose((costs * found.points).sum(1), (costs @ every.T).min(1), atol=1e-9)
    others = of.others(costs, found.points)
    for i, best in enumerate(found.points):
        left = every[(every != best).any(axis=1)]
        if not len(left):
            assert others.excess[i] < 0
            continue
        assert np.any(others.points[i] != best)
        assert costs[i] @ others.points[i] == pytest.approx((left @ costs[i]).min(), abs=1e-9)


def test_the_members_are_the_right_ones():
    assert len(members(so.decisions.GridPaths(3, 3))) == 6
    assert len(members(so.decisions.SpanningTrees(nx.complete_graph(4)))) == 16  # Cayley
    of = so.decisions.Tours(5)
    said = {frozenset(of.edges[j] for j in np.flatnonzero(y)) for y in members(of)}
    assert said == tours(5)
    # from 0 to 3 directly, by one of the two others, or by both in either order
    paths = so.decisions.ShortestPaths(nx.complete_graph(4).to_directed(), 0, 3)
    assert len(members(paths)) == 1 + 2 + 2


def test_large_knapsacks_are_asked_of_highs(monkeypatch):
    rng = np.random.default_rng(0)
    weights, costs = rng.integers(1, 6, (2, 8)).astype(float), rng.normal(size=(5, 8))
    listed = so.decisions.Knapsack(weights, 9.0)
    monkeypatch.setattr(knapsack, "MOST_PACKINGS", 3)
    asked = so.decisions.Knapsack(weights, 9.0)
    assert asked.packings is None
    value = [(costs * of.minimize(costs).points).sum(axis=1) for of in (listed, asked)]
    np.testing.assert_allclose(*value, atol=1e-9)


def test_linear_programmes_decide_by_vertices():
    mix = so.decisions.LinearProgram(lambda y: [cp.sum(y) == 1, y >= 0, y <= 0.6], 3, boolean=False)
    costs = np.random.default_rng(0).normal(size=(4, 3))
    order = np.sort(costs, axis=1)
    found = mix.minimize(costs)
    np.testing.assert_allclose((costs * found.points).sum(1), 0.6 * order[:, 0] + 0.4 * order[:, 1])
    assert mix.contains(np.array([[0.5, 0.5, 0.0], [1.0, 0.0, 0.0]])).tolist() == [True, False]
    assert "second_best" not in so.Decision(mix).abilities()
    absolute = so.decisions.LinearProgram(lambda y: [cp.norm1(y) <= 1], 2, boolean=False)
    assert absolute.contains(np.array([[0.5, -0.5], [0.9, 0.9]])).tolist() == [True, False]
    found = absolute.minimize(costs[:, :2])  # columns that CVXPY adds have no bounds
    np.testing.assert_allclose((costs[:, :2] * found.points).sum(1), -abs(costs[:, :2]).max(axis=1))


def test_what_may_stop_early_says_so():
    def note(**options):
        return so.decisions.LinearProgram(lambda y: [cp.sum(y) == 1], 3, **options).note()

    assert note() == note(boolean=False) == note(boolean=False, gap=0.1) == ""
    for options in ({"gap": 0.1}, {"time_limit": 1.0}, {"gap": 0.1, "time_limit": 1.0}):
        assert "may stop early" in note(**options)


def test_tours_out_of_time_say_how_far_they_may_be():
    rng = np.random.default_rng(1)
    points = rng.random((2, 12, 2))
    exact = so.decisions.Tours(12)
    u, v = np.array(exact.edges).T
    costs = np.linalg.norm(points[:, u] - points[:, v], axis=2)
    best = (costs * exact.minimize(costs).points).sum(axis=1)
    hasty = so.decisions.Tours(12, time_limit=0.0)
    found = hasty.minimize(costs)
    value = (costs * found.points).sum(axis=1)
    assert hasty.contains(found.points).all()
    assert np.all(value - found.excess <= best + 1e-7)
    assert found.excess.max() > 0
    assert "stop short" in hasty.note()


ONE = np.ones((1, 3))


@pytest.mark.parametrize(
    ("of", "error", "said"),
    [
        (so.decisions.ShortestPaths([(0, 1), (2, 3)], 0, 3), "InfeasibleError", "No path leads"),
        (so.decisions.ShortestPaths([(0, 1)], 0, 9), "InvalidInputError", "no node"),
        (so.decisions.ShortestPaths([(0, 1)], 0), "InvalidInputError", "no target"),
        (so.decisions.ShortestPaths([(0, 1)], 1, 1), "InvalidInputError", "same node"),
        (so.decisions.ShortestPaths([], 0, 1), "InvalidInputError", "no edges"),
        (so.decisions.ShortestPaths("abc", 0, 1), "InvalidInputError", "list of edges"),
        (so.decisions.ShortestPaths([1, 2], 0, 1), "InvalidInputError", "no list of edges"),
        (so.decisions.SpanningTrees([(0, 1), (2, 3)]), "InfeasibleError", "2 components"),
        (so.decisions.SpanningTrees([(0, 1), (1, 0)]), "InvalidInputError", "parallel"),
        (so.decisions.Assignments(3, 2), "InfeasibleError", "3 left nodes"),
        (so.decisions.Assignments(0), "InvalidInputError", "n_left must be"),
        (so.decisions.Knapsack([1.0, 2.0], -1.0), "InfeasibleError", "nothing fits"),
        (so.decisions.Knapsack([1.0, np.nan], 1.0), "InvalidInputError", "finite"),
        (so.decisions.Knapsack([[1.0, 2.0]], [1.0, 2.0, 3.0]), "InvalidInputError", "shape"),
        (so.decisions.GridPaths(1, 1), "InvalidInputError", "one node"),
        (so.decisions.Tours(2), "InvalidInputError", "at least 3"),
        (so.decisions.Listed(np.zeros((0, 3))), "InfeasibleError", "empty"),
        (
            so.decisions.LinearProgram(lambda y: [cp.sum(y) >= 4], 3),
            "InfeasibleError",
            "contradict",
        ),
        (
            so.decisions.LinearProgram(lambda y: [y**2 <= 1], 3, boolean=False),
            "InvalidInputError",
            "linear rows",
        ),
        (so.decisions.LinearProgram(lambda y: y.nope, 3), "InvalidInputError", "constraints"),
    ],
)
def test_sets_that_cannot_be_are_refused(of, error, said):
    with pytest.raises(getattr(so.errors, error), match=said):
        so.Decision(of).fitted(ONE, [(0,) * 3])


def test_programmes_without_a_minimum_name_the_example():
    half = so.decisions.LinearProgram(lambda y: [y >= 0], 2, boolean=False)
    with pytest.raises(so.errors.OracleError, match="Example 6"):
        half.minimize(np.array([[1.0, 1.0], [1.0, -1.0]]), start=5)


class Written(so.decisions.DecisionSet):
    """All 0/1 vectors of four parts, by whatever function is told to minimise."""

    n_parts = 4

    def __init__(self, answer, inside=lambda points: np.ones(len(points), bool)):
        self.answer, self.inside = answer, inside

    def minimize(self, costs):
        return self.answer(costs)

    def contains(self, points):
        return self.inside(points)


def written_model(**how):
    rng = np.random.default_rng(0)
    model = so.DecisionModel(Written(**how), so.M3N(C=1.0), tol=1e-2)
    return model.fit(rng.normal(size=(20, 3)), rng.normal(size=(20, 4)))


def test_a_set_of_ones_own_needs_no_start_and_returns_a_matrix():
    assert written_model(answer=lambda costs: (costs < 0).tolist()).result_.certificate.certified


LIARS = {
    "returned None": {"answer": lambda costs: None},
    "1 decisions for 20": {"answer": lambda costs: np.ones((1, 4))},
    "holds nan": {"answer": lambda costs: np.nan * costs},
    "has shape": {"answer": lambda costs: costs[:, :2]},
    "not in the set of 0/1": {"answer": lambda costs: costs},
    "for example 0, which is not in the set": {
        "answer": lambda costs: 1.0 * (costs < 0), "inside": lambda points: points[:, 0] > 2,
    },
    "a truth value for each": {
        "answer": lambda costs: 1.0 * (costs < 0), "inside": lambda points: True,
    },
    "another one of the set costs": {"answer": lambda costs: np.ones(costs.shape)},
    "does not find the cheapest": {"answer": lambda costs: 1.0 * (costs > 0)},
}  # fmt: skip


@pytest.mark.parametrize("message", LIARS)
def test_a_set_that_lies_is_found_out(message):
    with pytest.raises(so.errors.OracleError, match=message):
        written_model(**LIARS[message])
