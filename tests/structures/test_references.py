"""Several good outputs an example: LP (7) and LP (8), with LP (6) as the special case."""

import itertools

import cvxpy as cp
import numpy as np
import pytest
from enumeration import small_chain, solve
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

import structopt as so
from structopt.errors import IncompatibleError, InvalidInputError


def random_problem(seed, n_references):
    rng = np.random.default_rng(seed)
    X = [np.round(rng.normal(size=(3, 2)), 2) for _ in range(3)]
    outputs = ["".join(y) for y in itertools.product("ab", repeat=3)]
    Y = [list(rng.choice(outputs, size=n_references, replace=False)) for _ in X]
    return X, Y, outputs, so.References(so.Chain(labels="ab")).fitted(X, Y)


def enumerated(X, Y, outputs, structure, C, kind, nonnegative, distance):
    w, xi = cp.Variable(structure.n_features_, nonneg=nonnegative), cp.Variable(len(X), nonneg=True)
    rows = []
    for i, (x, good) in enumerate(zip(X, Y, strict=True)):
        for bad in set(outputs) - set(good):
            near = min(good, key=lambda g: distance(g, bad))  # the first of equals
            for g in [near] if kind == "nearest" else good:
                delta = structure.joint_features(x, g) - structure.joint_features(x, bad)
                rows.append(delta.toarray().ravel() @ w >= 1 - xi[i])
    full = cp.Problem(cp.Minimize(cp.norm1(w) + C * cp.sum(xi)), rows)
    full.solve(solver=cp.HIGHS)
    return full.value


@given(
    seed=st.integers(0, 10_000),
    kind=st.sampled_from(["nearest", "worst"]),
    n_references=st.integers(1, 4),
    nonnegative=st.booleans(),
)
@hypothesis_settings(max_examples=40)
def test_equals_the_full_problem(seed, kind, n_references, nonnegative):
    X, Y, outputs, structure = random_problem(seed, n_references)
    formulation = so.LPStruct(0.8, references=kind, nonnegative=nonnegative)
    result = solve(structure, formulation, X, Y, tol=1e-5, backend="highs")
    loss = structure.structure.loss
    truth = enumerated(X, Y, outputs, structure, 0.8, kind, nonnegative, loss)
    assert result.certificate.certified
    assert result.certificate.primal == pytest.approx(truth, rel=2e-5, abs=1e-7)


def test_a_distance_of_the_user_s_own():
    X, Y, outputs, _ = random_problem(3, 3)

    def last_differs(reference, y):
        return float(reference[-1] != y[-1])

    structure = so.References(so.Chain(labels="ab"), distance=last_differs).fitted(X, Y)
    result = solve(
        structure, so.LPStruct(2.0, references="nearest"), X, Y, tol=1e-5, backend="highs"
    )
    truth = enumerated(X, Y, outputs, structure, 2.0, "nearest", True, last_differs)
    assert result.certificate.primal == pytest.approx(truth, rel=2e-5)


@pytest.mark.parametrize("kind", [None, "nearest", "worst"])
def test_one_reference_is_lp_6(kind):
    X, Y, structure, _ = small_chain(np.random.default_rng(5))
    plain = solve(structure, so.LPStruct(1.0), X, Y, tol=1e-6, backend="highs")
    listed = [[y] for y in Y]
    single = so.References(so.Chain(labels=range(2))).fitted(X, listed)
    result = solve(single, so.LPStruct(1.0, references=kind), X, listed, tol=1e-6, backend="highs")
    assert result.certificate.primal == pytest.approx(plain.certificate.primal, rel=2e-6)


def test_estimator_and_refusals():
    X, Y, _, _ = random_problem(1, 2)
    model = so.StructuredClassifier(
        so.References(so.Chain(labels="ab")), so.LPStruct(references="worst")
    )
    model.fit(X, Y)
    assert 0 <= model.score(X, Y) <= 1
    with pytest.raises(IncompatibleError, match="needs 'references'; Chain offers"):
        so.StructuredClassifier(so.Chain(), so.LPStruct(references="worst")).fit(
            X, [y[0] for y in Y]
        )
    with pytest.raises(InvalidInputError, match="Example 1 has no list of references"):
        model.fit(X, [Y[0], [], Y[2]])
    with pytest.raises(InvalidInputError, match="'nearest' or 'nearest to best' or 'worst'"):
        so.StructuredClassifier(so.Chain(), so.LPStruct(references="some")).fit(
            X, [y[0] for y in Y]
        )
    with pytest.raises(IncompatibleError, match="needs 'argmax'; References offers"):
        so.StructuredClassifier(so.References(so.Chain(labels="ab")), so.M3N()).fit(X, Y)


def test_an_unproven_answer_is_not_certified(monkeypatch):
    monkeypatch.setattr("structopt.structures.references.shard.MAX_K", 0)
    X, Y, _, structure = random_problem(3, 3)
    result = solve(
        structure, so.LPStruct(2.0, references="nearest"), X, Y, tol=1e-3, backend="highs"
    )
    assert not result.certificate.certified
    assert "not proven" in str(result.certificate)


# ---------------------------------------------------------------------- LP (7) in the printed order
@pytest.mark.parametrize("seed", range(5))
def test_the_printed_order_takes_the_best_bad_output_and_the_reference_next_to_it(seed):
    X, Y, outputs, structure = random_problem(seed, 3)
    rng = np.random.default_rng(seed)
    shard, loss = structure.encode(X, Y), structure.structure.loss
    for _ in range(5):
        w = rng.normal(size=structure.n_features_)
        printed, exact = shard.ask(so.nearest_to_best, w), shard.ask(so.nearest_reference, w)
        for i, (x, good) in enumerate(zip(X, Y, strict=True)):
            score = {y: (structure.joint_features(x, y) @ w)[0] for y in outputs}
            best = max(set(outputs) - set(good), key=score.get)
            near = min(good, key=lambda g: loss(g, best))
            assert printed.score[i] == pytest.approx(score[near] - score[best], abs=1e-9)
        assert not printed.exact
        assert np.all(exact.score <= printed.score + 1e-9)


def test_the_printed_order_certifies_nothing_and_ends_above_the_exact_optimum():
    missed = 0
    for seed in range(12):
        X, Y, _, structure = random_problem(seed, 3)
        exact = solve(structure, so.LPStruct(0.8, references="nearest"), X, Y, tol=1e-5)
        wanted = so.LPStruct(0.8, references="nearest to best")
        printed = solve(structure, wanted, X, Y, tol=1e-5, backend="highs")
        assert not printed.certificate.certified
        # fewer constraints are seen, so what it believes to be the optimum is no higher
        assert printed.certificate.dual <= exact.certificate.primal * (1 + 1e-6)
        missed += printed.certificate.primal < exact.certificate.primal * (1 - 1e-6)
    assert missed > 0


def test_with_one_reference_the_printed_order_is_lp_6():
    X, Y, _, structure = random_problem(2, 1)
    printed = solve(structure, so.LPStruct(0.8, references="nearest to best"), X, Y, tol=1e-5)
    assert printed.certificate.certified
