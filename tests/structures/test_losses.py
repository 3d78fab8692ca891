"""Losses of labelled structures: every oracle against brute force, and what is refused."""

from __future__ import annotations

from itertools import product

import networkx as nx
import numpy as np
import pytest

import structopt as so
from structopt.errors import IncompatibleError, InvalidInputError
from structopt.structures.base.small import Small
from structopt.testing.full_problem import FullProblem
from structopt.testing.problems import small_chain
from structopt.testing.structure_case import StructureCase

LABELS = ["a", "b", "c"]
FREE = [[0, 0, 2], [1, 0, 0], [0, 3, 0]]  # some mistakes cost nothing
MATRIX = [[0, 2, 0.5], [1, 0, 3], [0.25, 4, 0]]


class Ramp:
    """A loss of the user's own in linear part form: late mistakes cost more."""

    def by_label(self, y, labels):
        wrong = np.array([[k != label for label in labels] for k in y], dtype=float)
        return wrong * np.arange(1, len(y) + 1)[:, None]


LOSSES = {
    "confusion": so.losses.Confusion(MATRIX),
    "named pairs": so.losses.Confusion({("a", "b"): 3.0}, other=0.5),
    "tree": so.losses.TreeDistance({"a": "x", "b": "x", "c": "y", "x": "z", "y": "z"}),
    "own": Ramp(),
}


def chain(rng, loss):
    X = [rng.integers(-2, 3, (t, 2)).astype(float) for t in (1, 2, 3)]
    Y = [rng.choice(LABELS, len(x)).tolist() for x in X]
    return so.Chain(LABELS, loss, boundaries=True), X, Y, None


def classes(rng, loss):
    X = rng.normal(size=(4, 2))
    return so.Multiclass(LABELS, loss), X, rng.choice(LABELS, 4).tolist(), None


def vectors(rng, loss):
    X = rng.normal(size=(3, 2, 2))
    legal = [("a", "b"), ("b", "b"), ("c", "a"), ("a", "a")]
    Y = [legal[k] for k in rng.integers(4, size=3)]
    return so.LabelVector(legal, LABELS, loss), X, Y, lambda x: legal


def trees(rng, loss):
    X = [(rng.normal(size=(3, 2)), [-1, 0, 0]), (rng.normal(size=(2, 2)), [-1, -1])]
    Y = [rng.choice(LABELS, len(x[0])).tolist() for x in X]
    return so.Hierarchy(LABELS, loss), X, Y, None


def nets(rng, loss):
    X = []
    for edges in ([("u", "v"), ("w", "v")], [(2, 0), (0, 1)]):
        x = nx.Graph(edges)
        nx.set_node_attributes(x, {v: rng.normal(size=2) for v in x.nodes}, "x")
        X.append(x)
    Y = [dict(zip(x.nodes, rng.choice(LABELS, 3).tolist(), strict=True)) for x in X]

    def every(x):
        return [dict(zip(x.nodes, y, strict=True)) for y in product(LABELS, repeat=3)]

    return so.MarkovNet(LABELS, loss), X, Y, every


STRUCTURES = {f.__name__: f for f in (chain, classes, vectors, trees, nets)}


@pytest.mark.parametrize("name", LOSSES)
@pytest.mark.parametrize("room", STRUCTURES)
def test_every_oracle_is_brute_force_under_every_loss(room, name):
    structure, X, Y, outputs = STRUCTURES[room](np.random.default_rng(3), LOSSES[name])
    so.testing.check_structure(structure, X, Y, outputs=outputs, exclude=left_out(structure))


def left_out(structure):
    """What a class that lives here cannot do: be found again by a model file."""
    own = structure.cost.__class__.__module__ == __name__
    return {"model_files_keep_it": "the loss is a class of this file"} if own else {}


def test_a_cut_takes_costs_by_label():
    rng = np.random.default_rng(0)
    X = [([(0, 1), (1, 2)], rng.normal(size=(3, 2)), rng.random((2, 1))) for _ in range(3)]
    Y = [rng.integers(2, size=3).tolist() for _ in X]
    every = [list(y) for y in product((0, 1), repeat=3)]
    loss = so.losses.Confusion([[0, 3], [0.5, 0]])
    so.testing.check_structure(so.GraphCut(loss=loss), X, Y, outputs=lambda x: every)
    brought = [so.losses.Costed(y, rng.random(3)) for y in Y]
    so.testing.check_structure(so.GraphCut(), X, brought, outputs=lambda x: every)


@pytest.mark.parametrize("by_label", [False, True])
@pytest.mark.parametrize("room", STRUCTURES)
def test_costs_that_come_with_the_data(room, by_label):
    rng = np.random.default_rng(5)
    # with costs by label a chain has no slack rescaling, and only a loss says so beforehand
    loss = so.losses.Confusion(MATRIX) if by_label else so.losses.Hamming({"b": 2.0})
    structure, X, Y, outputs = STRUCTURES[room](rng, loss)
    brought = []
    for y in Y:
        labels = [y] if room == "classes" else list(y.values() if isinstance(y, dict) else y)
        if by_label:
            costs = rng.integers(1, 5, (len(labels), 3)).astype(float)
            costs[np.arange(len(labels)), [LABELS.index(k) for k in labels]] = 0.0
        else:
            costs = rng.integers(1, 5, len(labels)).astype(float)
        brought.append(so.losses.Costed(y, costs[0] if room == "classes" else costs))
    brought[-1] = Y[-1]  # who brings none has the structure's
    so.testing.check_structure(structure, X, brought, outputs=outputs)


def test_spans_are_charged_by_what_went_wrong():
    loss = so.losses.SpanCosts(extra=2.0, missed=3.0, confused=5.0, boundary=7.0)
    structure = so.Chain(["B-a", "I-a", "B-b", "O"], loss)
    structure = structure.fitted([np.eye(4)], [["B-a", "I-a", "B-b", "O"]])
    pairs = {("O", "B-a"): 2, ("I-a", "O"): 3, ("B-a", "B-b"): 5, ("B-a", "I-a"): 7, ("O", "O"): 0}
    for (gold, tag), cost in pairs.items():
        assert structure.loss([gold], [tag]) == cost


class Strict:
    """One wrong label is as bad as all: no sum over positions, but its oracle is easy."""

    def __call__(self, gold, y):
        return float(list(gold) != list(y))

    def argmax(self, structure, x, weights, gold):
        best = structure.argmax(x, weights)
        if self(gold, best):
            return best
        other = structure.second_best(x, weights, gold)
        delta = structure.joint_features(x, gold) - structure.joint_features(x, other)
        return other if float((delta @ weights)[0]) < 1.0 else best


def test_a_loss_with_an_oracle_of_its_own():
    case = small_chain()
    structure = so.Chain(labels=[0, 1], loss=Strict())
    model = so.StructuredClassifier(structure, so.M3N(C=2.0), tol=1e-6).fit(case.X, case.Y)
    own = StructureCase(Small(structure, case.X, case.Y, lambda x: case.outputs[0]))
    assert model.result_.certificate.certified
    assert model.result_.certificate.primal == pytest.approx(
        FullProblem(own, so.M3N(C=2.0)).optimum(), rel=1e-4
    )
    with pytest.raises(IncompatibleError, match="brings no slack_rescaled"):
        so.StructuredClassifier(structure, so.StructSVM(rescale="slack")).fit(case.X, case.Y)


@pytest.mark.parametrize(
    ("loss", "said"),
    [
        (lambda y, other: 1.0, "no loss-augmented decoding is exact"),
        ("balanced", "no loss-augmented decoding is exact"),
        (so.losses.Confusion([[0, 1], [1, 0]]), r"\(2, 2\)"),
        (so.losses.Confusion([[1, 1, 1], [1, 0, 1], [1, 1, 0]]), "where it is right"),
        (so.losses.Confusion([[0, -1, 1], [1, 0, 1], [1, 1, 0]]), "below 0"),
        (so.losses.Confusion(np.zeros((3, 3))), "nothing for any"),
        (so.losses.Confusion({("a", "z"): 1.0}), "no pair of the labels"),
        (so.losses.Confusion({"a": 1.0}), "no pair of the labels"),
        (so.losses.TreeDistance({"a": "x", "b": "x"}), "does not know the label 'c'"),
        (so.losses.TreeDistance({"a": "b", "b": "a", "c": "a"}), "cycle"),
        (so.losses.SpanCosts(extra=-1.0, outside="a"), "extra must be a finite number >= 0"),
    ],
    ids=lambda given: getattr(given, "__name__", repr(given)),
)
def test_a_loss_that_is_none_is_refused(loss, said):
    with pytest.raises(InvalidInputError, match=said):
        so.Multiclass(LABELS, loss).fitted(np.eye(3), LABELS)


@pytest.mark.parametrize(
    "costs",
    [[1.0], [[1.0, 2.0]], np.ones((2, 3))],
    ids=["too few", "too few labels", "gold costs something"],
)
def test_costs_that_do_not_fit_are_refused(costs):
    gold = so.losses.Costed(["a", "b"], costs)
    structure = so.Chain(LABELS).fitted([np.eye(2)], [gold])
    with pytest.raises(InvalidInputError, match="costs of example 4"):
        structure.encode([np.eye(2)], [gold], start=4)


def test_no_costs_are_below_zero():
    for costs in ([-1.0], [np.nan], "x", object()):
        with pytest.raises(InvalidInputError, match="costs of an output"):
            so.losses.Costed("a", costs)


def test_slack_rescaling_is_refused_where_costs_differ_by_label():
    X, Y = [np.eye(2)], [["a", "b"]]
    model = so.StructuredClassifier(
        so.Chain(LABELS, so.losses.Confusion(MATRIX)), so.StructSVM(rescale="slack")
    )
    with pytest.raises(IncompatibleError, match="differ from label to label"):
        model.fit(X, Y)
    brought = [so.losses.Costed(Y[0], [[0, 1, 2], [1, 0, 2]])]
    with pytest.raises(IncompatibleError, match="differ from label to label"):
        model.set_params(structure=so.Chain(LABELS)).fit(X, brought)


@pytest.mark.parametrize(
    "loss",
    [*list(LOSSES.values())[:3], so.losses.SpanCosts(), so.losses.Confusion(FREE)],
    ids=repr,
)
def test_training_reaches_the_optimum_and_a_file_keeps_the_loss(loss, tmp_path):
    rng = np.random.default_rng(1)
    X = [rng.normal(size=(2, 2)) for _ in range(5)]
    Y = [rng.choice(LABELS, 2).tolist() for _ in X]
    structure = so.Chain(LABELS, loss)
    model = so.StructuredClassifier(structure, so.M3N(C=1.0), tol=1e-6).fit(X, Y)
    case = StructureCase(
        Small(structure, X, Y, lambda x: [list(y) for y in product(LABELS, repeat=2)])
    )
    truth = FullProblem(case, so.M3N(C=1.0)).optimum()
    assert model.result_.certificate.certified
    assert model.result_.certificate.primal == pytest.approx(truth, rel=1e-4)
    model.save(tmp_path / "m.npz")
    read = so.load_model(tmp_path / "m.npz")
    assert repr(read.structure) == repr(structure)
    assert read.structure_.loss(Y[0], Y[1]) == model.structure_.loss(Y[0], Y[1])


def test_tree_distances_are_those_of_paths():
    """Labels at unlike depths, inner nodes and nodes without a parent among them."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        parents = {v: int(rng.integers(v)) for v in range(1, 8) if rng.random() < 0.8}
        graph = nx.Graph((v, parents.get(v, "root")) for v in range(8))
        known = sorted({*parents, *parents.values()})
        labels = [int(v) for v in rng.permutation(known)[:4]]
        found = so.losses.TreeDistance(parents).confusion(labels)
        away = [[nx.shortest_path_length(graph, a, b) for b in labels] for a in labels]
        np.testing.assert_array_equal(found, away)
