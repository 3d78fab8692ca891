r"""N-best lists of a translation system, as Moses writes them.

One hypothesis a line, the hypotheses of a sentence together:

    sentence ||| tokens ||| name: value value ... name: value ... ||| score [||| more]

A name ends in ``:`` or ``=``; its values become the features ``name_0, name_1, ...``, or ``name``
if there is but one. All lines must have the same features. Fields after the score are not read.

>>> import pathlib, tempfile
>>> with tempfile.TemporaryDirectory() as folder:
...     path = pathlib.Path(folder, "nbest")
...     _ = path.write_text("0 ||| a house ||| lm: -3 tm: -1 -2 ||| -6\n"
...                         "0 ||| the house ||| lm: -2 tm: -1 -5 ||| -8\n")
...     (first,) = read_nbest(path)
>>> first.hypotheses, first.names
(('a house', 'the house'), ('lm', 'tm_0', 'tm_1'))
>>> first.features
array([[-3., -1., -2.],
       [-2., -1., -5.]])
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from structopt.arrays import Floats
from structopt.datasets.home import find
from structopt.datasets.text_files import LineError, at, read_lines
from structopt.errors import FileFormatError
from structopt.parameters import checked

SEPARATOR = "|||"


@dataclass(frozen=True, eq=False)
class NBestList:
    """The hypotheses for one sentence.

    Attributes
    ----------
    sentence : int
        The number of the sentence.
    hypotheses : tuple of str
        Tokens separated by single blanks. Repeats have other features.
    features : array of shape (H, d)
    names : tuple of str
        The names of the features.
    scores : array of shape (H,)
        The system's own scores.
    """

    sentence: int
    hypotheses: tuple[str, ...]
    features: Floats
    names: tuple[str, ...]
    scores: Floats


@checked
def load_smt_nbest(
    *, home: str | os.PathLike[str] | None = None, lowercase: bool = True
) -> tuple[list[NBestList], list[str]]:
    """Load ``smt_nbest/nbest.out.gz`` and ``smt_nbest/reference.txt.gz`` from the data home.

    Parameters
    ----------
    home : path, optional
        A folder to look in instead of the data home.
    lowercase : bool
        Lower-case the references, as the hypotheses are.

    Returns
    -------
    lists : list of NBestList
    references : list of str
        Line k belongs to sentence k; only those of the lists, in their order.

    Raises
    ------
    MissingDataError
        A file is not there; the message says what to put where.
    FileFormatError
        A file is malformed; the message names the file, the line and the reason.
    """
    nbest, reference = (find("smt_nbest", n, home=home) for n in ("nbest.out", "reference.txt"))
    lists = read_nbest(nbest)
    lines = [" ".join(line.split()) for _, line in read_lines(reference)]
    for one in lists:
        if one.sentence >= len(lines):
            raise FileFormatError(
                f"{reference}: has {len(lines)} lines, but there is a list for sentence "
                f"{one.sentence} (counted from 0)."
            )
    chosen = [lines[one.sentence] for one in lists]
    return lists, [line.lower() for line in chosen] if lowercase else chosen


@checked
def read_nbest(path: str | os.PathLike[str]) -> list[NBestList]:
    """Read n-best lists, plain or gzipped (``.gz``).

    Returns
    -------
    list of NBestList
        In the order of the file.

    Raises
    ------
    FileFormatError
        The file is empty, truncated or malformed; the message names the file, line and reason.
    """
    path = Path(path)
    grouped: dict[int, list[tuple[str, list[float], float]]] = {}
    names: tuple[str, ...] | None = None
    last = None
    for number, line in read_lines(path):
        if not line.strip():
            continue
        try:
            sentence, hypothesis, found, values, score = _parse(line)
            if sentence != last and sentence in grouped:
                raise LineError(f"sentence {sentence} again, after sentence {last}")
            if names is not None and found != names:
                raise LineError(
                    f"{len(found)} features {_few(found)}; the lines before have {len(names)}, "
                    f"{_few(names)}"
                )
        except LineError as reason:
            raise at(path, number, f"{reason}.") from None
        names, last = found, sentence
        grouped.setdefault(sentence, []).append((hypothesis, values, score))
    if names is None:
        raise FileFormatError(f"{path}: the file holds no hypotheses.")
    return [
        NBestList(
            sentence,
            tuple(hypothesis for hypothesis, _, _ in rows),
            np.array([values for _, values, _ in rows]),
            names,
            np.array([score for _, _, score in rows]),
        )
        for sentence, rows in grouped.items()
    ]


def _parse(line: str) -> tuple[int, str, tuple[str, ...], list[float], float]:
    fields = [field.strip() for field in line.split(SEPARATOR)]
    if len(fields) < 4:
        raise LineError(
            f"expected sentence {SEPARATOR} tokens {SEPARATOR} features {SEPARATOR} score, found "
            f"{len(fields)} field(s)"
        )
    if not (fields[0].isascii() and fields[0].isdigit()) or len(fields[0]) > 18:
        raise LineError(f"the sentence should be a number from 0, not {fields[0][:20]!r}")
    groups: list[tuple[str, list[float]]] = []
    for token in fields[2].split():
        if token[-1] in ":=" and len(token) > 1:
            groups.append((token[:-1], []))
        elif not groups:
            raise LineError(f"the feature value {token[:20]!r} comes before any name")
        else:
            groups[-1][1].append(_number(token, f"a value of {groups[-1][0]!r}"))
    names = tuple(
        name if len(values) == 1 else f"{name}_{k}"
        for name, values in groups
        for k in range(len(values))
    )
    if not names:
        raise LineError("there are no features")
    if len(set(names)) < len(names):
        raise LineError(f"a feature stands twice among {_few(names)}")
    flat = [value for _, values in groups for value in values]
    return int(fields[0]), " ".join(fields[1].split()), names, flat, _number(fields[3], "the score")


def _number(token: str, what: str) -> float:
    try:
        value = float(token)
    except ValueError:
        raise LineError(f"{what} should be a number, not {token[:20]!r}") from None
    if not math.isfinite(value):
        raise LineError(f"{what} is {token}, which is not finite")
    return value


def _few(names: tuple[str, ...]) -> str:
    return ", ".join(names[:6]) + (", ..." if len(names) > 6 else "")
