"""Every field of a model file and of a checkpoint, wrong in turn, under a digest that is right."""

import copy
import tracemalloc

import networkx as nx
import numpy as np
import pytest

import structopt as so
from structopt.errors import FileFormatError, StructoptError
from structopt.files import read_arrays, read_plain_arrays, write_arrays
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


def test_labels_of_another_number_than_their_weights(trained, tmp_path):
    _, _, _, folder, kind = trained
    header, arrays = read_arrays(folder / "model.npz", kind)
    for labels in (["b"], ["a", "b", "c"], [str(k) for k in range(9)]):
        changed = copy.deepcopy(header)
        changed["fitted"]["attributes"]["labels_"]["labels"] = labels
        write_arrays(tmp_path / "m.npz", changed, arrays)
        refused(lambda: so.load_model(tmp_path / "m.npz"), FileFormatError, "labels_", labels)


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


# ---------------------------------------------------------------------- what fitting found
def changed_state(path, out, kind, *changes):
    """Write a model file with fitted attributes changed (None: missing), signed anew."""
    header, arrays = read_arrays(path, kind)
    attributes = header["fitted"]["attributes"]
    for name, value in changes:
        if value is ...:
            del attributes[name]
        else:
            attributes[name] = value
    write_arrays(out, header, arrays)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("labels_", ...),
        ("labels_", ["a", "b"]),
        ("n_inputs_", ...),
        ("n_inputs_", "12"),
        ("n_inputs_", True),
        ("n_inputs_", -12),
        ("class_weight_", [1.0, 1.0]),
        ("class_weight_", {"array": ["a"], "dtype": "<U1", "shape": [1]}),
        ("allowed_", 3),
        ("predict", 3),
        ("_weights_", 3),
    ],
)
def test_fitted_attributes_are_what_their_class_says(name, value, trained, tmp_path):
    *_, folder, kind = trained
    changed_state(folder / "model.npz", tmp_path / "m.npz", kind, (name, value))
    with pytest.raises(FileFormatError, match=f"is damaged.*{name}"):
        so.load_model(tmp_path / "m.npz")


def test_a_lattice_without_its_names_is_refused_when_it_is_read(tmp_path):
    graph = nx.DiGraph()
    for node in "ab":
        graph.add_edge("s", node, features={node: 1.0})
        graph.add_edge(node, "t", features={})
    gold = (("s", "a"), ("a", "t"))
    model = so.StructuredClassifier(so.Lattice(), so.M3N()).fit([graph], [gold])
    model.save(tmp_path / "m.npz")
    assert so.load_model(tmp_path / "m.npz").predict([graph]) == [gold]
    changed_state(tmp_path / "m.npz", tmp_path / "n.npz", model_file._KIND, ("names_", ...))
    with pytest.raises(FileFormatError, match="Lattice has no names_"):
        so.load_model(tmp_path / "n.npz")


def test_a_structure_in_another_is_fitted_too(tmp_path):
    model = so.StructuredClassifier(so.References(so.Chain("ab")), so.LPStruct(references="worst"))
    model.fit([np.eye(2)], [["ab", "aa"]]).save(tmp_path / "m.npz")
    header, arrays = read_arrays(tmp_path / "m.npz", model_file._KIND)
    header["fitted"]["inside"] = {}
    write_arrays(tmp_path / "n.npz", header, arrays)
    with pytest.raises(FileFormatError, match="structure of References is not fitted"):
        so.load_model(tmp_path / "n.npz")


def test_a_forged_parameter_is_refused_when_it_is_read(tmp_path):
    X, Y = [("ab", "ab")], [[(0, 0), (1, 1)]]
    model = so.StructuredClassifier(so.AlignmentPath(loss=so.losses.PartCosts()), so.M3N())
    model.fit(X, Y).save(tmp_path / "m.npz")
    header, arrays = read_arrays(tmp_path / "m.npz", model_file._KIND)
    for bad in ("x", -1.0, [1.0]):
        header["structure"]["parameters"]["loss"]["part"]["parameters"]["extra"] = bad
        write_arrays(tmp_path / "n.npz", header, arrays)
        with pytest.raises(FileFormatError, match="both must be finite"):
            so.load_model(tmp_path / "n.npz")


def test_arrays_of_features_are_what_their_class_says(tmp_path):
    words, tags = [["thé", "cat"], ["a", "dog"]], [["D", "N"], ["D", "N"]]
    model = so.StructuredClassifier(so.Chain(), so.M3N(), features=so.WordFeatures())
    model.fit(words, tags).save(tmp_path / "m.npz")
    header, arrays = read_arrays(tmp_path / "m.npz", model_file._KIND)
    for field in [name for name in arrays if name.startswith("features")]:
        text = arrays[field].dtype == np.uint8
        for name, bad in wrong_numbers(arrays[field].astype(np.int64)):
            changed = {k: v for k, v in arrays.items() if k != field}
            changed |= {} if bad is None else {field: bad}
            write_arrays(tmp_path / "n.npz", header, changed)
            refused(lambda: so.load_model(tmp_path / "n.npz"), FileFormatError, field, name)
        if text and b"th\xc3\xa9" in arrays[field].tobytes():
            broken = np.where(arrays[field] == 0xC3, 0x28, arrays[field]).astype(np.uint8)
            write_arrays(tmp_path / "n.npz", header, {**arrays, field: broken})
            with pytest.raises(FileFormatError, match="utf-8"):
                so.load_model(tmp_path / "n.npz")


def test_a_packed_array_is_unpacked_once(tmp_path):
    """What it was unpacked to and a copy of it stood beside each other: twice what zlib packs."""
    np.savez_compressed(tmp_path / "zeros.npz", zeros=np.zeros((2, 10**6)).T)
    tracemalloc.start()
    (zeros,) = read_plain_arrays(tmp_path / "zeros.npz").values()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert zeros.shape == (10**6, 2)
    assert not zeros.any()
    assert most < zeros.nbytes + 4 * 2**20
