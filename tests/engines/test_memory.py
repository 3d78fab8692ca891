"""What the data cost in memory, as a multiple of the inputs' own size (which is not counted)."""

import gc
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

import structopt as so

N, LENGTH = 40, 100


def sequences(kind):
    rng = np.random.default_rng(0)
    Y = [rng.integers(0, 4, LENGTH).tolist() for _ in range(N)]
    if kind == "dense":
        X = [rng.normal(size=(LENGTH, 256)) for _ in Y]
        return X, Y, sum(x.nbytes for x in X)
    X = [sp.random_array((LENGTH, 4000), density=0.1, format="csr", rng=rng) for _ in Y]
    return X, Y, sum(x.data.nbytes + x.indices.nbytes + x.indptr.nbytes for x in X)


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


@pytest.mark.parametrize(("kind", "most"), [("dense", 1.6), ("sparse", 1.1)])
def test_a_data_set_holds_its_inputs_once(kind, most):
    X, Y, size = sequences(kind)
    structure = so.Chain().fitted(X, Y)
    data = so.DataSet.of(structure, X[:2], Y[:2])  # imports and compiled code are not data
    with Traced(size) as traced:
        data = so.DataSet.of(structure, X, Y)
        assert traced.held() <= most
        assert traced.peak() <= most + 0.4
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
