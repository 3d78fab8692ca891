"""Data that live in a folder, one shard in memory at a time: the same certified optimum."""

import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

import structopt as so
from structopt.engines.disk import Disk, read, write
from structopt.errors import EngineError, IncompatibleError, InvalidInputError, StructoptError

RNG = np.random.default_rng(0)


def chains():
    X, Y = so.datasets.make_chain_crf(23, n_features=5, n_relevant=3, seed=0)
    return so.Chain(labels=np.unique(np.concatenate(Y)).tolist()), X, Y


def classes():
    X = sp.random_array((31, 9), density=0.5, format="csr", rng=RNG)
    return so.Multiclass(labels=[0, 1, 2]), X, RNG.integers(3, size=31)


def phi(x, y):
    return np.kron(np.eye(3)[y], x)


def own():
    X = [RNG.normal(size=2) for _ in range(13)]
    return so.Enumerated([0, 1, 2], phi), X, [int(RNG.integers(3)) for _ in X]


PROBLEMS = {"chains": chains(), "classes": classes(), "own": own()}
AIMS = {
    "auto": so.M3N(0.5),
    "n": so.M3N(0.5, slacks="n"),
    "shards": so.M3N(0.5, slacks="shards"),
    "LP": so.LPStruct(1.0, nonnegative=False),
    "RMM": so.StructRMM(2.0, 0.6, rescale="margin", slacks=3),
}


@pytest.mark.parametrize("aim", AIMS.values(), ids=AIMS)
@pytest.mark.parametrize("problem", PROBLEMS.values(), ids=PROBLEMS)
def test_the_optimum_is_that_of_data_in_memory(problem, aim):
    structure, X, Y = problem
    structure = structure.fitted(X, Y)
    weight = RNG.uniform(0.5, 2.0, len(Y))
    chunks = so.datasets.stream(X, Y, rows=7)
    here = so.DataSet.of(structure, X, Y, sample_weight=weight)
    there = so.DataSet.of_chunks(structure, chunks, sample_weight=weight, engine="disk")
    given = {"tol": 1e-5}
    with there:
        a, b = (so.CuttingPlane(structure, aim, data, **given).solve() for data in (here, there))
    assert a.certificate.certified
    assert b.certificate.certified
    slack = 1e-9 * (1 + abs(a.certificate.primal))
    assert a.certificate.dual <= b.certificate.primal + slack
    assert b.certificate.dual <= a.certificate.primal + slack
    assert b.certificate.primal == pytest.approx(a.certificate.primal, rel=3e-5)


@pytest.mark.parametrize("slacks", [6, "n"])
def test_rows_of_cuts_that_were_dropped_are_let_go(slacks):
    X, Y = so.datasets.make_chain_crf(40, n_features=20, n_relevant=5, seed=0)
    structure = so.Chain().fitted(X, Y)
    with so.DataSet.of(structure, X, Y, engine=Disk(n_shards=6)) as there:
        aim = so.M3N(5.0, slacks=slacks)
        run = so.CuttingPlane(structure, aim, there, tol=1e-3)
        run.max_age = 2
        dropped = 0
        for record in run:
            dropped += record.cuts_dropped
            rows, used = run.master.pool.base, run.master.pool.cuts.directions.source
            live = np.diff(rows.indptr)[np.unique(used)].sum()
            assert rows.nnz <= 4 / 3 * live + 1
            assert len(np.unique(used)) == len(run.master.pool)
        found = run.result().certificate
    assert dropped > 10
    plain = so.StructuredClassifier(so.Chain(), so.M3N(5.0), tol=1e-3).fit(X, Y).result_
    assert found.certified
    assert found.primal == pytest.approx(plain.certificate.primal, rel=2e-3)


def test_a_model_learns_from_chunks_and_leaves_no_file(tmp_path):
    structure, X, Y = PROBLEMS["chains"]
    aim = so.M3N(0.5)
    model = so.StructuredClassifier(structure, aim, tol=1e-4, engine=Disk(tmp_path))
    model.fit_chunks(so.datasets.stream(X, Y, rows=5))
    plain = so.StructuredClassifier(structure, aim, tol=1e-4).fit(X, Y)
    ours, theirs = model.result_.certificate, plain.result_.certificate
    assert ours.primal == pytest.approx(theirs.primal, rel=2e-4)
    assert len(model.predict(X)) == len(X)
    assert not list(tmp_path.iterdir())
    model.fit(X, Y)  # cut into shards of the folder
    assert model.result_.certificate.primal == pytest.approx(theirs.primal, rel=2e-4)
    assert not list(tmp_path.iterdir())


def test_chunks_without_an_engine_stay_in_this_process():
    structure, X, Y = PROBLEMS["classes"]
    model = so.StructuredClassifier(structure, so.M3N(0.5), tol=1e-4)
    model.fit_chunks(so.datasets.stream(X, Y, rows=5))
    again = so.StructuredClassifier(structure, so.M3N(0.5), tol=1e-4).fit(X, Y)
    assert model.result_.certificate.primal == pytest.approx(
        again.result_.certificate.primal, rel=2e-4
    )


# ---------------------------------------------------------------------- bad chunks
def chunk(X, Y):
    return X, Y


def refuse(chunks, match, structure=None):
    aim = so.M3N(0.5)
    for engine in ("disk", None):
        model = so.StructuredClassifier(structure or so.Multiclass(), aim, engine=engine)
        with pytest.raises(StructoptError, match=match) as caught:
            model.fit_chunks(so.datasets.stream(chunks))
        if engine == "disk":
            assert "2" in str(caught.value)  # the chunk is named


def test_a_chunk_that_does_not_fit_is_named():
    good = partial(chunk, np.eye(3), ["a", "b", "a"])
    refuse([good, good, partial(chunk, np.eye(4)[:, :2], list("abab"))], "column|feature|input")
    refuse([good, good, partial(chunk, np.eye(3), ["a", "c", "b"])], "'c'")
    refuse([good, good, partial(chunk, np.eye(3)[:0], [])], "0 inputs")
    refuse([good, good, partial(open, "/nowhere/at/all")], "cannot be read|could not be read")
    refuse([good, good, partial(chunk, np.full((1, 3), np.nan), ["a"])], "nan|finite")


def test_a_late_label_is_learned_when_it_is_declared():
    good = partial(chunk, np.eye(3), ["a", "b", "a"])
    late = partial(chunk, np.eye(3), ["a", "c", "b"])
    model = so.StructuredClassifier(so.Multiclass(labels=list("abc")), so.M3N(9.0), engine="disk")
    model.fit_chunks([good, late])
    assert set(model.predict(np.eye(3))) <= set("abc")


def test_what_needs_all_examples_at_once_is_refused():
    structure, X, Y = PROBLEMS["chains"]
    chunks = so.datasets.stream(X, Y, rows=5)
    for options in ({"audit": True}, {"features": so.WordFeatures()}):
        with pytest.raises(IncompatibleError, match="all examples at once"):
            so.StructuredClassifier(structure, so.M3N(), **options).fit_chunks(chunks)
    for method in ("frank-wolfe", "perceptron", "block-ascent"):
        with pytest.raises(IncompatibleError):
            so.StructuredClassifier(structure, so.M3N(), method=method, engine="disk").fit_chunks(
                chunks
            )


def test_folders_that_cannot_be_used(tmp_path):
    structure, X, Y = PROBLEMS["classes"]
    file = tmp_path / "file"
    file.write_text("")
    for folder in (tmp_path / "gone", file):
        with pytest.raises(EngineError, match="folder"):
            so.StructuredClassifier(structure, so.M3N(), engine=Disk(folder)).fit(X, Y)
    for wrong in ({"n_shards": 0}, {"folder": 3}):
        with pytest.raises(InvalidInputError):
            Disk(**wrong)
    data = so.DataSet.of(structure.fitted(X, Y), X, Y, engine=Disk(tmp_path))
    data.close()
    with pytest.raises(EngineError, match="closed"):
        data.ask(so.loss_augmented, np.zeros(data.n_features))


def test_a_shard_that_is_lost_or_damaged_is_named(tmp_path):
    structure, X, Y = PROBLEMS["classes"]
    data = so.DataSet.of_chunks(
        structure.fitted(X, Y), so.datasets.stream(X, Y, rows=11), engine=Disk(tmp_path)
    )
    (folder,) = tmp_path.iterdir()
    for damage in (lambda path: path.write_bytes(b"no"), Path.unlink):
        damage(sorted(folder.iterdir())[1])
        with pytest.raises(EngineError, match=r"rows \d+ to \d+"):
            data.ask(so.loss_augmented, np.zeros(data.n_features))


# ---------------------------------------------------------------------- files
@pytest.mark.parametrize(
    "value",
    [
        [],
        np.zeros(0),
        np.arange(10_000.0).reshape(100, 100).T,
        np.arange(100_000)[::3],
        [np.ones(5_000), "a", np.ones((3, 4_000), np.int32), None],
        sp.random_array((300, 300), density=0.3, format="csr", rng=RNG),
    ],
    ids=str,
)
def test_values_come_back_as_they_were(value, tmp_path):
    write(tmp_path / "value", value)
    found = read(tmp_path / "value")
    for a, b in zip(flat(value), flat(found), strict=True):
        np.testing.assert_array_equal(a, b)
        if isinstance(b, np.ndarray):
            assert a.dtype == b.dtype
            assert b.flags.aligned
            assert b.flags.writeable
            b[...] = 0  # does not reach the file
    for a, b in zip(flat(value), flat(read(tmp_path / "value")), strict=True):
        np.testing.assert_array_equal(a, b)


def flat(value):
    if isinstance(value, list):
        return [part for each in value for part in flat(each)]
    return [value.data, value.indices, value.indptr] if sp.issparse(value) else [value]


# ---------------------------------------------------------------------- bounded memory
SCRIPT = """
import resource, sys
from functools import partial
import numpy as np
import structopt as so

ROWS, CHUNKS, WIDTH = 400, 24, 1000   # 24 chunks of 3.2 MB: 77 MB, and half as much for columns

def read(seed):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, ROWS)
    X = rng.normal(size=(ROWS, WIDTH))
    X[:, 0] += 3.0 * (2 * y - 1)
    return X, y

def learn(chunks, engine):
    aim = so.M3N(1e-3, slacks="shards")
    model = so.StructuredClassifier(so.Multiclass(), aim, tol=0.05, engine=engine)
    return model.fit_chunks([partial(read, seed) for seed in chunks]).result_

learn(range(2), "disk")  # imports and compiles
size = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
limit = size + int(sys.argv[2]) * 2**20
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
try:
    result = learn(range(CHUNKS), None if sys.argv[1] == "memory" else "disk")
    print("learned", result.certificate.certified, result.certificate.primal)
except (so.errors.StructoptError, MemoryError) as error:
    print("failed", type(error).__name__)
"""


def test_data_of_several_times_the_memory_are_learned_in_it(tmp_path):
    """115 MB of data in 40 MB: from a folder they are learned, and in memory they do not fit."""
    script = tmp_path / "learn.py"
    script.write_text(SCRIPT)

    def run(*arguments):
        done = subprocess.run(
            [sys.executable, script, *arguments], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.split()

    small = run("disk", "40")
    assert small[:2] == ["learned", "True"]
    assert run("memory", "40")[0] == "failed"
    large = run("memory", "4000")
    assert large[:2] == ["learned", "True"]
    assert float(small[2]) == pytest.approx(float(large[2]), rel=0.05)
