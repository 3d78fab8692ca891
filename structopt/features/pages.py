r"""Features of the nodes of web pages: tag path, style, shape, length, place, and what precedes.

>>> from structopt.datasets.web_pages import parse_page
>>> page = parse_page("<ul><li><b>Price</b>: 3 $</ul>")
>>> node_features(page)[-1]
['bias', 'text', 'tag=li', 'path=body/ul/li', 'style=', 'depth=4', 'sibling=1', 'place=8',
 'length=1', 'shape=. 9 $', 'after=price']
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from structopt.arrays import count
from structopt.datasets.web_pages import PageNode
from structopt.errors import InvalidInputError
from structopt.parameters import Count, checked

BOLD = frozenset({"b", "strong", "h1", "h2", "h3", "h4", "h5", "h6", "th", "em"})
PATH, SHAPE, BEFORE = 3, 6, 3
"""Tags of a path, characters of a shape, and words of a preceding text that are looked at."""


def node_features(page: Sequence[PageNode]) -> list[list[str]]:
    """Return the names of the features that every node of a page has."""
    found = []
    before = ""
    for place, node in enumerate(page):
        if not isinstance(node, PageNode):
            raise InvalidInputError(
                f"A page is a list of PageNode (so.datasets.read_swde); got {type(node).__name__}."
            )
        names = [
            "bias",
            "element" if node.text is None else "text",
            f"tag={node.path[-1]}",
            f"path={'/'.join(node.path[-PATH:])}",
            f"style={node.style}",
            f"depth={len(node.path)}",
            f"sibling={min(node.sibling, 9)}",
            f"place={10 * place // len(page)}",
        ]
        names += ["bold"] if BOLD & set(node.path) else []
        names += ["link"] if "a" in node.path else []
        if node.text is not None:
            names.append(f"length={len(node.text).bit_length() // 2}")
            names.append(f"shape={shape(node.text)[:SHAPE]}")
            names.append(f"after={before}")
            before = " ".join(node.text.lower().split()[:BEFORE])
        found.append(names)
    return found


def shape(text: str) -> str:
    """Return the kinds of characters: A upper, a lower, 9 digit, . punctuation; runs once.

    >>> shape("June 2010, Hachette")
    'Aa 9. Aa'
    """
    return re.sub(r"(.)\1+", r"\1", "".join(_kind(c) for c in text))


def _kind(character: str) -> str:
    category = unicodedata.category(character)
    if category[0] == "L":
        return "A" if category == "Lu" else "a"
    return {"N": "9", "P": ".", "Z": " "}.get(category[0], character)


class PageFeatures:
    """Turns pages into inputs of :class:`structopt.Hierarchy`: (nodes, parents, None, types).

    Types are "text" and "element", for the argument ``allowed`` of `Hierarchy`.

    Parameters
    ----------
    min_count : int
        Features that fewer training nodes have are left out.

    Examples
    --------
    >>> from structopt.datasets.web_pages import parse_page
    >>> page = parse_page("<ul><li><b>Price</b>: 3 $</ul>")
    >>> nodes, parents, _, types = PageFeatures(min_count=1).fit([page]).transform([page])[0]
    >>> nodes.shape, parents, types[-1]
    ((7, 34), [-1, 0, 1, 2, 3, 4, 3], 'text')
    """

    names_: list[str]

    @checked
    def __init__(self, *, min_count: Count = 2) -> None:
        self.min_count = min_count

    def fit(self, pages: Sequence[Sequence[PageNode]]) -> Self:
        """Learn which features there are."""
        if hasattr(pages, "nnz") or hasattr(pages, "iloc"):
            raise InvalidInputError(f"pages is a {type(pages).__name__}: give a list of pages.")
        for i in range(count(pages, "pages")):
            count(pages[i], f"Page {i}")
        counts = Counter(n for page in pages for names in node_features(page) for n in names)
        self.names_ = sorted(name for name, count in counts.items() if count >= self.min_count)
        if not self.names_:
            raise InvalidInputError(
                f"No feature occurs {self.min_count} times in {len(pages)} page(s): give more "
                "pages or a smaller min_count."
            )
        return self

    def transform(self, pages: Sequence[Sequence[PageNode]]) -> list[tuple[Any, ...]]:
        """Return one tuple per page; features not seen before are ignored."""
        import scipy.sparse as sp

        if not hasattr(self, "names_"):
            raise InvalidInputError("Call fit on the training pages first.")
        column = {name: k for k, name in enumerate(self.names_)}
        inputs = []
        for page in pages:
            rows = [
                sorted(column[n] for n in names if n in column) for names in node_features(page)
            ]
            ends = np.cumsum([0, *map(len, rows)])
            flat = np.array([k for row in rows for k in row], dtype=np.int64)
            nodes = sp.csr_array(
                (np.ones(len(flat)), flat, ends), shape=(len(page), len(self.names_))
            )
            parents = [node.parent for node in page]
            types = ["element" if node.text is None else "text" for node in page]
            inputs.append((nodes, parents, None, types))
        return inputs

    def get_feature_names_out(self) -> list[str]:
        """Return the names of the columns."""
        return self.names_
