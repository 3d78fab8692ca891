"""Saddle points: extragradient, the compact QP and cutting planes find one optimum."""

import math
from functools import partial
from itertools import pairwise
from types import SimpleNamespace

import cvxpy as cp
import numpy as np
import pytest
from enumeration import optimum, small_chain, small_classes
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

import structopt as so
from structopt.errors import BackendError, IncompatibleError, InfeasibleError, InvalidInputError
from structopt.methods.registry import make
from structopt.methods.saddle import dualise as compact
from structopt.methods.saddle.compact import Compact
from structopt.methods.saddle.extragradient import SaddleExtragradient
from structopt.methods.saddle.outputs import Outputs
from structopt.methods.watcher import Iterate

WEIGHTS = {
    "free": None,
    "nonnegative": lambda w: [w >= 0],
    "box": lambda w: [w <= 0.3, w >= -0.2],
    "ball": lambda w: [cp.norm1(w) <= 0.5],
    "plane": lambda w: [cp.sum(w) == 0.25],
}


def data_of(problem, **kwargs):
    X, Y, structure = problem[:3]
    return so.DataSet.of(structure, X, Y, **kwargs)


def run(method, problem, formulation, *, sample_weight=None, n_jobs=None, **kwargs):
    data = data_of(problem, sample_weight=sample_weight, n_jobs=n_jobs)
    return method(problem[2], formulation, data, **kwargs).solve()


def small_matchings(seed):
    X, Y = so.datasets.make_alignments(4, mean_edges=8, n_features=3, seed=seed)
    return X, Y, so.Matching().fitted(X, Y)


def small_cuts(seed):
    X, Y = so.datasets.make_grids(3, side=3, n_features=3, seed=seed)
    return X, Y, so.GraphCut().fitted(X, Y)


PROBLEMS = {
    "classes": lambda seed: small_classes(np.random.default_rng(seed))[:3],
    "chain": lambda seed: small_chain(np.random.default_rng(seed))[:3],
    "matching": small_matchings,
    "cut": small_cuts,
}


@pytest.mark.parametrize("kind", PROBLEMS)
@pytest.mark.parametrize("C", [0.05, 1.0])
def test_three_routes_agree(kind, C):
    problem = PROBLEMS[kind](3)
    values = {}
    for name in ("extragradient", "compact", "cutting-plane"):
        result = run(make(name), problem, so.M3N(C), tol=1e-4)
        assert result.certificate.certified, (name, result)
        values[name] = result.certificate
    lowest = min(c.primal for c in values.values())
    highest = max(c.dual for c in values.values())
    assert highest <= lowest + 1e-7 * abs(lowest)  # every bound holds for every route's weights
    assert values["extragradient"].primal == pytest.approx(values["compact"].primal, rel=2e-4)


@given(
    seed=st.integers(0, 10_000),
    chain=st.booleans(),
    kind=st.sampled_from(list(WEIGHTS)),
    C=st.sampled_from([0.1, 2.0]),
)
@hypothesis_settings(max_examples=20)
def test_certificate_brackets_the_enumerated_optimum(seed, chain, kind, C):
    problem = (small_chain if chain else small_classes)(np.random.default_rng(seed))
    constraints = WEIGHTS[kind]
    truth = optimum("m3n", C, problem, extra=constraints or (lambda w: []))
    for method in (SaddleExtragradient, Compact):
        result = run(method, problem, so.M3N(C, constraints=constraints), tol=1e-3)
        certificate = result.certificate
        assert certificate.certified, result
        assert certificate.dual <= truth + 1e-6 * max(1.0, truth)
        assert certificate.primal >= truth - 1e-6 * max(1.0, truth)
        w = cp.Variable(len(result.weights), value=result.weights)
        for constraint in constraints(w) if constraints else []:
            assert np.all(constraint.violation() <= 1e-6)


def test_by_hand():
    # one example, two labels, x = 1, gold 0: with m = w_0 - w_1 the objective is
    # |w|^2 / (2C) + max(0, 1 - m), |w|^2 = m^2 / 2 at best, so m = min(1, 2C): at C = 0.25,
    # m = 1/2, w = (1/4, -1/4) and the value is 1/4 + 1/2
    X, Y = np.array([[1.0]]), [0]
    structure = so.Multiclass(labels=[0, 1]).fitted(X, Y)
    for method in (SaddleExtragradient, Compact):
        result = run(method, (X, Y, structure), so.M3N(0.25), tol=1e-8)
        assert result.certificate.primal == pytest.approx(0.75, rel=1e-7)
        np.testing.assert_allclose(result.weights, [0.25, -0.25], atol=1e-4)


@pytest.mark.parametrize("slacks", ["n", "one"])
def test_sample_weights_shards_and_slacks(slacks):
    problem = small_classes(np.random.default_rng(2))
    weight = np.array([1.0, 0.5, 2.0, 0.0, 3.0, 1.0])
    truth = optimum("m3n", 1.5, problem, weights=weight)
    for method in (SaddleExtragradient, Compact):
        result = run(
            method, problem, so.M3N(1.5, slacks=slacks), tol=1e-4, sample_weight=weight, n_jobs=2
        )
        assert result.certificate.certified
        assert result.certificate.primal == pytest.approx(truth, rel=2e-4)


@pytest.mark.parametrize("seed", [0, 5])
def test_projections_get_more_accurate_where_their_errors_came_to_matter(seed):
    # with errors of the size of the gap both stood still at 1e-3
    X, Y = so.datasets.make_chain_crf(3, n_features=4, n_relevant=2, length=3, seed=seed)
    structure = so.Chain().fitted(X, Y)
    data = so.DataSet.of(structure, X, Y)
    run = SaddleExtragradient(structure, so.M3N(1.0), data, tol=1e-4, max_iter=30)
    assert run.solve().status == "optimal"


def test_other_constants_and_rounds():
    problem = small_chain(np.random.default_rng(5))
    truth = optimum("svm-margin", 3.0, problem)
    X, Y, structure, _ = problem
    seen = []
    method = SaddleExtragradient(
        structure, so.StructSVM(3.0, rescale="margin"), so.DataSet.of(structure, X, Y), tol=1e-4,
        callbacks=[seen.append],
    )  # fmt: skip
    result = method.solve()
    assert result.certificate.primal == pytest.approx(truth, rel=2e-4)
    assert tuple(seen) == result.history
    assert sum(r.iterations for r in seen) == method.iterations
    assert all(b.dual >= a.dual for a, b in pairwise(seen))
    halted = SaddleExtragradient(
        structure, so.M3N(1.0), so.DataSet.of(structure, X, Y), callbacks=[lambda record: True]
    ).solve()
    assert halted.status == "callback"
    assert len(halted.history) == 1


def test_without_regulariser_validation_data_choose():
    X, y = so.datasets.make_classes(60, separation=1.0, seed=0)
    structure = so.Multiclass().fitted(X[:40], y[:40])
    data = so.DataSet.of(structure, X[:40], y[:40])
    stop = so.EarlyStopping(X[40:], y[40:], patience=4)
    method = SaddleExtragradient(structure, so.M3N(math.inf), data, callbacks=[stop], max_iter=200)
    result = method.solve()
    assert result.status == "early_stopping"
    assert not result.certificate.certified
    assert result.certificate.dual == 0.0
    assert "validation" in result.certificate.note
    assert "only lower bound is 0" in result.certificate.note
    wrong = sum(
        a != b for a, b in zip(structure.predict(X[40:], result.weights), y[40:], strict=True)
    )
    assert 1 - wrong / 20 == pytest.approx(stop.best_score) == max(stop.scores)
    assert result.certificate.primal == pytest.approx(method._form.primal(result.weights).value)


def test_early_stopping_through_the_estimator_does_not_warn():
    X, y = so.datasets.make_classes(60, seed=1)
    stop = so.EarlyStopping(X[40:], y[40:], patience=3)
    model = so.StructuredClassifier(
        so.Multiclass(), so.M3N(1.0), method="extragradient", tol=1e-9, callbacks=[stop]
    ).fit(X[:40], y[:40])
    assert model.result_.status == "early_stopping"


def test_early_stopping_keeps_the_first_of_equals():
    structure = so.Multiclass().fitted(np.eye(2), [0, 1])
    stop = so.EarlyStopping(np.eye(2), [0, 1], patience=2)
    right, wrong = np.array([1.0, 0, 0, 1]), np.array([0.0, 1, 1, 0])
    here = SimpleNamespace(structure=structure)
    stop.start(here)
    heard = []
    for weights in (wrong, right, 2 * right, wrong):
        here.iterate = partial(Iterate, weights, 1.0)
        heard.append(stop(None))
    assert stop.scores == [0.0, 1.0, 1.0, 0.0]
    assert heard == [False, False, False, True]
    np.testing.assert_array_equal(stop.kept()[0].weights, right)


def test_fractional_vertices_are_not_certified(monkeypatch):
    problem = small_classes(np.random.default_rng(0))
    kind = type(data_of(problem).shards[0].relaxation())
    monkeypatch.setattr(kind, "integral", False)
    result = run(SaddleExtragradient, problem, so.M3N(1.0))
    assert not result.certificate.certified
    assert "fractional" in result.certificate.note


class OneByOne(so.Chain):
    """A chain that is asked through a method of its own."""

    def argmax(self, x, weights, *, gold=None):
        return super().argmax(x, weights, gold=gold)


def test_what_is_refused():
    problem = small_chain(np.random.default_rng(0))
    for method in (SaddleExtragradient, Compact):
        with pytest.raises(IncompatibleError, match=method.name):
            run(method, problem, so.LPStruct(1.0))
        with pytest.raises(IncompatibleError, match="loss_augmented"):
            run(method, problem, so.StructSVM(1.0))
        X, Y, _, _ = problem
        one_by_one = OneByOne().fitted(X, Y)
        with pytest.raises(IncompatibleError, match="relaxation"):
            run(method, (X, Y, one_by_one), so.M3N(1.0))
        with pytest.raises(InfeasibleError):
            run(method, problem, so.M3N(1.0, constraints=lambda w: [cp.norm1(w) <= -1]))
    with pytest.raises(InvalidInputError, match="nu"):
        run(SaddleExtragradient, problem, so.M3N(1.0), nu=1.0)
    with pytest.raises(InvalidInputError, match="omega"):
        run(SaddleExtragradient, problem, so.M3N(1.0), omega=0.0)
    with pytest.raises(IncompatibleError, match="EarlyStopping"):
        run(SaddleExtragradient, problem, so.M3N(1.0), validation=(X, Y))
    with pytest.raises(BackendError, match="NONE"):
        run(Compact, problem, so.M3N(1.0), solver="NONE")


def test_compact_refuses_large_data(monkeypatch):
    monkeypatch.setattr(compact, "MAX_ENTRIES", 10)
    with pytest.raises(IncompatibleError, match="parts x"):
        run(Compact, small_classes(np.random.default_rng(0)), so.M3N(1.0))


@pytest.mark.parametrize("kind", PROBLEMS)
def test_both_sides_meet_in_the_same_gradient(kind):
    problem = PROBLEMS[kind](1)
    data = data_of(problem)
    cost = np.linspace(0.5, 2.0, data.n_examples)
    outputs, rng = Outputs(data, cost), np.random.default_rng(0)
    w, z = rng.normal(size=data.n_features), rng.random(len(outputs))
    steep = outputs.gradient(w) - outputs.gradient(0 * w)
    assert steep @ z == pytest.approx(w @ outputs.features(z))
    np.testing.assert_allclose(outputs.pull(outputs.gold), 0.0, atol=1e-12)
    assert outputs.loss(outputs.gold) == pytest.approx(0.0)


@pytest.mark.parametrize("average", [True, False])
def test_online_methods_keep_weights_that_must_not_be_negative(average):
    X, Y = so.datasets.make_grids(3, side=4, n_features=3, signal=0.1, seed=0)
    structure = so.GraphCut().fitted(X, Y)
    edges = structure.nonnegative_weights()
    for name in ("perceptron", "mira"):
        method = make(name)(
            structure, so.M3N(), so.DataSet.of(structure, X, Y), max_iter=4, average=average
        )
        lowest = [method.current[edges].min() for _ in range(4) if method.step()]
        assert min(lowest) >= 0.0
        assert method.model()[edges].min() >= 0.0


def test_bench_compares_learners(monkeypatch):
    from structopt.lab.bench import saddle
    from structopt.lab.harness.runner import run

    X, Y = so.datasets.make_alignments(8, mean_edges=8, n_features=3, seed=0)
    S, T = so.datasets.make_grids(3, side=3, n_features=3, seed=0)
    tiny = [
        saddle.Task("alignment", so.Matching(), (X[:6], Y[:6]), (X[6:], Y[6:]), 0.1),
        saddle.Task("segmentation", so.GraphCut(), (S[:2], T[:2]), (S[2:], T[2:]), 0.1),
    ]
    monkeypatch.setattr(saddle, "tasks", lambda quick: tiny)
    bench = saddle.SaddleBench(tol=1e-2)
    rows = run(bench, bench.cells()).rows
    assert bench.proved(rows)
    first, second = bench.tables(rows, [])
    assert [row[0] for row in first.rows] == list(saddle.LEARNERS)
    assert "Frank-Wolfe" not in [row[0] for row in second.rows]  # one weight is >= 0
    assert all(row["rest"] >= 0 for row in rows)


def test_the_method_as_printed():
    """beta begins with 1 and only shrinks, omega stays 1, a round is an iteration, same optimum."""
    problem = small_chain(np.random.default_rng(3))
    printed = SaddleExtragradient(
        problem[2], so.M3N(1.0), data_of(problem), variant="paper", tol=1e-4, max_iter=5000
    )
    steps = [printed.step_size]
    for record in printed:
        assert record.iterations == 1
        steps.append(printed.step_size)
    assert steps[0] == 1.0
    assert all(after <= before for before, after in pairwise(steps))
    assert printed.omega == 1.0
    result = printed.result()
    assert result.certificate.certified
    adaptive = run(SaddleExtragradient, problem, so.M3N(1.0), tol=1e-4)
    assert result.certificate.primal == pytest.approx(adaptive.certificate.primal, rel=2e-4)
    with pytest.raises(InvalidInputError, match="variant"):
        run(SaddleExtragradient, problem, so.M3N(1.0), variant="printed")


# ---------------------------------------------------------------------- sums only; exponents
@pytest.mark.parametrize("kind", ["matching", "cut", "classes", "chain"])
def test_the_dual_method_finds_the_optimum_and_keeps_no_outputs(kind):
    problem = PROBLEMS[kind](1)
    exact = run(so.CuttingPlane, problem, so.M3N(0.3), tol=1e-5)
    method = make("dual-extragradient")(problem[2], so.M3N(0.3), data_of(problem), tol=1e-2)
    found = method.solve()
    assert found.certificate.certified
    assert found.certificate.dual <= exact.certificate.primal * (1 + 1e-9)
    assert found.certificate.primal >= exact.certificate.dual * (1 - 1e-9)
    kept = [*method._now[:2], method._descent, method._origin]
    assert {len(v) for v in kept} == {problem[2].n_features_}
    owned = [v for v in vars(method).values() if isinstance(v, np.ndarray)]
    assert all(len(v) == problem[2].n_features_ for v in owned)


@pytest.mark.parametrize("kind", ["classes", "chain"])
def test_exponentiated_gradient_finds_the_optimum_and_never_lowers_the_dual(kind):
    problem = PROBLEMS[kind](1)
    exact = run(so.CuttingPlane, problem, so.M3N(0.3), tol=1e-5)
    method = so.ExponentiatedGradient(problem[2], so.M3N(0.3), data_of(problem), tol=1e-2)
    values = [method._value]
    for _ in range(20):
        method._iterate()
        values.append(method._value)
    assert all(b >= a for a, b in pairwise(values))
    found = method.solve().certificate
    assert found.certified
    assert found.dual <= exact.certificate.primal * (1 + 1e-9)


def test_exponentiated_gradient_learns_free_weights():
    problem = PROBLEMS["classes"](1)
    for formulation in (so.M3N(1.0, constraints=lambda w: [w >= 0]), so.M3N(math.inf)):
        with pytest.raises(IncompatibleError, match="free weights"):
            so.ExponentiatedGradient(problem[2], formulation, data_of(problem))
