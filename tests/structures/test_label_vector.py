"""Vectors of labels with a legal set: mistakes (the rest is the contract of every structure)."""

import numpy as np
import pytest

import structopt as so


@pytest.mark.parametrize(
    ("X", "Y", "legal", "message"),
    [
        (np.zeros((2, 2)), [(0, 1), (1, 1)], None, r"shape \(2,\): give \(components, inputs\)"),
        (np.zeros((1, 2, 1)), [(0, 1, 1)], None, "3 labels for 2 components"),
        (np.full((1, 2, 1), np.nan), [(0, 1)], None, "example 0 holds a number that is not finite"),
        (np.zeros((1, 2, 1)), [(0, 1)], [(0, 0), (1, 1)], "not among the 2 legal ones"),
        (np.zeros((1, 2, 1)), [(0, 1)], [], "legal is empty"),
        ([np.zeros((2, 1)), np.zeros((2, 2))], [(0, 1), (0, 1)], None, r"example 1 has shape"),
    ],
)
def test_bad_input_is_named(X, Y, legal, message):
    with pytest.raises(so.errors.InvalidInputError, match=message):
        so.StructuredClassifier(so.LabelVector(legal), so.M3N()).fit(X, Y)
