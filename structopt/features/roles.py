r"""Candidates for the arguments of predicates, and what is to be seen of them.

The candidates of a predicate are its children in the parse, then those of each of its ancestors,
and these ancestors themselves (the pruning of Xue and Palmer). Each is described by strings that
are turned into the columns of a sparse matrix; a candidate that is no argument is labelled ``O``.

>>> from structopt.datasets.srl import Predicate, Sentence
>>> sentence = Sentence(("Birds", "sing"), ("bird", "sing"), ("NNS", "VBP"), (1, -1),
...                     ("nsubj", "root"), (Predicate(1, "sing.01", {0: "ARG0"}),))
>>> p = propositions([sentence])[0]
>>> p.candidates, p.labels, p.spans
((0,), ('ARG0',), ((0, 1),))
>>> Columns(propositions([sentence]), least=1)(p).shape[0]
1
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from structopt.datasets.srl import Predicate, Sentence

OUTSIDE = "O"
NEVER = frozenset({"punct", "cc", "case", "det", "mark"})
"""Relations left out: a third of the words hang by them, and 79 of the 9,682 arguments."""


@dataclass(frozen=True)
class Proposition:
    """A predicate in its sentence, its candidates, and a label and a span of words for each.

    The span is the candidate's subtree; of an ancestor of the predicate it is the word alone.
    """

    sentence: Sentence
    predicate: Predicate
    candidates: tuple[int, ...]
    labels: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]

    @property
    def lemma(self) -> str:
        """The predicate's lemma, without the number of its sense."""
        return self.predicate.sense.rpartition(".")[0]


def propositions(sentences: Iterable[Sentence]) -> list[Proposition]:
    """Return every predicate that has a candidate."""
    found = []
    for sentence in sentences:
        children: list[list[int]] = [[] for _ in sentence.words]
        for t, head in enumerate(sentence.heads):
            if head >= 0:
                children[head].append(t)
        for predicate in sentence.predicates:
            line = _ancestors(sentence, predicate.position)
            near = {t for a in line for t in (a, *children[a])} - {predicate.position}
            kept = tuple(sorted(t for t in near if sentence.relations[t] not in NEVER))
            if kept:
                labels = tuple(predicate.arguments.get(t, OUTSIDE) for t in kept)
                spans = tuple((t, t + 1) if t in line else _span(t, children) for t in kept)
                found.append(Proposition(sentence, predicate, kept, labels, spans))
    return found


class Columns:
    """Descriptions that occur in the training data, as columns of a sparse matrix.

    Parameters
    ----------
    training : sequence of Proposition
    least : int
        Descriptions that occur less often are left out.
    """

    def __init__(self, training: Sequence[Proposition], *, least: int = 2) -> None:
        count = Counter(d for p in training for row in described(p) for d in row)
        self.names = sorted(d for d, n in count.items() if n >= least)
        self._column = {d: j for j, d in enumerate(self.names)}

    def __call__(self, proposition: Proposition) -> Any:
        """Return a row for each candidate."""
        rows = [
            [self._column[d] for d in row if d in self._column] for row in described(proposition)
        ]
        indptr = np.concatenate([[0], np.cumsum([len(row) for row in rows])])
        indices = np.concatenate([np.sort(np.array(row, dtype=np.int64)) for row in rows])
        shape = (len(rows), len(self.names))
        return sp.csr_array((np.ones(len(indices)), indices, indptr), shape=shape)


def described(p: Proposition) -> list[set[str]]:
    """Return the descriptions of each candidate."""
    s, v = p.sentence, p.predicate.position
    passive = any(r == "aux:pass" and h == v for r, h in zip(s.relations, s.heads, strict=True))
    voice = "passive" if passive else "active"
    case: dict[int, str] = {}
    for t, (head, relation) in enumerate(zip(s.heads, s.relations, strict=True)):
        if relation in ("case", "mark") and head >= 0:
            case.setdefault(head, s.lemmas[t].lower())
    rows = []
    for t in p.candidates:
        side = "before" if t < v else "after"
        path, preposition = _path(s, v, t), case.get(t, "-")
        role, lemma = s.relations[t], p.lemma
        rows.append(
            {
                "bias", f"path={path}", f"relation={role}", f"tag={s.tags[t]}",
                f"lemma={s.lemmas[t].lower()}", f"case={preposition}", f"side={side}",
                f"predicate={lemma}", f"predicate tag={s.tags[v]}",
                f"path+side+voice={path} {side} {voice}", f"path+case={path} {preposition}",
                f"path+predicate={path} {lemma}", f"relation+sense={role} {p.predicate.sense}",
                f"case+predicate={preposition} {lemma}", f"path+tag={path} {s.tags[t]}",
                f"relation+lemma={role} {s.lemmas[t].lower()}",
                f"far={min(4, abs(t - v).bit_length())} {role}",
            }
        )  # fmt: skip
    return rows


def _ancestors(sentence: Sentence, t: int) -> list[int]:
    line = [t]
    while (above := sentence.heads[line[-1]]) >= 0 and above not in line:
        line.append(above)
    return line


def _path(s: Sentence, v: int, t: int) -> str:
    """Return the relations on the way from the predicate up and then down to the candidate."""
    up = _ancestors(s, v)
    top = t if t in up else s.heads[t]
    climbed = "".join(f"^{s.relations[a]}" for a in up[: up.index(top)])
    return climbed + ("" if t in up else f"_{s.relations[t]}")


def _span(t: int, children: list[list[int]]) -> tuple[int, int]:
    stack, low, high = [t], t, t
    while stack:
        node = stack.pop()
        low, high = min(low, node), max(high, node)
        stack += children[node]
    return low, high + 1
