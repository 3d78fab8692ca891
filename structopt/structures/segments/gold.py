"""Gold segments that cannot be: refused with the example, the position and what to do."""

from __future__ import annotations

from typing import Any

import numpy as np

from structopt.arrays import Ints
from structopt.errors import InvalidInputError
from structopt.structures.base.costed import Costed
from structopt.structures.chain.transitions import Bools, check_allowed
from structopt.structures.segments.tags import Tags


def check_gold(
    tags: Tags, codes: Ints, offsets: Ints, longest: Ints, allowed: Bools | None, start: int
) -> None:
    """Refuse tags that are no segmentation, segments that are too long, forbidden neighbours."""
    bad = np.flatnonzero(tags.misplaced(codes, offsets))
    if len(bad):
        i, t = _where(int(bad[0]), offsets)
        name = tags.names[tags.label[codes[bad[0]]]]
        raise InvalidInputError(
            f"Example {start + i} has 'I-{name}' at position {t}, where no segment of {name!r} has "
            f"begun ({len(bad)} such in all): write B-{name} there; tags of another scheme become "
            "BIO by so.metrics.spans(tags) and so.span_tags(spans, lengths).",
            example=start + i,
        )
    cut = tags.segments(codes, offsets)
    starts, lengths = cut.starts(), cut.lengths(offsets)
    label = cut.label[starts]
    long = np.flatnonzero(lengths > longest[label])
    if len(long):
        i, t = _where(int(starts[long[0]]), offsets)
        name, n = tags.names[label[long[0]]], int(lengths[long[0]])
        raise InvalidInputError(
            f"Example {start + i} has a segment {name!r} of {n} positions from position {t}, and "
            f"the longest allowed is {longest[label[long[0]]]} ({len(long)} such in all): raise "
            "longest=, or split it.",
            example=start + i,
        )
    if allowed is not None:
        ends = np.searchsorted(starts, offsets)
        check_allowed(allowed, ends, label, tags.names, start, "segment")


def check_whole(Y: Any, gold: Ints, offsets: Ints, start: int) -> None:
    """Refuse gold that is known in part, or that brings costs, where segments are charged."""
    if np.any(gold < 0):
        i, t = _where(int(np.argmax(gold < 0)), offsets)
        raise InvalidInputError(
            f"The tag at position {t} of example {start + i} is unknown (None), and "
            "losses.PartCosts charges whole segments: use losses.Hamming, or give all tags.",
            example=start + i,
        )
    costed = [i for i, y in enumerate(() if Y is None else Y) if isinstance(y, Costed)]
    if costed:
        i = start + costed[0]
        raise InvalidInputError(
            f"The output of example {i} brings costs of its own, and losses.PartCosts charges "
            "whole segments: use losses.Hamming, or leave the costs out.",
            example=i,
        )


def _where(position: int, offsets: Ints) -> tuple[int, int]:
    i = int(np.searchsorted(offsets, position, side="right")) - 1
    return i, position - int(offsets[i])
