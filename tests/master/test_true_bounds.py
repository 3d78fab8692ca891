"""Lower bounds from arbitrary multipliers, against objective values of points that are feasible.

A feasible point's objective, evaluated by CVXPY's own atoms, is above the optimum whatever solved
for it; a lower bound above it is proven wrong, to the roundings of a handful of numbers.
"""

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from small_masters import OBJECTIVES, STATIC

import structopt as so
from structopt.backends import registry
from structopt.master.cuts import Cuts
from structopt.master.declare import RestrictedMaster
from structopt.master.lagrangian import Averages, Lagrangian
from structopt.structures.base.parts import UNIT, Directions

N, D, CUTS = 3, 4, 8
TINY = 1e-9
TRUSTED = so.Oracle(
    "own", "argmax", "any", margin=lambda loss: loss, scale=lambda loss: 1 + 0 * loss
)
SINGULAR = np.ones((D, D)) + np.diag([1.0, 0.0, 0.0, 2.0])  # rank 3: a direction without curvature

MORE = {
    "one flat": lambda w, xi: cp.sum_squares(w[:3]) + cp.sum(xi),
    "one flat l1": lambda w, xi: cp.sum_squares(w[:3]) + cp.abs(w[3]) + cp.sum(xi),
    "unequal": lambda w, xi: cp.sum_squares(cp.multiply([1, 2, 0.1, 1e-3], w)) + 9 * cp.sum(xi),
    "tilted": lambda w, xi: cp.norm1(w) + w[0] - 0.5 * w[1] + 0.3 * cp.sum(xi),
    "far": lambda w, xi: 1e-4 * cp.norm1(w) + cp.sum(xi) - 7,
    "heavy": lambda w, xi: 1e3 * cp.sum_squares(w) + 1e4 * cp.sum(xi),
    "singular": lambda w, xi: cp.quad_form(w, SINGULAR, assume_PSD=True) / 2 + cp.sum(xi),
    "coupled slacks": lambda w, xi: cp.norm1(w) + cp.sum_squares(xi) + cp.square(cp.sum(xi)),
}
CONES = {
    "groups": lambda w, xi: cp.norm2(w[:2]) + 2 * cp.norm2(w[2:]) + cp.sum(xi),
    "norm and ridge": lambda w, xi: cp.norm2(w) + cp.sum_squares(w) / 2 + cp.sum(xi),
    "1.5-norm": lambda w, xi: cp.pnorm(w, 1.5) + cp.sum(xi),
    "soft worst": lambda w, xi: cp.sum_squares(w) / 2 + cp.log_sum_exp(xi),
    "worst": lambda w, xi: cp.norm1(w) / 2 + 2 * cp.max(xi),
    "two worst": lambda w, xi: cp.sum_squares(w) / 2 + cp.sum_largest(xi, 2),
    "every worst": lambda w, xi: cp.sum_squares(w) / 2 + cp.sum_largest(xi, N),
    "every worst, l1": lambda w, xi: cp.norm1(w) + cp.sum_largest(xi, N),
    "huber": lambda w, xi: cp.norm1(w) / 2 + cp.sum(cp.huber(xi, 0.5)),
}
GROUND = np.array([[1.0, 1.0, 0.0, 0.0], [0.0, 0.0, -1.0, 1.0], [1.0, 0.0, 0.0, -1.0]])
LOW = np.array([0.3, -0.4, -0.5])
SETS = {**STATIC, "rows": lambda w: [GROUND @ w >= LOW], "fixed": lambda w: [w[0] == 0.25]}
ROUND = {"none": SETS["none"], "disc": lambda w: [cp.norm2(w) <= 0.6], "sum": SETS["sum"]}
ROUND["disc and rows"] = lambda w: [cp.norm2(w) <= 1.2, GROUND @ w >= LOW]
ROOMY = np.array([0.5, 0.5, 0.0, 0.0])  # satisfies the rows strictly


def into(static, w):
    """A point of the static set near w."""
    if static == "sign":
        return np.maximum(w, 0.0)
    if static == "box":
        return np.clip(w, -0.1, 0.2)
    if static == "sum":
        return w + (0.5 - w.sum()) / D
    if static == "ball":
        return w * min(1.0, 0.5 / max(np.abs(w).sum(), 1e-300))
    if static == "rows":
        short, room = LOW - GROUND @ w, GROUND @ ROOMY - LOW
        t = max(0.0, (short / (short + room)).max(initial=0.0, where=short > 0))
        return w + min(1.0, t * (1 + 1e-12)) * (ROOMY - w)
    if static == "fixed":
        return np.r_[0.25, w[1:]]
    if static == "disc":
        return w * min(1.0, 0.6 / max(np.linalg.norm(w), 1e-300))
    if static == "disc and rows":  # towards ROOMY, which is inside both
        t = 1.0
        while np.linalg.norm(ROOMY + t * (w - ROOMY)) > 1.2 or np.any(
            GROUND @ (ROOMY + t * (w - ROOMY)) < LOW
        ):
            t *= 1 - 1e-10 if t > 1 - 1e-8 else 1 - 1e-3
        return ROOMY + t * (w - ROOMY)
    return w


class Case:
    """A master with random cuts, its multipliers by a solver, and values of feasible points."""

    def __init__(self, seed, objective, static, rule=None):
        rng = self.rng = np.random.default_rng(seed)
        self.static, self.rule = static, rule
        m = self.master = RestrictedMaster(N, D)
        self.w, self.xi = m.weights({**SETS, **ROUND}[static]), m.slacks()
        self.b = cp.Variable(name="b")
        self.objective = ({**OBJECTIVES, **MORE, **CONES}[objective])(self.w, self.xi)
        if rule == "offset":  # a free column without any cost
            m.minimize(self.objective + 0 * self.b)
            m.cuts(TRUSTED, lambda c: c.delta @ self.w + self.b >= c.loss - c.of(self.xi))
        elif rule == "margin":  # one whose cost falls: without cuts there is no minimum
            self.objective = self.objective - 1.9 * self.b
            m.minimize(self.objective)
            m.cuts(TRUSTED, lambda c: c.delta @ self.w >= self.b * 1.0 - c.of(self.xi))
        else:
            m.minimize(self.objective)
            m.cuts(so.loss_augmented, lambda c: c.delta @ self.w >= c.loss - c.of(self.xi))
        m.compile()
        self.loss = rng.integers(1, 4, CUTS).astype(float)
        self.who, self.deltas = rng.integers(N, size=CUTS), rng.normal(size=(CUTS, D))
        self.who[:N] = np.arange(N)
        found = Directions.entries(sp.csr_array(self.deltas))
        args = (0 * self.who, self.who, self.loss, self.loss, np.ones(CUTS))
        m.add(Cuts(*args, directions=found, base=UNIT))
        self.lagrangian = Lagrangian(m.program)

    def solved(self):
        """(cut multipliers, static ones, x) of the first half of the cuts, and of all."""
        backend = registry.choose("clarabel", self.master)
        backend.start(self.master)
        for which in (np.arange(CUTS // 2), np.arange(CUTS // 2, CUTS)):
            backend.append(self.master.pool.cuts.take(which))
            found = backend.solve(tolerance=1e-10)
            y = np.zeros(CUTS)
            y[: len(found.cut_duals)] = found.cut_duals
            static = found.static_duals
            yield y, np.zeros(0) if static is None else np.asarray(static), found.x

    def value(self, x):
        """The objective at a feasible point near x, by CVXPY's atoms."""
        where = self.master.columns
        w = into(self.static, x[self.master.weight_columns])
        b = float(x[where[self.b.id]]) if self.b.id in where else 0.0
        shift = {"offset": -b, "margin": b}.get(self.rule, 0.0)
        margin = shift + (0.0 if self.rule == "margin" else self.loss)
        xi = np.zeros(N)
        np.maximum.at(xi, self.who, margin - self.deltas @ w)
        self.w.value, self.xi.value, self.b.value = w, xi, b
        return float(self.objective.value)

    def bound(self, y, static, x):
        lagrangian = self.lagrangian
        return lagrangian.value(lagrangian.price(self.master.pool.cuts, y, static), x)


def multipliers(case, pairs):
    """Multipliers of many kinds: near the optimum, half solved, scaled, perturbed, random."""
    rng, (half, full) = case.rng, pairs
    yield from pairs
    y, s, x = full
    for t in (1 + 1e-9, 1 + 1e-6, 1.0001, 0.5, 1.5, 30.0, 1e8, -1.0):
        yield t * y, t * s, x
        yield t * y, s, x
        yield y, t * s, t * x
    for size in (1e-9, 1e-6, 1e-3, 0.1):
        noise = size * rng.normal(size=CUTS), size * rng.normal(size=len(s))
        yield y + noise[0], s + noise[1], x
        yield y * (1 + noise[0]), s * (1 + noise[1]), x * (1 + size)
        yield y, s, x + size * rng.normal(size=len(x))
    for size in (0.01, 1.0, 100.0):
        drawn = size * rng.normal(size=CUTS), size * rng.normal(size=len(s))
        yield *drawn, size * rng.normal(size=len(x))
        yield np.abs(drawn[0]), drawn[1], x
    yield 0 * y, 0 * s, 0 * x
    yield half[0], s, half[2]
    yield y, half[1], x


def check(case):
    pairs = list(case.solved())
    upper = case.value(pairs[1][2])
    size = 1.0 + abs(upper)
    best, seen, drawn = -np.inf, Averages(), 0
    for y, static, x in multipliers(case, pairs):
        bound = case.bound(y, static, x)
        assert not np.isnan(bound)
        assert bound <= upper + TINY * size, (bound, upper)
        best, drawn = max(best, bound), drawn + 1
        if np.abs(y).max() > 1e4:
            continue  # running sums forget what comes after numbers of another size
        seen.add(case.lagrangian.price(case.master.pool.cuts, y, static), abs(case.rng.normal()))
    for mean in seen.means():
        assert case.lagrangian.value(mean, pairs[1][2]) <= upper + TINY * size
    assert drawn >= 40
    for x in (case.rng.normal(size=case.master.size) for _ in range(5)):
        assert best <= case.value(x) + TINY * size  # feasible points of any kind
    return (upper - best) / size


def check_repairs(case):
    """What a solver leaves wrong in the sixth digit costs the fifth one at most."""
    _, (y, static, x) = case.solved()
    value = case.value(x)
    for _ in range(4):
        noise = 1e-6 * case.rng.normal(size=CUTS), 1e-6 * case.rng.normal(size=len(static))
        for near in ((y + noise[0], static + noise[1]), (y * (1 + noise[0]),
                                                         static * (1 + noise[1]))):  # fmt: skip
            assert value - case.bound(*near, x) <= 2e-5 * (1.0 + abs(value))


@pytest.mark.parametrize("static", SETS)
@pytest.mark.parametrize("objective", {**OBJECTIVES, **MORE})
def test_no_multipliers_exceed_a_feasible_value(objective, static):
    miss = check(Case(1, objective, static))
    if objective in OBJECTIVES:  # of the others the bound may be far below
        assert miss <= 1e-6
        check_repairs(Case(1, objective, static))


@pytest.mark.parametrize(
    ("objective", "static"),
    [(objective, "none") for objective in CONES]
    + [("groups", "sum"), ("soft worst", "disc"), ("two worst", "disc and rows")]
    + [(objective, static) for objective in ("l1", "quadratic") for static in list(ROUND)[1:]],
)
def test_no_multipliers_of_cones_exceed_a_feasible_value(objective, static):
    assert check(Case(1, objective, static)) <= 1e-4
    check_repairs(Case(1, objective, static))


@pytest.mark.parametrize("rule", ["offset", "margin"])
@pytest.mark.parametrize("objective", ["quadratic", "l1", "coupled"])
@pytest.mark.parametrize("static", ["none", "box", "sum"])
def test_columns_without_a_minimum_of_their_own(objective, static, rule):
    check(Case(1, objective, static, rule))
    if rule == "margin":
        check_repairs(Case(1, objective, static, rule))


def test_rest_is_held_to_the_last_digits():
    """|w| with 1e-6 w >= 1 is 1e6: multipliers a little too large prove no more, in any branch."""
    for static in (None, lambda w: [w <= 1e7]):
        m = RestrictedMaster(1, 1)
        w = m.weights(static)
        m.minimize(cp.norm1(w))
        m.cuts(TRUSTED, lambda cut, w=w: cut.delta @ w >= cut.loss)
        m.compile()
        delta = Directions.entries(sp.csr_array([[1e-6]]))
        one = np.ones(1)
        m.add(Cuts(np.zeros(1, int), np.zeros(1, int), one, one, one, directions=delta, base=UNIT))
        lagrangian, optimum = Lagrangian(m.program), 1e6
        for more in (0.0, 3e-11, 3e-10, 3e-9, 1e-6):
            y = np.array([1e6 * (1 + more)])
            none = np.zeros(len(m.program.lower))
            bound = lagrangian.value(lagrangian.price(m.pool.cuts, y, none), np.zeros(m.size))
            assert bound <= optimum * (1 + 1e-11)


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_hard_cuts_in_a_box_without_slacks(side):
    """|w| over a box with side * w_k >= 1: large multipliers push to the far end of the box."""
    m = RestrictedMaster(1, 2)
    w = m.weights(lambda w: [w >= -2, w <= 2])
    m.minimize(cp.norm1(w))
    m.cuts(TRUSTED, lambda cut: cut.delta @ w >= cut.loss)
    m.compile()
    none, one = np.zeros(2, int), np.ones(2)
    delta = Directions.entries(sp.csr_array(side * np.eye(2)))
    m.add(Cuts(none, none, one, one, one, directions=delta, base=UNIT))
    lagrangian = Lagrangian(m.program)
    for y in ([0.0, 0.0], [0.5, 1.0], [1.0, 1.0], [3.0, 1.0], [50.0, 100.0], [0.0, 7.0]):
        priced = lagrangian.price(m.pool.cuts, np.array(y), None)
        bound = lagrangian.value(priced, np.zeros(m.size))
        # sum y + min over |w_k| <= 2 of |w_k| - y_k side w_k, by hand
        assert bound == pytest.approx(sum(v + min(0.0, 2 - 2 * v) for v in y))


def test_equal_directions_of_two_examples_are_two_cuts():
    # 1/2 w^2 + xi_0 + xi_1 with w >= 2 - xi_i for both: w = 2 costs 2; one cut alone, 1.5
    m = RestrictedMaster(2, 1)
    w, xi = m.weights(), m.slacks()
    m.minimize(cp.sum_squares(w) / 2 + cp.sum(xi))
    m.cuts(so.loss_augmented, lambda cut: cut.delta @ w >= cut.loss - cut.of(xi))
    m.compile()
    delta = Directions.entries(sp.csr_array(np.ones((2, 1))))
    both, two = np.arange(2), np.full(2, 2.0)
    m.add(Cuts(0 * both, both, two, two, np.ones(2), directions=delta, base=UNIT))
    assert len(m.pool) == 2
    lagrangian = Lagrangian(m.program)
    assert lagrangian.value(lagrangian.price(m.pool.cuts, np.ones(2), None), 0 * m.program.q) == 2.0


@pytest.mark.parametrize("objective", ["quadratic", "l1", "coupled"])
def test_a_master_that_falls_for_ever_has_no_bound(objective):
    """A margin that gains 1.9 where one example, whose slack costs 1 at most, has cuts."""
    m = RestrictedMaster(N, D)
    w, xi, b = m.weights(), m.slacks(), cp.Variable()
    m.minimize(OBJECTIVES[objective](w, xi) - 1.9 * b)
    m.cuts(TRUSTED, lambda cut: cut.delta @ w >= b - cut.of(xi))
    m.compile()
    rng, none, one = np.random.default_rng(0), np.zeros(2, int), np.ones(2)
    delta = Directions.entries(sp.csr_array(np.full((2, D), 1e-3)))
    m.add(Cuts(none, none, one, one, one, directions=delta, base=UNIT))
    lagrangian = Lagrangian(m.program)
    for size in (0.0, 0.5, 1.0, 1.9, 100.0):
        y = size * np.abs(rng.normal(size=len(m.pool)))
        priced = lagrangian.price(m.pool.cuts, y, np.zeros(len(m.program.lower)))
        bound = lagrangian.value(priced, rng.normal(size=m.size))
        assert bound == -np.inf  # w = 0, xi = b and ever larger
