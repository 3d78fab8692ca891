r"""Which label may follow which: transitions that are forbidden or forced, in every oracle.

    y is an output  <=>  (start, y_0), (y_{t-1}, y_t) for all t and (y_{T-1}, end) are allowed.

Forbidden transitions score minus infinity, so that decoding is as fast as without them and what is
learned, predicted and certified is exact over the outputs that are left.

>>> bio(["PER", "LOC"])["B-LOC"]
['O', 'B-PER', 'B-LOC', 'I-LOC', None]
>>> allowed_pairs("bio", ["O", "B-X", "I-X"]).astype(int)  # start and end last
array([[1, 1, 0, 1],
       [1, 1, 1, 1],
       [1, 1, 1, 1],
       [1, 1, 0, 0]])
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structopt.arrays import Ints
from structopt.errors import InvalidInputError

Bools = NDArray[np.bool_]

KINDS = {"B": "B", "I": "I", "O": "O", "E": "E", "S": "S", "L": "E", "U": "S", "M": "I"}
"""The letters of tags: BIO and BIOES (also written IOBES, BILOU and BMES)."""

SCHEMES = ("bio", "bioes")


def split_tag(tag: Any) -> tuple[str, str] | None:
    """Return the kind (B, I, O, E or S) and the type of a tag; None if it is none.

    >>> split_tag("B-PER"), split_tag("L-PER"), split_tag("O"), split_tag("NN")
    (('B', 'PER'), ('E', 'PER'), ('O', ''), None)
    """
    if not isinstance(tag, str):
        return None
    kind, _, type_ = tag.partition("-")
    if kind not in KINDS or (kind == "O" and tag != "O"):
        return None
    return KINDS[kind], type_


def bio(types: Iterable[str]) -> dict[str | None, list[str | None]]:
    """Return which tags may follow which in BIO: I-X only B-X or I-X.

    Parameters
    ----------
    types : iterable of str
        Types of spans, such as ``["PER", "LOC"]``.

    Returns
    -------
    dict
        Each tag with those that may follow; None stands for the start (as a key) and for the end.
        ``so.Chain(transitions="bio")`` finds the types in the data.
    """
    return _table(types, "BI", "bio")


def bioes(types: Iterable[str]) -> dict[str | None, list[str | None]]:
    """Return which tags may follow which in BIOES: B-X (I-X)* E-X, S-X, O; see :func:`bio`."""
    return _table(types, "BIES", "bioes")


def allowed_pairs(transitions: Any, labels: Sequence[Any]) -> Bools:
    """Return which label may follow which, (K + 1, K + 1): start (row) and end (column) last.

    Parameters
    ----------
    transitions : {"bio", "bioes"}, mapping or matrix
        Mapping: a label (None: the start) to those that may follow (None: the end); after labels
        that are not named everything may follow. Matrix: (K, K) or (K + 1, K + 1) of truth values.
    labels : sequence
        The labels, in order.
    """
    if isinstance(transitions, str):
        if transitions not in SCHEMES:
            raise InvalidInputError(
                f"transitions is {transitions!r}; choose one of {SCHEMES}, or give a mapping of "
                "labels to those that may follow, or a matrix of truth values."
            )
        for label in labels:
            if split_tag(label) is None:
                raise InvalidInputError(
                    f"The label {label!r} is no tag of the scheme {transitions!r}: such tags are "
                    "'O' and B-, I- (E-, S-) with a type."
                )
        return _of_scheme(labels, transitions)
    size = len(labels) + 1
    allowed = np.ones((size, size), dtype=bool)
    if not isinstance(transitions, Mapping):
        try:
            given = np.asarray(transitions)
        except ValueError:  # rows of unlike lengths
            given = np.zeros(0)
        if (
            given.shape not in ((size - 1, size - 1), (size, size))
            or given.dtype.kind not in "biuf"
        ):
            raise InvalidInputError(
                f"transitions has shape {given.shape}; for {size - 1} labels give ({size - 1}, "
                f"{size - 1}) truth values, row before column, or ({size}, {size}) with the start "
                "as last row and the end as last column."
            )
        allowed[: len(given), : len(given)] = given != 0
    else:
        place = {label: k for k, label in enumerate(labels)} | {None: size - 1}
        for before, after in transitions.items():
            for label in (before, *after):
                if label not in place:
                    raise InvalidInputError(
                        f"transitions names the label {label!r}, which is not one of "
                        f"{list(labels)[:12]}: declare it with labels=[...]."
                    )
            allowed[place[before]] = False
            allowed[place[before], [place[label] for label in after]] = True
    allowed[-1, -1] = False  # sequences have at least one label
    return allowed


def steps(offsets: Ints, labels: Ints, n_labels: int) -> tuple[Ints, Ints]:
    """Return every step of stacked sequences as (before, after), from the start to the end.

    >>> [a.tolist() for a in steps(np.array([0, 2, 3]), np.array([0, 1, 0]), 2)]
    [[2, 0, 1, 2, 0], [0, 1, 2, 0, 2]]
    """
    before = np.insert(labels, offsets[:-1], n_labels)
    after = np.insert(labels, offsets[1:], n_labels)
    return before, after


def impossible(allowed: Bools | None, offsets: Ints, labels: Ints, n_labels: int) -> Bools:
    """Return which stacked sequences take a step that is not allowed."""
    if allowed is None:
        return np.zeros(len(offsets) - 1, dtype=bool)
    broken = ~allowed[steps(offsets, labels, n_labels)]
    # one more step than labels in each sequence
    return np.asarray(np.logical_or.reduceat(broken, offsets[:-1] + np.arange(len(offsets) - 1)))


def check_allowed(
    allowed: Bools, offsets: Ints, labels: Ints, names: Sequence[Any], start: int, part: str
) -> None:
    """Refuse stacked gold labels that follow each other in a way that is forbidden.

    ``part`` says what has a label, a position or a segment; ``start`` numbers the first example.
    """
    before, after = steps(offsets, labels, len(names))
    bad = np.flatnonzero(~allowed[before, after])
    if not len(bad):
        return
    step = int(bad[0])
    i = int(np.searchsorted(offsets + np.arange(len(offsets)), step, side="right")) - 1
    told = [*map(repr, names), "the end"]
    first = "the start" if before[step] == len(names) else told[before[step]]
    raise InvalidInputError(
        f"Example {start + i} has {told[after[step]]} after {first} at {part} "
        f"{step - i - int(offsets[i])}, which transitions forbid ({len(bad)} such in all): "
        "correct the data, or allow it.",
        example=start + i,
    )


def ways_ahead(allowed: Bools, length: int) -> Bools:
    """Return, for 0 .. length - 1 positions before the end, which labels may stand there.

    >>> ways_ahead(np.array([[0, 1, 0], [1, 0, 1], [1, 1, 0]], dtype=bool), 3).astype(int)
    array([[0, 1],
           [1, 0],
           [0, 1]])
    """
    found = np.empty((length, len(allowed) - 1), dtype=bool)
    found[0] = allowed[:-1, -1]
    for s in range(1, length):
        found[s] = (allowed[:-1, :-1] & found[s - 1]).any(axis=1)
    return found


def _of_scheme(labels: Sequence[Any], scheme: str) -> Bools:
    tags = [split_tag(label) for label in labels] + [("O", "")]  # start and end are like O
    allowed = np.array([[_may_follow(a, b, scheme) for b in tags] for a in tags])
    allowed[-1, -1] = False
    return allowed


def _may_follow(before: Any, tag: Any, scheme: str) -> bool:
    inside = tag[0] in "IE"
    if scheme == "bio":
        return not inside or (before[0] in "BI" and before[1] == tag[1])
    open_ = before[0] in "BI"
    return inside == open_ and (not inside or before[1] == tag[1])


def _table(types: Any, kinds: str, scheme: str) -> dict[str | None, list[str | None]]:
    scalar = hasattr(types, "nnz") or getattr(types, "shape", None) == ()
    if isinstance(types, str) or scalar or not isinstance(types, Iterable):
        raise InvalidInputError(f"types is {types!r}: give a list of types, such as [{types!r}].")
    tags: list[str | None] = ["O", *(f"{kind}-{type_}" for type_ in types for kind in kinds)]
    allowed = _of_scheme(tags, scheme)
    every = [*tags, None]
    return {
        before: [tag for tag, may in zip(every, row, strict=True) if may]
        for before, row in zip(every, allowed.tolist(), strict=True)
    }
