"""Cones by their definitions: what lies in them, in their duals, and well inside."""

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

from structopt.master.compile import compile_problem
from structopt.master.cones import Cone, Cones, triangle

KINDS = {
    "soc": Cone("soc", 3),
    "exp": Cone("exp", 3),
    "power": Cone("power", 3, (0.3, 0.7)),
    "even power": Cone("power", 3, (0.5, 0.5)),
    "psd": Cone("psd", 3),
    "larger psd": Cone("psd", 6),
}


def cones_of(*blocks):
    size = sum(block.size for block in blocks)
    return Cones(sp.csr_array(sp.eye_array(size)), np.zeros(size), blocks)


def matrix_of(s):
    """The symmetric matrix of an upper triangle, column by column, off the diagonal by sqrt 2."""
    side = {3: 2, 6: 3}[len(s)]
    full = np.zeros((side, side))
    places = [(r, c) for c in range(side) for r in range(c + 1)]
    for value, (r, c) in zip(s, places, strict=True):
        full[r, c] = full[c, r] = value if r == c else value / np.sqrt(2)
    return full


def inside(cone, s):
    """By definition, None near the border."""
    if cone.kind == "soc":
        room = s[0] - np.hypot(s[1], s[2])
    elif cone.kind == "exp":
        room = s[2] - s[1] * np.exp(min(s[0] / s[1], 50.0)) if s[1] > 0 else -1.0
    elif cone.kind == "power":
        room = -1.0
        if min(s[:2]) >= 0:
            room = s[0] ** cone.powers[0] * s[1] ** cone.powers[1] - abs(s[2])
    else:
        room = np.linalg.eigvalsh(matrix_of(s)).min()
    return None if abs(room) < 1e-6 else bool(room > 0)


def drawn(cone, rng):
    s = rng.normal(size=cone.size) * 10.0 ** rng.integers(-1, 2)
    if rng.integers(2):
        s[: max(1, len(cone.powers))] = np.abs(s[: max(1, len(cone.powers))])
    if cone.kind == "exp" and rng.integers(2):
        s[1:] = np.abs(s[1:])
    if cone.kind == "psd" and rng.integers(2):
        half = rng.normal(size=(cone.side, cone.side))
        row, column = triangle(cone.side)
        s = (half @ half.T)[row, column] * np.where(row == column, 1.0, np.sqrt(2))
    return s


@pytest.mark.parametrize("name", KINDS)
def test_what_lies_in_a_cone(name):
    cone, rng = KINDS[name], np.random.default_rng(0)
    found = set()
    for _ in range(400):
        s = drawn(cone, rng)
        expected = inside(cone, s)
        if expected is not None:
            assert cones_of(cone).contain(s) == expected, s
            found.add(expected)
    assert found == {True, False}


@pytest.mark.parametrize("name", KINDS)
def test_borders_and_faces(name):
    cone = KINDS[name]
    cones = cones_of(cone)
    zero = np.zeros(cone.size)
    assert cones.contain(zero)
    assert not cones.contain(zero - 1e-3 * cones.centre)
    on, off = {
        "soc": ([5.0, 3.0, 4.0], [5.0, 3.0, 4.0001]),
        "exp": ([-1.0, 0.0, 2.0], [1.0, 0.0, 2.0]),  # y = 0: x <= 0, z >= 0
        "power": ([1.0, 1.0, -1.0], [1.0, 1.0, -1.0001]),
        "psd": ([1.0, np.sqrt(2), 1.0], [1.0, 1.001 * np.sqrt(2), 1.0]),
    }[cone.kind]
    if len(on) == cone.size:
        assert cones.depth(np.array(on)) >= -1e-9
        assert not cones.contain(np.array(off))
    if cone.kind == "exp":
        assert not cones.contain(np.array([-1.0, 0.0, -1.0]))
        assert not cones.contain(np.array([-1.0, -0.1, 1.0]))


@pytest.mark.parametrize("name", KINDS)
def test_centres_are_well_inside(name):
    cones = cones_of(KINDS[name])
    assert inside(KINDS[name], cones.centre) is True
    assert cones.depth(cones.centre) >= 0.5
    assert cones.contain_dual(cones.dual_centre)
    rng = np.random.default_rng(1)
    for _ in range(100):  # inside the dual cone, so above 0 on everything but 0
        s = drawn(KINDS[name], rng)
        if cones.contain(s):
            assert s @ cones.dual_centre > 1e-3 * np.abs(s).max()


@pytest.mark.parametrize("name", KINDS)
def test_the_dual_cone_is_that_of_the_cone(name):
    cone, rng = KINDS[name], np.random.default_rng(2)
    cones = cones_of(cone)
    members = [s for s in (drawn(cone, rng) for _ in range(3000)) if cones.contain(s)]
    if cone.kind == "exp":  # its border, where the dual binds
        grid = np.linspace(-6, 6, 200)
        members += [np.array([x, 1.0, np.exp(x)]) for x in grid] + [np.array([-1.0, 0.0, 0.0])]
    elif cone.kind == "power":
        grid = np.logspace(-4, 4, 200)
        a, b = cone.powers
        members += [
            np.array([t, 1 / t, side * t**a * (1 / t) ** b]) for t in grid for side in (-1, 1)
        ]
    elif cone.kind == "soc":
        turns = np.linspace(0, 2 * np.pi, 200)
        members += [np.array([1.0, np.cos(t), np.sin(t)]) for t in turns]
    else:
        row, column = triangle(cone.side)
        for _ in range(500):
            v = rng.normal(size=cone.side)
            members.append(np.outer(v, v)[row, column] * np.where(row == column, 1, np.sqrt(2)))
    members = np.array([s / np.abs(s).max() for s in members])
    seen = set()
    for _ in range(300):
        z = drawn(cone, rng)
        if cone.kind == "exp" and rng.integers(2):
            z[0] = -abs(z[0])
            z[2] = abs(z[2])
        least = float((members @ z).min()) / np.abs(z).max()
        if cones.contain_dual(z):
            assert least >= -1e-9
            seen.add(True)
        elif least > 0.02:  # clearly above 0 on all of the cone that was drawn
            pytest.fail(f"{z} lies in the dual of {name}")
        else:
            seen.add(False)
    assert seen == {True, False}


def test_the_depth_of_several_cones_is_the_least():
    cones = cones_of(KINDS["soc"], KINDS["soc"], KINDS["exp"])
    rows = np.concatenate([[3.0, 0.0, 0.0], [1.0, 0.0, 0.5], [0.0, 1.0, 9.0]])
    assert cones.depth(rows) == pytest.approx(0.5)
    rows[3] = 0.25
    assert cones.depth(rows) == pytest.approx(-0.25)
    rows[0] = -1.0
    assert not cones.contain(rows)
    assert cones.depth(rows) == pytest.approx(-1.0)
    assert cones.kinds == ["exp", "soc"]


def test_no_cones_hold_everything():
    none = Cones.none(4)
    assert len(none) == 0
    assert none.matrix.shape == (0, 4)
    assert none.depth(np.zeros(0)) == np.inf
    assert none.contain(np.zeros(0))
    assert none.contain_dual(np.zeros(0))
    assert none.centre.shape == none.dual_centre.shape == (0,)


def test_the_depth_of_a_power_cone_counts_bases_too():
    cones = cones_of(KINDS["even power"])
    assert cones.depth(np.array([4.0, 9.0, 1.0])) == pytest.approx(4.0)
    assert cones.depth(np.array([4.0, 9.0, 5.0])) == pytest.approx(1.0)
    assert cones.depth(np.array([-2.0, 9.0, 0.0])) == pytest.approx(-2.0, abs=1e-6)


def test_the_residual_is_the_largest_share_of_rows_bounds_and_cones():
    u = cp.Variable(3)
    p = compile_problem(cp.sum(u), [cp.SOC(1.0 + 0 * u[0], u), u[0] + u[1] <= 0.5, u >= -0.75], [u])
    assert p.is_conic
    assert p.size == 3
    for x, share in (
        ([0.1, 0.2, 0.3], 0.0),
        ([0.0, 0.0, 1.0], 0.0),
        ([0.0, 0.0, 2.0], 0.5),  # 1 beyond a ball, of numbers up to 2
        ([0.6, 0.6, 0.0], 0.7 / 1.2),  # a row
        ([0.1, 0.1, -0.8], 0.05 / 0.8),  # a bound
        ([-1.0, 0.0, 3.0], (np.sqrt(10) - 1) / 3.0),  # the worst of a bound and the ball
    ):
        assert p.residual(np.array(x)) == pytest.approx(share, rel=1e-9, abs=1e-12)
    wide = compile_problem(cp.sum(u), [cp.SOC(1e6 + 0 * u[0], u)], [u])
    assert wide.residual(np.array([2e6, 0.0, 0.0])) == pytest.approx(0.5)
    tiny = compile_problem(cp.sum(u), [cp.SOC(1e-6 + 0 * u[0], u)], [u])
    assert tiny.residual(np.array([2e-6, 0.0, 0.0])) == pytest.approx(0.5)


@pytest.mark.parametrize("name", KINDS)
def test_one_cone_outside_is_enough_wherever_it_stands(name):
    """Rows far outside, on faces and with zeros: their depth is a number, and below 0."""
    cone, rng = KINDS[name], np.random.default_rng(5)
    calm = KINDS["soc"]
    outside = [-cones_of(cone).centre, *(-np.eye(cone.size)), *rng.integers(-2, 2, (40, cone.size))]
    for s in map(np.asarray, outside):
        expected = cones_of(cone).contain(s)
        face = cone.kind == "exp" and s[1] == 0
        if not face and inside(cone, s + 0.0) is not None:
            assert expected == inside(cone, s + 0.0)
        for blocks in ((calm, cone), (cone, calm), (cone, calm, cone)):
            parts = [s if block is cone else np.array([3.0, 0.0, 0.0]) for block in blocks]
            cones = cones_of(*blocks)
            assert not np.isnan(cones.depth(np.concatenate(parts)))
            assert cones.contain(np.concatenate(parts)) == expected
