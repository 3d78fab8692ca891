r"""Constituency trees as nested tuples: what users write, and the productions in them.

A tree is a tag (a string: a symbol that stands directly over one token) or a tuple of a label and
one or two trees. The tokens themselves are the input's; a tree's leaves stand over them in order.

>>> tree = ("S", ("NP", "D", "N"), ("VP", "V"))          # "the dog barks"
>>> for node in productions(tree):
...     print(*node)
0 3 S ('NP', 'VP')
0 2 NP ('D', 'N')
0 1 D ()
1 2 N ()
2 3 VP ('V',)
2 3 V ()
>>> sorted(brackets(tree))[:2]
[(0, 1, 'D'), (0, 2, 'NP')]
"""

from __future__ import annotations

from typing import Any, NamedTuple

from structopt.errors import InvalidInputError

JOINT = "|"
"""What the labels of :func:`binarised` end in: a part of a constituent with more children."""


class Node(NamedTuple):
    """A label over tokens ``start`` to ``stop - 1``, and the symbols below it (none over a tag)."""

    start: int
    stop: int
    label: str
    below: tuple[str, ...]


def productions(tree: Any, example: int | None = None, *, most: int = 2) -> list[Node]:
    """Return the nodes of a tree, parents before children.

    Parameters
    ----------
    tree : tree
    example : int, optional
        The example's number in messages.
    most : int
        Children that a node may have.

    Raises
    ------
    InvalidInputError
        It is no tree, or a node has more children.
    """
    rows: list[list[Any]] = []
    stack: list[tuple[Any, int]] = [(tree, -1)]
    leaves = 0
    while stack:  # not by recursion: a tree may be as deep as its sentence is long
        node, row = stack.pop()
        if row >= 0:
            rows[row][1] = leaves
        elif isinstance(node, str):
            rows.append([leaves, leaves + 1, str(node), ()])
            leaves += 1
        else:
            label, *children = _checked(node, example, most)
            below = tuple(c if isinstance(c, str) else c[0] for c in children)
            stack.append((node, len(rows)))
            rows.append([leaves, 0, label, below])
            stack.extend((child, -1) for child in reversed(children))
    return [Node(*row) for row in rows]


def brackets(tree: Any) -> set[tuple[int, int, str]]:
    """Return the labelled spans (start, stop, label) of a tree, tags included.

    A grammar whose unary rules go in no circle derives no two trees with the same brackets.
    """
    return {node[:3] for node in productions(tree, most=2**31)}


def binarised(tree: Any) -> Any:
    """Return a tree in which no node has more than two children.

    A node of more keeps its first child; the others hang on a joint, whose label is that of the
    node and ``|``. :func:`unbinarised` takes joints out again.

    >>> binarised(("NP", "D", "A", "N"))
    ('NP', 'D', ('NP|', 'A', 'N'))
    >>> unbinarised(_)
    ('NP', 'D', 'A', 'N')
    """
    built: list[Any] = []
    for node in reversed(productions(tree, most=2**31)):
        if not node.below:
            built.append(node.label)
            continue
        children = [built.pop() for _ in node.below]
        right = children.pop()
        while len(children) > 1:
            right = (node.label + JOINT, children.pop(), right)
        built.append((node.label, *children, right))
    return built[0]


def unbinarised(tree: Any) -> Any:
    """Return a tree without the joints that :func:`binarised` put in."""
    built: list[list[Any]] = []  # a joint stands for several
    for node in reversed(productions(tree)):
        children = [one for _ in node.below for one in built.pop()]
        if not node.below:
            built.append([node.label])
        else:
            joint = node.label.endswith(JOINT)
            built.append(children if joint else [(node.label, *children)])
    return built[0][0]


def _checked(node: Any, example: int | None, most: int) -> Any:
    problem = ""
    if not isinstance(node, tuple | list) or len(node) < 2 or not isinstance(node[0], str):
        problem = f"{node!r} stands where a tag, or (label, tree) or (label, tree, tree), must"
    elif len(node) - 1 > most:
        problem = (
            f"{node[0]!r} has {len(node) - 1} children, and rules have one or two: give "
            "so.binarised(tree), and so.unbinarised(tree) takes it back"
        )
    else:
        odd = next((c for c in node[1:] if not isinstance(c, str) and not _labelled(c)), None)
        problem = "" if odd is None else f"{odd!r} below {node[0]!r} is neither a tag nor a tree"
    if problem:
        where = "The tree" if example is None else f"The tree of example {example}"
        raise InvalidInputError(f"{where} is none: {problem}.", example=example)
    return node


def _labelled(node: Any) -> bool:
    return isinstance(node, tuple | list) and len(node) > 1 and isinstance(node[0], str)
