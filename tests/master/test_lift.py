"""Rows that are lifted equal the rows that CVXPY makes of the same constraints."""

import warnings
from dataclasses import replace

import cvxpy as cp
import cvxpy.settings as names
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

import structopt as so
from structopt.errors import IncompatibleError, InfeasibleError
from structopt.master.compile import _Probe, compile_problem, lower, read_off
from structopt.master.cuts import Cuts
from structopt.master.declare import RestrictedMaster
from structopt.master.rule import sides_of
from structopt.structures.base.parts import UNIT, Directions

N, D = 4, 3

# what the library does not know it takes on trust, so any rule that makes rows goes
TRUSTED = so.Oracle("own", "argmax", "any", margin=lambda loss: loss + 1, scale=lambda loss: loss)

RULES = {
    "plain": lambda w, xi, b: lambda cut: cut.delta @ w >= cut.loss - cut.of(xi),
    "unit": lambda w, xi, b: lambda cut: cut.delta @ w >= 1 - cut.of(xi),
    "scaled": lambda w, xi, b: (
        lambda cut: cp.multiply(cut.scale, cut.delta @ w) >= cut.margin - cut.of(xi)
    ),
    "less": lambda w, xi, b: lambda cut: cut.loss - cut.of(xi) - 2 * (cut.delta @ w) <= b,
    "equality": lambda w, xi, b: lambda cut: cut.delta @ w == cut.loss - cut.of(xi) + b,
    "numpy": lambda w, xi, b: lambda cut: cut.delta @ w >= np.sqrt(cut.loss) - cut.of(xi),
    "not dpp": lambda w, xi, b: (
        lambda cut: cut.delta @ w >= 1 - cp.multiply(1 / cut.loss, cut.of(xi))
    ),
    "inside": lambda w, xi, b: lambda cut: cut.delta @ (2 * w + 1) >= cut.loss - cut.of(xi),
    "two-sided": lambda w, xi, b: lambda cut: [cut.delta @ w <= 3, cut.delta @ w >= -cut.loss],
}


def master_of(rule, weights=None):
    m = RestrictedMaster(N, D, sample_weight=weights)
    w, xi, b = m.weights(), m.slacks(), cp.Variable(name="b")
    m.minimize(cp.sum_squares(w) + cp.norm1(w) + cp.sum(xi) + cp.square(b))
    m.cuts(TRUSTED, RULES[rule](w, xi, b))
    m.compile()
    return m, (w, xi, b)


def batch(rng, k):
    loss = rng.integers(1, 5, k).astype(float)
    return cuts_of(
        (rng.integers(N, size=k), loss, loss + 1, loss + 2), rng.normal(size=(k, D)).round(1)
    )


def cuts_of(numbers, deltas):
    found = Directions.entries(sp.csr_array(deltas))
    return Cuts(0 * numbers[0], *numbers, directions=found, base=UNIT)


def by_public_route(m, numbers, deltas, variables, weights):
    """Lower the rule's constraints through a small cp.Problem, as CVXPY's public interface does."""
    w, xi, b = variables
    lowered = []
    for constraint in m.families[0].constraints(numbers, deltas):
        problem = cp.Problem(cp.Minimize(0), [constraint])
        data, _, _ = problem.get_problem_data(_Probe())
        where = data[names.PARAM_PROB].var_id_to_col
        equality = data["n_eq"] > 0
        A, g = (data[names.A], data[names.B]) if equality else (data[names.F], data[names.G])
        dense = np.zeros((len(numbers), m.size))
        for v in (w, xi, b):
            if v.id in where:
                block = A.toarray()[:, where[v.id] : where[v.id] + v.size]
                dense[:, m.columns[v.id] : m.columns[v.id] + v.size] = block
        lowered.append((dense, g, equality))
    return lowered


@pytest.mark.parametrize("rule", RULES)
@given(seed=st.integers(0, 1000), weighted=st.booleans())
def test_lifted_rows_equal_cvxpy(rule, seed, weighted):
    rng = np.random.default_rng(seed)
    weights = rng.uniform(0.5, 2.0, N) if weighted else None
    m, variables = master_of(rule, weights)
    rows = m.add(batch(rng, int(rng.integers(1, 6))))
    kept = m.pool.cuts
    explicit = kept.deltas(D)
    matrix = rows.matrix(m.program).toarray()
    (dense, g, equality), *second = by_public_route(m, kept, explicit, variables, weights)
    # CVXPY's rows read dense x <= g (or == g)
    np.testing.assert_allclose(matrix, dense if equality else -dense, atol=1e-9)
    np.testing.assert_allclose(rows.lower, g if equality else -g, atol=1e-9)
    if equality:
        np.testing.assert_allclose(rows.upper, g, atol=1e-9)
    elif second:
        np.testing.assert_allclose(matrix, second[0][0], atol=1e-9)
        np.testing.assert_allclose(rows.upper, second[0][1], atol=1e-9)
    else:
        assert np.all(np.isposinf(rows.upper))


def test_templates_are_used_where_the_rule_allows():
    fast = {rule for rule in RULES if master_of(rule)[0].families[0]._template is not None}
    assert fast == {"plain", "unit", "scaled", "less", "equality", "two-sided"}


def test_a_rule_that_looks_at_numbers_is_found_out():
    """Control flow on a Parameter makes a wrong template; the first batch shows it."""

    def rule_of(w, xi):
        def rule(cut):
            plain = isinstance(cut.loss, np.ndarray)
            return cut.delta @ w >= (2.0 if plain else 1.0) * cut.loss - cut.of(xi)

        return rule

    m = RestrictedMaster(N, D)
    w, xi = m.weights(), m.slacks()
    m.minimize(cp.sum_squares(w) + cp.sum(xi))
    m.cuts(TRUSTED, rule_of(w, xi))
    m.compile()
    found = batch(np.random.default_rng(0), 3)
    np.testing.assert_allclose(m.add(found).lower, 2 * found.loss)


def test_repeated_cuts_are_added_once():
    m, _ = master_of("plain")
    found = batch(np.random.default_rng(0), 3)
    assert len(m.add(found)) == 3
    assert len(m.add(found)) == 0
    doubled = replace(found.directions, coef=2 * found.directions.coef)
    twice = replace(found, directions=doubled).take(np.array([0, 0, 1, 1, 2, 2]))
    assert len(m.add(twice)) == 3


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (lambda w, xi, other: lambda cut: cut.delta @ w >= other - cut.of(xi), "neither in the"),
        (lambda w, xi, other: lambda cut: cp.sum(cut.delta @ w) >= 1, None),
        (lambda w, xi, other: lambda cut: cp.norm(cut.delta @ w) <= 1, "is linear in"),
        (lambda w, xi, other: lambda cut: cut.delta @ w >= cut.of(w), "one entry per"),
        (lambda w, xi, other: lambda cut: [], "one constraint"),
        (lambda w, xi, other: lambda cut: [cut.delta @ w >= 0, cut.of(xi) >= 1], "both sides"),
    ],
)
def test_rules_that_make_no_rows_are_refused(rule, message):
    m = RestrictedMaster(N, D + 10)
    w, xi = m.weights(), m.slacks()
    m.minimize(cp.sum_squares(w) + cp.sum(xi))
    m.cuts(TRUSTED, rule(w, xi, cp.Variable(name="stray")))

    def use():
        m.compile()
        m.add(cuts_of((np.arange(3), *np.ones((3, 3))), np.eye(3, D + 10)))

    with pytest.raises(IncompatibleError, match=message):
        use()


def test_incomplete_and_nonconvex_declarations_are_refused():
    m = RestrictedMaster(N, D)
    w = m.weights()
    with pytest.raises(IncompatibleError, match=r"m\.minimize"):
        m.compile()
    m.minimize(-cp.sum_squares(w))
    m.cuts(so.loss_augmented, lambda cut: cut.delta @ w >= 0)
    with pytest.raises(IncompatibleError, match="not convex"):
        m.compile()


def test_contradictory_bounds_are_told_apart():
    m = RestrictedMaster(N, D)
    w = m.weights(lambda w: [w[1] >= 2, w[1] <= 1])
    m.minimize(cp.sum_squares(w))
    m.cuts(so.loss_augmented, lambda cut: cut.delta @ w >= 0)
    with pytest.raises(InfeasibleError, match=r"weight 1 must be >= 2 and <= 1"):
        m.compile()


L1_TERMS = {
    "norm1": (lambda w: cp.norm1(w), [1, 1, 1]),
    "scaled": (lambda w: 3 * cp.norm1(w) / 2 + cp.norm(w, 1), [2.5, 2.5, 2.5]),
    "slice": (lambda w: cp.norm1(w[:2]), [1, 1, 0]),
    "weighted": (lambda w: cp.norm1(cp.multiply(np.array([1.0, -2.0, 0.0]), w)), [1, 2, 0]),
    "sum of abs": (lambda w: cp.sum(cp.abs(w)) * 0.5, [0.5, 0.5, 0.5]),
}


@pytest.mark.parametrize("name", L1_TERMS)
def test_l1_terms_are_kept_as_weights(name):
    make, expected = L1_TERMS[name]
    w = cp.Variable(3)
    compiled = compile_problem(make(w) + cp.sum_squares(w), [], [w])
    np.testing.assert_allclose(compiled.l1, expected)
    assert compiled.A.shape[0] == 0


READ = {
    "svm": lambda w, x: cp.sum_squares(w) / 2 + 0.7 * cp.sum(x),
    "m3n": lambda w, x: (1 / 0.3) * cp.sum_squares(w) + cp.sum(x),
    "l1": lambda w, x: 0.5 * cp.norm1(w) + 2 * cp.sum(x),
    "elastic": lambda w, x: 2 * (cp.norm1(w) + 3 * cp.sum_squares(w)) + cp.sum(x) - 4,
    "shifted": lambda w, x: cp.sum_squares(w - np.arange(3.0)) + cp.sum(x),
    "mixed": lambda w, x: cp.sum_squares(w[1:] - w[:-1]) + np.array([1.0, 2.0]) @ x - cp.sum(w),
    "weighted": lambda w, x: cp.sum(cp.multiply(np.array([1.0, 2.0, 3.0]), w**2)) + cp.sum(x),
    "nothing": lambda w, x: 0 * cp.sum_squares(w) + cp.sum(x),
    "one": lambda w, x: cp.quad_over_lin(w, 4.0) + x[0] / 2 + 1,
}


@pytest.mark.parametrize("name", READ)
def test_what_is_read_off_is_what_was_declared_and_what_cvxpy_lowers(name):
    w, x = cp.Variable(3), cp.Variable(2, nonneg=True)
    objective = READ[name](w, x)
    read = read_off(objective, [w, x])
    if name == "weighted":  # a sum of squares by another name
        assert read is None
        return
    point = np.random.default_rng(0).uniform(size=5)
    w.value, x.value = point[:3], point[3:]
    value = point @ read.P @ point / 2 + read.q @ point + read.l1 @ point + read.offset
    assert value == pytest.approx(objective.value)
    by_cvxpy = lower(objective, [], [w, x])
    if len(by_cvxpy.q) > 5:  # it squares a variable of its own, tied by rows
        return
    order = np.concatenate([by_cvxpy.columns[v.id] + np.arange(v.size) for v in (w, x)])
    np.testing.assert_allclose(read.P.toarray(), by_cvxpy.P.toarray()[np.ix_(order, order)])
    for field in ("q", "l1", "lb", "ub"):
        np.testing.assert_allclose(getattr(read, field), getattr(by_cvxpy, field)[order])


def test_what_is_not_read_off():
    w = cp.Variable(3)
    for objective in (cp.norm2(w), cp.max(w), cp.norm1(w + 1), np.nan * cp.sum_squares(w)):
        assert read_off(objective, [w]) is None
    for special in (cp.Variable(2, bounds=[0, np.ones(2)]), cp.Variable(2, integer=True)):
        assert read_off(cp.sum(special), [special]) is None


@pytest.mark.parametrize("make", [lambda w: cp.norm1(w + 1), lambda w: cp.norm1(w[1:] - w[:-1])])
def test_other_norms_are_left_to_cvxpy(make):
    w = cp.Variable(3)
    compiled = compile_problem(make(w), [], [w])
    assert not np.any(compiled.l1)
    assert compiled.A.shape[0] > 0


@pytest.mark.parametrize("size", [1e-9, 1.0, 1e9])
@pytest.mark.parametrize("ratio", [3.0, 1 + 1e-6, 1.0])
def test_two_sides_are_of_one_expression_at_any_size(size, ratio):
    m = RestrictedMaster(N, D)
    w, xi = m.weights(), m.slacks()
    m.minimize(cp.sum_squares(w) + cp.sum(xi))
    m.cuts(TRUSTED, lambda cut: [
        size * (cut.delta @ w) >= size * (cut.loss - 9), ratio * size * (cut.delta @ w) <= size
    ])  # fmt: skip
    if ratio == 1.0:
        assert m.compile().size == D + N
        return
    with pytest.raises(IncompatibleError, match="the same expression from both sides"):
        m.compile()


def test_constraints_of_every_kind_are_sides():
    x = cp.Variable()
    x.value = 3.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # CVXPY would rather have inequalities
        below = cp.constraints.NonPos(1 - x)
    kinds = [(x >= 1, 0), (cp.constraints.NonNeg(x - 1), 0), (below, 0), (x == 1, 1),
             (cp.constraints.Zero(x - 1), 1)]  # fmt: skip
    for constraint, equal in kinds:
        ((side, flag),) = sides_of(constraint)
        assert (float(side.value), flag) == (2.0, bool(equal))
    assert [float(side.value) for side, _ in sides_of([x >= 1, x <= 9])] == [2.0, 6.0]
