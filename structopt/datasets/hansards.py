r"""Word-aligned sentences in the format of the HLT-NAACL 2003 shared task.

A file of sentences has one tokenised sentence a line; a file of links has lines

    sentence  left position  right position  [S|P]        all counted from 1,

where S marks links that are sure (the default) and P those that are only possible.
`load_hansards` looks for ``hansards_alignment/test.e.gz``, ``test.f.gz``,
``test.wa.nonullalign.gz`` (or ``dev.*``) under the data home.

>>> alignment_error_rate([{(0, 0), (1, 1)}], [{(0, 0)}], [{(0, 0), (1, 1)}])
0.0
>>> round(alignment_error_rate([{(0, 1)}], [{(0, 0)}], [{(0, 0)}]), 6)
1.0
"""

from __future__ import annotations

import gzip
import os
import zlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from structopt.datasets.home import find_data
from structopt.errors import FileFormatError, InvalidInputError

Link = tuple[int, int]
Links = frozenset[Link]
FOLDER = "hansards_alignment"
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


def read_sentences(path: str | os.PathLike[str]) -> list[list[str]]:
    """Read tokenised sentences, one a line; ``.gz`` files are unpacked.

    Raises
    ------
    FileFormatError
        If the file is not UTF-8 text, or not a whole gzip file.
    """
    return [line.split() for line in _lines(path)]


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
    for number, line in enumerate(_lines(path), start=1):
        columns = line.split()
        if not columns:
            continue
        where = f"{path}, line {number}"
        if len(columns) not in (3, 4):
            raise FileFormatError(f"{where}: expected 3 or 4 columns, found {len(columns)}.")
        kind = columns[3] if len(columns) == 4 else "S"
        if kind not in ("S", "P"):
            raise FileFormatError(f"{where}: the last column should be S or P, not {kind!r}.")
        if not all(c.isascii() and c.isdigit() and len(c) < 10 for c in columns[:3]):
            raise FileFormatError(f"{where}: expected three whole numbers, found {columns[:3]}.")
        sentence, left, right = (int(c) for c in columns[:3])
        if not 1 <= sentence <= len(sizes):
            raise FileFormatError(
                f"{where}: sentence {sentence}, but there are {len(sizes)} sentences."
            )
        most = sizes[sentence - 1]
        if not (1 <= left <= most[0] and 1 <= right <= most[1]):
            raise FileFormatError(
                f"{where}: link {left}-{right} in a pair of {most[0]} and {most[1]} words."
            )
        link = (left - 1, right - 1)
        possible[sentence - 1].add(link)
        if kind == "S":
            sure[sentence - 1].add(link)
    return [frozenset(s) for s in sure], [frozenset(p) for p in possible]


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
    if split not in ("test", "dev"):
        raise InvalidInputError(f"split is {split!r}; it must be 'test' or 'dev'.")
    left, right = (read_sentences(_find(f"{split}.{side}", home)) for side in "ef")
    if len(left) != len(right):
        raise FileFormatError(f"{split}: {len(left)} English but {len(right)} French sentences.")
    sizes = [(len(e), len(f)) for e, f in zip(left, right, strict=True)]
    return AlignedSentences(left, right, *read_links(_find(f"{split}.wa.nonullalign", home), sizes))


def load_hansards_corpus(
    *, home: str | os.PathLike[str] | None = None
) -> tuple[list[list[str]], list[list[str]]]:
    """Load English and French sentences of the Hansards that nobody aligned."""
    english, french = (
        [s for name in CORPUS for s in read_sentences(_find(f"{name}.{side}", home))]
        for side in "ef"
    )
    if len(english) != len(french):
        raise FileFormatError(f"{len(english)} English but {len(french)} French sentences.")
    return english, french


def alignment_error_rate(
    predicted: Sequence[Collection[Link]],
    sure: Sequence[Collection[Link]],
    possible: Sequence[Collection[Link]],
) -> float:
    r"""Return the alignment error rate over all pairs.

    .. math:: 1 - \frac{|A\cap S| + |A\cap P|}{|A| + |S|}

    with predicted links A, sure links S and possible links P, S among them (Och and Ney 2003).
    """
    hits = size = 0
    for a, s, p in zip(predicted, sure, possible, strict=True):
        links = set(a)
        hits += len(links & set(s)) + len(links & (set(p) | set(s)))
        size += len(links) + len(s)
    return 1.0 - hits / size if size else 0.0


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


def _find(name: str, home: str | os.PathLike[str] | None) -> Path:
    names = [f"{FOLDER}/{name}.gz", f"{FOLDER}/{name}"]
    advice = "It belongs to the word alignment shared task of HLT-NAACL 2003."
    return find_data(names, what=f"the Hansards ({name})", advice=advice, home=home)


def _lines(path: str | os.PathLike[str]) -> list[str]:
    file = Path(path)
    try:
        raw = file.read_bytes()
        text = gzip.decompress(raw) if file.suffix == ".gz" else raw
        # only line feeds end a line: str.splitlines would also break at some letters' controls
        lines = text.decode("utf-8").replace("\r\n", "\n").split("\n")
    except UnicodeDecodeError as error:
        raise FileFormatError(f"{path}: not UTF-8 text ({error}).") from error
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise FileFormatError(f"{path}: not a whole gzip file ({error}).") from error
    return lines[:-1] if lines and not lines[-1] else lines
