"""Chunks are read when they are needed, and one that cannot be read is named."""

import gzip
import pickle
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import scipy.sparse as sp

import structopt as so
from structopt.errors import FileFormatError, InvalidInputError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(11, 4)) * (RNG.random((11, 4)) < 0.6)
Y = RNG.integers(0, 3, len(X))


def joined(chunks):
    pairs = [chunk() for chunk in chunks]
    inputs = [x.toarray() if sp.issparse(x) else np.asarray(x) for x, _ in pairs]
    return np.vstack(inputs), np.concatenate([np.asarray(y) for _, y in pairs])


def write_svmlight(path, rows):
    lines = [
        " ".join([str(Y[i]), *(f"{j + 1}:{X[i, j]!r}" for j in np.flatnonzero(X[i]))]) for i in rows
    ]
    text = "\n".join(lines).replace("np.float64(", "").replace(")", "")
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "wt") as file:
        file.write(text + "\n")


def test_every_source_gives_the_same_examples(tmp_path):
    np.save(tmp_path / "X.npy", X)
    so.datasets.save_csr(tmp_path / "csr", [X[:5], X[5:5], X[5:]])
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    csr = so.datasets.load_csr(tmp_path / "csr")
    for number, rows in enumerate((range(6), range(6, 11))):
        part = sp.csr_array(X[rows])
        write_svmlight(tmp_path / f"part-{number}.svmlight.gz", rows)
        np.savez(tmp_path / f"dense-{number}.npz", X=X[rows], Y=Y[rows])
        arrays = {name: getattr(part, name) for name in ("data", "indices", "indptr", "shape")}
        np.savez(tmp_path / f"sparse-{number}.npz", **arrays, Y=Y[rows])
    table = pa.table({**{f"x{j}": X[:, j] for j in range(4)}, "tag": Y})
    pq.write_table(table, tmp_path / "all.parquet", row_group_size=4)
    stream = so.datasets.stream
    made = {
        "mapped": stream(mapped, Y, rows=4),
        "mapped CSR": stream(csr, Y, rows=4),
        "svmlight": stream(tmp_path / "part-*.svmlight.gz", n_features=4),
        "dense": stream([tmp_path / "dense-0.npz", tmp_path / "dense-1.npz"]),
        "sparse": stream(str(tmp_path / "sparse-*.npz")),
        "parquet": stream(tmp_path / "all.parquet", label="tag"),
        "functions": stream([lambda: (X[:3], Y[:3]), lambda: (X[3:], Y[3:])]),
    }
    for name, chunks in made.items():
        inputs, outputs = joined(chunks)
        np.testing.assert_array_equal(inputs, X, err_msg=name)
        np.testing.assert_array_equal(outputs.astype(int), Y, err_msg=name)
        assert len(set(chunks.names)) == len(chunks) > 1
        if name != "functions":  # they travel
            again = pickle.loads(pickle.dumps(chunks[1]))()
            np.testing.assert_array_equal(joined([lambda again=again: again])[0].shape[1], 4)
    assert len(made["mapped"][1:]) == 2
    assert "3 chunks" in repr(made["mapped"])


def test_mapped_inputs_stay_mapped(tmp_path):
    so.datasets.save_csr(tmp_path, [sp.csr_array(X)])
    csr = so.datasets.load_csr(tmp_path)
    assert csr.indices.dtype == csr.indptr.dtype == np.int32
    chunk, _ = so.datasets.stream(csr, Y, rows=5)[1]()
    assert np.shares_memory(chunk.data, csr.data)
    np.save(tmp_path / "X.npy", X)
    dense = np.load(tmp_path / "X.npy", mmap_mode="r")
    part, _ = so.datasets.stream(dense, Y, rows=5)[0]()
    assert np.shares_memory(part, dense)
    assert type(part) is np.ndarray


def test_nothing_is_read_before_it_is_asked_for():
    def never():
        raise AssertionError

    chunks = so.datasets.stream([lambda: (X, Y), never])
    chunks[0]()
    with pytest.raises(FileFormatError, match=r"Chunk 1 of 2 cannot be read \(AssertionError"):
        chunks[1]()


def test_a_chunk_that_cannot_be_used_is_named(tmp_path):
    stream = so.datasets.stream
    (tmp_path / "a.npz").write_bytes(b"PK no")
    (tmp_path / "b.svm").write_text("1 9:1\n")
    (tmp_path / "c.svm").write_text("1 x:1\n")
    (tmp_path / "d.svm").write_text("")
    (tmp_path / "e.parquet").write_bytes(b"no")
    np.savez(tmp_path / "f.npz", X=X)
    np.savez(tmp_path / "g.npz", X=X, Y=Y[:3])
    np.savez(tmp_path / "h.npz", X=X[:0], Y=Y[:0])
    np.savez(tmp_path / "i.npz", X=np.array([{}], dtype=object), Y=Y[:1])
    for name in ("a.npz", "b.svm", "c.svm", "d.svm", "f.npz", "g.npz", "h.npz", "i.npz"):
        (chunk,) = stream(tmp_path / name, n_features=4)
        with pytest.raises(FileFormatError, match=f"Chunk .*{name}"):
            chunk()
    with pytest.raises(FileFormatError, match=r"e\.parquet"):
        stream(tmp_path / "e.parquet")
    pq.write_table(pa.table({"x": [1.0]}), tmp_path / "k.parquet")
    with pytest.raises(FileFormatError, match=r"row group 0.*no column 'y'"):
        stream(tmp_path / "k.parquet")[0]()
    with pytest.raises(FileFormatError, match="0 of 1 is no pair"):
        stream([lambda: 3])[0]()
    for length in (2, 12):
        with pytest.raises(InvalidInputError, match="11 inputs"):
            stream(X, np.zeros(length))


@pytest.mark.parametrize("source", [[], 3, None, [3], lambda: (X, Y), [X, Y], ["a.csv"]])
def test_sources_that_are_none_are_refused(source):
    with pytest.raises(InvalidInputError):
        so.datasets.stream(source)


def test_files_that_are_not_there_and_columns_that_are_not_said(tmp_path):
    with pytest.raises(FileFormatError, match="no file"):
        so.datasets.stream(tmp_path / "*.npz")
    with pytest.raises(FileFormatError, match=r"Chunk .*gone\.npz cannot be read"):
        so.datasets.stream([tmp_path / "gone.npz"])[0]()
    (tmp_path / "a.svm").write_text("1 1:1\n")
    with pytest.raises(InvalidInputError, match="n_features"):
        so.datasets.stream(tmp_path / "a.svm")


def test_parts_of_a_matrix_that_do_not_fit_are_refused(tmp_path):
    so.datasets.save_csr(tmp_path, [sp.csr_array(X)])
    for name, wrong in {
        "indptr": np.zeros(12, np.int32),
        "shape": np.array([3, 4]),
        "data": np.zeros(2),
    }.items():
        whole = np.load(tmp_path / f"{name}.npy")
        np.save(tmp_path / f"{name}.npy", wrong)
        with pytest.raises(FileFormatError, match="do not fit"):
            so.datasets.load_csr(tmp_path)
        np.save(tmp_path / f"{name}.npy", whole)
    (tmp_path / "indices.npy").write_bytes(b"no")
    with pytest.raises(FileFormatError, match="indices"):
        so.datasets.load_csr(tmp_path)
    for blocks in ([], [np.eye(2), np.eye(3)]):
        with pytest.raises(InvalidInputError, match=r"no blocks|Block 1"):
            so.datasets.save_csr(tmp_path / "other", blocks)
    assert not list((tmp_path / "other").glob("*.part"))


def test_empty_matrices_are_kept(tmp_path):
    so.datasets.save_csr(tmp_path, [sp.csr_array((3, 5))])
    assert so.datasets.load_csr(tmp_path).shape == (3, 5)


def test_functions_with_arguments_go_by_partial():
    read = partial(so.datasets.make_chain_crf, 3, n_features=4, n_relevant=3)
    chunks = so.datasets.stream([partial(read, seed=s) for s in range(2)])
    assert [len(chunk()[0]) for chunk in chunks] == [3, 3]
