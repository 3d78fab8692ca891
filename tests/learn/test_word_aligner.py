"""IBM models and the HMM of alignments: expectations equal sums over all alignments."""

from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import structopt as so
from structopt.learn.baselines.word_aligner import intersected

ENGLISH = [["the", "house"], ["the", "book"], ["a", "book"], ["a", "house", "here"]]
GERMAN = [["das", "Haus"], ["das", "Buch"], ["ein", "Buch"], ["ein", "Haus", "hier"]]


def probability(model, t, a):
    """p(f, a | e) of one alignment (0 is null), from the model's definition."""
    length, value, at = len(t) - 1, 1.0, -1
    for j, i in enumerate(a):
        if model.model == "ibm1":
            p = 1.0 / (length + 1)
        elif model.model == "ibm2":
            p = model._places[t.shape][i, j]
        elif i == 0:
            p = model.null
        else:
            centre = len(model._jumps) // 2
            weights = [model._jumps[k - at + centre] for k in range(length)]
            p = (1 - model.null) * weights[i - 1] / sum(weights)
        if i > 0:
            at = i - 1
        value *= p * t[i, j]
    return value


@pytest.mark.parametrize("name", ["ibm1", "ibm2", "hmm"])
@given(seed=st.integers(0, 1000))
def test_expectations_are_sums_over_all_alignments(name, seed):
    model = so.WordAligner(name, iterations=2).fit(ENGLISH, GERMAN)
    t = np.random.default_rng(seed).uniform(0.05, 1.0, (4, 3))
    found = model._expect(t)
    total, links = 0.0, np.zeros_like(t)
    for a in product(range(4), repeat=3):
        p = probability(model, t, a)
        total += p
        links[list(a), np.arange(3)] += p
    assert np.isclose(found.log, np.log(total))
    assert np.allclose(found.links, links / total)
    if found.jumps is not None:  # as many moves as words that have a partner
        assert np.isclose(found.jumps.sum(), found.links[1:].sum())


@pytest.mark.parametrize("name", ["ibm1", "ibm2"])
def test_em_never_lowers_the_likelihood(name):
    model = so.WordAligner(name, iterations=8).fit(ENGLISH, GERMAN)
    first, second = model.log_likelihood_[:8], model.log_likelihood_[8:]
    for part in (first, second):
        assert all(b >= a - 1e-9 for a, b in pairwise(part))


@pytest.mark.parametrize("name", ["ibm1", "ibm2", "hmm"])
def test_words_that_occur_together_are_linked(name):
    there = so.WordAligner(name, iterations=15).fit(ENGLISH, GERMAN)
    back = so.WordAligner(name, iterations=15).fit(GERMAN, ENGLISH)
    links = intersected(there.predict(ENGLISH, GERMAN), back.predict(GERMAN, ENGLISH))
    assert links[0] == {(0, 0), (1, 1)}
    each = there.posteriors(ENGLISH, GERMAN)
    assert [p.shape for p in each] == [(2, 2), (2, 2), (2, 2), (3, 3)]
    assert all((p >= 0).all() and (p.sum(axis=0) <= 1 + 1e-9).all() for p in each)
    unknown = there.posteriors([["never", "seen"]], [["nie", "gesehen", "worden"]])[0]
    assert unknown.shape == (2, 3)
    assert np.isfinite(unknown).all()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([["a"]], []), "equally many"),
        (([], []), "at least"),
        (([[]], [["a"]]), "empty side"),
        ((["a b"], [["a"]]), "lists of words"),
    ],
)
def test_what_is_no_parallel_text_is_refused(arguments, message):
    with pytest.raises(so.errors.InvalidInputError, match=message):
        so.WordAligner("ibm1").fit(*arguments)


def test_constants_are_checked():
    with pytest.raises(so.errors.InvalidInputError, match="model"):
        so.WordAligner("ibm4").fit(ENGLISH, GERMAN)
    with pytest.raises(so.errors.InvalidInputError, match="null"):
        so.WordAligner(null=0.0).fit(ENGLISH, GERMAN)
