"""``set_output`` of transformers whose output is a matrix, or one matrix a sequence.

>>> import numpy as np, structopt as so
>>> from sklearn.preprocessing import StandardScaler
>>> scaled = so.PerToken(StandardScaler()).set_output(transform="pandas")
>>> scaled.fit_transform([np.eye(2), np.ones((3, 2))])[1].shape
(3, 2)
"""

from __future__ import annotations

import importlib
from typing import Any, Self

import scipy.sparse as sp
from sklearn import get_config

from structopt.errors import IncompatibleError, InvalidInputError

CONTAINERS = ("default", "pandas", "polars")


class Containers:
    """Adds ``set_output``: matrices as data frames with the features' names."""

    def __init_subclass__(cls, **options: Any) -> None:
        # scikit-learn would take a list of matrices for one matrix
        super().__init_subclass__(auto_wrap_output_keys=None, **options)  # type: ignore[call-arg]

    def set_output(self, *, transform: str | None = None) -> Self:
        """Say what matrices come as: "default", "pandas" or "polars"; None leaves it as it is.

        Sparse matrices are refused then, as scikit-learn refuses them.
        """
        if transform is not None and transform not in CONTAINERS:
            raise InvalidInputError(f"transform is {transform!r}; choose one of {CONTAINERS}.")
        if transform is not None:
            self._sklearn_output_config = {"transform": transform}  # clone knows it by this name
        return self

    def _contained(self, made: Any) -> Any:
        """Return a matrix, or a list of them, as what was asked for."""
        kept = getattr(self, "_sklearn_output_config", {})
        kind = kept.get("transform", get_config()["transform_output"])
        if kind == "default":
            return made
        if isinstance(made, list):
            made[:] = [self._frame(matrix, kind) for matrix in made]
            return made
        return self._frame(made, kind)

    def _frame(self, matrix: Any, kind: str) -> Any:
        if sp.issparse(matrix):
            raise IncompatibleError(
                f"{type(self).__name__} gives sparse matrices, which no {kind} frame holds: "
                "set_output(transform='default')."
            )
        names = [str(name) for name in self.get_feature_names_out()]  # type: ignore[attr-defined]
        frames = importlib.import_module(kind)
        return frames.DataFrame(matrix, **{"columns" if kind == "pandas" else "schema": names})
