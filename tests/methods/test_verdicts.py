"""A solver's "infeasible" and "unbounded" are looked into; what is true of them comes with why."""

from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

import structopt as so
from structopt.backends.base import MasterSolution
from structopt.backends.clarabel import Clarabel
from structopt.errors import BackendError, InfeasibleError, UnboundedError
from structopt.master import interior
from structopt.master.compile import compile_problem
from structopt.methods import verdict
from structopt.methods.verdict import examine

X, Y = np.random.default_rng(0).normal(size=(12, 3)), ["a", "b", "c"] * 4


def fit(formulation, **options):
    return so.StructuredClassifier(so.Multiclass(), formulation, **options).fit(X, Y).result_


class Liar(Clarabel):
    """Says something of its second solve that is not so."""

    name = "liar"

    def __init__(self, word="infeasible", max_iter=200, threads=1):
        super().__init__(max_iter, threads)
        self.word = word

    def start(self, master):
        super().start(master)
        self.count = 0

    def solve(self, **options):
        self.count += 1
        found = super().solve(**options)
        if self.count != 2:
            return found
        return MasterSolution(self.word, 0 * found.x, 0 * found.cut_duals, None, 0, "so it says")


@pytest.mark.parametrize("word", ["infeasible", "unbounded"])
def test_a_word_that_is_not_true_is_a_failure(word):
    with pytest.raises(
        BackendError, match=rf"round 2: it calls the master {word}, which is not"
    ) as e:
        fit(so.M3N(), backend=Liar(word))
    assert len(e.value.result.history) == 1
    result = fit(so.M3N(), backend=Liar(word), fallback=True)
    assert result.certificate.certified
    assert [r[:3] for r in result.rescued] == [(2, "liar", "cvxpy")]


@pytest.mark.parametrize("backend", ["auto", "highs", "clarabel", "osqp", "cvxpy"])
def test_infeasible_names_the_constraints_that_clash(backend):
    given = lambda w: [cp.sum(w) <= 1, w[0] + w[1] >= 2, w[0] >= 0.5, w[4] <= 3, w >= 0]  # noqa: E731
    with pytest.raises(InfeasibleError, match=r"These clash: .*Multipliers of .* prove it") as e:
        fit(so.LPStruct(1.0, constraints=given), backend=backend)
    assert len(e.value.constraints) == 3
    assert any("w[0] + w[1]" in c for c in e.value.constraints)
    assert not any("w[4]" in c for c in e.value.constraints)


def test_cuts_that_no_weights_satisfy_are_named():
    class Hard(so.Formulation):
        def master(self, m):
            w = m.weights(lambda w: [cp.norm1(w) <= 1e-3])
            m.minimize(cp.sum_squares(w))
            m.cuts(lambda cut: cut.delta @ w >= 1)

    with pytest.raises(InfeasibleError, match="give hard cut families a slack") as e:
        fit(Hard())
    assert any("cuts of 'best_other'" in c for c in e.value.constraints)
    assert any("norm1" in c.lower() for c in e.value.constraints)


class NuSVM(so.Formulation):
    """1/2 |w|^2 - nu rho + mean slack: it has no minimum before there are cuts."""

    def __init__(self, nu=0.8, hinge=1.0):
        self.nu, self.hinge = nu, hinge

    def master(self, m):
        w, xi, rho = m.weights(), m.slacks(), cp.Variable(nonneg=True, name="rho")
        m.minimize(cp.sum_squares(w) / 2 - self.nu * rho + self.hinge * cp.sum(xi) / m.n_examples)
        m.cuts(lambda cut: cut.delta @ w >= rho - cut.of(xi))


@pytest.mark.parametrize("backend", ["auto", "clarabel", "osqp", "cvxpy"])
def test_a_master_that_only_cuts_bound_is_asked_for_cuts_first(backend):
    result = fit(NuSVM(), backend=backend, tol=1e-4)
    assert result.certificate.certified
    deltas = [
        (so.Multiclass().fitted(X, Y).joint_features(x, y) - so.Multiclass().fitted(X, Y)
         .joint_features(x, z)).toarray()[0]
        for x, y in zip(X, Y, strict=True) for z in "abc" if z != y
    ]  # fmt: skip
    w, xi, rho = cp.Variable(9), cp.Variable(12, nonneg=True), cp.Variable(nonneg=True)
    owner = np.repeat(np.arange(12), 2)
    objective = cp.sum_squares(w) / 2 - 0.8 * rho + cp.sum(xi) / 12
    truth = cp.Problem(cp.Minimize(objective), [np.array(deltas) @ w >= rho - xi[owner]])
    truth.solve(solver=cp.CLARABEL)
    assert result.certificate.primal == pytest.approx(truth.value, abs=2e-4 * abs(truth.value))


@pytest.mark.parametrize("backend", ["auto", "cvxpy"])
def test_what_no_cut_bounds_is_unbounded_and_says_along_what(backend):
    with pytest.raises(UnboundedError, match=r"moves .*rho \(1 of 1\)"):
        fit(NuSVM(nu=2.0), backend=backend)


def test_a_ray_proves_and_a_direction_falls_at_any_scale():
    x = cp.Variable(3)
    for scale in (1e-8, 1.0, 1e8):
        rows = [scale * (x[0] + x[1]) >= 2 * scale, x[0] <= 0.5, x[1] + x[2] <= 1, x[2] >= 0]
        p = compile_problem(cp.sum_squares(x), rows, [x])
        found = examine(p, [p.A], p.lower, p.upper)
        y = found.ray
        assert y is not None
        pull = p.A.T @ y
        reach = np.where(pull > 1e-12 * abs(y).max(), pull * np.where(np.isinf(p.ub), 0, p.ub), 0)
        assert np.where(y > 0, p.lower, np.where(y < 0, p.upper, 0)) @ y > reach.sum()
        p = compile_problem(scale * x[0] + 2 * scale * x[1], [x[0] + x[1] <= 1, x[0] >= x[1]], [x])
        assert examine(p, [p.A], p.lower, p.upper).ray is None
        assert p.q @ examine(p, [p.A], p.lower, p.upper).descent < 0
        bounded = compile_problem(cp.norm1(x) + 0.9 * cp.sum(x), [x[0] + x[1] <= 1], [x])
        assert examine(bounded, [bounded.A], bounded.lower, bounded.upper).descent is None


V = cp.Variable(3)
CONIC = {  # constraints, and whether no point satisfies them
    "ball": ([cp.norm2(V) <= 1, cp.sum(V) >= 3], True),
    "wide ball": ([cp.norm2(V) <= 1e6, cp.sum(V) >= 3e6], True),
    "narrow ball": ([cp.norm2(V) <= 1e-6, cp.sum(V) >= 3e-6], True),
    "negative ball": ([cp.SOC(1.0 + 0 * V[0], V), cp.sum(V) <= -3], True),
    "a box out of a ball": ([cp.norm2(V) <= 1, V >= 0.8], True),
    "a wide box out of a ball": ([cp.norm2(V) <= 1e6, V >= 8e5], True),
    "a negative box out of a ball": ([cp.norm2(V) <= 1, V <= -0.8], True),
    "a box that meets a ball": ([cp.norm2(V) <= 1, V >= 0.5], False),
    "just out of a ball": ([cp.norm2(V) <= 1, V[0] >= 1 + 1e-5], True),
    "on a ball": ([cp.norm2(V) <= 1, V[0] >= 1], False),
    "in a ball": ([cp.norm2(V) <= 1, cp.sum(V) >= 1.7], False),
    "exponentials": ([cp.sum(cp.exp(V)) <= 1, V[0] >= 0.1], True),
    "exponentials, met": ([cp.sum(cp.exp(V)) <= 1, V[0] >= -5], False),
    "entropy": ([cp.sum(cp.entr(V)) >= 2, cp.sum(V) == 1, V >= 0], True),
    "powers": ([cp.sum(cp.power(V, 4)) <= 1, V[0] >= 1.1], True),
    "matrices": ([cp.lambda_max(cp.diag(V)) <= 1, V[0] >= 1.5], True),
}


@pytest.mark.parametrize("name", CONIC)
def test_cones_that_no_point_satisfies_come_with_multipliers(name):
    constraints, nobody = CONIC[name]
    p = compile_problem(cp.sum_squares(V), constraints, [V])
    assert p.is_conic
    signs = np.random.default_rng(len(name)).choice([-1.0, 1.0], len(p.lower))
    p = turned(p, signs * 10.0 ** np.arange(len(signs)))  # rows of any size and direction
    found = examine(p, [p.A], p.lower, p.upper)
    assert (found.ray is not None) == nobody
    assert (found.residual > 1e-6) == nobody
    if nobody:
        assert_proof(p, found.ray)


def assert_proof(p, ray, reach=1000.0):
    """Once more by hand: signs, z in K*, and a side that no point of its size makes up."""
    rows = len(p.lower)
    y, z = ray[:rows], ray[rows:]
    assert np.all(y[np.isneginf(p.lower)] <= 0)
    assert np.all(y[np.isposinf(p.upper)] >= 0)
    assert p.cones.contain_dual(z)
    side = np.where(y > 0, p.lower, p.upper)[y != 0] @ y[y != 0] + p.cones.side @ z
    pull = p.A.T @ y + p.cones.matrix.T @ z
    box = np.where(pull > 0, p.ub, p.lb)
    held = np.isfinite(box) & (pull != 0)
    room, loose = side - box[held] @ pull[held], np.abs(pull[~held]).sum()
    assert room > 0
    assert loose == 0 or loose * reach <= room * (1 + 1e-6)


@pytest.mark.parametrize("name", CONIC)
def test_no_solver_s_word_about_cones_is_taken(name, monkeypatch):
    """Multipliers and points that are off by a rounding, by a little, or altogether."""
    constraints, nobody = CONIC[name]
    p = compile_problem(cp.sum_squares(V), constraints, [V])
    solve, rng, proofs = interior.solve, np.random.default_rng(0), 0
    for size in (1e-9, 1e-6, 1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 1e-2, 1.0, -1.0):

        def off(*args, size=size):
            found = solve(*args)
            noise = size * rng.normal(size=len(found.duals)) * np.abs(found.duals).max()
            noise[len(p.lower) :] *= abs(size) in (1e-9, 1e-6, 1.0)  # else of the rows alone
            return replace(found, duals=found.duals + noise if size > 0 else -found.duals)

        monkeypatch.setattr(interior, "solve", off)
        found = examine(p, [p.A], p.lower, p.upper)
        if found.ray is not None:
            assert nobody
            assert found.reach >= (4e3 if name in ("ball", "negative ball") else 0.01)
            assert_proof(p, found.ray, found.reach)
            proofs += 1
    assert proofs > 0 or not nobody or name == "just out of a ball"


def test_a_column_that_hardly_counts_spoils_no_proof():
    far = [V[0] + 1e-10 * T[0] >= 3, T <= 1, T >= -1]
    for ball in (cp.norm2(V) <= 1, V <= 1):
        p = compile_problem(cp.sum_squares(V), [ball, *far], [V, T])
        assert examine(p, [p.A], p.lower, p.upper).ray is not None


def test_without_rows():
    for objective, kept, falls in (
        (cp.sum(V), [], True), (cp.sum_squares(V), [], False), (cp.sum(V), [V >= 1], False),
        (V[0] - V[1], [V >= 1], True), (cp.norm1(V) + 0.9 * V[0], [], False),
    ):  # fmt: skip
        p = compile_problem(objective, kept, [V])
        assert not len(p.lower)
        found = examine(p, [p.A], p.lower, p.upper)
        assert (found.ray, found.residual) == (None, 0.0)
        assert (found.descent is not None) == falls
        assert_true(p, found)


def test_a_ball_is_never_called_empty_where_it_is_not():
    rng = np.random.default_rng(0)
    for _ in range(30):
        centre, radius = rng.normal(size=3), rng.uniform(0.1, 3.0)
        a, b = rng.normal(size=(2, 3)), 2 * rng.normal(size=2)
        p = compile_problem(cp.sum(V), [cp.norm2(V - centre) <= radius, a @ V >= b], [V])
        nearest = cp.Problem(cp.Minimize(cp.norm2(V - centre)), [a @ V >= b]).solve(cp.CLARABEL)
        found = examine(p, [p.A], p.lower, p.upper)
        assert (found.ray is not None) == (nearest > radius)


T = cp.Variable(2)
FALLS = {  # objective, constraints, and whether it falls for ever along a line
    "beside a ball": (T[0] + cp.norm2(V), [cp.norm2(V) <= 1], True),
    "held by a ball": (V[0], [cp.norm2(V) <= 1], False),
    "held by a norm": (cp.norm2(V) + 0.5 * cp.sum(V[:2]), [], False),
    "past a norm": (cp.norm2(V) + 2.0 * V[0], [], True),
    "along a cone": (T[0], [cp.norm2(V) <= 3 - T[0]], True),
    "held by a row": (T[0], [cp.norm2(V) <= 3 - T[0], T[0] >= -5], False),
    "held by l1": (cp.norm1(T) + 0.9 * T[0], [cp.norm2(V) <= 1], False),
    "past l1": (cp.norm1(T) + 1.1 * T[0], [cp.norm2(V) <= 1], True),
    "held by squares": (cp.sum_squares(T) + T[0], [cp.norm2(V) <= 1], False),
    "exponentials": (cp.sum(cp.exp(V)) + T[0], [T[0] >= V[0]], True),
    "held by exponentials": (cp.sum(cp.exp(V)) - V[0], [], False),
    "matrices": (cp.lambda_max(cp.diag(V)) + T[1], [], True),
    "held by matrices": (cp.lambda_max(cp.diag(V)) - cp.sum(V) / 3, [V <= 1], False),
}


@pytest.mark.parametrize("size", [1e-5, 1.0, 1e5])
@pytest.mark.parametrize("name", FALLS)
def test_a_fall_along_cones_comes_with_its_direction(name, size):
    objective, constraints, falls = FALLS[name]
    p = compile_problem(size * objective, constraints, [V, T])
    assert p.is_conic
    found = examine(p, [p.A], p.lower, p.upper)
    assert found.ray is None
    assert (found.descent is not None) == falls
    if falls:  # once more by hand: far along it the objective is low and nothing gives way
        d = found.descent
        assert p.q @ d + p.l1 @ np.abs(d) < -1e-6 * np.abs(p.q).max()
        assert np.abs(p.P @ d).max() <= 1e-6
        assert p.cones.depth(p.cones.matrix @ d) >= -1e-6
        rows = p.A @ d
        assert np.all(rows[np.isfinite(p.lower)] >= -1e-6)
        assert np.all(rows[np.isfinite(p.upper)] <= 1e-6)
        assert np.all(d[np.isfinite(p.lb)] >= -1e-6)
        assert np.all(d[np.isfinite(p.ub)] <= 1e-6)


class Falls(so.Formulation):
    """A norm and hinges, beside a variable that lowers the objective for ever."""

    def master(self, m):
        w, xi, free = m.weights(), m.slacks(), cp.Variable(name="free")
        m.minimize(cp.norm2(w) + cp.sum(xi) - free)
        m.cuts(lambda cut: cut.delta @ w >= cut.loss - cut.of(xi))


def test_unbounded_beside_cones_is_proven_or_denied():
    with pytest.raises(UnboundedError, match=r"moves free \(1 of 1\)"):
        fit(Falls())

    class Norm(so.Formulation):
        def master(self, m):
            w, xi = m.weights(), m.slacks()
            m.minimize(cp.norm2(w) + cp.sum(xi))
            m.cuts(lambda cut: cut.delta @ w >= cut.loss - cut.of(xi))

    with pytest.raises(BackendError, match=r"unbounded, which is not so: .* finds its minimum"):
        fit(Norm(), backend=Liar("unbounded"))
    assert fit(Norm(), backend=Liar("unbounded"), fallback=True).certificate.certified


def turned(p, signs):
    """The same programme with rows scaled, some by less than 0: those of CVXPY are all <=."""
    low = np.abs(signs) * np.where(signs > 0, p.lower, -p.upper)
    high = np.abs(signs) * np.where(signs > 0, p.upper, -p.lower)
    return replace(p, A=sp.csr_array(sp.diags_array(signs) @ p.A), lower=low, upper=high)


@pytest.mark.parametrize("seed", range(40))
def test_rays_and_directions_of_random_rows_are_right(seed, monkeypatch):
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(1, 4)), int(rng.integers(1, 5))
    x, A, size = cp.Variable(n), rng.integers(-2, 3, (m, n)), 10.0 ** rng.integers(-4, 5)
    lower = rng.integers(-3, 4, m) * size
    upper = lower + rng.integers(0, 3, m) * size
    rows = [size * (A[k] @ x) >= lower[k] for k in range(m) if rng.random() < 0.7]
    rows += [size * (A[k] @ x) <= upper[k] for k in range(m) if rng.random() < 0.7]
    rows += [x >= -1] if rng.random() < 0.3 else []
    rows += [x[0] <= 2] if rng.random() < 0.3 else []
    c = rng.integers(-2, 3, n)
    objective = c @ x + (cp.norm1(x) if seed % 2 else 0) + (cp.square(x[0]) if seed % 3 == 0 else 0)
    p = compile_problem(objective, rows, [x])
    if np.any(p.lb > p.ub):
        return  # bounds that clash are refused where they are declared
    p = turned(p, rng.choice([-1.0, 1.0], len(p.lower)))
    found = examine(p, [p.A], p.lower, p.upper)
    assert_true(p, found)
    truth = cp.Problem(cp.Minimize(objective), rows)
    truth.solve(solver=cp.CLARABEL)
    assert (found.ray is not None) == (truth.status == "infeasible")
    assert (found.descent is not None) == (truth.status == "unbounded")
    assert (found.residual > 1e-6) == (truth.status == "infeasible")
    # whatever a solver says instead: what is told is so
    solve, size = verdict._solved, np.abs(p.A.data).max(initial=1.0)
    for much in (1e-12, 1e-7, 1e-3, 1.0, 10.0):

        def off(program, much=much):
            said = solve(program)
            duals = said.static_duals + much / size * rng.integers(-2, 3, len(said.static_duals))
            return replace(said, x=said.x + much * rng.integers(-2, 3, len(said.x)),
                           static_duals=duals)  # fmt: skip

        with monkeypatch.context() as patch:
            patch.setattr(verdict, "_solved", off)
            other = examine(p, [p.A], p.lower, p.upper)
        assert_true(p, other)
        assert other.ray is None or found.ray is not None


def assert_true(p, found):
    """Rays and directions once more by hand."""
    if found.ray is not None:
        y = found.ray
        assert np.all(y[np.isneginf(p.lower)] <= 0)
        assert np.all(y[np.isposinf(p.upper)] >= 0)
        pull = p.A.T @ y
        pull[np.abs(pull) <= 1e-9 * (abs(p.A).T @ np.abs(y))] = 0.0
        box = np.where(pull > 0, p.ub, p.lb)[pull != 0]
        gain = np.where(y > 0, p.lower, p.upper)[y != 0] @ y[y != 0]
        assert gain > box @ pull[pull != 0]
    if found.descent is not None:
        d = found.descent
        assert p.q @ d + p.l1 @ np.abs(d) < 0
        assert np.abs(p.P @ d).max() <= 1e-8 * np.abs(d).max()
        rows, room = p.A @ d, 1e-8 * (abs(p.A) @ np.abs(d))
        assert np.all((rows >= -room)[np.isfinite(p.lower)])
        assert np.all((rows <= room)[np.isfinite(p.upper)])
        assert np.all(d[np.isfinite(p.lb)] >= -1e-8 * np.abs(d).max())
        assert np.all(d[np.isfinite(p.ub)] <= 1e-8 * np.abs(d).max())


@pytest.mark.parametrize("signs", [(1, 1), (1, -1), (-1, 1), (-1, -1)])
def test_the_residual_is_a_share_of_the_row_whichever_way_it_is_written(signs):
    # x >= 3 and x <= 1: where both are broken least in sum x is in [1, 3], and one by 4 in 9 there
    x = cp.Variable(2)
    for size in (1e-4, 1.0, 1e4):
        p = compile_problem(x[0], [x[0] + x[1] >= 3 * size, x[0] + x[1] <= size], [x])
        p = turned(p, np.array(signs, float))
        found = examine(p, [p.A], p.lower, p.upper)
        assert found.ray is not None
        assert 4 / 9 - 1e-9 <= found.residual <= 2 / 3 + 1e-9


def test_the_residual_is_the_least_violation_of_a_row():
    # x >= 3 and x <= 1: the least that must give way is 2 in one row or shared, of numbers up to 3
    x = cp.Variable()
    p = compile_problem(x, [x + 0.0 * x >= 3, 2 * x <= 2], [x])
    for rows in ([p.A], [p.A[:0], p.A]):
        found = examine(p, rows, p.lower, p.upper)
        if len(p.lower):
            assert 0.3 <= found.residual <= 2.0
    y = cp.Variable(2)
    p = compile_problem(cp.sum(y), [cp.sum(y) >= 4, y[0] - y[1] == 0, cp.sum(y) <= 3], [y])
    found = examine(p, [p.A], p.lower, p.upper)
    assert found.ray is not None
    assert found.residual == pytest.approx(0.25, abs=0.09)  # 1 of 4, or of 3
    p = compile_problem(cp.sum(y), [cp.sum(y) >= 3, y[0] - y[1] == 0, cp.sum(y) <= 3], [y])
    assert examine(p, [p.A], p.lower, p.upper).residual <= 1e-9


@pytest.mark.parametrize("sum_of", [50.0, 1.0])
def test_a_word_about_cones_is_looked_into(sum_of):
    class Norm(so.Formulation):
        def master(self, m):
            w = m.weights(lambda w: [cp.norm2(w) <= 1, cp.sum(w) >= sum_of])
            xi = m.slacks()
            m.minimize(cp.norm2(w) + cp.sum(xi))
            m.cuts(lambda cut: cut.delta @ w >= cut.loss - cut.of(xi))

    if sum_of > 3.0:
        with pytest.raises(InfeasibleError, match=r"Multipliers of .* prove it for numbers up to"):
            fit(Norm())
    else:
        with pytest.raises(BackendError, match="it calls the master infeasible, which is not so"):
            fit(Norm(), backend=Liar("infeasible"))


@pytest.mark.parametrize("radius", [1.0, 1e-6, 1e-9])
def test_a_free_variable_beside_a_tiny_ball_falls_until_cuts_hold_it(radius):
    """With all sides tiny no direction was looked for: "unbounded" before the first cut."""

    class Free(so.Formulation):
        def master(self, m):
            w, z, t = m.weights(), cp.Variable(m.n_examples, name="z"), cp.Variable(name="t")
            m.minimize(cp.sum_squares(w) + cp.sum(z) - 0.3 * t + cp.square(t))
            m.subject_to(cp.norm2(w) <= radius)
            m.cuts(lambda cut: cut.delta @ w >= t - cut.of(z))

    assert fit(Free()).certificate.certified
