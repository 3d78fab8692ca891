r"""Sentences with tags and dependency trees: files in the CoNLL-U format.

One token a line, ten tab-separated columns: ID FORM LEMMA UPOS XPOS FEATS HEAD DEPREL DEPS MISC; a
blank line ends a sentence, ``#`` begins a comment. Surface tokens (``3-4``) and empty nodes
(``5.1``) are not part of the tree and are left out. Files may be gzipped.

>>> import pathlib, tempfile
>>> lines = ["# text = it works", "1\tit\tit\tPRON\tPE\t_\t2\tnsubj\t_\t_",
...          "2\tworks\twork\tVERB\tV\t_\t0\troot\t_\t_", ""]
>>> with tempfile.TemporaryDirectory() as folder:
...     path = pathlib.Path(folder, "tiny.conllu")
...     _ = path.write_text("\n".join(lines))
...     sentences = read_conllu(path)
>>> sentences[0].forms, sentences[0].upos, sentences[0].heads
(['it', 'works'], ['PRON', 'VERB'], [2, 0])
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from structopt.datasets.home import find
from structopt.datasets.renamed import renamed
from structopt.datasets.text_files import at, read_lines
from structopt.errors import FileFormatError, MissingDataError
from structopt.parameters import checked

COLUMNS = 10


class Sentence(NamedTuple):
    """The columns of a sentence; token m has the head ``heads[m - 1]``, 0 is the root."""

    forms: list[str]
    lemmas: list[str]
    upos: list[str]
    xpos: list[str]
    heads: list[int]
    relations: list[str]


@renamed(part="split")
@checked
def load_partut(split: str, *, home: str | os.PathLike[str] | None = None) -> list[Sentence]:
    """Read a split ("train", "dev" or "test") of UD English ParTUT from the data home."""
    return read_conllu(find("partut", f"en_partut-ud-{split}.conllu", home=home))


@renamed(part="split")
@checked
def load_treebank(folder: str | os.PathLike[str], split: str) -> list[Sentence]:
    """Read a split of a treebank: the one file ``*-train.conllu``, gzipped or not, in a folder."""
    pattern = f"*{split}.conllu"
    found = sorted(p for end in ("", ".gz") for p in Path(folder).glob(pattern + end))
    if len(found) != 1:
        several = ", ".join(p.name for p in found) or "none"
        raise MissingDataError(
            f"{os.fspath(folder)} should hold one file {pattern}[.gz]; it holds {several}.",
            path=folder,
        )
    return read_conllu(found[0])


@checked
def read_conllu(path: str | os.PathLike[str], *, parsed: bool = True) -> list[Sentence]:
    """Read the sentences of a file.

    Parameters
    ----------
    path : path
    parsed : bool
        Whether every token must have a head; else all heads are -1 in a sentence where HEAD is
        ``_`` throughout.

    Raises
    ------
    FileFormatError
        With the file, the line and the reason: wrong columns, numbers out of order, a head that is
        not a token of the sentence, heads that are no tree.
    """
    found = [_sentence(rows, path, parsed) for rows in _blocks(path) if rows]
    if not found:
        raise FileFormatError(f"{os.fspath(path)} holds no sentence.")
    return found


def _blocks(path: str | os.PathLike[str]) -> Iterator[list[list[str]]]:
    """Yield the rows of tokens of every sentence, each with its line number at the end."""
    rows: list[list[str]] = []
    for number, line in read_lines(path):
        if not line.strip():
            yield rows
            rows = []
        elif not line.startswith("#"):
            row = line.split("\t")
            if len(row) != COLUMNS:
                raise at(path, number, f"{len(row)} columns, expected {COLUMNS}")
            if "-" in row[0] or "." in row[0]:
                continue
            if row[0] != str(len(rows) + 1):
                raise at(path, number, f"ID {row[0]!r}, expected {len(rows) + 1}")
            rows.append([*row, str(number)])
    yield rows


def _sentence(rows: list[list[str]], path: str | os.PathLike[str], parsed: bool) -> Sentence:
    columns = ([row[c] for row in rows] for c in (1, 2, 3, 4, 7))
    forms, lemmas, upos, xpos, relations = columns
    if not parsed and all(row[6] == "_" for row in rows):
        return Sentence(forms, lemmas, upos, xpos, [-1] * len(rows), relations)
    for row in rows:
        if not row[6].isdecimal():
            raise at(path, int(row[-1]), f"HEAD {row[6]!r} is not a number")
    heads = [int(row[6]) for row in rows]
    for row, head in zip(rows, heads, strict=True):
        if head > len(rows):
            reason = f"HEAD {head} in a sentence of {len(rows)} tokens"
            raise at(path, int(row[-1]), reason)
    for m in range(1, len(heads) + 1):
        node, steps = m, 0
        while node and steps <= len(heads):
            node, steps = heads[node - 1], steps + 1
        if node:
            raise at(path, int(rows[m - 1][-1]), f"token {m} is on or below a cycle of heads")
    return Sentence(forms, lemmas, upos, xpos, heads, relations)
