"""Models on disk: what is saved comes back, and nothing in a file can run."""

import contextlib
import io
import pickle
import zipfile

import numpy as np
import pytest
from enumeration import ElasticNetM3N

import structopt as so
from structopt.errors import FileFormatError, IncompatibleError, InvalidInputError


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
    model = so.StructuredClassifier(structure, so.StructSVM(2.0, rescale="margin"), tol=1e-4).fit(
        X, Y
    )
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
