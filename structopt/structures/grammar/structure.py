r"""Constituency trees: the derivations of a sentence by a weighted context-free grammar.

    score(y) = sum over tokens t of W[tag_t] . x_t
             + sum over rules r of y of weight[r]
             + sum over labels A over tokens i .. j - 1 of (first[A] . x_i + last[A] . x_{j-1}
                                                            + V[A] . s_ij),
    loss(gold, y) = extra |y \ gold| + missed |gold \ y|,    trees as sets of brackets (i, j, A),

tags included. Binary and unary rules; trees have one derivation, so the k best are exact.

>>> import numpy as np, structopt as so
>>> X = [["the", "dog", "barks"], ["dogs", "bark"]]
>>> Y = [("S", ("NP", "D", "N"), ("VP", "V")), ("S", ("NP", "N"), ("VP", "V"))]
>>> structure = so.Grammar().fitted(X, Y)              # rules and words are read off the trees
>>> structure.rules_
(('NP', ('D', 'N')), ('NP', ('N',)), ('S', ('NP', 'VP')), ('VP', ('V',)))
>>> structure.predict([["the", "dogs", "bark"]], np.zeros(structure.n_features_))
[('S', ('NP', 'D', 'N'), ('VP', 'V'))]
>>> structure.loss(Y[1], ("S", ("NP", "N"), "VP"))
1.0
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np

from structopt.errors import InvalidInputError
from structopt.structures.base.packed import PackedStructure, check_decoder
from structopt.structures.base.sketch import Boxes, parts_of
from structopt.structures.base.structure import check_lengths
from structopt.structures.grammar.given import held_spans
from structopt.structures.grammar.inputs import (
    Vocabulary,
    are_words,
    read_sentences,
    split_input,
    vocabulary_of,
)
from structopt.structures.grammar.nodes import check_length, nodes_of, tree_of
from structopt.structures.grammar.rules import (
    Productions,
    Rule,
    check_acyclic,
    check_symbols,
    compiled,
    read_rules,
    tags_of,
)
from structopt.structures.grammar.shard import GrammarShard, Layout
from structopt.structures.grammar.trees import Node, brackets, productions
from structopt.structures.lattice.inputs import Paths
from structopt.structures.losses.part_costs import PartCosts


class Grammar(PackedStructure):
    r"""Trees of a grammar: X is a list of sentences, Y a list of trees (nested tuples).

    A sentence is a list of words, a (T, d) matrix of features (dense or sparse), or a pair of one
    of these and features of its spans: an array (T + 1, T + 1, e), [i, j] for the tokens i to
    j - 1, or T (T + 1) / 2 rows for the spans (0, 1), (0, 2), ..., (T - 1, T). A tree is a tag (a
    string) or a tuple ``(label, tree)`` or ``(label, tree, tree)``.

    Parameters
    ----------
    rules : str or iterable, optional
        ``"S -> NP VP"``, alternatives parted by ``|``, one a line or one an entry; words in quotes,
        ``"N -> 'dog'"``; or pairs ``("S", ("NP", "VP"))``. By default what gold trees use.
    start : str, optional
        The label of every tree's root; by default that of the gold trees.
    ends : bool
        Whether labels have weights for the first and the last token of their spans.
    loss : PartCosts, optional
        What a bracket too many and one too few cost; by default 1.
    decoder : {"compiled", "networkx"}
        Who decodes. "networkx" is the slow reference that the compiled kernels must agree with.

    Attributes
    ----------
    rules_ : tuple of (str, tuple of str)
    tags_ : tuple of str
        The symbols that stand over tokens: those that words have, that leaves of gold trees are,
        or that no rule rewrites.
    lexicon_ : tuple of (tag, word) or None
        Where sentences are words: a word has only the tags that rules (or gold trees) give it.
    start_ : str
    n_inputs_, n_spans_, n_features_ : int

    Raises
    ------
    InvalidInputError
        The grammar is empty, its unary rules go in circles, a symbol derives nothing; a gold tree
        uses a rule or a word that the grammar does not have; a sentence has no tree.

    Notes
    -----
    Decoding is CKY, O(T^3) times the rules; k best trees keep k derivations a span and symbol
    (Huang and Chiang 2005, algorithm 1), the best tree other than gold is one of two best.
    """

    releases_gil: ClassVar[bool] = True
    offers: ClassVar[frozenset[str]] = frozenset(
        {"argmax", "argmin", "second_best", "second_augmented", "k_best"}
    )

    rules_: tuple[Rule, ...]
    tags_: tuple[str, ...]
    lexicon_: tuple[tuple[str, str], ...] | None
    start_: str
    n_inputs_: int
    n_spans_: int

    def __init__(
        self, rules: Any = None, start: str | None = None, *, ends: bool = False, loss: Any = None,
        decoder: str = "compiled",
    ) -> None:  # fmt: skip
        self.rules, self.start, self.ends = rules, start, ends
        self.cost, self.decoder = loss, decoder

    # ------------------------------------------------------------------ fitting and encoding
    def fitted(self, X: Sequence[Any], Y: Sequence[Any]) -> Self:
        """Return a copy that knows the rules, the tags, the words and the dimension."""
        check_decoder(self.decoder)
        PartCosts.given(self.cost).checked(positive=True)
        check_lengths(X, Y)
        trees = [productions(y, i) for i, y in enumerate(Y)]
        tokens = [split_input(x)[0] for x in X]
        fitted = copy.copy(self)
        words = are_words(tokens[0])
        fitted.rules_, fitted.lexicon_ = self._grammar(trees, tokens if words else None)
        fitted.start_ = self._root(trees)
        leaves = {n.label for nodes in trees for n in nodes if not n.below}
        fitted.tags_ = tags_of(fitted.rules_, fitted.lexicon_, leaves)
        check_symbols(fitted.rules_, fitted.tags_, fitted.start_)
        first = read_sentences([X[0]], None, None, fitted._vocabulary())
        fitted.n_inputs_, fitted.n_spans_ = first.n_inputs, first.n_spans
        fitted.n_features_ = fitted._layout().n_features
        return fitted

    def pack(self, X: Any, Y: Sequence[Any] | None, start: int = 0) -> GrammarShard:
        """Return checked sentences as a shard."""
        vocabulary = self._vocabulary()
        sentences = read_sentences(X, self.n_inputs_, self.n_spans_, vocabulary, start)
        made, lengths = self._made(), np.diff(sentences.offsets)
        gold = Paths.stacked(
            [()] * len(lengths)
            if Y is None
            else [nodes_of(y, int(lengths[i]), made, start + i) for i, y in enumerate(Y)]
        )
        allowed = None if vocabulary is None else vocabulary.allowed
        shard = GrammarShard(
            sentences, made, self._layout(), gold, PartCosts.given(self.cost), allowed, start,
            self.decoder,
        )  # fmt: skip
        if vocabulary is not None:
            _check_words(shard, vocabulary)
        return shard

    def held(self, X: Any, given: Any, shard: Any) -> Any:
        """Return which labels may stand over each span, and one of which must."""
        symbols = self._made().symbols
        each = enumerate(zip(given, np.diff(shard.offsets).tolist(), strict=True), shard.start)
        return [held_spans(told, length, symbols, i) for i, (told, length) in each]

    def unpack(self, shard: GrammarShard, outputs: Any) -> list[Any]:
        """Return every tree as nested tuples."""
        lengths, made = np.diff(shard.offsets), self._made()
        return [tree_of(outputs.of(i), int(n), made) for i, n in enumerate(lengths)]

    # ------------------------------------------------------------------ what it means
    def joint_features(self, x: Any, y: Any) -> Any:
        """Return inputs summed by tag and label, and the counts of rules: a sparse row."""
        shard = self.pack([x], [y])
        n = np.array([0, len(shard.gold)])
        parts = shard.parts(n, shard.gold, np.ones(len(shard.gold)), np.zeros(1, dtype=np.int64))
        return parts.tocsr(shard.base, self.n_features_)

    def loss(self, y: Any, other: Any) -> float:
        """Return ``extra`` per bracket of ``other`` alone plus ``missed`` per one of y alone."""
        if self.own_loss is not None:
            return float(self.own_loss(y, other))
        return PartCosts.given(self.cost).of(brackets(y), brackets(other))

    def part_count(self, y: Any) -> int:
        """Return the number of brackets."""
        return len(brackets(y))

    def part_errors(self, y: Any, other: Any) -> int:
        """Return how many brackets are missing, or too many if those are more."""
        gold, found = brackets(y), brackets(other)
        return max(len(gold - found), len(found - gold))

    def sketch(self, x: Any, y: Any, shown: Any = None) -> Boxes:
        """Return the tree as boxes around its words."""
        nodes = productions(y)
        length = nodes[0].stop
        tokens = split_input(x)[0] if shown is None else shown
        words = parts_of(tokens, length) or [str(t) for t in range(1, length + 1)]
        return Boxes(tuple((node.start, node.stop, node.label) for node in nodes), words)

    def feature_names(self, inputs: Sequence[str] | None = None) -> list[tuple[str, str]]:
        """Return ``(feature, label)`` for each weight; tokens' inputs are x0, ... unless named."""
        layout, made = self._layout(), self._made()
        vocabulary = self._vocabulary()
        if inputs is None and vocabulary is not None:
            inputs = vocabulary.words
        named = [f"x{j}" for j in range(self.n_inputs_)] if inputs is None else list(inputs)
        labels = [made.symbols[k] for k in layout.labels]
        rows = [(name, tag) for tag in self.tags_ for name in named]
        for end in ("first ", "last ") if layout.ends else ():
            rows += [(end + name, label) for label in labels for name in named]
        rows += [(f"span s{j}", label) for label in labels for j in range(layout.n_spans)]
        return rows + [(f"-> {' '.join(right)}", left) for left, right in self.rules_]

    # ------------------------------------------------------------------ inside
    def _made(self) -> Productions:
        return compiled(self.rules_, self.tags_, self.start_)

    def _vocabulary(self) -> Vocabulary | None:
        return None if self.lexicon_ is None else vocabulary_of(self.lexicon_, self.tags_)

    def _layout(self) -> Layout:
        made = self._made()
        tags = np.flatnonzero(made.tag >= 0)
        labels = np.unique(made.lhs[made.rule >= 0])
        sizes = (self.n_inputs_, self.n_spans_, len(self.rules_))
        return Layout(tags, labels, *sizes, bool(self.ends))

    def _grammar(
        self, trees: list[list[Node]], tokens: list[Any] | None
    ) -> tuple[tuple[Rule, ...], tuple[tuple[str, str], ...] | None]:
        """Return the rules, and where sentences are words, which tags they have."""
        if self.rules is None:
            rules = {(n.label, n.below) for nodes in trees for n in nodes if n.below}
            check_acyclic(rules)
            found: tuple[Rule, ...] = tuple(sorted(rules))
            lexicon: tuple[tuple[str, str], ...] = ()
        else:
            found, lexicon = read_rules(self.rules)
        if tokens is None:
            if lexicon:
                raise InvalidInputError(
                    f"The rule {lexicon[0][0]} -> {lexicon[0][1]!r} names a word, and inputs are "
                    "features: give sentences as lists of words, or rules without words."
                )
            return found, None
        pairs = set(lexicon)
        for i, nodes in enumerate(trees if not lexicon else ()):
            leaves = [n.label for n in nodes if not n.below]
            check_length(len(leaves), len(tokens[i]), i)
            pairs |= set(zip(leaves, map(str, tokens[i]), strict=True))
        return found, tuple(sorted(pairs))

    def _root(self, trees: list[list[Node]]) -> str:
        if self.start is not None:
            return self.start
        for i, nodes in enumerate(trees):
            if nodes[0].label != trees[0][0].label:
                raise InvalidInputError(
                    f"The tree of example {i} has the root {nodes[0].label!r}, that of example 0 "
                    f"{trees[0][0].label!r}: put one label over all trees.",
                    example=i,
                )
        return trees[0][0].label


def _check_words(shard: GrammarShard, vocabulary: Vocabulary) -> None:
    """Refuse gold tags that a word cannot have."""
    of = np.repeat(np.arange(shard.n_examples), np.diff(shard.gold_ptr))
    cell, production = np.divmod(shard.gold, len(shard.made.lhs))
    leaf = shard.made.rule[production] < 0
    symbol, of = shard.made.lhs[production[leaf]], of[leaf]
    token = shard.offsets[of] + cell[leaf] // (np.diff(shard.offsets)[of] + 1)
    assert shard.words is not None
    place = np.searchsorted(shard.layout.tags, symbol)
    bad = np.flatnonzero(~vocabulary.allowed[shard.words[token], place])
    if len(bad):
        k = int(bad[0])
        word, tag = vocabulary.words[shard.words[token[k]]], shard.made.symbols[symbol[k]]
        example = shard.start + int(of[k])
        raise InvalidInputError(
            f"The tree of example {example} has {tag!r} over the word {word!r}, which the grammar "
            f"has no rule for ({tag} -> {word!r}).",
            example=example,
        )
