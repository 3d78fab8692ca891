r"""A sequence cut into labelled segments: a semi-Markov model.

    score(y) = sum over segments (s, e, l) of
                   W[l] . (x_s + ... + x_{e-1})            its tokens
                 + B[l] . x_s + E[l] . x_{e-1}             its borders
                 + length[l, e - s] + S[l] . f(s, e)       the segment as a whole
               + sum over neighbouring segments T[l, l'] (+ start[l] + end[l])

Tokens outside of all segments ("O") have W and T alone. The loss is a sum over positions, as for a
chain of tags, or `PartCosts`: what a segment too many and one too few cost, which no chain knows.

Of two equally good outputs, seen from the end, the first segment in which they differ has the label
that comes first in ``types_`` or, with the same label, is shorter.

>>> import numpy as np, structopt as so
>>> X, Y = [np.eye(3)], [["B-a", "I-a", "O"]]
>>> structure = so.Segments(longest=2, borders="none").fitted(X, Y)
>>> structure.types_, structure.longest_
(('a', 'O'), array([2, 1]))
>>> weights = np.array([1.0, 1.0, 0.0, 0.0, 0.0, 0.6, -0.2, 0.3, 0.0, 0.0, 0.0, 0.0])
>>> structure.predict(X, weights)
[['B-a', 'I-a', 'O']]
>>> structure.k_best(X[0], weights, 2)[1]
['B-a', 'B-a', 'O']
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, Self

import numpy as np
import scipy.sparse as sp

from structopt.arrays import Ints
from structopt.errors import InvalidInputError
from structopt.structures.base.costed import plain
from structopt.structures.base.labelled import LabelledStructure
from structopt.structures.base.labels import LabelSet
from structopt.structures.base.packed import check_decoder
from structopt.structures.base.sketch import Boxes, Sketch, parts_of
from structopt.structures.base.structure import check_lengths
from structopt.structures.chain.transitions import Bools, allowed_pairs
from structopt.structures.losses.part_costs import PartCosts
from structopt.structures.segments.gold import check_gold, check_whole
from structopt.structures.segments.inputs import Sequences, check_sequences, span_width, tokens_of
from structopt.structures.segments.layout import BORDERS, Layout
from structopt.structures.segments.shard import SegmentsShard
from structopt.structures.segments.tags import Tags, check_scheme, completed

MOST_POSITIONS = 100_000
"""The longest that `longest` may say; every length has a weight, and decoding takes time for it."""


class Segments(LabelledStructure):
    r"""Sequences of segments: X is a list of (T_i, d) matrices, Y a list of tag sequences.

    An example may be a pair ``(tokens, spans)`` that describes whole spans as well: an array
    (T, L, p), the features of k positions from s at [s, k - 1], or a function ``(begin, end)`` that
    returns p numbers.

    Parameters
    ----------
    labels : sequence, optional
        Every tag that can occur; by default those of the data.
    loss : Hamming, Confusion, SpanCosts, PartCosts or your own, optional
        What a wrong tag costs, by default 1, or (`PartCosts`) a wrong segment.
    longest : int or mapping of label to int, optional
        The most positions that a segment may have; by default as in the data, for each label.
    scheme : {"bio", "runs"}
        How tags say segments: B-X (I-X)* and O, or runs of plain labels.
    borders : {"none", "begin", "end", "both"}
        Whether the first and the last token of a segment have weights of their own.
    lengths : bool
        Whether each length of each label has a weight.
    boundaries : bool
        Whether the first and the last segment of a sequence have weights of their own.
    transitions : mapping or matrix, optional
        Which label may follow which: each label (None: the start) with those that may follow
        (None: the end), or truth values [previous, next] in the order of ``types_``.
    decoder : {"compiled", "networkx"}
        Who decodes. "networkx" is the slow reference that the compiled kernels must agree with.

    Attributes
    ----------
    labels_ : LabelSet
        The tags.
    types_ : tuple
        The labels of segments; the outside is the last.
    longest_ : array of int
        The longest segment of each of them.
    n_features_ : int

    Raises
    ------
    InvalidInputError
        A gold segment is longer than `longest`, follows another in a way that is forbidden, or
        goes on without having begun.

    Notes
    -----
    Sarawagi and Cohen (2004), Semi-Markov conditional random fields. Decoding takes
    T K (L + K) steps for sequences of T positions, K labels and segments of up to L positions.
    """

    releases_gil: ClassVar[bool] = True
    offers: ClassVar[frozenset[str]] = frozenset(
        {"argmax", "argmin", "second_best", "k_best", "marginals"}
    )

    longest_: Ints
    allowed_: Bools | None = None
    n_inputs_: int
    n_spans_: int

    def __init__(
        self,
        labels: Sequence[Any] | None = None,
        loss: Any = None,
        longest: int | Mapping[Any, int] | None = None,
        scheme: str = "bio",
        borders: Literal["none", "begin", "end", "both"] = "both",
        lengths: bool = True,
        boundaries: bool = False,
        transitions: Any = None,
        decoder: str = "compiled",
    ) -> None:
        self.labels = labels
        self.cost = loss
        self.longest = longest
        self.scheme = scheme
        self.borders = borders
        self.lengths = lengths
        self.boundaries = boundaries
        self.transitions = transitions
        self.decoder = decoder

    # ------------------------------------------------------------------ fitting and encoding
    def fitted(self, X: Sequence[Any], Y: Sequence[Any]) -> Self:
        """Return a copy that knows the tags, the longest segments and the dimension."""
        check_decoder(self.decoder)
        check_scheme(self.scheme)
        if self.borders not in BORDERS:
            raise InvalidInputError(f"borders is {self.borders!r}; choose one of {[*BORDERS]}.")
        check_sequences(X)
        check_lengths(X, Y)
        if isinstance(self.cost, PartCosts):
            self.cost.checked(positive=True)
        also: list[Any] = []
        if self.labels is not None:
            Tags.of(LabelSet(self.labels), self.scheme)  # before they are looked for in the data
        elif self.scheme == "bio":
            seen = (tag for i, y in enumerate(Y) for tag in self._listed(y, i))
            also = completed(dict.fromkeys(tag for tag in seen if tag is not None))
        fitted = self._with_labels(Y, [also])
        fitted.n_inputs_ = int(Sequences.of([tokens_of(X[0])], None, 0, 1).stacked.matrix.shape[1])
        fitted.n_spans_ = span_width(X[0])
        fitted.longest_ = fitted._longest(Y)
        if self.transitions is not None:
            fitted.allowed_ = allowed_pairs(self.transitions, fitted.types_)
        fitted.n_features_ = fitted._layout().n_features
        return fitted

    def pack(self, X: Sequence[Any], Y: Sequence[Any] | None, start: int = 0) -> SegmentsShard:
        """Return checked sequences as a shard."""
        layout, tags = self._layout(), self._tags()
        read = Sequences.of(X, self.n_inputs_, self.n_spans_, layout.most, start=start)
        offsets = read.stacked.offsets
        gold = self._gold(Y, offsets, start, "positions", partial=True)
        costs, spans = np.zeros(len(gold)), None
        if isinstance(self.cost, PartCosts):
            spans = (float(self.cost.extra), float(self.cost.missed))
            check_whole(Y, gold, offsets, start)
        elif Y is not None:
            costs = self._costs(Y, gold, start)
        if Y is None:
            gold = np.full(len(gold), tags.first[0])
        allowed = self._allowed()
        given = (costs, spans, allowed, start, self.decoder)
        shard = self._begun(SegmentsShard(read, layout, tags, gold, *given), gold)
        if Y is not None:
            check_gold(tags, shard.gold, offsets, layout.longest, allowed, start)
        return shard

    @property
    def types_(self) -> tuple[Any, ...]:
        """The labels of segments."""
        return self._tags().names

    # ------------------------------------------------------------------ what it means
    def joint_features(self, x: Any, y: Any) -> Any:
        """Return the features of the segments, of their tokens and transitions: a sparse row."""
        layout, tags = self._layout(), self._tags()
        read = Sequences.of([x], self.n_inputs_, self.n_spans_, layout.most)
        ends = read.stacked.offsets
        codes = self._gold([y], ends, 0, "positions")
        check_gold(tags, codes, ends, layout.longest, None, 0)
        cut, places = tags.segments(codes, ends), layout.places
        starts = cut.starts()
        last, label = starts + cut.lengths(ends) - 1, cut.label[starts]
        own = label < layout.n_types
        matrix, n_inputs = sp.csr_array(read.stacked.matrix), layout.n_inputs

        def rows(given: Any, which: Ints, place: Any) -> tuple[Any, Any]:
            row, column, value = sp.find(given[which])
            return np.asarray(place)[row] + column, value

        def ones(place: Any) -> tuple[Any, Any]:
            return place, np.ones(len(place))

        found = [rows(matrix, np.arange(len(codes)), cut.label * n_inputs)]
        if layout.begin:
            found.append(rows(matrix, starts[own], places[1] + label[own] * n_inputs))
        if layout.end:
            found.append(rows(matrix, last[own], places[2] + label[own] * n_inputs))
        if layout.lengths:
            found.append(ones(layout.length_places[label[own]] + (last - starts)[own]))
        if read.spans is not None:
            which = starts[own] * layout.most + (last - starts)[own]
            found.append(rows(read.spans, which, places[4] + label[own] * layout.n_spans))
        found.append(ones(places[5] + label[:-1] * layout.n_labels + label[1:]))
        if layout.boundaries:
            found.append(ones(places[6] + np.array([label[0], layout.n_labels + label[-1]])))
        place, value = (np.concatenate(column) for column in zip(*found, strict=True))
        place, where = np.unique(place, return_inverse=True)
        summed = np.bincount(where, value, len(place))
        return sp.csr_array((summed, place, [0, len(place)]), shape=(1, self.n_features_))

    def loss(self, y: Any, other: Any) -> float:
        """Return what the tags of ``other`` cost where y is right, or its segments do."""
        if not isinstance(self.cost, PartCosts):
            return super().loss(y, other)
        gold, predicted = (self.labels_.encode(tags) for tags in self._aligned(y, other))
        tags = self._tags()
        return self.cost.of(tags.spans(gold), tags.spans(predicted))

    def feature_names(self, inputs: Sequence[str] | None = None) -> list[tuple[str, str]]:
        """Return ``(feature, label)`` for each weight; inputs are x0, x1, ... unless named.

        Borders are ``"begin x0"`` and ``"end x0"``, lengths ``"length 2"``, features of spans
        ``"span 0"``, a transition from a to b is ``("after a", "b")``.
        """
        layout = self._layout()
        columns = [f"x{j}" for j in range(self.n_inputs_)] if inputs is None else list(inputs)
        labels = [str(label) for label in self.types_]
        own = labels[: layout.n_types]
        rows = [(c, k) for k in labels for c in columns]
        for name, used in (("begin", layout.begin), ("end", layout.end)):
            rows += [(f"{name} {c}", k) for k in own for c in columns] if used else []
        if layout.lengths:
            every = zip(own, layout.longest.tolist(), strict=False)
            rows += [(f"length {n}", k) for k, most in every for n in range(1, most + 1)]
        rows += [(f"span {j}", k) for k in own for j in range(layout.n_spans)]
        rows += [(f"after {j}", k) for j in labels for k in labels]
        if layout.boundaries:
            rows += [(which, k) for which in ("start", "end") for k in labels]
        return rows

    def sketch(self, x: Any, y: Any, shown: Any = None) -> Sketch:
        """Return the segments as boxes around their words; a row of tags where some are unknown."""
        tags = self._listed(y)
        if any(tag is None for tag in tags):
            return super().sketch(x, y, shown)
        words = parts_of(shown, len(tags)) or [str(t) for t in range(1, len(tags) + 1)]
        meaning = self._tags()
        spans = sorted((a, b, k) for k, a, b in meaning.spans(self.labels_.encode(tags)))
        return Boxes(tuple((a, b, meaning.names[k]) for a, b, k in spans), words)

    # ------------------------------------------------------------------ inside
    def _tags(self) -> Tags:
        return Tags.of(self.labels_, self.scheme)

    def _layout(self) -> Layout:
        tags = self._tags()
        sizes = (len(tags.names), tags.n_types, self.n_inputs_, self.n_spans_)
        flags = (self.borders, bool(self.lengths), bool(self.boundaries))
        return Layout(*sizes, np.asarray(self.longest_), *flags)

    def _allowed(self) -> Bools | None:
        """Return which label may follow which; in runs none follows itself."""
        if self.allowed_ is None and self.scheme != "runs":
            return None
        n = len(self.types_)
        if self.allowed_ is None:
            allowed = np.ones((n + 1, n + 1), dtype=bool)
        else:
            allowed = np.array(self.allowed_, dtype=bool)  # a model file may hold numbers
        if self.scheme == "runs":
            allowed[np.arange(n), np.arange(n)] = False
        return allowed

    def _class_weight(self) -> Any:
        return None if isinstance(self.cost, PartCosts) else super()._class_weight()

    def _longest(self, Y: Sequence[Any]) -> Ints:
        """Return the longest segment of each label, as given or as in the data."""
        tags = self._tags()
        found = np.ones(len(tags.names), dtype=np.int64)
        given = self.longest
        if isinstance(given, Mapping):
            for label in given:
                if label not in tags.names:
                    raise InvalidInputError(
                        f"longest names the label {label!r}, which is not one of {tags.names}."
                    )
        if given is None or (isinstance(given, Mapping) and len(given) < tags.n_types):
            for i, y in enumerate(Y):
                codes = self._codes(plain(y), i, partial=True)
                if np.any(codes < 0):
                    raise InvalidInputError(
                        f"Tags of example {i} are unknown (None), so that the data do not say how "
                        "long segments are: give longest= for every label.",
                        example=i,
                    )
                ends = np.array([0, len(codes)])
                cut = tags.segments(codes, ends)
                np.maximum.at(found, cut.label[cut.starts()], cut.lengths(ends))
        for k, label in enumerate(tags.names[: tags.n_types]):
            most = given.get(label) if isinstance(given, Mapping) else given
            if most is None:
                continue
            number = isinstance(most, int | np.integer) and most is not True
            if not number or not 1 <= most <= MOST_POSITIONS:
                raise InvalidInputError(
                    f"longest of {label!r} is {most!r}: it must be an integer from 1 to "
                    f"{MOST_POSITIONS}."
                )
            found[k] = most
        found[tags.n_types :] = 1
        found[tags.inside < 0] = 1  # without a tag for the second position
        return found
