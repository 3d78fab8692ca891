"""Gold outputs that are known in part: the best completion is that of enumeration."""

from __future__ import annotations

from itertools import pairwise, product

import numpy as np
import pytest

import structopt as so
from structopt.errors import InvalidInputError

LABELS = ["a", "b", "c"]


def chain(rng):
    X = [rng.normal(size=(t, 2)) for t in (1, 3, 4)]
    allowed = np.array([[0, 1, 1], [1, 1, 1], [0, 1, 0]], dtype=bool)

    def may(y):
        return all(allowed[LABELS.index(j), LABELS.index(k)] for j, k in pairwise(y))

    def every(x):
        return [list(y) for y in product(LABELS, repeat=len(x)) if may(y)]

    return so.Chain(LABELS, transitions=allowed, boundaries=True), X, every


def tree(rng):
    X = [(rng.normal(size=(3, 2)), [-1, 0, 0]), (rng.normal(size=(2, 2)), [-1, -1])]
    return so.Hierarchy(LABELS), X, lambda x: [list(y) for y in product(LABELS, repeat=len(x[0]))]


def vector(rng):
    legal = [("a", "b"), ("b", "b"), ("c", "a"), ("a", "a")]
    return so.LabelVector(legal, LABELS), list(rng.normal(size=(3, 2, 2))), lambda x: legal


def cut(rng):
    edges = [(0, 1), (1, 2), (0, 2)]
    X = [(edges, rng.normal(size=(3, 2)), rng.random((3, 1))) for _ in range(3)]
    return so.GraphCut(), X, lambda x: [list(y) for y in product((0, 1), repeat=3)]


STRUCTURES = {f.__name__: f for f in (chain, tree, vector, cut)}


def agrees(gold, y):
    return all(g is None or g == k for g, k in zip(gold, y, strict=True))


@pytest.mark.parametrize("room", STRUCTURES)
def test_the_best_completion_is_that_of_enumeration(room):
    rng = np.random.default_rng(7)
    structure, X, outputs = STRUCTURES[room](rng)
    for _ in range(3):
        whole = [outputs(x)[int(rng.integers(len(outputs(x))))] for x in X]
        Y = [type(y)(None if rng.random() < 0.6 else k for k in y) for y in whole]
        fitted = structure.fitted(X, whole)
        kept = fitted.nonnegative_weights()
        for _ in range(4):
            w = rng.normal(size=fitted.n_features_)
            w[kept] = np.abs(w[kept])
            score = lambda x, y: float((fitted.joint_features(x, y) @ w)[0])  # noqa: E731, B023
            data = so.DataSet.of(fitted, X, Y).completed(w)
            found = fitted.unpack(data.shards[0], data.shards[0].anchor)
            for x, gold, y in zip(X, Y, found, strict=True):
                best = max(score(x, z) for z in outputs(x) if agrees(gold, z))
                assert agrees(gold, y)
                assert score(x, y) == pytest.approx(best, abs=1e-6)
                assert fitted.complete(x, w, gold) == y
            assert data.unknown.tolist() == [None in y for y in Y]


@pytest.mark.parametrize("room", STRUCTURES)
def test_the_loss_ignores_what_is_unknown_and_so_does_the_oracle(room):
    rng = np.random.default_rng(8)
    structure, X, outputs = STRUCTURES[room](rng)
    whole = [outputs(x)[-1] for x in X]
    Y = [type(y)(None if t == 0 else k for t, k in enumerate(y)) for y in whole]
    fitted = structure.fitted(X, whole)
    w = np.abs(rng.normal(size=fitted.n_features_))
    shard = fitted.encode(X, Y)
    answers = shard.ask(so.loss_augmented, w)
    for i, (x, gold) in enumerate(zip(X, Y, strict=True)):
        loss = [
            sum(g is not None and g != k for g, k in zip(gold, y, strict=True)) for y in outputs(x)
        ]
        assert [fitted.loss(gold, y) for y in outputs(x)] == loss
        value = [
            fitted.loss(gold, y) + float((fitted.joint_features(x, y) @ w)[0]) for y in outputs(x)
        ]
        anchor = fitted.unpack(shard, shard.anchor)[i]
        best = max(value) - float((fitted.joint_features(x, anchor) @ w)[0])
        assert answers.loss[i] - answers.score[i] == pytest.approx(best, abs=1e-6)
        assert fitted.part_count(gold) == len(gold) - 1
        assert fitted.part_errors(gold, whole[i]) == 0


def test_a_part_of_a_partial_shard_is_partial():
    structure, X, _ = chain(np.random.default_rng(0))
    Y = [["b"], ["a", None, "b"], [None, "b", "a", None]]
    shard = structure.fitted(X, Y).encode(X, Y)
    assert shard.unknown.tolist() == [False, True, True]
    assert shard.part(1, 3).unknown.tolist() == [True, True]
    assert shard.part(0, 1).unknown.tolist() == [False]
    w = np.random.default_rng(1).normal(size=15 + 6)
    assert shard.part(1, 3).completed(w).gold.tolist() == shard.completed(w).gold[1:].tolist()


def test_masked_arrays_and_scores():
    X, y = np.eye(3), np.ma.array(["a", "b", "a"], mask=[False, False, True])
    model = so.StructuredClassifier(so.Multiclass(), so.M3N()).fit(X, y.tolist())
    assert list(model.structure_.labels_) == ["a", "b"]
    assert model.score(X, ["a", "b", None]) == 1.0


def test_none_is_a_label_where_it_is_declared():
    fitted = so.Multiclass(labels=["a", None]).fitted(np.eye(2), ["a", None])
    assert fitted.loss("a", None) == 1.0
    assert not so.DataSet.of(fitted, np.eye(2), ["a", None]).unknown.any()


def test_what_is_known_may_contradict_what_is_allowed():
    structure, X, _ = chain(np.random.default_rng(0))
    Y = [["b"], ["a", None, "b"], ["c", "a", None, None]]  # a may not follow c
    with pytest.raises(InvalidInputError, match="which transitions forbid"):
        structure.fitted(X, Y).encode(X, Y)
    vectors, X, _ = vector(np.random.default_rng(0))
    with pytest.raises(InvalidInputError, match="not among the 4 legal"):
        vectors.fitted(X, [("c", None)] * 3).encode(X, [("c", "b")] * 3)


def test_who_cannot_complete_says_so():
    import networkx as nx

    x = nx.path_graph(2)
    nx.set_node_attributes(x, 1.0, "x")
    with pytest.raises(InvalidInputError, match="None, unknown, where all of an output is needed"):
        so.MarkovNet(LABELS).fitted([x], [["a", "b"]]).encode([x], [["a", None]])
    constrained = so.constrain(so.Chain(LABELS), [])
    with pytest.raises(InvalidInputError, match="not under constraints"):
        constrained.fitted([np.eye(2)], ["ab"]).encode([np.eye(2)], [["a", None]])
    fitted = so.Chain(LABELS).fitted([np.eye(2)], ["ab"])
    with pytest.raises(InvalidInputError, match="None, unknown"):
        fitted.joint_features(np.eye(2), ["a", None])
    with pytest.raises(InvalidInputError, match="empty"):
        so.Chain().fitted([np.eye(2)], [[None, None]])
