r"""Pseudo-references of whole lattices: the paths that say what comes closest to a reference.

BLEU is no sum over arcs, but this gain is (Tromble, Kumar, Och and Macherey, 2008),

    gain(y) = - |y| + sum_n r^{1 - n} / (4 p) * (n-grams of y that the reference has),   n = 1 .. 4,

where an arc counts the n-grams that end in its words, as far as the words before it are the same on
all paths that reach it. The candidates are its best paths; of these the best by smoothed sentence
BLEU stand for the reference.

>>> from structopt.datasets.lattice_arrays import LatticeArrays
>>> X = LatticeArrays([0, 3], [0, 4], [0, 0, 1, 1], [1, 1, 2, 2], [[0.0]] * 4,
...                   labels=["the", "a", "house", "home"])
>>> oracle_paths(X, ["the house"])[0]
[(0, 2)]
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from structopt.arrays import Floats
from structopt.datasets.lattice_arrays import LatticeArrays, PathArrays
from structopt.errors import InvalidInputError
from structopt.learn.metrics.bleu import (
    ORDERS,
    References,
    as_references,
    bleu_statistics,
    check_corpus,
)
from structopt.parameters import Count, checked

PRECISION, RATIO = 0.6, 0.6
"""p, the precision of words, and r, that of (n + 1)-grams beside that of n-grams."""
Words = tuple[str, ...]


@checked
def oracle_paths(
    X: LatticeArrays,
    references: Sequence[References],
    *,
    n: Count = 1,
    candidates: Count = 100,
) -> PathArrays:
    """Return the paths of each lattice that may stand for its reference.

    Parameters
    ----------
    X : LatticeArrays
        Labelled with the words that their arcs write, in nodes that stand in topological order.
    references : sequence of str, or of sequences of str
    n : int
        How many different translations to take. Each comes with all its paths among the candidates.
    candidates : int
        Paths of a lattice that are looked at, the best by the gain. With all of them the choice is
        exactly that by sentence BLEU.

    Notes
    -----
    Wang and Shawe-Taylor (2009), section 5.2, search the hypotheses with the highest BLEU in the
    stacks of a beam search.
    """
    from structopt.structures.lattice.structure import Lattice  # NetworkX, which few need

    check_corpus(X, references)
    if X.labels is None:
        raise InvalidInputError("The lattices have no labels: label arcs with what they say.")
    made = LatticeArrays(X.node_ptr, X.arc_ptr, X.tail, X.head, arc_gains(X, references))
    structure = Lattice().fitted(made, references)
    ptr, arcs, ends, one = [0], list[int](), [0], np.ones(1)
    for i, good in enumerate(references):
        paths = structure.k_best(made[i], one, candidates)
        first = int(X.arc_ptr[i])
        texts = [_text([X.labels[first + arc] for arc in path]) for path in paths]
        _, sentence = bleu_statistics(texts, good)
        score = dict(zip(texts, (-sentence).tolist(), strict=True))
        for top in sorted(score, key=score.__getitem__)[:n]:
            for path, text in zip(paths, texts, strict=True):
                if text == top:
                    arcs += path
                    ptr.append(len(arcs))
        ends.append(len(ptr) - 1)
    return PathArrays(ptr, arcs, ends)


def arc_gains(X: LatticeArrays, references: Sequence[References]) -> Floats:
    """Return the gain of every arc, as a column."""
    gains = np.zeros((len(X.tail), 1))
    for i, good in enumerate(references):
        grams = {
            tuple(words[t : t + order])
            for words in (text.split() for text in as_references(good))
            for order in range(1, ORDERS + 1)
            for t in range(len(words) - order + 1)
        }
        a, b = int(X.arc_ptr[i]), int(X.arc_ptr[i + 1])
        before: list[Words | None] = [None] * int(X.node_ptr[i + 1] - X.node_ptr[i])
        before[0] = ()
        for e in sorted(range(a, b), key=lambda e: int(X.tail[e])):
            known, written = before[int(X.tail[e])], _words(X.labels[e])
            if known is None:  # from no source
                continue
            whole = (*known, *written)
            for t in range(len(known), len(whole)):
                gains[e] -= 1.0
                for order in range(1, min(ORDERS, t + 1) + 1):
                    if whole[t - order + 1 : t + 1] in grams:
                        gains[e] += RATIO ** (1 - order) / (ORDERS * PRECISION)
            head = int(X.head[e])
            before[head] = _shared(before[head], whole[-ORDERS + 1 :])
    return gains


def _shared(one: Words | None, other: Words) -> Words:
    """Return the last words that both end with."""
    if one is None:
        return other
    size = 0
    while size < min(len(one), len(other)) and one[-size - 1] == other[-size - 1]:
        size += 1
    return one[len(one) - size :]


def _words(label: str | None) -> Words:
    return () if label is None else tuple(label.split())


def _text(labels: Sequence[str | None]) -> str:
    return " ".join(label for label in labels if label is not None)
