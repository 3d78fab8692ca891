"""What ``structopt train`` and ``structopt tune`` have in common: data, features, how to learn."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from structopt import names
from structopt.cli.sequences import Sequences, data_argument, format_argument
from structopt.errors import InvalidInputError
from structopt.features.columns import ColumnFeatures
from structopt.features.dicts import DictFeatures
from structopt.features.templates import read_templates
from structopt.lab.harness.arguments import Command, argument
from structopt.learn.estimator import StructuredClassifier
from structopt.methods import registry
from structopt.structures.chain.structure import Chain
from structopt.structures.chain.transitions import allowed_pairs, split_tag


@dataclass
class Recipe(Command):
    """Options of learning to tag sequences."""

    data: str = data_argument("file with tagged sequences, or - for standard input")
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

    def made_features(self, given: Sequences) -> Any:
        """Return the features asked for, not fitted."""
        if not given.width:
            if self.template or self.features:
                raise InvalidInputError("Templates are for columns; these tokens are mappings.")
            return DictFeatures(min_count=self.min_count)
        templates = list(self.features or default_templates(given.width))
        if self.template is not None:
            templates = read_templates(self.template)
        columns = tuple(f"column{k}" for k in range(given.width))
        return ColumnFeatures(templates, columns=columns, min_count=self.min_count)

    def classifier(self, Y: list[Any], C: float) -> StructuredClassifier:
        """Return the model asked for, not fitted; its labels are those of ``Y``."""
        known = {entry.name.lower(): entry for entry in names.of_kind("formulation")}
        if self.formulation.lower() not in known:
            raise InvalidInputError(
                f"There is no formulation {self.formulation!r}; choose one of {sorted(known)}."
            )
        formulation = known[self.formulation.lower()].load()(C=C)
        labels = sorted({tag for y in Y for tag in y}, key=str)
        draws = "random_state" in registry.make(self.method).options()
        return StructuredClassifier(
            Chain(labels=labels, transitions=self._transitions(Y), boundaries=True), formulation,
            method=self.method, tol=self.tol, max_iter=self.max_iter, time_limit=self.time_limit,
            random_state=self.seed if draws else None, verbose=not self.quiet,
        )  # fmt: skip

    def say(self, text: str) -> None:
        """Print to standard error, unless it is to be quiet."""
        if not self.quiet:
            print(text, file=sys.stderr)

    def _transitions(self, Y: list[Any]) -> str | None:
        if self.transitions != "auto":
            return None if self.transitions == "any" else self.transitions
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
