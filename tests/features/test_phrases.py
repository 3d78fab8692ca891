"""Phrase tables and phrase lattices against their definitions, spelled out on tiny sentences."""

import itertools
import math

import numpy as np
import pytest

import structopt as so
from structopt.errors import InvalidInputError
from structopt.features.language_model import END, START, LanguageModel
from structopt.features.phrase_lattices import BLANKET, WAYS
from structopt.features.phrases import phrase_pairs

SOURCE = [["la", "maison", "bleue"], ["la", "loi"], ["une", "maison"], ["une", "loi", "bleue"]]
TARGET = [["the", "blue", "house"], ["the", "bill"], ["a", "house"], ["a", "blue", "bill"]]
LINKS = [{(0, 0), (1, 2), (2, 1)}, {(0, 0), (1, 1)}, {(0, 0), (1, 1)}, {(0, 0), (1, 2), (2, 1)}]


@pytest.fixture
def made():
    table = so.PhraseTable(max_length=2).fit(SOURCE, TARGET, LINKS)
    return so.PhraseLattices(table, order=2).fit(TARGET)


def consistent(f, e, links, most):
    """All phrase pairs by their definition."""
    spans = [
        [(a, b) for a in range(len(s)) for b in range(a + 1, min(len(s), a + most) + 1)]
        for s in (f, e)
    ]
    for (a, b), (c, d) in itertools.product(*spans):
        inside = [a <= i < b and c <= j < d for i, j in links]
        half = [(a <= i < b) != (c <= j < d) for i, j in links]
        if any(inside) and not any(half):
            yield tuple(f[a:b]), tuple(e[c:d])


def test_phrase_pairs_are_those_of_the_definition():
    rng = np.random.default_rng(0)
    for _ in range(200):
        f, e = ([f"{side}{k}" for k in range(rng.integers(1, 6))] for side in "fe")
        every = list(itertools.product(range(len(f)), range(len(e))))
        links = {every[k] for k in rng.integers(len(every), size=rng.integers(0, 5))}
        most = int(rng.integers(1, 5))
        found = [pair for pair, _ in phrase_pairs(f, e, links, most)]
        assert len(found) == len(set(found))
        assert set(found) == set(consistent(f, e, links, most))


def test_orientations():
    ways = dict(phrase_pairs(*(side[0] for side in (SOURCE, TARGET)), LINKS[0], 1))
    assert ways[("la",), ("the",)] == (0, 2)  # the sentence's beginning is straight
    assert ways[("maison",), ("house",)] == (1, 2)  # "blue" before it is linked to what follows
    assert ways[("bleue",), ("blue",)] == (2, 1)


def test_scores_are_shares_of_counts():
    table = so.PhraseTable(max_length=1).fit(SOURCE, TARGET, LINKS)
    (pair,) = table.pairs(("maison",))
    assert pair.target == ("house",)
    assert pair.scores == (0.0, 0.0, 0.0, 0.0)
    assert sum(math.exp(p) for p in pair.before) == pytest.approx(1.0)
    twice = so.PhraseTable(max_length=1).fit([["a"]] * 3, [["x"], ["x"], ["y"]], [{(0, 0)}] * 3)
    assert [p.target for p in twice.pairs(("a",))] == [("x",), ("y",)]
    assert twice.pairs(("a",))[0].scores[0] == pytest.approx(math.log(2 / 3))
    assert so.PhraseTable(options=1).fit([["a"]] * 2, [["x"], ["y"]], [{(0, 0)}] * 2).n_pairs_ == 1
    assert [p.number for p in table.every()] == list(range(table.n_pairs_))


def ways_to_write(made, sentence):
    """All (pairs, ways) of a sentence: every cut, every choice, neighbours swapped or not."""

    def options(a, b):
        found = made.table.pairs(tuple(sentence[a:b]))
        return [p.target for p in found] or ([tuple(sentence[a:b])] if b - a == 1 else [])

    n, most = len(sentence), made.table.max_length

    def rest(at):
        if at == n:
            yield ()
            return
        for j in range(at + 1, min(n, at + most) + 1):
            for one in options(at, j):
                for tail in rest(j):
                    yield ((one, 0), *tail)
                for k in range(j + 1, min(n, j + most) + 1):
                    for two in options(j, k):
                        for tail in rest(k):
                            yield ((two, 1), (one, 2), *tail)

    return list(rest(0))


@pytest.mark.parametrize(
    "sentence", [["la", "maison", "bleue"], ["une", "loi", "verte"], ["une"], ["la"] * 4]
)
def test_paths_are_all_cuts_choices_and_swaps(made, sentence):
    x = made.transform([sentence])
    wanted = ways_to_write(made, sentence)
    w = np.random.default_rng(0).normal(size=len(made.names_))
    structure = so.Lattice().fitted(x, [()])
    paths = structure.k_best(x, w, len(wanted) + 1)
    assert len(paths) == len(wanted)
    texts = sorted(made.texts(x, [path])[0] for path in paths)
    assert texts == sorted(" ".join(w for one, _ in way for w in one) for way in wanted)


def test_features_of_a_path_are_those_of_its_translation(made):
    sentence = ["une", "maison", "bleue"]
    x = made.transform([sentence])
    structure = so.Lattice().fitted(x, [()])
    model = LanguageModel(TARGET, 2)
    swapped = made.names_.index("maison | house | put back")
    seen = 0
    for path in structure.k_best(x, np.zeros(len(made.names_)), 1000):
        row = np.asarray(x.arc_features[list(path)].sum(axis=0)).ravel()
        words = made.texts(x, [path])[0].split()
        whole = [START, *words, END]
        pairs = list(itertools.pairwise(whole))
        at = dict(zip(BLANKET, row, strict=False))
        assert at["language model"] == pytest.approx(sum(model.log_p((a,), b) for a, b in pairs))
        assert at["words"] == len(words)
        assert at["unknown words"] == 0
        for gram, column in ((g, made.names_.index(" ".join(g))) for g in pairs if model.counts[g]):
            assert row[column] == pairs.count(gram)
        places = row[len(BLANKET) : len(BLANKET) + len(WAYS) * made.table.n_pairs_]
        assert places.sum() == at["phrases"]
        if row[swapped]:
            seen += 1
            assert at["swaps"] >= 1
    assert seen


def test_unknown_words_are_passed_on(made):
    x = made.transform([["zzz"], ["la", "zzz"]])
    paths = [(0, 1), so.Lattice().fitted(x, [(), ()]).predict(x, np.zeros(len(made.names_)))[1]]
    assert made.texts(x[:1], paths[:1]) == ["zzz"]
    assert x[0].arc_features[0, BLANKET.index("unknown words")] == 1.0


def test_words_that_are_forgotten_change_no_probability():
    rng = np.random.default_rng(0)
    text = [[str(k) for k in rng.integers(0, 4, rng.integers(1, 6))] for _ in range(8)]
    model = LanguageModel(text, 3)
    for h in itertools.product("0123z", repeat=2):
        kept = model.known(h, 2)
        assert h[len(h) - len(kept) :] == kept
        for word in ["0", "1", "z", END]:
            assert model.log_p(h, word) == model.log_p(kept, word)
        total = sum(math.exp(model.log_p(h, word)) for word in ["0", "1", "2", "3", "z", END])
        seen = {word for words in text for word in words}
        if seen == set("0123"):
            assert total == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("call", "match"),
    [
        (lambda made: so.PhraseTable().fit([], [], []), "a pair at least"),
        (lambda made: so.PhraseTable().fit([["a"]], [["b"]], [{(0, 1)}]), "Pair 0 has 1 and 1"),
        (lambda made: so.PhraseTable(max_length=0).fit(SOURCE, TARGET, LINKS), "max_length"),
        (lambda made: made.transform([["la"], []]), "Sentence 1 has no words"),
    ],
)
def test_mistakes_are_named(made, call, match):
    with pytest.raises(InvalidInputError, match=match):
        call(made)
