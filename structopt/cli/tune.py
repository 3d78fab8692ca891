"""``structopt tune``: which C predicts best, by cross-validation."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from sklearn.base import clone
from sklearn.model_selection import KFold

from structopt.cli.given import read_given
from structopt.cli.recipe import Recipe
from structopt.errors import ConvergenceWarning, InvalidInputError
from structopt.lab.harness.arguments import argument
from structopt.learn.metrics import bootstrap_interval
from structopt.learn.path import fit_path

SCORES = ("span_f1", "token_accuracy", "sequence_accuracy", "unlabelled_attachment")


@dataclass
class Tune(Recipe):
    """Compare values of C by cross-validation: each value goes on where the one before ended."""

    example: ClassVar[str] = "example: structopt tune train.txt --C 0.01 0.1 1 --score span_f1"

    C: Sequence[float] = argument(
        (0.01, 0.1, 1.0), "values to try (0.01 0.1 1)", nargs="+", type=float, metavar="X",
        last=True,
    )  # fmt: skip
    folds: int = argument(3, "parts of the data, each of which is predicted once", last=True)
    score: str | None = argument(
        None, "what counts (accuracy of tags, labels or heads)", choices=SCORES, last=True
    )

    def execute(self, command: str) -> int:
        """Read, learn and predict for every fold and value, print a line a value."""
        _, Y = (given := read_given(self.data, self.format)).tagged(self.data)
        if not given.scored:
            raise InvalidInputError(
                f"tune does not compare {given.format}, which are predicted under constraints: "
                "train and evaluate each value of C."
            )
        score = self.score or given.scored[0]
        if score not in given.scored:
            raise InvalidInputError(
                f"--score {score} is not one of {given.format}; choose one of {given.scored}."
            )
        if not 2 <= self.folds <= len(Y):
            raise InvalidInputError(
                f"--folds is {self.folds}; it must lie between 2 and the {len(Y)} examples."
            )
        values, found = sorted(set(self.C)), [[None] * len(Y) for _ in set(self.C)]
        model, features = self.classifier(given, values[0]), given.features(self)
        folds: Any = KFold(self.folds, shuffle=True, random_state=self.seed)
        for place, (seen, new) in enumerate(folds.split(Y), 1):
            self.say(f"fold {place} of {self.folds}")
            rows, test = given.some(seen), given.some(new)
            if features is not None:
                made = clone(features)
                rows, test = made.fit_transform(rows), made.transform(test)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)  # compared as they are
                path = fit_path(model, rows, [Y[i] for i in seen], values)
            for outputs, fitted in zip(found, path.models, strict=True):
                for i, output in zip(new, fitted.predict(test), strict=True):
                    outputs[i] = output
        scores = [bootstrap_interval(score, Y, outputs, random_state=0) for outputs in found]
        best = max(range(len(values)), key=lambda k: scores[k].value)
        for k, (C, of) in enumerate(zip(values, scores, strict=True)):
            spread = f"{100 * of.low:.2f} to {100 * of.high:.2f}"
            mark = "  <- best" if k == best else ""
            print(f"C = {C:g}: {100 * of.value:.2f}% ({spread}){mark}")
        return 0
