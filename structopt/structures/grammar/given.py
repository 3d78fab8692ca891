r"""Spans that are given at prediction, and the grammar that has only trees which agree.

What may be said of a span (i, j), the tokens i to j - 1:

    True, False    some constituent stands over it, or none does
    "A"            an A does (perhaps among others, by unary rules)
    {"A", "B"}     an A or a B does
    Not("A")       no A does

A tree has a constituent over (i, j) exactly if none of its others crosses it, for its nodes have at
most two children. What bars labels is a minus-infinite score. That one of some labels R stands over
a span is counted by stages of each symbol A, from the lowest constituent over the span up:

    A0    none of R so far         A0 -> B0,           A0 -> B3 C3
    A1    the first of R           A1 -> B0,           A1 -> B3 C3
    A2    one of R further down    A2 -> B3
    A3    one of R, here or down   A3 -> A1,           A3 -> A2

so that A0 is barred for A in R and A1 for all others (R is everything where nothing is asked), and
the tree of the root S3, without the nodes of stage 3, is the best one that agrees.

>>> from structopt.structures.grammar.rules import compiled
>>> staged = Staged.of(compiled((("S", ("A",)),), ("A",), "S"))
>>> [staged.made.symbols[a] for a in staged.made.lhs[staged.origin < 0]]
['A 3', 'A 3', 'S 3', 'S 3']
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple, Self

import numpy as np

from structopt.arrays import Ints
from structopt.structures.base.given import Mask, Not, listed, permitted
from structopt.structures.base.labels import LabelSet
from structopt.structures.grammar.rules import Productions, Rule, compiled

BEFORE, MET, AFTER, DONE = range(4)


class HeldSpans(NamedTuple):
    """What is given of one sentence, [span, symbol]: who may not stand there; one who must."""

    barred: Mask
    needed: Mask


def held_spans(given: Any, length: int, symbols: tuple[str, ...], example: int) -> HeldSpans | None:
    """Return what is given of one sentence, as a mapping of spans or a list of constituents."""
    if given is None:
        return None
    if isinstance(given, Iterable) and not isinstance(given, Mapping | str):
        given = {tuple(part) if isinstance(part, list) else part: True for part in given}
    spans = list(combinations(range(length + 1), 2))
    starts, stops = np.array(spans).T
    nothing_or = LabelSet((False, *symbols))  # what a span has: no constituent, or one of these
    barred = np.zeros((len(spans), len(symbols)), dtype=bool)
    needed = ~barred
    for s, entry in enumerate(listed(given, spans, example)):
        if entry is None:
            continue
        i, j = spans[s]
        stands = isinstance(entry, bool | np.bool_) and bool(entry)
        if not stands:
            bare, *named = permitted(entry, nothing_or, f"span ({i}, {j})", example).tolist()
            stands = not bare
            if isinstance(entry, Not) or not any(named):
                barred[s] |= ~np.array(named)
            else:
                needed[s] = named
        if stands:
            left, right = (starts < i) & (i < stops), (starts < j) & (j < stops)
            barred[(left & (stops < j)) | (right & (starts > i))] = True
    return HeldSpans(barred, needed)


@dataclass(frozen=True)
class Staged:
    """A grammar whose symbols have stages.

    Attributes
    ----------
    made : Productions
    symbol, stage : array of int
        What each of its symbols is one of, and which.
    origin : array of int
        What each of its productions is one of, -1 for those that lead to stage 3.
    """

    made: Productions
    symbol: Ints
    stage: Ints
    origin: Ints

    @classmethod
    def of(cls, plain: Productions) -> Self:
        """Return a grammar with stages."""
        origin: dict[Rule, int] = {}
        for (left, right), p in plain.number.items():
            stages = [(BEFORE, DONE), (MET, DONE)]
            if len(right) == 1:
                stages = [(BEFORE, BEFORE), (MET, BEFORE), (AFTER, DONE)]
            for above, below in stages:
                origin[f"{left} {above}", tuple(f"{name} {below}" for name in right)] = p
        for name in plain.symbols:
            origin |= {(f"{name} {DONE}", (f"{name} {below}",)): -1 for below in (MET, AFTER)}
        tags = tuple(sorted(left for left, right in origin if not right))
        rules = tuple(sorted(rule for rule in origin if rule[1]))
        made = compiled(rules, tags, f"{plain.symbols[plain.start]} {DONE}")
        place = {name: k for k, name in enumerate(plain.symbols)}
        symbol = np.array([place[name[:-2]] for name in made.symbols])
        stage = np.array([int(name[-1]) for name in made.symbols])
        numbers = np.empty(len(made.lhs), dtype=np.int64)
        for rule, p in made.number.items():
            numbers[p] = origin[rule]
        return cls(made, symbol, stage, numbers)

    def scores(self, scores: Any, held: HeldSpans) -> Any:
        """Return the scores of one sentence by stages, minus infinity for what is barred."""
        done = self.stage == DONE
        out = held.barred[:, self.symbol]
        out |= np.where(held.needed[:, self.symbol], self.stage == BEFORE, self.stage == MET)
        span, first, last = (
            np.where(done, 0.0, block[:, self.symbol])
            for block in (scores.span, scores.first, scores.last)
        )
        span = np.where(out, -np.inf, span if len(span) else 0.0)
        span[:, done] = 0.0
        length = len(scores.tag)
        t = np.arange(length)
        single = t * (2 * length - t + 1) // 2  # where the spans (t, t + 1) stand
        tag = np.where(out[single], -np.inf, scores.tag[:, self.symbol])
        rule = np.where(self.origin < 0, 0.0, scores.rule[self.origin])
        return type(scores)(tag, first, last, span, rule)

    def plain(self, nodes: Ints, plain: Productions) -> Ints:
        """Return the nodes of a tree without stages."""
        cell, production = np.divmod(nodes, len(self.made.lhs))
        origin = self.origin[production]
        return np.sort((cell * len(plain.lhs) + origin)[origin >= 0])
