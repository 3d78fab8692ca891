"""Every field of a model file and of a checkpoint, wrong in turn, under a digest that is right."""

import copy

import numpy as np
import pytest

import structopt as so
from structopt.errors import FileFormatError, StructoptError
from structopt.files import read_arrays, write_arrays
from structopt.learn import model_file
from structopt.run import checkpoint


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    X, Y = so.datasets.make_chain_crf(n_examples=6, length=3, n_features=12, n_relevant=2, seed=0)
    model = so.StructuredClassifier(so.Chain(), so.L1M3N(C=0.3), tol=1e-2)
    model.fit(X, Y).save(folder / "model.npz")
    return model, X, Y, folder, model_file._KIND


def wrong_numbers(values):
    """The ways in which an array of a file can be wrong, and what each is called."""
    yield "missing", None
    yield "longer", np.concatenate([values, values[-1:]])
    yield "shorter", values[:-1]
    yield "flat", np.float64(1.0)
    yield "deeper", values[None]
    yield "complex", values * 1j
    yield "text", np.array(["a"] * len(values))
    if values.dtype.kind == "f":
        for name, bad in (("nan", np.nan), ("inf", np.inf), ("-inf", -np.inf)):
            changed = values.copy()
            changed.flat[-1] = bad
            yield name, changed
    else:
        for bad in (-(10**6), 10**6):
            changed = values.copy()
            changed.flat[-1] = bad
            yield str(bad), changed
        yield "fractional", values + 0.5


def refused(call, error, field, how):
    """Assert that a file with a wrong field is refused."""
    try:
        call()
    except error:
        return
    pytest.fail(f"{field} was taken: {how}")


def test_arrays_of_a_model_file(trained, tmp_path):
    _, X, _, folder, kind = trained
    header, arrays = read_arrays(folder / "model.npz", kind)
    assert "weights" in arrays or "weights_at" in arrays
    before = so.load_model(folder / "model.npz").predict(X)
    for field in arrays:
        for name, bad in wrong_numbers(arrays[field]):
            changed = {**arrays, field: bad}
            if bad is None:
                del changed[field]
            write_arrays(tmp_path / "m.npz", copy.deepcopy(header), changed)
            if field == "history" and name in ("nan", "inf", "-inf", "longer", "shorter"):
                # a record of the past, of any length, in which bounds may be infinite
                assert so.load_model(tmp_path / "m.npz").predict(X) == before
                continue
            refused(lambda: so.load_model(tmp_path / "m.npz"), FileFormatError, field, name)


WRONG = [None, 7, "no such thing", [], {}, [1, 2], {"class": "Chain"}, {"class": 3}, True]


def test_header_of_a_model_file(trained, tmp_path):
    _, X, _, folder, kind = trained
    header, arrays = read_arrays(folder / "model.npz", kind)
    for field in header:
        for bad in [..., *WRONG]:
            changed = copy.deepcopy(header)
            if bad == changed[field]:
                continue
            if bad is ...:
                del changed[field]
            else:
                changed[field] = bad
            write_arrays(tmp_path / "m.npz", changed, arrays)
            try:
                model = so.load_model(tmp_path / "m.npz")
            except StructoptError:
                continue
            # what it leaves open (features, names, settings of training) is no part of answers
            assert len(model.predict(X)) == len(X), (field, bad)


def test_fields_of_the_certificate_in_a_model_file(trained, tmp_path):
    *_, folder, kind = trained
    header, arrays = read_arrays(folder / "model.npz", kind)
    for field in header["certificate"]:
        for bad in (..., None, "x", [1.0], {}):
            changed = copy.deepcopy(header)
            changed["certificate"][field] = bad
            if bad is ...:
                del changed["certificate"][field]
            write_arrays(tmp_path / "m.npz", changed, arrays)
            if field == "note" and isinstance(bad, str):
                continue
            if bad is ... and field not in ("primal", "dual", "tolerance"):
                continue  # fields that came later have defaults
            refused(lambda: so.load_model(tmp_path / "m.npz"), FileFormatError, field, bad)


@pytest.mark.parametrize("slacks", ["n", "one"])
def test_fields_of_a_checkpoint(slacks, tmp_path):
    X, Y = so.datasets.make_chain_crf(n_examples=5, length=3, n_features=4, n_relevant=2, seed=0)
    path = tmp_path / "run.npz"
    model = so.StructuredClassifier(
        so.Chain(), so.M3N(C=0.3, slacks=slacks), checkpoint=path, tol=1e-2
    )
    truth = model.fit(X, Y).result_.certificate
    header, arrays = read_arrays(path, checkpoint._KIND)
    assert set(arrays) == {
        "weights", "family", "example", "loss", "margin", "scale", "multiplier",
        "ptr", "source", "offset", "coef", "data", "indices", "indptr",
    }  # fmt: skip

    def resumed(changed, said=header):
        write_arrays(path, said, changed)
        return model.fit(X, Y).result_.certificate

    assert resumed(arrays).certified
    explicit = ("data", "indices", "indptr")
    for field in arrays:
        if field in explicit and slacks == "n":
            continue  # n-slack cuts refer to the data's own rows, and have none
        for name, bad in wrong_numbers(arrays[field]):
            if (field, name) == ("indptr", "longer"):
                continue  # one more row, to which nothing refers
            changed = {**arrays, field: bad}
            if bad is None:
                del changed[field]
            refused(lambda c=changed: resumed(c), StructoptError, field, name)
    for field in header:
        for bad in (..., "another", 3):
            said = {**header, field: bad}
            if bad is ...:
                del said[field]
            refused(lambda s=said: resumed(arrays, s), StructoptError, field, bad)
    again = resumed(arrays)
    assert again.dual - 1e-9 <= truth.primal
    assert truth.dual - 1e-9 <= again.primal
