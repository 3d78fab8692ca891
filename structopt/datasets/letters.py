r"""Handwritten words, letter by letter: the OCR data of Kassel and Taskar.

One letter a line, tab separated, 134 columns: id, letter, id of the next letter (-1 at the end of a
word), word id, position, fold (0-9), and the 16 x 8 binary pixels row by row. A word is a run of
lines in which each names the next; the columns word id and position are not used, as in the
original description. The same data as arrays (``letters.npz``: `pixels`, `labels`, `word_lengths`,
`folds`) loads faster.

>>> import pathlib, tempfile
>>> line = "{}\t{}\t{}\t1\t{}\t0\t" + "\t".join("01" * 64) + "\n"
>>> with tempfile.TemporaryDirectory() as folder:
...     path = pathlib.Path(folder, "letter.data")
...     _ = path.write_text(line.format(1, "o", 2, 1) + line.format(2, "n", -1, 2))
...     X, Y, folds = read_letters(path)
>>> X[0].shape, Y, folds
((2, 128), [['o', 'n']], array([0]))
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from structopt.arrays import Floats, Ints
from structopt.datasets.home import find
from structopt.datasets.text_files import LineError, at, read_bytes
from structopt.errors import FileFormatError, InvalidInputError
from structopt.files import read_plain_arrays
from structopt.parameters import checked

PIXELS = 128
HEAD = 6  # columns before the pixels
FOLDS = 10
BAD_PIXEL = "each pixel should be 0 or 1"
FILE = "letter.data"
"""Also gzipped, or as letters.npz."""


class Letters(NamedTuple):
    """Words with their inputs, labels and folds."""

    X: list[Floats]
    Y: list[list[str]]
    folds: Ints


@checked
def load_letters(
    folds: int | Iterable[int] | None = None,
    *,
    return_folds: bool = False,
    home: str | os.PathLike[str] | None = None,
) -> tuple[Any, ...]:
    """Load the handwritten words from the data home.

    Looks for ``ocr_letters/letters.npz``, ``ocr_letters/letter.data.gz`` and
    ``ocr_letters/letter.data``, in this order, under :func:`~structopt.datasets.home.data_home`.

    Parameters
    ----------
    folds : int or iterable of int, optional
        Only words of these folds (0 to 9); all of them by default.
    return_folds : bool
        Also return the fold of each word.
    home : path, optional
        A folder to look in instead of the data home.

    Returns
    -------
    X : list of arrays of shape (length, 128)
        Pixels, 0.0 or 1.0, 16 rows of 8.
    Y : list of lists of str
        Letters "a" to "z". The first letter of each word was a capital and is not in the data.
    folds : int array
        The fold of each word; only with ``return_folds=True``.

    Raises
    ------
    MissingDataError
        The file is not there; the message says what to put where.
    FileFormatError
        The file is truncated, foreign or malformed; the message names the file, line and reason.

    Notes
    -----
    6,877 words of 3 to 14 letters, 55 of them distinct. R. Kassel, MIT Spoken Language Systems
    Group; B. Taskar, C. Guestrin and D. Koller, "Max-Margin Markov Networks", 2003.
    """
    wanted = None if folds is None else _check_folds(folds)
    letters = _read(find("letters", FILE, home=home), wanted)
    return letters if return_folds else (letters.X, letters.Y)


@checked
def read_letters(path: str | os.PathLike[str]) -> Letters:
    """Read one file of handwritten words: ``.npz``, gzipped (``.gz``) or plain ``letter.data``.

    Returns
    -------
    Letters
        The named tuple ``(X, Y, folds)``, as of :func:`load_letters`.

    Raises
    ------
    FileFormatError
        The file is truncated, foreign or malformed.
    """
    return _read(Path(path), None)


def _read(path: Path, wanted: list[int] | None) -> Letters:
    if path.suffix == ".npz":
        return _read_arrays(path, wanted)
    return _read_lines(path, wanted)


def _read_lines(path: Path, wanted: list[int] | None) -> Letters:
    heads: list[_Head] = []
    pixels: list[bytes] = []
    numbers: list[int] = []
    lengths: list[int] = []
    size = 0  # letters of the word that is being read
    for number, raw in enumerate(read_bytes(path).split(b"\n"), start=1):
        line = raw.rstrip(b"\r\t")  # the original file ends its lines with a tab
        if not line:
            continue
        try:
            head, row = _parse(line)
            if size:
                _check_follows(heads[-1], head)
        except LineError as reason:
            raise at(path, number, f"{reason}.") from None
        heads.append(head)
        pixels.append(row)
        numbers.append(number)
        size += 1
        if head.following == -1:
            lengths.append(size)
            size = 0
    if not heads:
        raise FileFormatError(f"{path}: the file holds no letters.")
    if size:
        following = heads[-1].following
        raise at(
            path, numbers[-1], f"the file ends inside a word; letter {following} should follow."
        )
    # One look at all pixels instead of one a line: every pixel and every tab is one character.
    grid = np.frombuffer(b"".join(pixels), dtype=np.uint8).reshape(len(heads), 2 * PIXELS - 1)
    values = grid[:, ::2] - np.uint8(ord("0"))
    bad = ((values > 1).any(axis=1) | (grid[:, 1::2] != ord("\t")).any(axis=1)).nonzero()[0]
    if len(bad):
        raise at(path, numbers[bad[0]], f"{BAD_PIXEL}.")
    labels, folds = np.array([[head.label, head.fold] for head in heads]).T
    sizes = np.array(lengths)
    return _words(values, labels, sizes, folds[np.cumsum(sizes) - 1], wanted)


class _Head(NamedTuple):
    """The columns before the pixels that are used."""

    ident: int
    label: int
    following: int
    fold: int


def _parse(line: bytes) -> tuple[_Head, bytes]:
    found = line.count(b"\t") + 1
    if found != HEAD + PIXELS:
        raise LineError(f"expected {HEAD + PIXELS} tab-separated columns, found {found}")
    ident, letter, following, _word, _position, fold, pixels = line.split(b"\t", HEAD)
    if len(letter) != 1 or not b"a" <= letter <= b"z":
        raise LineError(f"column 2 should be a letter a-z, not {_show(letter)}")
    head = _Head(
        _integer(ident, 1), letter[0] - ord("a"), _integer(following, 3), _integer(fold, 6)
    )
    if not 0 <= head.fold < FOLDS:
        raise LineError(f"column 6 should be a fold 0-{FOLDS - 1}, not {head.fold}")
    if len(pixels) != 2 * PIXELS - 1:
        raise LineError(BAD_PIXEL)
    return head, pixels


def _check_follows(before: _Head, head: _Head) -> None:
    if head.ident != before.following:
        raise LineError(
            f"the letter before names {before.following} as the next, but this is {head.ident}"
        )
    if head.fold != before.fold:
        raise LineError(f"fold {head.fold} in a word that began in fold {before.fold}")


def _integer(text: bytes, column: int) -> int:
    # int() alone also takes "1_0" and " 1".
    if not text.removeprefix(b"-").isdigit() or len(text) > 18:
        raise LineError(f"column {column} should be an integer, not {_show(text)}")
    return int(text)


def _show(text: bytes) -> str:
    return repr(text[:20].decode("utf-8", "replace"))


def _read_arrays(path: Path, wanted: list[int] | None) -> Letters:
    names = ("pixels", "labels", "word_lengths", "folds")
    pixels, labels, lengths, folds = read_plain_arrays(path, names).values()
    if not all(np.issubdtype(a.dtype, np.integer) for a in (pixels, labels, lengths, folds)):
        raise FileFormatError(f"{path}: the arrays should hold integers.")
    if pixels.ndim != 2 or pixels.shape[1] != PIXELS or labels.shape != pixels.shape[:1]:
        raise FileFormatError(
            f"{path}: expected pixels of shape (n, {PIXELS}) and n labels, found shapes "
            f"{pixels.shape} and {labels.shape}."
        )
    if lengths.ndim != 1 or folds.shape != lengths.shape or np.any(lengths < 1):
        raise FileFormatError(f"{path}: each word should have a positive length and a fold.")
    if lengths.sum() != len(labels):
        raise FileFormatError(
            f"{path}: word_lengths add up to {lengths.sum()}, but there are {len(labels)} letters."
        )
    for values, name, most in ((pixels, "pixels", 1), (labels, "labels", 25), (folds, "folds", 9)):
        if len(values) and not (values.min() >= 0 and values.max() <= most):
            raise FileFormatError(f"{path}: {name} should be between 0 and {most}.")
    return _words(pixels, labels, lengths, folds, wanted)


def _words(
    pixels: NDArray[Any], labels: Ints, lengths: Ints, folds: Ints, wanted: list[int] | None
) -> Letters:
    if wanted is not None:  # before the pixels grow to eight bytes each
        kept = np.isin(folds, wanted)
        letters_kept = np.repeat(kept, lengths)
        pixels, labels = pixels[letters_kept], labels[letters_kept]
        lengths, folds = lengths[kept], folds[kept]
    borders = np.cumsum(lengths)[:-1]
    letters = [chr(ord("a") + label) for label in labels.tolist()]
    starts = np.concatenate([[0], np.cumsum(lengths)]).tolist()
    X = np.split(pixels.astype(np.float64), borders) if len(lengths) else []
    Y = [letters[a:b] for a, b in pairwise(starts)]
    return Letters(X, Y, folds.astype(np.int64))


def _check_folds(folds: int | Iterable[int]) -> list[int]:
    wanted = [folds] if isinstance(folds, int | np.integer) else list(folds)
    for fold in wanted:
        if not isinstance(fold, int | np.integer) or not 0 <= fold < FOLDS:
            raise InvalidInputError(f"folds are 0 to {FOLDS - 1}, not {fold!r}.")
    return [int(fold) for fold in wanted]
