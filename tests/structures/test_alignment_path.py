"""Alignments of sequences beyond the contract of every structure: known scores, mistakes."""

from __future__ import annotations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import structopt as so
from structopt.errors import InvalidInputError
from structopt.structures.alignment_path.small import small
from structopt.testing import structure_oracles
from structopt.testing.structure_case import StructureCase


def weights_of(structure, *, same, other, gap, opened):
    """Return weights that count matches, substitutions, symbols in gaps and gaps."""
    rows = structure.feature_names()
    match = [same if f[0] == f[-1] else other for f, kind in rows if kind == "match"]
    gaps = [gap for _, kind in rows if kind in ("delete", "insert")]
    return np.array([*match, *gaps, opened, opened], dtype=np.float64)


@settings(max_examples=15, deadline=None, derandomize=True)
@given(st.integers(0, 2**32 - 1))
def test_every_question_by_enumeration(seed):
    case = StructureCase(small(np.random.default_rng(seed)), seed)
    for check in structure_oracles.CHECKS:
        check(case)


@settings(max_examples=10, deadline=None, derandomize=True)
@given(st.integers(0, 2**32 - 1), st.booleans(), st.integers(1, 3))
def test_compiled_alignments_are_those_of_networkx(seed, local, k):
    rng = np.random.default_rng(seed)
    X = [tuple("".join(rng.choice(list("abc"), rng.integers(1, 7))) for _ in range(2))]
    Y = [[(0, 0)]]
    fast, slow = (
        so.AlignmentPath(local, "abc", decoder=d).fitted(X, Y) for d in ("compiled", "networkx")
    )
    w = rng.normal(size=fast.n_features_)
    one, other = (s.encode(X, Y) for s in (fast, slow))
    for oracle in (so.loss_augmented, so.oracles.best_other, so.oracles.worst):
        mine, theirs = one.ask(oracle, w), other.ask(oracle, w)
        np.testing.assert_allclose(mine.score, theirs.score, atol=1e-9)
        np.testing.assert_allclose(mine.loss, theirs.loss)
    for mine, theirs in zip(one.k_best(w, k), other.k_best(w, k), strict=True):
        np.testing.assert_allclose(mine.score, theirs.score, atol=1e-9)


@settings(max_examples=20, deadline=None, derandomize=True)
@given(st.text("ab", min_size=1, max_size=9), st.text("ab", min_size=1, max_size=9))
def test_edit_distances_are_shortest_paths(a, b):
    # without a price for opening, the best score is Levenshtein's distance, negated
    structure = so.AlignmentPath(symbols="ab").fitted([(a, b)], [[]])
    w = weights_of(structure, same=0.0, other=-1.0, gap=-1.0, opened=0.0)
    y = structure.argmax((a, b), w)
    grid = nx.DiGraph()
    for i in range(len(a) + 1):
        for j in range(len(b) + 1):
            if i:
                grid.add_edge((i - 1, j), (i, j), weight=1)
            if j:
                grid.add_edge((i, j - 1), (i, j), weight=1)
            if i and j:
                grid.add_edge((i - 1, j - 1), (i, j), weight=int(a[i - 1] != b[j - 1]))
    distance = nx.dijkstra_path_length(grid, (0, 0), (len(a), len(b)))
    assert -float((structure.joint_features((a, b), y) @ w)[0]) == distance
    operations = structure.operations((a, b), y)
    assert operations.count("M") + operations.count("D") == len(a)
    assert operations.count("M") + operations.count("I") == len(b)


def test_a_dear_opening_makes_one_long_gap():
    # two gaps of one, or one gap of two: "abcb" against "ab"
    x = ("abcb", "ab")
    structure = so.AlignmentPath(symbols="abc").fitted([x], [[(0, 0), (1, 1)]])
    w = weights_of(structure, same=1.0, other=-3.0, gap=-0.5, opened=-2.0)
    best = structure.argmax(x, w)
    assert structure.operations(x, best) in ("MMDD", "MDDM")
    assert float((structure.joint_features(x, best) @ w)[0]) == 2.0 - 1.0 - 2.0
    first, second = structure.k_best(x, w, 2)
    assert {structure.operations(x, y) for y in (first, second)} == {"MMDD", "MDDM"}
    assert structure.second_best(x, w, first) == second


def test_a_local_alignment_leaves_the_ends_outside():
    x = ("xxabcxx", "yyyabcy")
    structure = so.AlignmentPath(local=True, symbols="abcxy").fitted([x], [[]])
    w = weights_of(structure, same=1.0, other=-2.0, gap=-1.0, opened=-1.0)
    assert structure.argmax(x, w) == {(2, 3), (3, 4), (4, 5)}
    assert structure.operations(x, structure.argmax(x, w)) == "MMM"
    assert structure.argmax(x, -np.ones(structure.n_features_)) == frozenset()
    assert structure.operations(x, []) == ""
    assert structure.part_count([]) == 1


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (("ab", ""), "Example 1 has an empty sequence"),
        (("ab", "z"), "symbol 'z' of example 1 is unknown"),
        (("ab",), "input of example 1 must be a pair"),
        (np.ones((2, 2, 1)), r"example 1 must be a pair .* \(symbols\)"),
        (3, "example 1 must be a pair"),
    ],
)
def test_bad_symbols_are_named(x, message):
    good = ("ab", "ba")
    structure = so.AlignmentPath().fitted([good], [[(0, 0)]])
    with pytest.raises(InvalidInputError, match=message) as error:
        structure.predict([good, x], np.zeros(structure.n_features_))
    assert error.value.example == 1


@pytest.mark.parametrize(
    ("x", "message"),
    [
        (np.ones((2, 2)), r"example 1 has shape \(2, 2\); expected \(n, m, d\)"),
        (np.ones((0, 2, 3)), "none of them 0"),
        (np.ones((2, 2, 2)), "example 1 has 2 columns; expected 3"),
        (np.full((1, 1, 3), np.nan), "example 1 holds nan"),
        (np.array([[["a"]]]), "input of example 1 must hold real numbers"),
        (("a", "b"), r"as those that the structure was fitted to \(features\)"),
    ],
)
def test_bad_features_are_named(x, message):
    good = np.ones((2, 3, 3))
    structure = so.AlignmentPath().fitted([good], [[(0, 0)]])
    assert structure.n_features_ == len(structure.feature_names()) == 7
    with pytest.raises(InvalidInputError, match=message):
        structure.predict([good, x], np.zeros(7))


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([(0, 0), (0, 1)], r"matches \(0, 0\) and \(0, 1\), which cross or share"),
        ([(0, 1), (1, 0)], r"\(0, 1\) and \(1, 0\), which cross"),
        ([(0, 2)], r"example 5 matches \(0, 2\), outside sequences of 2 and 2 symbols"),
        ([(-1, 0)], r"matches \(-1, 0\), outside"),
        ([(0.5, 1)], "give the matches as pairs"),
        ([0, 1], "give the matches as pairs"),
        (7, "example 5 is 7: give the matches"),
    ],
)
def test_bad_alignments_are_named(y, message):
    x = ("ab", "ba")
    structure = so.AlignmentPath().fitted([x], [[(0, 0)]])
    with pytest.raises(InvalidInputError, match=message) as error:
        structure.encode([x], [y], start=5)
    assert error.value.example == 5


def test_other_mistakes_are_named():
    x, y = ("ab", "ba"), [(0, 0)]
    with pytest.raises(InvalidInputError, match="symbols must be strings, each once"):
        so.AlignmentPath(symbols="aa").fitted([x], [y])
    with pytest.raises(InvalidInputError, match="both must be > 0"):
        so.AlignmentPath(loss=so.losses.PartCosts(extra=0.0)).fitted([x], [y])
    structure = so.AlignmentPath().fitted([x], [y])
    with pytest.raises(InvalidInputError, match="X is a str"):
        structure.predict("ab", np.zeros(structure.n_features_))
    with pytest.raises(InvalidInputError, match=r"pairs .i, j. of positions, not 3"):
        structure.loss(y, 3)


def test_learned_costs_beat_the_edit_distance():
    X, Y = so.datasets.make_protein_pairs(30, substituted=0.6, opened=0.08, seed=0)
    test, gold = so.datasets.make_protein_pairs(40, substituted=0.6, opened=0.08, seed=1)
    model = so.StructuredClassifier(so.AlignmentPath(), so.M3N(C=1.0), tol=1e-2).fit(X, Y)
    assert model.result_.certificate.certified
    plain = weights_of(model.structure_, same=1.0, other=-1.0, gap=-1.0, opened=0.0)
    errors = [
        so.metrics.alignment_error_rate(gold, found)
        for found in (model.predict(test), model.structure_.predict(test, plain))
    ]
    assert errors[0] < 0.5 * errors[1]
    words, typed = so.datasets.make_typos(20, seed=0)
    so.AlignmentPath().fitted(words, typed).encode(words, typed)
