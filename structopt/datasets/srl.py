r"""Semantic roles: who did what to whom, in the format of the Universal Proposition Bank 1.0.

CoNLL-U with further columns, tab separated: column 11 holds the sense of a predicate (``come.03``)
or ``_``, and each predicate has a column after it, in the order of the words, with a label on the
head word of every argument (``V`` on the predicate itself). Empty fields count as ``_``; words with
ids like ``8.1`` or ``3-4`` are left out.

>>> import pathlib, tempfile
>>> lines = ["1\tBirds\tbird\tNOUN\tNNS\t_\t2\tnsubj\t_\t_\t_\tARG0",
...          "2\tsing\tsing\tVERB\tVBP\t_\t0\troot\t_\t_\tsing.01\tV", ""]
>>> with tempfile.TemporaryDirectory() as folder:
...     path = pathlib.Path(folder, "birds.conllu")
...     _ = path.write_text("\n".join(lines))
...     sentences = read_srl(path)
>>> sentences[0].words, sentences[0].heads, sentences[0].predicates
(('Birds', 'sing'), (1, -1), (Predicate(position=1, sense='sing.01', arguments={0: 'ARG0'}),))
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from structopt.datasets.home import find
from structopt.datasets.text_files import at, read_lines
from structopt.parameters import checked

COLUMNS = 10
"""Columns of CoNLL-U; the eleventh is the predicate's sense."""


@dataclass(frozen=True)
class Predicate:
    """A predicate and its arguments: positions of head words to labels."""

    position: int
    sense: str
    arguments: dict[int, str]


@dataclass(frozen=True)
class Sentence:
    """A parsed sentence with its predicates; heads are positions, -1 for the root."""

    words: tuple[str, ...]
    lemmas: tuple[str, ...]
    tags: tuple[str, ...]
    heads: tuple[int, ...]
    relations: tuple[str, ...]
    predicates: tuple[Predicate, ...]


@checked
def load_srl(*, home: str | os.PathLike[str] | None = None) -> list[Sentence]:
    """Load the semantic roles of the English Web Treebank from the data home.

    Raises
    ------
    MissingDataError
        The file is not there; the message says what to put where.
    FileFormatError
        The file is malformed; the message names the file, the line and the reason.

    Notes
    -----
    2,002 sentences, 4,977 predicates, 9,682 arguments. The paper's own data (CoNLL-2004, Wall
    Street Journal) is not free.
    """
    return read_srl(find("srl", "en_ewt-up-dev.conllu", home=home))


@checked
def read_srl(path: str | os.PathLike[str]) -> list[Sentence]:
    """Read one file of sentences, gzipped or plain."""
    return list(_sentences(Path(path)))


def _sentences(path: Path) -> Iterator[Sentence]:
    rows: list[tuple[int, list[str]]] = []
    for number, text in read_lines(path):
        if not text.strip():
            if rows:
                yield _sentence(path, rows)
            rows = []
        elif not text.startswith("#"):
            fields = [field.strip() or "_" for field in text.split("\t")]
            if len(fields) < COLUMNS:
                reason = f"{len(fields)} columns; expected {COLUMNS} or more, tab separated"
                raise at(path, number, reason)
            if "." not in fields[0] and "-" not in fields[0]:
                rows.append((number, fields))
    if rows:
        yield _sentence(path, rows)


def _sentence(path: Path, rows: list[tuple[int, list[str]]]) -> Sentence:
    senses = [fields[COLUMNS] if len(fields) > COLUMNS else "_" for _, fields in rows]
    places = [t for t, sense in enumerate(senses) if sense != "_"]
    heads = []
    for t, (number, fields) in enumerate(rows):
        if fields[0] != str(t + 1):
            raise at(path, number, f"word {fields[0]!r} stands where {t + 1} should")
        if not fields[6].isdecimal() or int(fields[6]) > len(rows) or int(fields[6]) == t + 1:
            reason = f"the head is {fields[6]!r}; expected a number from 0 to {len(rows)}"
            raise at(path, number, reason + ", not the word itself")
        heads.append(int(fields[6]) - 1)
    for number, fields in rows:
        labels = fields[COLUMNS + 1 :]
        if len(labels) < len(places) or any(label != "_" for label in labels[len(places) :]):
            reason = f"{len(labels)} columns of arguments for {len(places)} predicates"
            raise at(path, number, reason)
    predicates = []
    for column, t in enumerate(places):
        labels = [fields[COLUMNS + 1 + column] for _, fields in rows]
        found = {s: label for s, label in enumerate(labels) if label not in ("_", "V")}
        predicates.append(Predicate(t, senses[t], found))
    words, lemmas, tags, relations = (tuple(f[c] for _, f in rows) for c in (1, 2, 4, 7))
    return Sentence(words, lemmas, tags, tuple(heads), relations, tuple(predicates))
