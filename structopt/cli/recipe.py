"""What ``structopt train`` and ``structopt tune`` have in common: data, features, how to learn."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass

from structopt import names
from structopt.cli.given import Given, data_argument, format_argument
from structopt.errors import InvalidInputError
from structopt.lab.harness.arguments import Command, argument
from structopt.learn.estimator import StructuredClassifier
from structopt.methods import registry


@dataclass
class Recipe(Command):
    """Options of learning from a file."""

    data: str = data_argument("file to learn from, or - for standard input")
    format: str | None = format_argument()
    template: str | None = argument(
        None, "template file of CRF++ that says which features there are", metavar="FILE",
        one_of="features", last=True,
    )  # fmt: skip
    features: Sequence[str] | None = argument(
        None, "templates such as '0[-2..2].lower' '0[0].suffix3' '1[-1]|1[0]'", nargs="+",
        one_of="features", metavar="TEMPLATE", last=True,
    )  # fmt: skip
    min_count: int = argument(1, "leave out features that occur fewer times", last=True)
    transitions: str = argument(
        "auto", "which tags may follow which: bio, bioes or any (auto: bio if the tags are)",
        choices=("auto", "bio", "bioes", "any"), last=True,
    )  # fmt: skip
    formulation: str = argument("m3n", "what is minimised: m3n, structsvm, l1m3n, ...", last=True)
    method: str = argument(
        "auto", "how it is learned: auto, frank-wolfe, perceptron, ...", last=True
    )
    tol: float = argument(0.01, "relative certified gap to stop at", last=True)
    max_iter: int | None = argument(None, "rounds at most", type=int, metavar="N", last=True)
    time_limit: float | None = argument(
        None, "seconds after which no new round begins", type=float, metavar="S", last=True
    )
    seed: int = argument(0, "of whatever is drawn at random", last=True)
    quiet: bool = argument(False, "say nothing but errors", last=True)

    def classifier(self, given: Given, C: float) -> StructuredClassifier:
        """Return the model asked for, not fitted; its labels are those of the file."""
        known = {entry.name.lower(): entry for entry in names.of_kind("formulation")}
        if self.formulation.lower() not in known:
            raise InvalidInputError(
                f"There is no formulation {self.formulation!r}; choose one of {sorted(known)}."
            )
        formulation = known[self.formulation.lower()].load()(C=C)
        draws = "random_state" in registry.make(self.method).options()
        return StructuredClassifier(
            given.structure(self.transitions), formulation,
            method=self.method, tol=self.tol, max_iter=self.max_iter, time_limit=self.time_limit,
            random_state=self.seed if draws else None, verbose=not self.quiet,
        )  # fmt: skip

    def say(self, text: str) -> None:
        """Print to standard error, unless it is to be quiet."""
        if not self.quiet:
            print(text, file=sys.stderr)
