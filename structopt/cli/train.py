"""``structopt train``: from a file of sequences, rows, trees or roles to a model file."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

from sklearn.pipeline import Pipeline

from structopt.cli.given import read_given
from structopt.cli.recipe import Recipe
from structopt.errors import ConvergenceWarning
from structopt.lab.harness.arguments import argument
from structopt.learn.early_stopping import EarlyStopping
from structopt.learn.model_file import save_model


@dataclass
class Train(Recipe):
    """Learn from a file and write the model."""

    example: ClassVar[str] = (
        "example: structopt train train.txt --model chunker.model "
        "--features '0[-1..1].lower' '0[0].suffix3' --C 0.1 --valid dev.txt"
    )

    model: str = argument(
        "", "file to write the model to", required=True, metavar="FILE", last=True
    )
    C: float = argument(1.0, "price of errors against simple weights", last=True)
    valid: str | None = argument(
        None, "another such file, on which learning stops early", metavar="FILE", last=True
    )

    def execute(self, command: str) -> int:
        """Read, learn, write; 1 if the run ended before its tolerance."""
        given = read_given(self.data, self.format)
        X, Y = given.tagged(self.data)
        model, features = self.classifier(given, self.C), given.features(self)
        rows = X if features is None else features.fit_transform(X, Y)
        made = "" if features is None else f", {features.n_features_out_} features"
        self.say(f"{given.size()}{made}")
        stop = None
        if self.valid is not None:
            # a fitted structure knows how wide rows are
            known = _Known(features, model.structure.fitted(rows, Y))
            held = read_given(self.valid, self.format or given.format, known)
            X_held, Y_held = held.tagged(self.valid)
            stop = EarlyStopping(X_held if features is None else features.transform(X_held), Y_held)
            model.set_params(callbacks=[stop])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # said below
            model.fit(rows, Y)
        self.say(str(model.result_))
        if stop is not None:
            self.say(f"best on {self.valid}: {100 * stop.best_score:.2f}% right")
            model.set_params(callbacks=())
        whole = model if features is None else Pipeline([("features", features), ("model", model)])
        save_model(whole, self.model)
        self.say(f"written: {self.model}")
        status = model.result_.status
        return 0 if model.result_.certificate.certified or status == "early_stopping" else 1


class _Known(NamedTuple):
    """What reading a second file needs to know of a model that is not yet fitted."""

    features_: Any
    structure_: Any
