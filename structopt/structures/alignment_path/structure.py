r"""Alignments of two sequences: edit operations with affine gaps, global or local.

An alignment is the set of its matches (i, j): positions of the first and of the second sequence
that grow together. What lies between two matches is left out, of the first sequence (deleted) and
of the second (inserted), each a gap that costs once to open and for every symbol in it:

    score(y) = sum over matches (i, j) of S[a_i, b_j]                   (or w . x_ij)
             + sum over deleted i of D[a_i] + sum over inserted j of I[b_j]     (or one weight each)
             + opened gaps of either kind times their weight,
    loss(gold, y) = extra |y \ gold| + missed |gold \ y|,     alignments as sets of matches.

Global alignments (Needleman-Wunsch) use up both sequences; local ones (Smith-Waterman) begin and
end with a match, and what stays outside costs nothing.

>>> import numpy as np, structopt as so
>>> X, Y = [("kitten", "sitting")], [[(0, 0), (1, 1), (2, 2), (3, 3), (4, 4), (5, 5)]]
>>> structure = so.AlignmentPath().fitted(X, Y)
>>> names = structure.feature_names()
>>> cost = {"match": lambda f: 0.0 if f[0] == f[-1] else -1.0, "open": lambda f: 0.0}
>>> weights = np.array([cost.get(kind, lambda f: -1.0)(feature) for feature, kind in names])
>>> y = structure.argmax(*X, weights)
>>> len(y), structure.joint_features(X[0], y) @ weights        # Levenshtein's distance is 3
(6, array([-3.]))
>>> structure.operations(X[0], y)
'MMMMMMI'
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp

from structopt.arrays import Ints
from structopt.errors import InvalidInputError
from structopt.structures.alignment_path.inputs import are_symbols, read_pairs
from structopt.structures.alignment_path.shard import AlignmentPathShard
from structopt.structures.base.given import held_parts
from structopt.structures.base.packed import PackedStructure, check_decoder
from structopt.structures.base.sketch import Links
from structopt.structures.base.structure import check_lengths
from structopt.structures.lattice.inputs import Paths
from structopt.structures.losses.part_costs import PartCosts

Matches = frozenset[tuple[int, int]]


class AlignmentPath(PackedStructure):
    r"""Alignments: X is a list of pairs of sequences, Y a list of sets of matches (i, j).

    An input is a pair of sequences of symbols (two strings, or two lists of strings), or an array
    (n, m, d) with features of every pair of positions.

    Parameters
    ----------
    local : bool
        Whether alignments are local: they begin and end with a match (or are empty), and what
        stays outside costs nothing.
    symbols : sequence of str, optional
        The alphabet of both sequences; by default what the data has, sorted.
    loss : PartCosts, optional
        What a match that gold lacks, and one of gold that is missed, cost; by default 1.
    decoder : {"compiled", "networkx"}
        Who decodes. "networkx" is the slow reference that the compiled kernels must agree with.

    Attributes
    ----------
    symbols_ : tuple of str or None
    n_inputs_ : int
        Weights of matches: those of pairs of symbols, or d.
    n_features_ : int

    Notes
    -----
    Gotoh's three tables, O(k n m) for the k best; deletions before insertions in a gap, so that an
    alignment has one derivation. The best one other than gold is one of two best.
    """

    releases_gil: ClassVar[bool] = True
    offers: ClassVar[frozenset[str]] = frozenset(
        {"argmax", "argmin", "second_best", "second_augmented", "k_best"}
    )

    symbols_: tuple[str, ...] | None
    n_inputs_: int

    def __init__(
        self, local: bool = False, symbols: Sequence[str] | None = None, loss: Any = None,
        decoder: str = "compiled",
    ) -> None:  # fmt: skip
        self.local, self.symbols = local, symbols
        self.cost, self.decoder = loss, decoder

    # ------------------------------------------------------------------ fitting and encoding
    def fitted(self, X: Sequence[Any], Y: Sequence[Any]) -> Self:
        """Return a copy that knows the alphabet and the dimension."""
        check_decoder(self.decoder)
        PartCosts.given(self.cost).checked(positive=True)
        check_lengths(X, Y)
        fitted = copy.copy(self)
        if are_symbols(X[0]):
            seen = {s for x in X if are_symbols(x) for one in x for s in one}
            fitted.symbols_ = tuple(sorted(seen)) if self.symbols is None else tuple(self.symbols)
            strings = all(isinstance(s, str) for s in fitted.symbols_)
            if not strings or len(set(fitted.symbols_)) < len(fitted.symbols_):
                raise InvalidInputError("symbols must be strings, each once.")
            fitted.n_inputs_ = len(fitted.symbols_) ** 2
            fitted.n_features_ = fitted.n_inputs_ + 2 * len(fitted.symbols_) + 2
        else:
            fitted.symbols_, fitted.n_inputs_ = None, int((np.shape(X[0]) or (0,))[-1])
            fitted.n_features_ = fitted.n_inputs_ + 4
        read_pairs([X[0]], fitted.symbols_, fitted.n_inputs_)
        return fitted

    def pack(self, X: Any, Y: Sequence[Any] | None, start: int = 0) -> AlignmentPathShard:
        """Return checked pairs as a shard."""
        pairs = read_pairs(X, self.symbols_, self.n_inputs_, start)
        sizes = zip(np.diff(pairs.a_ends).tolist(), np.diff(pairs.b_ends).tolist(), strict=True)
        gold: list[Any] = [()] * (len(pairs.a_ends) - 1)
        if Y is not None:
            each = zip(Y, sizes, strict=True)
            gold = [_codes(y, n, m, start + e) for e, (y, (n, m)) in enumerate(each)]
        costs, local = PartCosts.given(self.cost), bool(self.local)
        given = (Paths.stacked(gold), costs, local, start, self.decoder)
        return AlignmentPathShard(pairs, self.n_features_, *given)

    def held(self, X: Any, given: Any, shard: Any) -> Any:
        """Return which matches are held in and out: 1 and 0, -1 where nothing is given."""
        sizes = (np.diff(ends).tolist() for ends in (shard.a_ends, shard.b_ends))
        each = enumerate(zip(given, *sizes, strict=True), shard.start)
        return np.concatenate(
            [held_parts(told, list(np.ndindex(n, m)), i) for i, (told, n, m) in each]
        )

    def unpack(self, shard: AlignmentPathShard, outputs: Any) -> list[Matches]:
        """Return every alignment as a frozenset of matches (i, j)."""
        widths = np.diff(shard.b_ends).tolist()
        return [
            frozenset(divmod(code, m) for code in outputs.of(e).tolist())
            for e, m in enumerate(widths)
        ]

    # ------------------------------------------------------------------ what it means
    def joint_features(self, x: Any, y: Any) -> Any:
        """Return the counts (or summed features) of the operations: a sparse row."""
        shard = self.pack([x], [y])
        one = (shard.anchor, Paths.stacked([()]), np.zeros(1, dtype=np.int64))
        row = shard.differing(*one).tocsr(shard.base, self.n_features_)
        if not self.local:  # there all is left out where nothing is matched, in a gap of each kind
            nothing = np.bincount(
                np.concatenate([shard.deleted, shard.inserted]), minlength=self.n_features_
            )
            nothing[-2:] = 1
            row = row + sp.csr_array(nothing[None])
        return row

    def loss(self, y: Any, other: Any) -> float:
        """Return ``extra`` per match of ``other`` alone plus ``missed`` per match of y alone."""
        if self.own_loss is not None:
            return float(self.own_loss(y, other))
        return PartCosts.given(self.cost).of(_matches(y), _matches(other))

    def part_count(self, y: Any) -> int:
        """Return the number of matches, at least 1."""
        return max(1, len(_matches(y)))

    def part_errors(self, y: Any, other: Any) -> int:
        """Return how many matches are missing, or too many if those are more."""
        gold, found = _matches(y), _matches(other)
        return max(len(gold - found), len(found - gold))

    def sketch(self, x: Any, y: Any, shown: Any = None) -> Links:
        """Return the matches between the symbols of two sequences."""
        sides = x if are_symbols(x) else [range(1, n + 1) for n in np.shape(x)[:2]]
        left, right = (list(side) for side in (sides if shown is None else shown))
        return Links(frozenset((int(i), int(j)) for i, j in _matches(y)), left, right)

    def feature_names(self, inputs: Sequence[str] | None = None) -> list[tuple[str, str]]:
        """Return ``(feature, operation)`` for each weight."""
        if self.symbols_ is None:
            columns = [f"x{j}" for j in range(self.n_inputs_)] if inputs is None else inputs
            rows = [(name, "match") for name in columns] + [("", "delete"), ("", "insert")]
        else:
            rows = [(f"{a} ~ {b}", "match") for a in self.symbols_ for b in self.symbols_]
            rows += [(a, kind) for kind in ("delete", "insert") for a in self.symbols_]
        return [*rows, ("delete", "open"), ("insert", "open")]

    def operations(self, x: Any, y: Any) -> str:
        """Return an alignment as letters: M (match), D (delete), I (insert)."""
        n, m = (len(x[0]), len(x[1])) if are_symbols(x) else np.shape(x)[:2]
        matches = [divmod(code, m) for code in _codes(y, n, m, None).tolist()]
        if self.local and not matches:
            return ""
        done = matches[0] if self.local else (0, 0)
        letters = ""
        for i, j in [*matches, *([] if self.local else [(n, m)])]:
            letters += "D" * (i - done[0]) + "I" * (j - done[1]) + "M"
            done = (i + 1, j + 1)
        return letters if self.local else letters[:-1]


def _matches(y: Any) -> set[Any]:
    try:
        return {(int(i), int(j)) for i, j in y}
    except (TypeError, ValueError):
        raise InvalidInputError(f"An alignment is pairs (i, j) of positions, not {y!r}.") from None


def _codes(y: Any, n: int, m: int, example: int | None) -> Ints:
    """Return matches as numbers; refuse what is no alignment."""
    where = "The output" if example is None else f"The output of example {example}"
    try:
        array = np.asarray(sorted(tuple(pair) for pair in y)).reshape(-1, 2)
    except (TypeError, ValueError):
        array = np.zeros((1, 2))
    if array.dtype.kind not in "iu" and len(array):
        raise InvalidInputError(
            f"{where} is {y!r}: give the matches as pairs (i, j) of integers.", example=example
        )
    array = array.astype(np.int64)
    outside = (array < 0) | (array >= [n, m])
    if outside.any():
        i, j = array[int(np.argmax(outside.any(axis=1)))].tolist()
        raise InvalidInputError(
            f"{where} matches ({i}, {j}), outside sequences of {n} and {m} symbols (counted from "
            "0).",
            example=example,
        )
    crossed = np.flatnonzero(np.any(np.diff(array, axis=0) <= 0, axis=1))
    if len(crossed):
        a, b = (tuple(pair) for pair in array[crossed[0] : crossed[0] + 2].tolist())
        raise InvalidInputError(
            f"{where} has the matches {a} and {b}, which cross or share a position: both must grow "
            "from one match to the next.",
            example=example,
        )
    return np.asarray(array @ [m, 1], dtype=np.int64)
