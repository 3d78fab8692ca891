"""Block ascent over parts: the optimum of the declared programme, whatever outputs are made of."""

import importlib
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from test_block_ascent import agree, both, hostile

import structopt as so
from structopt import names
from structopt.arrays import cut_rows
from structopt.errors import IncompatibleError, StructoptError
from structopt.methods.block_ascent import parts as parts_module
from structopt.methods.block_ascent.parts import MEASURED, Parts
from structopt.methods.registry import auto
from structopt.structures.base.example_shard import ExampleShard
from structopt.structures.base.oracles import loss_augmented


def some_rows(n, d, rng, density=0.4):
    X = sp.random_array((n, d), density=density, rng=rng, format="csr")
    X.data[:] = rng.integers(-2, 3, len(X.data)) + 0.5
    return X


def trees(n, seed, size=4, labels=3, d=8):
    rng = np.random.default_rng(seed)
    X, Y = [], []
    for _ in range(n):
        parents = [-1, *(int(rng.integers(v)) for v in range(1, size))]
        X.append((some_rows(size, d, rng), parents))
        Y.append(rng.integers(0, labels, size).tolist())
    return X, Y


def sequences(n, seed, length=4, labels=3, d=8):
    rng = np.random.default_rng(seed)
    X = [some_rows(length, d, rng) for _ in range(n)]
    return X, [rng.integers(0, labels, length).tolist() for _ in X]


def pairs(n, seed, d=5):
    rng = np.random.default_rng(seed)
    edges = [(i, j) for i in range(3) for j in range(3)]
    X = [so.CandidateEdges(edges, some_rows(9, d, rng), (3, 3)) for _ in range(n)]
    return X, [{(0, int(rng.integers(3)))} for _ in X]


def rankings(n, seed):
    rng = np.random.default_rng(seed)
    return [some_rows(5, 6, rng) for _ in range(n)], [[0, 1, 0, 1, 1]] * n


def sentences(n, seed):
    rng = np.random.default_rng(seed)
    return [rng.standard_normal((4, 3, 4)) for _ in range(n)], [
        [int(rng.integers(t + 1)) for t in range(3)] for _ in range(n)
    ]


def segments(n, seed):
    rng = np.random.default_rng(seed)
    tags = [["B-a", "I-a", "O", "B-b"], ["O", "B-b", "I-b", "O"], ["B-a", "B-b", "I-b", "I-b"]]
    return [some_rows(4, 6, rng) for _ in range(n)], [tags[i % 3] for i in range(n)]


def vectors(n, seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2, 4))
    return X, [tuple(int(k) for k in row) for row in rng.integers(0, 3, (n, 2))]


PROBLEMS = {
    "trees": (so.Hierarchy([0, 1, 2]), trees),
    "second order": (so.SecondOrderChain([0, 1, 2]), sequences),
    "pairs": (so.Matching(), pairs),
    "rankings": (so.Ranking(), rankings),
    "sentences": (so.Arborescence(), sentences),
    "segments": (so.Segments(), segments),
    "vectors": (so.LabelVector(labels=[0, 1, 2]), vectors),
}


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("n", [5, 40], ids=["whole", "in runs"])
def test_the_optimum_is_that_of_the_reference_backend(name, n):
    structure, make = PROBLEMS[name]
    X, Y = make(n, 1)
    weight = np.random.default_rng(2).integers(0, 3, n).astype(float)
    weight[0] = 1.0
    agree(*both(structure, so.M3N(C=0.5), X, Y, sample_weight=weight))


def test_margins_of_one_and_slack_rescaling():
    X, Y = trees(20, 3)
    for formulation in (so.StructSVM(C=2.0), so.StructSVM(C=2.0, rescale="margin")):
        agree(*both(so.Hierarchy([0, 1, 2]), formulation, X, Y))
    rng = np.random.default_rng(0)
    X, y = some_rows(40, 6, rng), rng.integers(0, 3, 40)
    loss = so.losses.Confusion([[0, 1, 3], [0.5, 0, 1], [2, 1, 0]])
    agree(*both(so.Multiclass([0, 1, 2], loss), so.StructSVM(C=2.0, rescale="slack"), X, y))


def test_more_planes_than_there_is_room_for():
    """Planes that are merged change neither weights nor dual, and the optimum is still found."""
    X, Y = trees(3, 5, size=6, labels=4)
    structure = so.Hierarchy(range(4)).fitted(X, Y)
    data = so.DataSet.of(structure, X, Y)
    one = so.CuttingPlane(structure, so.M3N(C=20.0), data, tol=1e-5).solve().certificate
    run = so.BlockAscent(structure, so.M3N(C=20.0), data, tol=1e-3)
    assert run.solve().certificate.certified
    assert run._blocks._count.max() == run._blocks._alpha.shape[1]
    two = run.result().certificate
    assert one.dual <= two.primal * (1 + 1e-9)
    assert two.dual <= one.primal * (1 + 1e-9)


@given(
    seed=st.integers(0, 1000), name=st.sampled_from(sorted(PROBLEMS)), C=st.sampled_from([0.1, 3.0])
)
@settings(max_examples=25, deadline=None)
def test_running_weights_dual_and_products_are_those_of_the_planes(seed, name, C):
    """After any round: all that was moved step by step is what the planes say, written out."""
    structure, make = PROBLEMS[name]
    X, Y = make(18, seed)
    fitted = structure.fitted(X, Y)
    data = so.DataSet.of(fitted, X, Y)
    run = so.BlockAscent(fitted, so.M3N(C=C), data, tol=1e-9, max_iter=6)
    before = 0.0
    for _ in run:
        blocks, base = run._blocks, run._problem.data.base
        assert blocks.dual >= before - 1e-9 * abs(before)
        before = blocks.dual
        source, offset, coef = blocks._heap
        total, gain = np.zeros(data.n_features), 0.0
        for i in range(18):
            own, c = slice(blocks._first[i], blocks._first[i] + blocks._size[i]), blocks._count[i]
            keys = list(zip(source[own], offset[own], strict=True))
            assert len(set(keys)) == len(keys)
            rows = np.zeros((len(keys), data.n_features))
            for row, (s, o) in zip(rows, keys, strict=True):
                first, stop = base.indptr[s], base.indptr[s + 1]
                row[o + base.indices[first:stop]] = base.data[first:stop]
            deltas = coef[own, :c].T @ rows
            np.testing.assert_allclose(blocks._gram[i, :c, :c], deltas @ deltas.T, atol=1e-8)
            assert not coef[own, c:].any()
            alpha = blocks._alpha[i]
            assert (alpha >= 0).all()
            assert not alpha[c:].any()
            assert alpha.sum() <= blocks.limit[i] * (1 + 1e-12)
            total += alpha[:c] @ deltas
            gain += alpha[:c] @ blocks._loss[i, :c]
        np.testing.assert_allclose(blocks._weights, total, atol=1e-8)
        assert blocks.dual == pytest.approx(gain - 0.5 * total @ total, abs=1e-8)


# ------------------------------------------------------------------ hostile inputs
@pytest.mark.parametrize(("X", "y"), [pytest.param(X, y, id=n) for n, X, y in hostile()])
@pytest.mark.parametrize("kind", ["trees", "second order"])
def test_hostile_rows(kind, X, y):
    starts = range(0, len(y), 4)
    rows = [cut_rows(X, a, min(a + 4, len(y))) for a in starts]
    Y = [y[a : a + 4].tolist() for a in starts]
    structure = so.SecondOrderChain([0, 1, 2])
    if kind == "trees":
        structure = so.Hierarchy([0, 1, 2])
        rows = [(x, [-1, 0, 0, 1][: x.shape[0]]) for x in rows]
    one, two = both(structure, so.M3N(C=0.7), rows, Y)
    agree(one, two)
    assert one.weights.shape == two.weights.shape


def test_mapped_rows(tmp_path):
    X, Y = sequences(6, 3)
    for number, x in enumerate(X):
        for name in ("data", "indices", "indptr"):
            np.save(tmp_path / f"{number}{name}.npy", getattr(x, name))
    mapped = [
        sp.csr_array(
            tuple(
                np.load(tmp_path / f"{k}{name}.npy", mmap_mode="r")
                for name in ("data", "indices", "indptr")
            ),
            shape=x.shape,
        )
        for k, x in enumerate(X)
    ]
    agree(*both(so.SecondOrderChain(), so.M3N(C=0.7), mapped, Y))


def test_values_of_1e300_are_refused():
    X, Y = sequences(4, 0)
    X[0].data[0] = 1e300
    structure = so.SecondOrderChain().fitted(X, Y)
    with pytest.raises(IncompatibleError, match="overflow"):
        so.BlockAscent(structure, so.M3N(), so.DataSet.of(structure, X, Y))
    model = so.StructuredClassifier(so.SecondOrderChain(), so.M3N(), max_iter=20)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(X, Y)
    except StructoptError:
        return
    assert model.result_.method == "cutting-plane"


def test_sequences_of_one_position_and_of_many():
    rng = np.random.default_rng(0)
    X = [sp.csr_array(np.eye(50)[rng.integers(0, 50, n)]) for n in (1, 20_000, 1, 2)]
    Y = [x.indices % 3 for x in X]
    structure = so.SecondOrderChain().fitted(X, Y)
    data = so.DataSet.of(structure, X, Y)
    found = so.BlockAscent(structure, so.M3N(C=1e-3), data, tol=1e-2).solve()
    assert found.certificate.certified


# ------------------------------------------------------------------ who takes it
def test_a_structure_with_methods_of_its_own_is_refused():
    class Strict(so.Hierarchy):
        def loss(self, y, other):
            return float(list(y) != list(other))

        def argmax(self, x, weights, *, gold=None):
            return super().argmax(x, weights) if gold is None else gold

    X, Y = trees(5, 0)
    structure = Strict([0, 1, 2]).fitted(X, Y)
    data = so.DataSet.of(structure, X, Y)
    assert isinstance(data.shards[0], ExampleShard)
    with pytest.raises(IncompatibleError, match="example by example"):
        so.BlockAscent(structure, so.M3N(), data)


def test_weights_of_one_sign_are_refused():
    X, Y = so.datasets.make_grids(3, side=3, seed=0)
    structure = so.GraphCut().fitted(X, Y)
    with pytest.raises(IncompatibleError, match="constraints"):
        so.BlockAscent(structure, so.M3N(), so.DataSet.of(structure, X, Y))


def test_auto_takes_it_where_it_is_faster():
    X, Y = trees(20, 0)
    structure = so.Hierarchy([0, 1, 2]).fitted(X, Y)
    data = so.DataSet.of(structure, X, Y)
    assert auto(structure, so.M3N(C=0.1), data).name == "block-ascent"
    assert auto(structure, so.M3N(C=1e4), data).name == "cutting-plane"  # stiff
    assert auto(structure, so.M3N(C=0.1), data, tol=1e-5).name == "cutting-plane"
    assert auto(structure, so.L1M3N(C=0.1), data).name == "cutting-plane"
    assert auto(structure, so.M3N(C=0.1), data, backend="clarabel").name == "cutting-plane"


def test_the_structures_that_were_measured_exist():
    shards = set()
    for entry in names.of_kind("structure"):
        home = importlib.import_module(f"structopt.{entry.home}")
        shards |= {name.removesuffix("Shard") for name in vars(home) if name.endswith("Shard")}
    assert shards >= MEASURED


# ------------------------------------------------------------------ what runs carry over
def test_warm_starts_go_on_with_the_multipliers():
    X, Y = trees(40, 0)
    structure = so.Hierarchy([0, 1, 2]).fitted(X, Y)
    data = so.DataSet.of(structure, X, Y)
    first = so.BlockAscent(structure, so.M3N(C=0.5), data, tol=1e-4)
    cold = first.solve()
    again = so.BlockAscent(structure, so.M3N(C=0.5), data, tol=1e-3, warm_start=first.state)
    assert again._problem.runs is first._problem.runs
    assert len(again.solve().history) == 1
    other = so.BlockAscent(structure, so.M3N(C=0.6), data, tol=1e-4, warm_start=first.state).solve()
    alone = so.BlockAscent(structure, so.M3N(C=0.6), data, tol=1e-4).solve()
    assert other.certificate.certified
    assert other.certificate.dual <= alone.certificate.primal * (1 + 1e-9)
    assert alone.certificate.dual <= other.certificate.primal * (1 + 1e-9)
    assert len(other.history) < len(cold.history)


def test_columns_that_nobody_has_are_left_out():
    X, Y = trees(20, 0, d=8)
    wide = [
        (sp.csr_array((x.data, 9000 * x.indices, x.indptr), shape=(x.shape[0], 80_000)), parents)
        for x, parents in X
    ]
    structure = so.Hierarchy([0, 1, 2])
    found = []
    for rows in (X, wide):
        fitted = structure.fitted(rows, Y)
        run = so.BlockAscent(fitted, so.M3N(C=0.5), so.DataSet.of(fitted, rows, Y), tol=1e-4)
        assert isinstance(run._problem, Parts)
        assert run._problem.data.n_features == 33
        found.append((run.solve(), fitted))
    (one, small), (two, large) = found
    assert len(two.weights) == large.n_features_ == 3 * 80_000 + 9
    assert one.certificate.primal == pytest.approx(two.certificate.primal, rel=1e-12)
    place = (80_000 * np.arange(3)[:, None] + 9000 * np.arange(8)).ravel()
    place = np.concatenate([place, 240_000 + np.arange(9)])
    assert small.n_features_ == 33
    np.testing.assert_allclose(two.weights[place], one.weights, rtol=1e-10, atol=1e-12)


def test_a_pass_recalls_what_a_certificate_found(monkeypatch):
    """No example is asked twice at the weights of a certificate; answers are those of the shard."""
    X, Y = trees(30, 4)
    structure = so.Hierarchy([0, 1, 2]).fitted(X, Y)
    data = so.DataSet.of(structure, X, Y)
    run = so.BlockAscent(structure, so.M3N(C=0.5), data)
    run.step()
    assert (run.decoded, run.certificates) == (30, 1)
    run.step()
    assert run.decoded == 30
    seen = []
    monkeypatch.setattr(
        parts_module, "asked", lambda shard, *rest: seen.append(shard) or shard.ask(*rest)
    )
    run.step()
    assert run.decoded in (30, 60)  # another certificate may have come between
    assert sum(shard.n_examples for shard in seen) == run.decoded - 30
    answers = data.ask(loss_augmented, np.zeros(data.n_features))[0]
    kept = [r.shard.ask(loss_augmented, np.zeros(data.n_features)) for r in run._problem.runs]
    np.testing.assert_array_equal(answers.outputs, np.concatenate([a.outputs for a in kept]))


@pytest.mark.parametrize("name", PROBLEMS)
def test_shards_are_one_problem(name):
    """Two shards over bases of their own: the weights are sums over both."""
    structure, make = PROBLEMS[name]
    X, Y = make(7, 4)
    fitted = structure.fitted(X, Y)
    pieces = [fitted.encode(X[a:b], Y[a:b], start=a) for a, b in ((0, 3), (3, 7))]
    whole, two = so.DataSet.of(fitted, X, Y), so.DataSet(pieces, fitted.n_features_)
    found = [so.BlockAscent(fitted, so.M3N(C=0.5), data, tol=1e-5).solve() for data in (whole, two)]
    assert found[1].certificate.certified
    agree(*found)
