"""Lattices that come as arrays: the same answers as graphs, no copies, mistakes named."""

import numpy as np
import pytest
import scipy.sparse as sp

import structopt as so
from structopt.errors import InvalidInputError
from structopt.structures.base.oracles import best_other, worst
from structopt.structures.lattice.small import every_path, random_lattice


def problem(seed, n=6, d=3):
    """Random graphs with two references each, and the same as arrays."""
    rng = np.random.default_rng(seed)
    graphs = [
        random_lattice(rng, multi=True, whole=bool(seed % 2), d=d, convention="dense")
        for _ in range(n)
    ]
    nodes, arcs, tail, head, rows, references, paths = [0], [0], [], [], [], [], []
    named, numbered = [], []
    for graph in graphs:
        ends = graph.graph["source"], graph.graph["sink"]
        inner = [node for node in graph if node not in ends]
        place = {node: k for k, node in enumerate([ends[0], *inner, ends[1]])}
        edges = list(graph.edges(keys=True))
        number = {edge: e for e, edge in enumerate(edges)}
        nodes.append(nodes[-1] + len(place))
        arcs.append(arcs[-1] + len(edges))
        tail += [place[u] for u, _, _ in edges]
        head += [place[v] for _, v, _ in edges]
        rows += [graph.edges[edge].get("features", np.zeros(d)) for edge in edges]
        every = every_path(graph)
        good = [every[k] for k in rng.choice(len(every), min(2, len(every)), replace=False)]
        references.append(len(good))
        paths += [[number[edge] for edge in path] for path in good]
        named.append(good)
        numbered.append(number)
    X = so.LatticeArrays(nodes, arcs, tail, head, np.array(rows))
    ends = np.cumsum([0, *map(len, paths)])
    Y = so.PathArrays(ends, np.concatenate(paths), references=np.cumsum([0, *references]))
    return graphs, named, X, Y, numbered, rng


def same(found, expected, numbered):
    numbers = zip(expected, numbered, strict=True)
    assert found == [tuple(number[edge] for edge in path) for path, number in numbers]


@pytest.mark.parametrize("seed", range(12))
def test_arrays_answer_as_graphs_do(seed):
    graphs, named, X, Y, numbered, rng = problem(seed)
    w = rng.integers(-2, 3, size=3).astype(float)
    plain, arrays = so.Lattice(), so.Lattice()
    gold, own = [good[0] for good in named], [paths[0] for paths in Y]
    plain, arrays = plain.fitted(graphs, gold), arrays.fitted(X, own)
    same(arrays.predict(X, w), plain.predict(graphs, w), numbered)
    for a, b, number in zip(X, graphs, numbered, strict=True):
        ours, theirs = arrays.k_best(a, w, 3), plain.k_best(b, w, 3)
        same(ours, theirs, [number] * len(theirs))
        np.testing.assert_allclose(
            arrays.joint_features(a, ours[0]).toarray(),
            plain.joint_features(b, theirs[0]).toarray(),
        )
        assert arrays.loss(ours[0], ours[-1]) == plain.loss(theirs[0], theirs[-1])
    one = so.PathArrays(np.cumsum([0, *map(len, own)]), np.concatenate(own))
    for outputs in (own, one):
        ours, theirs = arrays.encode(X, outputs), plain.encode(graphs, gold)
        for oracle in (so.loss_augmented, best_other, worst):
            mine, known = ours.ask(oracle, w), theirs.ask(oracle, w)
            np.testing.assert_array_equal(mine.loss, known.loss)
            np.testing.assert_allclose(mine.score, known.score, atol=1e-12)
    several, listed = so.References(arrays).fitted(X, Y), so.References(plain).fitted(graphs, named)
    for outputs in (Y, list(Y)):
        ours, theirs = several.encode(X, outputs), listed.encode(graphs, named)
        for oracle in (so.worst_reference, so.nearest_reference):
            mine, known = ours.ask(oracle, w), theirs.ask(oracle, w)
            np.testing.assert_array_equal(mine.loss, known.loss)
            np.testing.assert_allclose(mine.score, known.score, atol=1e-12)
            delta = ours.directions(mine.outputs, np.arange(6)).dot(ours.base, w)
            np.testing.assert_allclose(delta[np.isfinite(mine.score)],
                                       mine.score[np.isfinite(mine.score)], atol=1e-9)  # fmt: skip


def test_several_right_paths_need_references():
    X, Y = so.datasets.make_swap_lattices(6, n_features=200, vocabulary=9, seed=0)
    with pytest.raises(so.errors.InvalidInputError, match=r"paths for 6 lattices.*References"):
        so.Lattice().fitted(X, Y).encode(X, Y)


def test_shards_of_arrays_learn_the_same():
    X, Y = so.datasets.make_swap_lattices(40, n_features=2000, vocabulary=30, seed=1)
    lp8 = so.LPStruct(C=1.0, references="worst")
    structure = so.References(so.Lattice()).fitted(X, Y)
    values = []
    for n_jobs in (1, 2):
        data = so.DataSet.of(structure, X, Y, n_jobs=n_jobs)
        result = so.CuttingPlane(structure, lp8, data, backend="highs", tol=1e-6).solve()
        assert result.certificate.certified
        values.append(result.certificate.primal)
    assert values[0] == pytest.approx(values[1], rel=1e-5)
    assert 0 < values[0] < 0.9 * len(X)  # w = 0 costs 1 a lattice: something is learned


def test_swap_lattices_hold_every_order_of_disjoint_swaps():
    X, Y = so.datasets.make_swap_lattices(1200, n_phrases=(3, 5), n_features=500, vocabulary=20)
    again, _ = so.datasets.make_swap_lattices(1050, n_phrases=(3, 5), n_features=500, vocabulary=20)
    np.testing.assert_array_equal(X[:1050].arc_features.data, again.arc_features.data)
    structure = so.Lattice().fitted(X, Y)
    fibonacci = {3: 3, 4: 5, 5: 8}
    for i in (0, 500, 999, 1000, 1199):
        length = len(Y[i][0])
        paths = structure.k_best(X[i], np.zeros(500), 20)
        assert len(paths) == fibonacci[length - 1]
        assert set(Y[i]) <= set(paths)
        assert len(set(Y[i])) == len(Y[i]) in (1, 2, 4)


def test_what_is_mapped_stays_mapped(tmp_path):
    X, Y = so.datasets.make_swap_lattices(30, n_features=500, vocabulary=20)
    csr = X.arc_features
    names = ("data", "indices", "indptr")
    for name in names:
        np.save(tmp_path / f"{name}.npy", getattr(csr, name))
    mixed = np.random.default_rng(0).permutation(30)
    first, again = X[mixed][np.argsort(mixed)], Y[mixed][np.argsort(mixed)]
    np.testing.assert_array_equal(first.arc_features.data, csr.data)  # taken and put back
    assert list(again) == list(Y)
    mapped = [np.load(tmp_path / f"{name}.npy", mmap_mode="r") for name in names]
    features = sp.csr_array(tuple(mapped), shape=csr.shape)
    given = so.LatticeArrays(X.node_ptr, X.arc_ptr, X.tail, X.head, features)
    shard = so.References(so.Lattice()).fitted(given, Y).encode(given, Y)
    assert np.shares_memory(shard.base.data, mapped[0])
    assert np.shares_memory(shard.base.indices, mapped[1])
    assert shard.base.indices.dtype == np.int32
    structure = so.Multiclass().fitted(features, np.arange(features.shape[0]) % 3)
    data = so.DataSet.of(structure, features, np.arange(features.shape[0]) % 3)
    assert np.shares_memory(data.base.data, mapped[0])
    assert np.shares_memory(data.base.indices, mapped[1])


def broken(**changed):
    parts = {
        "node_ptr": [0, 2, 5], "arc_ptr": [0, 1, 4], "tail": [0, 0, 1, 0], "head": [1, 1, 2, 2],
        "arc_features": np.ones((4, 2)),
    }  # fmt: skip
    return so.LatticeArrays(**(parts | changed))


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"tail": [0, 2, 1, 0]}, "lattice of example 11 has a cycle"),
        ({"head": [1, 1, 1, 1], "tail": [0, 0, 0, 0]}, "example 11 has no path from node 0"),
        ({"tail": [0, 0, 3, 0]}, "example 11 has an arc, number 1, with the tail 3"),
        ({"tail": [0, 0, -1, 0]}, "number 1, with the tail -1"),
        ({"node_ptr": [0, 1, 5]}, "example 10 has 1 nodes and 1 arcs"),
        ({"arc_features": np.ones((4, 3))}, "Arcs have 3 features; expected 2"),
        ({"arc_features": np.diag([1, 1, 1, np.nan])[:, 2:]}, "example 11 holds nan at arc 2"),
    ],
)
def test_a_lattice_that_is_none_is_named(changed, said):
    structure = so.Lattice().fitted(broken(), [(0,), (2,)])
    with pytest.raises(InvalidInputError, match=said):
        structure.encode(broken(**changed), [(0,), (2,)], start=10)


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"arc_ptr": [0, 4]}, "node_ptr tells of 2 lattices and arc_ptr of 1"),
        ({"arc_ptr": [0, 5, 4]}, "arc_ptr falls after entry 1"),
        ({"head": [1, 1, 2]}, "4 tails, 3 heads and 4 rows"),
        ({"tail": [0.5, 0, 1, 0]}, "tail has the type float64"),
        ({"arc_features": np.ones((3, 2))}, "3 rows of arc_features"),
        ({"labels": ["a"]}, "1 labels for 4 arcs"),
    ],
)
def test_arrays_that_do_not_fit_together(changed, said):
    with pytest.raises(InvalidInputError, match=said):
        broken(**changed)


@pytest.mark.parametrize(
    ("ptr", "arcs", "references", "said"),
    [
        ([0, 1, 2], [0, 0], None, "output of example 1 .* does not end in the sink"),
        ([0, 1, 2], [0, 1], None, "output of example 1 .* arc 1 does not lead on"),
        ([0, 1, 2], [0, 7], None, "output of example 1 .* arc 7 does not lead on"),
        ([0, 0, 1], [2], None, "output of example 0 .* it has 0 arcs"),
        ([0, 1], [0], [0, 1, 1], "Example 1 has no reference"),
    ],
)
def test_a_path_that_is_none_is_named(ptr, arcs, references, said):
    Y = so.PathArrays(ptr, arcs, references)
    structure = so.References(so.Lattice()).fitted(broken(), Y)
    with pytest.raises(InvalidInputError, match=said):
        structure.encode(broken(), Y)


def test_paths_as_arrays_need_lattices_as_arrays():
    graphs, named, *_ = problem(0)
    structure = so.Lattice().fitted(graphs, [good[0] for good in named])
    Y = so.PathArrays(np.arange(7), np.zeros(6, dtype=int))
    with pytest.raises(InvalidInputError, match="PathArrays"):
        structure.encode(graphs, Y)


def test_labels_are_read_from_arrays():
    X = so.LatticeArrays.of_nbest([0, 2], np.eye(2), labels=["a house", None])
    assert so.Lattice.words(X, (0,)) == ["a house"]
    assert so.Lattice.words(X, (1,)) == []
    assert so.Lattice().sketch(X, (1,)).steps == ((0, 1, None),)
