"""``structopt predict``: what a model makes of the inputs of a file."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import ClassVar

from structopt.cli.given import data_argument, format_argument, read_given
from structopt.cli.sequences import Sequences
from structopt.errors import IncompatibleError
from structopt.files import write_atomically
from structopt.lab.harness.arguments import Command, argument
from structopt.learn.model_file import load_model


@dataclass
class Predict(Command):
    """Write every token with its tag, every row's label, every sentence with its tree, ..."""

    example: ClassVar[str] = "example: structopt predict chunker.model new.txt > tagged.txt"

    model: str = argument("", "a model that `structopt train` wrote", flag="MODEL")
    data: str = data_argument()
    format: str | None = format_argument()
    given: str | None = argument(
        None, "keep the tags of the file, except where they are MARK", metavar="MARK"
    )
    out: str | None = argument(
        None, "file to write to instead of standard output", metavar="FILE", last=True
    )

    def execute(self, command: str) -> int:
        """Read, predict, write."""
        model = load_model(self.model)
        given = read_given(self.data, self.format, model)
        if self.given is None:
            predicted = given.predicted(model)
        elif isinstance(given, Sequences):
            predicted = given.completed(model, self.given)
        else:
            raise IncompatibleError(f"--given keeps the tags of sequences; this is {given.format}.")
        text = "".join(f"{line}\n" for line in given.lines(predicted))
        if self.out is None:
            sys.stdout.write(text)
        else:
            write_atomically(self.out, text.encode())
        return 0
