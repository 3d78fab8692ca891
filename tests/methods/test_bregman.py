"""Entropic steps: sum-product equals enumeration, and the certificate brackets the optimum."""

import itertools

import cvxpy as cp
import numpy as np
import pytest
from enumeration import optimum, small_chain, small_classes
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

import structopt as so
from structopt.errors import IncompatibleError
from structopt.methods.saddle.bregman import Bregman


def run(problem, formulation, *, sample_weight=None, n_jobs=None, **kwargs):
    X, Y, structure = problem[:3]
    data = so.DataSet.of(structure, X, Y, sample_weight=sample_weight, n_jobs=n_jobs)
    return Bregman(structure, formulation, data, **kwargs).solve()


def small_trees(rng):
    """Three trees, one of them two nodes without an edge; edges have two features."""
    shapes = [[-1, 0, 0, 2], [-1, -1], [-1]]
    X = [(rng.normal(size=(len(p), 2)), p, rng.normal(size=(len(p), 2))) for p in shapes]
    Y = [list(rng.integers(2, size=len(p))) for p in shapes]
    structure = so.Hierarchy(labels=(0, 1)).fitted(X, Y)
    outputs = [[list(y) for y in itertools.product((0, 1), repeat=len(p))] for p in shapes]
    return X, Y, structure, outputs


def test_trees_reach_the_enumerated_optimum():
    problem = small_trees(np.random.default_rng(1))
    result = run(problem, so.M3N(0.5), tol=1e-2)
    assert result.certificate.certified
    assert result.certificate.primal == pytest.approx(optimum("m3n", 0.5, problem), rel=2e-2)


def test_weights_in_a_ball_have_a_value():
    X, y = so.datasets.make_classes(20, seed=0)
    structure = so.Multiclass().fitted(X, y)
    inside = so.M3N(0.1, constraints=lambda w: [cp.norm1(w) <= 0.3])
    result = run((X, y, structure), inside, tol=1e-2)
    assert result.certificate.certified
    assert np.abs(result.weights).sum() <= 0.3 + 1e-9


def test_steps_that_bend_nothing_grow_to_a_limit():
    X, y = so.datasets.make_classes(6, seed=0)
    structure = so.Multiclass().fitted(X, y)
    data = so.DataSet.of(structure, X, y)
    again = Bregman(structure, so.M3N(1.0), data, tol=0.0)
    again.step_size = 1e15
    again._accept(0.0, 1.0)
    assert again.step_size == 1e15


def test_divergence_of_two_distributions():
    X, Y, structure, outputs = small_chain(np.random.default_rng(3))
    rng = np.random.default_rng(0)
    shard, cost = structure.encode(X, Y), np.ones(len(Y))
    a, b = rng.normal(size=(2, structure.n_features_))
    p, q = shard.expected(a, 0.5, cost), shard.expected(b, 0.1, cost)
    total = 0.0
    for x, gold, every in zip(X, Y, outputs, strict=True):
        phi = np.array([structure.joint_features(x, y).toarray().ravel() for y in every])
        losses = np.array([structure.loss(gold, y) for y in every])
        log_p, log_q = phi @ a + 0.5 * losses, phi @ b + 0.1 * losses
        log_p, log_q = (v - np.logaddexp.reduce(v) for v in (log_p, log_q))
        total += np.exp(log_p) @ (log_p - log_q)
    assert p.divergence(q, a - b, 0.4) == pytest.approx(total)
    assert p.divergence(p, 0 * a, 0.0) == 0.0


@given(
    seed=st.integers(0, 10_000),
    chain=st.booleans(),
    C=st.sampled_from([0.1, 2.0]),
    nonnegative=st.booleans(),
)
@hypothesis_settings(max_examples=15)
def test_certificate_brackets_the_enumerated_optimum(seed, chain, C, nonnegative):
    problem = (small_chain if chain else small_classes)(np.random.default_rng(seed))
    constraints = (lambda w: [w >= 0]) if nonnegative else None
    truth = optimum("m3n", C, problem, extra=constraints or (lambda w: []))
    result = run(problem, so.M3N(C, constraints=constraints), tol=1e-3)
    assert result.certificate.certified
    assert result.certificate.dual <= truth + 1e-6 * max(1.0, truth)
    assert result.certificate.primal >= truth - 1e-6 * max(1.0, truth)


def test_agrees_with_cutting_planes_on_weighted_shards():
    X, Y = so.datasets.make_chain_crf(30, seed=0)
    structure = so.Chain().fitted(X, Y)
    weight = np.linspace(0.0, 2.0, 30)
    result = run((X, Y, structure), so.M3N(0.05), tol=1e-3, sample_weight=weight, n_jobs=2)
    data = so.DataSet.of(structure, X, Y, sample_weight=weight)
    planes = so.CuttingPlane(structure, so.M3N(0.05), data, tol=1e-4).solve()
    assert result.certificate.certified
    assert result.certificate.dual <= planes.certificate.primal + 1e-9
    assert planes.certificate.dual <= result.certificate.primal + 1e-9


def test_without_regulariser_there_is_no_certificate():
    result = run(small_classes(np.random.default_rng(0)), so.M3N(np.inf), max_iter=3)
    assert result.status == "max_iter"
    assert "only lower bound is 0" in result.certificate.note


def test_structures_that_cannot_sum_are_refused():
    X, Y = so.datasets.make_alignments(2, mean_edges=6, seed=0)
    with pytest.raises(IncompatibleError, match="sum over its outputs"):
        run((X, Y, so.Matching().fitted(X, Y)), so.M3N(1.0))


def test_no_lower_bound_is_taken_from_sums_that_are_rounding():
    X, Y, structure, _ = small_chain(np.random.default_rng(3))
    again = Bregman(structure, so.L1BallM3N(radius=0.1), so.DataSet.of(structure, X, Y), tol=0.0)
    rng = np.random.default_rng(0)
    direction, before = rng.normal(size=structure.n_features_), again._dual
    again._now = again._at(again._now.w, 1e15 * direction, 1e15)
    size = again.step_size
    again._accept(0.0, 1.0)
    assert again.step_size == size  # nor do steps grow there
    again._mean.add(1.0, again._now.w, 0.0 * direction, 1e6)
    again._conclude(again._averaged(), fell=False)
    assert again._dual == before
    again._now = again._at(again._now.w, direction, 1.0)
    again._accept(0.0, 1.0)
    assert again.step_size > size
    again._mean.add(1.0, again._now.w, 0.0 * direction, 1.0)
    again._conclude(again._averaged(), fell=False)
    assert again._dual >= 1.0


def test_a_small_l1_ball_is_bracketed():
    X, Y, structure, _ = small_chain(np.random.default_rng(3))
    ball = so.L1BallM3N(radius=0.05)
    data = so.DataSet.of(structure, X, Y)
    truth = so.CuttingPlane(structure, ball, data, tol=1e-6).solve().certificate
    found = run((X, Y, structure), ball, tol=1e-4, max_iter=400).certificate
    assert found.dual <= truth.primal + 1e-9
    assert found.primal >= truth.dual - 1e-9
