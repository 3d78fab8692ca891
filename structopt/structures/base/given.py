r"""Parts of an output that are given at prediction: forced, forbidden, or one of some.

    argmax { w . phi(x, y) :  y has the given parts },

exactly, because what is given only takes outputs away. What may be said of a label:

    None          nothing (as in gold outputs that are known in part)
    "a"           it is this label
    {"a", "b"}    it is one of these
    Not("a")      it is any label but these

and of a part that is in an output or is not (an edge, an arc, an entry of a 0/1 vector): True,
False, or None.

>>> from structopt.structures.base.labels import LabelSet
>>> labels = LabelSet("abc")
>>> [permitted(entry, labels, "position 0", 7).tolist() for entry in (None, "a", {"a", "c"})]
[[True, True, True], [True, False, False], [True, False, True]]
>>> permitted(Not("a"), labels, "position 0", 7)
array([False,  True,  True])
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any

import numpy as np
from numpy.typing import NDArray

from structopt.errors import InfeasibleError, InvalidInputError
from structopt.structures.base.labels import LabelSet

Mask = NDArray[np.bool_]
Held = NDArray[np.int8]
"""For each part 1 where outputs must have it, 0 where they must not, -1 where nothing is given."""


class Not:
    """Any label but these: what ``given`` says of a part.

    Parameters
    ----------
    *labels
        The forbidden ones.
    """

    __slots__ = ("labels",)

    def __init__(self, *labels: Any) -> None:
        self.labels = labels

    def __repr__(self) -> str:
        return f"Not({', '.join(map(repr, self.labels))})"


def permitted(entry: Any, labels: LabelSet, part: str, example: int) -> Mask:
    """Return which labels a part may have; refuse labels that are none, and none at all."""
    if isinstance(entry, np.generic):
        entry = entry.item()
    declared = isinstance(entry, Hashable) and entry in labels
    if entry is None and not declared:
        return np.ones(len(labels), dtype=bool)
    if isinstance(entry, Not):
        named: Iterable[Any] = entry.labels
    else:
        named = entry if isinstance(entry, AbstractSet) and not declared else (entry,)
    mask = np.zeros(len(labels), dtype=bool)
    for label in named:
        if not isinstance(label, Hashable) or label not in labels:
            raise InvalidInputError(
                f"What is given of {part} of example {example} names {label!r}, which is not one "
                f"of the labels {list(labels[:12])!r}.",
                example=example,
            )
        mask[labels.encode([label])] = True
    mask = ~mask if isinstance(entry, Not) else mask
    if not mask.any():
        raise InfeasibleError(
            f"What is given of {part} of example {example}, {entry!r}, leaves it no label.",
            example=example,
        )
    return mask


def listed(given: Any, names: Sequence[Any], example: int) -> list[Any]:
    """Return what is given of each part, None where nothing is.

    ``given`` has an entry for each part, in order, or maps some of their names to entries.
    """
    if given is None:
        return [None] * len(names)
    if isinstance(given, Mapping):
        known = set(names)
        stray = [name for name in given if name not in known]
        if stray:
            raise _odd(given, example, f"it has no part {stray[0]!r}")
        return [given.get(name) for name in names]
    if isinstance(given, Not | AbstractSet) or not isinstance(given, Iterable):
        raise _odd(given, example, "give an entry for each part, or map some parts to entries")
    entries = given.tolist() if isinstance(given, np.ndarray) else list(given)
    if len(entries) != len(names):
        raise _odd(given, example, f"it has {len(names)} parts, and {len(entries)} are given")
    return entries


def held_parts(given: Any, names: Sequence[Any], example: int) -> Held:
    """Return which parts outputs must have, and must not, where they are in or out.

    ``given`` maps the names of parts to True, False or None, or lists those that must be there.
    """
    held = np.full(len(names), -1, dtype=np.int8)
    if given is None:
        return held
    if not isinstance(given, Mapping):
        if isinstance(given, str) or not isinstance(given, Iterable):
            raise _odd(given, example, "list the parts that it must have, or map parts to booleans")
        parts = [tuple(part) if isinstance(part, list) else part for part in given]
        stray = [part for part in parts if not _hashable(part)]
        if stray:
            raise _odd(given, example, f"{stray[0]!r} is none of its {len(names)} candidates")
        given = dict.fromkeys(parts, True)
    place = {name: p for p, name in enumerate(names)}
    for name, value in given.items():
        if name not in place:
            raise _odd(given, example, f"{name!r} is none of its {len(names)} candidates")
        held[place[name]] = in_or_out(value, given, example)
    return held


def held_entries(given: Any, n: int, example: int) -> Held:
    """Return the same of the n entries of a 0/1 vector: one for each, or a mapping of some.

    >>> held_entries({2: True, 0: 0}, 3, 7)
    array([ 0, -1,  1], dtype=int8)
    """
    values = (in_or_out(value, given, example) for value in listed(given, range(n), example))
    return np.fromiter(values, np.int8, n)


def in_or_out(value: Any, given: Any, example: int) -> int:
    """Return 1, 0 or -1 for True, False, and None or NaN."""
    if value is None or value != value:
        return -1
    if value not in (0, 1):
        raise _odd(given, example, f"it says {value!r} of a part: give True, False or None")
    return int(value)


def agrees(given: Any, y: Any) -> bool:
    """Return whether an output, or a part of one, is as given.

    >>> agrees([None, Not("a")], ["a", "b"]), agrees({1: {"a"}}, "ab"), agrees("ab", "ab")
    (True, False, True)
    """
    if given is None:
        return True
    if isinstance(given, Not):
        return y not in given.labels
    if isinstance(given, AbstractSet):
        return y in given or y == given
    if isinstance(given, Mapping):
        return all(agrees(entry, y[part]) for part, entry in given.items())
    if isinstance(given, list | tuple) and isinstance(y, Sequence) and not isinstance(y, str):
        pairs = zip(given, y, strict=False)
        return len(given) == len(y) and all(agrees(a, b) for a, b in pairs)
    return bool(np.all(given == y))


def nothing_agrees(given: Any, example: int) -> InfeasibleError:
    """Return the error of an example that has no output with the given parts."""
    told = repr(given)
    told = told if len(told) <= 120 else f"{told[:120]}..."
    return InfeasibleError(
        f"No output of example {example} agrees with what is given of it, {told}: give less.",
        example=example,
    )


def _hashable(part: Any) -> bool:
    try:
        hash(part)  # a tuple may hold what has no hash
    except TypeError:
        return False
    return True


def _odd(given: Any, example: int, problem: str) -> InvalidInputError:
    told = repr(given)
    told = told if len(told) <= 60 else f"{told[:60]}..."
    return InvalidInputError(
        f"What is given of example {example} is {told}: {problem}.", example=example
    )
