"""A tiny random problem of constituency trees."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from structopt.arrays import Floats
from structopt.structures.base.small import Small, chosen, numbers
from structopt.structures.grammar.structure import Grammar
from structopt.structures.grammar.trees import brackets, productions
from structopt.structures.losses.part_costs import PartCosts

POOL = (
    "S -> A B", "S -> S A", "S -> A", "S -> a b", "A -> a", "A -> b A", "A -> a b", "A -> B",
    "B -> b", "B -> A a", "B -> b b", "S -> B S",
)  # fmt: skip
WORDS = {"u": "a", "v": "b", "w": "ab"}  # the tags of each
MOST = 20  # trees of a sentence


def every_tree(rules: Any, tags: Any, symbol: str, i: int, j: int) -> list[Any]:
    """Return all trees with a symbol over tokens i to j - 1, whose tags are ``tags[t]``."""
    found: list[Any] = [symbol] if j == i + 1 and symbol in tags[i] else []
    for left, right in rules:
        if left == symbol and len(right) == 1:
            found += [(symbol, t) for t in every_tree(rules, tags, right[0], i, j)]
        elif left == symbol:
            for m in range(i + 1, j):
                first = every_tree(rules, tags, right[0], i, m)
                second = every_tree(rules, tags, right[1], m, j) if first else []
                found += [(symbol, a, b) for a in first for b in second]
    return found


def small(rng: np.random.Generator) -> Small:
    """Return three sentences of up to four tokens: words or features, spans with some or none."""
    whole, wordy, ends, sparse = (bool(b) for b in rng.integers(2, size=4))
    d, e = int(rng.integers(1, 3)), int(rng.integers(3))
    extra, missed = (float(cost) for cost in rng.choice([0.5, 1.0, 2.0], 2))
    while True:
        lines = [POOL[r] for r in sorted(rng.permutation(len(POOL))[: int(rng.integers(4, 10))])]
        rules = sorted((line[0], tuple(line.split()[2:])) for line in lines)
        rewritten = {left for left, _ in rules}
        known = rewritten | {"a", "b"} if wordy else set("SABab")
        if "S" not in rewritten or any(s not in known for _, right in rules for s in right):
            continue
        both = {"a", "b"} if wordy else {s for _, right in rules for s in right} - rewritten
        drawn = [list(rng.choice(list(WORDS), int(rng.integers(1, 5)))) for _ in range(12)]

        def outputs(x: Any, rules: Any = rules, both: Any = both) -> list[Any]:
            tokens = x[0] if isinstance(x, tuple) else x
            tags = [set(WORDS[t]) for t in tokens] if wordy else [both] * tokens.shape[0]
            return every_tree(rules, tags, "S", 0, len(tags))

        X = [_input(rng, [str(w) for w in s] if wordy else len(s), d, e, whole, sparse)
             for s in drawn]  # fmt: skip
        X = [x for x in X if 1 <= len(outputs(x)) <= MOST][:3]
        if len(X) == 3 and sum(len(outputs(x)) for x in X) > 5:
            break
    if wordy:
        lines += ["a -> 'u' | 'w'", "b -> 'v' | 'w'"]
    made = Grammar(lines, "S", ends=ends, loss=PartCosts(extra, missed))
    tags, labels = sorted(both), sorted(rewritten)
    width = 3 if wordy else d

    def features(x: Any, y: Any) -> Floats:
        tokens, spans = x if isinstance(x, tuple) else (x, None)
        rows = np.eye(3)[["uvw".index(t) for t in tokens]] if wordy else _dense(tokens)
        by_tag, by_rule = np.zeros((len(tags), width)), np.zeros(len(rules))
        by_end = np.zeros((2, len(labels), width))
        by_span = np.zeros((len(labels), e))
        for i, j, label, below in productions(y):
            if not below:
                by_tag[tags.index(label)] += rows[i]
                continue
            by_rule[rules.index((label, below))] += 1
            by_end[:, labels.index(label)] += rows[[i, j - 1]]
            if spans is not None:
                by_span[labels.index(label)] += spans[i, j]
        kept = [by_tag, *([by_end] if ends else []), by_span, by_rule]
        return np.concatenate([part.ravel() for part in kept])

    def loss(gold: Any, y: Any) -> float:
        a, b = brackets(gold), brackets(y)
        return extra * len(b - a) + missed * len(a - b)

    return Small(made, X, [chosen(rng, outputs(x)) for x in X], outputs, features, loss)


def _input(rng: Any, tokens: Any, d: int, e: int, whole: bool, sparse: bool) -> Any:
    length = tokens if isinstance(tokens, int) else len(tokens)
    if isinstance(tokens, int):
        tokens = numbers(rng, whole, length, d)
        tokens = sp.csr_array(tokens) if sparse else tokens
    return (tokens, numbers(rng, whole, length + 1, length + 1, e)) if e else tokens


def _dense(rows: Any) -> Any:
    return rows.toarray() if sp.issparse(rows) else rows
