"""What a file gives a command: inputs, outputs if it has them, and what is made and said of them.

columns   one token a line, columns separated by blanks, the tag last (CoNLL, CRF++)
crfsuite  one token a line, the label first, then attributes, tabs between (CRFsuite)
jsonl     one sequence a line: {"tokens": [...], "tags": [...]}
svmlight  one row a line: label number:value number:value ...
conllu    sentences with heads: dependency trees
roles     CoNLL-U with columns of predicates and their arguments: semantic roles
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, ClassVar

from structopt.errors import FileFormatError, InvalidInputError
from structopt.lab.harness.arguments import argument
from structopt.learn import metrics

FORMATS = ("columns", "crfsuite", "jsonl", "svmlight", "conllu", "roles")
_BY_NAME = {".libsvm": "svmlight", ".svm": "svmlight"} | {f".{name}": name for name in FORMATS}


@dataclass
class Given(ABC):
    """Inputs and outputs of a file; each kind of output says how it is learned and scored."""

    X: Any
    Y: Any
    format: str

    def tagged(self, name: str) -> tuple[Any, Any]:
        """Return inputs and outputs; refuse a file without outputs."""
        if self.Y is None:
            raise FileFormatError(f"{name} holds no {self.missing}.")
        return self.X, self.Y

    missing: ClassVar[str] = "outputs"
    """What a file without outputs lacks."""

    scored: ClassVar[tuple[str, ...]] = ()
    """The scores that ``tune`` can compare, its default first; none where it cannot."""

    def some(self, places: Any) -> Any:
        """Return some of the inputs."""
        return [self.X[i] for i in places]

    @abstractmethod
    def size(self) -> str:
        """Say how much there is to learn from."""

    @abstractmethod
    def structure(self, transitions: str) -> Any:
        """Return what outputs can be."""

    @abstractmethod
    def features(self, recipe: Any) -> Any:
        """Return the features asked for, not fitted; None if inputs are numbers already."""

    def predicted(self, model: Any) -> Any:
        """Return the outputs that a model gives."""
        return model.predict(self.X)

    @abstractmethod
    def lines(self, predicted: Any) -> Iterator[str]:
        """Yield the lines to write of predicted outputs."""

    @abstractmethod
    def scores(self, predicted: Any) -> Iterator[str]:
        """Yield lines that score predicted outputs."""

    def confusion(self, predicted: Any) -> str:
        """Return which label is taken for which."""
        return str(metrics.confusion(self.Y, predicted))

    def names(self, x: Any) -> list[str] | None:
        """Return what stands in front of an explained input's parts."""
        return None


def read_given(path: str, format: str | None, model: Any = None) -> Given:
    """Read a file, or standard input if it is "-".

    Parameters
    ----------
    path : str
    format : str, optional
        By default by the file's name (.jsonl, .svmlight, ...), else what the model was trained on,
        else columns.
    model : StructuredClassifier, optional
        One that is to predict: it knows how many columns there are.
    """
    ends = PurePath(os.fspath(path).removesuffix(".gz")).suffix
    trained = None if model is None else _of_model(model)
    format = format or _BY_NAME.get(ends) or trained or "columns"
    if format == "conllu" and trained == "roles":
        format = "roles"
    if format not in FORMATS:
        raise InvalidInputError(f"There is no format {format!r}; choose one of {FORMATS}.")
    if format == "svmlight":
        from structopt.cli.rows import read_rows

        return read_rows(path, model)
    if format == "conllu":
        from structopt.cli.trees import read_trees

        return read_trees(path)
    if format == "roles":
        from structopt.cli.roles import read_roles

        return read_roles(path)
    from structopt.cli.sequences import known_width, read_sequences

    return read_sequences(path, format, None if model is None else known_width(model))


def _of_model(model: Any) -> str | None:
    """Return the format that a model was trained on, where its structure tells."""
    kind = type(model.structure_).__name__
    if kind == "Multiclass":
        return "svmlight" if model.features_ is None else "roles"
    return "conllu" if kind == "Arborescence" else None


def data_argument(help: str = "file to read, or - for standard input") -> Any:
    """Return the position of a data file."""
    return argument("-", help, flag="DATA", nargs="?")


def format_argument() -> Any:
    """Return ``--format``."""
    said = (
        "columns (CoNLL, CRF++), crfsuite, jsonl, svmlight, conllu (trees) or roles; by default by "
        "the file's name (.crfsuite, .jsonl, .svmlight, .conllu, else columns)"
    )
    return argument(None, said, choices=FORMATS, last=True)


def interval(name: str, gold: Any, given: Any) -> str:
    """Return a score with its bootstrap interval, as a line."""
    found = metrics.bootstrap_interval(name, gold, given, random_state=0)
    spread = f"{100 * found.low:.2f} to {100 * found.high:.2f} at {100 * found.level:.0f}%"
    return f"{name.replace('_', ' ')}: {100 * found.value:.2f}% ({spread})"
