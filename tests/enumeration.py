"""The full problem with every constraint written out, as CVXPY solves it: the truth for tests."""

import itertools

import cvxpy as cp
import numpy as np

import structopt as so


def small_chain(rng, *, n=4, length=3, n_labels=2, n_inputs=2):
    X = [np.round(rng.normal(size=(length, n_inputs)), 2) for _ in range(n)]
    Y = [list(rng.integers(n_labels, size=length)) for _ in range(n)]
    structure = so.Chain(labels=range(n_labels)).fitted(X, Y)
    outputs = [list(y) for y in itertools.product(range(n_labels), repeat=length)]
    return X, Y, structure, [outputs] * n


def small_classes(rng, *, n=6, n_labels=3, n_inputs=2):
    X = np.round(rng.normal(size=(n, n_inputs)), 2)
    Y = list(rng.integers(n_labels, size=n))
    structure = so.Multiclass(labels=range(n_labels)).fitted(X, Y)
    return X, Y, structure, [list(range(n_labels))] * n


def constraints(X, Y, structure, outputs):
    """Yield (i, delta, loss) for every example and output other than gold."""
    for i, (x, gold) in enumerate(zip(X, Y, strict=True)):
        for y in outputs[i]:
            loss = structure.loss(gold, y)
            if loss > 0:
                delta = structure.joint_features(x, gold) - structure.joint_features(x, y)
                yield i, delta.toarray().ravel(), loss


def optimum(kind, C, problem, *, weights=None, extra=lambda w: []):
    """Return the optimal value of a formulation with all its constraints.

    kind: a key of FORMULATIONS.
    """
    _, Y, structure, _ = problem
    n = len(Y)
    s = np.ones(n) if weights is None else np.asarray(weights, float)
    w, xi = cp.Variable(structure.n_features_), cp.Variable(n, nonneg=True)
    index, deltas, loss = map(np.array, zip(*constraints(*problem), strict=True))
    margin = 1.0 if kind in ("svm-unit", "lp", "lp-free") else loss
    scale = loss if kind == "svm-slack" else np.ones(len(loss))
    left = [cp.multiply(scale, deltas @ w) >= margin - xi[index]]
    total = s @ xi
    objective = {
        "svm-unit": cp.sum_squares(w) / 2 + C / n * total,
        "svm-margin": cp.sum_squares(w) / 2 + C / n * total,
        "svm-slack": cp.sum_squares(w) / 2 + C / n * total,
        "m3n": cp.sum_squares(w) / (2 * C) + total,
        "lp": cp.norm1(w) + C * total,
        "lp-free": cp.norm1(w) + C * total,
        "elastic": 0.1 * cp.norm1(w) + cp.sum_squares(w) / 2 + C * total,
        "l1": cp.norm1(w) / 2 + C * total,
        "adaptive": cp.square(cp.norm1(w)) / structure.n_features_ + C * total,
    }[kind]
    if kind == "lp":
        left.append(w >= 0)
    full = cp.Problem(cp.Minimize(objective), left + list(extra(w)))
    full.solve(solver=cp.CLARABEL)
    return full.value


class ElasticNetM3N(so.Formulation):
    r"""min tau |w|_1 + 1/2 |w|_2^2 + C sum xi  s.t.  w . delta_i(y) >= loss_i(y) - xi_i."""

    def __init__(self, C=1.0, tau=0.1):
        self.C, self.tau = C, tau

    def master(self, m):  # m: the restricted master being declared
        w, xi = m.weights(), m.slacks()
        m.minimize(self.tau * cp.norm1(w) + cp.sum_squares(w) / 2 + self.C * cp.sum(xi))
        m.cuts(so.loss_augmented, lambda cut: cut.delta @ w >= cut.loss - cut.of(xi))


FORMULATIONS = {
    "svm-unit": lambda C: so.StructSVM(C),
    "svm-margin": lambda C: so.StructSVM(C, rescale="margin"),
    "svm-slack": lambda C: so.StructSVM(C, rescale="slack"),
    "m3n": lambda C: so.M3N(C),
    "lp": lambda C: so.LPStruct(C),
    "lp-free": lambda C: so.LPStruct(C, nonnegative=False),
    "elastic": lambda C: ElasticNetM3N(C),
    "l1": lambda C: so.L1M3N(C),
    "adaptive": lambda C: so.AdaptiveM3N(C),
}


def solve(structure, formulation, X, Y, **kwargs):
    data_options = {k: kwargs.pop(k) for k in ("sample_weight", "n_jobs") if k in kwargs}
    data = so.DataSet.of(structure, X, Y, **data_options)
    return so.CuttingPlane(structure, formulation, data, **kwargs).solve()


class Order(so.Structure):
    """The user's own of docs/structures.md: three methods and nothing else."""

    def joint_features(self, x, y):
        return sum(x[item] / (place + 1) for place, item in enumerate(y))

    def loss(self, y, other):
        return float(sum(a != b for a, b in zip(y, other, strict=True)))

    def argmax(self, x, weights, *, gold=None):
        def value(y):
            return self.joint_features(x, y) @ weights + (self.loss(gold, y) if gold else 0.0)

        return max(itertools.permutations(range(len(x))), key=value)
