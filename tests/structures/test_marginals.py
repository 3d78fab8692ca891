"""Marginals of models, and where there are none (the contract compares them with enumeration)."""

import numpy as np
import pytest

import structopt as so


def test_large_scores_do_not_overflow():
    X = [np.array([[1.0], [-1.0], [1.0]])]
    structure = so.Chain(labels=(0, 1)).fitted(X, [[0, 1, 0]])
    (found,) = structure.marginals(X, np.array([1e4, -1e4, 0, 0, 0, 0.0]))
    np.testing.assert_allclose(found, [[1, 0], [0, 1], [1, 0]])


def test_confidences_of_a_model_follow_the_temperature():
    X, Y = so.datasets.make_chain_crf(n_examples=20, seed=0)
    model = so.StructuredClassifier(so.Chain(), so.M3N(C=0.1)).fit(X, Y)
    sharp, flat = (model.predict_marginals(X, temperature=t) for t in (0.01, 100.0))
    for y, p in zip(model.predict(X), sharp, strict=True):
        assert [model.structure_.labels_[k] for k in p.argmax(axis=1)] == y
    assert all(np.abs(p - 0.5).max() < 0.1 for p in flat)
    X, y = so.datasets.make_classes(30, seed=0)
    model = so.StructuredClassifier(so.Multiclass(), so.M3N()).fit(X, y)
    found = np.stack(model.predict_marginals(X))
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    assert [model.structure_.labels_[k] for k in found.argmax(axis=1)] == list(model.predict(X))
    with pytest.raises(so.errors.InvalidInputError, match="temperature"):
        model.predict_marginals(X, temperature=0.0)


def test_other_structures_say_that_they_have_none():
    with pytest.raises(so.errors.IncompatibleError, match="marginals"):
        so.LabelVector().fitted(np.ones((1, 2, 1)), [(0, 1)]).marginals(
            np.ones((1, 2, 1)), np.ones(4)
        )
