r"""Web pages as trees: the elements that hold text, and their text nodes.

A node is an element with some text below it, or a text; parents come before children. Labels belong
to texts; an element is "inside" if a labelled text lies below it and "outside" if none does, so
that the edges of :class:`structopt.Hierarchy` say where the record is.

>>> page = parse_page("<ul><li><b>Price</b>: 3 $<li>Sale</ul>")
>>> [(node.tag, node.text, node.parent) for node in page[-5:]]
[('b', None, 3), ('', 'Price', 4), ('', ': 3 $', 3), ('li', None, 2), ('', 'Sale', 7)]
>>> label_nodes(page, {": 3 $": "price"})[-5:]
['outside', 'other', 'price', 'outside', 'other']
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from structopt.errors import FileFormatError, MissingDependencyError

SILENT = frozenset({"script", "style"})
"""Elements whose text nobody sees."""


class PageNode(NamedTuple):
    """An element, or a text."""

    parent: int
    """The place of the parent, -1 for the root."""
    tag: str
    """"" for a text."""
    style: str
    """The element's class, or else its id; of a text: that of its parent."""
    text: str | None
    """White space squeezed; None for an element."""
    path: tuple[str, ...]
    """Tags from the root to this element, or to the parent of this text."""
    sibling: int
    """How many nodes with the same parent come before."""


def parse_page(html: str) -> list[PageNode]:
    """Return the nodes of a page in document order.

    Raises
    ------
    FileFormatError
        The page holds no text.
    MissingDependencyError
        lxml is not installed.
    """
    root = _tree(html)
    kept = _with_text(root)
    nodes: list[PageNode] = []
    children: dict[int, int] = {}

    def add(parent: int, tag: str, style: str, text: str | None, path: tuple[str, ...]) -> int:
        sibling = children.get(parent, 0)
        children[parent] = sibling + 1
        nodes.append(PageNode(parent, tag, style, text, path, sibling))
        return len(nodes) - 1

    # A stack of what comes next, not recursion: pages nest deeply. A text waits as a string.
    waiting: list[tuple[Any, int]] = [(root, -1)]
    while waiting:
        item, parent = waiting.pop()
        if isinstance(item, str):
            add(parent, "", nodes[parent].style, item, nodes[parent].path)
            continue
        above = nodes[parent].path if parent >= 0 else ()
        style = item.get("class") or item.get("id") or ""
        here = add(parent, item.tag, style, None, (*above, item.tag))
        inside: list[tuple[Any, int]] = [(text, here) for text in [_squeeze(item.text)] if text]
        for child in item:
            if child in kept:
                inside.append((child, here))
            if tail := _squeeze(child.tail):
                inside.append((tail, here))
        waiting.extend(reversed(inside))
    return nodes


def label_nodes(nodes: list[PageNode], values: Mapping[str, str]) -> list[str]:
    """Return a label for every node: ``values`` maps whole texts to labels."""
    labels = ["outside" if n.text is None else values.get(n.text, "other") for n in nodes]
    for place in reversed(range(len(nodes))):
        parent = nodes[place].parent
        if parent >= 0 and labels[place] not in ("outside", "other"):
            labels[parent] = "inside"
    return labels


def _tree(html: str) -> Any:
    try:
        from lxml import etree
        from lxml import html as reader
    except ImportError as error:
        raise MissingDependencyError(
            "Web pages need lxml; install it with: pip install 'structopt-margin[data]'"
        ) from error
    # Bytes with the encoding said, because text may itself declare another one.
    parser = reader.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True)
    try:
        root = reader.document_fromstring(html.encode("utf-8"), parser=parser)
    except (etree.ParserError, etree.XMLSyntaxError, UnicodeEncodeError) as error:
        raise FileFormatError(f"no HTML: {error}") from error
    if not any(True for _ in _texts(root)):
        raise FileFormatError("the page holds no text")
    return root


def _texts(root: Any) -> Any:
    """Yield the elements that hold a text of their own, or that a text follows, with its holder."""
    for element in root.iter():
        if element.tag not in SILENT and _squeeze(element.text):
            yield element
        parent = element.getparent()
        if parent is not None and parent.tag not in SILENT and _squeeze(element.tail):
            yield parent


def _with_text(root: Any) -> set[Any]:
    """Return the elements with some text below them."""
    kept = {root}
    for element in _texts(root):
        while element is not None and element not in kept:
            kept.add(element)
            element = element.getparent()
    return kept


def _squeeze(text: str | None) -> str:
    return " ".join(text.split()) if text else ""
