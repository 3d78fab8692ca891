"""What every fitted model can do: predict, score, show its weights, write a report."""

from __future__ import annotations

import os
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from structopt import names
from structopt.arrays import Floats
from structopt.errors import IncompatibleError, InvalidInputError
from structopt.parameters import Positive, checked
from structopt.run.example import Example
from structopt.run.result import Result
from structopt.structures.base.structure import Structure


class Predictor(BaseEstimator):  # type: ignore[misc]
    """Base of the models: a fitted structure and the weights that were learned for it.

    Attributes
    ----------
    structure_ : Structure
        The fitted structure (labels, dimensions).
    result_ : Result
        Weights, certificate, history, why it stopped.
    """

    structure_: Structure
    result_: Result
    _instead: ClassVar[str] = "pickle it."

    @property
    def weights_(self) -> Floats:
        """The learned weights."""
        return self._run().weights

    def _run(self) -> Result:
        """Return what the run behind the weights left."""
        check_is_fitted(self, "result_")
        return self.result_

    def _inputs(self, X: Any) -> Any:
        """Return inputs as the fitted structure takes them."""
        return X

    def _heading(self) -> str:
        return f"{type(self).__name__} on {type(self.structure_).__name__}"

    def predict(self, X: Any, *, constraints: Any = None) -> list[Any]:
        """Return the best output of every input.

        With ``constraints`` (see :func:`structopt.constrain`) the best that satisfies them, of a
        model that was trained without.
        """
        weights, structure = self.weights_, self.structure_
        if constraints is not None:
            from structopt.structures.constrain.structure import constrain

            structure = constrain(structure, constraints)
        return structure.predict(self._inputs(X), weights)

    @checked
    def predict_marginals(self, X: Any, *, temperature: Positive = 1.0) -> list[Any]:
        """Return how likely each label is at each part: one row a part, or one vector an example.

        The probabilities are those of ``p(y | x) ~ exp(w . phi(x, y) / temperature)``; columns are
        in the order of ``structure_.labels_``. A margin learner fixes no temperature: 1 takes its
        scores as they are, and one that maximises the likelihood of held-out data is better.
        """
        weights = self.weights_ / temperature
        return self.structure_.marginals(self._inputs(X), weights)

    def score(self, X: Any, Y: Any, sample_weight: Any = None) -> float:
        """Return 1 - mean Hamming error per part (for labels: accuracy)."""
        predicted = self.predict(X)
        return accuracy(self.structure_, Y, predicted, sample_weight)

    @property
    def coef_(self) -> Any:
        """The learned weights as a table: a record array of (feature, label, weight)."""
        weights = self.weights_
        named = self.structure_.feature_names()
        if named is None:
            named = [(f"w{j}", "") for j in range(len(weights))]
        features, labels = (np.array(column) for column in zip(*named, strict=True))
        return np.rec.fromarrays(
            [features, labels, weights],
            dtype=[("feature", features.dtype), ("label", labels.dtype), ("weight", np.float64)],
        )

    def report(
        self,
        path: str | os.PathLike[str],
        X: Any = None,
        Y: Any = None,
        *,
        title: str | None = None,
    ) -> None:
        """Write the run as one HTML file, with the weights by name.

        Parameters
        ----------
        path : path
        X, Y : sequences, optional
            Examples to show beside what the model predicts for them, those with the most errors
            first.
        title : str, optional
            Heading of the page.
        """
        result = self._run()
        if (X is None) != (Y is None):
            raise InvalidInputError("Give both X and Y, or neither: gold and predicted are shown.")
        examples = []
        if X is not None:
            predicted = self.predict(X)
            if len(predicted) != len(Y):
                raise InvalidInputError(f"{len(predicted)} inputs but {len(Y)} outputs.")
            errors, count = self.structure_.part_errors, self.structure_.part_count
            examples = [
                Example(i, gold, given, errors(gold, given), count(gold))
                for i, (gold, given) in enumerate(zip(Y, predicted, strict=True))
            ]
        names.load("write_report")(
            result,
            path,
            title=self._heading() if title is None else title,
            feature_names=self.structure_.feature_names(),
            examples=examples,
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file that loads without running code (`structopt.load_model`)."""
        raise IncompatibleError(f"A {type(self).__name__} has no file of its own: {self._instead}")


def accuracy(structure: Structure, Y: Any, predicted: Any, sample_weight: Any = None) -> float:
    """Return the share of parts that are right: 1 - Hamming errors / parts, over all examples."""
    if len(predicted) != len(Y):
        raise InvalidInputError(f"{len(predicted)} inputs but {len(Y)} outputs.")
    weight = np.ones(len(Y)) if sample_weight is None else np.asarray(sample_weight, float)
    wrong = [structure.part_errors(y, p) for y, p in zip(Y, predicted, strict=True)]
    parts = [structure.part_count(y) for y in Y]
    return float(1.0 - weight @ np.asarray(wrong, float) / (weight @ np.asarray(parts, float)))
