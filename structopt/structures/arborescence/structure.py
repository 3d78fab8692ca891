r"""A head for every token of a sentence: dependency trees as spanning arborescences.

    score(y) = sum_m w . f(y_m, m),    loss(gold, y) = sum_m [y_m != gold_m],

where y_m is the head of token m = 1 .. T, 0 is the root, f(h, m) are the features of the arc from
h to m, and y must be a tree that hangs on the root. The loss is one minus the unlabelled
attachment score, times T.

>>> import numpy as np, structopt as so
>>> x = np.zeros((3, 2, 1))  # heads (root, 1, 2) x dependents (1, 2) x features
>>> x[0, 0], x[0, 1], x[1, 1], x[2, 0] = 1, 2, 5, 7
>>> structure = so.Arborescence().fitted([x], [[0, 1]])
>>> structure.argmax(x, np.ones(1)), structure.argmin(x, np.ones(1))
([2, 0], [0, 0])
>>> structure.k_best(x, np.ones(1), 5)
[[2, 0], [0, 1], [0, 0]]
>>> structure.joint_features(x, [2, 0]).toarray()
array([[9.]])
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp

from structopt.arrays import Floats, Ints
from structopt.errors import InvalidInputError
from structopt.structures.arborescence.inputs import Sentences, stack_sentences
from structopt.structures.arborescence.projective_reference import crossing
from structopt.structures.arborescence.shard import ArborescenceShard
from structopt.structures.base.costed import costs_of, plain
from structopt.structures.base.given import held_parts, listed, permitted
from structopt.structures.base.labels import LabelSet
from structopt.structures.base.packed import PackedStructure, check_decoder
from structopt.structures.base.sketch import Arcs as ArcSketch
from structopt.structures.base.sketch import parts_of
from structopt.structures.base.structure import check_lengths


class Arborescence(PackedStructure):
    r"""Dependency trees: X is a list of sentences with features on arcs, Y a list of heads.

    Parameters
    ----------
    single_root : bool
        Whether exactly one token may hang on the root.
    decoder : {"compiled", "networkx"}
        Who decodes. "networkx" is the slow reference that the compiled kernels must agree with.
    loss : optional
        By default a wrong head costs 1. An object with ``by_arc(heads)``, which returns for gold
        heads (-1 where one is unknown) the costs [head, token] of all arcs, 0 for those of gold; or
        one with an oracle of its own.
    projective : bool
        Whether arcs may not cross when all are drawn above the sentence, the root in front; gold
        trees that do are refused.

    Attributes
    ----------
    n_features_ : int
        Features of an arc, and weights.

    Notes
    -----
    A sentence of T tokens is an array (T + 1, T, d) of heads x dependents x features; a sparse
    matrix with (T + 1) T rows in that order; a pair (arcs, features) of some candidate arcs, (m, 2)
    integers (head, dependent) with the root 0 and tokens from 1, and their m rows; or a
    networkx.DiGraph with nodes 0 .. T and an attribute "features" on its edges. An output is a list
    of T heads. Decoding is Edmonds' algorithm in O(T^2), the best tree other than gold takes up to
    T of these, and k trees up to k T; projective trees are Eisner's, O(k T^3) for the k best.
    """

    releases_gil: ClassVar[bool] = True
    offers: ClassVar[frozenset[str]] = frozenset(
        {"argmax", "argmin", "second_best", "second_augmented", "k_best"}
    )

    def __init__(
        self,
        single_root: bool = False,
        decoder: str = "compiled",
        loss: Any = None,
        projective: bool = False,
    ) -> None:
        self.single_root = single_root
        self.decoder = decoder
        self.cost = loss
        self.projective = projective

    # ------------------------------------------------------------------ fitting and encoding
    def fitted(self, X: Sequence[Any], Y: Sequence[Any]) -> Self:
        """Return a copy that knows the number of features."""
        check_decoder(self.decoder)
        check_lengths(X, Y)
        if not (self.cost is None or hasattr(self.cost, "by_arc") or self.own_loss is not None):
            raise InvalidInputError(
                f"loss is {self.cost!r}, which is no sum over arcs and brings no oracle: give an "
                "object with by_arc(heads) -> costs [head, token], or with argmax(structure, x, "
                "weights, gold); costs of each example come as so.losses.Costed."
            )
        fitted = copy.copy(self)
        fitted.n_features_ = int(stack_sentences([X[0]]).features.shape[1])
        return fitted

    def pack(self, X: Any, Y: Sequence[Any] | None, start: int = 0) -> ArborescenceShard:
        """Return checked sentences as a shard."""
        sentences, gold = self._stack(X, Y, start, partial=True)
        cost = None if Y is None else self._arc_costs(sentences, Y, gold, start)
        given = (bool(self.single_root), start, self.decoder, cost, bool(self.projective))
        shard = ArborescenceShard(sentences, gold, *given)
        if not np.any(gold < 0):
            return shard
        shard.known = gold
        return shard.completed(np.zeros(self.n_features_))

    def held(self, X: Any, given: Any, shard: Any) -> Any:
        """Return which arcs are allowed: heads as given, by token or by arc."""
        rows = [self._given(shard, i, told) for i, told in enumerate(given)]
        return np.concatenate(rows)

    def unpack(self, shard: ArborescenceShard, outputs: Any) -> list[list[int]]:
        """Return the heads of every sentence's tokens."""
        heads = shard.head[outputs].tolist()
        return [heads[a:b] for a, b in pairwise(shard.tokens.tolist())]

    # ------------------------------------------------------------------ what it means
    def joint_features(self, x: Any, y: Any) -> Any:
        """Return the summed features of the arcs of y: a sparse row."""
        sentences, arcs = self._stack([x], [y])
        ones = sp.csr_array(np.ones((1, len(arcs))))
        return sp.csr_array(ones @ sp.csr_array(sentences.features)[arcs])

    def loss(self, y: Any, other: Any) -> float:
        """Return the number of tokens whose head differs, or what their arcs cost."""
        if self.own_loss is not None:
            return float(self.own_loss(y, other))
        if costs_of(y) is None and self.cost is None:
            return float(self.part_errors(y, other))
        gold, predicted = _heads(plain(y), partial=True), _heads(other)
        table = self._cost_table(y, gold)
        return float(table[predicted, np.arange(len(gold))].sum())

    def part_count(self, y: Any) -> int:
        """Return the number of tokens whose head is known."""
        return int(np.count_nonzero(_heads(plain(y), partial=True) >= 0))

    def part_errors(self, y: Any, other: Any) -> int:
        """Return the number of tokens whose head differs: T times one minus the UAS."""
        gold, predicted = _heads(plain(y), partial=True), _heads(other)
        if len(gold) != len(predicted):
            raise InvalidInputError(
                f"Outputs of {len(gold)} and {len(predicted)} heads cannot be compared."
            )
        return int(np.count_nonzero((gold != predicted) & (gold >= 0)))

    def feature_names(self, inputs: Sequence[str] | None = None) -> list[tuple[str, str]]:
        """Return ``(feature, "arc")`` for each weight; features are x0, x1, ... unless named."""
        columns = [f"x{j}" for j in range(self.n_features_)] if inputs is None else inputs
        return [(name, "arc") for name in columns]

    def sketch(self, x: Any, y: Any, shown: Any = None) -> ArcSketch:
        """Return the arcs over the words of a sentence."""
        heads = tuple(_heads(plain(y), partial=True).tolist())
        return ArcSketch(heads, parts_of(shown, len(heads)))

    # ------------------------------------------------------------------ inside
    def _given(self, shard: ArborescenceShard, i: int, told: Any) -> Any:
        """Return the arcs of sentence i that what is given allows."""
        own = slice(int(shard.arcs[i]), int(shard.arcs[i + 1]))
        head, dependent, number = shard.head[own], shard.dependent[own], shard.start + i
        if isinstance(told, Mapping):
            arcs = list(zip(head.tolist(), dependent.tolist(), strict=True))
            held = held_parts(told, arcs, number)
            taken = np.isin(dependent, dependent[held == 1])  # a token has one head
            return np.where(taken, held == 1, held != 0)
        n = int(shard.tokens[i + 1] - shard.tokens[i])
        heads, names = LabelSet(range(n + 1)), range(1, n + 1)
        entries = zip(names, listed(told, names, number), strict=True)
        table = [permitted(entry, heads, f"token {m}", number) for m, entry in entries]
        return np.array(table)[dependent - 1, head]

    def _arc_costs(self, s: Sentences, Y: Sequence[Any], gold: Ints, start: int) -> Floats:
        """Return what each candidate arc costs, nothing where the head of its token is unknown."""
        cost = np.ones(len(s.head))
        cost[gold[gold >= 0]] = 0.0
        token = np.repeat(s.tokens[:-1], np.diff(s.arcs)) + s.dependent - 1
        cost[gold[token] < 0] = 0.0
        plainly = self.cost is None or self.own_loss is not None
        for i, y in enumerate(Y):
            if plainly and costs_of(y) is None:
                continue
            own = slice(int(s.arcs[i]), int(s.arcs[i + 1]))
            table = self._cost_table(y, _heads(plain(y), start + i, partial=True), start + i)
            cost[own] = table[s.head[own], s.dependent[own] - 1]
        return cost

    def _cost_table(self, y: Any, heads: Ints, example: int | None = None) -> Floats:
        """Return the cost of each [head, token] where some heads are right; checked."""
        n = len(heads)
        known = np.flatnonzero(heads >= 0)
        table = np.zeros((n + 1, n))
        table[:, known] = 1.0
        table[heads[known], known] = 0.0
        if hasattr(self.cost, "by_arc"):
            table = np.array(self.cost.by_arc(heads), dtype=np.float64)
        brought = costs_of(y)
        if brought is not None:
            table = table * brought if brought.shape in ((), (n,)) else brought.copy()
        problem = ""
        if table.shape != (n + 1, n):
            problem = f"have shape {table.shape}: give ({n},) or ({n + 1}, {n}), [head, token]"
        elif not np.all(np.isfinite(table) & (table >= 0)):
            problem = "must be finite and at least 0"
        elif np.any(table[heads[known], known]):
            problem = "must be 0 for the arcs of gold"
        if problem:
            where = "" if example is None else f" of example {example}"
            raise InvalidInputError(f"The costs of arcs{where} {problem}.", example=example)
        table[:, heads < 0] = 0.0
        return table

    def _stack(
        self, X: Any, Y: Sequence[Any] | None, start: int = 0, partial: bool = False
    ) -> tuple[Sentences, Ints]:
        """Return checked sentences and the rows of gold arcs (zeros without Y)."""
        s = stack_sentences(X, self.n_features_, start=start)
        gold = np.zeros(s.tokens[-1], dtype=np.int64)
        for i, y in enumerate(() if Y is None else Y):
            a, b = int(s.tokens[i]), int(s.tokens[i + 1])
            heads = self._tree(plain(y), b - a, start + i, partial)
            row = np.full((b - a + 1, b - a + 1), -1)
            own = slice(int(s.arcs[i]), int(s.arcs[i + 1]))
            row[s.head[own], s.dependent[own]] = np.arange(own.start, own.stop)
            gold[a:b] = np.where(heads < 0, -1, row[heads, np.arange(1, b - a + 1)])
            if np.any((gold[a:b] < 0) & (heads >= 0)):
                m = int(np.argmax((gold[a:b] < 0) & (heads >= 0)))
                raise InvalidInputError(
                    f"The arc ({heads[m]}, {m + 1}) of the output of example {start + i} is not "
                    "among its candidates.",
                    example=start + i,
                )
        return s, gold

    def _tree(self, y: Any, length: int, example: int, partial: bool = False) -> Ints:
        """Return heads as integers, -1 where one is unknown; refuse what is not a tree."""
        heads = _heads(y, example, partial)
        if len(heads) != length:
            raise InvalidInputError(
                f"Example {example} has {length} tokens but {len(heads)} heads.", example=example
            )
        problem = ""
        open_ = np.any(heads == -1) and partial
        outside = ((heads < 0) & (not open_ or heads != -1)) | (heads > length)
        if np.any(outside):
            m = int(np.argmax(outside))
            problem = f"token {m + 1} has the head {heads[m]}, not one of 0 to {length}"
        elif open_:
            return heads  # whether they can be completed the decoder says
        elif self.single_root and np.count_nonzero(heads == 0) != 1:
            roots = np.count_nonzero(heads == 0)
            problem = f"{roots} tokens hang on the root, and single_root asks for one"
        else:
            up = np.concatenate([[0], heads])
            reached = up
            for _ in range(length.bit_length()):  # pointers jump twice as far each time
                reached = reached[reached]
            crossed = crossing(heads.tolist()) if self.projective else None
            if reached.any():
                problem = f"token {int(np.argmax(reached > 0))} is on or below a cycle of heads"
            elif crossed is not None:
                problem = (
                    f"it is not projective, its arcs {crossed[0]} and {crossed[1]} cross (leave out"
                    " such examples, or projective=True)"
                )
        if problem:
            raise InvalidInputError(
                f"The output of example {example} is no tree: {problem}.", example=example
            )
        return heads


def _heads(y: Any, example: int | None = None, partial: bool = False) -> Ints:
    """Return a sequence of heads as integers; if it may be partial, -1 for None."""
    try:
        heads = np.asarray(y if isinstance(y, np.ndarray) else list(y))
        if partial and heads.dtype == object and any(head is None for head in heads):
            heads = np.asarray([-1 if head is None else head for head in heads])
    except (TypeError, ValueError):
        heads = np.zeros(0)
    if heads.ndim != 1 or heads.dtype.kind not in "iu":
        where = "" if example is None else f" of example {example}"
        raise InvalidInputError(
            f"The output{where} is {y!r}: give the head of every token as an integer, 0 for the "
            "root.",
            example=example,
        )
    return heads.astype(np.int64)
