r"""Tagged sentences in columns, as the CoNLL shared tasks write them.

One token a line, columns separated by blanks or tabs, an empty line after each sentence.

>>> import pathlib, tempfile
>>> with tempfile.TemporaryDirectory() as folder:
...     path = pathlib.Path(folder, "tiny.txt")
...     _ = path.write_text("The DT B-NP\ncat NN I-NP\nsleeps VBZ B-VP\n\nHi UH O\n")
...     sentences = read_columns(path)
>>> sentences[0].words, sentences[0].column(-1)
(['The', 'cat', 'sleeps'], ['B-NP', 'I-NP', 'B-VP'])
"""

from __future__ import annotations

import os
from typing import NamedTuple

from structopt.datasets.home import find_data
from structopt.datasets.text_files import at, read_lines
from structopt.errors import FileFormatError, InvalidInputError


class ColumnSentence(NamedTuple):
    """The lines of a sentence, split into columns."""

    rows: list[list[str]]

    @property
    def words(self) -> list[str]:
        """The first column."""
        return self.column(0)

    def column(self, k: int) -> list[str]:
        """Return column k; -1 is the last."""
        return [row[k] for row in self.rows]


def read_columns(
    path: str | os.PathLike[str], *, n_columns: int | None = None
) -> list[ColumnSentence]:
    """Read the sentences of a file.

    Parameters
    ----------
    path : path
        UTF-8, gzipped or not.
    n_columns : int, optional
        Columns that every line must have; by default as many as the first line.

    Raises
    ------
    FileFormatError
        With the file, the line and the reason.
    """
    sentences: list[ColumnSentence] = []
    rows: list[list[str]] = []
    for number, line in read_lines(path):
        row = line.split()
        if row:
            wanted = len(row) if n_columns is None else n_columns
            n_columns = wanted
            if len(row) != wanted:
                raise at(path, number, f"{len(row)} columns, expected {wanted}: {line[:60]!r}")
            rows.append(row)
        elif rows:
            sentences.append(ColumnSentence(rows))
            rows = []
    if rows:
        sentences.append(ColumnSentence(rows))
    if not sentences:
        raise FileFormatError(f"{os.fspath(path)} holds no sentence.")
    return sentences


def load_conll2000(
    part: str = "train", *, home: str | os.PathLike[str] | None = None
) -> list[ColumnSentence]:
    """Load the chunking data of CoNLL-2000: columns word, part of speech, chunk tag.

    Looks for ``conll2000_chunking/train.txt.gz`` (or ``test``, plain or gzipped) in the data home.
    """
    _check_part(part, ("train", "test"))
    names = [f"conll2000_chunking/{part}.txt{end}" for end in (".gz", "")]
    advice = "It is the data of the CoNLL-2000 shared task, also in nltk_data as conll2000."
    found = find_data(names, what=f"CoNLL-2000's {part} sentences", advice=advice, home=home)
    return read_columns(found, n_columns=3)


def load_conll2002(
    part: str = "train", *, home: str | os.PathLike[str] | None = None
) -> list[ColumnSentence]:
    """Load the Spanish named entities of CoNLL-2002: columns word, part of speech, entity tag.

    Looks for ``conll2002_spanish/esp.train.gz`` (or ``testa``, ``testb``, plain or gzipped).
    """
    _check_part(part, ("train", "testa", "testb"))
    names = [f"conll2002_spanish/esp.{part}{end}" for end in (".gz", "")]
    advice = "It is the data of the CoNLL-2002 shared task, also in nltk_data as conll2002."
    found = find_data(names, what=f"CoNLL-2002's {part} sentences", advice=advice, home=home)
    return read_columns(found, n_columns=3)


def _check_part(part: str, known: tuple[str, ...]) -> None:
    if part not in known:
        raise InvalidInputError(f"part is {part!r}; choose one of {known}.")
