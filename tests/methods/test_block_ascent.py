"""Block ascent finds the optimum of the declared programme, whatever the rows look like."""

import warnings

import numpy as np
import pytest
import scipy.sparse as sp

import structopt as so
from structopt.arrays import cut_rows
from structopt.errors import IncompatibleError, InvalidInputError, StructoptError
from structopt.methods.block_ascent.columns import Columns
from structopt.structures.base.oracles import loss_augmented

RNG = np.random.default_rng(0)


def rows(n, d, seed, density=0.3):
    rng = np.random.default_rng(seed)
    X = sp.random_array((n, d), density=density, rng=rng, format="csr")
    X.data[:] = rng.integers(-2, 3, len(X.data)) + 0.5
    return X


def both(structure, formulation, X, Y, **options):
    """Return what the reference backend and block ascent certify."""
    fitted = structure.fitted(X, Y)
    weight = options.pop("sample_weight", None)
    data = so.DataSet.of(fitted, X, Y, sample_weight=weight)
    one = so.CuttingPlane(fitted, formulation, data, backend="cvxpy", tol=1e-5).solve()
    two = so.BlockAscent(fitted, formulation, data, tol=1e-5, **options).solve()
    assert two.certificate.certified
    assert two.status == "optimal"
    return one, two


def agree(one, two):
    a, b = one.certificate, two.certificate
    assert a.dual <= b.primal * (1 + 1e-9)
    assert b.dual <= a.primal * (1 + 1e-9)
    assert np.linalg.norm(one.weights - two.weights) <= 0.05 * (1 + np.linalg.norm(one.weights))


COSTS = {"none": None, "classes": so.losses.Hamming({0: 2.0, 1: 0.5, 2: 1.0})}
MATRIX = np.array([[0.0, 1.0, 3.0], [0.5, 0.0, 1.0], [2.0, 1.0, 0.0]])


@pytest.mark.parametrize("formulation", [so.M3N(C=0.5), so.StructSVM(C=4.0)], ids=str)
@pytest.mark.parametrize("loss", [*COSTS.values(), so.losses.Confusion(MATRIX)], ids=str)
def test_classes(formulation, loss):
    X = rows(30, 20, 1)
    y = RNG.integers(0, 3, 30)
    weight = RNG.integers(0, 3, 30).astype(float)
    agree(*both(so.Multiclass([0, 1, 2], loss), formulation, X, y, sample_weight=weight))


@pytest.mark.parametrize("boundaries", [False, True])
@pytest.mark.parametrize("transitions", [None, {0: [0, 1, None], 1: [2], 2: [0, 1, 2, None]}])
@pytest.mark.parametrize("loss", [None, so.losses.Confusion(MATRIX)], ids=str)
def test_sequences(boundaries, transitions, loss):
    rng = np.random.default_rng(3)
    X = [rows(n, 12, n) for n in (1, 2, 4, 5, 3)]
    if transitions is None:
        Y = [rng.integers(0, 3, x.shape[0]).tolist() for x in X]
    else:
        Y = [[0], [1, 2], [0, 0, 1, 2], [2, 0, 1, 2, 2], [1, 2, 0]]
    chain = so.Chain([0, 1, 2], loss, boundaries=boundaries, transitions=transitions)
    agree(*both(chain, so.M3N(C=0.5), X, Y, sample_weight=np.array([1.0, 2.0, 0.5, 0.0, 1.0])))


def test_columns_are_fewer_and_products_the_same():
    X = rows(12, 8, 5)
    X = sp.csr_array(sp.hstack([X, X[:, [2, 2, 0]], np.zeros((12, 2)), np.eye(12)[:, :3]]))
    found = Columns.of(X)
    small = sp.csr_array((found.data, found.indices, found.indptr), (12, len(found.scale)))
    assert small.shape[1] < X.shape[1]
    whole = (small @ small.T).toarray() + np.diag(found.own)
    np.testing.assert_allclose(whole, (X @ X.T).toarray(), rtol=1e-12)
    np.testing.assert_allclose(found.square, np.diag(whole), rtol=1e-12)


# ------------------------------------------------------------------ hostile inputs
def hostile():
    X = rows(24, 10, 7)
    y = np.random.default_rng(1).integers(0, 3, 24)
    wide = sp.csr_array((X.data, X.indices * 1000, X.indptr), shape=(24, 10_000))
    yield "empty columns", wide, y
    zero = X.toarray()
    zero[3:9] = 0.0
    yield "rows of zeros", sp.csr_array(zero), y
    yield "repeated columns", sp.csr_array(sp.hstack([X, X, X[:, :1]])), y
    order = np.argsort(RNG.random(len(X.data)))
    coo = X.tocoo()
    twice = sp.csr_array(sp.coo_array((coo.data[order], (coo.row[order], coo.col[order]))))
    yield "unsorted", twice, y
    doubled = sp.csr_array(
        (np.repeat(X.data / 2, 2), np.repeat(X.indices, 2), 2 * X.indptr), shape=X.shape
    )
    yield "duplicate entries", doubled, y
    long = sp.csr_array(X)
    long.indices, long.indptr = long.indices.astype(np.int64), long.indptr.astype(np.int64)
    yield "int64 indices", long, y
    yield "float32", X.astype(np.float32), y
    fixed = X.copy()
    for array in (fixed.data, fixed.indices, fixed.indptr):
        array.flags.writeable = False
    yield "read-only", fixed, y
    tiny = X.copy()
    tiny.data[::3] = 1e-300
    yield "1e-300", tiny, y
    yield "one example", X[:1], y[:1]
    yield "the same row everywhere", X[np.zeros(24, int)], y


def sequences(X, y, length=4):
    """The same rows as sequences, views where they are sparse."""
    starts = range(0, len(y), length)
    return [cut_rows(X, a, min(a + length, len(y))) for a in starts], [
        y[a : a + length].tolist() for a in starts
    ]


def general(structure, formulation, X, Y):
    """What cutting planes certify, by the backend that they choose."""
    fitted = structure.fitted(X, Y)
    return so.CuttingPlane(fitted, formulation, so.DataSet.of(fitted, X, Y), tol=1e-5).solve()


@pytest.mark.parametrize(("X", "y"), [pytest.param(X, y, id=n) for n, X, y in hostile()])
@pytest.mark.parametrize("kind", ["classes", "sequences"])
def test_hostile_rows(kind, X, y):
    """The same certified optimum by blocks, by cutting planes, and by the reference backend."""
    structure = so.Multiclass([0, 1, 2])
    if kind == "sequences":
        structure, (X, y) = so.Chain([0, 1, 2]), sequences(X, y)
    one, two = both(structure, so.M3N(C=0.7), X, y)
    agree(one, two)
    assert one.weights.shape == two.weights.shape
    three = general(structure, so.M3N(C=0.7), X, y)
    assert three.certificate.certified
    agree(one, three)


@pytest.mark.parametrize("kind", ["classes", "sequences"])
@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "CSR"])
def test_mapped_rows(tmp_path, kind, sparse):
    X = rows(24, 10, 7)
    y = np.random.default_rng(1).integers(0, 3, 24)
    structure = so.Multiclass()

    def mapped(name, array):
        np.save(tmp_path / f"{name}.npy", array)
        return np.load(tmp_path / f"{name}.npy", mmap_mode="r")

    if sparse:
        arrays = [mapped(name, getattr(X, name)) for name in ("data", "indices", "indptr")]
        X = sp.csr_array(tuple(arrays), shape=X.shape)
    else:
        X = mapped("X", X.toarray())
    if kind == "sequences":
        structure, (X, y) = so.Chain(), sequences(X, y)
    one, two = both(structure, so.M3N(C=0.7), X, y)
    agree(one, two)
    agree(one, general(structure, so.M3N(C=0.7), X, y))


def test_one_label():
    """Classes need two; sequences of one label have nothing to learn, and say so by 0."""
    X = rows(6, 4, 1)
    with pytest.raises(InvalidInputError, match="only label"):
        so.Multiclass().fitted(X, [0] * 6)
    words, tags = sequences(X, np.zeros(6, dtype=int), 3)
    structure = so.Chain().fitted(words, tags)
    data = so.DataSet.of(structure, words, tags)
    for method in (so.BlockAscent, so.CuttingPlane):
        found = method(structure, so.M3N(), data).solve()
        assert found.certificate.primal == pytest.approx(0.0, abs=1e-9)
        assert not found.weights.any()


@pytest.mark.parametrize("kind", ["classes", "sequences"])
def test_values_of_1e300(kind):
    """Their squares are no numbers: refused, or a certificate that holds; never a raw error."""
    X, y = rows(6, 4, 1), np.array([0, 1, 0, 1, 0, 1])
    X.data[0] = 1e300
    structure = so.Multiclass()
    if kind == "sequences":
        structure, (X, y) = so.Chain(), sequences(X, y, 3)
    fitted = structure.fitted(X, y)
    data = so.DataSet.of(fitted, X, y)
    with pytest.raises(IncompatibleError, match="overflow"):
        so.BlockAscent(fitted, so.M3N(), data)
    model = so.StructuredClassifier(structure, so.M3N(), max_iter=20)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X, y)
    except StructoptError:
        return
    found = model.result_
    answers = data.ask(loss_augmented, found.weights)
    hinges = sum(float(np.maximum(a.loss - a.score, 0.0).sum()) for a in answers)
    assert not found.certificate.certified or np.isfinite(hinges)


def test_squares_that_overflow_are_refused():
    X = rows(6, 4, 1)
    X.data[0] = 1e300
    y = [0, 1, 0, 1, 0, 1]
    structure = so.Multiclass().fitted(X, y)
    with pytest.raises(IncompatibleError, match="overflow"):
        so.BlockAscent(structure, so.M3N(), so.DataSet.of(structure, X, y))


def test_sequences_of_one_token_and_of_many():
    rng = np.random.default_rng(0)
    lengths = [1, 100_000, 1, 2]
    X = []
    for n in lengths:
        where = rng.integers(0, 50, n)
        X.append(sp.csr_array((np.ones(n), (np.arange(n), where)), shape=(n, 50)))
    Y = [x.indices % 3 for x in X]
    structure = so.Chain().fitted(X, Y)
    data = so.DataSet.of(structure, X, Y)
    found = so.BlockAscent(structure, so.M3N(C=1e-4), data, tol=1e-2).solve()
    assert found.certificate.certified


def test_more_classes_and_planes_than_there_is_room_for():
    rng = np.random.default_rng(0)
    X, y = rows(60, 5, 2, density=0.8), rng.integers(0, 40, 60)
    agree(*both(so.Multiclass(), so.M3N(C=30.0), X, y))
    words = [rows(6, 4, s, density=0.9) for s in range(4)]
    tags = [rng.integers(0, 4, 6).tolist() for _ in words]
    agree(*both(so.Chain(), so.M3N(C=30.0), words, tags))


def test_auto_leaves_stiff_problems_to_cutting_planes():
    """A cost so large, by the size of the inputs, that ascent by blocks would crawl or stall."""
    X, y = so.datasets.make_classes(40, seed=0)
    soft, stiff = (
        so.StructuredClassifier(so.Multiclass(), so.M3N(C=C)).fit(X, y).result_ for C in (1.0, 1e8)
    )
    assert (soft.method, stiff.method) == ("block-ascent", "cutting-plane")
    assert soft.certificate.certified
    assert stiff.certificate.certified


@pytest.mark.parametrize("structure", [so.Chain([0, 1, 2]), so.Multiclass([0, 1, 2])], ids=str)
def test_shards_are_one_problem(structure):
    """Two shards, in one of which outputs bring costs of their own."""
    rng, chain = np.random.default_rng(0), isinstance(structure, so.Chain)
    if chain:
        X = [rows(3, 4, s, density=0.8) for s in range(6)]
        Y = [rng.integers(0, 3, 3).tolist() for _ in X]
    else:
        X, Y = rows(6, 4, 1, density=0.8), rng.integers(0, 3, 6).tolist()
    for k in (0, 2):
        costs = rng.random((3, 3)) if chain else rng.random(3)
        np.put_along_axis(costs, np.array(Y[k])[..., None], 0.0, axis=-1)
        Y[k] = so.losses.Costed(Y[k], costs)
    fitted = structure.fitted(X, Y)
    pieces = [fitted.encode(X[a:b], Y[a:b], start=a) for a, b in ((0, 4), (4, 6))]
    whole, two = so.DataSet.of(fitted, X, Y), so.DataSet(pieces, fitted.n_features_)
    one = so.CuttingPlane(fitted, so.M3N(C=2.0), whole, tol=1e-5).solve()
    found = so.BlockAscent(fitted, so.M3N(C=2.0), two, tol=1e-5).solve()
    assert found.certificate.certified
    agree(one, found)


def test_a_sequence_is_as_stiff_as_all_of_it():
    """The largest of 2 |x_i|^2 c_i / p, |x_i|^2 over a whole sequence, against 1e5."""
    X = [np.ones((1, 4)), 3.0 * np.ones((5, 4)), np.ones((7, 4))]
    Y = [[0] * len(x) for x in X]
    structure = so.Chain([0, 1]).fitted(X, Y)
    data = so.DataSet.of(structure, X, Y)
    edge = 1e5 / (2 * 9 * 5 * 4)  # C at which the second is at the limit
    for C, suits in ((0.999 * edge, True), (1.001 * edge, False)):
        run = so.BlockAscent(structure, so.M3N(C=C), data)
        assert run._problem.suits(1e-3) == suits
