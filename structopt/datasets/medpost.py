r"""MedPost: part-of-speech tagged sentences from MEDLINE.

Two lines a sentence: an id, then ``word_TAG`` tokens separated by blanks, split at the last
underscore. A tag that ends in ``+`` marks a word inside an item of several words.

>>> import pathlib, tempfile
>>> with tempfile.TemporaryDirectory() as folder:
...     path = pathlib.Path(folder, "tag_x.ioc")
...     _ = path.write_text("P1A01\nIn_II addition_II+ ,_, cells_NNS\n")
...     read_medpost(path)[0]
TaggedSentence(words=['In', 'addition', ',', 'cells'], tags=['II', 'II+', ',', 'NNS'])
"""

from __future__ import annotations

import os
from typing import NamedTuple

from structopt.datasets.home import find_all
from structopt.datasets.text_files import at, read_lines
from structopt.errors import FileFormatError
from structopt.parameters import checked


class TaggedSentence(NamedTuple):
    """Words and their tags."""

    words: list[str]
    tags: list[str]


@checked
def load_medpost(
    *, merge: bool = True, home: str | os.PathLike[str] | None = None
) -> list[TaggedSentence]:
    """Load all sentences of the corpus: every ``medpost/tag_*.ioc[.gz]`` of the data home.

    Parameters
    ----------
    merge : bool
        Drop the ``+`` of tags inside items of several words (57 tags instead of 67).
    home : path, optional
        A folder to look in instead of the data home.
    """
    _, (paths,) = find_all("medpost", "tag_*.ioc", home=home)
    return [sentence for path in paths for sentence in read_medpost(path, merge=merge)]


@checked
def read_medpost(path: str | os.PathLike[str], *, merge: bool = False) -> list[TaggedSentence]:
    """Read the sentences of one file; see :func:`load_medpost`.

    Raises
    ------
    FileFormatError
        With the file, the line and the reason.
    """
    sentences = []
    lines = [(number, line.strip()) for number, line in read_lines(path)]
    lines = [(number, line) for number, line in lines if line]
    for (first, name), (second, text) in zip(lines[::2], lines[1::2], strict=False):
        if "_" in name or " " in name:
            raise at(path, first, f"expected a sentence's id, found {name[:40]!r}")
        words, tags = [], []
        for token in text.split():
            word, mark, tag = token.rpartition("_")
            if not (word and mark and tag):
                raise at(path, second, f"{token!r} is no word_TAG")
            words.append(word)
            tags.append(tag.rstrip("+") or tag if merge else tag)
        sentences.append(TaggedSentence(words, tags))
    if len(lines) % 2:
        raise at(path, lines[-1][0], "the file ends after a sentence's id: it is truncated")
    if not sentences:
        raise FileFormatError(f"{os.fspath(path)} holds no sentence.")
    return sentences
