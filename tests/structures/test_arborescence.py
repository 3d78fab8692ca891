"""Arborescences beyond the contract of every structure: large trees, inputs, mistakes."""

from __future__ import annotations

import itertools

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import structopt as so
from structopt.errors import IncompatibleError, InvalidInputError
from structopt.structures.arborescence import kernels, projective_kernels, reference
from structopt.structures.arborescence.projective_reference import crossing
from structopt.structures.arborescence.small import is_tree


@settings(max_examples=30, deadline=None, derandomize=True)
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_large_trees_are_those_of_networkx(seed, whole):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 16))
    table = rng.integers(-3, 4, (n, n)) * 1.0 if whole else rng.standard_normal((n, n))
    table[rng.random((n, n)) < 0.3] = -np.inf
    table[:, 0] = np.where(np.isfinite(table[:, 0]), table[:, 0], -5.0)
    graph = nx.DiGraph()
    for v, u in itertools.product(range(1, n), range(n)):
        if u != v and np.isfinite(table[v, u]):
            graph.add_edge(u, v, weight=table[v, u])
    expected = nx.maximum_spanning_arborescence(graph).size(weight="weight")
    heads = np.empty(n, dtype=np.int64)
    assert kernels.best_tree(table, False, heads)
    assert is_tree(heads[1:], False)
    assert kernels.total(table, heads) == pytest.approx(expected)
    singles = []
    for child in range(1, n):
        only = graph.copy()
        only.remove_edges_from([(0, v) for v in range(1, n) if v != child])
        if all(only.in_degree(v) for v in range(1, n)):
            try:
                tree = nx.maximum_spanning_arborescence(only)
            except nx.NetworkXException:
                continue
            singles.append(tree.size(weight="weight"))
    found = kernels.best_tree(table, True, heads)
    assert found == bool(singles)
    if found:
        assert is_tree(heads[1:], True)
        assert kernels.total(table, heads) == pytest.approx(max(singles))


@settings(max_examples=20, deadline=None, derandomize=True)
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_projective_trees_by_enumeration(seed, single_root):
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 7))
    table = rng.standard_normal((n, n))
    table[rng.random((n, n)) < 0.3] = -np.inf
    table[np.arange(n), np.arange(n)] = table[0] = -np.inf
    heads = [np.flatnonzero(np.isfinite(row)) for row in table[1:]]
    fits = [y for y in itertools.product(*heads) if is_tree(y, single_root) and not crossing(y)]
    scores = sorted((sum(table[m, h] for m, h in enumerate(y, 1)) for y in fits), reverse=True)
    for k in (1, 2, 5, len(fits) + 2):
        found = projective_kernels.k_best(table, single_root, k)
        assert len({tuple(y) for y in found[:, 1:]} & set(fits)) == len(found) == min(k, len(fits))
        mine = [kernels.total(table, y) for y in found]
        np.testing.assert_allclose(mine, scores[:k], atol=1e-12)


def test_projective_trees_are_trees_without_crossings():
    # in the best tree of all 3 -> 1 and 0 -> 2 cross; without crossings 2 -> 1 is next
    x = np.zeros((5, 4, 1))
    for head, token, score in ((0, 2, 5.0), (2, 4, 5.0), (2, 3, 5.0), (3, 1, 5.0), (2, 1, 4.0)):
        x[head, token - 1] = score
    Y = [[2, 0, 2, 2]]
    free, projective = (so.Arborescence(projective=p).fitted([x], Y) for p in (False, True))
    assert free.argmax(x, np.ones(1)) == [3, 0, 2, 2]
    assert projective.argmax(x, np.ones(1)) == Y[0]
    assert projective.predict([x], np.ones(1), given=[[None, None, None, 3]]) == [[2, 0, 2, 3]]
    with pytest.raises(InvalidInputError, match=r"arcs \(3, 1\) and \(0, 2\) cross") as error:
        projective.encode([x], [[3, 0, 2, 2]], start=7)
    assert error.value.example == 7
    names = {so.DataSet.of(s, [x], Y).fingerprint("") for s in (free, projective)}
    assert len(names) == 2
    only = (np.array([(0, 2), (3, 1), (2, 3)]), np.ones((3, 1)))
    with pytest.raises(InvalidInputError, match="example 0 hold no projective tree"):
        projective.predict([only], np.ones(1))


def test_scores_of_very_different_size_keep_their_precision():
    # one root arc is forced without large penalties: the choice below hangs on 1e-9
    x = np.zeros((4, 3, 1))
    x[0, :, 0] = [1e6, 1e6 + 1e-9, 1e6]
    structure = so.Arborescence(single_root=True).fitted([x], [[0, 1, 1]])
    y = structure.argmax(x, np.ones(1))
    assert y == [2, 0, y[2]]
    assert y.count(0) == 1


def test_every_form_of_input_says_the_same():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((4, 3, 2))
    pairs = [(h, m) for h in range(4) for m in range(1, 4) if h != m]
    rows = np.array([x[h, m - 1] for h, m in pairs])
    graph = nx.DiGraph()
    for (h, m), row in zip(pairs, rows, strict=True):
        graph.add_edge(h, m, features=row)
    sparse = nx.DiGraph()
    for (h, m), row in zip(pairs, rows, strict=True):
        sparse.add_edge(h, m, features=sp.csr_array(row[None]))
    forms = [x, x.tolist(), sp.csr_matrix(x.reshape(12, 2)), (pairs, rows), graph, sparse]
    Y = [[0, 1, 1]] * len(forms)
    mine = so.Arborescence().fitted(forms, Y)
    for w in rng.standard_normal((20, 2)):
        assert len({tuple(y) for y in mine.predict(forms, w)}) == 1
        answers = mine.encode(forms, Y).ask(so.loss_augmented, w)
        np.testing.assert_allclose(answers.score, answers.score[0], atol=1e-12)
    assert mine.predict([], w) == []
    assert mine.part_count(Y[0]) == 3
    assert mine.part_errors(Y[0], np.array([0, 3, 1])) == 1
    assert mine.feature_names(["a", "b"]) == [("a", "arc"), ("b", "arc")]
    assert len(mine.feature_names()) == 2
    others = {"second_best", "second_augmented", "k_best"}
    assert mine.abilities() == {"argmax", "argmin"} | others


ARCS = np.array([(0, 1), (1, 2)])


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (np.ones((2, 2, 1)), r"example 1 has shape \(2, 2, 1\); expected \(T \+ 1, T, d\)"),
        (sp.eye_array(5).tocsr(), r"example 1 has 5 rows, which is not \(T \+ 1\) T"),
        ("tree", "example 1 is not an array"),
        ((ARCS, np.ones((3, 2))), "example 1 has 2 arcs but 3 rows"),
        ((ARCS, np.ones((2, 3))), "example 1 has 3 columns; expected 2"),
        ((ARCS, np.array([[1, np.nan], [0, 0]])), "example 1 holds nan at position 0, column 1"),
        ((np.array([(0, 1), (2, 2)]), np.ones((2, 2))), r"the arc \(2, 2\) is impossible"),
        ((np.array([(0, 1), (0, 1)]), np.ones((2, 2))), r"the arc \(0, 1\) is given twice"),
        ((np.array([0, 1]), np.ones((2, 2))), "expected .m, 2. integers"),
        ((ARCS, ARCS, ARCS), "tuple of 3"),
        (nx.Graph([(0, 1)]), "expected a DiGraph with the nodes"),
        (nx.DiGraph([(0, 1)]), r"edge \(0, 1\) has no attribute 'features'"),
        (np.ones((1, 0, 2)), "Example 1 is empty"),
    ],
)
def test_bad_input_is_named(x, message):
    good = (ARCS, np.ones((2, 2)))
    mine = so.Arborescence().fitted([good], [[0, 1]])
    with pytest.raises(InvalidInputError, match=message):
        mine.encode([good, x], [[0, 1], [0, 1]])
    with pytest.raises(InvalidInputError, match=message):
        mine.predict([good, x], np.zeros(2))


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([0], "2 tokens but 1 heads"),
        ([0, 3], "token 2 has the head 3, not one of 0 to 2"),
        ([2, 1], "token 1 is on or below a cycle"),
        ([0, 2], "token 2 is on or below a cycle"),
        ([0, 0], r"arc \(0, 2\) of the output of example 4 is not among its candidates"),
        (3, "output of example 4 is 3: give the head of every token"),
        ([0.0, 1.0], "give the head of every token as an integer"),
    ],
)
def test_bad_output_is_named(y, message):
    good = (ARCS, np.ones((2, 2)))
    mine = so.Arborescence().fitted([good], [[0, 1]])
    with pytest.raises(InvalidInputError, match=message) as error:
        mine.encode([good], [y], start=4)
    assert error.value.example == 4


def test_other_mistakes_are_named():
    x = np.ones((3, 2, 2))
    with pytest.raises(InvalidInputError, match="decoder is 'fast'"):
        so.Arborescence(decoder="fast").fitted([x], [[0, 1]])
    mine = so.Arborescence(single_root=True).fitted([x], [[0, 1]])
    with pytest.raises(InvalidInputError, match="2 tokens hang on the root, and single_root"):
        mine.encode([x], [[0, 0]])
    only_root = (np.array([(0, 1), (0, 2)]), np.ones((2, 2)))
    for ask in (mine.argmax, mine.argmin, lambda x, w: mine.k_best(x, w, 2)):
        with pytest.raises(InvalidInputError, match="example 0 hold no spanning tree"):
            ask(only_root, np.zeros(2))
    with pytest.raises(InvalidInputError, match="k must be an integer >= 1; got 0"):
        mine.k_best(x, np.zeros(2), 0)
    with pytest.raises(InvalidInputError, match="2 and 1 heads cannot be compared"):
        mine.loss([0, 1], [0])
    with pytest.raises(InvalidInputError, match=r"weights has shape \(3,\)"):
        mine.predict([x], np.zeros(3))
    with pytest.raises(InvalidInputError, match="X is a DiGraph: give a sequence"):
        so.Arborescence().fitted([x], [[0, 1]]).predict(nx.DiGraph([(0, 1)]), np.zeros(2))
    other = so.Oracle("odd", "argmax", "?", margin=abs, scale=abs)
    with pytest.raises(IncompatibleError, match="does not know the oracle 'odd'"):
        mine.encode([x], [[0, 1]]).ask(other, np.zeros(2))


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.integers(0, 2**32 - 1), st.booleans())
def test_the_reference_lists_every_tree_of_a_sparse_graph(seed, single_root):
    # networkx 3.6 by itself leaves some out, and takes a graph that has a tree for one without
    rng = np.random.default_rng(seed)
    n, share = int(rng.integers(1, 5)), rng.choice([0.3, 0.6])
    pairs = [(h, m) for m in range(1, n + 1) for h in range(n + 1) if h != m]
    arcs = [pair for pair in pairs if rng.random() < share] or pairs
    scores = rng.standard_normal(len(arcs)) * 10.0 ** rng.integers(-3, 4)
    value, (head, dependent) = dict(zip(arcs, scores, strict=True)), np.array(arcs).T
    heads = [[h for h in range(n + 1) if (h, m) in value] for m in range(1, n + 1)]
    trees = [y for y in itertools.product(*heads) if is_tree(y, single_root)]
    expected = sorted(sum(value[h, m] for m, h in enumerate(y, 1)) for y in trees)[::-1]
    graph = reference.graph_of(scores, 0, len(arcs), head, dependent)
    if len(graph) <= n:
        return  # a token without arcs, which inputs refuse
    found = [scores[tree].sum() for tree in reference.decreasing(graph, single_root)]
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-12)
