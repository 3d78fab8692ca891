"""EM and the formulations it learns, against the full problem with all constraints enumerated."""

import itertools

import cvxpy as cp
import numpy as np
import pytest
from enumeration import constraints, small_chain, small_classes, solve
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

import structopt as so
from structopt.backends.ascent.backend import Ascent
from structopt.errors import IncompatibleError, InvalidInputError
from structopt.formulations.scaled_m3n import ScaledM3N
from structopt.methods.em import EM

TOL = 1e-4
UPDATES = ["relaxed", "(4)", "(6)"]


def full(problem, C, regulariser, *, weights=None, extra=lambda w: []):
    """Return value and weights of the problem with every constraint written out."""
    _, Y, structure, _ = problem
    w, xi = cp.Variable(structure.n_features_), cp.Variable(len(Y), nonneg=True)
    index, deltas, loss = map(np.array, zip(*constraints(*problem), strict=True))
    rows = [deltas @ w >= loss - xi[index]]
    s = np.ones(len(Y)) if weights is None else weights
    whole = cp.Problem(cp.Minimize(regulariser(w) + C * (s @ xi)), rows + extra(w))
    whole.solve(solver=cp.CLARABEL)
    return whole.value, w.value


def half_l1(w):
    return cp.norm1(w) / 2


def squared_l1(lam):
    return lambda w: lam / w.size * cp.square(cp.norm1(w))


def enumerated_laplace(problem, C, lam):
    """The divergence from the prior as a minimum over scales, in cones."""
    scale, square = (cp.Variable(problem[2].n_features_) for _ in range(2))
    return full(
        problem,
        C,
        lambda w: cp.sum(square + lam * scale) / 2 - cp.sum(cp.log(lam / 2 * scale)) - w.size,
        extra=lambda w: [cp.SOC(square + scale, cp.vstack([2 * w, square - scale]), axis=0)],
    )


def run_em(problem, formulation, *, tol=TOL, sample_weight=None, **kwargs):
    X, Y, structure, _ = problem
    data = so.DataSet.of(structure, X, Y, sample_weight=sample_weight)
    return EM(structure, formulation, data, tol=tol, **kwargs).solve()


def draw(seed, chain):
    return (small_chain if chain else small_classes)(np.random.default_rng(seed))


def assert_brackets(result, truth):
    certificate = result.certificate
    assert result.status == "optimal"
    assert certificate.certified
    assert certificate.dual <= truth + 1e-6 * abs(truth)
    assert certificate.primal >= truth - 1e-6 * abs(truth)


# ---------------------------------------------------------------------- agreement with the truth
@given(
    seed=st.integers(0, 10_000),
    chain=st.booleans(),
    C=st.sampled_from([0.05, 0.7, 20.0]),
    update=st.sampled_from(UPDATES),
)
@hypothesis_settings(max_examples=12)
def test_l1_equals_enumeration(seed, chain, C, update):
    problem = draw(seed, chain)
    truth, _ = full(problem, C, half_l1)
    assert_brackets(run_em(problem, so.L1M3N(C), update=update), truth)


@given(seed=st.integers(0, 10_000), chain=st.booleans(), C=st.sampled_from([0.2, 1.0, 4.0]))
@hypothesis_settings(max_examples=6)
def test_l1_routes_agree(seed, chain, C):
    problem = X, Y, structure, _ = draw(seed, chain)
    truth, _ = full(problem, C, half_l1)
    assert_brackets(solve(structure, so.L1M3N(C), X, Y, tol=TOL, backend="highs"), truth)
    assert_brackets(run_em(problem, so.L1M3N(C)), truth)


@given(
    seed=st.integers(0, 10_000),
    chain=st.booleans(),
    C=st.sampled_from([0.05, 0.7, 20.0]),
    lam=st.sampled_from([0.1, 1.0, 30.0]),
    update=st.sampled_from(UPDATES),
)
@hypothesis_settings(max_examples=12)
def test_adaptive_equals_enumeration(seed, chain, C, lam, update):
    problem = draw(seed, chain)
    truth, _ = full(problem, C, squared_l1(lam))
    assert_brackets(run_em(problem, so.AdaptiveM3N(C, lam), update=update), truth)


@given(
    seed=st.integers(0, 10_000),
    chain=st.booleans(),
    C=st.sampled_from([0.05, 0.7, 20.0]),
    lam=st.sampled_from([0.1, 1.0, 30.0]),
)
@hypothesis_settings(max_examples=8)
def test_laplace_equals_enumeration(seed, chain, C, lam):
    problem = draw(seed, chain)
    truth, _ = enumerated_laplace(problem, C, lam)
    assert_brackets(run_em(problem, so.LaplaceM3N(C, lam)), truth)


def test_sample_weights_scale_slacks():
    problem = small_classes(np.random.default_rng(5))
    weight = np.array([1.0, 0.5, 2.0, 0.0, 3.0, 1.0])
    truth, _ = full(problem, 1.5, half_l1, weights=weight)
    assert_brackets(run_em(problem, so.L1M3N(1.5), sample_weight=weight), truth)


@pytest.mark.parametrize("make", [so.L1M3N, so.AdaptiveM3N, so.LaplaceM3N])
def test_permuting_examples_changes_nothing(make):
    X, Y, structure, outputs = small_chain(np.random.default_rng(12), n=8)
    order = np.random.default_rng(0).permutation(8)
    first = run_em((X, Y, structure, outputs), make(1.0))
    again = run_em(([X[i] for i in order], [Y[i] for i in order], structure, outputs), make(1.0))
    assert first.certificate.primal == pytest.approx(again.certificate.primal, rel=2 * TOL)


# ---------------------------------------------------------------------- the formulations
def test_scaled_m3n_equals_enumeration_and_is_the_ascent_s():
    problem = X, Y, structure, _ = small_chain(np.random.default_rng(4))
    scales = np.random.default_rng(1).uniform(0.1, 3.0, structure.n_features_)
    scales[:2] = 0.0
    curvature = 1 / np.where(scales > 0, scales, 1.0)
    truth, _ = full(
        problem, 1.5, lambda w: cp.sum(cp.multiply(curvature, w**2)) / 2,
        extra=lambda w: [w[:2] == 0],
    )  # fmt: skip
    result = solve(structure, ScaledM3N(1.5, scales), X, Y, backend="ascent", tol=1e-6)
    assert result.certificate.primal == pytest.approx(truth, rel=1e-5)
    assert not np.any(result.weights[:2])
    with pytest.raises(InvalidInputError, match="one a feature"):
        solve(structure, ScaledM3N(1.5, scales[1:]), X, Y)
    with pytest.raises(InvalidInputError, match=">= 0"):
        solve(structure, ScaledM3N(1.5, -scales), X, Y)


def test_a_rescaled_ascent_is_a_fresh_one():
    X, Y, structure, _ = small_chain(np.random.default_rng(6), n=6)
    scales = np.random.default_rng(2).uniform(0.1, 3.0, structure.n_features_)
    first = so.CuttingPlane(structure, ScaledM3N(1.0), so.DataSet.of(structure, X, Y), tol=1e-6)
    first.solve()
    rows, program = first.master.pool.cuts, first.master.program
    moved, fresh = Ascent(), Ascent()
    for backend in (moved, fresh):
        backend.start(first.master)
        backend.append(rows)
    moved.solve(tolerance=1e-3)
    for backend in (moved, fresh):
        backend.rescale(scales)
    ends = [backend.solve(tolerance=1e-12).x[program.weights] for backend in (moved, fresh)]
    assert ends[0] == pytest.approx(ends[1], abs=1e-6)


@pytest.mark.parametrize("C", [0.7, 20.0])
def test_the_two_routes_of_adaptive_m3n_agree(C):
    problem = X, Y, structure, _ = small_chain(np.random.default_rng(5), n=6)
    planes = solve(structure, so.AdaptiveM3N(C, 2.0), X, Y, backend="osqp", tol=TOL)
    em = run_em(problem, so.AdaptiveM3N(C, 2.0))
    assert planes.certificate.certified
    assert em.certificate.dual <= planes.certificate.primal + 1e-9
    assert planes.certificate.dual <= em.certificate.primal + 1e-9


@pytest.mark.parametrize("lam", [0.3, 3.0])
def test_adaptive_m3n_is_an_l1_m3n_at_another_c(lam):
    """C_1 = C K / (4 lam |w|_1): the same weights solve P1 there (MATH D)."""
    problem = small_chain(np.random.default_rng(7), n=8)
    C, K = 1.0, problem[2].n_features_
    _, weights = full(problem, C, squared_l1(lam))
    matched = C * K / (4 * lam * np.abs(weights).sum())
    truth, _ = full(problem, matched, half_l1)
    result = run_em(problem, so.AdaptiveM3N(C, lam), tol=1e-5)
    form = so.L1M3N(matched)
    hinge = (result.certificate.primal - so.AdaptiveM3N(C, lam).regulariser(result.weights)) / C
    assert form.regulariser(result.weights) + matched * hinge == pytest.approx(truth, rel=1e-4)


def test_update_6_mirrors_update_4_and_cycles_at_fixed_weights():
    """On w = (1, 2), K = 2, lam = 1: (4) gives tau = (2/3, 4/3); (6) swaps (1, 1) and (2/5, 8/5).

    From (1, 1): w^2 / tau = (1, 4), so tau = 2 (1, 4) / 5; from there w^2 / tau = (5/2, 5/2).
    """
    form, w = so.AdaptiveM3N(1.0, 1.0), np.array([1.0, 2.0])
    start = np.array([0.5, 0.5])  # scales are tau / 2
    assert 2 * form.scales(w) == pytest.approx([2 / 3, 4 / 3])
    mirrored = form.scales(w, start, 2.0)
    assert 2 * mirrored == pytest.approx([0.4, 1.6])
    assert form.scales(w, mirrored, 2.0) == pytest.approx(start)
    worth = [float(np.sum(w**2 / (2 * s))) for s in (start, mirrored, form.scales(w))]
    assert worth[0] == pytest.approx(worth[1])
    assert worth[2] == pytest.approx(form.regulariser(w))
    assert worth[2] < worth[0]
    assert float(np.sum(w**2 / (2 * form.scales(w, start, 1.8)))) < worth[0]


def test_update_6_is_replaced_by_4_when_it_does_not_help():
    """Rounds at fixed weights: after a mirrored step the objective stands, so the next is (4)."""
    X, Y, structure, _ = small_classes(np.random.default_rng(0))
    form = so.AdaptiveM3N(1.0, 1.0)
    run = EM(structure, form, so.DataSet.of(structure, X, Y), update="(6)")
    weights = np.arange(1.0, structure.n_features_ + 1)
    run._primal = run._dual = 0.0  # no gap, so no smoothing
    run._smoothing, run._scales = 0.0, np.full(len(weights), 0.5)
    start = run._scales
    run._rescale(weights, 1.0)
    assert run._scales == pytest.approx(form.scales(weights, start, 2.0))
    run._rescale(weights, 1.0)
    assert run._scales == pytest.approx(form.scales(weights))


@given(
    weights=st.lists(st.floats(-1e3, 1e3), min_size=1, max_size=5),
    lam=st.floats(1e-2, 1e2),
    scale=st.floats(1e-3, 1e3),
)
def test_laplace_scales_minimise_their_bound(weights, lam, scale):
    form, w = so.LaplaceM3N(1.0, lam), np.array(weights)

    def bound(s):
        return np.sum(w**2 / (2 * s) + lam * s / 2 - 1 - np.log(lam * s / 2))

    best, other = form.scales(w), np.full(len(w), scale)
    assert np.all(best >= 2 / lam * (1 - 1e-12))
    assert bound(best) == pytest.approx(form.regulariser(w), rel=1e-9, abs=1e-9)
    assert bound(other) >= bound(best) - 1e-9 * abs(bound(best))
    assert bound(form.scales(w, other, 1.8)) <= bound(other) * (1 + 1e-12) + 1e-9


@pytest.mark.parametrize("make", [so.L1M3N, so.AdaptiveM3N, so.LaplaceM3N])
def test_no_multipliers_bound_more_than_the_conjugate_allows(make):
    """t gain - R*(t pull) <= R(w) + gain - pull . w for every w and every pull."""
    rng = np.random.default_rng(0)
    form = make(1.0)
    for _ in range(200):
        pull = rng.normal(size=4) * 10 ** rng.uniform(-2, 1)
        w = rng.normal(size=4) * 10 ** rng.uniform(-2, 1)
        gain = rng.uniform(0, 5)
        # at w the Lagrangian is R(w) + t (gain - pull . w), t between 0 and 1
        most = form.regulariser(w) + max(0.0, gain - float(pull @ w))
        assert form.lower_bound(gain, pull) <= most + 1e-9


def test_laplace_lies_between_m3n_and_l1_m3n():
    """lam -> infinity is P1 at C / (2 sqrt(lam)), lam -> 0 is P0 at 2 C / lam."""
    problem = small_chain(np.random.default_rng(8), n=6)
    l1, _ = full(problem, 0.7, half_l1)
    square, _ = full(problem, 0.7, lambda w: cp.sum_squares(w) / 2)
    errors = []
    for lam in (1e2, 1e6):
        result = run_em(problem, so.LaplaceM3N(2 * np.sqrt(lam) * 0.7, lam), max_iter=2000)
        errors.append(abs(result.certificate.primal / (2 * np.sqrt(lam)) / l1 - 1))
    assert errors[1] < min(errors[0], 2e-2)
    lam = 1e-4
    result = run_em(problem, so.LaplaceM3N(0.7 * lam / 2, lam))
    assert result.certificate.primal / (lam / 2) == pytest.approx(square, rel=1e-2)


def test_laplace_steps_never_raise_its_objective():
    """Exact M3Ns and exact scales, by hand: the objective falls to the certified optimum."""
    problem = X, Y, structure, _ = small_classes(np.random.default_rng(9))
    form = so.LaplaceM3N(2.0, 5.0)
    scales, values = np.ones(structure.n_features_), []
    for _ in range(25):
        m3n = solve(structure, ScaledM3N(form.C, scales), X, Y, tol=1e-9)
        quadratic = 0.5 * float(np.sum(m3n.weights**2 / scales))
        hinges = m3n.certificate.primal - quadratic
        values.append(form.regulariser(m3n.weights) + hinges)
        scales = form.scales(m3n.weights)
    assert all(b <= a * (1 + 1e-8) for a, b in itertools.pairwise(values))
    assert values[-1] == pytest.approx(run_em(problem, form).certificate.primal, rel=1e-3)


def test_the_mean_field_of_2008_is_the_programme_at_2c_and_4_lam():
    """Its update s <- sqrt((w^2 + s) / lam), with exact M3Ns, has the weights of (2 C, 4 lam)."""
    problem = X, Y, structure, _ = small_classes(np.random.default_rng(10))
    C, lam = 1.0, 2.0
    scales = np.ones(structure.n_features_)
    for _ in range(20):
        weights = solve(structure, ScaledM3N(C, scales), X, Y, tol=1e-8).weights
        scales = np.sqrt((weights**2 + scales) / lam)
    _, wanted = enumerated_laplace(problem, 2 * C, 4 * lam)
    assert weights == pytest.approx(wanted, abs=1e-3)


# ---------------------------------------------------------------------- zeros and certificate
def test_zeros_are_exact_and_recertified():
    problem = X, Y, structure, _ = small_chain(np.random.default_rng(3), n=8, n_inputs=6)
    result = run_em(problem, so.L1M3N(0.5), tol=1e-3)
    assert 0 < np.count_nonzero(result.weights) < structure.n_features_
    assert result.history[-1].nonzeros == np.count_nonzero(result.weights)
    assert result.history[-1].primal == result.certificate.primal
    hinge = 0.0
    for x, y in zip(X, Y, strict=True):
        other = structure.argmax(x, result.weights, gold=y)
        delta = structure.joint_features(x, y) - structure.joint_features(x, other)
        hinge += structure.loss(y, other) - float((delta @ result.weights)[0])
    value = np.abs(result.weights).sum() / 2 + 0.5 * hinge
    assert result.certificate.primal == pytest.approx(value, rel=1e-9)
    assert result.certificate.certified


def test_zeros_are_those_of_the_optimum():
    """Noise inputs get exact zeros: 2 of 12 inputs tell the classes apart."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(60, 12))
    Y = list((X[:, 0] + 0.5 * X[:, 1] > 0).astype(int))
    structure = so.Multiclass(labels=range(2)).fitted(X, Y)
    data = so.DataSet.of(structure, X, Y)
    em = EM(structure, so.L1M3N(0.05), data, tol=1e-4).solve()
    exact = so.CuttingPlane(structure, so.L1M3N(0.05), data, backend="highs", tol=1e-6).solve()
    used = np.abs(exact.weights.reshape(2, -1)).sum(axis=0) > 1e-9
    assert np.array_equal(np.abs(em.weights.reshape(2, -1)).sum(axis=0) > 0, used)


def test_tiny_c_leaves_everything_at_zero():
    problem = small_chain(np.random.default_rng(0))
    result = run_em(problem, so.L1M3N(1e-6))
    assert result.certificate.certified
    assert not np.any(result.weights)


# ---------------------------------------------------------------------- running
def test_what_em_cannot_learn_is_refused():
    X, Y, structure, _ = small_chain(np.random.default_rng(0))
    data = so.DataSet.of(structure, X, Y)
    with pytest.raises(IncompatibleError, match=r"minimum over scales.*got M3N"):
        EM(structure, so.M3N(1.0), data)
    with pytest.raises(IncompatibleError, match=r"free weights.*cutting-plane"):
        EM(structure, so.L1M3N(1.0, constraints=lambda w: [w >= 0]), data)
    with pytest.raises(InvalidInputError, match="update must be"):
        EM(structure, so.L1M3N(1.0), data, update="(5)")
    with pytest.raises(InvalidInputError, match="lam must be"):
        EM(structure, so.LaplaceM3N(1.0, 0.0), data)
    with pytest.raises(InvalidInputError, match="C must be"):
        EM(structure, so.L1M3N(-1.0), data)


def test_l1_m3n_takes_constraints_by_cutting_planes():
    problem = X, Y, structure, _ = small_chain(np.random.default_rng(8))

    def extra(w):
        return [w >= -0.1, w[0] == 0]

    truth, _ = full(problem, 1.0, half_l1, extra=extra)
    result = solve(structure, so.L1M3N(1.0, constraints=extra), X, Y, backend="highs", tol=1e-6)
    assert result.certificate.primal == pytest.approx(truth, rel=1e-5)


def test_laplace_by_its_cones_agrees_and_is_certified():
    problem = X, Y, structure, _ = small_chain(np.random.default_rng(2))
    planes = solve(structure, so.LaplaceM3N(1.0, 4.0), X, Y, tol=1e-5)
    em = run_em(problem, so.LaplaceM3N(1.0, 4.0))
    assert planes.backend == "clarabel"
    assert planes.certificate.certified
    assert planes.certificate.primal == pytest.approx(em.certificate.primal, rel=3 * TOL)


def test_out_of_rounds_zeros_never_raise_the_objective():
    problem = small_chain(np.random.default_rng(1), n=8)
    result = run_em(problem, so.L1M3N(1.0), tol=1e-9, max_iter=8)
    assert result.status == "max_iter"
    assert not result.certificate.certified
    assert result.certificate.primal <= result.history[-1].primal


def test_a_warm_start_continues_at_another_c():
    problem = X, Y, structure, _ = small_chain(np.random.default_rng(6), n=8)
    first = run_em(problem, so.L1M3N(0.5))
    warm = run_em(problem, so.L1M3N(1.0), warm_start=first)
    truth, _ = full(problem, 1.0, half_l1)
    assert_brackets(warm, truth)
    planes = solve(structure, so.L1M3N(1.0), X, Y, warm_start=warm, tol=TOL)
    assert_brackets(planes, truth)
    assert_brackets(run_em(problem, so.L1M3N(1.0), warm_start=planes), truth)
    other = small_chain(np.random.default_rng(7), n=8)
    with pytest.raises(InvalidInputError, match="other data"):
        run_em(other, so.L1M3N(1.0), warm_start=first)


def test_the_estimator_learns_by_em():
    X, Y = so.datasets.make_chain_crf(n_examples=20, seed=0)
    model = so.StructuredClassifier(
        so.Chain(), so.L1M3N(0.2), method="em", tol=1e-2, random_state=1,
        method_options={"update": "(4)"},
    )  # fmt: skip
    model.fit(X, Y)
    assert model.result_.certificate.certified
    assert model.score(X, Y) > 0.5
