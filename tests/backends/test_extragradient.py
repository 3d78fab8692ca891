"""The extragradient solver: known answers, duals, statuses, and agreement with other solvers."""

import logging

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from enumeration import small_chain, solve
from hypothesis import given, settings
from hypothesis import strategies as st

import structopt as so
from structopt.backends.extragradient import solver
from structopt.backends.extragradient.backend import ExtragradientBackend as Backend
from structopt.backends.extragradient.judge import Judge
from structopt.backends.extragradient.rays import proves_infeasible, proves_unbounded
from structopt.backends.extragradient.scaling import Scale
from structopt.backends.highs import HiGHS
from structopt.lab.bench.masters import Size, _Recording
from structopt.master.program import Program

INF = np.inf
drawn = settings(derandomize=True, deadline=None, max_examples=25)
seeds = st.integers(0, 2**32 - 1)


def problem(q, A, lower, upper=None, *, P=None, l1=None, lb=None, ub=None, slacks=()):
    n, A = len(q), np.asarray(A, float).reshape(-1, len(q))
    return Program(
        P=sp.csr_array((n, n)) if P is None else sp.csr_array(np.asarray(P, float)),
        q=np.asarray(q, float),
        l1=np.zeros(n) if l1 is None else np.asarray(l1, float),
        A=sp.csr_array(A),
        lower=np.asarray(lower, float),
        upper=np.full(len(A), INF) if upper is None else np.asarray(upper, float),
        lb=np.full(n, -INF) if lb is None else np.asarray(lb, float),
        ub=np.full(n, INF) if ub is None else np.asarray(ub, float),
        slacks=np.asarray(slacks, np.int64),
    )


# ---------------------------------------------------------------------- through CVXPY
def test_a_linear_programme_by_hand():
    # max 3x + 2y, x + y <= 4, x + 3y <= 8, x <= 3: at (3, 1), 11; duals: 2 on the first row,
    # 3 - 2 = 1 on the third; the second row is not active.
    x, y = cp.Variable(nonneg=True), cp.Variable(nonneg=True)
    rows = [x + y <= 4, x + 3 * y <= 8, x <= 3]
    p = cp.Problem(cp.Maximize(3 * x + 2 * y), rows)
    assert p.solve(solver=so.ExtragradientSolver()) == pytest.approx(11, abs=1e-4)
    assert p.status == cp.OPTIMAL
    assert [x.value, y.value] == pytest.approx([3, 1], abs=1e-4)
    assert [float(r.dual_value) for r in rows] == pytest.approx([2, 0, 1], abs=1e-4)


def test_a_quadratic_programme_by_hand():
    # the point of x + y = 2, y <= 0.5 nearest to the origin: (1.5, 0.5); gradient (1.5, 0.5) =
    # -nu (1, 1) - mu (0, 1): nu = -1.5, mu = 1.
    z = cp.Variable(2)
    rows = [cp.sum(z) == 2, z[1] <= 0.5]
    p = cp.Problem(cp.Minimize(cp.sum_squares(z) / 2 + 7), rows)
    assert p.solve(solver=so.ExtragradientSolver()) == pytest.approx(8.25, abs=1e-5)
    assert z.value == pytest.approx([1.5, 0.5], abs=1e-4)
    assert float(rows[0].dual_value) == pytest.approx(-1.5, abs=1e-4)
    assert float(rows[1].dual_value) == pytest.approx(1, abs=1e-4)


def test_a_coupled_quadratic_by_hand():
    # min (x - y)^2 + (x - 1)^2 with y >= 2: x = 1.5, y = 2, value 0.5
    x, y = cp.Variable(), cp.Variable()
    p = cp.Problem(cp.Minimize(cp.square(x - y) + cp.square(x - 1)), [y >= 2])
    assert p.solve(solver=so.ExtragradientSolver()) == pytest.approx(0.5, abs=1e-5)
    assert [x.value, y.value] == pytest.approx([1.5, 2], abs=1e-4)


X = cp.Variable(3)
U = cp.Variable(2, nonneg=True)
WITHOUT = {
    "rows that exclude each other": (cp.sum(X), [cp.sum(X) >= 1, cp.sum(X) <= 0], "infeasible"),
    "equalities": (cp.sum_squares(X), [X[0] + X[1] == 1, 2 * X[0] + 2 * X[1] == 3], "infeasible"),
    "bounds and a row": (U[0], [U[0] + U[1] <= -1], "infeasible"),
    "a circle of rows": (X[0], [X[0] >= X[1] + 1, X[1] >= X[2] + 1, X[2] >= X[0]], "infeasible"),
    "falls for ever": (-U[0], [U[1] <= 3], "unbounded"),
    "falls along an equality": (-U[0] - U[1], [U[0] == U[1]], "unbounded"),
    "free": (X[0] + X[1], [X[0] - X[1] <= 1], "unbounded"),
    "quadratic in one column only": (cp.square(X[0]) - X[1], [X[1] >= X[0]], "unbounded"),
    "both": (-U[0], [X[1] + X[2] >= 1, X[1] + X[2] <= -1], "infeasible"),
}


@pytest.mark.parametrize("name", WITHOUT)
def test_infeasible_and_unbounded_are_told_apart(name):
    objective, rows, status = WITHOUT[name]
    p = cp.Problem(cp.Minimize(objective), rows)
    p.solve(solver=so.ExtragradientSolver())
    assert p.status == status
    assert p.value == (INF if status == "infeasible" else -INF)
    assert p.solver_stats.num_iters < 50_000


@pytest.mark.parametrize("quadratic", [False, True])
@given(seed=seeds)
@drawn
def test_random_problems_agree_with_other_solvers(quadratic, seed):
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(1, 8)), int(rng.integers(1, 8))
    A = rng.normal(size=(m, n)) * (rng.random((m, n)) < 0.6)
    inside, y = rng.normal(size=n), rng.uniform(0.0, 2.0, m)
    x = cp.Variable(n, bounds=[-2.0, None]) if rng.random() < 0.5 else cp.Variable(n)
    inside = np.maximum(inside, -2.0)
    n_equal = int(rng.integers(0, min(m, n)))
    slack = np.where(np.arange(m) < n_equal, 0.0, rng.choice([0.0, 1.0], m))
    b = A @ inside - slack
    q = A.T @ y  # a dual feasible point: bounded
    root = rng.normal(size=(int(rng.integers(1, n + 1)), n))
    f = q @ x + (cp.sum_squares(root @ x) if quadratic else 0.0)
    rows = [A[n_equal:] @ x >= b[n_equal:]]
    if n_equal:
        rows.append(A[:n_equal] @ x == b[:n_equal])
    p = cp.Problem(cp.Minimize(f), rows)
    truth = p.solve(solver=cp.CLARABEL if quadratic else cp.HIGHS)
    value = p.solve(solver=so.ExtragradientSolver())
    assert p.status == "optimal"
    scale = 1 + abs(truth)
    assert value == pytest.approx(truth, abs=2e-5 * scale)
    for row in rows:
        assert np.max(row.violation(), initial=0.0) <= 1e-5 * (1 + np.max(np.abs(b)))
    # duals: stationarity and no gap, whatever vertex was found
    y = np.zeros(m)
    y[n_equal:] = rows[0].dual_value
    assert np.all(y[n_equal:] >= 0)
    if n_equal:
        y[:n_equal] = -rows[1].dual_value  # CVXPY's sign of equalities is that of f + y (Ax - b)
    slope = q + (2 * root.T @ root @ x.value if quadratic else 0.0) - A.T @ y
    held = x.value < -2.0 + 1e-3 if x.attributes["bounds"] is not None else np.zeros(n, bool)
    assert np.max(np.abs(slope[~held]), initial=0.0) <= 1e-3 * (1 + np.max(np.abs(q)))
    assert np.min(slope[held], initial=0.0) >= -1e-3 * (1 + np.max(np.abs(q)))


def test_limits_leave_a_point_and_say_so():
    rng = np.random.default_rng(0)
    A = rng.normal(size=(30, 20))
    x = cp.Variable(20)
    p = cp.Problem(cp.Minimize(cp.norm1(x)), [A[:10] @ x == A[:10] @ np.ones(20)])
    with pytest.warns(UserWarning, match="inaccurate"):
        p.solve(solver=so.ExtragradientSolver(max_iter=10))
    assert p.status in ("user_limit", "optimal_inaccurate")
    assert x.value is not None
    assert p.solver_stats.num_iters <= 10
    with pytest.warns(UserWarning, match="inaccurate"):
        p.solve(solver=so.ExtragradientSolver(tol=1e-13), time_limit=1e-4)
    assert p.status == "user_limit"
    truth = p.solve(solver=cp.CLARABEL)
    assert p.solve(solver=so.ExtragradientSolver(tol=1e-3), tol=1e-7) == pytest.approx(
        truth, rel=1e-6
    )
    assert p.status == "optimal"


def test_warm_starts_need_few_steps():
    rng = np.random.default_rng(1)
    A, b = rng.normal(size=(40, 15)), cp.Parameter(40)
    x = cp.Variable(15)
    p = cp.Problem(cp.Minimize(cp.norm1(x)), [A @ x >= b])
    b.value = A @ np.ones(15) - rng.uniform(0.0, 1.0, 40)
    p.solve(solver=so.ExtragradientSolver())
    cold = p.solver_stats.num_iters
    p.solve(solver=so.ExtragradientSolver(), warm_start=True)
    assert p.solver_stats.num_iters == 0
    b.value = b.value + 1e-3
    p.solve(solver=so.ExtragradientSolver(), warm_start=True)
    assert p.solver_stats.num_iters < cold
    assert p.value == pytest.approx(p.solve(solver=cp.HIGHS), rel=1e-5)


def test_wrong_options_and_cones_are_refused():
    x = cp.Variable(2)
    p = cp.Problem(cp.Minimize(cp.sum(x)), [x >= 1])
    with pytest.raises(cp.SolverError, match="no option 'magic'"):
        p.solve(solver=so.ExtragradientSolver(), magic=1)
    with pytest.raises(cp.SolverError, match="'korpelevich', 'paper'"):
        p.solve(solver=so.ExtragradientSolver(variant="new"))
    with pytest.raises(cp.SolverError):
        cp.Problem(cp.Minimize(cp.norm2(x)), [x >= 1]).solve(solver=so.ExtragradientSolver())


@pytest.mark.parametrize(
    "option", [{"tol": np.nan}, {"eps": -1.0}, {"max_iters": 0}, {"time_limit": "soon"}]
)
def test_numbers_with_which_nothing_would_end_are_refused(option):
    x = cp.Variable(2)
    with pytest.raises(cp.SolverError, match="must be a number"):
        cp.Problem(cp.Minimize(cp.sum(x)), [x >= 1]).solve(
            solver=so.ExtragradientSolver(), **option
        )


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"max_iters": 2.5}, "max_iter must be a whole number"),
        ({"every": 1.5}, "every must be a whole number"),
        ({"tol": 1e-6, "eps": 1e-3}, "'tol' is given twice: 'tol' and 'eps' are the same"),
        ({"tol": np.inf}, "tol must be finite"),
        ({"callback": 3}, "callback must be a function"),
        ({"without": "presolve"}, "without is a list"),
        ({"without": 5}, "without is a list"),
    ],
)
def test_options_that_make_no_sense_are_refused_by_name(options, says):
    x = cp.Variable(2)
    with pytest.raises(cp.SolverError, match=says):
        cp.Problem(cp.Minimize(cp.sum(x)), [x >= 1]).solve(
            solver=so.ExtragradientSolver(), **options
        )


def test_counts_may_be_written_as_floats():
    x = cp.Variable(2)
    p = cp.Problem(cp.Minimize(cp.sum(x)), [x >= 1])
    assert p.solve(
        solver=so.ExtragradientSolver(), max_iters=1e4, every=np.float64(20)
    ) == pytest.approx(2.0)
    assert p.solve(solver=so.ExtragradientSolver(), max_iters=np.inf) == pytest.approx(2.0)


def test_options_by_cvxpy_s_names_and_what_solver_stats_tell():
    rng = np.random.default_rng(0)
    A, x = rng.normal(size=(10, 20)), cp.Variable(20)
    p = cp.Problem(cp.Minimize(cp.norm1(x)), [A @ x == A @ np.ones(20)])
    p.solve(solver=so.ExtragradientSolver(), eps=1e-9, max_iters=10**6, time_limit_secs=60.0)
    stats = p.solver_stats
    assert stats.solver_name == "STRUCTOPT_EXTRAGRADIENT"
    assert 0.0 < stats.solve_time < 60.0
    assert stats.num_iters == stats.extra_stats.iterations > 0
    assert stats.extra_stats.error <= 1e-9
    assert stats.extra_stats.products >= 2 * stats.num_iters


def test_verbose_tells_through_cvxpy_s_log(caplog):
    x = cp.Variable(2)
    p = cp.Problem(cp.Minimize(cp.sum(x)), [x >= 1, cp.sum(x) >= 3])
    logger = logging.getLogger("__cvxpy__")
    logger.propagate = True
    try:
        p.solve(solver=so.ExtragradientSolver(), verbose=True)
    finally:
        logger.propagate = False
    assert "restarts" in caplog.text
    assert "optimal: error" in caplog.text


def test_problems_without_rows_or_with_fixed_columns():
    x = cp.Variable(2, bounds=[np.array([-1.0, 2.0]), np.array([5.0, 2.0])])
    p = cp.Problem(cp.Minimize(x[0] + x[1]))
    assert p.solve(solver=so.ExtragradientSolver()) == pytest.approx(1.0, abs=1e-6)
    z = cp.Variable(2)
    assert cp.Problem(cp.Minimize(cp.sum_squares(z - 3))).solve(
        solver=so.ExtragradientSolver()
    ) == pytest.approx(0.0, abs=1e-5)


# ---------------------------------------------------------------------- parts
def test_the_paper_s_step_converges_on_the_saddle_that_cycles_at_one():
    # min 0 s.t. x = 0: the Lagrangian is u v, on which a step of 1 / K circles for ever
    p = problem([0.0], [[1.0]], [0.0], [0.0])
    seen = []
    found = solver.solve(
        p, variant="paper", start=(np.ones(1), np.ones(1)), tolerance=1e-9, every=1,
        max_iter=500, callback=lambda it: seen.append(it.iteration),
    )  # fmt: skip
    assert found.error < 1e-6
    assert seen == list(range(1, len(seen) + 1))


def test_the_paper_s_variant_solves_a_small_master():
    # 1.w + xi with 2 w >= 1 - xi: w = 1/2
    p = problem([1.0, 1.0], [[2.0, 1.0]], [1.0], lb=[0, 0], slacks=[1])
    found = solver.solve(p, variant="paper", tolerance=1e-7)
    assert found.status == "optimal"
    assert found.x == pytest.approx([0.5, 0.0], abs=1e-5)
    assert found.y == pytest.approx([0.5], abs=1e-5)


@given(seed=seeds)
@drawn
def test_bounds_of_the_judge_hold_for_any_pair(seed):
    rng = np.random.default_rng(seed)
    d, k, m = 4, 2, 7
    A = np.zeros((m, d + k))
    A[:, :d] = rng.normal(size=(m, d))
    A[np.arange(m), d + rng.integers(0, k, m)] = rng.uniform(0.5, 2.0, m)
    curved = rng.random() < 0.5
    p = problem(
        np.r_[np.zeros(d), rng.uniform(0.5, 2.0, k)], A, rng.uniform(0.0, 2.0, m),
        P=np.diag(np.r_[rng.uniform(0.2, 2.0, d), np.zeros(k)]) if curved else None,
        l1=np.r_[rng.uniform(0.1, 1.0, d), np.zeros(k)],
        lb=np.r_[np.full(d, -INF), np.zeros(k)], slacks=np.arange(d, d + k),
    )  # fmt: skip
    x = cp.Variable(d + k)
    f = p.q @ x + p.l1 @ cp.abs(x) + cp.sum_squares(np.sqrt(p.P.toarray()) @ x) / 2
    truth = cp.Problem(cp.Minimize(f), [A @ x >= p.lower, x[d:] >= 0]).solve(solver=cp.CLARABEL)
    judge = Judge(p)
    for _ in range(5):
        found = judge.assess(rng.normal(size=d + k), rng.normal(size=m))
        assert found.primal >= truth - 1e-6
        assert found.dual <= truth + 1e-6
        assert found.primal_residual <= 1e-12
        assert found.dual_residual == 0
        assert found.primal == pytest.approx(p.objective(found.x))
        again = judge.assess(found.x, found.y)  # the repaired pair needs no repair
        assert [again.primal, again.dual] == pytest.approx([found.primal, found.dual])
    best = solver.solve(p, tolerance=1e-7, check=Judge)
    assert best.status == "optimal"
    assert best.dual - 1e-6 <= truth <= best.primal + 1e-6
    assert best.primal - best.dual <= 1e-7 * max(1.0, best.primal)


def test_bounds_that_cross_and_numbers_that_are_none():
    crossed = [
        problem([1.0], [[1.0]], [2.0], [1.0]),
        problem([1.0], [[1.0]], [INF], [INF]),
        problem([1.0], [[1.0]], [0.0], lb=[2.0], ub=[1.0]),
        problem([1.0], [[1.0]], [0.0], lb=[-INF], ub=[-INF]),
    ]
    for p in crossed:
        assert solver.solve(p).status == "infeasible"
    for p in (
        problem([np.nan], [[1.0]], [0.0]),
        problem([1.0], [[INF]], [0.0]),
        problem([1.0], [[1.0]], [np.nan]),
    ):
        with pytest.raises(so.errors.InvalidInputError, match="NaN"):
            solver.solve(p)


def test_rays_prove_only_what_is_true():
    p = problem([1.0, -1.0], [[1.0, 0.0], [-1.0, 0.0]], [1.0, -2.0], lb=[0.0, 0.0])
    rng = np.random.default_rng(0)
    for _ in range(50):
        assert not proves_infeasible(p, rng.normal(size=2))
    assert proves_unbounded(p, np.array([0.0, 1.0]))
    assert not proves_unbounded(p, np.array([1.0, 1.0]))  # leaves x0 <= 2
    assert not proves_infeasible(p, np.zeros(2))
    assert not proves_infeasible(p, np.full(2, np.nan))


def test_scales_are_carried_and_rows_deleted():
    A = sp.random_array((30, 10), density=0.3, rng=np.random.default_rng(0), format="csr")
    A.data *= 10.0 ** np.random.default_rng(1).integers(-3, 4, A.nnz)
    first = Scale.of(problem(np.ones(10), A[:20].toarray(), np.ones(20)))
    kept = first.keep(np.arange(20) % 2 == 0)
    grown = sp.csr_array(sp.vstack([A[:20][::2], A[20:]]))
    again = Scale.of(problem(np.ones(10), grown.toarray(), np.ones(20)), kept)
    assert (again.primal, again.dual) == (first.primal, first.dual)
    assert again.rows.shape == (20,)
    size = abs(sp.diags_array(again.ruiz_rows) @ grown @ sp.diags_array(again.ruiz_columns))
    largest = size.max(axis=1).toarray()
    assert np.all((largest[largest > 0] > 0.1) & (largest[largest > 0] < 5))


# ---------------------------------------------------------------------- as a backend
def test_masters_reach_a_certified_gap_of_one_millionth():
    recording = _Recording.of(Size(n_sentences=20, n_words=20, n_labels=3, rounds=5))
    ours, exact = Backend(), HiGHS()
    masters = recording.master(), recording.master()
    for backend, master in zip((ours, exact), masters, strict=True):
        backend.start(master)
    for batch in recording.batches:
        values = []
        for backend, master in zip((ours, exact), masters, strict=True):
            backend.append(master.add(batch))
            found = backend.solve(tolerance=1e-6)
            assert found.status == "optimal", found
            values.append(master.program.objective(found.x))
        assert values[0] == pytest.approx(values[1], rel=1.1e-6)
        assert values[0] >= values[1] * (1 - 1e-7)  # the slacks are raised: an upper bound


def test_a_second_solve_starts_where_the_first_ended():
    recording = _Recording.of(Size(n_sentences=20, n_words=20, n_labels=3, rounds=3))
    master, backend = recording.master(), Backend()
    backend.start(master)
    for batch in recording.batches:
        backend.append(master.add(batch))
    first = backend.solve(tolerance=1e-5)
    again = backend.solve(tolerance=1e-5)
    assert first.iterations > 0
    assert again.iterations == 0
    memory = backend._memory
    idle = np.abs(again.cut_duals) < 1e-9
    backend.delete(~idle)
    assert len(backend._memory.scale.rows) == int(np.sum(~idle))
    assert backend._memory.weight == memory.weight
    fewer = backend.solve(tolerance=1e-5)
    assert fewer.status == "optimal"
    assert fewer.iterations <= first.iterations


def test_lp_struct_is_certified_to_one_millionth_by_the_backend_alone():
    X, Y, structure, _ = small_chain(np.random.default_rng(2), n=6)
    result = solve(structure, so.LPStruct(2.0), X, Y, backend="extragradient", tol=1e-6)
    assert result.certificate.relative_gap <= 1e-6
    assert result.backend == "extragradient"


def test_the_paper_s_variant_is_a_backend_too():
    X, Y, structure, _ = small_chain(np.random.default_rng(2), n=4)
    seen = []
    backend = Backend(variant="paper", max_iter=20_000, callback=seen.append)
    result = solve(structure, so.LPStruct(1.0), X, Y, backend=backend, tol=1e-2)
    assert result.certificate.relative_gap <= 1e-2
    assert seen[-1].iteration > 0
    assert np.isfinite([it.primal - it.dual for it in seen]).all()
