"""Labelled rows (SVMlight) on the command line: multiclass."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from structopt.cli.given import Given, interval
from structopt.datasets.svmlight_files import read_svmlight
from structopt.errors import InvalidInputError
from structopt.structures.multiclass.structure import Multiclass


@dataclass
class Rows(Given):
    """A matrix and a label a row."""

    scored = ("token_accuracy",)

    def some(self, places: Any) -> Any:
        """Return some of the rows."""
        return self.X[places]

    def size(self) -> str:
        """Say how many rows, labels and features there are."""
        return f"{len(self.Y)} rows, {len(set(self.Y))} labels, {self.X.shape[1]} features"

    def structure(self, transitions: str) -> Multiclass:
        """Return one of the labels of the file."""
        return Multiclass(labels=sorted(set(self.Y)))

    def features(self, recipe: Any) -> None:
        """Return none: rows are numbers already."""
        if recipe.template or recipe.features:
            raise InvalidInputError("Templates are for columns; these rows are numbers.")

    def lines(self, predicted: Any) -> Iterator[str]:
        """Yield a label a line."""
        yield from map(str, predicted)

    def scores(self, predicted: Any) -> Iterator[str]:
        """Yield the accuracy."""
        yield interval("token_accuracy", self.Y, list(predicted)).replace("token ", "")


def read_rows(path: str, model: Any = None) -> Rows:
    """Read rows, as wide as a model knows them: a feature that it never saw is left out."""
    width = None if model is None else int(model.structure_.n_inputs_)
    return Rows(*read_svmlight(path, width), "svmlight")
