"""Predicted outputs: a list, and to NumPy one object an example.

Sequences of uneven lengths make no matrix; whoever joins predictions as arrays, such as
scikit-learn's ``cross_val_predict``, gets one object each, whatever their lengths.

>>> found = Outputs([["a", "b"], ["a"]])
>>> found == [["a", "b"], ["a"]], np.concatenate([found, Outputs([["b"]])])
(True, array([list(['a', 'b']), list(['a']), list(['b'])], dtype=object))
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


class Outputs(list[Any]):
    """What a model predicts, one output an example."""

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """Return a vector of objects; with another ``dtype`` what NumPy makes of the list."""
        if dtype is not None and np.dtype(dtype) != object:
            return np.array(list(self), dtype=dtype)
        return np.fromiter(self, object, len(self))
