"""What every fitted model can do: predict, score, show its weights, write a report."""

from __future__ import annotations

import inspect
import os
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import ClassifierTags
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from structopt import names
from structopt.arrays import Floats, as_floats, as_matrix, as_sequence, check_inputs, count
from structopt.engines import batch
from structopt.errors import IncompatibleError, InvalidInputError
from structopt.learn.explain import Explanation, explain
from structopt.learn.metrics.scorers import register
from structopt.learn.outputs import Outputs
from structopt.learn.shown import examples_of, image_shape, readable
from structopt.learn.temperature import fit_temperature
from structopt.parameters import Positive, checked
from structopt.run.result import Result
from structopt.structures.base.labels import LabelSet
from structopt.structures.base.structure import Structure, check_lengths
from structopt.structures.multiclass.structure import Multiclass

register()  # a search over a model takes our scores by name


class Predictor(BaseEstimator):  # type: ignore[misc]
    """Base of the models: a fitted structure and the weights that were learned for it.

    Attributes
    ----------
    structure_ : Structure
        The fitted structure (labels, dimensions).
    result_ : Result
        Weights, certificate, history, why it stopped.
    features_ : transformer or None
        What makes inputs of what users give.
    named_by_ : transformer, array of str or None
        Where the names of inputs come from.
    """

    structure_: Structure
    result_: Result
    features_: Any = None
    named_by_: Any = None
    _instead: ClassVar[str] = "pickle it."

    @property
    def weights_(self) -> Floats:
        """The learned weights."""
        return self._run().weights

    @property
    def classes_(self) -> NDArray[Any]:
        """The labels that can be predicted, where outputs are labels."""
        check_is_fitted(self, "structure_")
        labels: LabelSet = self.structure_.labels_  # type: ignore[attr-defined]
        return labels.array

    @property
    def n_iter_(self) -> int:
        """Rounds that were run."""
        return len(self._run().history)

    def _run(self) -> Result:
        """Return what the run behind the weights left."""
        if "result_" not in vars(self):  # asking scikit-learn takes longer than to tag a sentence
            check_is_fitted(self, "result_")
        return self.result_

    def _inputs(self, X: Any) -> Any:
        """Return inputs as the fitted structure takes them."""
        if self.features_ is not None:
            return self.features_.transform(X)
        self._check_names(X, reset=False)
        X, n = as_sequence(X), getattr(self, "n_features_in_", None)
        if n is not None and getattr(X, "ndim", 0) == 2:
            check_inputs(X.shape[1], n, type(self).__name__)
        return X

    def _check_names(self, X: Any, *, reset: bool) -> None:
        """Keep the names of a data frame's columns, or compare them, as scikit-learn does."""
        many = isinstance(X, list) and any(hasattr(x, "columns") for x in X)
        frames = X if many else [X] if hasattr(X, "columns") else []
        if reset:
            self.__dict__.pop("feature_names_in_", None)
        elif "feature_names_in_" in vars(self) and not frames:
            frames = [X]  # scikit-learn warns of names that are missing
        for place, frame in enumerate(frames):
            again = reset and place == 0
            validate_data(self, frame, reset=again, skip_check_array=True, ensure_2d=False)

    def _check_target(self, y: Any) -> Any:
        """Return outputs as the structure takes them; labels of rows are one column."""
        if y is None:
            raise InvalidInputError(
                f"{type(self).__name__} requires y to be passed, but the target y is None."
            )
        y = as_sequence(y)
        if not (isinstance(getattr(self, "structure", None), Multiclass) and hasattr(y, "dtype")):
            return y
        y = np.asarray(y)
        if y.ndim == 2 and y.shape[1] == 1:
            y = column_or_1d(y, warn=True)
        if y.dtype.kind == "f" and np.any(np.isfinite(y) & (y != np.rint(y))):
            raise InvalidInputError(
                f"Unknown label type: y is continuous (it holds {y[y != np.rint(y)][0]}); labels "
                "are few: give strings or whole numbers."
            )
        return y

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.target_tags.required = True
        if isinstance(getattr(self, "structure", None), Multiclass):  # searches stratify folds then
            tags.estimator_type, tags.classifier_tags = "classifier", ClassifierTags()
        return tags

    def weight_names(self) -> list[tuple[str, str]] | None:
        """Return ``(feature, label)`` of every weight; None if unknown.

        Inputs have the names of the features that made them: of the model's own ``features``, of
        the transformer before it in a pipeline, or of a data frame's columns.
        """
        check_is_fitted(self, "structure_")
        known, named = self.structure_.feature_names, self.named_by_
        if named is None or "inputs" not in inspect.signature(known).parameters:
            return known()
        if hasattr(named, "get_feature_names_out"):
            named = named.get_feature_names_out()
        return known(inputs=list(named))  # type: ignore[call-arg]

    def top_weights(self, label: Any = None, n: int = 10) -> list[tuple[str, float]]:
        """Return the features with the largest weights for a label, by size.

        Parameters
        ----------
        label : Any, optional
            By default features of all labels, named ``feature -> label``.
        n : int
            How many at most; weights of 0 are left out.
        """
        weights, named = self.weights_, self.weight_names()
        if named is None:
            named = [(f"w{j}", "") for j in range(len(weights))]
        found: list[tuple[str, float]] = []
        for j in np.argsort(-np.abs(weights), kind="stable").tolist():
            feature, of = named[j]
            if len(found) >= n or weights[j] == 0:
                break
            if label is None or of == str(label):
                found.append((f"{feature} -> {of}" if label is None else feature, weights[j]))
        if label is not None and str(label) not in {of for _, of in named}:
            raise InvalidInputError(
                f"No weight belongs to the label {label!r}; labels are "
                f"{sorted({of for _, of in named})[:12]}."
            )
        return [(feature, float(weight)) for feature, weight in found]

    def explain(self, x: Any) -> Explanation:
        """Say why the model predicts what it predicts for one input.

        Parameters
        ----------
        x : Any
            One input, as in ``predict([x])``.

        Returns
        -------
        Explanation
            The output, and for each label of a `Chain` (or the whole output) what features and
            transitions add to its score, which label is next, and by how much it is behind.
        """
        weights, structure = self.weights_, self.structure_
        rows = isinstance(structure, Multiclass)
        alone = self.features_ is None and rows and sp.issparse(x)
        inputs = self._inputs(structure.one(x) if alone else [x])  # type: ignore[attr-defined]
        one = as_matrix(inputs) if rows else inputs[0]
        return explain(structure, weights, one, self.weight_names())

    def _heading(self) -> str:
        return f"{type(self).__name__} on {type(self.structure_).__name__}"

    def predict(self, X: Any, *, constraints: Any = None, given: Any = None) -> Any:
        """Return the best output of every input: a list, or an array of labels of `Multiclass`.

        Parameters
        ----------
        X : sequence
        constraints : optional
            See :func:`structopt.constrain`: the best outputs that satisfy them, of a model that was
            trained without.
        given : sequence, optional
            For each input what is known of its output (None: nothing), and the best that agrees
            with it is returned. As gold outputs that are known in part: None for a label that is
            open, or a label, a set of labels, :class:`structopt.Not`; of edges, arcs and parts of
            0/1 vectors a mapping to True and False.
        """
        weights, structure = self.weights_, self.structure_
        if constraints is not None:
            from structopt.structures.constrain.structure import constrain

            structure = constrain(structure, constraints)
        inputs = self._inputs(X)
        if isinstance(structure, Multiclass) and given is None and count(inputs):
            return structure.labels_.array[structure.predict_codes(inputs, weights)]
        if given is None:
            found = batch.predict(structure, inputs, weights, getattr(self, "n_jobs", None))
        else:
            found = structure.predict(inputs, weights, given=as_sequence(given))
        if isinstance(structure, Multiclass) and found:
            return structure.labels_.array[structure.labels_.encode(found)]
        return Outputs(found) if found and isinstance(found[0], list) else found

    @checked
    def predict_marginals(self, X: Any, *, temperature: Positive = 1.0) -> list[Any]:
        """Return how likely each label is at each part: one row a part, or one vector an example.

        The probabilities are those of ``p(y | x) ~ exp(w . phi(x, y) / temperature)``; columns are
        in the order of ``structure_.labels_``. A margin learner fixes no temperature: 1 takes its
        scores as they are, and that of :meth:`fit_temperature` is better.
        """
        weights = self.weights_ / temperature
        return self.structure_.marginals(self._inputs(X), weights)

    def fit_temperature(self, X: Any, y: Any) -> float:
        """Return the temperature at which held-out outputs are most likely.

        Hand it to :meth:`predict_marginals`. Data that the model was trained on give one that is
        too low.
        """
        weights = self.weights_
        return fit_temperature(self.structure_, weights, self._inputs(X), as_sequence(y))

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return 1 - mean Hamming error per part (for labels: accuracy)."""
        predicted = self.predict(X)
        return accuracy(self.structure_, as_sequence(y), predicted, sample_weight)

    @property
    def coef_(self) -> Any:
        """The learned weights as a table: a record array of (feature, label, weight)."""
        weights = self.weights_
        named = self.weight_names()
        if named is None:
            named = [(f"w{j}", "") for j in range(len(weights))]
        # names of the user's own may be long: as objects they are not all as wide as the longest
        kind = None if self.named_by_ is None else object
        features, labels = (np.array(column, dtype=kind) for column in zip(*named, strict=True))
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
        inputs: Any = None,
    ) -> None:
        """Write what was learned as one HTML file: outputs, scores, weights, certificate, run.

        Parameters
        ----------
        path : path
        X, Y : sequences, optional
            Examples to show beside what the model predicts for them, those with the most errors
            first.
        title : str, optional
            Heading of the page.
        inputs : sequence, optional
            What readers see of each input: the words of a sequence or its images (parts, rows,
            columns), a pair of sentences, an image. By default X, where it holds words.
        """
        result = self._run()
        if (X is None) != (Y is None):
            raise InvalidInputError("Give both X and Y, or neither: gold and predicted are shown.")
        if inputs is not None and X is None:
            raise InvalidInputError("inputs are shown with examples: give X and Y, too.")
        known = self.weight_names()
        if known is not None and self.named_by_ is None:
            known = readable(known, image_shape(inputs))
        names.load("write_report")(
            result,
            path,
            title=self._heading() if title is None else title,
            feature_names=known,
            examples=[] if X is None else examples_of(self, X, Y, inputs),
            settings={"Model": repr(self)},
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model to a file that loads without running code (`structopt.load_model`)."""
        raise IncompatibleError(f"A {type(self).__name__} has no file of its own: {self._instead}")


def accuracy(structure: Structure, Y: Any, predicted: Any, sample_weight: Any = None) -> float:
    """Return the share of parts that are right: 1 - Hamming errors / parts, over all examples."""
    check_lengths(predicted, Y)
    weight = as_floats(np.ones(len(Y)) if sample_weight is None else sample_weight, "sample_weight")
    if weight.shape != (len(Y),) or not np.all(np.isfinite(weight) & (weight >= 0)):
        raise InvalidInputError(f"sample_weight must hold {len(Y)} finite numbers >= 0.")
    wrong = [structure.part_errors(y, p) for y, p in zip(Y, predicted, strict=True)]
    parts = [structure.part_count(y) for y in Y]
    return float(1.0 - weight @ np.asarray(wrong, float) / (weight @ np.asarray(parts, float)))
