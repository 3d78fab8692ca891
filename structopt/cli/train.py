"""``structopt train``: from a file of tagged sequences to a model file."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import ClassVar

from sklearn.pipeline import Pipeline

from structopt.cli.recipe import Recipe
from structopt.cli.sequences import read_sequences
from structopt.errors import ConvergenceWarning
from structopt.lab.harness.arguments import argument
from structopt.learn.early_stopping import EarlyStopping
from structopt.learn.model_file import save_model


@dataclass
class Train(Recipe):
    """Learn to tag sequences and write the model."""

    example: ClassVar[str] = (
        "example: structopt train train.txt --model chunker.model "
        "--features '0[-1..1].lower' '0[0].suffix3' --C 0.1 --valid dev.txt"
    )

    model: str = argument(
        "", "file to write the model to", required=True, metavar="FILE", last=True
    )
    C: float = argument(1.0, "price of errors against simple weights", last=True)
    valid: str | None = argument(
        None, "tagged sequences on which learning stops early", metavar="FILE", last=True
    )

    def execute(self, command: str) -> int:
        """Read, learn, write; 1 if the run ended before its tolerance."""
        given = read_sequences(self.data, self.format)
        X, Y = given.tagged(self.data)
        model, features = self.classifier(Y, self.C), self.made_features(given)
        rows = features.fit_transform(X)
        tags = {tag for y in Y for tag in y}
        self.say(
            f"{len(X)} sequences, {sum(map(len, Y))} tokens, {len(tags)} tags, "
            f"{features.n_features_out_} features"
        )
        stop = None
        if self.valid is not None:
            held = read_sequences(self.valid, self.format, given.width or None)
            X_held, Y_held = held.tagged(self.valid)
            stop = EarlyStopping(features.transform(X_held), Y_held)
            model.set_params(callbacks=[stop])
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # said below
            model.fit(rows, Y)
        self.say(str(model.result_))
        if stop is not None:
            self.say(f"best on {self.valid}: {100 * stop.best_score:.2f}% of tags")
            model.set_params(callbacks=())
        save_model(Pipeline([("features", features), ("model", model)]), self.model)
        self.say(f"written: {self.model}")
        status = model.result_.status
        return 0 if model.result_.certificate.certified or status == "early_stopping" else 1
