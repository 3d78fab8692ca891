"""Projections against a generic QP solver."""

import cvxpy as cp
import numpy as np
import pytest
from enumeration import constraints, small_chain, solve
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from structopt.errors import InvalidInputError
from structopt.formulations.l1_ball_m3n import L1BallM3N
from structopt.projections.l1_ball import project_l1_ball
from structopt.projections.simplex import project_simplex

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
