"""StructRMM: bounded projections, the corrected algorithm, B as a fraction."""

import cvxpy as cp
import numpy as np
import pytest
from enumeration import small_chain, small_classes, solve
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

import structopt as so
from structopt.errors import IncompatibleError, InvalidInputError


def deltas(problem):
    X, Y, structure, outputs = problem
    for i, (x, gold) in enumerate(zip(X, Y, strict=True)):
        for y in outputs[i]:
            delta = structure.joint_features(x, gold) - structure.joint_features(x, y)
            yield i, delta.toarray().ravel(), structure.loss(gold, y)


def rmm_optimum(problem, C, B, rescale="unit"):
    _, Y, structure, _ = problem
    w, xi = cp.Variable(structure.n_features_), cp.Variable(len(Y), nonneg=True)
    rows = []
    for i, delta, loss in deltas(problem):
        rows += [delta @ w <= B, delta @ w >= -B]
        if loss > 0:
            rows.append(delta @ w >= (1.0 if rescale == "unit" else loss) - xi[i])
    value = cp.sum_squares(w) / 2 + C / len(Y) * cp.sum(xi)
    problem = cp.Problem(cp.Minimize(value), rows)
    problem.solve(solver=cp.CLARABEL)
    return problem.value


@given(
    seed=st.integers(0, 10_000),
    chain=st.booleans(),
    B=st.sampled_from([0.3, 0.9, 1.5, 4.0]),
    backend=st.sampled_from(["ascent", "clarabel", "osqp", "cvxpy"]),
    rescale=st.sampled_from(["unit", "margin"]),
)
@hypothesis_settings(max_examples=60)
def test_certificate_brackets_the_enumerated_optimum(seed, chain, B, backend, rescale):
    rng = np.random.default_rng(seed)
    problem = X, Y, structure, _ = (small_chain if chain else small_classes)(rng)
    formulation = so.StructRMM(20.0, B, rescale=rescale)
    result = solve(structure, formulation, X, Y, backend=backend, tol=1e-4)
    truth = rmm_optimum(problem, 20.0, B, rescale)
    assert result.certificate.certified
    assert result.certificate.dual <= truth * (1 + 1e-6)
    assert result.certificate.primal >= truth * (1 - 1e-6)
    assert result.certificate.primal == pytest.approx(truth, rel=2e-4)
    assert max(abs(delta @ result.weights) for _, delta, _ in deltas(problem)) <= B * (1 + 1e-9)


def test_the_unbounded_machine_is_the_svm_to_the_last_digit():
    X, Y, structure, _ = small_chain(np.random.default_rng(4), n=8)
    svm = solve(structure, so.StructSVM(5.0), X, Y)
    rmm = solve(structure, so.StructRMM(5.0), X, Y)
    np.testing.assert_array_equal(svm.weights, rmm.weights)
    assert svm.certificate == rmm.certificate


def test_the_printed_algorithm_s_slips_are_not_repeated():
    """Negative projections are bounded too (the printed line 7 lets them pass)."""
    X = np.array([[10.0, 0.0], [0.0, 1.0], [-10.0, 0.1]])
    Y = [0, 1, 0]  # the third example is far on the wrong side
    structure = so.Multiclass().fitted(X, Y)
    result = solve(structure, so.StructRMM(30.0, B=2.5), X, Y, tol=1e-5)
    scores = [
        structure.joint_features(x, y) - structure.joint_features(x, 1 - y)
        for x, y in zip(X, Y, strict=True)
    ]
    projections = [float((s @ result.weights)[0]) for s in scores]
    assert min(projections) >= -2.5 - 1e-9
    assert np.any(result.weights)


def test_B_as_a_fraction_of_what_the_svm_finds():
    X, Y, structure, _ = small_classes(np.random.default_rng(2), n=12)
    svm = solve(structure, so.StructSVM(50.0), X, Y)
    projections = [
        abs((structure.joint_features(x, y) - structure.joint_features(x, k)) @ svm.weights)[0]
        for x, y in zip(X, Y, strict=True)
        for k in range(3)
    ]
    data = so.DataSet.of(structure, X, Y)
    run = so.CuttingPlane(structure, so.StructRMM(50.0, B_fraction=0.5), data)
    assert pytest.approx(0.5 * max(projections), rel=1e-3) == run.formulation.B
    assert run.solve().certificate.certified


def test_a_fraction_of_half_a_model_is_told(monkeypatch):
    X, Y, structure, _ = small_classes(np.random.default_rng(2), n=12)
    data, aim = so.DataSet.of(structure, X, Y), so.StructRMM(50.0, B_fraction=0.5)
    hurried = so.CuttingPlane(structure, aim, data, tol=1e-9, max_iter=1).solve()
    assert "the bound rests on a StructSVM that stopped (max_iter)" in hurried.certificate.note

    def interrupted(self):
        raise KeyboardInterrupt

    monkeypatch.setattr(so.CuttingPlane, "step", interrupted)
    with pytest.raises(KeyboardInterrupt):
        so.CuttingPlane(structure, aim, data)


@pytest.mark.parametrize("slacks", ["n", "one"])
def test_a_fraction_starts_from_the_cuts_of_the_run_that_fixes_B(slacks):
    X, Y = so.datasets.load_digit_words(60, seed=1)
    structure = so.Chain().fitted(X, Y)
    data = so.DataSet.of(structure, X, Y)
    aim = so.StructRMM(100.0, B_fraction=0.9, slacks=slacks)
    run = so.CuttingPlane(structure, aim, data, tol=1e-3)
    cuts = len(run.master.pool)
    afresh = so.CuttingPlane(structure, run.formulation, data, tol=1e-3)
    assert cuts > len(afresh.master.pool) == 0
    warm, cold = run.solve(), afresh.solve()
    assert warm.certificate.certified
    assert warm.certificate.dual <= cold.certificate.primal * (1 + 1e-9)
    assert cold.certificate.dual <= warm.certificate.primal * (1 + 1e-9)
    assert len(warm.history) < 0.8 * len(cold.history)


def test_one_slack_rmm_has_the_same_optimum():
    problem = X, Y, structure, _ = small_chain(np.random.default_rng(6))
    result = solve(structure, so.StructRMM(10.0, 1.2, slacks="one"), X, Y, tol=1e-5)
    assert result.certificate.primal == pytest.approx(rmm_optimum(problem, 10.0, 1.2), rel=3e-5)


@pytest.mark.parametrize("B", [0.0, -1.0, np.nan, "half"])
def test_B_must_be_positive(B):
    X, Y, structure, _ = small_classes(np.random.default_rng(0))
    with pytest.raises(InvalidInputError, match="or infinite"):
        solve(structure, so.StructRMM(1.0, B), X, Y)


def test_structures_without_a_worst_contender_are_refused():
    class NoWorst(so.Structure):
        def joint_features(self, x, y):
            return y * np.asarray(x)

        def loss(self, y, other):
            return float(y != other)

        def argmax(self, x, weights, *, gold=None):
            return 1

        def second_best(self, x, weights, gold):
            return -gold

    X, Y = [[1.0], [2.0]], [1, -1]
    structure = NoWorst().fitted(X, Y)
    with pytest.raises(IncompatibleError, match=r"asks 'worst' .* needs 'argmin'; NoWorst offers"):
        solve(structure, so.StructRMM(1.0, 2.0), X, Y)


class TwoSided(so.Formulation):
    """One family that bounds projections from both sides, and one that fixes a projection."""

    def __init__(self, equal=False):
        self.equal = equal

    def master(self, m):
        w, xi = m.weights(), m.slacks()
        m.minimize(cp.sum_squares(w) / 2 + 10 * cp.sum(xi))
        m.cuts(so.oracles.best_other, lambda cut: cut.delta @ w >= 1 - cut.of(xi))
        if self.equal:
            m.cuts(lambda cut: cut.delta @ w - cut.of(xi) * 0 == 0.5)
        else:
            m.cuts(lambda cut: [cut.delta @ w <= 0.8, cut.delta @ w >= -0.8])


@pytest.mark.parametrize("backend", ["auto", "clarabel", "cvxpy"])
def test_two_sided_families(backend):
    X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 0.2]])
    Y = [0, 1, 0]
    structure = so.Multiclass().fitted(X, Y)
    result = solve(structure, TwoSided(), X, Y, backend=backend, tol=1e-5)
    w, xi = cp.Variable(4), cp.Variable(3, nonneg=True)
    rows = []
    for i, (x, y) in enumerate(zip(X, Y, strict=True)):
        delta = (structure.joint_features(x, y) - structure.joint_features(x, 1 - y)).toarray()[0]
        rows += [delta @ w >= 1 - xi[i], cp.abs(delta @ w) <= 0.8]
    full = cp.Problem(cp.Minimize(cp.sum_squares(w) / 2 + 10 * cp.sum(xi)), rows)
    full.solve(solver=cp.CLARABEL)
    assert result.certificate.certified
    assert result.certificate.primal == pytest.approx(full.value, rel=2e-5)
