"""Projections against a generic QP solver."""

import importlib

import cvxpy as cp
import networkx as nx
import numpy as np
import osqp
import pytest
import scipy.sparse as sp
from enumeration import constraints, small_chain, solve
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

import structopt as so
from structopt.errors import InvalidInputError
from structopt.formulations.l1_ball_m3n import L1BallM3N
from structopt.methods.subgradient.l1_ball import project_l1_ball
from structopt.structures.base.flows import FlowRelaxation, useful
from structopt.structures.cut.projection import CutPolytope
from structopt.structures.matching import projection_kernels as matching_kernels
from structopt.structures.matching.flow_reference import project_by_flow
from structopt.structures.matching.projection import MatchingPolytope
from structopt.structures.multiclass.projection import project_simplex

entries = st.lists(st.integers(-4, 4).map(lambda k: k / 2), min_size=1, max_size=6)


def nearest(v, rows):
    z = cp.Variable(len(v))
    problem = cp.Problem(cp.Minimize(cp.sum_squares(z - np.array(v))), rows(z))
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12)
    return z.value


@given(v=entries, size=st.sampled_from([0.5, 1.0, 3.0]), at_most=st.booleans())
@hypothesis_settings(max_examples=60)
def test_simplex_equals_a_qp(v, size, at_most):
    def rows(z):
        return [z >= 0, cp.sum(z) <= size if at_most else cp.sum(z) == size]

    found = project_simplex(v, size, at_most=at_most)
    np.testing.assert_allclose(found.point, nearest(v, rows), atol=1e-5)
    assert found.residual <= 1e-12


@given(v=entries, radius=st.sampled_from([0.5, 1.0, 3.0]))
@hypothesis_settings(max_examples=60)
def test_l1_ball_equals_a_qp(v, radius):
    found = project_l1_ball(v, radius)
    np.testing.assert_allclose(
        found.point, nearest(v, lambda z: [cp.norm1(z) <= radius]), atol=1e-5
    )
    assert np.abs(found.point).sum() <= radius * (1 + 1e-12)


def qp_value(v, rows):
    z = cp.Variable(len(v))
    problem = cp.Problem(cp.Minimize(cp.sum_squares(z - v) / 2), rows(z))
    problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-12, tol_gap_rel=1e-12, tol_feas=1e-12)
    return problem.value


reals = st.lists(st.floats(-5, 5, allow_subnormal=False), min_size=1, max_size=8).map(np.array)


@given(v=reals, size=st.sampled_from([1e-3, 0.7, 20.0]))
@hypothesis_settings(max_examples=40)
def test_distances_equal_a_qp_and_no_vertex_is_nearer(v, size):
    # an interior point solver is only sqrt(gap) near a degenerate solution: its value is compared,
    # and z is proved by (v - z).(u - z) <= 0 for every vertex u
    for found, rows, sign in (
        (project_simplex(v, size), lambda z: [z >= 0, cp.sum(z) == size], (1,)),
        (project_l1_ball(v, size), lambda z: [cp.norm1(z) <= size], (1, -1)),
    ):
        z = found.point
        assert 0.5 * np.sum((z - v) ** 2) == pytest.approx(qp_value(v, rows), abs=1e-7, rel=1e-7)
        for s in sign:
            vertices = s * size * np.eye(len(v))
            assert np.max((vertices - z) @ (v - z)) <= 1e-10
        assert found.residual <= 1e-12


def test_ties_far_points_and_empty_sizes():
    np.testing.assert_array_equal(project_simplex([1.0, 1.0, 1.0, 1.0]).point, np.full(4, 0.25))
    np.testing.assert_array_equal(project_simplex([5.0, -1.0], 0.0).point, [0.0, 0.0])
    np.testing.assert_array_equal(project_l1_ball([3.0, -2.0], 0.0).point, [0.0, 0.0])
    far = project_simplex([1e12, 1e12 - 0.5, -1e12], 1.0)
    np.testing.assert_array_equal(far.point, [0.75, 0.25, 0.0])
    with pytest.raises(InvalidInputError, match="size"):
        project_simplex([1.0], -1.0)


def test_rows_are_projected_together():
    rows = np.random.default_rng(0).normal(size=(5, 4))
    sizes = np.arange(1.0, 6.0)
    together = project_simplex(rows, sizes).point
    for row, size, point in zip(rows, sizes, together, strict=True):
        np.testing.assert_allclose(project_simplex(row, size).point, point)


@pytest.mark.parametrize("bad", [[], [np.nan], [np.inf, 0.0]])
def test_bad_vectors_are_refused(bad):
    with pytest.raises(InvalidInputError):
        project_simplex(bad)


@pytest.mark.parametrize("backend", ["auto", "clarabel"])
def test_cutting_planes_learn_on_the_l1_ball(backend):
    problem = X, Y, structure, _ = small_chain(np.random.default_rng(4))
    w, xi = cp.Variable(structure.n_features_), cp.Variable(len(Y), nonneg=True)
    rows = [delta @ w >= loss - xi[i] for i, delta, loss in constraints(*problem)]
    full = cp.Problem(cp.Minimize(cp.sum(xi) / len(Y)), [*rows, cp.norm1(w) <= 0.8])
    full.solve(solver=cp.CLARABEL)
    result = solve(structure, L1BallM3N(0.8), X, Y, tol=1e-4, backend=backend)
    assert result.certificate.certified
    assert result.certificate.primal == pytest.approx(full.value, rel=2e-4)


def nearest_in(a, A, b):
    """Project a on {z >= 0, A z <= b} by OSQP, to 1e-9.

    An interior point method is off by 1e-4 at degenerate corners, where constraints hold with
    equality and multipliers are 0.
    """
    rows = sp.csc_array(np.vstack([A, np.eye(len(a))]))
    low = np.concatenate([np.full(len(b), -np.inf), np.zeros(len(a))])
    high = np.concatenate([b, np.full(len(a), np.inf)])
    problem = osqp.OSQP()
    problem.setup(
        sp.csc_matrix(np.eye(len(a))), -a, sp.csc_matrix(rows), low, high, verbose=False,
        eps_abs=1e-9, eps_rel=0.0, max_iter=100_000, polishing=True,
    )  # fmt: skip
    return problem.solve(raise_error=False).x


def incidence(nodes, count):
    rows = np.zeros((count, len(nodes)))
    rows[nodes, np.arange(len(nodes))] = 1.0
    return rows


halves, anything = st.integers(-6, 6).map(lambda k: k / 2), st.floats(-4, 4, width=16)


@st.composite
def matching_points(draw):
    n1, n2 = draw(st.integers(1, 4)), draw(st.integers(1, 4))
    every = [(i, j) for i in range(n1) for j in range(n2)]
    edges = sorted(draw(st.sets(st.sampled_from(every), min_size=1)))
    limit = st.just(1) if draw(st.booleans()) else st.integers(0, 3)
    limits = [draw(st.lists(limit, min_size=n, max_size=n)) for n in (n1, n2)]
    entry = halves if draw(st.booleans()) else anything
    a = draw(st.lists(entry, min_size=len(edges), max_size=len(edges)))
    return np.array(edges), [np.array(b) for b in limits], np.array(a)


def stacked(problems):
    """Return several pairs as one polytope, with the point to project."""
    left, right, limits, starts = [], [], ([], []), [[0], [0], [0]]
    for edges, (bl, br), _ in problems:
        left.append(edges[:, 0] + starts[1][-1])
        right.append(edges[:, 1] + starts[2][-1])
        limits[0].append(bl)
        limits[1].append(br)
        for start, size in zip(starts, (len(edges), len(bl), len(br)), strict=True):
            start.append(start[-1] + size)
    both = tuple(np.concatenate(b) for b in limits)
    polytope = MatchingPolytope(np.concatenate(left), np.concatenate(right), both, np.array(starts))
    return polytope, np.concatenate([a for _, _, a in problems])


@given(problems=st.lists(matching_points(), min_size=1, max_size=3))
@hypothesis_settings(max_examples=150, deadline=None)
def test_matching_polytopes_equal_a_qp(problems):
    polytope, a = stacked(problems)
    found = polytope.project(a, error=1e-9)
    assert found.error <= 1e-6  # rounding leaves at most 1e-16 in the gap, 1e-8 in its root
    truth = []
    for edges, (bl, br), own in problems:
        rows = [incidence(edges[:, 0], len(bl)), incidence(edges[:, 1], len(br)), np.eye(len(own))]
        A, b = np.vstack(rows), np.concatenate([bl, br, np.ones(len(own))])
        truth.append(nearest_in(own, A, b))
    np.testing.assert_allclose(found.point, np.concatenate(truth), atol=1e-7)
    assert found.point.min() >= 0
    rough = polytope.project(a, error=0.1)
    assert rough.error <= 0.1
    assert np.linalg.norm(rough.point - found.point) <= rough.error + found.error + 1e-9
    again = polytope.project(a + 0.01, error=1e-9, state=rough.state)
    fresh = polytope.project(a + 0.01, error=1e-9)
    assert np.linalg.norm(again.point - fresh.point) <= again.error + fresh.error + 1e-12
    for edges, (bl, br), _ in problems:
        first, found_here = len(edges), found.point[: len(edges)]
        assert np.all(np.bincount(edges[:, 0], found_here, len(bl)) <= bl + 1e-12)
        assert np.all(np.bincount(edges[:, 1], found_here, len(br)) <= br + 1e-12)
        found = type(found)(found.point[first:], found.error)


def test_thresholds_are_the_smallest():
    """The least t >= 0 at which entries, less t and cut off at 0 and 1, are at most a limit."""
    rng = np.random.default_rng(0)
    for _ in range(300):
        n, limit = int(rng.integers(1, 7)), float(rng.integers(0, 4))
        values = rng.normal(size=n) * rng.choice([0.3, 1.0, 10.0])
        values = np.round(values) if rng.random() < 0.3 else values
        t = matching_kernels._threshold(values, n, limit)
        total = np.clip(values - t, 0.0, 1.0).sum()
        assert t >= 0.0
        assert total <= limit + 1e-12
        assert t == 0.0 or total >= limit - 1e-12


def test_many_edges_come_as_near_as_asked():
    """The error is that of all edges together."""
    n, rng = 12, np.random.default_rng(0)
    problem = np.array(list(np.ndindex(n, n))), [np.ones(n), np.ones(n)], 2 * rng.normal(size=n * n)
    polytope, a = stacked([problem, problem])
    exact = polytope.project(a, error=1e-9).point
    for error in (1.0, 0.3, 0.1):
        found = polytope.project(a, error=error)
        assert np.linalg.norm(found.point - exact) <= found.error <= error


@given(problem=matching_points())
@hypothesis_settings(max_examples=60)
def test_a_quadratic_flow_is_the_same_projection(problem):
    """The reduction of the paper, cycle by cycle."""
    edges, limits, a = problem
    polytope, _ = stacked([problem])
    found = project_by_flow(edges[:, 0], edges[:, 1], tuple(limits), a)
    np.testing.assert_allclose(found, polytope.project(a, error=1e-9).point, atol=1e-4)


def test_a_quadratic_flow_on_a_whole_graph():
    rng = np.random.default_rng(1)
    left, right = (part.ravel() for part in np.indices((6, 5)))
    limits = np.array([1.0, 1, 1, 2, 1, 1]), np.array([1.0, 1, 2, 1, 1])
    a = rng.uniform(-0.2, 1.2, size=30)
    polytope = MatchingPolytope(left, right, limits, np.array([[0, 30], [0, 6], [0, 5]]))
    truth = polytope.project(a, error=1e-10).point
    assert np.sum((truth > 1e-6) & (truth < 1 - 1e-6)) > 10  # inside, not at corners
    np.testing.assert_allclose(project_by_flow(left, right, limits, a), truth, atol=1e-4)


@st.composite
def cut_points(draw):
    n = draw(st.integers(1, 5))
    pairs = [(i, j) for j in range(n) for i in range(j)]
    edges = draw(st.lists(st.sampled_from(pairs), max_size=8)) if pairs else []
    entry = halves if draw(st.booleans()) else anything
    size = n + len(edges)
    a = draw(st.lists(entry, min_size=size, max_size=size))
    return n, np.array(edges, dtype=int).reshape(-1, 2), np.array(a)


@given(problems=st.lists(cut_points(), min_size=1, max_size=3))
@hypothesis_settings(max_examples=150, deadline=None)
def test_cut_polytopes_equal_a_qp(problems):
    nodes = np.concatenate([[0], np.cumsum([n for n, _, _ in problems])])
    arcs = np.concatenate([[0], np.cumsum([len(e) for _, e, _ in problems])])
    edges = np.concatenate(
        [e + start for (_, e, _), start in zip(problems, nodes[:-1], strict=True)]
    )
    polytope = CutPolytope(edges, np.stack([nodes, arcs]))
    parts = [a[:n] for n, _, a in problems] + [a[n:] for n, _, a in problems]
    found = polytope.project(np.concatenate(parts), error=1e-8)
    assert found.error <= 1e-6
    for g, (n, own, a) in enumerate(problems):
        m = len(own)
        apart = incidence(own[:, 0], n).T - incidence(own[:, 1], n).T
        A = np.block([[apart, -np.eye(m)], [-apart, -np.eye(m)], [np.eye(n + m)]])
        b = np.concatenate([np.zeros(2 * m), np.ones(n + m)])
        mine = np.concatenate(
            [found.point[nodes[g] : nodes[g + 1]], found.point[nodes[-1] :][arcs[g] : arcs[g + 1]]]
        )
        np.testing.assert_allclose(mine, nearest_in(a, A, b), atol=1e-7)
        assert np.all(A @ mine <= b + 1e-12)
    rough = polytope.project(np.concatenate(parts), error=0.1)
    assert rough.error <= 0.1
    assert np.linalg.norm(rough.point - found.point) <= rough.error + found.error
    again = polytope.project(np.concatenate(parts), error=1e-8, state=found.state)
    assert np.linalg.norm(again.point - found.point) <= again.error + found.error


def test_far_points_and_bad_ones():
    polytope = MatchingPolytope(
        np.array([0, 0]),
        np.array([0, 1]),
        (np.ones(1), np.ones(2)),
        np.array([[0, 2], [0, 1], [0, 2]]),
    )
    np.testing.assert_allclose(polytope.project(np.array([1e3, 1e3]), error=1e-9).point, 0.5)
    cut = CutPolytope(np.array([[0, 1]]), np.array([[0, 2], [0, 1]]))
    np.testing.assert_allclose(cut.project(np.array([50.0, -50, -9]), error=1e-9).point, [1, 0, 1])
    for bad in ([np.nan, 0.0], [0.0]):
        with pytest.raises(InvalidInputError, match="2 finite numbers"):
            polytope.project(np.array(bad), error=1e-3)
        with pytest.raises(InvalidInputError, match="3 finite numbers"):
            cut.project(np.array(bad), error=1e-3)
    with pytest.raises(InvalidInputError, match="sorted"):
        MatchingPolytope(
            np.array([1, 0]), np.array([0, 0]), (np.ones(2), np.ones(1)), np.array([[0, 2]] * 3)
        )


@given(data=st.data(), n=st.integers(2, 5), error=st.sampled_from([1e-2, 1e-6]))
@hypothesis_settings(max_examples=25)
def test_flows_equal_a_qp_and_no_path_is_nearer(data, n, error):
    """Two graphs with edges in any order, some of them side by side."""
    pairs = [(a, b) for a in range(n) for b in range(a + 1, n)]
    drawn = data.draw(st.lists(st.sampled_from(pairs), min_size=0, max_size=6))
    edges = [(0, n - 1), *drawn, *((a + n, b + n) for a, b in [*drawn, (0, n - 1)])]
    tail, head = np.array(edges).T
    ends = np.array([0, n, 2 * n])
    kept = useful(tail, head, ends)
    paths = nx.MultiDiGraph(edges)
    for (a, b), lies in zip(edges, kept, strict=True):
        first = 0 if a < n else n
        there = a == first or nx.has_path(paths, first, a)
        assert lies == (there and (b == first + n - 1 or nx.has_path(paths, b, first + n - 1)))

    class Flows(FlowRelaxation):
        scores = features = None

    flows = Flows(tail[kept], head[kept], ends)
    count = int(kept.sum())
    v = np.array(data.draw(st.lists(anything, min_size=count, max_size=count)))
    found, rows = flows.project(v, error=error), flows.polytope()
    A, b = rows.A.toarray(), rows.b
    np.testing.assert_allclose(A @ found.point, b, atol=1e-12)
    assert found.point.min() >= 0
    assert found.error <= error + 1e-7  # squares round at 1e-16
    exact = nearest_in(v, np.vstack([A, -A]), np.concatenate([b, -b]))
    assert np.linalg.norm(found.point - exact) <= found.error + 1e-5


@pytest.mark.parametrize("name", ["Lattice", "SecondOrderChain", "Segments"])
def test_saddle_methods_learn_paths_as_cutting_planes_do(name):
    room = {"Lattice": "lattice", "SecondOrderChain": "second_order", "Segments": "segments"}[name]
    small = importlib.import_module(f"structopt.structures.{room}.small").small
    problem = small(np.random.default_rng(3))
    found = {}
    for method in ("compact", "extragradient", "cutting-plane"):
        model = so.StructuredClassifier(problem.structure, so.M3N(0.5), method=method, tol=1e-3)
        found[method] = model.fit(problem.X, problem.Y).result_.certificate
        assert found[method].certified
    primal = found["compact"].primal
    assert found["extragradient"].primal == pytest.approx(primal, rel=3e-3)
    assert found["cutting-plane"].primal == pytest.approx(primal, rel=3e-3)
