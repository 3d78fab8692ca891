"""The conditional random field, through python-crfsuite."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from structopt.arrays import Floats, stack_sequences
from structopt.errors import IncompatibleError, InvalidInputError, MissingDependencyError
from structopt.learn.predictor import accuracy
from structopt.parameters import check_params
from structopt.structures.chain.structure import Chain

ALGORITHMS = ("lbfgs", "l2sgd")


class CRF(BaseEstimator):  # type: ignore[misc]
    r"""Linear-chain conditional random field with L2 and L1 regularisers.

    .. math::
        \min_w - \sum_i \log p_w(y_i \mid x_i) + C_2 |w|_2^2 + C_1 |w|_1, \qquad
        p_w(y \mid x) \propto e^{w\cdot\phi(x, y)}

    with the features :math:`\phi` of :class:`~structopt.Chain` without boundaries:
    an attribute for every nonzero input column, and transitions.

    Parameters
    ----------
    C2, C1 : float
        Weights of the regularisers, >= 0.
    algorithm : {"lbfgs", "l2sgd"}
        L-BFGS (OWL-QN if C1 > 0), or stochastic gradient descent, which takes no C1 and visits
        examples in an order that CRFsuite gives no seed for.
    max_iter : int, optional
        Iterations at most; CRFsuite's own limit by default.
    all_pairs : bool
        Whether every pair of input and label, and of labels, has a weight, as in `Chain`; False
        leaves out those that training data do not show.
    labels : sequence, optional
        Every label that can occur; by default those of the data. One that training data do not
        show is never predicted.

    Attributes
    ----------
    structure_ : Chain
    model_ : bytes
        The model as CRFsuite writes it.
    n_iter_ : int
        Iterations that CRFsuite tells of.

    Raises
    ------
    MissingDependencyError
        python-crfsuite is not installed: ``pip install 'structopt-margin[crf]'``.

    Notes
    -----
    Lafferty, McCallum and Pereira (2001). The L2- and L1-regularised CRFs of the papers' tables.

    Examples
    --------
    >>> import structopt as so
    >>> so.CRF(C2=0.1).get_params()["C2"]
    0.1
    """

    structure_: Chain
    model_: bytes
    n_iter_: int

    def __init__(
        self,
        C2: float = 1.0,
        C1: float = 0.0,
        *,
        algorithm: str = "lbfgs",
        max_iter: int | None = None,
        all_pairs: bool = True,
        labels: Sequence[Any] | None = None,
    ) -> None:
        self.C2 = C2
        self.C1 = C1
        self.algorithm = algorithm
        self.max_iter = max_iter
        self.all_pairs = all_pairs
        self.labels = labels

    def fit(self, X: Sequence[Any], Y: Sequence[Any]) -> Self:
        """Learn the weights."""
        check_params(self)
        options = self._options()
        crfsuite = _crfsuite()
        structure = Chain(labels=self.labels).fitted(X, Y)
        shard = structure.pack(X, Y)
        trainer = crfsuite.Trainer(self.algorithm, options, verbose=False)
        codes, ends = [str(k) for k in shard.gold.tolist()], shard.offsets.tolist()
        for items, (a, b) in zip(_items(X, structure.n_inputs_), pairwise(ends), strict=True):
            trainer.append(items, codes[a:b])
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "model"
            trainer.train(str(file))
            self.model_ = file.read_bytes()
        self.n_iter_ = len(trainer.logparser.iterations)
        self.structure_ = structure
        return self

    def predict(self, X: Sequence[Any]) -> list[list[Any]]:
        """Return the most probable labels of every sequence."""
        check_is_fitted(self, "model_")
        if len(X) == 0:
            return []
        tagger = _crfsuite().Tagger()
        tagger.open_inmemory(self.model_)
        decode = self.structure_.labels_.decode
        sequences = _items(X, self.structure_.n_inputs_)
        return [decode(int(k) for k in tagger.tag(items)) for items in sequences]

    def score(self, X: Sequence[Any], Y: Sequence[Any], sample_weight: Any = None) -> float:
        """Return the share of positions that are labelled right."""
        predicted = self.predict(X)
        return accuracy(self.structure_, Y, predicted, sample_weight)

    @property
    def weights_(self) -> Floats:
        """The weights as `Chain` lays them out, to the six decimals that CRFsuite tells."""
        check_is_fitted(self, "model_")
        n_labels, n_inputs = len(self.structure_.labels_), self.structure_.n_inputs_
        tagger = _crfsuite().Tagger()
        tagger.open_inmemory(self.model_)
        told = tagger.info()
        weights = np.zeros(self.structure_.n_features_)
        for (attribute, label), weight in told.state_features.items():
            weights[int(label) * n_inputs + int(attribute)] = weight
        for (before, label), weight in told.transitions.items():
            weights[n_labels * n_inputs + int(before) * n_labels + int(label)] = weight
        return weights

    def _options(self) -> dict[str, Any]:
        if self.algorithm not in ALGORITHMS:
            raise InvalidInputError(
                f"algorithm is {self.algorithm!r}; choose from {list(ALGORITHMS)}."
            )
        for name, value in (("C2", self.C2), ("C1", self.C1)):
            if not (math.isfinite(value) and value >= 0):
                raise InvalidInputError(f"{name} must be a finite number >= 0; got {value!r}.")
        if self.algorithm == "l2sgd" and self.C1 > 0:
            raise IncompatibleError(
                f"The algorithm 'l2sgd' takes no L1 regulariser, and C1 is {self.C1:g}; use "
                "algorithm='lbfgs'."
            )
        options = {
            "c2": self.C2,
            "feature.possible_states": self.all_pairs,
            "feature.possible_transitions": self.all_pairs,
            # CRFsuite counts by adding values up, and would drop what adds up to less than 0
            "feature.minfreq": -1e30,
        }
        if self.algorithm == "lbfgs":
            options["c1"] = self.C1
        if self.max_iter is not None:
            options["max_iterations"] = self.max_iter
        return options


def _crfsuite() -> Any:
    try:
        import pycrfsuite
    except ImportError as error:
        raise MissingDependencyError(
            "CRF needs the package python-crfsuite: pip install 'structopt-margin[crf]'."
        ) from error
    return pycrfsuite


def _items(X: Sequence[Any], n_inputs: int) -> list[list[dict[str, float]]]:
    """Return every token as its nonzero columns, sequence by sequence."""
    stacked, offsets, _ = stack_sequences(X, n_inputs)
    tokens = sp.csr_array(stacked)
    tokens.eliminate_zeros()
    names, values, ptr = tokens.indices.astype(str).tolist(), tokens.data.tolist(), tokens.indptr
    rows = [dict(zip(names[a:b], values[a:b], strict=True)) for a, b in pairwise(ptr.tolist())]
    return [rows[a:b] for a, b in pairwise(offsets.tolist())]
