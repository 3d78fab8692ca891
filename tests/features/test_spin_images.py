"""Spin images are what their definition says, and what a rigid motion leaves as it is."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

import structopt as so
from structopt.errors import InvalidInputError

SEEDS = st.integers(0, 10**6)


def cloud(seed, n=40):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 3)), rng.normal(size=(n, 3))


def image(points, p, axis, radius, bins):
    """The definition, one neighbour and one grid point after the other."""
    rows, columns = bins
    axis = axis / np.linalg.norm(axis)
    found = np.zeros(bins)
    for x in points:
        beta = float((x - p) @ axis)
        alpha = float(np.sqrt(max((x - p) @ (x - p) - beta**2, 0.0)))
        if alpha > radius or abs(beta) > radius:
            continue
        for i, height in enumerate(np.linspace(radius, -radius, rows)):
            for j, distance in enumerate(np.linspace(0.0, radius, columns)):
                down = 1.0 - abs(beta - height) * (rows - 1) / (2.0 * radius)
                across = 1.0 - abs(alpha - distance) * (columns - 1) / radius
                found[i, j] += max(down, 0.0) * max(across, 0.0)
    return found.ravel()


@given(SEEDS, st.integers(1, 25), st.floats(0.1, 5.0), st.tuples(*[st.integers(2, 6)] * 2))
@settings(max_examples=40, deadline=None)
def test_images_are_those_of_the_definition(seed, n, radius, bins):
    points, axes = cloud(seed, n)
    found = so.spin_images(points, axes, radius=radius, bins=bins)
    expected = [image(points, p, a, radius, bins) for p, a in zip(points, axes, strict=True)]
    np.testing.assert_allclose(found, expected, atol=1e-6)


@given(SEEDS, st.floats(0.2, 4.0))
@settings(max_examples=25, deadline=None)
def test_a_rigid_motion_changes_nothing(seed, radius):
    points, _ = cloud(seed)
    turn = Rotation.random(random_state=seed)
    moved = turn.apply(points) + np.array([3.0, -1.0, 7.0])
    normals = so.surface_normals(points, k=6, up=(0.0, 0.0, 1.0))
    assume(np.abs(normals[:, 2]).min() > 1e-6)  # else either sign is right
    turned = so.surface_normals(moved, k=6, up=tuple(turn.apply([0.0, 0.0, 1.0])))
    np.testing.assert_allclose(turned, turn.apply(normals), atol=1e-6)
    np.testing.assert_allclose(
        so.spin_images(moved, turned, radius=radius),
        so.spin_images(points, normals, radius=radius),
        atol=1e-5,
    )


@given(SEEDS)
@settings(max_examples=25, deadline=None)
def test_each_neighbour_may_turn_around_the_normal_by_itself(seed):
    """Only the first point's own image stays: each other point turns by another angle."""
    rng = np.random.default_rng(seed)
    points, _ = cloud(seed)
    axis = rng.normal(size=3)
    angles = rng.uniform(0.0, 2.0 * np.pi, (len(points), 1))
    turns = Rotation.from_rotvec(angles * axis / np.linalg.norm(axis))
    turned = points[0] + turns.apply(points - points[0])
    axes = np.tile(axis, (len(points), 1))
    before, after = (so.spin_images(p, axes, radius=1.5)[0] for p in (points, turned))
    np.testing.assert_allclose(after, before, atol=1e-6)


def test_many_points_are_taken_in_turns_and_all_of_them_are_counted():
    rng = np.random.default_rng(0)
    points, axes = rng.uniform(0, 10, (600, 3)), rng.normal(size=(600, 3))
    found = so.spin_images(points, axes, radius=2.0)
    units = axes / np.linalg.norm(axes, axis=1, keepdims=True)
    offset = points[None] - points[:, None]
    beta = np.einsum("pxi,pi->px", offset, units)
    alpha = np.linalg.norm(offset - beta[..., None] * units[:, None], axis=2)
    inside = (np.abs(beta) <= 2.0) & (alpha <= 2.0)
    np.testing.assert_allclose(found.sum(axis=1), inside.sum(axis=1))
    assert found.shape == (600, 50)


def test_lengths_of_normals_do_not_matter_and_their_sign_turns_the_image_over():
    points, axes = cloud(1)
    upright = so.spin_images(points, axes, radius=1.0).reshape(-1, 10, 5)
    longer = so.spin_images(points, 7.0 * axes, radius=1.0).reshape(-1, 10, 5)
    turned = so.spin_images(points, -axes, radius=1.0).reshape(-1, 10, 5)
    np.testing.assert_allclose(longer, upright, atol=1e-9)
    np.testing.assert_allclose(turned, upright[:, ::-1], atol=1e-9)


@given(SEEDS)
@settings(max_examples=25, deadline=None)
def test_normals_of_a_plane_are_the_planes(seed):
    rng = np.random.default_rng(seed)
    normal = rng.normal(size=3)
    normal /= np.linalg.norm(normal)
    across = np.linalg.svd(normal[None])[2][1:]
    points = rng.normal(size=(30, 2)) @ across + rng.normal(size=3)
    found = so.surface_normals(points, k=8, up=tuple(normal))
    np.testing.assert_allclose(found, np.tile(normal, (30, 1)), atol=1e-6)


GOOD = {"points": np.eye(3), "normals": np.ones((3, 3)), "radius": 1.0}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"points": np.ones((3, 2))}, r"points must be finite and have shape \(n, 3\)"),
        ({"points": np.zeros((0, 3))}, r"points must .* n >= 1; got shape \(0, 3\)"),
        ({"points": [[0.0, 0.0, np.nan]] * 3}, "points must be finite"),
        ({"points": [["a", "b", "c"]] * 3}, "points must be numbers"),
        ({"normals": np.ones((2, 3))}, "3 points have 2 normals"),
        (
            {"normals": [[0, 0, 1], [0, 0, 0], [1, 0, 0]]},
            "Row 1 of normals is no direction; its length is 0.0",
        ),
        ({"normals": [[0, 0, np.inf]] * 3}, "normals must be finite"),
        ({"bins": (10, 1)}, r"bins must be two whole numbers >= 2; got \(10, 1\)"),
        ({"bins": (10, 5, 2)}, "bins must be two whole numbers"),
        ({"bins": (2.5, 5)}, "bins must be two whole numbers"),
        ({"bins": 10}, "bins must be two whole numbers"),
        ({"radius": 0.0}, "radius must be a finite number > 0"),
        ({"radius": np.inf}, "radius must be a finite number > 0"),
    ],
)
def test_spin_images_name_what_they_cannot_read(options, said):
    with pytest.raises(InvalidInputError, match=said):
        so.spin_images(**(GOOD | options))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"k": 1}, "k must be at least 2 and less than the number of points, 3; got 1"),
        ({"k": 3}, "less than the number of points, 3; got 3"),
        ({"up": (0.0, 1.0)}, "up must be finite and have shape"),
        ({"up": (0.0, 0.0, 0.0)}, "Row 0 of up is no direction"),
        ({"points": np.ones(3)}, "points must be finite and have shape"),
    ],
)
def test_normals_name_what_they_cannot_read(options, said):
    with pytest.raises(InvalidInputError, match=said):
        so.surface_normals(**({"points": np.eye(3), "k": 2} | options))
