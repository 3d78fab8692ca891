"""Norms and entropies in closed form: steps as CVXPY's, bounds that hold, and how they are read."""

import cvxpy as cp
import numpy as np
import pytest
from small_masters import D, N

from structopt.master.compile import compile_problem
from structopt.master.declare import RestrictedMaster
from structopt.master.split import split
from structopt.master.term_bound import TermLagrangian, lagrangian_of
from structopt.master.terms import BlockNorm, Entropy, LargestEntry, PowerNorm, TraceNorm

SIZE = 6
PRIOR = np.linspace(0.2, 1.2, SIZE)
TERMS = {
    "blocks": (BlockNorm, lambda u: cp.norm2(u[:2]) + 2 * cp.norm2(u[2:5])),
    "rows": (
        BlockNorm, lambda u: cp.sum(cp.norm2(cp.reshape(u, (2, 3), order="C"), axis=1))
    ),
    "weighted columns": (
        BlockNorm,
        lambda u: np.array([1.0, 2, 3]) @ cp.norm2(cp.reshape(u, (2, 3), order="F"), axis=0),
    ),
    "mixed": (BlockNorm, lambda u: cp.mixed_norm(cp.reshape(u, (3, 2), order="F"), 2, 1)),
    "largest": (LargestEntry, lambda u: cp.norm_inf(2 * u)),
    "1.5-norm": (PowerNorm, lambda u: cp.pnorm(u, 1.5)),
    "3-norm": (PowerNorm, lambda u: 0.5 * cp.pnorm(u, 3)),
    "trace": (TraceNorm, lambda u: cp.normNuc(cp.reshape(u, (2, 3), order="C"))),
    "entropy": (Entropy, lambda u: -cp.sum(cp.entr(u))),
    "KL": (Entropy, lambda u: cp.sum(cp.kl_div(u, PRIOR))),
    "relative": (Entropy, lambda u: 2 * cp.sum(cp.rel_entr(u, PRIOR))),
}  # fmt: skip


def found(objective, u, *constraints):
    return split(objective, list(constraints), [u], {u.id: 0}, u.size)


@pytest.mark.parametrize("name", TERMS)
@pytest.mark.parametrize("ridge", [0.0, 0.5])
def test_steps_and_conjugates(name, ridge):
    kind, objective = TERMS[name]
    u, rng = cp.Variable(SIZE), np.random.default_rng(0)
    terms = found(1.3 * objective(u) + ridge * cp.sum_squares(u), u).terms
    assert {type(term) for term in terms} == {kind}
    x = 2.0 * rng.normal(size=SIZE)
    near = cp.Problem(cp.Minimize(1.3 * objective(u) + cp.sum_squares(u - x) / 1.4))
    truth = near.solve(solver=cp.CLARABEL)
    step, conjugate = x.copy(), 0.0  # columns in no term stay
    for term in terms:
        j = term.columns
        step[j] = term.prox(x[j], 0.7)
        v = (x - step)[j] / 0.7  # a subgradient at the step: Fenchel's inequality is tight
        assert term.fits(v) == pytest.approx(1.0, abs=1e-9)
        conjugate += term.conjugate(v) - v @ step[j]
    value = sum(term.value(step[term.columns]) for term in terms)
    assert value + conjugate == pytest.approx(0.0, abs=1e-9)
    moved = np.sum((step - x) ** 2) / 1.4
    assert value + moved == pytest.approx(truth, abs=1e-5)


@pytest.mark.parametrize(
    "objective",
    [
        lambda u: cp.norm2(u[:2]) + cp.norm2(u[1:]),  # overlapping groups
        lambda u: cp.norm2(u - 1),
        lambda u: cp.norm2(cp.multiply(np.arange(1, SIZE + 1), u)),
        lambda u: cp.square(cp.norm_inf(u)),
        lambda u: cp.norm_inf(u) + cp.norm1(u),
        lambda u: cp.norm_inf(u) + cp.sum(u),
        lambda u: cp.norm_inf(u) + cp.sum_squares(u[:2]),  # a ridge on some of its columns
        lambda u: cp.log_sum_exp(u),
    ],
)
def test_what_else_there_is_is_left_to_cones(objective):
    u = cp.Variable(SIZE)
    assert found(objective(u), u) is None


def test_constraints_are_left_to_cones():
    u = cp.Variable(SIZE)
    assert found(cp.norm_inf(u), u, u >= 0) is None
    assert found(cp.norm_inf(u), u, cp.sum(u) == 1) is None
    assert found(-cp.sum(cp.entr(u)), u, u >= 0) is not None  # as it is anyway


@pytest.mark.parametrize("name", TERMS)
@pytest.mark.parametrize(("ridge", "centre"), [(0.0, 0.0), (0.5, 0.0), (0.5, 0.3)])
def test_bounds_hold_for_any_multipliers(name, ridge, centre):
    rng, objective = np.random.default_rng(1), TERMS[name][1]
    u, xi = cp.Variable(SIZE), cp.Variable(3, nonneg=True)
    rows = rng.normal(size=(8, SIZE))
    who, side = rng.integers(3, size=8), 1.0 + rng.random(8)
    declared = objective(u) + ridge * cp.sum_squares(u - centre) + cp.sum(xi) + 0.5
    given = rows @ u + xi[who] >= side
    truth = cp.Problem(cp.Minimize(declared), [given]).solve(cp.CLARABEL)
    compiled = compile_problem(declared, [], [u, xi])
    both = split(declared, [], [u, xi], compiled.columns, compiled.size)
    bound = TermLagrangian(both)
    from structopt.master.lagrangian import Priced

    values = []
    right = np.maximum(given.dual_value, 0.0)
    for k in range(33):
        y = rng.random(8) * rng.random(8) if k < 30 else (1.0, 1 + 1e-7, 10.0)[k - 30] * right
        load = np.bincount(who, y, minlength=3)
        if k % 4 or k >= 30:  # of the others slacks are worth more than they cost
            y = y * np.minimum(1.0, 1.0 / np.maximum(load, 1e-9))[who]
        pull = np.zeros(compiled.size)
        pull[compiled.columns[u.id] + np.arange(SIZE)] = rows.T @ y
        pull[compiled.columns[xi.id] + np.arange(3)] = np.bincount(who, y, minlength=3)
        values.append(bound.value(Priced(pull, float(side @ y), np.zeros(0)), 0.0 * pull))
        if ridge > 0 and k in (1, 2, 3, 5, 30):  # a minimum that CVXPY finds too
            lagrangian = declared + y @ (side - rows @ u - xi[who])
            exact = cp.Problem(cp.Minimize(lagrangian)).solve(cp.CLARABEL)
            assert values[-1] == pytest.approx(exact, abs=1e-5)
    assert np.all(np.isfinite(values))
    assert max(values) <= truth + 1e-6
    if name != "blocks" or ridge > 0:  # one column there is in no term: its pull must be 0
        assert min(values[30:32]) >= truth - 1e-4 * abs(truth)  # those of the optimum are tight


def test_a_master_knows_its_terms():
    m = RestrictedMaster(N, D)
    w, xi = m.weights(), m.slacks()
    m.minimize(cp.norm_inf(w) + cp.sum(xi))
    m.cuts(lambda cut: cut.delta @ w >= cut.loss - cut.of(xi))
    program = m.compile()
    assert isinstance(program.split.terms[0], LargestEntry)
    assert isinstance(lagrangian_of(program), TermLagrangian)
    assert np.array_equal(program.split.plain.q[program.slacks], np.ones(N))
    assert program.split.plain.size == program.size
