"""Grammars beyond the contract of every structure: rules, trees, references, mistakes."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import structopt as so
from structopt.errors import IncompatibleError, InvalidInputError
from structopt.structures.grammar.small import every_tree, small
from structopt.structures.grammar.trees import productions
from structopt.testing import structure_oracles
from structopt.testing.structure_case import StructureCase

TOY = """
S -> NP VP
NP -> D N | NP PP
VP -> V NP | VP PP
PP -> P NP
D -> 'a'
N -> 'dog' | 'hat' | 'park'
V -> 'sees'
P -> 'in' | 'with'
"""
SEEN = ["a", "dog", "sees", "a", "dog", "with", "a", "hat"]
DOG_HAS_HAT = (
    "S", ("NP", "D", "N"), ("VP", "V", ("NP", ("NP", "D", "N"), ("PP", "P", ("NP", "D", "N")))),
)  # fmt: skip


@settings(max_examples=10, deadline=None, derandomize=True)
@given(st.integers(0, 2**32 - 1))
def test_every_question_by_enumeration(seed):
    case = StructureCase(small(np.random.default_rng(seed)), seed)
    for check in structure_oracles.CHECKS:
        check(case)


@settings(max_examples=12, deadline=None, derandomize=True)
@given(st.integers(0, 2**32 - 1), st.integers(1, 4))
def test_compiled_trees_are_those_of_networkx(seed, k):
    drawn = small(np.random.default_rng(seed))
    fast = drawn.structure.fitted(drawn.X, drawn.Y)
    slow = so.Grammar(**drawn.structure.get_params() | {"decoder": "networkx"})
    slow = slow.fitted(drawn.X, drawn.Y)
    w = np.random.default_rng(seed).normal(size=fast.n_features_)
    one, other = (s.encode(drawn.X, drawn.Y) for s in (fast, slow))
    for oracle in (so.loss_augmented, so.oracles.best_other, so.oracles.worst):
        mine, theirs = one.ask(oracle, w), other.ask(oracle, w)
        np.testing.assert_allclose(mine.score, theirs.score, atol=1e-9)
        np.testing.assert_allclose(mine.loss, theirs.loss)
    ranks = zip(one.k_best(w, k), other.k_best(w, k), strict=True)
    for mine, theirs in ranks:
        np.testing.assert_allclose(mine.score, theirs.score, atol=1e-9)


def test_a_known_ambiguity():
    # one phrase can hang on the dog or on the seeing; with two phrases there are five trees
    structure = so.Grammar(TOY, "S").fitted([SEEN], [DOG_HAS_HAT])
    nothing = np.zeros(structure.n_features_)
    assert len(structure.k_best(SEEN, nothing, 9)) == 2
    assert len(structure.k_best([*SEEN, "in", "a", "park"], nothing, 9)) == 5
    names = structure.feature_names()
    w = np.zeros(len(names))
    w[names.index(("-> NP PP", "NP"))] = 1.0
    assert structure.argmax(SEEN, w) == DOG_HAS_HAT
    other = structure.second_best(SEEN, w, DOG_HAS_HAT)
    assert other[2][0] == "VP"
    assert other[2][2][0] == "PP"
    assert structure.argmin(SEEN, w) == other
    # brackets that differ: (3, 8, NP) against (2, 5, VP)
    assert structure.loss(DOG_HAS_HAT, other) == 2.0
    assert structure.part_errors(DOG_HAS_HAT, other) == 1
    assert structure.part_count(DOG_HAS_HAT) == 15
    assert structure.joint_features(SEEN, DOG_HAS_HAT)[0, names.index(("-> D N", "NP"))] == 3


def test_rules_of_every_form_are_the_same():
    lines = [line for line in TOY.splitlines() if line]
    pairs = [("S", ("NP", "VP")), ("NP", ("D", "N")), ("NP", "D")]
    assert so.Grammar(lines, "S").fitted([SEEN], [DOG_HAS_HAT]).rules_ == (
        so.Grammar(TOY, "S").fitted([SEEN], [DOG_HAS_HAT]).rules_
    )
    X, Y = [np.eye(3)], [("S", ("NP", "D", "N"), "VP")]
    assert so.Grammar(pairs).fitted(X, Y).rules_ == (
        so.Grammar("NP -> D N | D\nS -> NP VP").fitted(X, Y).rules_
    )


def test_inputs_of_every_form_are_the_same():
    rng = np.random.default_rng(0)
    y = ("S", ("S", "a", "b"), ("S", "b"))
    tokens, spans = rng.normal(size=(3, 2)), rng.normal(size=(4, 4, 2))
    rows = spans[np.triu_indices(4, 1)]
    forms = [(tokens, spans), (sp.csr_array(tokens), rows), (tokens.tolist(), sp.csr_array(rows))]
    structure = so.Grammar("S -> S S | a b | b", "S", ends=True).fitted(forms, [y] * 3)
    for w in rng.normal(size=(5, structure.n_features_)):
        assert len(set(structure.predict(forms, w))) == 1
        answers = structure.encode(forms, [y] * 3).ask(so.loss_augmented, w)
        np.testing.assert_allclose(answers.score, answers.score[0], atol=1e-12)
    assert structure.n_features_ == len(structure.feature_names())
    assert structure.feature_names(["u", "v"])[4:6] == [("first u", "S"), ("first v", "S")]


def test_long_sentences_by_counting():
    # S -> S S over n tokens has the Catalan number of trees; each label costs its width
    length = 60
    y = "S"
    for _ in range(length - 1):
        y = ("S", y, "S")
    x = np.ones((length, 1))
    structure = so.Grammar("S -> S S").fitted([x], [y])
    assert structure.loss(y, structure.argmax(x, np.zeros(2))) >= 0
    best = structure.argmax(x, np.zeros(2), gold=y)
    # the loss is largest with no bracket of gold but the root and the tags: 2 (length - 2)
    assert structure.loss(y, best) == 2 * (length - 2)
    assert len(productions(best)) == 2 * length - 1
    trees = every_tree([("S", ("S", "S"))], [{"S"}] * 6, "S", 0, 6)
    assert len(trees) == len(structure.k_best(x[:6], np.ones(2), 100)) == 42


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        ([], "grammar is empty"),
        ("", "grammar is empty"),
        ("S -> A\nA -> B\nB -> S", "go round in a circle, 'A' -> 'B' -> 'S' -> 'A'"),
        ("S -> S", "circle, 'S' -> 'S'"),
        ("S -> A B C", r"S -> A B C has 3 symbols .* so.binarised"),
        ("S -> ", "has 0 symbols"),
        ("S NP VP", "'S NP VP' is no rule"),
        ("S -> A 'b'", "words beside others"),
        ([3], "3 is no rule"),
        ([("S", ("A", 2))], "is no rule"),
        ({"S": "NP"}, "rules is a dict"),
        (7, "rules is a int"),
        ("S -> A B\nA -> 'a'", "symbol 'B' of the rule S -> A B is unknown"),
        ("T -> A A\nA -> 'a'", "start is 'S', which no rule rewrites"),
    ],
)
def test_bad_rules_are_named(rules, message):
    with pytest.raises(InvalidInputError, match=message):
        so.Grammar(rules, "S").fitted([["a", "a"]], [("S", "A", "A")])


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (("S", ("NP", "D", "N"), "VP"), "example 3 has 3 leaves for 2 tokens"),
        (("NP", "D", "N"), "example 3 has the root 'NP', and trees of the grammar begin with 'S'"),
        (("S", "X", "VP"), "example 3 uses the symbol 'X' over tokens 0 to 1"),
        (("S", "D", "N"), "example 3 uses the rule S -> D N over tokens 0 to 1"),
        (("S", "NP", "VP"), "example 3 uses the tag 'NP' over tokens 0 to 0"),
        (("S", ("NP", "D"), "V", "V"), "'S' has 3 children, .* so.binarised"),
        (("S", ("NP", 1), "VP"), "1 below 'NP' is neither a tag nor a tree"),
        (("S", ("NP", ("N", "D")), ("VP", "V")), "the rule N -> D"),
        (None, "example 3 is none: None stands where a tag"),
        ((), "stands where a tag"),
        (("S", ("NP", "N"), ("VP", "D")), "example 3 has 'D' over the word 'dog'"),
    ],
)
def test_bad_trees_are_named(y, message):
    rules = "S -> NP VP\nNP -> N | D N | D\nVP -> V | D\nN -> 'dog'\nV -> 'runs'\nD -> 'a'"
    x, good = ["dog", "runs"], ("S", ("NP", "N"), ("VP", "V"))
    structure = so.Grammar(rules, "S").fitted([x], [good])
    x = ["dog", "dog"] if "word" in message else x
    with pytest.raises(InvalidInputError, match=message) as error:
        structure.encode([x], [y], start=3)
    assert error.value.example == 3


def test_bad_sentences_are_named():
    x, y = ["a", "a"], ("S", "A", "A")
    words = so.Grammar().fitted([x], [y])
    w = np.zeros(words.n_features_)
    with pytest.raises(InvalidInputError, match="word 'b' of example 1 is unknown"):
        words.predict([x, ["a", "b"]], w)
    with pytest.raises(InvalidInputError, match="derives no tree for example 1, of 3 tokens") as e:
        words.predict([x, ["a"] * 3], w)
    assert e.value.example == 1
    for bad in ([], np.eye(2), "aa", ["a", ["a"]], np.array(["a", 1], dtype=object)):
        with pytest.raises(InvalidInputError, match="Example 0 is no list of words"):
            words.predict([bad], w)
    with pytest.raises(InvalidInputError, match=r"weights has shape \(1,\)"):
        words.predict([x], np.zeros(1))
    with pytest.raises(InvalidInputError, match="names a word, and inputs are features"):
        so.Grammar("S -> A A\nA -> 'a'").fitted([np.eye(2)], [y])
    rows = so.Grammar().fitted([np.eye(2)], [y])
    with pytest.raises(InvalidInputError, match="Example 1 is words, and the grammar was fitted"):
        rows.predict([np.eye(2), x], np.zeros(rows.n_features_))
    with pytest.raises(InvalidInputError, match="example 0 has 3 columns; expected 2"):
        rows.predict([np.eye(3)], np.zeros(rows.n_features_))
    with pytest.raises(InvalidInputError, match="root 'T', that of example 0 'S'"):
        so.Grammar().fitted([x, x], [y, ("T", "A", "A")])
    with pytest.raises(InvalidInputError, match="both must be > 0"):
        so.Grammar(loss=so.losses.PartCosts(missed=0.0)).fitted([x], [y])
    spans = so.Grammar().fitted([(np.eye(2), np.zeros((3, 2)))], [y])
    w = np.zeros(spans.n_features_)
    with pytest.raises(InvalidInputError, match="Example 0 has no features of spans"):
        spans.predict([np.eye(2)], w)
    with pytest.raises(InvalidInputError, match=r"have shape \(4, 2\); expected .*, or 3 rows"):
        spans.predict([(np.eye(2), np.zeros((4, 2)))], w)
    with pytest.raises(InvalidInputError, match="X is a str"):
        words.predict("aa", np.zeros(words.n_features_))
    with pytest.raises(IncompatibleError, match="slack_rescaled"):
        so.StructuredClassifier(so.Grammar(), so.StructSVM(rescale="slack")).fit([x], [y])


def test_binary_trees_and_back():
    tree = ("S", ("NP", "D", "A", "A", "N"), ("VP", "V"), "P")
    two = so.binarised(tree)
    assert max(len(node.below) for node in productions(two)) == 2
    assert so.unbinarised(two) == tree
    assert so.binarised("N") == so.unbinarised("N") == "N"
