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

from structopt.datasets.home import check_split, find
from structopt.datasets.renamed import renamed
from structopt.datasets.text_files import at, read_lines
from structopt.errors import FileFormatError
from structopt.parameters import checked


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


@checked
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


@renamed(part="split")
@checked
def load_conll2000(
    split: str = "train", *, home: str | os.PathLike[str] | None = None
) -> list[ColumnSentence]:
    """Load the chunking data of CoNLL-2000: columns word, part of speech, chunk tag.

    Looks for ``conll2000_chunking/train.txt.gz`` (or ``test``, plain or gzipped) in the data home.
    """
    check_split(split, ("train", "test"))
    return read_columns(find("conll2000", f"{split}.txt", home=home), n_columns=3)


@renamed(part="split")
@checked
def load_conll2002(
    split: str = "train", *, home: str | os.PathLike[str] | None = None
) -> list[ColumnSentence]:
    """Load the Spanish named entities of CoNLL-2002: columns word, part of speech, entity tag.

    Looks for ``conll2002_spanish/esp.train.gz`` (or ``testa``, ``testb``, plain or gzipped).
    """
    check_split(split, ("train", "testa", "testb"))
    return read_columns(find("conll2002", f"esp.{split}", home=home), n_columns=3)
