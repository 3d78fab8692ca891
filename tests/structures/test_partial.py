"""Gold outputs that are known in part: the best completion is that of enumeration."""

from __future__ import annotations

from itertools import combinations, pairwise, product

import cvxpy as cp
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


# ------------------------------------------------------------------ sets of parts, and trees
def pairs(rng, n=4):
    X = list(rng.normal(size=(n, 2, 3, 2)))
    cells = list(product(range(2), range(3)))
    every = [
        frozenset(s) for k in range(3) for s in combinations(cells, k)
        if len({i for i, _ in s}) == len({j for _, j in s}) == k
    ]  # fmt: skip
    return so.Matching(), X, every


def hide_edges(rng, y):
    known = {edge: edge in y for edge in product(range(2), range(3))}
    return {edge: None if rng.random() < 0.5 else has for edge, has in known.items()}


def sentences(rng, n=4):
    X = list(rng.normal(size=(n, 4, 3, 2)))
    every = []
    for y in product(range(4), repeat=3):
        up = [0, *y]
        if all(up[up[up[v]]] == 0 and y[v - 1] != v for v in range(1, 4)):
            every.append(list(y))
    return so.Arborescence(), X, every


def hide_heads(rng, y):
    return [None if rng.random() < 0.6 else head for head in y]


def programs(rng, n=4):
    X = list(rng.normal(size=(n, 4, 2)))
    every = [y for y in product((0, 1), repeat=4) if sum(y) == 2]
    structure = so.BooleanProgram(
        lambda x, z: [cp.sum(z) == 2], lambda x: x, loss=so.losses.PartCosts(1.0, 2.0)
    )
    return structure, X, every


def hide_parts(rng, y):
    return [None if rng.random() < 0.5 else part for part in y]


SETS = {"pairs": (pairs, hide_edges), "sentences": (sentences, hide_heads),
        "programs": (programs, hide_parts)}  # fmt: skip


def fits(gold, y):
    if isinstance(gold, dict):
        return all(has is None or has == (edge in y) for edge, has in gold.items())
    return agrees(gold, y)


def costs(room, gold, y):
    if room == "pairs":
        return sum(has is not None and has != (edge in y) for edge, has in gold.items())
    wrong = [(g, k) for g, k in zip(gold, y, strict=True) if g is not None and g != k]
    return len(wrong) if room == "sentences" else sum(2.0 if g else 1.0 for g, _ in wrong)


@pytest.mark.parametrize("room", SETS)
def test_parts_of_sets_and_trees_may_be_unknown(room):
    rng = np.random.default_rng(11)
    make, hide = SETS[room]
    structure, X, outputs = make(rng)
    whole = [outputs[int(rng.integers(len(outputs)))] for _ in X]
    Y = [hide(rng, y) for y in whole]
    fitted = structure.fitted(X, whole)
    for w in rng.normal(size=(4, fitted.n_features_)):
        phi = [np.stack([fitted.joint_features(x, y).toarray()[0] for y in outputs]) for x in X]
        data = so.DataSet.of(fitted, X, Y).completed(w)
        found = fitted.unpack(data.shards[0], data.shards[0].anchor)
        ramp = data.anchored(data.argmax(w))
        answers = data.ask(so.loss_augmented, w)[0], ramp.ask(so.loss_augmented, w)[0]
        for i, (gold, y) in enumerate(zip(Y, found, strict=True)):
            score = phi[i] @ w
            loss = np.array([costs(room, gold, z) for z in outputs])
            best = max(s for s, z in zip(score, outputs, strict=True) if fits(gold, z))
            assert fits(gold, y)
            assert score[outputs.index(y)] == pytest.approx(best, abs=1e-6)
            assert [fitted.loss(gold, z) for z in outputs] == loss.tolist()
            for answer, from_ in zip(answers, (best, score.max()), strict=True):
                hinge = answer.loss[i] - answer.score[i]
                assert hinge == pytest.approx(max(loss + score) - from_, abs=1e-6)
            assert fitted.part_errors(gold, whole[i]) == 0


@pytest.mark.parametrize("room", SETS)
def test_latent_training_on_sets_and_trees(room):
    rng = np.random.default_rng(12)
    make, hide = SETS[room]
    structure, X, outputs = make(rng, 8)
    Y = [hide(rng, outputs[int(rng.integers(len(outputs)))]) for _ in X]
    model = so.StructuredClassifier(structure, so.Latent(so.M3N(C=0.5)), method="outer", tol=1e-5)
    result = model.fit(X, Y).result_
    assert result.status == "stationary"
    w, value = result.weights, result.weights @ result.weights
    for x, gold in zip(X, Y, strict=True):
        score = np.array([(model.structure_.joint_features(x, y) @ w)[0] for y in outputs])
        loss = np.array([costs(room, gold, y) for y in outputs])
        ok = np.array([fits(gold, y) for y in outputs])
        value += (score + loss).max() - score[ok].max()
    assert result.certificate.primal == pytest.approx(value, rel=1e-7)


def test_matrices_of_edges_may_have_holes():
    rng = np.random.default_rng(0)
    structure, X, outputs = pairs(rng, 1)
    matrix = np.array([[1.0, 0.0, np.nan], [0.0, np.nan, np.nan]])
    hidden = np.ma.array(np.nan_to_num(matrix), mask=np.isnan(matrix))
    named = {(0, 0): True, (0, 2): None, (1, 1): None, (1, 2): None}
    fitted = structure.fitted(X, outputs[:1])
    for y in (matrix, hidden, named, matrix.astype(object)):
        assert [fitted.loss(y, z) for z in outputs] == [fitted.loss(named, z) for z in outputs]
    with pytest.raises(InvalidInputError, match="2 of an edge"):
        fitted.loss({(0, 0): 2}, outputs[0])
    with pytest.raises(InvalidInputError, match="fertility"):
        fitted.encode(X, [{(0, 0): True, (0, 1): True, (1, 1): None}])


def test_what_cannot_be_completed_is_refused():
    rng = np.random.default_rng(0)
    structure, X, outputs = programs(rng, 1)
    with pytest.raises(InvalidInputError, match="example 3 cannot be completed"):
        structure.fitted(X, outputs[:1]).encode(X, [[1, 1, 1, None]], start=3)
    trees, X, heads = sentences(rng, 1)
    with pytest.raises(InvalidInputError, match="no spanning tree"):
        trees.fitted(X, heads[:1]).encode(X, [[2, 1, None]])  # a cycle


class Far:
    """A wrong head costs how far it is from the right one."""

    def by_arc(self, heads):
        n = len(heads)
        away = np.abs(np.arange(n + 1)[:, None] - np.asarray(heads)[None, :]).astype(float)
        return away


def test_arcs_and_edges_take_costs():
    rng = np.random.default_rng(3)
    trees, X, heads = sentences(rng, 3)
    Y = [heads[k] for k in rng.integers(len(heads), size=3)]
    left_out = {"model_files_keep_it": "the loss is a class of this file"}
    far = so.Arborescence(loss=Far())
    so.testing.check_structure(far, X, Y, outputs=lambda x: heads, exclude=left_out)
    brought = [so.losses.Costed(y, rng.integers(1, 4, 3)) for y in Y]
    so.testing.check_structure(trees, X, brought, outputs=lambda x: heads)
    with pytest.raises(InvalidInputError, match="no sum over arcs"):
        so.Arborescence(loss=so.losses.Hamming()).fitted(X, Y)
    with pytest.raises(InvalidInputError, match=r"costs of arcs of example 0 have shape"):
        trees.fitted(X, Y).encode(X[:1], [so.losses.Costed(Y[0], np.ones((2, 2)))])
    matching, X, outputs = pairs(rng, 3)
    Y = [outputs[k] for k in rng.integers(len(outputs), size=3)]
    brought = [so.losses.Costed(y, rng.integers(1, 4, (2, 3))) for y in Y]
    so.testing.check_structure(matching, X, brought, outputs=lambda x: outputs)
    recall = so.Matching(loss=so.losses.PartCosts(extra=0.5, missed=3.0))
    so.testing.check_structure(recall, X, Y, outputs=lambda x: outputs)
