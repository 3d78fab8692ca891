"""Tagged sequences on the command line: columns, CRFsuite's files and JSON lines."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from structopt.cli.given import Given, interval
from structopt.datasets.columns import read_columns
from structopt.datasets.crfsuite_files import read_crfsuite
from structopt.datasets.json_lines import read_json_lines
from structopt.errors import FileFormatError, IncompatibleError, InvalidInputError
from structopt.features.columns import ColumnFeatures
from structopt.features.dicts import DictFeatures
from structopt.features.templates import read_templates
from structopt.learn import metrics
from structopt.structures.chain.structure import Chain
from structopt.structures.chain.transitions import allowed_pairs, split_tag


@dataclass
class Sequences(Given):
    """Sequences of a file: inputs, tags if it has them, and how to write them with predictions."""

    width: int = 0
    """Columns of a token without its tag; 0 where tokens are mappings."""

    scored = ("token_accuracy", "span_f1", "sequence_accuracy")
    missing = 'tags: the last column or "tags" is missing'

    def size(self) -> str:
        """Say how many sequences, tokens and tags there are."""
        tags = {tag for y in self.Y for tag in y}
        return f"{len(self.X)} sequences, {sum(map(len, self.Y))} tokens, {len(tags)} tags"

    def structure(self, transitions: str) -> Chain:
        """Return chains of the file's tags; which may follow which is found out if not said."""
        labels = sorted({tag for y in self.Y for tag in y}, key=str)
        may = _followed(self.Y) if transitions == "auto" else transitions
        return Chain(labels=labels, transitions=None if may == "any" else may, boundaries=True)

    def features(self, recipe: Any) -> Any:
        """Return the features asked for, not fitted."""
        if not self.width:
            if recipe.template or recipe.features:
                raise InvalidInputError("Templates are for columns; these tokens are mappings.")
            return DictFeatures(min_count=recipe.min_count)
        templates = list(recipe.features or default_templates(self.width))
        if recipe.template is not None:
            templates = read_templates(recipe.template)
        columns = tuple(f"column{k}" for k in range(self.width))
        return ColumnFeatures(templates, columns=columns, min_count=recipe.min_count)

    def scores(self, predicted: Any) -> Iterator[str]:
        """Yield accuracies, and spans by type if the tags are BIO or BIOES."""
        for name in ("token_accuracy", "sequence_accuracy"):
            yield interval(name, self.Y, predicted)
        tags = {tag for y in (*self.Y, *predicted) for tag in y}
        if all(map(split_tag, tags)) and any(tag != "O" for tag in tags):
            yield interval("span_f1", self.Y, predicted)
            yield f"\n{metrics.span_report(self.Y, predicted)}"

    def completed(self, model: Any, mark: str) -> Any:
        """Return what a model makes of tags that are ``mark``, with the others as they are."""
        X, Y = self.tagged("The file")
        return model.predict(X, given=[[None if tag == mark else tag for tag in y] for y in Y])

    def names(self, x: Any) -> list[str]:
        """Return the words, or the places of tokens that are mappings."""
        return [str(t) if isinstance(token, dict) else token[0] for t, token in enumerate(x)]

    def lines(self, predicted: Sequence[Sequence[Any]]) -> Iterator[str]:
        """Yield the lines of the file with a column (or a list) of predictions behind."""
        for i, (x, found) in enumerate(zip(self.X, predicted, strict=True)):
            gold = None if self.Y is None else self.Y[i]
            if self.format == "jsonl":
                record = {"tokens": x} | ({} if gold is None else {"tags": gold})
                yield json.dumps(record | {"predicted": list(found)}, ensure_ascii=False)
                continue
            for t, tag in enumerate(found):
                columns = list(x[t]) if self.format == "columns" else []
                yield " ".join([*columns, *([] if gold is None else [gold[t]]), str(tag)])
            yield ""


def read_sequences(path: str, format: str, width: int | None = None) -> Sequences:
    """Read a file, or standard input if it is "-".

    Parameters
    ----------
    path : str
    format : {"columns", "crfsuite", "jsonl"}
    width : int, optional
        Columns of a token that a model knows; a further one is the tag. By default all but one.
    """
    if format == "crfsuite":
        return Sequences(*read_crfsuite(path), format)
    if format == "jsonl":
        X, Y = read_json_lines(path)
        if isinstance(X[0][0], dict):
            return Sequences(X, Y, format)
        rows = [[[token] if isinstance(token, str) else token for token in x] for x in X]
        return _Words(rows, Y, format, len(rows[0][0]), X)
    found = [sentence.rows for sentence in read_columns(path)]
    have = len(found[0][0])
    wanted = have - 1 if width is None else width
    if not 1 <= wanted <= have <= wanted + 1:
        need = "at least 2" if width is None else f"{width}, or {width + 1} with the tag"
        raise FileFormatError(f"{path} has {have} columns; expected {need}.")
    Y = [[row[-1] for row in rows] for rows in found] if have > wanted else None
    return Sequences([[row[:wanted] for row in rows] for rows in found], Y, format, wanted)


@dataclass
class _Words(Sequences):
    """JSON tokens that are strings or columns: written as they were."""

    raw: list[Any] | None = None

    def lines(self, predicted: Sequence[Sequence[Any]]) -> Iterator[str]:
        return Sequences(self.raw or self.X, self.Y, self.format).lines(predicted)


def known_width(model: Any) -> int | None:
    """Return the columns of a token that a model's features know; None for mappings."""
    if model.features_ is None:
        raise IncompatibleError(
            "The model has no features of its own: train it with `structopt train`, or with "
            "StructuredClassifier(features=...)."
        )
    columns = getattr(model.features_, "columns", None)
    return None if columns is None else len(columns)


def _followed(Y: list[Any]) -> str | None:
    """Return "bio" if the tags are such, and obey."""
    tags = sorted({str(tag) for y in Y for tag in y})
    if not all(map(split_tag, tags)) or not any(tag.startswith("I-") for tag in tags):
        return None
    place = {tag: k for k, tag in enumerate(tags)}
    may = allowed_pairs("bio", tags)
    legal = all(
        may[place.get(a, len(tags)), place[b]]
        for y in Y
        for a, b in zip(["", *map(str, y)], map(str, y), strict=False)
    )
    return "bio" if legal else None


def default_templates(width: int) -> list[str]:
    """Return templates that do for words, and for any other columns beside them.

    >>> default_templates(2)[-3:]
    ['1[-2..2]', '1[-1]|1[0]', '1[0]|1[1]']
    """
    ends = [f"0[0].{end}{n}" for end in ("prefix", "suffix") for n in (1, 2, 3)]
    found = ["0[0]", "0[-2..2].lower", "0[-1..1].shape", *ends]
    for k in range(1, width):
        found += [f"{k}[-2..2]", f"{k}[-1]|{k}[0]", f"{k}[0]|{k}[1]"]
    return found
