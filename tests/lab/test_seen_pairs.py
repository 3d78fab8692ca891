"""The dictionary of seen pairs: what is decoded under it, and that training proves its optimum."""

from itertools import product

import numpy as np
import pytest

import structopt as so
from structopt.lab.reproduce.seen_pairs import SeenPairs


@pytest.fixture
def problem():
    """Words as one-hot rows; the last of five occurs in new sentences only."""
    rng = np.random.default_rng(3)
    X = [np.eye(5)[rng.integers(4, size=3)] for _ in range(8)]
    Y = [[str((int(row.argmax()) + rng.integers(2)) % 3) for row in x] for x in X]
    return X, Y, SeenPairs().fitted(X, Y)


def legal(structure, x):
    """Return every labelling of a sentence in which no pair is new, but of new words."""
    labels = list(structure.labels_)
    may = [
        [
            k
            for k, label in enumerate(labels)
            if structure.seen_[j, k] or not structure.seen_[j].any()
        ]
        for j in np.argmax(x, axis=1)
    ]
    return [[labels[k] for k in y] for y in product(*may)]


def test_the_best_of_the_seen_is_found(problem):
    X, _, structure = problem
    assert structure.seen_[:4].any(axis=1).all()
    assert not structure.seen_.all(axis=1).any()
    assert not structure.seen_[4].any()
    rng = np.random.default_rng(0)
    new = np.eye(5)[[4, 0, 1]]
    for x in [*X, new]:
        w = rng.normal(size=structure.n_features_)
        best = max(legal(structure, x), key=lambda y: (structure.joint_features(x, y) @ w).sum())
        assert structure.predict([x], w) == [best] == [structure.argmax(x, w)]


@pytest.mark.parametrize("backend", ["highs", "proximal"])
def test_lp_struct_is_solved_over_the_seen(problem, backend):
    """The optimum with every constraint over seen outputs, and no other, written out."""
    import cvxpy as cp

    X, Y, structure = problem
    w, xi = cp.Variable(structure.n_features_, nonneg=True), cp.Variable(len(X), nonneg=True)
    rows = []
    for i, (x, gold) in enumerate(zip(X, Y, strict=True)):
        right = structure.joint_features(x, gold).toarray().ravel()
        rows += [
            (right - structure.joint_features(x, y).toarray().ravel()) @ w >= 1 - xi[i]
            for y in legal(structure, x)
            if y != list(gold)
        ]
    truth = cp.Problem(cp.Minimize(cp.sum(w) + 2.0 * cp.sum(xi)), rows).solve(solver=cp.CLARABEL)
    model = so.StructuredClassifier(SeenPairs(), so.LPStruct(2.0), backend=backend, tol=1e-3)
    found = model.fit(X, Y).result_.certificate
    assert found.certified
    assert found.dual <= truth * (1 + 1e-6)
    assert found.primal == pytest.approx(truth, rel=2e-3)
