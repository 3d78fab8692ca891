"""Oracle paths against all paths of small lattices."""

import itertools

import numpy as np
import pytest

import structopt as so
from structopt.errors import InvalidInputError
from structopt.learn.metrics.bleu import bleu_statistics
from structopt.learn.metrics.oracle_paths import PRECISION, RATIO, arc_gains


def ladder(columns):
    """A lattice of columns, one arc a word."""
    tail, head, labels = [], [], []
    for t, words in enumerate(columns):
        tail += [t] * len(words)
        head += [t + 1] * len(words)
        labels += words
    sizes = [0, len(columns) + 1], [0, len(labels)]
    return so.LatticeArrays(*sizes, tail, head, np.zeros((len(labels), 1)), labels)


COLUMNS = [["the", "a"], ["cat", "house", "red cat"], ["is", "sat"], ["here", None]]
REFERENCES = ["the red cat sat", "a house is here", "here the cat is"]


def every_path(x):
    first = np.concatenate([[0], np.cumsum([len(words) for words in COLUMNS])])
    for choice in itertools.product(*(range(len(words)) for words in COLUMNS)):
        yield tuple(int(first[t]) + k for t, k in enumerate(choice))


def said(x, path):
    return " ".join(x.labels[arc] for arc in path if x.labels[arc] is not None)


@pytest.mark.parametrize("reference", REFERENCES)
def test_with_all_candidates_it_is_the_best_by_sentence_bleu(reference):
    x = ladder(COLUMNS)
    paths = list(every_path(x))
    score = dict(
        zip(paths, bleu_statistics([said(x, p) for p in paths], reference)[1], strict=True)
    )
    (found,) = so.metrics.oracle_paths(x, [reference], candidates=len(paths))
    assert all(score[path] == max(score.values()) for path in found)
    assert len(found) == sum(said(x, p) == said(x, found[0]) for p in paths)
    two = so.metrics.oracle_paths(x, [reference], n=2, candidates=len(paths))[0]
    ranked = sorted({said(x, p): s for p, s in score.items()}.values())
    assert {score[path] for path in two} == set(ranked[-2:])


def test_gains_count_the_grams_that_every_history_agrees_on():
    x = ladder([["the", "a"], ["red"], ["cat"]])
    gains = arc_gains(x, ["the red cat"]).ravel()
    unit, pair, triple = (RATIO**-n / (4 * PRECISION) for n in range(3))
    # "red" follows two words, so only it is known; "red cat" is a pair that all paths have
    assert gains == pytest.approx([unit - 1, -1.0, unit - 1, unit + pair - 1])
    alone = arc_gains(ladder([["the"], ["red"], ["cat"]]), ["the red cat"]).ravel()
    assert alone == pytest.approx([unit - 1, unit + pair - 1, unit + pair + triple - 1])


def test_references_of_lattices_are_learned_from():
    x = so.LatticeArrays.concatenated([ladder(COLUMNS)] * 2)
    labels = [word for words in COLUMNS for word in words] * 2
    x = so.LatticeArrays(x.node_ptr, x.arc_ptr, x.tail, x.head, np.eye(len(labels)), labels)
    Y = so.metrics.oracle_paths(x, ["the red cat sat", "a house is here"])
    lp8 = so.LPStruct(C=10.0, references="worst", nonnegative=False)
    model = so.StructuredClassifier(so.References(so.Lattice()), lp8).fit(x, Y)
    first, second = model.predict(x)
    assert (said(x[:1], first), said(x[1:], second)) == ("the red cat sat", "a house is here")


def test_mistakes_are_named():
    bare = so.LatticeArrays([0, 2], [0, 1], [0], [1], [[1.0]])
    with pytest.raises(InvalidInputError, match="label arcs"):
        so.metrics.oracle_paths(bare, ["a"])
    with pytest.raises(InvalidInputError, match="give at least one sentence"):
        so.metrics.oracle_paths(ladder(COLUMNS), ["a", "b"])
