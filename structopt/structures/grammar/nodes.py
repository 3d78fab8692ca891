r"""Trees as numbers: a node is ``(i * (T + 1) + j) * n_productions + production``.

>>> from structopt.structures.grammar.rules import compiled
>>> made = compiled((("S", ("A", "S")), ("S", ("A",))), ("A",), "S")
>>> nodes = nodes_of(("S", "A", ("S", "A")), 2, made)
>>> nodes
array([ 3,  8, 15, 16])
>>> tree_of(nodes, 2, made)
('S', 'A', ('S', 'A'))
"""

from __future__ import annotations

from typing import Any

import numpy as np

from structopt.arrays import Ints
from structopt.errors import InvalidInputError
from structopt.structures.grammar.rules import Productions
from structopt.structures.grammar.trees import Node, productions


def nodes_of(y: Any, length: int, made: Productions, example: int | None = None) -> Ints:
    """Return a gold tree as increasing numbers; refuse what the grammar does not derive."""
    nodes = productions(y, example)
    check_length(nodes[0].stop, length, example)
    if nodes[0].label != made.symbols[made.start]:
        raise InvalidInputError(
            f"The tree of example {example} has the root {nodes[0].label!r}, and trees of the "
            f"grammar begin with {made.symbols[made.start]!r}.",
            example=example,
        )
    codes = []
    for node in nodes:
        number = made.number.get((node.label, node.below))
        if number is None:
            raise _unknown(node, made, example)
        codes.append((node.start * (length + 1) + node.stop) * len(made.lhs) + number)
    return np.sort(np.array(codes, dtype=np.int64))


def tree_of(nodes: Ints, length: int, made: Productions) -> Any:
    """Return numbers as nested tuples, small spans first; None if a sentence has no such tree."""
    if not len(nodes):
        return None
    cell, production = np.divmod(nodes, len(made.lhs))
    i, j = np.divmod(cell, length + 1)
    symbol = made.lhs[production]
    built: dict[int, tuple[int, Any]] = {}  # at each token the largest tree so far from there
    for v in np.lexsort((-made.depth[symbol], j - i)).tolist():
        at, name, below = int(i[v]), made.symbols[symbol[v]], made.below[production[v]]
        if below[0] < 0:
            built[at] = int(j[v]), name
        elif below[1] < 0:
            built[at] = int(j[v]), (name, built[at][1])
        else:
            middle, left = built[at]
            built[at] = int(j[v]), (name, left, built[middle][1])
    return built[0][1]


def check_length(leaves: int, tokens: int, example: int | None) -> None:
    """Refuse a tree over more or fewer tokens than there are."""
    if leaves != tokens:
        raise InvalidInputError(
            f"The tree of example {example} has {leaves} leaves for {tokens} tokens.",
            example=example,
        )


def _unknown(node: Node, made: Productions, example: int | None) -> InvalidInputError:
    """Return the error of a gold node that is no production."""
    odd = next((s for s in (node.label, *node.below) if s not in made.symbols), None)
    said = f"the symbol {odd!r}" if odd is not None else f"the tag {node.label!r}"
    if odd is None and node.below:
        said = f"the rule {node.label} -> {' '.join(node.below)}"
    return InvalidInputError(
        f"The tree of example {example} uses {said} over tokens {node.start} to {node.stop - 1}, "
        "which the grammar does not have.",
        example=example,
    )
