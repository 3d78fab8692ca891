"""Parts given at prediction: the doors to it, the forms it takes, and what is refused.

That the answer is the best of the outputs that agree is `given_parts_are_held` of
structopt.testing, run over every structure by the contract tests.
"""

import networkx as nx
import numpy as np
import pytest

import structopt as so
from structopt import names
from structopt.errors import IncompatibleError, InfeasibleError, InvalidInputError, OracleError
from structopt.structures.base.packed import PackedStructure
from structopt.structures.grammar.trees import brackets

LABELS = ["a", "b", "c"]


@pytest.fixture(scope="module")
def model():
    X, Y = so.datasets.make_chain_crf(n_examples=8, n_features=4, n_relevant=2, length=4, seed=0)
    return so.StructuredClassifier(so.Chain(), so.M3N(), max_iter=5, tol=0.5).fit(X, Y), X


def test_a_model_keeps_what_is_given(model):
    fitted, X = model
    free, labels = fitted.predict(X), list(fitted.classes_)
    given = [None] * len(X)
    given[1] = {2: labels[0]}
    given[2] = [so.Not(free[2][0]), None, {labels[1]}, None]
    found = fitted.predict(X, given=given)
    assert found[0] == free[0]
    assert found[1][2] == labels[0]
    assert found[2][0] != free[2][0]
    assert found[2][2] == labels[1]
    assert fitted.predict(X, given=free) == free
    assert fitted.predict([], given=[]) == []


def test_given_and_constraints_together(model):
    fitted, X = model
    label = next(iter(fitted.classes_))
    once = so.constraints.exactly(label, 1)
    found = fitted.predict(X[:2], constraints=once, given=[{3: label}, None])
    assert found[0] == [k for k in found[0][:3] if k != label] + [label]
    assert found[1].count(label) == 1
    with pytest.raises(InfeasibleError, match="No output of example 0 agrees") as raised:
        fitted.predict(X[:1], constraints=once, given=[{0: label, 1: label}])
    assert raised.value.example == 0


def test_labels_of_rows():
    X, y = np.eye(3), ["a", "b", "c"]
    model = so.StructuredClassifier(so.Multiclass(), so.M3N(C=10.0)).fit(X, y)
    found = model.predict(X, given=[None, so.Not("b"), {"a", "b"}])
    assert found.dtype.kind == "U"
    assert found[0] == "a"
    assert found[1] in ("a", "c")
    assert found[2] in ("a", "b")
    with pytest.raises(InvalidInputError, match="of example 1 names 'z', which is not one"):
        model.predict(X, given=[None, "z", None])
    with pytest.raises(InfeasibleError, match="of example 2, set"):
        model.predict(X, given=[None, None, set()])
    with pytest.raises(InvalidInputError, match="3 inputs but 2 outputs"):
        model.predict(X, given=[None, None])


def test_sequences_that_cannot_be():
    X = [np.eye(2), np.eye(2)]
    structure = so.Chain(LABELS, transitions={"a": ["a", None]}).fitted(X, ["aa", "bb"])
    w = np.zeros(structure.n_features_)
    assert structure.predict(X, w, given=[["a", None], None])[0] == ["a", "a"]
    with pytest.raises(InfeasibleError, match="example 1 agrees with what is given of it, 'ab'"):
        structure.predict(X, w, given=[None, "ab"])
    with pytest.raises(InvalidInputError, match="it has no part 7"):
        structure.predict(X, w, given=[{7: "a"}, None])
    with pytest.raises(InvalidInputError, match="it has 2 parts, and 3 are given"):
        structure.predict(X, w, given=[None, "aba"])
    with pytest.raises(InvalidInputError, match="give an entry for each part"):
        structure.predict(X, w, given=[{"a"}, None])
    with pytest.raises(InfeasibleError, match=r"part 1 of example 0, Not.'a', 'b', 'c'., leaves"):
        structure.predict(X, w, given=[{1: so.Not(*LABELS)}, None])


def test_heads_and_arcs():
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(4, 3, 2))]
    structure = so.Arborescence().fitted(X, [[0, 1, 2]])
    w = rng.normal(size=2)
    (tree,) = structure.predict(X, w, given=[{(3, 1): True, (0, 2): False}])
    assert tree[0] == 3
    assert tree[1] != 0
    assert structure.predict(X, w, given=[[3, {1, 3}, 0]])[0] in ([3, 1, 0], [3, 3, 0])
    for cycle in ([2, 1, None], {(0, 1): False, (0, 2): False, (0, 3): False}):
        with pytest.raises(InfeasibleError, match="No output of example 0"):
            structure.predict(X, w, given=[cycle])
    with pytest.raises(InvalidInputError, match=r"\(1, 1\) is none of its 9 candidates"):
        structure.predict(X, w, given=[{(1, 1): True}])


def test_edges_of_matchings_and_paths():
    X = [np.full((2, 3, 1), -1.0)]
    matching = so.Matching().fitted(X, [{(0, 1)}])
    w = np.ones(1)
    hidden = np.full((2, 3), np.nan)
    hidden[1, 2] = 1.0
    for told in ({(1, 2)}, [[1, 2]], {(1, 2): True}, hidden):
        assert matching.predict(X, w, given=[told]) == [frozenset({(1, 2)})]
    with pytest.raises(InfeasibleError, match="example 0"):
        matching.predict(X, w, given=[{(1, 2), (1, 1)}])
    with pytest.raises(InvalidInputError, match="2 of a part"):
        matching.predict(X, w, given=[{(1, 2): 2}])
    graph = nx.DiGraph([("s", "a"), ("s", "b"), ("a", "b"), ("a", "t"), ("b", "t")])
    nx.set_edge_attributes(graph, {e: [float(k)] for k, e in enumerate(graph.edges)}, "features")
    paths = so.Lattice().fitted([graph], [[("s", "a"), ("a", "t")]])
    assert paths.predict([graph], w, given=[[("a", "t")]])[0] == (("s", "a"), ("a", "t"))
    with pytest.raises(InfeasibleError, match="example 0"):
        paths.predict([graph], w, given=[[("s", "b"), ("a", "t")]])


def test_parts_of_decisions():
    X, gold = np.ones((2, 1)), [(0, 0, 0)] * 2
    packed = so.Decision(so.decisions.Knapsack([2.0, 1.0, 1.0], 2.0)).fitted(X, gold)
    w = np.array([-5.0, -1.0, 2.0]) * 1e-9  # however small
    found = packed.predict(X, w, given=[{2: True}, [None, 1, None]])
    assert found == [(0, 1, 1), (0, 1, 0)]
    assert packed.predict(X, w, given=[None, {0: False}]) == [(1, 0, 0), (0, 1, 0)]
    assert packed.predict(X, w, given=[(0, 0, 1)] * 2) == [(0, 0, 1)] * 2
    with pytest.raises(InfeasibleError, match="No output of example 1 agrees"):
        packed.predict(X, w, given=[None, {0: True, 2: True}])
    with pytest.raises(InvalidInputError, match=r"example 0 .* it has no part 3"):
        packed.predict(X, w, given=[{3: True}, None])
    with pytest.raises(InvalidInputError, match=r"0\.5 of a part"):
        packed.predict(X, w, given=[{1: 0.5}, None])
    model = so.DecisionModel(packed.decisions, so.M3N(), max_iter=3).fit(X, [[-5.0, -1.0, 2.0]] * 2)
    assert model.predict(X, given=[{0: False, 1: True}, None])[0].tolist() == [0, 1, 0]
    with pytest.raises(InfeasibleError, match="No output of example 1 agrees"):
        model.predict(X, given=[None, [1, 1, None]])
    real = so.Decision(so.decisions.Listed([[0.5, 0.5], [1.0, 0.0]]))
    real = real.fitted(X, [so.losses.Priced((1.0, 0.0), [0.0, 1.0])] * 2)
    with pytest.raises(IncompatibleError, match="decisions of this Listed are real"):
        real.predict(X, np.ones(2), given=[{0: True}, None])


class Short(so.decisions.Listed):
    """A search that stops early."""

    def minimize(self, costs, start=0):
        found = super().minimize(-costs, start)
        return found._replace(excess=np.full(len(costs), 100.0))


def test_a_search_that_stops_early_does_not_say_that_nothing_agrees():
    short = so.Decision(Short([[1, 0], [0, 1]])).fitted(np.ones((1, 1)), [(1, 0)])
    with pytest.raises(OracleError, match="stopped before it found a decision of example 0"):
        short.predict(np.ones((1, 1)), np.ones(2), given=[{0: True}])


@pytest.mark.parametrize("entry", names.of_kind("structure"), ids=lambda entry: entry.name)
def test_no_structure_refuses(entry):
    held = getattr(getattr(so, entry.name), "held", None)  # `Enumerated` has a `complete`
    assert held is not PackedStructure.held


@pytest.mark.parametrize("local", [False, True])
@pytest.mark.parametrize("decoder", ["compiled", "networkx"])
def test_matches_of_alignments(local, decoder):
    X = [("ab", "ba"), ("aab", "ab")]
    structure = so.AlignmentPath(local, decoder=decoder).fitted(X, [[(0, 1)], [(0, 0)]])
    w = np.array([1.0 if f in ("a ~ a", "b ~ b") else -1.0 for f, _ in structure.feature_names()])
    found = structure.predict(X, w, given=[{(0, 0): True}, {(1, 0): False, (2, 1): True}])
    assert found[0] in ({(0, 0)}, {(0, 0), (1, 1)})
    assert found[1] == ({(2, 1)} if local else {(0, 0), (2, 1)})  # a gap costs more than a match
    assert structure.predict(X, w, given=[[[1, 1]], None])[1] == structure.argmax(X[1], w)
    for crossed in ([(0, 1), (1, 0)], {(0, 0), (1, 0)}, {(0, 0), (0, 1)}):
        with pytest.raises(InfeasibleError, match="No output of example 1 agrees"):
            structure.predict(X, w, given=[None, crossed])
    with pytest.raises(InvalidInputError, match=r"\(0, 2\) is none of its 6 candidates"):
        structure.predict(X, w, given=[None, [(0, 2)]])


def test_spans_of_trees():
    rules = "S -> A S | A A | A\nA -> B | 'u'\nB -> A A | 'u'"
    structure = so.Grammar(rules, "S").fitted([["u"] * 2], [("S", "A", "A")])
    x, w = ["u"] * 3, np.zeros(structure.n_features_)
    free = structure.k_best(x, w, 100)
    for told in ({(0, 2): True}, [(0, 2)], [[0, 2]], {(0, 2): so.Not("S"), (1, 3): False}):
        (tree,) = structure.predict([x], w, given=[told])
        assert tree in free
        assert any(b[:2] == (0, 2) for b in brackets(tree))
    both = {(0, 2): "B", (0, 1): so.Not("B", "S"), (1, 2): {"B"}}
    (tree, other) = structure.predict([x, x], w, given=[both, None])
    assert tree in free
    assert tree[1] == ("A", ("B", "A", ("A", "B")))
    assert other == structure.argmax(x, w)
    assert structure.predict([x], w, given=[{(0, 2): so.Not(*"ABS")}])[0] in free
    for crossed in ([(0, 2), (1, 3)], {(0, 3): False}, {(0, 1): "S"}):
        with pytest.raises(InfeasibleError, match="No output of example 1 agrees"):
            structure.predict([x, x], w, given=[None, crossed])
    with pytest.raises(InfeasibleError, match=r"span \(0, 1\) of example 0, set\(\), leaves"):
        structure.predict([x], w, given=[{(0, 1): set()}])
    with pytest.raises(InvalidInputError, match=r"span \(0, 1\) of example 0 names 'Z'"):
        structure.predict([x], w, given=[{(0, 1): "Z"}])
    for stray in ({(0, 4): True}, [(2, 2)], tree, {0: "A"}):
        with pytest.raises(InvalidInputError, match=r"example 0 .* it has no part"):
            structure.predict([x], w, given=[stray])
    with pytest.raises(InvalidInputError, match="give an entry"):
        structure.predict([x], w, given=[so.Not("A")])


class Sign(so.Structure):
    """y is -1 or +1."""

    def joint_features(self, x, y):
        return y * np.asarray(x)

    def loss(self, y, other):
        return float(y != other)

    def argmax(self, x, weights, *, gold=None):
        return max((-1, 1), key=lambda y: self.joint_features(x, y) @ weights)


class Known(Sign):
    """One that can be completed."""

    def complete(self, x, weights, gold):
        return gold


def test_a_structure_of_ones_own():
    X, w = [np.ones(1)] * 2, np.ones(1)
    assert Known().predict(X, w, given=[-1, None]) == [-1, 1]
    with pytest.raises(IncompatibleError, match=r"Sign cannot be held .* write complete"):
        Sign().predict(X, w, given=[-1, None])

    class Mine(so.Chain):
        def argmax(self, x, weights, *, gold=None):
            return ["a"] * len(x)

    mine = Mine(LABELS).fitted([np.eye(2)], ["ab"])
    with pytest.raises(IncompatibleError, match="Mine overrides argmax"):
        mine.predict([np.eye(2)], np.zeros(mine.n_features_), given=[["b", None]])
