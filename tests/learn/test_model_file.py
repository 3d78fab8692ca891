"""Models on disk: what is saved comes back, and nothing in a file can run."""

import contextlib
import io
import pickle
import subprocess
import sys
import zipfile
from pathlib import Path

import networkx as nx
import numpy as np
import pytest
from enumeration import ElasticNetM3N

import structopt as so
from structopt.errors import FileFormatError, IncompatibleError, InvalidInputError
from structopt.files import read_arrays, write_arrays


@pytest.fixture(scope="module")
def words():
    return so.datasets.make_chain_crf(n_examples=12, n_features=6, n_relevant=6, seed=3)


@pytest.mark.parametrize(
    ("structure", "label"),
    [
        (so.Chain(boundaries=True, loss=so.losses.Hamming({0: 2.0})), int),
        (so.Chain(labels=["a", "b", "z"]), lambda y: "ab"[y]),
        (
            so.Chain(labels=[("a", 1), None], loss=so.losses.Hamming({("a", 1): 1.5})),
            lambda y: [("a", 1), None][y],
        ),
    ],
)
def test_round_trip(words, tmp_path, structure, label):
    X, Y = words[0], [[label(int(y)) for y in ys] for ys in words[1]]
    model = so.StructuredClassifier(
        structure, so.StructSVM(2.0, rescale="margin"), backend="ascent"
    )
    model.fit(X, Y)
    model.save(tmp_path / "model")
    loaded = so.load_model(tmp_path / "model")
    assert loaded.predict(X) == model.predict(X)
    assert repr(loaded) == repr(model)
    assert loaded.result_.certificate == model.result_.certificate
    assert loaded.result_.history == model.result_.history
    assert (loaded.result_.status, loaded.result_.backend) == ("optimal", "ascent")
    assert loaded.score(X, Y) == model.score(X, Y)
    assert [p.name for p in tmp_path.iterdir()] == ["model"]


def test_own_classes_are_handed_in_never_imported(words, tmp_path):
    X, Y = words
    model = so.StructuredClassifier(so.Chain(), ElasticNetM3N(tau=0.2)).fit(X, Y)
    model.save(tmp_path / "model")
    with pytest.raises(IncompatibleError, match=r"formulation=\.\.\."):
        so.load_model(tmp_path / "model")
    loaded = so.load_model(tmp_path / "model", formulation=ElasticNetM3N(tau=0.2))
    assert loaded.predict(X) == model.predict(X)


def hamming(y, other):
    return float(sum(a != b for a, b in zip(y, other, strict=True)))


class Mine(so.Chain):
    """A class of the user's own."""


@pytest.mark.parametrize(
    ("structure", "said"),
    [
        (
            so.Enumerated([(0, 1), (1, 0)], np.multiply),
            r"Enumerated, was given functions \('joint_",
        ),
        (so.BooleanProgram(lambda x, z: [], lambda x: x), "BooleanProgram, was given functions"),
        (so.constrain(so.Chain(), so.constraints.at_most_one("b")), "Constrained, was given func"),
        (so.References(so.Chain(), hamming), r"References, was given functions \('distance'\)"),
        (Mine(), "a structure of your own, 'Mine'"),
        (so.References(Mine()), r"References, was given functions \('structure'\)"),
    ],
)
def test_what_a_file_cannot_keep_is_told(structure, said, tmp_path):
    X, Y = [np.eye(2), np.eye(2)[::-1]], [["a", "b"], ["b", "a"]]
    if isinstance(structure, so.Enumerated | so.BooleanProgram):
        X, Y = [np.eye(2)[0], np.eye(2)[1]], [(1, 0), (0, 1)]
        X = X if isinstance(structure, so.Enumerated) else [np.diag(x) for x in X]
    if isinstance(structure, so.References):
        Y = [[y] for y in Y]
    model = so.StructuredClassifier(structure, so.StructSVM(5.0)).fit(X, Y)
    model.save(tmp_path / "model")
    with pytest.raises(IncompatibleError, match=said) as refusal:
        so.load_model(tmp_path / "model")
    assert "load_model(path, structure=...)" in str(refusal.value)
    assert so.load_model(tmp_path / "model", structure=structure).predict(X) == model.predict(X)


def test_every_setting_comes_back(words, tmp_path):
    X, Y = words
    backend = so.names.load("HiGHS")(threads=1, solver="ipm")
    settings = {"tol": 0.02, "max_iter": 9, "time_limit": 60.0, "n_jobs": 1, "random_state": 3}
    model = so.StructuredClassifier(
        so.Chain(), so.LPStruct(2.0), backend=backend, **settings, verbose=False,
        callbacks=[lambda record: None], checkpoint=tmp_path / "run",
    )  # fmt: skip
    with contextlib.suppress(so.ConvergenceWarning):
        model.fit(X, Y)
    model.save(tmp_path / "model")
    loaded = so.load_model(tmp_path / "model")
    assert {k: getattr(loaded, k) for k in settings} == settings
    assert repr(loaded.backend) == repr(backend)
    assert (loaded.callbacks, loaded.checkpoint) == ((), None)  # no functions, no places to write
    assert loaded.result_.method == model.result_.method == "cutting-plane"
    assert str(loaded.result_) == str(model.result_)
    mira = so.StructuredClassifier(
        so.Chain(), so.M3N(), method="mira", max_iter=3, method_options={"k": 2}
    ).fit(X, Y)
    mira.save(tmp_path / "model")
    loaded = so.load_model(tmp_path / "model")
    assert (loaded.method, loaded.method_options, loaded.max_iter) == ("mira", {"k": 2}, 3)
    assert loaded.result_.method == "mira"
    np.testing.assert_array_equal(loaded.fit(X, Y).result_.weights, mira.result_.weights)


class MyBackend(so.names.load("Clarabel")):
    """A backend of the user's own."""


def test_a_backend_of_one_s_own_is_asked_for(words, tmp_path):
    model = so.StructuredClassifier(so.Chain(), so.M3N(), backend=MyBackend()).fit(*words)
    model.save(tmp_path / "model")
    with pytest.raises(IncompatibleError, match=r"a backend of your own, 'MyBackend'.*backend="):
        so.load_model(tmp_path / "model")
    assert so.load_model(tmp_path / "model", backend="auto").backend == "auto"


def test_arrays_keep_their_type():
    from structopt.learn.plain import decode, encode

    for array in (np.arange(3), np.eye(2), np.array([True]), np.array(["ab"]), np.zeros((0, 2))):
        again = decode(encode(array))
        np.testing.assert_array_equal(again, array)
        assert (again.dtype, again.shape) == (array.dtype, array.shape)
    assert encode(np.int64(3)) == 3
    assert decode(encode(frozenset({1, 2}))) == {1, 2}
    assert decode(encode(range(3))) == [0, 1, 2]
    with pytest.raises(ValueError, match="unknown entry 'code'"):
        decode({"code": "import os"})


LATTICE = nx.DiGraph(source="s", sink="t")
for _edge, _value in {("s", "a"): [1.0, 0], ("a", "t"): [0, 1.0], ("s", "t"): [0.5, 0]}.items():
    LATTICE.add_edge(*_edge, features=_value)
OLD = {
    "chain": ([np.eye(2), np.eye(2)[::-1]], [["a", "b"], ["b", "a"]], "class_weight={'a': 2.0}"),
    "lattice": ([LATTICE], [(("s", "t"),)], "extra=2.0, missed=1.0"),
    "cut": ([([(0, 1)], np.array([[1.0], [-2.0]]))], [[1, 0]], "GraphCut"),
    "matching": ([np.array([[[1.0], [0.2]], [[0.1], [2.0]]])], [{(0, 0), (1, 1)}], "missed=0.5"),
    "multiclass": (np.eye(3), [0, 1, 1], "'balanced'"),
    "label_vector": (np.array([[[1.0], [2.0]], [[-1.0], [-2.0]]]), [(0, 0), (1, 1)], "legal"),
}


@pytest.mark.parametrize("name", OLD)
def test_files_of_version_0_1_still_load(name):
    X, Y, said = OLD[name]
    model = so.load_model(Path(__file__).parent / "old_models" / f"{name}.npz")
    assert list(model.predict(X)) == Y
    assert model.score(X, Y) == 1.0
    assert said in repr(model)
    assert (model.tol, model.max_iter) == (0.01, 40)
    assert model.result_.certificate.certified
    assert len(model.result_.history) > 0
    assert list(model.fit(X, Y).predict(X)) == Y


def test_files_of_format_2_load():
    """Everything comes back: features, loss, backend and its options, method, limits."""
    model = so.load_model(Path(__file__).parent / "old_models" / "version_2.npz")
    assert model.predict([["the", "dog"]]) == [["D", "N"]]
    assert repr(model.structure) == "Chain(labels=None, loss=Hamming(class_weight={'D': 2.0}), " + (
        "boundaries=False, decoder='compiled', transitions=None)"
    )
    assert (model.formulation.C, model.formulation.rescale) == (2.0, "margin")
    assert isinstance(model.backend, so.Clarabel)
    assert model.backend.max_iter == 150
    assert (model.method, model.tol, model.max_iter) == ("cutting-plane", 1e-3, 77)
    assert model.result_.certificate.certified


def test_memory_is_bounded_whatever_a_file_says(tmp_path):
    path = tmp_path / "model.npz"
    model = so.StructuredClassifier(so.Multiclass(), so.L1M3N(1.0)).fit(np.eye(3, 9), list("aba"))
    model.save(path)
    header, arrays = read_arrays(path, "structopt model 2")
    assert "weights_size" in arrays
    write_arrays(path, header, arrays | {"weights_size": np.array([10**9])})
    with pytest.raises(FileFormatError, match="1000000000 weights, of which"):
        so.load_model(path)


def test_a_file_of_a_later_version_says_so(tmp_path):
    path = tmp_path / "model"
    so.StructuredClassifier(so.Multiclass(), so.M3N(1.0)).fit(np.eye(3), list("aba")).save(path)
    header, arrays = read_arrays(path, "structopt model 2")
    assert header["version"] == so.__version__
    write_arrays(path, header | {"kind": "structopt model 3", "version": "9.1"}, arrays)
    with pytest.raises(FileFormatError, match=r"structopt 9\.1.* reads structopt model 1 and 2"):
        so.load_model(path)


def test_loading_and_predicting_need_no_solver():
    script = """
import sys
import numpy as np
import structopt as so
model = so.load_model(sys.argv[1])
assert model.predict([np.eye(2)]) == [["a", "b"]]
assert not {"cvxpy", "highspy", "osqp", "clarabel", "networkx"} & set(sys.modules)
"""
    path = Path(__file__).parent / "old_models" / "chain.npz"
    subprocess.run([sys.executable, "-c", script, str(path)], check=True)


def test_labels_that_are_not_data_are_refused(words, tmp_path):
    X, Y = words[0], [[complex(int(y)) for y in ys] for ys in words[1]]
    model = so.StructuredClassifier(so.Chain(), so.M3N(0.1)).fit(X, Y)
    with pytest.raises(InvalidInputError, match="JSON"):
        model.save(tmp_path / "model")
    assert not list(tmp_path.iterdir())


def test_truncated_and_foreign_files_give_a_typed_error(words, tmp_path):
    X, Y = words
    path = tmp_path / "model"
    so.StructuredClassifier(so.Chain(), so.M3N(0.1)).fit(X, Y).save(path)
    whole = path.read_bytes()
    foreign = io.BytesIO()
    np.savez(foreign, weights=np.zeros(3))
    for content in (b"", b"PK", whole[:100], whole[:-30], foreign.getvalue(), b"\x93NUMPY junk"):
        path.write_bytes(content)
        with pytest.raises(FileFormatError):
            so.load_model(path)
    directory = range(whole.index(b"PK\x01\x02"), len(whole), 3)  # at the end, and the tenderest
    for position in (*range(40, len(whole), max(1, len(whole) // 60)), *directory):
        damaged = bytearray(whole)
        damaged[position] ^= 0xFF
        path.write_bytes(bytes(damaged))
        with contextlib.suppress(FileFormatError):  # found out, or harmless
            so.load_model(path)
    with pytest.raises(FileNotFoundError):
        so.load_model(tmp_path / "nothing")


class Bomb:
    def __reduce__(self):
        return (exec, ("raise SystemExit('a file ran code')",))


def test_a_file_cannot_run_code(words, tmp_path):
    X, Y = words
    path = tmp_path / "model"
    so.StructuredClassifier(so.Chain(), so.M3N(0.1)).fit(X, Y).save(path)
    hostile = io.BytesIO()
    with zipfile.ZipFile(path) as source, zipfile.ZipFile(hostile, "w") as target:
        for name in source.namelist():
            content = source.read(name)
            if name == "weights.npy":
                stream = io.BytesIO()
                np.save(stream, np.array([Bomb()], dtype=object), allow_pickle=True)
                content = stream.getvalue()
            target.writestr(name, content)
    path.write_bytes(hostile.getvalue())
    with pytest.raises(FileFormatError):
        so.load_model(path)
    path.write_bytes(pickle.dumps(Bomb()))
    with pytest.raises(FileFormatError):
        so.load_model(path)
