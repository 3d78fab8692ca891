"""What the data cost in memory, as a multiple of the inputs' own size (which is not counted)."""

import gc
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

import structopt as so
from structopt.arrays import base_matrix, stack_sequences
from structopt.methods.block_ascent.columns import Columns

N, LENGTH = 40, 100


def sequences(kind):
    rng = np.random.default_rng(0)
    Y = [rng.integers(0, 4, LENGTH).tolist() for _ in range(N)]
    if kind in ("dense", "pixels"):
        X = [rng.normal(size=(LENGTH, 256)) for _ in Y]
        if kind == "pixels":  # few enough for a sparse base
            X = [np.where(rng.random(x.shape) < 0.25, x, 0.0) for x in X]
        return X, Y, sum(x.nbytes for x in X)
    X = [sp.random_array((LENGTH, 4000), density=0.1, format="csr", rng=rng) for _ in Y]
    size = sum(x.data.nbytes + x.indices.nbytes + x.indptr.nbytes for x in X)
    if kind == "unsorted":
        X = [x[:, ::-1] for x in X]
        assert not any(x.has_canonical_format for x in X)
    if kind == "float32":
        X = [x.astype(np.float32) for x in X]
    if kind == "coo":
        X = [x.tocoo() for x in X]
    return X, Y, size


class Traced:
    """Measures allocations in sizes of the inputs."""

    def __init__(self, size):
        self.size = size

    def __enter__(self):
        gc.collect()
        tracemalloc.start()
        self.before = tracemalloc.get_traced_memory()[0]
        return self

    def __exit__(self, *_):
        tracemalloc.stop()

    def held(self):
        return (tracemalloc.get_traced_memory()[0] - self.before) / self.size

    def peak(self):
        return (tracemalloc.get_traced_memory()[1] - self.before) / self.size


SPARSE = ("sparse", "unsorted", "float32", "coo")


@pytest.mark.parametrize(
    ("kind", "most"), [("dense", 1.6), ("pixels", 0.5), *((kind, 1.1) for kind in SPARSE)]
)
def test_a_data_set_holds_its_inputs_once(kind, most):
    X, Y, size = sequences(kind)
    structure = so.Chain().fitted(X, Y)
    data = so.DataSet.of(structure, X[:2], Y[:2])  # imports and compiled code are not data
    with Traced(size) as traced:
        data = so.DataSet.of(structure, X, Y)
        assert traced.held() <= most
        assert traced.peak() <= (1.5 if kind == "pixels" else most + 0.1)
        for i in range(N):
            data.single(i)
        assert traced.held() <= most + 0.1
    (shard,) = data.shards
    assert data.base is shard.base
    part = shard.single(3)
    assert np.shares_memory(part.gold, shard.gold)
    assert part.base is part.tokens.base is shard.base


@pytest.mark.parametrize(("kind", "most"), [("dense", 2.2), ("sparse", 1.5)])
def test_a_whole_run_stays_below_its_bound(kind, most):
    X, Y, size = sequences(kind)
    aim, limits = so.M3N(C=0.01), {"tol": 0.1, "max_iter": 2}

    def run(n):
        structure = so.Chain().fitted(X[:n], Y[:n])
        data = so.DataSet.of(structure, X[:n], Y[:n])
        return so.CuttingPlane(structure, aim, data, **limits).solve()

    run(2)  # imports and compiled code are not data
    with Traced(size) as traced:
        assert run(N).history
        assert traced.peak() <= most


@pytest.mark.parametrize(
    ("kind", "most"), [("dense", 2.2), ("pixels", 2.2), *((kind, 1.5) for kind in SPARSE)]
)
def test_a_fit_by_block_ascent_stays_below_its_bound(kind, most):
    X, Y, size = sequences(kind)

    def fit(n):
        model = so.StructuredClassifier(so.Chain(range(4)), so.M3N(C=1e-4), tol=0.1, n_jobs=1)
        return model.fit(X[:n], Y[:n]).result_

    fit(2)  # imports and compiled code are not data
    with Traced(size) as traced:
        found = fit(N)
        assert traced.peak() <= most
    assert found.certificate.certified
    assert found.cuts is None  # cutting planes would have some


@pytest.mark.parametrize("C", [1e-3, 1e-1])
def test_a_fit_of_sparse_classes_stays_below_its_bound(C):
    rng = np.random.default_rng(0)
    n, each, width = 60_000, 16, 500  # many runs, whose scores are not there at once
    ends = np.arange(0, n * each + 1, each, dtype=np.int32)
    where = rng.integers(0, width, n * each, dtype=np.int32)
    X = sp.csr_array((rng.normal(size=n * each), where, ends), shape=(n, width))
    X.sum_duplicates()
    y = rng.integers(0, 9, n)  # noise: rows keep nearly all classes
    options = {"method": "block-ascent", "tol": 0.5, "n_jobs": 1}

    def fit(X, y):
        return so.StructuredClassifier(so.Multiclass(range(9)), so.M3N(C=C), **options).fit(X, y)

    fit(X[:20], y[:20])  # imports and compiled code are not data
    with Traced(X.data.nbytes + X.indices.nbytes + X.indptr.nbytes) as traced:
        assert fit(X, y).result_.certificate.certified
        assert traced.peak() <= 1.5


def test_rows_are_written_anew_only_where_that_saves_some():
    rng = np.random.default_rng(0)
    whole = base_matrix(sp.random_array((300, 40), density=0.3, format="csr", rng=rng))
    kept = Columns.of(whole)
    assert np.shares_memory(kept.data, whole.data)
    assert np.shares_memory(kept.indices, whole.indices)
    wide = sp.csr_array((whole.data, whole.indices * 50, whole.indptr), shape=(300, 2000))
    few = Columns.of(wide)  # 1,960 columns are empty: new numbers, no new values
    assert np.shares_memory(few.data, whole.data)
    assert len(few.scale) == 40
    np.testing.assert_array_equal(few.indices, whole.indices)
    np.testing.assert_array_equal(few.occurring, 50 * np.arange(40))
    twice = base_matrix(sp.hstack([whole, whole], format="csr"))
    assert len(Columns.of(twice).data) == len(whole.data)
    for found in (kept, few, Columns.of(twice)):
        np.testing.assert_allclose(found.square, (2 if found.scale[0] > 1 else 1) * kept.square)


def test_stacked_blocks_are_the_blocks_whatever_their_form():
    rng = np.random.default_rng(0)
    dense = [rng.integers(-3, 4, (int(rng.integers(1, 5)), 6)).astype(float) for _ in range(40)]
    unsorted = [sp.csr_array(x)[:, ::-1] for x in dense]
    twice = [sp.coo_array(x / 2) for x in dense]
    twice = [
        sp.coo_array((np.r_[x.data, x.data], np.hstack([x.coords, x.coords])), shape=x.shape)
        for x in twice
    ]
    forms = [
        dense, unsorted, twice, [sp.csr_matrix(x) for x in dense], [sp.lil_array(x) for x in dense],
        [sp.csc_array(x, dtype=np.float32) for x in dense], [x.astype(np.int8) for x in dense],
        [x.tolist() for x in dense], [np.ma.masked_array(x) for x in dense],
        [(x if k % 2 else sp.csr_array(x)) for k, x in enumerate(dense)],
    ]  # fmt: skip
    for form in forms:
        right = np.vstack([x[:, ::-1] for x in dense] if form is unsorted else dense)
        found = stack_sequences(form)
        whole = found.whole.toarray() if sp.issparse(found.whole) else found.whole
        np.testing.assert_array_equal(whole, np.vstack([right, np.eye(1, 6)]))
        assert whole.dtype == np.float64
        base = found.base()
        assert base.has_canonical_format
        np.testing.assert_array_equal(base.toarray()[:-1], right)


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (1, 1), (2000, 300)])
def test_a_dense_matrix_with_few_numbers_becomes_what_scipy_makes_of_it(shape):
    rng = np.random.default_rng(0)
    dense = np.where(rng.random(shape) < 0.1, rng.normal(size=shape), 0.0)
    found, right = base_matrix(dense), sp.csr_array(dense)
    for name in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(found, name), getattr(right, name))


def test_inputs_that_are_mapped_are_not_copied(tmp_path):
    rng = np.random.default_rng(0)
    X = np.memmap(tmp_path / "X", dtype=np.float64, mode="w+", shape=(20_000, 64))
    X[:] = rng.normal(size=X.shape)
    Y = rng.integers(0, 3, len(X))
    structure = so.Multiclass().fitted(X, Y)
    with Traced(X.nbytes) as traced:
        data = so.DataSet.of(structure, X, Y)
        assert traced.held() <= 0.6  # where the numbers of a row stand, in 32 bits
    assert np.shares_memory(data.base.data, X)
