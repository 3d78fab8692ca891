"""An output beside its prediction, drawn as what it is: labels, trees, matchings, cuts, paths."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import networkx as nx
import numpy as np
import scipy.sparse as sp

from structopt.errors import InvalidInputError
from structopt.parameters import checked
from structopt.report.draw.graphs import draw_cut, draw_hierarchy
from structopt.report.draw.lattice import draw_lattice
from structopt.report.draw.matching import draw_matching
from structopt.report.draw.sequence import draw_chain, draw_tree
from structopt.structures.base.structure import Structure
from structopt.structures.matching.inputs import CandidateEdges

Drawing = Callable[..., Any]
KINDS: dict[str, Drawing] = {
    "Chain": draw_chain,
    "Arborescence": draw_tree,
    "Matching": draw_matching,
    "GraphCut": draw_cut,
    "Hierarchy": draw_hierarchy,
    "Lattice": draw_lattice,
}


@checked
def structure(
    x: Any,
    y: Any,
    y_hat: Any = None,
    *,
    of: Structure | None = None,
    words: Sequence[Any] | None = None,
    ax: Any = None,
) -> Any:
    r"""Draw an output, and beside it what was predicted.

    What is right is blue, what was predicted and is wrong red, what was missed dashed orange.

    Parameters
    ----------
    x : input
        As the structure takes it: an array (T, d) of a `Chain`, an array (T + 1, T, d) of an
        `Arborescence`, an array (n1, n2, d) or `CandidateEdges` of a `Matching`, ``(edges, nodes)``
        of a `GraphCut`, ``(nodes, parents)`` of a `Hierarchy`, a networkx graph of a `Lattice`.
    y : output
        The right one.
    y_hat : output, optional
        The predicted one; y is drawn alone without it.
    of : Structure, optional
        Which structure; by default it is read off x and y.
    words : sequence, optional
        Names of tokens; of a matching a pair of sequences; of a graph's nodes. A `Chain` takes
        images, too: arrays of two dimensions.
    ax : matplotlib Axes, optional
        Where to draw; by default a new figure.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> import numpy as np, structopt as so
    >>> ax = so.draw.structure(np.eye(3), ["a", "b", "a"], ["a", "b", "b"], words=["x", "y", "z"])
    >>> [text.get_text() for text in ax.texts][:3]
    ['x', 'y', 'z']
    """
    kind = kind_of(x, y) if of is None else _kind_of_structure(of)
    try:
        return KINDS[kind](x, y, y_hat, words=words, ax=ax)
    except (TypeError, ValueError, LookupError, AttributeError) as error:
        raise InvalidInputError(
            f"x, y, y_hat or words are not what a {kind} is drawn from ({error}): give them as the "
            "structure takes them."
        ) from error


def kind_of(x: Any, y: Any) -> str:
    """Return which structure an example belongs to, by what its input and its output are.

    >>> kind_of(np.zeros((2, 3, 1)), {(0, 1)}), kind_of(np.zeros((3, 2, 1)), [0, 1])
    ('Matching', 'Arborescence')
    """
    pairs = isinstance(y, set | frozenset)
    if isinstance(x, CandidateEdges) or pairs:
        return "Matching"
    if isinstance(x, nx.DiGraph):
        return "Lattice" if _is_path(y) else "Arborescence"
    if isinstance(x, nx.Graph):
        return "GraphCut"
    if isinstance(x, tuple | list) and len(x) in (2, 3, 4):
        first, second = (x[0] if isinstance(x[0], nx.Graph) else np.asarray(x[0], object)), x[1]
        if isinstance(first, nx.Graph):
            return "GraphCut"
        if not sp.issparse(second) and np.ndim(second) == 1:
            return "Hierarchy"
        if not sp.issparse(second) and np.ndim(second) == 2:
            return "GraphCut"
    if sp.issparse(x) or (isinstance(x, np.ndarray) and x.ndim == 2):
        return "Chain"
    if isinstance(x, np.ndarray) and x.ndim == 3:
        return "Matching" if np.ndim(y) == 2 else "Arborescence"
    raise InvalidInputError(
        f"An input of type {type(x).__name__} could belong to several structures: say which, as "
        "of=so.Chain() (or another structure)."
    )


def _is_path(y: Any) -> bool:
    return isinstance(y, Sequence) and all(isinstance(edge, tuple) for edge in y)


def _kind_of_structure(of: Any) -> str:
    for cls in type(of).__mro__:
        if cls.__name__ in KINDS:
            return cls.__name__
    raise InvalidInputError(
        f"There is no picture of a {type(of).__name__}'s outputs; there are of {sorted(KINDS)}."
    )
