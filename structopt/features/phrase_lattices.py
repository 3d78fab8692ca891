r"""A sentence as the lattice of its translations by phrases, where neighbours may change places.

The source is cut into phrases of the table, each becomes one of its targets, and of two neighbours
the second may be written first; none changes places twice. A node of the lattice knows how far the
source is covered, which phrase waits, and the last target words that what follows depends on; a
path from source to sink is a cut, a choice of targets and an order.

>>> table = PhraseTable().fit([["maison", "bleue"]], [["blue", "house"]], [{(0, 1), (1, 0)}])
>>> made = PhraseLattices(table, order=2).fit([["blue", "house"]])
>>> x = made.transform([["maison", "bleue"]])
>>> x.labels
['blue', 'house', 'blue', 'blue house', 'house', None, None]
>>> x.tail.tolist(), x.head.tolist()
([0, 0, 2, 0, 1, 3, 4], [1, 2, 3, 4, 4, 5, 5])
>>> made.texts(x, [(1, 2, 5)])
['house blue']
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from structopt.datasets.lattice_arrays import LatticeArrays
from structopt.errors import InvalidInputError
from structopt.features.language_model import END, START, LanguageModel, Words
from structopt.features.phrases import STRAIGHT, SWAPPED, PhrasePair, PhraseTable, as_sentences
from structopt.parameters import Count, check_params

BLANKET = (
    "target given source", "source given target", "words given source", "words given target",
    "language model", "words", "phrases", "unknown words", "swaps",
    "straight before", "swapped before", "straight after", "swapped after",
)  # fmt: skip
"""The dense features of an arc, logarithms of probabilities and counts."""
WAYS = ("straight", "drawn forward", "put back")
UNSEEN = math.log(0.5 / 1.5)


class Node(NamedTuple):
    """How far the source is covered, which phrase waits (from ``waits`` on; -1: none), words."""

    at: int
    waits: int
    end: int
    words: Words


class Arc(NamedTuple):
    """A phrase that is written, in one of WAYS; None leads to the sink."""

    tail: Node
    head: Node | None
    pair: PhrasePair | None
    way: int


class PhraseLattices(BaseEstimator):  # type: ignore[misc]
    """Turns sentences into lattices of translations, with features on their arcs.

    Parameters
    ----------
    table : PhraseTable
        Fitted.
    order : int
        Words of the n-grams of the target, of the language model and as features.

    Attributes
    ----------
    names_ : list of str
        The features: :data:`BLANKET`, then every phrase pair in each way it may come to its place,
        then every n-gram of ``order`` words of the target text.

    Notes
    -----
    Wang and Shawe-Taylor (2009), section 5.2: blanket features (theirs are 14) and discriminative
    ones, with adjacent phrases that exchange their positions. A word that the table does not know
    is passed on as it is.

    Examples
    --------
    >>> import structopt as so
    >>> table = so.PhraseTable().fit([["la", "loi"]], [["the", "bill"]], [{(0, 0), (1, 1)}])
    >>> made = so.PhraseLattices(table, order=2).fit([["the", "bill"]])
    >>> x = made.transform([["la", "loi"]])
    >>> w = np.zeros(len(made.names_))
    >>> w[made.names_.index("language model")] = 1.0
    >>> made.texts(x, so.Lattice().fitted(x, [(2, 6)]).predict(x, w))
    ['the bill']
    """

    names_: list[str]

    def __init__(self, table: PhraseTable, *, order: Count = 3) -> None:
        self.table = table
        self.order = order

    def fit(self, target: Sequence[Sequence[str]], y: Any = None) -> Self:
        """Learn the language model, and which n-grams are features, from target sentences."""
        check_params(self)
        check_is_fitted(self.table, "n_pairs_")
        self._model = LanguageModel(as_sentences(target, "target"), self.order)
        grams = sorted(g for g in self._model.counts if len(g) == self.order)
        begin = len(BLANKET) + len(WAYS) * self.table.n_pairs_
        self._grams = {gram: begin + k for k, gram in enumerate(grams)}
        self.names_ = [
            *BLANKET,
            *(
                f"{' '.join(pair.source)} | {' '.join(pair.target)} | {way}"
                for pair in self.table.every()
                for way in WAYS
            ),
            *(" ".join(gram) for gram in grams),
        ]
        return self

    def transform(self, source: Sequence[Sequence[str]]) -> LatticeArrays:
        """Return a lattice for every sentence; arcs are labelled with the words they write."""
        check_is_fitted(self, "names_")
        node_ptr, arc_ptr, tail, head = [0], [0], list[int](), list[int]()
        labels: list[str | None] = []
        columns, values, ends = list[int](), list[float](), [0]
        for i, sentence in enumerate(as_sentences(source, "source")):
            if not len(sentence):
                raise InvalidInputError(f"Sentence {i} has no words.", example=i)
            arcs = list(self._arcs(sentence))
            nodes = sorted({arc.tail for arc in arcs}, key=_place)
            place: dict[Node | None, int] = {node: k for k, node in enumerate(nodes)}
            place[None] = len(nodes)
            ordered = sorted((place[arc.head], place[arc.tail], e) for e, arc in enumerate(arcs))
            for end, start, e in ordered:
                row = self._features(arcs[e])
                columns += row
                values += row.values()
                ends.append(len(columns))
                tail.append(start)
                head.append(end)
                pair = arcs[e].pair
                labels.append(None if pair is None else " ".join(pair.target))
            node_ptr.append(node_ptr[-1] + len(nodes) + 1)
            arc_ptr.append(len(tail))
        matrix = sp.csr_array(
            (np.array(values), np.array(columns), np.array(ends)),
            shape=(len(tail), len(self.names_)),
        )
        matrix.sort_indices()
        return LatticeArrays(node_ptr, arc_ptr, tail, head, matrix, labels)

    def fit_transform(self, target: Sequence[Sequence[str]], source: Any = None) -> LatticeArrays:
        """Return the lattices of ``source`` after fitting to target sentences."""
        return self.fit(target).transform(source)

    @staticmethod
    def texts(X: LatticeArrays, paths: Sequence[Sequence[int]]) -> list[str]:
        """Return what a path of each lattice says."""
        found = []
        for i, path in enumerate(paths):
            labels = (X.labels[int(X.arc_ptr[i]) + arc] for arc in path)
            found.append(" ".join(label for label in labels if label is not None))
        return found

    # ------------------------------------------------------------------ the lattice
    def _arcs(self, sentence: Sequence[str]) -> Iterator[Arc]:
        """Yield the arcs of a sentence, from every node that is reached."""
        begin = Node(0, -1, -1, self._after((START,) * (self.order - 1), ()))
        waiting, seen = [begin], {begin}
        while waiting:
            node = waiting.pop()
            for arc in self._from(node, sentence):
                yield arc
                if arc.head is not None and arc.head not in seen:
                    seen.add(arc.head)
                    waiting.append(arc.head)

    def _from(self, node: Node, sentence: Sequence[str]) -> Iterator[Arc]:
        at, n = node.at, len(sentence)
        if node.waits >= 0:
            for pair in self._pairs(sentence, node.waits, at):
                words = self._after(node.words, pair.target)
                yield Arc(node, Node(node.end, -1, -1, words), pair, 2)
            return
        if at == n:
            yield Arc(node, None, None, 0)
            return
        for j in range(at + 1, min(n, at + self.table.max_length) + 1):
            for pair in self._pairs(sentence, at, j):
                yield Arc(node, Node(j, -1, -1, self._after(node.words, pair.target)), pair, 0)
            if not self._pairs(sentence, at, j):
                continue
            for k in range(j + 1, min(n, j + self.table.max_length) + 1):
                for pair in self._pairs(sentence, j, k):
                    words = self._after(node.words, pair.target)
                    yield Arc(node, Node(j, at, k, words), pair, 1)

    def _pairs(self, sentence: Sequence[str], a: int, b: int) -> list[PhrasePair]:
        """Return what words a to b - 1 may become; a single unknown word stays as it is."""
        phrase = tuple(sentence[a:b])
        found = self.table.pairs(phrase)
        if found or len(phrase) > 1:
            return found
        return [PhrasePair(phrase, phrase, -1, (0.0,) * 4, (UNSEEN,) * 3, (UNSEEN,) * 3)]

    def _after(self, words: Words, target: Words) -> Words:
        return self._model.known((*words, *target), self.order - 1)

    # ------------------------------------------------------------------ features
    def _features(self, arc: Arc) -> dict[int, float]:
        pair, written = arc.pair, arc.tail.words
        target = (END,) if pair is None else pair.target
        row: dict[int, float] = {}
        likely = 0.0
        for word in target:
            likely += self._model.log_p(written, word)
            gram = (*written, word)[-self.order :]
            if (column := self._grams.get(gram)) is not None:
                row[column] = row.get(column, 0.0) + 1.0
            written = self._after(written, (word,))
        dense = [0.0] * len(BLANKET)
        dense[4] = likely
        if pair is not None:
            dense[:4] = pair.scores
            dense[5:9] = len(target), 1.0, float(pair.number < 0), float(arc.way == 1)
            if arc.way == 0:
                dense[9], dense[11] = pair.before[STRAIGHT], pair.after[STRAIGHT]
            elif arc.way == 1:
                dense[12] = pair.after[SWAPPED]
            else:
                dense[10] = pair.before[SWAPPED]
            if pair.number >= 0:
                row[len(BLANKET) + len(WAYS) * pair.number + arc.way] = 1.0
        row |= {k: value for k, value in enumerate(dense) if value != 0.0}
        return row


def _place(node: Node) -> tuple[Any, ...]:
    """Return where a node stands among all, along every path."""
    if node.waits < 0:
        return (node.at, 0, 0, 0, node.words)
    return (node.waits, 1, node.at, node.end, node.words)
