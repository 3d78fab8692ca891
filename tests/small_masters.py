"""Masters with a few random cuts, and their optimum by CVXPY."""

import cvxpy as cp
import numpy as np
import scipy.sparse as sp

import structopt as so
from structopt.master.cuts import Cuts
from structopt.master.declare import RestrictedMaster
from structopt.structures.base.parts import UNIT, Directions

N, D = 3, 4

OBJECTIVES = {
    "quadratic": lambda w, xi: cp.sum_squares(w) / 2 + cp.sum(xi),
    "l1": lambda w, xi: cp.norm1(w) + 0.7 * cp.sum(xi),
    "elastic": lambda w, xi: cp.norm1(w) / 2 + cp.sum_squares(w) + cp.sum(xi),
    "squared slacks": lambda w, xi: cp.norm1(w) + cp.sum_squares(xi),
    "coupled": lambda w, xi: cp.quad_form(w, np.eye(D) + 0.5) + 0.1 * cp.norm1(w) + cp.sum(xi),
    "offset": lambda w, xi: cp.sum_squares(w - 1) + cp.sum(xi) + 3,
}
STATIC = {
    "none": lambda w: [],
    "sign": lambda w: [w >= 0],
    "box": lambda w: [w <= 0.2, w >= -0.1],
    "sum": lambda w: [cp.sum(w) == 0.5],
    "ball": lambda w: [cp.norm1(w) <= 0.5],
}


def build(seed, objective, static):
    rng = np.random.default_rng(seed)
    m = RestrictedMaster(N, D)
    w, xi = m.weights(STATIC[static]), m.slacks()
    m.minimize(OBJECTIVES[objective](w, xi))
    m.cuts(so.loss_augmented, lambda cut: cut.delta @ w >= cut.loss - cut.of(xi))
    m.compile()
    loss = rng.integers(1, 4, 8).astype(float)
    who, deltas = rng.integers(N, size=8), sp.csr_array(rng.normal(size=(8, D)))
    found = Directions.entries(deltas)
    m.add(Cuts(0 * who, who, loss, loss, np.ones(8), directions=found, base=UNIT))
    problem, _ = m.problem()
    problem.solve(solver=cp.CLARABEL)
    return rng, m, problem.value
