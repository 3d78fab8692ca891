"""``structopt evaluate``: score a model on a file, or a file with both tags."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from structopt.cli.given import Given, data_argument, format_argument, read_given
from structopt.cli.sequences import Sequences
from structopt.datasets.columns import read_columns
from structopt.errors import FileFormatError
from structopt.lab.harness.arguments import Command, argument
from structopt.learn.model_file import load_model


@dataclass
class Evaluate(Command):
    """Print accuracies; spans by type of BIO and BIOES tags; attachment of trees; F1 of roles."""

    example: ClassVar[str] = "example: structopt evaluate test.txt --model chunker.model"

    data: str = data_argument(
        "file to score on; without --model columns whose last two are gold and predicted tag"
    )
    model: str | None = argument(
        None, "a model that `structopt train` wrote", metavar="FILE", last=True
    )
    format: str | None = format_argument()
    confusion: bool = argument(False, "also print which tag is taken for which", last=True)

    def execute(self, command: str) -> int:
        """Read, predict if need be, and print."""
        given, predicted = self._pair()
        for line in given.scores(predicted):
            print(line)
        if self.confusion:
            print(f"\n{given.confusion(predicted)}")
        return 0

    def _pair(self) -> tuple[Given, Any]:
        if self.model is not None:
            model = load_model(self.model)
            given = read_given(self.data, self.format, model)
            given.tagged(self.data)
            return given, given.predicted(model)
        sentences = read_columns(self.data)
        if len(sentences[0].rows[0]) < 2:
            raise FileFormatError(
                f"{self.data} has one column; the last two are gold and predicted tag, or name a "
                "model with --model."
            )
        gold, found = ([s.column(k) for s in sentences] for k in (-2, -1))
        return Sequences([], gold, "columns"), found
