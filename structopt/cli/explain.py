"""``structopt explain``: what a model has learned, and why it tags as it does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from structopt.cli.given import format_argument, read_given
from structopt.lab.harness.arguments import Command, argument
from structopt.learn.model_file import load_model


@dataclass
class Explain(Command):
    """Print the largest weights of every tag, or the reasons for every tag of some sequences."""

    example: ClassVar[str] = "example: structopt explain chunker.model test.txt --n 1 --top 3"

    model: str = argument("", "a model that `structopt train` wrote", flag="MODEL")
    data: str | None = argument(
        None, "sequences to explain, or - for standard input", flag="DATA", nargs="?"
    )
    format: str | None = format_argument()
    top: int = argument(5, "weights or reasons at most", last=True)
    n: int = argument(3, "sequences at most", last=True)

    def execute(self, command: str) -> int:
        """Read and print."""
        model = load_model(self.model)
        if self.data is None:
            print(model.result_)
            for label in getattr(model.structure_, "labels_", ()):
                print(f"\n{label}")
                for feature, weight in model.top_weights(label, self.top):
                    print(f"  {weight:+9.4f}  {feature}")
            return 0
        given = read_given(self.data, self.format, model)
        for x in given.X[: self.n]:
            print(f"{model.explain(x).text(self.top, given.names(x))}\n")
        return 0
