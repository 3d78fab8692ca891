r"""Segments as tags, and back: what a sequence of tags says, and which sequences are segmentations.

In the scheme "bio" a segment of type X is B-X (I-X)*, and O stands outside of all of them, one
position at a time. In the scheme "runs" tags are plain labels and every run of one is a segment, so
that a label never follows itself.

>>> import numpy as np
>>> tags = Tags.of(["B-a", "I-a", "B-b", "I-b", "O"], "bio")
>>> tags.names, tags.n_types
(('a', 'b', 'O'), 2)
>>> cut = tags.segments(np.array([4, 0, 1, 2]), np.array([0, 4]))
>>> cut.label, cut.begin, cut.lengths(np.array([0, 4]))
(array([2, 0, 0, 1]), array([ True,  True, False,  True]), array([1, 2, 1]))
>>> tags.codes(cut)
array([4, 0, 1, 2])
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from structopt.arrays import Ints, count
from structopt.errors import InvalidInputError
from structopt.structures.chain.transitions import Bools, split_tag

SCHEMES = ("bio", "runs")
OUTSIDE = "O"


class Cut(NamedTuple):
    """Stacked sequences cut into segments: the label of each position, and where segments begin."""

    label: Ints
    begin: Bools

    def starts(self) -> Ints:
        """Return the first position of every segment."""
        return np.flatnonzero(self.begin)

    def lengths(self, offsets: Ints) -> Ints:
        """Return the length of every segment; the first position of a sequence always begins."""
        return np.diff(self.starts(), append=offsets[-1])


@dataclass(frozen=True)
class Tags:
    """What tags mean.

    Attributes
    ----------
    names : tuple
        The labels of segments, the outside last if there is one.
    n_types : int
        How many of them are types, of which segments may be longer than one position.
    first, inside : array of int
        The tag at the first position of a segment of each label, and at the others (-1: none).
    label : array of int
        The label of each tag.
    """

    names: tuple[Any, ...]
    n_types: int
    first: Ints
    inside: Ints
    label: Ints

    @classmethod
    def of(cls, labels: Sequence[Any], scheme: str) -> Tags:
        """Read tags; refuse what the scheme does not have."""
        if scheme == "runs":
            every = np.arange(len(labels))
            return cls(tuple(labels), len(labels), every, every, every)
        found = [_split(label) for label in labels]
        types = list(dict.fromkeys(type_ for kind, type_ in found if kind != "O"))
        place = {pair: code for code, pair in enumerate(found)}
        outside = [OUTSIDE] if ("O", "") in place else []
        for type_ in types:
            if ("B", type_) not in place:
                raise InvalidInputError(
                    f"The labels have 'I-{type_}' but no 'B-{type_}', with which its segments "
                    "begin: declare both."
                )
        names = (*types, *outside)
        first = [place["B", t] for t in types] + [place["O", ""] for _ in outside]
        inside = [place.get(("I", t), -1) for t in types] + [-1 for _ in outside]
        label = [len(types) if kind == "O" else types.index(t) for kind, t in found]
        arrays = (np.array(given, dtype=np.int64) for given in (first, inside, label))
        return cls(names, len(types), *arrays)

    @property
    def runs(self) -> bool:
        """Whether segments are runs of one tag."""
        return self.first is self.inside or np.array_equal(self.first, self.inside)

    def segments(self, codes: Ints, offsets: Ints) -> Cut:
        """Return tags as segments, whether they are well formed or not."""
        label = self.label[codes]
        if self.runs:
            begin = np.append(True, label[1:] != label[:-1])
        else:
            begin = codes == self.first[label]
        begin[offsets[:-1]] = True
        return Cut(label, begin)

    def codes(self, cut: Cut) -> Ints:
        """Return segments as tags."""
        return np.where(cut.begin, self.first[cut.label], self.inside[cut.label])

    def misplaced(self, codes: Ints, offsets: Ints) -> Bools:
        """Return where a tag goes on with a segment that has not begun."""
        label = self.label[codes]
        goes_on = (codes != self.first[label]) & ~self.runs
        same = np.append(False, label[1:] == label[:-1])
        same[offsets[:-1]] = False
        return np.asarray(goes_on & ~same)

    def spans(self, codes: Ints) -> set[tuple[int, int, int]]:
        """Return the segments of one sequence that are of a type, as (label, begin, end)."""
        ends = np.array([0, len(codes)])
        cut = self.segments(codes, ends)
        starts, lengths = cut.starts(), cut.lengths(ends)
        every = zip(cut.label[starts].tolist(), starts.tolist(), lengths.tolist(), strict=True)
        return {(k, a, a + n) for k, a, n in every if k < self.n_types}


def completed(tags: Iterable[Any]) -> list[Any]:
    """Return the tags that the types of some tags have in "bio": B-X and I-X for each."""
    types = dict.fromkeys(split[1] for tag in tags if (split := _split(tag))[0] != "O")
    return [f"{kind}-{type_}" for type_ in types for kind in "BI"]


def span_tags(spans: Sequence[Any], lengths: Any, *, scheme: str = "bio") -> list[list[Any]]:
    """Return spans as tags: (type, begin, end) with the end left out, as `metrics.spans` has them.

    Parameters
    ----------
    spans : sequence of sequences
        The spans of each sequence, in any order.
    lengths : sequence
        The length of each sequence, or the sequences themselves.
    scheme : {"bio", "runs"}
        With "runs" the types are the tags, and spans must cover a sequence.

    Raises
    ------
    InvalidInputError
        Spans that overlap, end before they begin or beyond the sequence, or leave a gap in runs.

    Examples
    --------
    >>> span_tags([[("PER", 0, 2), ("LOC", 3, 4)]], [5])
    [['B-PER', 'I-PER', 'O', 'B-LOC', 'O']]
    >>> span_tags([[("PER", 0, 2), ("LOC", 1, 4)]], [5])
    Traceback (most recent call last):
    structopt.errors.InvalidInputError: The spans ('PER', 0, 2) and ('LOC', 1, 4) of example 0 ...
    """
    check_scheme(scheme)
    if any(hasattr(given, "nnz") for given in (spans, lengths)):
        raise InvalidInputError("spans and lengths are lists, one entry a sequence.")
    if count(spans, "spans") != count(lengths, "lengths"):
        raise InvalidInputError(f"{len(spans)} lists of spans, but {len(lengths)} sequences.")
    sizes = [n if isinstance(n, int | np.integer) else _length(n) for n in lengths]
    pairs = enumerate(zip(spans, sizes, strict=True))
    return [_tagged(own, int(n), i, scheme) for i, (own, n) in pairs]


def check_scheme(scheme: Any) -> None:
    """Refuse a scheme that does not exist."""
    if not isinstance(scheme, str) or scheme not in SCHEMES:
        raise InvalidInputError(f"scheme is {scheme!r}; choose one of {SCHEMES}.")


def _length(sequence: Any) -> int:
    return count(sequence, "A sequence")


def _tagged(spans: Any, length: int, example: int, scheme: str) -> list[Any]:
    tags: NDArray[Any] = np.full(length, OUTSIDE, dtype=object)
    owner: list[Any] = [None] * length
    for k in range(count(spans, f"The spans of example {example}")):
        span = spans[k]
        problem = ""
        try:
            type_, begin, end = span
            if not 0 <= begin < end <= length:
                problem = f"does not lie within its {length} positions, or is empty"
        except (TypeError, ValueError):
            problem = "is not (type, begin, end)"
        if problem:
            raise InvalidInputError(
                f"The span {span!r} of example {example} {problem}.", example=example
            )
        other = next((o for o in owner[begin:end] if o is not None), None)
        if other is not None:
            raise InvalidInputError(
                f"The spans {other!r} and {span!r} of example {example} overlap: a position "
                "belongs to one segment.",
                example=example,
            )
        owner[begin:end] = [span] * (end - begin)
        for t in range(begin, end):
            tags[t] = type_ if scheme == "runs" else f"{'I' if t > begin else 'B'}-{type_}"
    if scheme == "runs":
        for t in range(length):
            same = t > 0 and tags[t] == tags[t - 1] and owner[t] is not owner[t - 1]
            if owner[t] is None or same:
                what = "lies in no span" if owner[t] is None else f"begins a second {tags[t]!r}"
                raise InvalidInputError(
                    f"Position {t} of example {example} {what}, which runs cannot say: use "
                    "scheme='bio'.",
                    example=example,
                )
    return list(tags)


def _split(tag: Any) -> tuple[str, str]:
    found = split_tag(tag)
    if found is None or found[0] not in "BIO" or tag[0] not in "BIO":
        raise InvalidInputError(
            f"The label {tag!r} is no tag of the scheme 'bio': such tags are 'O' and B- or I- with "
            "a type. Plain labels whose runs are segments are scheme='runs'; other tags become "
            "BIO by so.metrics.spans(tags) and so.span_tags(spans, lengths)."
        )
    return found
