"""N-best lists: the reader, BLEU and NIST, pseudo-references, and exact line search."""

from __future__ import annotations

import gzip
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import structopt as so
from structopt.datasets.nbest import NBestList, load_smt_nbest, read_nbest
from structopt.errors import (
    FileFormatError,
    InvalidInputError,
    MissingDataError,
    MissingDependencyError,
)
from structopt.learn.baselines import mert_kernels
from structopt.learn.baselines.mert import MERT, Stacked, _Problem
from structopt.learn.metrics import (
    bleu_of_statistics,
    bleu_statistics,
    corpus_bleu,
    corpus_nist,
    pseudo_references,
)

WORDS = ["the", "a", "red", "house", "cat"]


def random_lists(rng, *, n=4, d=3, whole=False):
    lists, references = [], []
    for i in range(n):
        size = int(rng.integers(1, 8))
        texts = tuple(" ".join(rng.choice(WORDS, rng.integers(4, 8))) for _ in range(size))
        features = rng.integers(-2, 3, (size, d)) * 1.0 if whole else rng.normal(size=(size, d))
        names = tuple(f"f{j}" for j in range(d))
        lists.append(NBestList(i, texts, features, names, np.zeros(size)))
        references.append(" ".join(rng.choice(WORDS, 6)))
    return lists, references


# ---------------------------------------------------------------------- scores


@settings(max_examples=100)
@given(seed=st.integers(0, 10_000), several=st.booleans())
def test_bleu_is_sacrebleu_s(seed, several):
    from sacrebleu.metrics import BLEU

    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, 4))
    texts = [" ".join(rng.choice(WORDS, rng.integers(0, 8))) for _ in range(count)]
    good = [
        [" ".join(rng.choice(WORDS, rng.integers(1, 8))) for _ in range(2 if several else 1)]
        for _ in range(count)
    ]
    metric = BLEU(tokenize="none", force=True)
    expected = metric.corpus_score(texts, [list(column) for column in zip(*good, strict=True)])
    assert corpus_bleu(texts, good) == pytest.approx(expected.score)
    total = sum(bleu_statistics([t], g)[0][0] for t, g in zip(texts, good, strict=True))
    assert bleu_of_statistics(total) == pytest.approx(expected.score)
    sentence = BLEU(tokenize="none", force=True, effective_order=True)
    assert bleu_statistics(texts, good[0])[1] == pytest.approx(
        [sentence.sentence_score(t, good[0]).score for t in texts]
    )


def test_nist_by_hand():
    # References: "a b a". Information: a log2(3/2), b log2(3/1), "a b" log2(2/1), "b a" log2(1/1).
    # Hypothesis "a b": words (log2 1.5 + log2 3) / 2, pairs log2(2) / 1; it has 2/3 of the words,
    # where the penalty is 1/2.
    expected = 0.5 * ((np.log2(1.5) + np.log2(3)) / 2 + 1.0)
    assert corpus_nist(["a b"], ["a b a"]) == pytest.approx(expected)
    with pytest.raises(InvalidInputError, match="references with words"):
        corpus_nist(["a"], [""])
    with pytest.raises(InvalidInputError, match="references with words"):
        corpus_nist([""], ["a"])


def test_pseudo_references():
    one = NBestList(
        0,
        ("the house red", "the red house", "a house", "the red house", "the red cat"),
        np.zeros((5, 1)),
        ("f",),
        np.zeros(5),
    )
    assert pseudo_references([one], ["the red house"]) == [[1, 3]]
    assert pseudo_references([one], ["the red house"], n=2) == [[1, 3, 4]]
    assert sorted(pseudo_references([one], [["the red house"]], n=9)[0]) == [0, 1, 2, 3, 4]
    with pytest.raises(InvalidInputError, match="n is 0"):
        pseudo_references([one], ["a"], n=0)
    empty = NBestList(0, (), np.zeros((0, 1)), ("f",), np.zeros(0))
    with pytest.raises(InvalidInputError, match="sentence 1 is empty"):
        pseudo_references([one, empty], ["a", "b"])


@pytest.mark.parametrize("score", [corpus_bleu, corpus_nist])
def test_corpora_that_do_not_fit_are_refused(score):
    for texts, good in [(["a"], ["a", "b"]), ([], []), (["a"], "a")]:
        with pytest.raises(InvalidInputError, match="give at least one sentence"):
            score(texts, good)
    for bad in ([], [3]):
        with pytest.raises(InvalidInputError, match="references of a sentence"):
            score(["a"], [bad])


@pytest.mark.parametrize(
    ("score", "module"), [(corpus_bleu, "sacrebleu.metrics"), (corpus_nist, "nltk.translate")]
)
def test_missing_packages_are_named(score, module, monkeypatch):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingDependencyError, match=r"structopt-margin\[translation\]"):
        score(["a"], ["a"])


# ---------------------------------------------------------------------- line search


@settings(max_examples=200)
@given(seed=st.integers(0, 2**32 - 1), whole=st.booleans())
def test_the_line_search_is_exact(seed, whole):
    """No point of a line is better than what the sweep finds, and the step it names is as good."""
    rng = np.random.default_rng(seed)
    lists, references = random_lists(rng, whole=whole)
    data = Stacked.of(lists)
    counts = np.concatenate(
        [bleu_statistics(o.hypotheses, g)[0] for o, g in zip(lists, references, strict=True)]
    )
    problem = _Problem(data, counts)
    weights = rng.integers(-2, 3, 3) * 1.0 if whole else rng.normal(size=3)
    direction = np.eye(3)[int(rng.integers(3))] if whole else rng.normal(size=3)
    step, best = problem.line_search(weights, direction)
    assert problem.bleu(weights + step * direction) == pytest.approx(best)
    # all corners of all pairs of lines: between two neighbours nothing changes
    a, b = data.features @ weights, data.features @ direction
    corners = set()
    for first, stop in zip(data.ptr[:-1], data.ptr[1:], strict=True):
        for h in range(first, stop):
            for g in range(h):
                if g >= first and b[h] != b[g]:
                    corners.add((a[g] - a[h]) / (b[h] - b[g]))
    line = np.array(sorted(corners))
    middles = np.concatenate([line[:1] - 1, (line[1:] + line[:-1]) / 2, line[-1:] + 1, [0.3]])
    wide = np.concatenate([[True], np.diff(line) > 1e-9, [True] * 2])[: len(middles)]
    if len(line) == 0:
        wide = np.ones(len(middles), dtype=bool)
    values = [problem.bleu(weights + gamma * direction) for gamma in middles[wide]]
    assert max(values) == pytest.approx(best)


@settings(max_examples=200)
@given(seed=st.integers(0, 2**32 - 1), whole=st.booleans())
def test_envelopes_are_the_maxima(seed, whole):
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 9))
    a, b = (rng.integers(-3, 4, (2, size)) * 1.0) if whole else rng.normal(size=(2, size))
    ptr = np.array([0, size])
    first, step, loser, winner = mert_kernels.envelopes(a, b, ptr)
    assert np.all(np.diff(step) > 0)
    assert winner[:-1].tolist() == loser[1:].tolist()
    assert len(step) == 0 or loser[0] == first[0]
    on_top = [first[0], *winner]
    bounds = np.concatenate([[-np.inf], step, [np.inf]])
    for gamma in rng.normal(size=20) * 3:
        here = on_top[int(np.searchsorted(bounds, gamma)) - 1]
        assert a[here] + gamma * b[here] == pytest.approx(np.max(a + gamma * b))
    # lines that are the same: the first of them
    for h in on_top:
        assert h == next(g for g in range(size) if a[g] == a[h] and b[g] == b[h])


def test_mert_finds_the_weights_that_rank_by_bleu():
    rng = np.random.default_rng(0)
    lists, references = random_lists(rng, n=12, d=3)
    ranked = []
    for one, good in zip(lists, references, strict=True):
        quality = bleu_statistics(one.hypotheses, good)[1]
        noise = rng.normal(size=(len(quality), 2)) * 20
        features = np.column_stack([quality + noise[:, 0] - noise[:, 1], noise])
        ranked.append(NBestList(0, one.hypotheses, features, one.names, one.scores))
    # w = (1, -1, 1) undoes the noise and ranks by sentence BLEU
    hidden = MERT()
    hidden.weights_ = np.array([1.0, -1.0, 1.0])
    model = MERT(random_state=1).fit(ranked, references)
    truth = corpus_bleu(hidden.predict(ranked), references)
    assert model.bleu_ >= truth - 1e-9
    assert corpus_bleu(model.predict(ranked), references) == pytest.approx(model.bleu_)
    assert model.history_ == sorted(model.history_)
    assert np.abs(model.weights_).sum() == pytest.approx(1.0)
    again = MERT(random_state=1).fit(ranked, references)
    np.testing.assert_array_equal(again.weights_, model.weights_)
    started = MERT(restarts=0).fit(ranked, references, initial=[1.0, -1.0, 1.0])
    assert started.bleu_ >= truth - 1e-9
    assert model.predict([]) == []


def test_mert_refuses():
    lists, references = random_lists(np.random.default_rng(0), n=2)
    model = MERT(restarts=0, random_state=0).fit(lists, references)
    for name, value in [("restarts", -1), ("n_random", -1), ("max_passes", 0)]:
        with pytest.raises(InvalidInputError, match=name):
            MERT(**{name: value}).fit(lists, references)
    with pytest.raises(InvalidInputError, match="2 hypotheses or n-best lists and 1 for"):
        model.fit(lists, references[:1])
    with pytest.raises(InvalidInputError, match=r"expected \(3,\)"):
        model.fit(lists, references, initial=[1.0])
    narrow = NBestList(0, ("a", "b"), np.zeros((2, 2)), ("x", "y"), np.zeros(2))
    with pytest.raises(InvalidInputError, match="N-best list 0 has 2 hypotheses and features of"):
        model.predict([narrow])
    with pytest.raises(InvalidInputError, match="N-best list 1"):
        model.fit([lists[0], narrow], references)
    broken = NBestList(0, ("a",), np.full((1, 3), np.nan), ("x", "y", "z"), np.zeros(1))
    with pytest.raises(InvalidInputError, match="not finite"):
        model.predict([broken])


# ---------------------------------------------------------------------- files

LINES = """\
0||| this is it .  ||| d: 0 -7.5 lm: -41.25 ||| -14.5
0 ||| this it is . ||| d: 1 -6 lm: -4e1 ||| -14 ||| 0-0 1-1

2 ||| ||| d: 0 0 lm= 0 ||| 0
"""


@pytest.mark.parametrize("packed", [False, True])
def test_reading_nbest_lists(tmp_path, packed):
    path = tmp_path / ("nbest.gz" if packed else "nbest")
    path.write_bytes(gzip.compress(LINES.encode()) if packed else LINES.encode())
    first, second = read_nbest(path)
    assert (first.sentence, second.sentence) == (0, 2)
    assert first.hypotheses == ("this is it .", "this it is .")
    assert second.hypotheses == ("",)
    assert first.names == ("d_0", "d_1", "lm")
    assert first.features.tolist() == [[0.0, -7.5, -41.25], [1.0, -6.0, -40.0]]
    assert first.scores.tolist() == [-14.5, -14.0]


def test_loading_from_the_data_home(tmp_path):
    folder = tmp_path / "smt_nbest"
    folder.mkdir()
    with pytest.raises(MissingDataError, match="n-best lists"):
        load_smt_nbest(home=tmp_path)
    (folder / "nbest.out").write_text(LINES)
    with pytest.raises(MissingDataError, match=r"Put .*reference\.txt"):
        load_smt_nbest(home=tmp_path)
    (folder / "reference.txt").write_text("This  is it .\nNo list\nThe third\n")
    lists, references = load_smt_nbest(home=tmp_path)
    assert len(lists) == 2
    assert references == ["this is it .", "the third"]
    assert load_smt_nbest(home=tmp_path, lowercase=False)[1][0] == "This is it ."
    (folder / "reference.txt").write_text("This is it .\n")
    with pytest.raises(FileFormatError, match="has 1 lines, but there is a list for sentence 2"):
        load_smt_nbest(home=tmp_path)


# ---------------------------------------------------------------------- the whole road


@pytest.mark.parametrize("kind", ["nearest", "worst"])
def test_lp_struct_learns_to_rerank(kind):
    """Features that rank by BLEU, and one of noise: LP (7) and (8) choose the pseudo-references."""
    rng = np.random.default_rng(2)
    lists, references = random_lists(rng, n=8)
    chosen = pseudo_references(lists, references)
    X, Y = [], []
    for one, good, best in zip(lists, references, chosen, strict=True):
        quality = bleu_statistics(one.hypotheses, good)[1] / 10
        features = np.column_stack([quality, rng.normal(size=len(quality))])
        x, paths = so.Lattice.of_nbest(one.hypotheses, features)
        X.append(x)
        Y.append([paths[h] for h in best])
    model = so.StructuredClassifier(
        so.References(so.Lattice()), so.LPStruct(100.0, references=kind, nonnegative=False)
    ).fit(X, Y)
    assert model.result_.certificate.certified
    assert model.score(X, Y) == 1.0
    texts = [" ".join(so.Lattice.words(x, y)) for x, y in zip(X, model.predict(X), strict=True)]
    best = [one.hypotheses[h[0]] for one, h in zip(lists, chosen, strict=True)]
    assert corpus_bleu(texts, references) == pytest.approx(corpus_bleu(best, references))


def test_bleu_by_name_is_compared_by_randomisation():
    from structopt.learn.metrics.scorers import lookup

    good = ["the red house is here now", "a small cat sat down there"] * 6
    poor = ["house the here is red now", "a small cat sat down there"] * 6
    counted, _ = lookup("bleu", {})
    assert counted(good, poor) == pytest.approx(so.metrics.corpus_bleu(poor, good))
    found = so.metrics.randomisation_test("bleu", good, good, poor, random_state=0, n_resamples=500)
    assert found.first == pytest.approx(100.0)
    assert found.p_value < 0.05
    same = so.metrics.randomisation_test("bleu", good, poor, poor, random_state=0, n_resamples=50)
    assert same.p_value == 1.0
