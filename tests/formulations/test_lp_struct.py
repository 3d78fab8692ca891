"""LP-Struct beside its paper: margins, QP (4) and (5), the start at w = 1, Proposition 6.1."""

import cvxpy as cp
import numpy as np
import pytest
from enumeration import constraints, small_chain, small_classes, solve

import structopt as so
from structopt.errors import IncompatibleError, InvalidInputError


class QP5(so.Formulation):
    r"""min 1/2 |w|^2 + C sum xi^2, margins of 1: squared slacks."""

    def __init__(self, C=1.0):
        self.C = C

    def master(self, m):
        w, xi = m.weights(), m.slacks()
        m.minimize(cp.sum_squares(w) / 2 + self.C * cp.sum_squares(xi))
        m.cuts(so.oracles.best_other, lambda cut: cut.delta @ w >= 1 - cut.of(xi))


class QP4(so.Formulation):
    r"""min 1/2 |w|^2, margins of 1 without slacks."""

    def master(self, m):
        w = m.weights()
        m.minimize(cp.sum_squares(w) / 2)
        m.cuts(so.oracles.best_other, lambda cut: cut.delta @ w >= 1)


def separable(seed):
    """Classes that a hyperplane through the origin tells apart."""
    X, y = so.datasets.make_classes(8, separation=12.0, seed=seed)
    structure = so.Multiclass().fitted(X, y)
    return X, list(y), structure, [list(structure.labels_)] * len(X)


def deltas(problem):
    return np.array([delta for _, delta, _ in constraints(*problem)])


@pytest.mark.parametrize("C", [0.05, 3.0])
def test_margin_rescaling_is_the_full_problem(C):
    problem = X, Y, structure, _ = small_chain(np.random.default_rng(3))
    result = solve(structure, so.LPStruct(C, rescale="margin"), X, Y, tol=1e-6)
    w, xi = cp.Variable(structure.n_features_, nonneg=True), cp.Variable(len(Y), nonneg=True)
    rows = [delta @ w >= loss - xi[i] for i, delta, loss in constraints(*problem)]
    full = cp.Problem(cp.Minimize(cp.sum(w) + C * cp.sum(xi)), rows)
    assert result.certificate.primal == pytest.approx(full.solve(solver=cp.HIGHS), rel=1e-5)


def test_margin_rescaling_takes_no_references():
    X, Y, _, _ = small_chain(np.random.default_rng(3))
    several = so.References(so.Chain(labels=range(2)))
    wanted = so.LPStruct(rescale="margin", references="worst")
    with pytest.raises(IncompatibleError, match="references='worst'"):
        so.StructuredClassifier(several, wanted).fit(X, [[y] for y in Y])


def test_qp_5_is_the_full_problem():
    problem = X, Y, structure, _ = small_classes(np.random.default_rng(0))
    result = solve(structure, QP5(2.0), X, Y, tol=1e-6)
    w, xi = cp.Variable(structure.n_features_), cp.Variable(len(Y), nonneg=True)
    rows = [delta @ w >= 1 - xi[i] for i, delta, _ in constraints(*problem)]
    full = cp.Problem(cp.Minimize(cp.sum_squares(w) / 2 + 2 * cp.sum_squares(xi)), rows)
    assert result.certificate.certified
    assert result.certificate.primal == pytest.approx(full.solve(solver=cp.CLARABEL), rel=1e-5)


@pytest.mark.parametrize("seed", range(3))
def test_qp_4_and_proposition_6_1(seed):
    """The supporting hyperplane of S is the one through 0 that best separates S from -S."""
    problem = X, Y, structure, _ = separable(seed)
    result = solve(structure, QP4(), X, Y, tol=1e-6, backend="clarabel")
    d = deltas(problem)
    signs = np.repeat([1.0, -1.0], len(d))
    points = np.concatenate([d, -d])  # (x, y, y') labelled 1, and (x, y', y) labelled -1
    w = cp.Variable(d.shape[1])
    binary = cp.Problem(cp.Minimize(cp.sum_squares(w) / 2), [cp.multiply(signs, points @ w) >= 1])
    assert result.certificate.primal == pytest.approx(binary.solve(solver=cp.CLARABEL), rel=1e-4)
    np.testing.assert_allclose(result.weights, w.value, atol=1e-3 * np.abs(w.value).max())


# ---------------------------------------------------------------------- line 2 of Algorithm 1
def run_of(structure, formulation, X, Y, **options):
    return so.CuttingPlane(structure, formulation, so.DataSet.of(structure, X, Y), **options)


@pytest.mark.parametrize("backend", ["highs", "proximal", "extragradient"])
def test_a_start_changes_the_first_cuts_and_not_the_optimum(backend):
    problem = X, Y, structure, _ = small_chain(np.random.default_rng(1), n=6)
    plain = run_of(structure, so.LPStruct(2.0), X, Y, backend=backend, tol=1e-4)
    begun = run_of(structure, so.LPStruct(2.0), X, Y, backend=backend, tol=1e-4, start=1.0)
    assert len(plain.master.pool) == 0
    ones = np.ones(structure.n_features_)
    asked = {int(i) for i in begun.master.pool.cuts.example}
    broken = {i for i, delta, _ in constraints(*problem) if delta @ ones < 1}
    assert asked == broken  # line 7: w'delta < 1 - xi, with xi = 0
    first, second = plain.solve().certificate, begun.solve().certificate
    assert first.certified
    assert second.certified
    assert first.primal == pytest.approx(second.primal, rel=2e-4)


def test_algorithms_1_and_2_as_printed_end_near_the_optimum():
    X, Y, structure, _ = small_chain(np.random.default_rng(1), n=6)
    truth = solve(structure, so.LPStruct(2.0), X, Y, tol=1e-6).certificate.primal
    paper = so.ExtragradientBackend(variant="paper", eps1=1e-4, eps2=1e-3)
    run = run_of(structure, so.LPStruct(2.0), X, Y, backend=paper, start=1.0, tol=1e-2)
    found = run.solve().certificate
    assert found.dual <= truth * (1 + 1e-9) <= found.primal * (1 + 1e-9)
    assert found.primal == pytest.approx(truth, rel=0.05)


@pytest.mark.parametrize("start", ["one", [1.0, 2.0], np.nan, np.inf])
def test_starts_that_are_none(start):
    X, Y, structure, _ = small_chain(np.random.default_rng(1))
    with pytest.raises(InvalidInputError, match="start is"):
        run_of(structure, so.LPStruct(), X, Y, start=start)
