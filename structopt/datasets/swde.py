r"""SWDE: web pages of a site with the values of some attributes.

An archive of pages (``site/0000.htm``, ...), and for each attribute a table of values, separated by
tabs: two lines of names and counts, then ``page  number_of_values  value [value ...]``. A text node
is labelled with an attribute when its whole text equals a value of its page; see
:mod:`structopt.datasets.web_pages` for the other labels.

>>> import io, pathlib, tarfile, tempfile
>>> html = b"<h2>Emma</h2><ul><li><b>Author</b>: Jane Austen</ul>"
>>> with tempfile.TemporaryDirectory() as name:
...     folder = pathlib.Path(name)
...     with tarfile.open(folder / "pages.tar.gz", "w:gz") as archive:
...         member = tarfile.TarInfo("books/0000.htm")
...         member.size = len(html)
...         archive.addfile(member, io.BytesIO(html))
...     table = folder / "book-books-author.txt"
...     _ = table.write_text("book\tbooks\tauthor\n1\t1\t1\t1\n0000\t1\t: Jane Austen\n")
...     (page,) = read_swde(folder / "pages.tar.gz", [table])
>>> [(n.text, label) for n, label in zip(page.nodes, page.labels) if n.text]
[('Emma', 'other'), ('Author', 'other'), (': Jane Austen', 'author')]
"""

from __future__ import annotations

import html
import os
import tarfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import PurePosixPath
from typing import NamedTuple

from structopt.datasets.home import find_all
from structopt.datasets.text_files import at, read_lines
from structopt.datasets.web_pages import PageNode, label_nodes, parse_page
from structopt.errors import FileFormatError, InvalidInputError, MissingDataError
from structopt.parameters import checked

LARGEST = 10_000_000
"""Bytes of a page; the largest of SWDE has less than a tenth. An archive may hold bombs."""
NOTHING = "<NULL>"
"""What a table says where a page has no value."""


class WebPage(NamedTuple):
    """A page, its nodes and a label for each."""

    name: str
    nodes: list[PageNode]
    labels: list[str]


@checked
def load_swde(
    n_pages: int | None = None, *, home: str | os.PathLike[str] | None = None
) -> list[WebPage]:
    """Load the first pages (all by default) of ``swde_books/*.tar.gz`` with all tables beside them.

    Tables are ``swde_books/groundtruth/*.txt`` or ``.txt.gz``; there must be one archive.
    """
    folder, (archives, tables) = find_all("swde", "*.tar.gz", "groundtruth/*.txt", home=home)
    if len(archives) != 1:
        raise MissingDataError(
            f"{folder} should hold one archive *.tar.gz; it holds {len(archives)}.", path=folder
        )
    return read_swde(archives[0], tables, n_pages=n_pages)


@checked
def read_swde(
    archive: str | os.PathLike[str],
    tables: Sequence[str | os.PathLike[str]],
    *,
    n_pages: int | None = None,
) -> list[WebPage]:
    """Read pages and label them.

    Parameters
    ----------
    archive : path
        A tar file, compressed or not. Nothing of it is written to disk.
    tables : sequence of paths
        One table per attribute. Where a text is a value of two attributes the first table wins.
    n_pages : int, optional
        Only the first pages of the archive.

    Raises
    ------
    FileFormatError
        With the archive and the page, or the table and the line.
    """
    if n_pages is not None and n_pages < 1:
        raise InvalidInputError(f"n_pages must be at least 1; got {n_pages}.")
    values: dict[str, dict[str, str]] = {}
    for table in tables:
        attribute, rows = read_table(table)
        for page, texts in rows.items():
            for text in texts:
                values.setdefault(page, {}).setdefault(text, attribute)
    pages = []
    for name, raw in _members(archive):
        where = f"{os.fspath(archive)}, page {name}"
        try:
            nodes = parse_page(raw.decode("utf-8-sig"))
        except UnicodeDecodeError as error:
            raise FileFormatError(f"{where}: not UTF-8: {error}") from error
        except FileFormatError as error:
            raise FileFormatError(f"{where}: {error}") from error
        page = PurePosixPath(name).stem
        pages.append(WebPage(page, nodes, label_nodes(nodes, values.get(page, {}))))
        if len(pages) == n_pages:
            break
    if not pages:
        raise FileFormatError(f"{os.fspath(archive)} holds no page *.htm or *.html.")
    return pages


@checked
def read_table(path: str | os.PathLike[str]) -> tuple[str, dict[str, list[str]]]:
    """Return the attribute of a table, and the values of every page."""
    lines = [(number, line) for number, line in read_lines(path) if line.strip()]
    if len(lines) < 2 or len(lines[0][1].split("\t")) != 3:
        raise FileFormatError(
            f"{os.fspath(path)} should begin with vertical, site and attribute, separated by tabs, "
            "and a line of counts."
        )
    attribute = lines[0][1].split("\t")[2].strip()
    rows: dict[str, list[str]] = {}
    for number, line in lines[2:]:
        page, _, rest = line.rstrip("\t").partition("\t")
        count, *texts = rest.split("\t")
        if page in rows:
            raise at(path, number, f"page {page} again")
        texts = [] if texts == [NOTHING] else [" ".join(html.unescape(t).split()) for t in texts]
        if not count.isdecimal() or int(count) != len(texts):
            raise at(path, number, f"{len(texts)} values, where {count!r} are said to be")
        rows[page] = texts
    return attribute, rows


def _members(path: str | os.PathLike[str]) -> Iterator[tuple[str, bytes]]:
    """Yield the pages of an archive; links and devices are no pages."""
    if not os.path.exists(path):
        raise MissingDataError(f"There is no file {os.fspath(path)!r}.", path=path)
    try:
        with tarfile.open(path) as archive:
            for member in archive:
                if not member.isreg() or not member.name.lower().endswith((".htm", ".html")):
                    continue
                if member.size > LARGEST:
                    raise FileFormatError(
                        f"{os.fspath(path)}, page {member.name}: {member.size} bytes, more than "
                        f"{LARGEST}."
                    )
                file = archive.extractfile(member)
                assert file is not None  # a regular file
                yield member.name, file.read()
    except (tarfile.TarError, EOFError, zlib.error, OSError) as error:
        if isinstance(error, FileNotFoundError):
            raise
        raise FileFormatError(f"{os.fspath(path)} is no whole archive: {error}") from error
