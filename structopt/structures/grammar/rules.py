r"""The rules of a grammar: read, checked, and as the arrays that decoders walk over.

    A -> B C    (binary),      A -> B    (unary),      A -> 'word'    (a tag and a word).

>>> rules, words = read_rules("S -> NP VP | VP\nNP -> D N\nN -> 'dog' | 'cat'")
>>> rules
(('NP', ('D', 'N')), ('S', ('NP', 'VP')), ('S', ('VP',)))
>>> words
(('N', 'cat'), ('N', 'dog'))
>>> read_rules(["A -> B", "B -> A"])
Traceback (most recent call last):
structopt.errors.InvalidInputError: Unary rules go round in a circle, 'A' -> 'B' -> 'A': ...
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import networkx as nx
import numpy as np

from structopt.arrays import Ints
from structopt.errors import InvalidInputError

Rule = tuple[str, tuple[str, ...]]
WRITTEN = "write 'A -> B C', 'A -> B', or for words \"A -> 'dog'\""


def read_rules(given: Any) -> tuple[tuple[Rule, ...], tuple[tuple[str, str], ...]]:
    """Return rules over symbols, and (tag, word) pairs, each sorted and once.

    Parameters
    ----------
    given : str, or iterable of str or of (left, right) pairs
        Rules as text, one a line, alternatives parted by ``|``, words in quotes; a pair holds a
        symbol and the one or two symbols that it becomes.
    """
    scalar = getattr(given, "shape", None) == () or hasattr(given, "nnz")
    if isinstance(given, Mapping) or scalar or not isinstance(given, Iterable):
        raise InvalidInputError(f"rules is a {type(given).__name__}: {WRITTEN}.")
    rules: set[Rule] = set()
    words: set[tuple[str, str]] = set()
    for entry in given.splitlines() if isinstance(given, str) else given:
        for left, right in _alternatives(entry):
            quoted = [s[0] in "'\"" and s[-1] == s[0] and len(s) > 2 for s in right]
            if len(right) == 1 and quoted[0]:
                words.add((left, right[0][1:-1]))
            elif any(quoted) or not 1 <= len(right) <= 2:
                raise InvalidInputError(
                    f"The rule {left} -> {' '.join(right)} has {len(right)} symbols on its right, "
                    "or words beside others: one or two symbols may stand there, or one word. Trees"
                    " with more children are made binary by so.binarised."
                )
            else:
                rules.add((left, right))
    if not rules and not words:
        raise InvalidInputError(f"The grammar is empty: it has no rules; {WRITTEN}.")
    check_acyclic(rules)
    return tuple(sorted(rules)), tuple(sorted(words))


def check_acyclic(rules: Iterable[Rule]) -> None:
    """Refuse unary rules by which a symbol becomes itself: it would have endlessly many trees."""
    unary = nx.DiGraph([(left, right[0]) for left, right in sorted(rules) if len(right) == 1])
    try:
        circle = [edge[0] for edge in nx.find_cycle(unary)]
    except nx.NetworkXNoCycle:
        return
    shown = " -> ".join(map(repr, [*circle, circle[0]]))
    raise InvalidInputError(
        f"Unary rules go round in a circle, {shown}: a sentence would have endlessly many trees. "
        "Leave out one of these rules (in trees read off, collapse the chain to one label)."
    )


def tags_of(rules: Iterable[Rule], lexicon: Any, leaves: Iterable[str]) -> tuple[str, ...]:
    """Return the symbols that may stand over tokens: those of words, or of leaves and no rule."""
    if lexicon is not None:
        return tuple(sorted({tag for tag, _ in lexicon}))
    rewritten = {left for left, _ in rules}
    below = {s for _, right in rules for s in right}
    return tuple(sorted(set(leaves) | (below - rewritten)))


def check_symbols(rules: Iterable[Rule], tags: tuple[str, ...], start: str) -> None:
    """Refuse symbols that are neither rewritten by a rule nor tags."""
    known = {left for left, _ in rules} | set(tags)
    for left, right in rules:
        odd = next((symbol for symbol in right if symbol not in known), None)
        if odd is not None:
            raise InvalidInputError(
                f"The symbol {odd!r} of the rule {left} -> {' '.join(right)} is unknown: no rule "
                "rewrites it and no word has it as its tag."
            )
    if start not in known:
        raise InvalidInputError(
            f"start is {start!r}, which no rule rewrites; the grammar has {sorted(known)}."
        )


def _alternatives(entry: Any) -> Iterable[Rule]:
    if isinstance(entry, str):
        left, arrow, right = entry.partition("->")
        if not entry.strip():
            return
        names = left.split()
        if not arrow or len(names) != 1:
            raise InvalidInputError(f"{entry!r} is no rule: {WRITTEN}.")
        for one in right.split("|"):
            yield names[0], tuple(one.split())
        return
    try:
        left, right = entry
        symbols = (right,) if isinstance(right, str) else tuple(right)
        bad = not all(isinstance(s, str) and s for s in (left, *symbols))
    except (TypeError, ValueError):
        bad = True
    if bad:
        raise InvalidInputError(f"{entry!r} is no rule: give (left, right), or {WRITTEN}.")
    yield left, symbols


@dataclass(frozen=True)
class Productions:
    """A grammar as arrays; productions are tags and rules in the order of the symbols they rewrite.

    Attributes
    ----------
    symbols : tuple of str
        Sorted; all arrays say symbols by their place here.
    lhs : array of int
        The symbol that each production rewrites, not falling.
    below : array of int, two columns
        The symbols that each production rewrites it to, -1 where there are fewer (tags: none).
    rule : array of int
        Which rule each production is, -1 for tags.
    tag : array of int
        The production by which a symbol is a tag, -1 if it is none.
    left_ptr, binary : arrays
        Binary rules by their left child: rows (production, symbol, right child).
    unary : array
        Rows (production, symbol, child), such that a child's own come before.
    depth : array of int
        Symbols in an order in which unary rules lead down.
    start : int
    number : dict
        Each production by its symbols, ``(left, (right, ...))``.
    """

    symbols: tuple[str, ...]
    lhs: Ints
    below: Ints
    rule: Ints
    tag: Ints
    left_ptr: Ints
    binary: Ints
    unary: Ints
    depth: Ints
    start: int
    number: dict[Rule, int]

    @property
    def arrays(self) -> tuple[Any, ...]:
        """What the decoders read."""
        graph = (self.left_ptr, self.binary, self.unary)
        return self.lhs, self.below, self.tag, *graph, self.start


@lru_cache(maxsize=64)
def compiled(rules: tuple[Rule, ...], tags: tuple[str, ...], start: str) -> Productions:
    """Return the productions of checked rules.

    >>> made = compiled((("S", ("A", "A")),), ("A",), "S")
    >>> made.symbols, made.lhs, made.rule, made.tag
    (('A', 'S'), array([0, 1]), array([-1,  0]), array([ 0, -1]))
    """
    used = {left for left, _ in rules} | {s for _, right in rules for s in right}
    symbols = tuple(sorted(used | set(tags) | {start}))
    place = {s: k for k, s in enumerate(symbols)}
    rows: list[tuple[int, tuple[int, ...], int]] = [(place[t], (), -1) for t in tags]
    rows += [(place[a], tuple(place[b] for b in right), r) for r, (a, right) in enumerate(rules)]
    rows.sort()
    lhs, below = [row[0] for row in rows], tuple(row[1] for row in rows)
    tag = np.full(len(symbols), -1)
    for p, symbol in enumerate(lhs):
        if not below[p]:
            tag[symbol] = p
    graph = nx.DiGraph([(lhs[p], b[0]) for p, b in enumerate(below) if len(b) == 1])
    graph.add_nodes_from(range(len(symbols)))
    depth = np.zeros(len(symbols), dtype=np.int64)
    depth[list(nx.lexicographical_topological_sort(graph))] = np.arange(len(symbols))
    binary = sorted((b[0], p, lhs[p], b[1]) for p, b in enumerate(below) if len(b) == 2)
    unary = [(p, lhs[p], b[0]) for p, b in enumerate(below) if len(b) == 1]
    unary.sort(key=lambda row: -depth[row[1]])
    counts = np.bincount(np.array([row[0] for row in binary], dtype=int), minlength=len(symbols))
    return Productions(
        symbols, np.array(lhs), np.array([(*b, -1, -1)[:2] for b in below]),
        np.array([row[2] for row in rows]), tag,
        np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        np.array([row[1:] for row in binary], dtype=np.int64).reshape(-1, 3),
        np.array(unary, dtype=np.int64).reshape(-1, 3), depth, place[start],
        {(symbols[a], tuple(symbols[b] for b in right)): p
         for p, (a, right, _) in enumerate(rows)},
    )  # fmt: skip
