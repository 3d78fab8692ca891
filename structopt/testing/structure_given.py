"""Parts that are given at prediction: the answer is the best of the outputs that have them."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Any

import numpy as np

from structopt.errors import IncompatibleError, InfeasibleError
from structopt.structures.base.given import Not, agrees
from structopt.structures.base.packed import PackedStructure
from structopt.structures.base.structure import Structure
from structopt.structures.grammar.structure import Grammar
from structopt.structures.grammar.trees import brackets
from structopt.testing.check import Check
from structopt.testing.structure_case import StructureCase

DRAWS = 3
"""What is given is drawn this many times for each example and each weights."""


def given_parts_are_held(case: StructureCase) -> None:
    """predict(X, w, given=...) is the best output with the parts given, or names an example."""
    written = type(case.structure).complete is not Structure.complete
    if written and not isinstance(case.structure, PackedStructure):
        return  # what its own `complete` takes is its own affair
    rng = np.random.default_rng(case.seed)
    for i, w in case.asked():
        for _ in range(DRAWS):
            told = drawn(rng, case, i)
            agree = stands if isinstance(case.structure, Grammar) else has
            right = [k for k, y in enumerate(case.outputs[i]) if agree(told, y)]
            try:
                (found,) = case.structure.predict([case.X[i]], w, given=[told])
            except InfeasibleError as error:
                if right or error.example != 0:
                    case.wrong(i, w, f"given {told!r}: {error}")
                continue
            except IncompatibleError:
                return
            if not right:
                case.wrong(i, w, f"{found!r}, but no output has what is given, {told!r}")
            scores = case.phi[i] @ w
            place = case.place(i, found)
            if place not in right or not (
                case.near(scores[place], max(scores[right])) or not case.small.exact
            ):
                best = case.outputs[i][right[int(np.argmax(scores[right]))]]
                case.wrong(i, w, f"given {told!r}: {found!r}, but {best!r} is the best")


def drawn(rng: np.random.Generator, case: StructureCase, i: int) -> Any:
    """Return what may be given of an output, from two outputs of the example."""
    outputs = case.outputs[i]
    first, other = (outputs[int(k)] for k in rng.integers(len(outputs), size=2))
    if rng.random() < 0.5:
        other = first  # then what is given can be had
    if isinstance(case.structure, Grammar):
        return _spans(rng, outputs, first, other)
    if in_parts(first):
        every = sorted({part for y in outputs for part in y}, key=repr)
        kept = [part for part in every if rng.random() < 0.4]
        return {part: part in (first if rng.random() < 0.7 else other) for part in kept}
    labels = getattr(case.structure, "labels_", None)
    if isinstance(first, Mapping):
        pairs = {node: _entry(rng, first[node], other[node], labels) for node in first}
        return {node: entry for node, entry in pairs.items() if entry is not None}
    if isinstance(first, list | tuple):
        return [_entry(rng, a, b, labels) for a, b in zip(first, other, strict=False)]
    return _entry(rng, first, other, labels)


def has(told: Any, y: Any) -> bool:
    """Return whether an output has what is given of it."""
    if in_parts(y) and isinstance(told, Mapping):
        return all((part in y) == inside for part, inside in told.items())
    return agrees(told, y)


def stands(told: Mapping[tuple[int, int], Any], tree: Any) -> bool:
    """Return whether a tree of a grammar has what is given of its spans."""
    for span, entry in told.items():
        labels = {label for *ends, label in brackets(tree) if tuple(ends) == span}
        if isinstance(entry, bool):
            agreed = bool(labels) == entry
        elif isinstance(entry, Not):
            agreed = labels.isdisjoint(entry.labels)
        else:
            agreed = not labels.isdisjoint(entry if isinstance(entry, set) else {entry})
        if not agreed:
            return False
    return True


def in_parts(y: Any) -> bool:
    """Return whether an output is a set or path of parts, which are in it or not."""
    if isinstance(y, AbstractSet):
        return True
    return isinstance(y, list | tuple) and any(isinstance(part, tuple) for part in y)


def _spans(rng: np.random.Generator, outputs: Any, first: Any, other: Any) -> Any:
    """Return what may be given of some spans of a tree."""
    every = sorted({(i, j) for y in outputs for i, j, _ in brackets(y)})
    told: dict[tuple[int, int], Any] = {}
    for span in (one for one in every if rng.random() < 0.4):
        of = brackets(first if rng.random() < 0.7 else other)
        labels = sorted(label for *ends, label in of if tuple(ends) == span)
        some = sorted({label for y in outputs for *_, label in brackets(y)})
        form, any_label = int(rng.integers(4)), str(rng.choice(some))
        label = str(rng.choice(labels or some))
        if form == 0 or not labels:
            told[span] = bool(labels) if rng.random() < 0.7 else Not(label)
        else:
            told[span] = (Not(any_label), label, {label, any_label})[form - 1]
    return told


def _entry(rng: np.random.Generator, y: Any, other: Any, labels: Any) -> Any:
    """Return what is given of one part; sets and `Not` where outputs are labels."""
    form = int(rng.integers(6))
    if form < 2:
        return None
    if form == 2 and labels is not None:
        return {y, other}
    if form == 3 and labels is not None:
        return Not(other)
    return y if form < 5 else other


CHECKS: tuple[Check, ...] = (given_parts_are_held,)
