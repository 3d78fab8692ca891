r"""A classifier that knows its inputs only through a kernel.

    f(x, y) = sum over the parts of y of  sum_n beta[n, label] k(x_n, x_part)  (+ transitions)

The dual route: no features are formed, what is learned are coefficients of the training inputs. It
is cheaper than :class:`~structopt.KernelMap` where the kernel matrix has nearly full rank,
whose factor would cost ``n^3 / 3`` and as much memory again; where a few hundred features span
the kernel, the map is cheaper, and it takes every formulation and method.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from structopt.arrays import Floats, Ints, check_inputs
from structopt.engines.dataset import DataSet
from structopt.errors import IncompatibleError, InvalidInputError
from structopt.features.kernel_map import Kernel, rows_of
from structopt.formulations.base import Formulation
from structopt.learn.predictor import Predictor
from structopt.learn.training import train
from structopt.methods.kernel_dual.method import KernelDual
from structopt.parameters import Seed, check_params
from structopt.run.events import Callback
from structopt.structures.base.structure import Structure
from structopt.structures.chain.structure import Chain
from structopt.structures.multiclass.structure import Multiclass


class KernelMachine(Predictor):
    """Learn in the dual, with any positive semidefinite kernel between inputs.

    Parameters
    ----------
    structure : Multiclass or Chain
    formulation : Formulation
        Half a squared norm plus hinges: ``M3N``, ``StructSVM``; ``StructRMM`` with its bounds.
    kernel : {"linear", "polynomial", "rbf"} or callable (X, Y) -> matrix
    degree, gamma, coef0
        ``(gamma x.y + coef0)^degree`` and ``exp(-gamma |x - y|^2)``; gamma None is 1 / inputs.
    tol, max_iter, time_limit, random_state, verbose, callbacks
        As in :class:`~structopt.StructuredClassifier`; a round visits every example once.

    Attributes
    ----------
    structure_ : Structure
    result_ : Result
        `weights` holds beta label by label, then transitions.
    dual_coef_ : array of shape (labels, training rows)

    Examples
    --------
    >>> import structopt as so
    >>> X, y = so.datasets.make_classes(60, seed=0)
    >>> model = so.KernelMachine(so.Multiclass(), so.M3N(C=1.0), kernel="rbf", gamma=0.5)
    >>> model.fit(X, y).result_.certificate.certified
    True
    """

    _instead = "its weights belong to the training inputs, which it keeps. Pickle it."

    def __init__(
        self,
        structure: Structure,
        formulation: Formulation,
        *,
        kernel: str | Callable[[Any, Any], Any] = "rbf",
        degree: float = 3,
        gamma: float | None = None,
        coef0: float = 1.0,
        tol: float = 1e-3,
        max_iter: int | None = None,
        time_limit: float | None = None,
        random_state: Seed | None = None,
        verbose: bool = False,
        callbacks: Sequence[Callback] = (),
    ) -> None:
        self.structure = structure
        self.formulation = formulation
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.random_state = random_state
        self.verbose = verbose
        self.callbacks = callbacks

    def fit(self, X: Any, y: Any, *, sample_weight: Any = None) -> Self:
        """Learn the coefficients."""
        check_params(self)
        Y = self._check_target(y)
        self._check_names(X, reset=True)
        if not isinstance(self.structure, Multiclass | Chain):
            raise IncompatibleError(
                f"KernelMachine learns Multiclass and Chain; {type(self.structure).__name__} has "
                "inputs of another kind: use KernelMap on its features."
            )
        rows, offsets = rows_of(X)
        self._rows, self._sequences = rows, offsets is not None
        if self._sequences != isinstance(self.structure, Chain):
            raise InvalidInputError("Chain takes a list of sequences, Multiclass a matrix of rows.")
        self._kernel = Kernel(self.kernel, self.degree, self.gamma, self.coef0)
        self.n_features_in_ = rows.shape[1]
        gram = self._kernel(rows, rows)
        inputs = _grouped(gram, offsets)
        structure = self.structure.fitted(inputs, Y)
        data = DataSet.of(structure, inputs, Y, sample_weight=sample_weight)
        train(
            self,
            KernelDual,
            structure,
            data,
            label=f"{type(self.formulation).__name__} with a kernel",
            gram=gram,
            offsets=np.arange(len(gram) + 1) if offsets is None else offsets,
            random_state=self.random_state,
        )
        return self

    @property
    def dual_coef_(self) -> Floats:
        """Coefficients of the training rows, one line a label."""
        check_is_fitted(self, "result_")
        n, n_labels = self._rows.shape[0], len(self.structure_.labels_)  # type: ignore[attr-defined]
        return self.result_.weights[: n * n_labels].reshape(n_labels, n)

    def _inputs(self, X: Any) -> Any:
        self._check_names(X, reset=False)
        rows, offsets = rows_of(X)
        check_inputs(rows.shape[1], self.n_features_in_, type(self).__name__)
        return _grouped(self._kernel(rows, self._rows), offsets)


def _grouped(values: Floats, offsets: Ints | None) -> Any:
    """Return kernel values as the structure takes inputs: rows, or one matrix a sequence."""
    if offsets is None:
        return values
    return [values[a:b] for a, b in pairwise(offsets.tolist())]
