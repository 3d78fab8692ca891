r"""Spans in tagged sentences (entities, chunks): precision, recall and F1, by type and in all.

A predicted span is right if a gold span has the same type, begin and end:

    precision = right / predicted,   recall = right / gold,   F1 = 2 right / (predicted + gold),

micro: of the sums over all types; macro: the mean over types that occur. How tags make spans:

- ``"conll"``: as the evaluation script of the CoNLL shared tasks reads them, which takes BIO, IOB,
  IO, IOE, BIOES / IOBES and BILOU alike: a span begins at B, S, after E, S or O, and where the type
  changes, so that a stray ``I-PER`` is a span of its own;
- ``"bio"``, ``"bioes"``: only spans that are well formed count: B (I)*, and S or B (I)* E;
- ``"io"``: every run of one label but "O" is a span, whatever stands before the dash.

>>> spans(["B-PER", "I-PER", "O", "I-LOC", "B-LOC"])
[('PER', 0, 2), ('LOC', 3, 4), ('LOC', 4, 5)]
>>> spans(["B-PER", "I-PER", "O", "I-LOC", "B-LOC"], scheme="bio")
[('PER', 0, 2), ('LOC', 4, 5)]
>>> span_f1([["B-PER", "I-PER", "O", "B-LOC"]], [["B-PER", "I-PER", "O", "B-PER"]])
0.5
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from structopt.arrays import Floats
from structopt.errors import InvalidInputError
from structopt.learn.metrics.counted import Counted, check_outputs, divided
from structopt.learn.metrics.tokens import token_accuracy
from structopt.structures.chain.transitions import split_tag

Span = tuple[str, int, int]
"""Type, begin, and one past the end."""

SCHEMES = ("conll", "bio", "bioes", "iobes", "io")
AVERAGES = ("micro", "macro")


def spans(tags: Sequence[str], *, scheme: str = "conll") -> list[Span]:
    """Return the spans of one sentence as (type, begin, end), the end not included."""
    if scheme not in SCHEMES:
        raise InvalidInputError(f"scheme is {scheme!r}; choose one of {SCHEMES}.")
    found: list[Span] = []
    begin, sound, before, of = 0, False, "O", ""  # the span that is open, if before != "O"
    for t, tag in enumerate([*tags, "O"]):
        kind, type_ = _split(tag, t, scheme)
        ends = before in "ES" or kind in "BSO" or type_ != of
        if before != "O" and ends:
            if sound and (scheme in ("conll", "bio", "io") or before in "ES"):
                found.append((of, begin, t))
            before = "O"
        if before == "O" and kind != "O":
            begin, sound = t, scheme in ("conll", "io") or kind in "BS"
        before, of = kind, type_
    return found


def span_precision(
    Y: Sequence[Any],
    predicted: Sequence[Any],
    *,
    average: str = "micro",
    scheme: str = "conll",
    sample_weight: Any = None,
) -> float:
    """Return the share of predicted spans that are right (0 if none is); see :func:`span_f1`."""
    return counted(0, average)(Y, predicted, sample_weight, scheme=scheme)


def span_recall(
    Y: Sequence[Any],
    predicted: Sequence[Any],
    *,
    average: str = "micro",
    scheme: str = "conll",
    sample_weight: Any = None,
) -> float:
    """Return the share of gold spans that are found (0 if none is); see :func:`span_f1`."""
    return counted(1, average)(Y, predicted, sample_weight, scheme=scheme)


def span_f1(
    Y: Sequence[Any],
    predicted: Sequence[Any],
    *,
    average: str = "micro",
    scheme: str = "conll",
    sample_weight: Any = None,
) -> float:
    """Return the harmonic mean of precision and recall over spans, 0 to 1.

    Parameters
    ----------
    Y, predicted : sequences of sequences of str
        Tags such as "B-PER", "I-PER", "O".
    average : {"micro", "macro"}
        Over all spans, or the mean over types.
    scheme : {"conll", "bio", "bioes", "iobes", "io"}
        How tags make spans.
    sample_weight : array, optional
        Factor of each sentence.
    """
    return counted(2, average)(Y, predicted, sample_weight, scheme=scheme)


class TypeScores(NamedTuple):
    """Spans of one type (or all): how many are right, predicted and gold."""

    right: int
    predicted: int
    gold: int

    @property
    def precision(self) -> float:
        """Right / predicted."""
        return float(divided(self.right, self.predicted))

    @property
    def recall(self) -> float:
        """Right / gold."""
        return float(divided(self.right, self.gold))

    @property
    def f1(self) -> float:
        """2 right / (predicted + gold)."""
        return float(divided(2 * self.right, self.predicted + self.gold))


class SpanReport(NamedTuple):
    """What the CoNLL script prints: ``str(report)`` has its layout.

    Attributes
    ----------
    tokens : int
    accuracy : float
        Share of tags that are right.
    overall : TypeScores
    by_type : dict of str to TypeScores
    """

    tokens: int
    accuracy: float
    overall: TypeScores
    by_type: dict[str, TypeScores]

    def __str__(self) -> str:
        all_, name = self.overall, "{:>17}: "
        lines = [
            f"processed {self.tokens} tokens with {all_.gold} phrases; found: {all_.predicted} "
            f"phrases; correct: {all_.right}.",
            f"accuracy: {100 * self.accuracy:6.2f}%; {_percent(all_)}",
        ]
        lines += [
            f"{name.format(type_)}{_percent(scores)}  {scores.predicted}"
            for type_, scores in self.by_type.items()
        ]
        return "\n".join(lines)


def span_report(Y: Sequence[Any], predicted: Sequence[Any], *, scheme: str = "conll") -> SpanReport:
    """Score spans by type and in all, as the CoNLL script does.

    >>> gold, given = [["B-PER", "I-PER", "O", "B-LOC"]], [["B-PER", "I-PER", "O", "B-PER"]]
    >>> print(span_report(gold, given))
    processed 4 tokens with 2 phrases; found: 2 phrases; correct: 1.
    accuracy:  75.00%; precision:  50.00%; recall:  50.00%; FB1:  50.00
                  LOC: precision:   0.00%; recall:   0.00%; FB1:   0.00  0
                  PER: precision:  50.00%; recall: 100.00%; FB1:  66.67  2
    """
    check_outputs(Y, predicted)
    types, table = _tables(Y, predicted, scheme)
    by_type = {
        type_: TypeScores(*map(int, table[:, k].sum(axis=0))) for k, type_ in enumerate(types)
    }
    overall = TypeScores(*map(int, table.sum(axis=(0, 1))))
    return SpanReport(sum(map(len, Y)), token_accuracy(Y, predicted), overall, by_type)


def counted(which: int, average: str = "micro") -> Counted:
    """Return precision (0), recall (1) or F1 (2) as a function of counts."""
    if average not in AVERAGES:
        raise InvalidInputError(f"average is {average!r}; choose one of {AVERAGES}.")
    return Counted(_counts, partial(_value, which=which, macro=average == "macro"))


def _counts(Y: Sequence[Any], predicted: Sequence[Any], scheme: str = "conll") -> Floats:
    table = _tables(Y, predicted, scheme)[1]
    return table.reshape(len(table), -1)


def _value(counts: Floats, *, which: int, macro: bool) -> Floats:
    table = counts.reshape(*counts.shape[:-1], -1, 3)
    table = table if macro else table.sum(axis=-2, keepdims=True)
    right, given, gold = table[..., 0], table[..., 1], table[..., 2]
    above = 2 * right if which == 2 else right
    values = divided(above, (given, gold, given + gold)[which])
    # a resampled data set may lack a type, which then says nothing
    return divided(values.sum(axis=-1), (given + gold > 0).sum(axis=-1))


def _tables(Y: Sequence[Any], predicted: Sequence[Any], scheme: str) -> tuple[list[str], Floats]:
    """Return the types, and right, predicted and gold spans by sentence and type."""
    pairs = []
    for i, (y, p) in enumerate(zip(Y, predicted, strict=True)):
        if isinstance(y, str) or isinstance(p, str) or len(y) != len(p):
            raise InvalidInputError(
                f"Sentence {i} has {len(y)} gold and {len(p)} predicted tags: give two lists of as "
                "many strings.",
                example=i,
            )
        try:
            pairs.append((set(spans(y, scheme=scheme)), set(spans(p, scheme=scheme))))
        except InvalidInputError as error:
            raise InvalidInputError(f"Sentence {i}: {error}", example=i) from None
    types = sorted({span[0] for pair in pairs for side in pair for span in side})
    place = {type_: k for k, type_ in enumerate(types)}
    table = np.zeros((len(pairs), len(types), 3))
    for i, (gold, given) in enumerate(pairs):
        for column, group in enumerate((gold & given, given, gold)):
            for type_, _, _ in group:
                table[i, place[type_], column] += 1
    return types, table


def _split(tag: Any, t: int, scheme: str) -> tuple[str, str]:
    """Return the kind of a tag (B, I, O, E, S) and its type."""
    if scheme == "io" and isinstance(tag, str) and tag != "O":
        return "I", tag.partition("-")[2] or tag
    if (found := split_tag(tag)) is not None:
        return found
    raise InvalidInputError(
        f"The tag at position {t} is {tag!r}; tags of spans are 'O' and B-, I-, E- or S- with a "
        "type. Plain labels in runs are scheme='io'; for labels that are no spans there is "
        "token_accuracy."
    )


def _percent(scores: TypeScores) -> str:
    return (
        f"precision: {100 * scores.precision:6.2f}%; recall: {100 * scores.recall:6.2f}%; "
        f"FB1: {100 * scores.f1:6.2f}"
    )
