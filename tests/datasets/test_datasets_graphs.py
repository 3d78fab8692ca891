"""Laser scans and images become graphs whose features are what their definitions say."""

import sys

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

import structopt as so
from structopt.datasets import (
    Scan,
    image_grid,
    load_horses,
    load_lidar,
    read_pair,
    read_scan,
    scan_tiles,
)
from structopt.datasets.scan_graphs import NODE_FEATURES, RADII, _lowest
from structopt.errors import (
    FileFormatError,
    InvalidInputError,
    MissingDataError,
    MissingDependencyError,
)
from structopt.files import read_plain_arrays


# ---------------------------------------------------------------------- scans
def scan(n=400, seed=0, size=20.0):
    rng = np.random.default_rng(seed)
    returns = rng.integers(1, 4, n)
    return Scan(
        rng.uniform(0, [size, size, 3.0], (n, 3)),
        np.minimum(rng.integers(1, 4, n), returns).astype(float),
        returns.astype(float),
        rng.uniform(0, 200, n),
        rng.choice([1, 2, 9], n),
    )


@given(st.integers(1, 60), st.integers(0, 10**6), st.sampled_from(RADII), st.booleans())
@settings(max_examples=50, deadline=None)
def test_the_lowest_neighbour_is_that_of_all_pairs(n, seed, radius, rough):
    xyz = np.random.default_rng(seed).uniform(0, 8, (n, 3))
    if rough:  # ties, and points on top of each other
        xyz = xyz.round()
    near = np.linalg.norm(xyz[:, None, :2] - xyz[None, :, :2], axis=2) <= radius
    expected = np.where(near, xyz[None, :, 2], np.inf).min(axis=1)
    np.testing.assert_array_equal(_lowest(xyz, radius), expected)


def test_tiles_share_out_the_points_and_edges_join_neighbours():
    data = scan()
    X, Y = scan_tiles(data, side=10.0, k=5)
    assert len(X) == 4
    assert sum(map(len, Y)) == 400
    assert sum(y.sum() for y in Y) == (data.classification == 2).sum()
    place = np.floor((data.xyz[:, :2] - data.xyz[:, :2].min(axis=0)) / 10.0)
    tiles = {tuple(p): data.xyz[(place == p).all(axis=1)] for p in np.unique(place, axis=0)}
    for (edges, nodes, features), y, xyz in zip(X, Y, tiles.values(), strict=True):
        distance = np.linalg.norm(xyz[:, None] - xyz[None], axis=2)
        nearest = np.argsort(distance, axis=1)[:, 1:6]
        expected = {tuple(sorted((i, int(j)))) for i, row in enumerate(nearest) for j in row}
        assert {tuple(edge) for edge in edges.tolist()} == expected
        assert len(edges) == len(expected)
        assert nodes.shape == (len(y), len(NODE_FEATURES)) == (len(xyz), 9)
        assert np.isfinite(nodes).all()
        rise = np.abs(np.diff(xyz[edges, 2], axis=1)[:, 0])
        np.testing.assert_allclose(features, np.stack([rise * 0 + 1, np.exp(-2 * rise)], axis=1))


def test_a_plane_is_flat_and_a_wall_is_not():
    rng = np.random.default_rng(1)
    flat = np.c_[rng.uniform(0, 9, (200, 2)), np.zeros(200)]
    ones = np.ones(200)
    features = {}
    for name, xyz in {"flat": flat, "wall": flat[:, [0, 2, 1]]}.items():
        (x,), _ = scan_tiles(Scan(xyz, ones, 2 * ones, ones, ones.astype(int)), side=99.0)
        features[name] = dict(zip(NODE_FEATURES, x[1].T, strict=True))
    np.testing.assert_allclose(features["flat"]["upright"], 1.0)
    np.testing.assert_allclose(features["wall"]["upright"], 0.0, atol=1e-9)
    np.testing.assert_allclose(features["flat"]["rough"], 0.0, atol=1e-9)
    np.testing.assert_array_equal(features["flat"]["low within 3 m"], 1.0)
    assert features["wall"]["low within 3 m"].min() < 1e-3
    np.testing.assert_array_equal(features["flat"]["first return"], 1.0)
    np.testing.assert_array_equal(features["flat"]["last return"], 0.0)
    np.testing.assert_array_equal(features["flat"]["intensity"], 0.0)  # all alike


def test_points_on_top_of_each_other_are_no_loops():
    xyz = np.repeat(scan(5).xyz, 4, axis=0)
    ones = np.ones(20)
    ((edges, nodes, _),), _ = scan_tiles(Scan(xyz, ones, ones, ones, ones.astype(int)), side=99.0)
    assert (edges[:, 0] < edges[:, 1]).all()
    assert np.isfinite(nodes).all()


@pytest.mark.parametrize("options", [{"side": 0.0}, {"k": 2}, {"side": float("nan")}])
def test_tiles_refuse_nonsense(options):
    with pytest.raises(
        InvalidInputError, match=r"side > 0 and k >= 3|side must be a finite number > 0"
    ):
        scan_tiles(scan(20), **options)


def test_tiles_that_are_too_small_are_refused():
    with pytest.raises(InvalidInputError, match="larger side"):
        scan_tiles(scan(20), side=0.01)


def save(path, data, **changes):
    path.parent.mkdir(exist_ok=True)
    arrays = {k: v for k, v in (data._asdict() | changes).items() if v is not None}
    np.savez(path, **arrays)
    return path


def test_scans_are_read_and_water_is_left_out(tmp_path, monkeypatch):
    monkeypatch.setenv("STRUCTOPT_DATA", str(tmp_path))
    with pytest.raises(MissingDataError, match=r"topography_west\.npz"):
        load_lidar()
    data = scan()
    path = save(tmp_path / "lidar_ground" / "topography_west.npz", data)
    for one, other in zip(read_scan(path), data, strict=True):
        np.testing.assert_array_equal(one, other)
    _, Y = load_lidar(side=10.0)
    assert sum(map(len, Y)) == (data.classification != 9).sum()


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"intensity": None}, "expected arrays xyz, return_number"),
        ({"xyz": np.zeros((4, 2))}, r"xyz has shape \(4, 2\)"),
        ({"xyz": np.zeros(())}, "xyz has shape"),
        ({"intensity": np.zeros(3)}, r"intensity has shape \(3,\)"),
        ({"intensity": np.full(400, np.nan)}, "intensity holds what is not finite"),
        ({"intensity": np.full(400, "a")}, "expected numbers"),
        ({"intensity": np.full(400, None)}, "plain arrays"),
    ],
)
def test_scans_that_do_not_fit_are_refused(tmp_path, changes, reason):
    path = save(tmp_path / "scan.npz", scan(), **changes)
    with pytest.raises(FileFormatError, match=reason) as caught:
        read_scan(path)
    assert str(path) in str(caught.value)


def test_files_without_arrays_are_refused(tmp_path):
    np.save(tmp_path / "lone.npy", np.arange(3))
    (tmp_path / "rubbish.npz").write_bytes(b"rubbish")
    for name in ("lone.npy", "rubbish.npz"):
        with pytest.raises(FileFormatError, match="not a whole"):
            read_plain_arrays(tmp_path / name, ("a",))


# ---------------------------------------------------------------------- images
@given(
    st.integers(2, 13),
    st.integers(2, 13),
    st.integers(1, 3),
    st.integers(2, 13),
    st.integers(0, 99),
)
@settings(max_examples=50, deadline=None)
def test_grids_are_those_of_the_definition(rows, columns, n_channels, cells, seed):
    cells = min(cells, max(rows, columns))
    rng = np.random.default_rng(seed)
    pixels, figure = rng.random((rows, columns, n_channels)), rng.random((rows, columns)) < 0.5
    (edges, nodes, features), y = image_grid(pixels, figure, cells=cells)
    height, width = y.shape
    assert max(y.shape) == cells
    assert nodes.shape == (height * width, 3 * n_channels + 6)
    grid = nx.convert_node_labels_to_integers(nx.grid_2d_graph(height, width))
    assert {frozenset(e) for e in edges.tolist()} == {frozenset(e) for e in grid.edges}
    assert len(edges) == grid.number_of_edges()
    of_row = np.searchsorted(np.arange(height) * rows // height, np.arange(rows), "right") - 1
    of_column = (
        np.searchsorted(np.arange(width) * columns // width, np.arange(columns), "right") - 1
    )
    for cell in range(height * width):
        r, c = divmod(cell, width)
        inside = np.ix_(of_row == r, of_column == c)
        values = pixels[inside].reshape(-1, n_channels)
        mean, at = values.mean(axis=0), ((2 * r + 1) / height - 1, (2 * c + 1) / width - 1)
        place = [at[0], at[1], at[0] ** 2, at[1] ** 2, at[0] * at[1]]
        expected = [1.0, *mean, *mean**2, *values.std(axis=0), *place]
        np.testing.assert_allclose(nodes[cell], expected, atol=1e-7)
        assert y[r, c] == (figure[inside].mean() > 0.5)
    means = nodes[:, 1 : 1 + n_channels]
    contrast = ((means[edges[:, 0]] - means[edges[:, 1]]) ** 2).sum(axis=1)
    np.testing.assert_allclose(features[:, 1], np.exp(-contrast / (2 * contrast.mean())))
    np.testing.assert_array_equal(features[:, 0], 1.0)


def test_an_even_image_has_like_neighbours():
    (_, _, features), _ = image_grid(np.full((4, 4), 0.5), np.ones((4, 4), dtype=bool), cells=4)
    np.testing.assert_array_equal(features, 1.0)


@pytest.mark.parametrize("cells", [1, 9])
def test_grids_refuse_nonsense(cells):
    with pytest.raises(InvalidInputError, match=f"cells is {cells}; choose 2 to 8"):
        image_grid(np.zeros((4, 8)), np.zeros((4, 8), dtype=bool), cells=cells)
    with pytest.raises(InvalidInputError, match="must agree"):
        image_grid(np.zeros((4, 8)), np.zeros((8, 4), dtype=bool))


def draw(path, rows, columns, *, colour=False):
    """An image whose right half is white, in PNG, which loses nothing."""
    path.parent.mkdir(parents=True, exist_ok=True)
    pixels = np.zeros((rows, columns, 3) if colour else (rows, columns), dtype=np.uint8)
    pixels[:, columns // 2 :] = 255
    Image.fromarray(pixels).save(path)
    return path


def test_pairs_are_found_by_name_and_resized_to_the_mask(tmp_path, monkeypatch):
    monkeypatch.setenv("STRUCTOPT_DATA", str(tmp_path))
    folder = tmp_path / "weizmann_horses"
    with pytest.raises(MissingDataError, match="figure_ground"):
        load_horses()
    for name in ("a.png", "b.png"):
        draw(folder / "figure_ground" / name, 20, 40)
        draw(folder / "gray" / name, 20, 40)
        draw(folder / "rgb" / name, 61, 121, colour=True)
    X, Y = load_horses(cells=8)
    assert [y.tolist() for y in Y] == [[[0] * 4 + [1] * 4] * 4] * 2
    np.testing.assert_array_equal(X[0][1][:, 1], np.tile([0.0] * 4 + [1.0] * 4, 4))
    X, Y = load_horses(1, cells=8, colour=True)
    assert len(X) == 1
    assert X[0][1].shape == (32, 15)
    (folder / "gray" / "a.png").unlink()
    with pytest.raises(MissingDataError, match=r"no image .*a\.png"):
        load_horses()
    with pytest.raises(InvalidInputError, match="n_examples"):
        load_horses(0)


def test_bad_images_are_named(tmp_path):
    mask = draw(tmp_path / "mask.png", 20, 40)
    with pytest.raises(FileFormatError, match=r"tall\.png has 20 x 40 pixels, its mask 40 x 20"):
        read_pair(draw(tmp_path / "tall.png", 40, 20), mask, cells=4)
    whole = mask.read_bytes()
    for data in (b"", b"rubbish", whole[:-40], whole[:30]):
        (tmp_path / "bad.png").write_bytes(data)
        with pytest.raises(FileFormatError, match=r"bad\.png is no whole image"):
            read_pair(tmp_path / "bad.png", mask, cells=4)
    with pytest.raises(FileNotFoundError):
        read_pair(tmp_path / "none.png", mask)


def test_without_pillow_the_extra_is_named(tmp_path, monkeypatch):
    mask = draw(tmp_path / "mask.png", 4, 4)
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(MissingDependencyError, match=r"structopt-margin\[data\]"):
        read_pair(mask, mask)


# ---------------------------------------------------------------------- learning
def test_a_cut_learns_bright_figures_and_low_points():
    rng = np.random.default_rng(0)
    images = []
    for _ in range(6):
        figure = np.zeros((24, 24), dtype=bool)
        r, c = rng.integers(2, 12, size=2)
        figure[r : r + 10, c : c + 10] = True
        images.append(image_grid(0.4 * figure + 0.6 * rng.random((24, 24)), figure, cells=12))
    # a plain with bushes: what is ground lies within 10 cm of the lowest point
    scans = []
    for seed in range(6):
        data = scan(200, seed)
        ground = np.random.default_rng(seed).random(200) < 0.5
        data.xyz[ground, 2] *= 0.03
        data.xyz[~ground, 2] += 0.5
        (x,), (y,) = scan_tiles(data._replace(classification=np.where(ground, 2, 1)), side=99.0)
        scans.append((x, y))
    for pairs in (images, scans):
        X, Y = ([pair[k] for pair in pairs] for k in (0, 1))
        model = so.StructuredClassifier(so.GraphCut(), so.M3N(C=1.0), tol=1e-2).fit(X[:3], Y[:3])
        wrong = [
            np.ravel(a) != np.ravel(b) for a, b in zip(model.predict(X[3:]), Y[3:], strict=True)
        ]
        # every second point, and about 17% of the cells, are of the rarer class
        assert np.mean(np.concatenate(wrong)) < 0.05
