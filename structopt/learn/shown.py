"""What a report shows of a model: its examples as pictures, and names that readers understand."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from structopt.arrays import count
from structopt.errors import InvalidInputError
from structopt.run.example import Example
from structopt.structures.base.structure import check_lengths

_UNNAMED = re.compile(r"(begin |end |)([xe])(\d+)(.*)", flags=re.DOTALL)


def readable(
    names: Sequence[tuple[str, str]], shape: Sequence[int] | None = None
) -> list[tuple[str, str]]:
    """Return structures' own names in words; inputs are pixels of an image of a shape, if given.

    Rows and columns count from 1.

    >>> readable([("x0", "a"), ("x3 at 1", "b"), ("after a", "b")])
    [('input 0', 'a'), ('input 3 at 1', 'b'), ('after a', 'b')]
    >>> readable([("x5", "a")], (2, 4))
    [('pixel (2, 2)', 'a')]
    """

    def said(name: str) -> str:
        found = _UNNAMED.fullmatch(name)
        if found is None:
            return name
        before, kind, place, rest = found[1], found[2], int(found[3]), found[4]
        if kind == "e":
            return f"{before}edge input {place}{rest}"
        if shape is not None and place < shape[0] * shape[1]:
            return f"{before}pixel ({place // shape[1] + 1}, {place % shape[1] + 1}){rest}"
        return f"{before}input {place}{rest}"

    return [(said(feature), label) for feature, label in names]


def examples_of(model: Any, X: Any, Y: Any, inputs: Any = None) -> list[Example]:
    """Return outputs beside what a model predicts for them, and what both look like."""
    if count(X) == 0 and count(Y) == 0:
        return []
    predicted, structure = model.predict(X), model.structure_
    check_lengths(predicted, Y)
    if inputs is not None and count(inputs, "inputs") != len(predicted):
        raise InvalidInputError(f"{len(predicted)} examples but {count(inputs)} inputs to show.")
    encoded = model._inputs(X)
    encoded = encoded.tocsr() if hasattr(encoded, "tocsr") else encoded  # rows can be taken
    raw = X if inputs is None and model.features_ is not None else None
    found = []
    for i, (gold, given) in enumerate(zip(Y, predicted, strict=True)):
        shown = None if inputs is None else inputs[i]
        pictures = None
        if raw is not None:
            with contextlib.suppress(InvalidInputError):  # not every input has words
                pictures = structure.sketches(encoded[i], gold, given, raw[i])
        if pictures is None:
            pictures = structure.sketches(encoded[i], gold, given, shown)
        errors = structure.part_errors(gold, given)
        found.append(Example(i, gold, given, errors, structure.part_count(gold), pictures))
    return found


def image_shape(inputs: Any) -> tuple[int, ...] | None:
    """Return the rows and columns of the images among what is shown, if it is images."""
    if inputs is None or count(inputs) == 0:
        return None
    shape = np.shape(inputs[0]) if isinstance(inputs[0], np.ndarray) else ()
    return shape[-2:] if len(shape) in (2, 3) else None
