r"""Kernels, as features: a pivoted Cholesky factor of the kernel matrix.

For a positive semidefinite kernel k and training inputs x_1..x_n, r steps of Cholesky with the
largest pivots p_1..p_r give L with

    k(x_i, x_j) = L_i . L_j + (remainder),     0 <= remainder_ii <= error,

and any input gets the r features ``z(x) = L_P^-1 (k(x, x_p1), ..., k(x, x_pr))``. By the
representer theorem nothing is lost on the training inputs when the remainder is 0: |w|^2 in these
features is the norm of the function, so every formulation with an l2 norm has the optimum of its
kernel form. Formulations with an l1 norm accept the same features, but what they minimise then
depends on this basis (and so on the order of the pivots).

>>> import numpy as np
>>> X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [2.0, 2.0]])
>>> features = KernelMap("polynomial", degree=2, gamma=1.0, coef0=1.0)
>>> Z = features.fit_transform(X)
>>> bool(np.allclose(Z @ Z.T, (X @ X.T + 1.0) ** 2)), features.rank_
(True, 4)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.utils.validation import check_is_fitted

from structopt.arrays import (
    Floats,
    Ints,
    as_floats,
    as_matrix,
    as_sequence,
    check_inputs,
    first_not_finite,
    stack_sequences,
)
from structopt.errors import InvalidInputError
from structopt.features.containers import Containers
from structopt.parameters import check_params

KERNELS = ("linear", "polynomial", "rbf")


class Kernel:
    """A kernel by name or as a function of two matrices of rows.

    Parameters
    ----------
    kernel : {"linear", "polynomial", "rbf"} or callable (X, Y) -> matrix
    degree, gamma, coef0
        ``(gamma x.y + coef0)^degree`` and ``exp(-gamma |x - y|^2)``; gamma None is 1 / inputs.
    """

    def __init__(
        self,
        kernel: str | Callable[[Any, Any], Any],
        degree: float,
        gamma: float | None,
        coef0: float,
    ) -> None:
        if not callable(kernel) and kernel not in KERNELS:
            raise InvalidInputError(
                f"kernel is {kernel!r}; choose one of {KERNELS} or give a function."
            )
        self.kernel = kernel
        self.options = {"degree": degree, "gamma": gamma, "coef0": coef0}

    def __call__(self, X: Any, Y: Any) -> Floats:
        """Return k(x, y) for all rows of X and Y."""
        if callable(self.kernel):
            try:
                values = as_floats(self.kernel(X, Y), "What the kernel returns")
            except TypeError as error:
                raise InvalidInputError(f"The kernel, called with two matrices: {error}") from error
            if values.shape != (X.shape[0], Y.shape[0]):
                raise InvalidInputError(
                    f"The kernel returned shape {values.shape} for {X.shape[0]} and {Y.shape[0]} "
                    "rows."
                )
        else:
            with np.errstate(over="ignore"):  # seen below
                values = pairwise_kernels(
                    X, Y, metric=self.kernel, filter_params=True, **self.options
                )
        if not np.all(np.isfinite(values)):
            raise InvalidInputError(
                "The kernel overflowed: scale the inputs, or lower degree or gamma."
            )
        return np.asarray(values, dtype=np.float64)

    def diagonal(self, X: Any) -> Floats:
        """Return k(x, x) for all rows, without the whole matrix."""
        step = 512  # rows at a time: the blocks' diagonals are all that is kept
        blocks = [X[i : i + step] for i in range(0, X.shape[0], step)]
        return np.concatenate([np.diagonal(self(block, block)) for block in blocks])


class KernelMap(Containers, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    r"""Features whose inner products are a kernel, for rows and for sequences of rows.

    Parameters
    ----------
    kernel : {"linear", "polynomial", "rbf"} or callable (X, Y) -> matrix
    degree, gamma, coef0
        ``(gamma x.y + coef0)^degree`` and ``exp(-gamma |x - y|^2)``; gamma None is 1 / inputs.
    tol : float
        Largest remainder of any k(x, x), relative to the largest k(x, x), at which to stop.
    max_rank : int, optional
        Features at most.

    Attributes
    ----------
    rank_ : int
        Number of features.
    error_ : float
        The largest remainder of k(x, x) on the training inputs.
    pivots_ : array
        The training inputs that span the features.

    Examples
    --------
    >>> import structopt as so
    >>> from sklearn.pipeline import make_pipeline
    >>> X, y = so.datasets.make_classes(60, seed=0)
    >>> model = make_pipeline(KernelMap("rbf", gamma=0.5),
    ...                       so.StructuredClassifier(so.Multiclass(), so.M3N(C=10.0)))
    >>> model.fit(X, y).score(X, y) > 0.9
    True
    """

    rank_: int
    error_: float
    pivots_: Any

    def __init__(
        self,
        kernel: str | Callable[[Any, Any], Any] = "rbf",
        *,
        degree: float = 3,
        gamma: float | None = None,
        coef0: float = 1.0,
        tol: float = 1e-8,
        max_rank: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.max_rank = max_rank

    def fit(self, X: Any, y: Any = None) -> Self:
        """Choose the pivots among the training inputs."""
        check_params(self)
        if not self.tol > 0 or (self.max_rank is not None and self.max_rank < 1):
            raise InvalidInputError(
                f"tol must be > 0 and max_rank >= 1; got {self.tol} and {self.max_rank}."
            )
        rows, _ = rows_of(X)
        self._kernel = Kernel(self.kernel, self.degree, self.gamma, self.coef0)
        self.n_features_in_ = rows.shape[1]
        chosen, factor, self.error_ = self._factorise(rows)
        self.rank_, self.pivots_ = len(chosen), rows[chosen]
        self._triangle = factor[chosen]
        return self

    def transform(self, X: Any) -> Any:
        """Return z(x) of every row: a matrix for a matrix, a list for a list of sequences."""
        check_is_fitted(self, "pivots_")
        rows, offsets = rows_of(X)
        check_inputs(rows.shape[1], self.n_features_in_, type(self).__name__)
        if self.rank_ == 0:
            z = np.zeros((rows.shape[0], 1))
        else:
            values = self._kernel(self.pivots_, rows)
            z = np.ascontiguousarray(solve_triangular(self._triangle, values, lower=True).T)
        cut = z if offsets is None else [z[a:b] for a, b in pairwise(offsets.tolist())]
        return self._contained(cut)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return ``kernelmap0``, ..., one name a pivot."""
        check_is_fitted(self, "pivots_")
        return np.array([f"kernelmap{k}" for k in range(max(self.rank_, 1))], dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags

    def _factorise(self, rows: Any) -> tuple[Ints, Floats, float]:
        """Return pivots, L, and the largest remainder."""
        n = rows.shape[0]
        remainder = self._kernel.diagonal(rows)
        largest = float(remainder.max())
        limit = self.tol * largest
        most = n if self.max_rank is None else min(n, self.max_rank)
        factor = np.zeros((n, min(most, 64)))
        chosen: list[int] = []
        _check_positive(remainder, largest)
        while len(chosen) < most:
            p, k = int(np.argmax(remainder)), len(chosen)
            if remainder[p] <= max(limit, 1e-14 * largest):
                break
            if k == factor.shape[1]:
                factor = np.concatenate([factor, np.zeros_like(factor)], axis=1)[:, :most]
            column = self._kernel(rows, rows[p : p + 1])[:, 0] - factor[:, :k] @ factor[p, :k]
            pivot = np.sqrt(remainder[p])
            factor[:, k] = column / pivot
            factor[chosen, k] = 0.0  # the remainder is 0 there: what is left is rounding
            factor[p, k] = pivot
            chosen.append(p)
            remainder -= factor[:, k] ** 2
            remainder[chosen] = 0.0
            _check_positive(remainder, largest)
            remainder = np.maximum(remainder, 0.0)
        which = np.array(chosen, dtype=np.int64)
        return which, factor[:, : len(chosen)], float(remainder.max(initial=0.0))


def _check_positive(remainder: Floats, largest: float) -> None:
    if remainder.min(initial=0.0) < -1e-8 * largest or largest < 0:
        raise InvalidInputError(
            f"The kernel is not positive semidefinite: a remainder of {remainder.min():.2g} is "
            f"left where k(x, x) is at most {largest:.2g}."
        )


def rows_of(X: Any) -> tuple[Any, Ints | None]:
    """Return rows and, if X is a list of sequences, where each begins and ends."""
    X = as_sequence(X)
    sequences = isinstance(X, Sequence) and len(X) > 0 and np.ndim(X[0]) == 2
    rows, offsets = stack_sequences(X)[:2] if sequences else (as_matrix(X), None)
    if 0 in rows.shape:
        what = "feature" if rows.shape[0] else "sample"  # in scikit-learn's words
        raise InvalidInputError(
            f"X has 0 {what}(s) (shape={rows.shape}) while a minimum of 1 is required."
        )
    bad = first_not_finite(rows)
    if bad is not None:
        raise InvalidInputError(
            f"Row {bad[0]} holds {bad[2]} in column {bad[1]}: replace it (NaN, inf)."
        )
    return rows, offsets
