"""A pass by several threads gives the answers of one, of sparse inputs to the last digit."""

import os

import numpy as np
import pytest
import scipy.sparse as sp
from joblib import Parallel, delayed, parallel_config

import structopt as so
from structopt.engines import lanes
from structopt.structures.alignment_path import small as paths
from structopt.structures.arborescence import small as arborescence
from structopt.structures.base.labelled_shard import LabelledShard
from structopt.structures.grammar import small as grammar
from structopt.structures.lattice import small as lattice

RNG = np.random.default_rng(0)
TAGS = ["B-a", "I-a", "B-b", "I-b", "O"]


def sequences(n_labels, sparse=False, n=7):
    lengths = RNG.integers(1, 6, n)
    X = [RNG.normal(size=(t, 6)) for t in lengths]
    if sparse:
        X = [sp.csr_array(x * (RNG.random(x.shape) < 0.2)) for x in X]
    return X, [RNG.integers(n_labels, size=t).tolist() for t in lengths]


def cases():
    rows = RNG.normal(size=(11, 5))
    classes = RNG.integers(3, size=11)
    thin = sp.random_array((11, 40), density=0.1, format="csr", rng=RNG)
    wide = sp.random_array((11, 4000), density=0.001, format="csr", rng=RNG)
    signals, _ = sequences(2)
    return {
        "chain": (so.Chain(labels=range(4)), *sequences(4)),
        "sparse chain": (so.Chain(labels=range(4), boundaries=True), *sequences(4, sparse=True)),
        "second order": (so.SecondOrderChain(labels=range(3)), *sequences(3)),
        "segments": (so.Segments(TAGS, longest=3), signals, [["O"] * len(x) for x in signals]),
        "multiclass": (so.Multiclass(), rows, classes),
        "sparse multiclass": (so.Multiclass(), thin, classes),
        "wide multiclass": (so.Multiclass(), wide, classes),
    }


def decoded():
    """Return structures whose outputs are no labels, with their own tiny problems."""
    rooms = {"trees": arborescence, "lattices": lattice, "parses": grammar, "alignments": paths}
    found = {}
    for name, room in rooms.items():
        for seed in range(12):
            made = room.small(np.random.default_rng(seed))
            if len(made.X) >= 3:
                found[f"{name} {seed}"] = (made.structure, made.X, made.Y)
    X, Y = so.datasets.make_swap_lattices(9, n_features=50, vocabulary=9, seed=0)
    arcs = [np.asarray(references[0]) for references in Y]
    first = so.PathArrays(np.cumsum([0, *map(len, arcs)]), np.concatenate(arcs))
    return found | {"lattices as arrays": (so.Lattice(), X, first)}


CASES, DECODED = cases(), decoded()


def equal(found, wanted):
    if isinstance(wanted, tuple):
        return len(found) == len(wanted) and all(map(equal, found, wanted))
    return np.array_equal(found, wanted)


@pytest.mark.parametrize("name", DECODED)
def test_threads_decode_as_one_does(name, monkeypatch):
    structure, X, Y = DECODED[name]
    structure = structure.fitted(X, Y)
    shard = structure.encode(X, Y)
    assert shard.n_scores >= 1
    monkeypatch.setattr(lanes, "RUN", 4)
    for oracle in (so.loss_augmented, so.oracles.best_other, so.oracles.worst):
        if oracle.needs not in structure.abilities():
            continue
        weights = RNG.normal(size=structure.n_features_)
        whole = shard.ask(oracle, weights)
        moved = shard.anchored(whole.outputs)
        for one in (shard, moved):
            whole, which = one.ask(oracle, weights), np.arange(one.n_examples)
            delta = one.directions(whole.outputs, which).tocsr(one.base, len(weights))
            for n_threads in (1, 2, one.n_examples):
                found = lanes.Lanes(one, n_threads).ask(oracle, weights)
                assert equal(found.outputs, whole.outputs)
                np.testing.assert_array_equal(found.loss, whole.loss)
                np.testing.assert_allclose(found.score, whole.score, rtol=1e-12, atol=1e-13)
                again = one.directions(found.outputs, which).tocsr(one.base, len(weights))
                assert np.array_equal(again.toarray(), delta.toarray())


@pytest.mark.parametrize("name", [n for n in DECODED if n.endswith(("0", "arrays"))])
def test_jobs_share_one_shard_of_what_is_decoded(name):
    structure, X, Y = DECODED[name]
    structure = structure.fitted(X, Y)
    one, two = (so.DataSet.of(structure, X, Y, n_jobs=n) for n in (1, 2))
    assert len(two.shards) == 1
    assert isinstance(two._lanes, lanes.Lanes)
    first, second = (
        so.CuttingPlane(structure, so.M3N(0.5), d, tol=1e-4).solve() for d in (one, two)
    )
    np.testing.assert_allclose(first.weights, second.weights, rtol=1e-9, atol=1e-9)
    assert first.certificate.primal == pytest.approx(second.certificate.primal, rel=1e-9)


@pytest.mark.parametrize("name", CASES)
def test_threads_answer_as_one_does(name):
    structure, X, Y = CASES[name]
    structure = structure.fitted(X, Y)
    shard = structure.encode(X, Y)
    assert isinstance(shard, LabelledShard)
    for oracle in (so.loss_augmented, so.oracles.best_other, so.oracles.worst):
        if oracle.needs not in structure.abilities():
            continue
        for _ in range(3):
            weights = RNG.normal(size=structure.n_features_)
            whole = shard.ask(oracle, weights)
            for n_threads in (2, 3, shard.n_examples):
                parts = lanes.Lanes(shard, n_threads).ask(oracle, weights)
                np.testing.assert_array_equal(parts.outputs, whole.outputs)
                np.testing.assert_array_equal(parts.loss, whole.loss)
                # BLAS may round a product of fewer rows another way
                rounding = 0.0 if "sparse" in name or "wide" in name else 1e-13
                np.testing.assert_allclose(parts.score, whole.score, rtol=0, atol=rounding)
                assert parts.exact == whole.exact


@pytest.mark.parametrize("name", CASES)
def test_runs_are_the_same_however_many_threads_there_are(name, monkeypatch):
    structure, X, Y = CASES[name]
    structure = structure.fitted(X, Y)
    monkeypatch.setattr(lanes, "RUN", 8)
    one, two, three = (so.DataSet.of(structure, X, Y, n_jobs=n) for n in (1, 2, 3))
    weights = RNG.normal(size=structure.n_features_)
    (given,) = one.ask(so.loss_augmented, weights)
    assert len(one._lanes.runs) == len(three._lanes.runs) >= 3
    for data in (two, three):
        (found,) = data.ask(so.loss_augmented, weights)
        np.testing.assert_array_equal(found.outputs, given.outputs)
        np.testing.assert_array_equal(found.score, given.score)
    whole = one.shards[0].ask(so.loss_augmented, weights)
    np.testing.assert_array_equal(given.outputs, whole.outputs)
    np.testing.assert_allclose(given.score, whole.score, atol=1e-13)
    weights *= -2.0  # in the same memory: nothing of the last question is left
    (other,) = one.ask(so.loss_augmented, weights)
    right = one.shards[0].ask(so.loss_augmented, weights)
    np.testing.assert_array_equal(other.outputs, right.outputs)
    with pytest.raises(so.errors.InvalidInputError):
        one.ask(so.loss_augmented, weights[:-1])


@pytest.mark.parametrize("name", ["sparse chain", "sparse multiclass"])
def test_jobs_share_one_shard_and_learn_the_same(name):
    structure, X, Y = CASES[name]
    structure = structure.fitted(X, Y)
    one, two = (so.DataSet.of(structure, X, Y, n_jobs=n) for n in (1, 2))
    assert len(two.shards) == 1  # the base is not held twice
    assert two.fingerprint("") == one.fingerprint("")
    assert isinstance(two._lanes, lanes.Lanes)
    assert one._lanes is one.shards[0]
    results = [so.CuttingPlane(structure, so.M3N(0.5), d, tol=1e-4).solve() for d in (one, two)]
    assert np.array_equal(results[0].weights, results[1].weights)
    assert [r.value for r in results[0].history] == [r.value for r in results[1].history]


def test_two_threads_are_the_default_where_a_shard_is_large(monkeypatch):
    structure, X, Y = CASES["chain"]
    structure = structure.fitted(X, Y)
    shard = structure.encode(X, Y)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2})
    assert lanes.n_lanes(shard, None) == 1
    monkeypatch.setattr(lanes, "LARGE", shard.base.nnz)
    assert lanes.n_lanes(shard, None) == 2
    assert [lanes.n_lanes(shard, n) for n in (1, 2, 3, 100)] == [1, 2, 3, shard.n_examples]
    with parallel_config(backend="loky", n_jobs=2):
        assert lanes.n_lanes(shard, None) == 1  # processes: shards of their own
        assert len(so.DataSet.of(structure, X, Y).shards) == 2
    with parallel_config(n_jobs=3):
        assert lanes.n_lanes(shard, None) == 3
    # a worker of joblib has its share of the cores already
    (inside,) = Parallel(n_jobs=2, backend="threading")(
        delayed(lanes.n_lanes)(shard, None) for _ in range(1)
    )
    assert inside == 1
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0})
    assert lanes.n_lanes(shard, None) == 1
    data = so.DataSet.of(structure, X, Y)
    data.ask(so.loss_augmented, np.ones(data.n_features))


def test_shards_that_cannot_be_stacked_are_asked_by_one_thread():
    X, Y = so.datasets.make_swap_lattices(4, n_features=50, vocabulary=9, seed=0)
    structure = so.References(so.Lattice()).fitted(X, Y)
    assert lanes.n_lanes(structure.encode(X, Y), 2) == 1
    own = so.Enumerated([0, 1], lambda x, y: np.eye(2)[y] * x).fitted([1.0, 2.0], [0, 1])
    assert lanes.n_lanes(own.encode([1.0, 2.0], [0, 1]), 2) == 1


def test_what_fails_in_a_thread_is_raised():
    structure, X, Y = CASES["chain"]
    structure = structure.fitted(X, Y)
    data = so.DataSet.of(structure, X, Y, n_jobs=2)
    with pytest.raises(so.errors.StructoptError):
        data.ask(so.loss_augmented, np.full(data.n_features, np.nan))
    data.ask(so.loss_augmented, np.zeros(data.n_features))


def test_outer_loops_ask_the_examples_they_changed():
    structure, X, Y = CASES["chain"]
    structure = structure.fitted(X, Y)
    data = so.DataSet.of(structure, X, Y, n_jobs=2)
    weights = RNG.normal(size=data.n_features)
    answers = data.ask(so.loss_augmented, weights)
    moved = data.anchored(answers)
    again = moved.ask(so.loss_augmented, weights)
    assert moved._lanes is not data._lanes
    wanted = moved.shards[0].ask(so.loss_augmented, weights)
    np.testing.assert_array_equal(again[0].score, wanted.score)
