r"""Word-aligned sentences in the format of the HLT-NAACL 2003 shared task.

A file of sentences has one tokenised sentence a line; a file of links has lines

    sentence  left position  right position  [S|P]        all counted from 1,

where S marks links that are sure (the default) and P those that are only possible.
`load_hansards` looks for ``hansards_alignment/test.e.gz``, ``test.f.gz``,
``test.wa.nonullalign.gz`` (or ``dev.*``) under the data home.

>>> import pathlib, tempfile
>>> with tempfile.TemporaryDirectory() as folder:
...     path = pathlib.Path(folder, "links")
...     _ = path.write_text("1 1 1 S\n1 2 2 P\n")
...     sure, possible = read_links(path, [(2, 2)])
>>> sure, sorted(possible[0])
([frozenset({(0, 0)})], [(0, 0), (1, 1)])
"""

from __future__ import annotations

import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from structopt.datasets.home import check_split, find
from structopt.datasets.text_files import at, read_lines
from structopt.errors import FileFormatError
from structopt.parameters import checked

Link = tuple[int, int]
Links = frozenset[Link]
CORPUS = tuple(f"hansard.36.1.house.debates.00{k}" for k in (1, 2, 3))
"""Sentence pairs without alignments, to count words in."""


@dataclass(frozen=True)
class AlignedSentences:
    """Sentence pairs with their sure links and all possible ones (the sure ones among them)."""

    left: list[list[str]]
    right: list[list[str]]
    sure: list[Links]
    possible: list[Links]

    def __len__(self) -> int:
        return len(self.left)


@checked
def read_sentences(path: str | os.PathLike[str]) -> list[list[str]]:
    """Read tokenised sentences, one a line; ``.gz`` files are unpacked.

    Raises
    ------
    FileFormatError
        If the file is not UTF-8 text, or not a whole gzip file.
    """
    return [line.split() for _, line in read_lines(path)]


@checked
def read_links(
    path: str | os.PathLike[str], sizes: Sequence[tuple[int, int]]
) -> tuple[list[Links], list[Links]]:
    """Read sure and possible links of sentence pairs of the given sizes.

    Parameters
    ----------
    path : path
    sizes : sequence of (int, int)
        Words of the left and of the right sentence of every pair.

    Returns
    -------
    sure, possible : lists of frozensets of (left, right), counted from 0

    Raises
    ------
    FileFormatError
        With the file, the line and what is wrong with it.
    """
    sure: list[set[Link]] = [set() for _ in sizes]
    possible: list[set[Link]] = [set() for _ in sizes]
    for number, line in read_lines(path):
        columns = line.split()
        if not columns:
            continue
        if len(columns) not in (3, 4):
            raise at(path, number, f"expected 3 or 4 columns, found {len(columns)}.")
        kind = columns[3] if len(columns) == 4 else "S"
        if kind not in ("S", "P"):
            raise at(path, number, f"the last column should be S or P, not {kind!r}.")
        if not all(c.isascii() and c.isdigit() and len(c) < 10 for c in columns[:3]):
            raise at(path, number, f"expected three whole numbers, found {columns[:3]}.")
        sentence, left, right = (int(c) for c in columns[:3])
        if not 1 <= sentence <= len(sizes):
            raise at(path, number, f"sentence {sentence}, but there are {len(sizes)} sentences.")
        most = sizes[sentence - 1]
        if not (1 <= left <= most[0] and 1 <= right <= most[1]):
            words = f"{most[0]} and {most[1]} words"
            raise at(path, number, f"link {left}-{right} in a pair of {words}.")
        link = (left - 1, right - 1)
        possible[sentence - 1].add(link)
        if kind == "S":
            sure[sentence - 1].add(link)
    return [frozenset(s) for s in sure], [frozenset(p) for p in possible]


@checked
def load_hansards(
    split: str = "test", *, home: str | os.PathLike[str] | None = None
) -> AlignedSentences:
    """Load the hand-aligned English-French Hansards.

    Parameters
    ----------
    split : {"test", "dev"}
        447 or 37 sentence pairs.
    home : path, optional
        A folder to look in instead of :func:`~structopt.datasets.home.data_home`.
    """
    check_split(split, ("test", "dev"))
    left, right = (read_sentences(find("hansards", f"{split}.{side}", home=home)) for side in "ef")
    if len(left) != len(right):
        raise FileFormatError(f"{split}: {len(left)} English but {len(right)} French sentences.")
    sizes = [(len(e), len(f)) for e, f in zip(left, right, strict=True)]
    links = find("hansards", f"{split}.wa.nonullalign", home=home)
    return AlignedSentences(left, right, *read_links(links, sizes))


@checked
def load_hansards_corpus(
    *, home: str | os.PathLike[str] | None = None
) -> tuple[list[list[str]], list[list[str]]]:
    """Load English and French sentences of the Hansards that nobody aligned."""
    english, french = (
        [
            s
            for name in CORPUS
            for s in read_sentences(find("hansards", f"{name}.{side}", home=home))
        ]
        for side in "ef"
    )
    if len(english) != len(french):
        raise FileFormatError(f"{len(english)} English but {len(french)} French sentences.")
    return english, french


def one_to_one(links: Collection[Link], sizes: tuple[int, int]) -> Links:
    """Return a largest matching among links, those near the diagonal first.

    >>> sorted(one_to_one({(0, 0), (0, 1), (1, 1)}, (2, 2)))
    [(0, 0), (1, 1)]
    """
    from scipy.optimize import linear_sum_assignment

    if not links:
        return frozenset()
    gain = np.zeros(sizes)
    for i, j in links:
        # every link counts more than all distances from the diagonal together
        gain[i, j] = 1.0 + (1.0 - abs(i / sizes[0] - j / sizes[1])) / (2.0 + sum(sizes))
    rows, columns = linear_sum_assignment(gain, maximize=True)
    chosen = zip(rows.tolist(), columns.tolist(), strict=True)
    return frozenset((i, j) for i, j in chosen if gain[i, j] > 0)
