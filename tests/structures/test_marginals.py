"""Marginals sum to one and equal enumeration."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import structopt as so


def enumerated(structure, x, weights, n_parts, legal=lambda y: True):
    """Node marginals by summing over every labelling."""
    labels = list(structure.labels_)
    total, found = 0.0, np.zeros((n_parts, len(labels)))
    for y in itertools.product(labels, repeat=n_parts):
        if legal(y):
            mass = np.exp(float((structure.joint_features(x, list(y)) @ weights)[0]))
            total += mass
            for t, label in enumerate(y):
                found[t, labels.index(label)] += mass
    return found / total


@given(
    seed=st.integers(0, 10_000), length=st.integers(1, 4), n_labels=st.integers(1, 3),
    boundaries=st.booleans(),
)  # fmt: skip
@settings(max_examples=50, deadline=None)
def test_chains(seed, length, n_labels, boundaries):
    rng = np.random.default_rng(seed)
    X = [rng.normal(size=(length, 2)), rng.normal(size=(1, 2))]
    structure = so.Chain(labels=range(n_labels), boundaries=boundaries)
    structure = structure.fitted(X, [[0] * length, [0]])
    weights = 2.0 * rng.normal(size=structure.n_features_)
    for x, found in zip(X, structure.marginals(X, weights), strict=True):
        np.testing.assert_allclose(found.sum(axis=1), 1.0)
        np.testing.assert_allclose(found, enumerated(structure, x, weights, len(x)), atol=1e-12)


@given(seed=st.integers(0, 10_000), n=st.integers(1, 5), masked=st.booleans())
@settings(max_examples=50, deadline=None)
def test_trees(seed, n, masked):
    rng = np.random.default_rng(seed)
    parents = [int(rng.integers(-1, v)) if v else -1 for v in range(n)]
    allowed = {"few": [1, 2]} if masked else None
    types = [str(rng.choice(["few", "any"])) for _ in range(n)]
    x = (rng.normal(size=(n, 2)), parents, rng.normal(size=(n, 2)), types)
    structure = so.Hierarchy(labels=(0, 1, 2), allowed=allowed).fitted([x], [[1] * n])
    weights = rng.normal(size=structure.n_features_)

    def legal(y):
        return not masked or all(k > 0 or t == "any" for k, t in zip(y, types, strict=True))

    (found,) = structure.marginals([x], weights)
    np.testing.assert_allclose(found.sum(axis=1), 1.0)
    np.testing.assert_allclose(found, enumerated(structure, x, weights, n, legal), atol=1e-12)


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
    assert [model.structure_.labels_[k] for k in found.argmax(axis=1)] == model.predict(X)
    with pytest.raises(so.errors.InvalidInputError, match="temperature"):
        model.predict_marginals(X, temperature=0.0)


def test_other_structures_say_that_they_have_none():
    with pytest.raises(so.errors.IncompatibleError, match="marginals"):
        so.LabelVector().fitted(np.ones((1, 2, 1)), [(0, 1)]).marginals(
            np.ones((1, 2, 1)), np.ones(4)
        )
