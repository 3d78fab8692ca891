"""``structopt evaluate``: score a model on tagged sequences, or a file with both tags."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from structopt.cli.sequences import data_argument, format_argument, known_width, read_sequences
from structopt.datasets.columns import read_columns
from structopt.errors import FileFormatError
from structopt.lab.harness.arguments import Command, argument
from structopt.learn import metrics
from structopt.learn.model_file import load_model
from structopt.structures.chain.transitions import split_tag


@dataclass
class Evaluate(Command):
    """Print accuracies, and spans by type if the tags are BIO or BIOES."""

    example: ClassVar[str] = "example: structopt evaluate test.txt --model chunker.model"

    data: str = data_argument(
        "tagged sequences; without --model columns whose last two are gold and predicted tag"
    )
    model: str | None = argument(
        None, "a model that `structopt train` wrote", metavar="FILE", last=True
    )
    format: str | None = format_argument()
    confusion: bool = argument(False, "also print which tag is taken for which", last=True)

    def execute(self, command: str) -> int:
        """Read, predict if need be, and print."""
        gold, given = self._pairs()
        for name in ("token_accuracy", "sequence_accuracy"):
            print(_line(name, metrics.bootstrap_interval(name, gold, given, random_state=0)))
        tags = {tag for y in (*gold, *given) for tag in y}
        if all(map(split_tag, tags)) and any(tag != "O" for tag in tags):
            found = metrics.bootstrap_interval("span_f1", gold, given, random_state=0)
            print(f"{_line('span_f1', found)}\n\n{metrics.span_report(gold, given)}")
        if self.confusion:
            print(f"\n{metrics.confusion(gold, given)}")
        return 0

    def _pairs(self) -> tuple[list[Any], list[Any]]:
        if self.model is not None:
            model = load_model(self.model)
            X, Y = read_sequences(self.data, self.format, known_width(model)).tagged(self.data)
            return Y, model.predict(X)
        sentences = read_columns(self.data)
        if len(sentences[0].rows[0]) < 2:
            raise FileFormatError(
                f"{self.data} has one column; the last two are gold and predicted tag, or name a "
                "model with --model."
            )
        return [s.column(-2) for s in sentences], [s.column(-1) for s in sentences]


def _line(name: str, found: Any) -> str:
    spread = f"{100 * found.low:.2f} to {100 * found.high:.2f} at {100 * found.level:.0f}%"
    return f"{name.replace('_', ' ')}: {100 * found.value:.2f}% ({spread})"
