"""Random small training problems: structure, formulation, method, backend, weights, constraints.

A problem is drawn from a seed and a number, so that one that was found wanting can be drawn again.
"""

import importlib
import itertools
import math
import sys
from dataclasses import dataclass, field
from pathlib import Path

import cvxpy as cp
import numpy as np

import structopt as so
from structopt import names
from structopt.methods import registry
from structopt.structures.base.small import Small, chosen, numbers
from structopt.testing.problems import learnable
from structopt.testing.structure_case import StructureCase

sys.path.append(str(Path(__file__).parents[1]))  # also where it runs as a script
from enumeration import Order

MOST_OUTPUTS = 60  # of all examples: every one is a row of the reference
MOST_SUMS = 400  # of one slack for all examples, where every choice of outputs is a row


@dataclass
class Problem:
    """One draw; ``repr`` says all that is needed to see what was tried."""

    number: int
    case: StructureCase = field(repr=False)
    structure: str
    formulation: so.Formulation
    method: str
    backend: str
    tol: float
    sample_weight: np.ndarray | None = None

    def fitted(self):
        """Train as a user would."""
        model = so.StructuredClassifier(
            self.case.given,
            self.formulation,
            backend=self.backend,
            method=self.method,
            tol=self.tol,
            random_state=0 if "random_state" in registry.make(self.method).options() else None,
            time_limit=120.0,
            max_iter={"perceptron": 20, "mira": 20, "subgradient": 300}.get(self.method, 3000),
        )
        return model.fit(self.case.X, self.case.Y, sample_weight=self.sample_weight)


# ---------------------------------------------------------------------- structures
class Farther(so.Chain):
    """A chain with a loss and an argmax of its own: what a user writes is what is used."""

    def loss(self, y, other):
        return float(sum((t + 1.0) * (a != b) for t, (a, b) in enumerate(zip(y, other, strict=1))))

    def argmax(self, x, weights, *, gold=None):
        def value(y):
            features = self.joint_features(x, y) @ weights
            return float(features.item()) + (0.0 if gold is None else self.loss(gold, y))

        return max(map(list, itertools.product("ab", repeat=len(x))), key=value)


class Doubled(so.Multiclass):
    """Classes with features of their own, and every question that needs them."""

    def joint_features(self, x, y):
        return 2.0 * super().joint_features(x, y)

    def _best(self, x, weights, more):
        listed = [y for y in "abc" if more(y) is not None]
        return max(listed, key=lambda y: (self.joint_features(x, y) @ weights).item() + more(y))

    def argmax(self, x, weights, *, gold=None):
        return self._best(x, weights, lambda y: 0.0 if gold is None else self.loss(gold, y))

    def second_best(self, x, weights, gold):
        return self._best(x, weights, lambda y: None if y == gold else 0.0)


def ranking(rng):
    orders = list(itertools.permutations(range(3)))
    X = list(numbers(rng, bool(rng.integers(2)), 3, 3, 2))
    return Small(Order(), X, [chosen(rng, orders) for _ in X], lambda x: orders)


def farther(rng):
    X = [numbers(rng, False, int(rng.integers(1, 4)), 2) for _ in range(3)]
    outputs = {t: [list(y) for y in itertools.product("ab", repeat=t)] for t in (1, 2, 3)}
    return Small(
        Farther("ab"), X, [chosen(rng, outputs[len(x)]) for x in X], lambda x: outputs[len(x)]
    )


def doubled(rng):
    X = list(numbers(rng, False, 5, 2))
    return Small(Doubled("abc"), X, [chosen(rng, "abc") for _ in X], lambda x: list("abc"))


def ruled(rng):
    """Labellings under two rules."""
    rules = {
        "exactly": (so.constraints.exactly("b", 1), lambda y: y.count("b") == 1),
        "if_then": (so.constraints.if_then("a", "b"), lambda y: "a" not in y or "b" in y),
        "at_least": (so.constraints.at_least_one("a", "b"), lambda y: "a" in y and "b" in y),
        "own": (lambda x, z: [cp.sum(z["a"]) <= 2], lambda y: y.count("a") <= 2),
    }
    rule, holds = rules[str(rng.choice(list(rules)))]
    inner = so.Chain("abc") if rng.integers(2) else so.Multiclass("abc")
    X = [numbers(rng, False, int(rng.integers(2, 4)), 2) for _ in range(2)]

    def outputs(x):
        return [y for y in map(list, itertools.product("abc", repeat=len(x))) if holds(y)]

    Y = [chosen(rng, outputs(x)) for x in X]
    return Small(so.constrain(inner, rule), X, Y, outputs, tol=1e-7)


def small_of(entry):
    home = importlib.import_module(f"structopt.{entry.home}")
    if hasattr(home, "small"):
        return home.small
    return importlib.import_module(f"structopt.{entry.home.rpartition('.')[0]}.small").small


STRUCTURES = {e.name: small_of(e) for e in names.of_kind("structure", "wrapper")} | {
    "Order": ranking,
    "Farther": farther,
    "Doubled": doubled,
    "ruled": ruled,
}


# ---------------------------------------------------------------------- formulations
class Own(so.Formulation):
    """What a user may write: an objective, a rule, a slack, limits on weights."""

    def __init__(self, objective="ridge", rule="loss", C=1.0, own_slack=False, limits="none"):
        self.objective, self.rule, self.C = objective, rule, C
        self.own_slack, self.limits = own_slack, limits

    def master(self, m):
        w = m.weights(LIMITS[self.limits])
        xi = cp.Variable(m.n_examples, nonneg=True) if self.own_slack else m.slacks()
        m.minimize(OBJECTIVES[self.objective](w, xi, self.C))
        m.cuts(lambda cut: RULES[self.rule](cut, w, xi))


OBJECTIVES = {
    "ridge": lambda w, xi, C: cp.sum_squares(w) / 2 + C * cp.sum(xi),
    "l1": lambda w, xi, C: cp.norm1(w) + C * cp.sum(xi),
    "elastic": lambda w, xi, C: 0.1 * cp.norm1(w) + cp.sum_squares(w) / 2 + C * cp.sum(xi),
    "linf": lambda w, xi, C: cp.norm_inf(w) + C * cp.sum(xi),
    "norm": lambda w, xi, C: cp.norm2(w) + C * cp.sum(xi),
    "squares": lambda w, xi, C: cp.sum_squares(w) / 2 + C * cp.sum_squares(xi),
    "worst": lambda w, xi, C: cp.sum_squares(w) / 2 + C * cp.max(xi),
    "near one": lambda w, xi, C: cp.sum_squares(w - 1) / 2 + C * cp.sum(xi),
    "coupled": lambda w, xi, C: cp.sum_squares(w) / 2 + cp.square(cp.sum(w)) + C * cp.sum(xi),
    "huber": lambda w, xi, C: cp.sum(cp.huber(w, 0.3)) + C * cp.sum(xi),
    "fourth": lambda w, xi, C: cp.sum(cp.power(w, 4)) + C * cp.sum(xi),
}
RULES = {
    "loss": lambda cut, w, xi: cut.delta @ w >= cut.loss - cut.of(xi),
    "third": lambda cut, w, xi: 3 * (cut.delta @ w) >= cut.loss - 0.2 - cut.of(xi),
    "own multiples": lambda cut, w, xi: (
        cut.delta @ w >= cp.multiply(cut.of(1.0 + np.arange(xi.size) % 2), cut.loss) - cut.of(xi)
    ),
    "2 loss": lambda cut, w, xi: cut.delta @ w >= 2 * cut.loss - cut.of(xi),
    "2 loss - 1": lambda cut, w, xi: cut.delta @ w >= 2 * cut.loss - 1 - cut.of(xi),
    "loss + 1": lambda cut, w, xi: cut.delta @ w >= cut.loss + 1 - cut.of(xi),
    "unit": lambda cut, w, xi: cut.delta @ w >= 1 - cut.of(xi),
    "half": lambda cut, w, xi: 3 * (cut.delta @ w) >= 0.5 - cut.of(xi),
    "slack": lambda cut, w, xi: cp.multiply(cut.loss, cut.delta @ w) >= cut.loss - cut.of(xi),
    "two slacks": lambda cut, w, xi: 2 * (cut.delta @ w) >= 2 * cut.loss - 3 * cut.of(xi),
    "squared loss": lambda cut, w, xi: cut.delta @ w >= cut.loss**2 - cut.of(xi),
    "above": lambda cut, w, xi: [cut.delta @ w >= 1 - cut.of(xi), cut.delta @ w <= 3],
    "bounded": lambda cut, w, xi: cut.delta @ w >= -3,
}
LIMITS = {
    "none": None,
    "box": lambda w: [w <= 0.5, w >= -0.25],
    "positive": lambda w: [w >= 0],
    "balanced": lambda w: [cp.sum(w) == 0.3],
    "ball": lambda w: [cp.norm2(w) <= 0.7],
    "l1": lambda w: [cp.norm1(w) <= 0.7],
}


def built_in(rng, name, C):
    """Return one of the library's formulations with random options."""
    limits = LIMITS[str(rng.choice(list(LIMITS)))] if rng.random() < 0.3 else None
    slacks = "one" if rng.random() < 0.15 else "n"
    rescale = str(rng.choice(["unit", "margin", "margin", "slack"]))
    return {
        "StructSVM": lambda: so.StructSVM(C, rescale=rescale, slacks=slacks, constraints=limits),
        "StructRMM": lambda: so.StructRMM(
            C,
            **chosen(rng, [{"B": 0.5}, {"B": 2.0}, {"B_fraction": 0.6}]),
            rescale=rescale,
            constraints=limits,
        ),
        "M3N": lambda: so.M3N(C, slacks=slacks, constraints=limits),
        "L1M3N": lambda: so.L1M3N(C, constraints=limits),
        "L1BallM3N": lambda: so.L1BallM3N(radius=C),
        "L2BallM3N": lambda: so.L2BallM3N(radius=C),
        "AdaptiveM3N": lambda: so.AdaptiveM3N(C, lam=float(10 ** rng.uniform(-1, 1))),
        "LaplaceM3N": lambda: so.LaplaceM3N(C, lam=float(10 ** rng.uniform(-1, 1))),
        "LPStruct": lambda: so.LPStruct(C, nonnegative=bool(rng.integers(2)), constraints=limits),
    }[name]()


USUAL = {
    "block-ascent": ("M3N", "StructSVM"),
    "frank-wolfe": ("M3N", "StructSVM"),
    "structured-smo": ("M3N", "StructSVM"),
    "extragradient": ("M3N", "StructSVM"),
    "bregman": ("M3N", "StructSVM"),
    "compact": ("M3N", "StructSVM"),
    "working-sets": ("M3N", "StructSVM", "LPStruct", "L1M3N"),
    "dual-extragradient": ("M3N", "L2BallM3N"),
    "exponentiated-gradient": ("M3N", "StructSVM"),
    "em": ("L1M3N", "AdaptiveM3N", "LaplaceM3N"),
    "subgradient": ("M3N", "StructSVM", "L1M3N", "L1BallM3N"),
}
"""What methods beside cutting planes are mostly tried on; anything else they may refuse."""


def formulation(rng, structure, method):
    """Return a formulation: built in, or written as a user would."""
    C = float(10 ** rng.uniform(-2, 1.5))
    if method in USUAL and rng.random() < 0.8:
        return built_in(rng, str(rng.choice(USUAL[method])), C)
    if structure == "References" and rng.random() < 0.7:
        return so.LPStruct(
            C,
            nonnegative=bool(rng.integers(2)),
            references=str(rng.choice(["nearest", "worst"])),
        )
    if rng.random() < 0.6:
        return built_in(rng, str(rng.choice([e.name for e in names.of_kind("formulation")])), C)
    return Own(
        str(rng.choice(list(OBJECTIVES))),
        str(rng.choice(list(RULES))) if rng.random() < 0.7 else "loss",
        C,
        own_slack=bool(rng.random() < 0.1),
        limits=str(rng.choice(list(LIMITS))) if rng.random() < 0.3 else "none",
    )


# ---------------------------------------------------------------------- all of it
METHODS = [e.key for e in names.of_kind("method")]
BACKENDS = [e.key for e in names.of_kind("backend")]


def drawn(seed, number, method=None):
    """Return the problem of a number; of one method, if it is named."""
    rng = np.random.default_rng([seed, number])
    structure = str(rng.choice(list(STRUCTURES)))
    while True:
        case = StructureCase(STRUCTURES[structure](rng), number)
        count = [len(outputs) for outputs in case.outputs]
        if len(count) < sum(count) <= MOST_OUTPUTS:
            break
    if structure != "References" and rng.integers(2):
        case = learnable(case, number)
    if method is None:
        method = str(rng.choice(METHODS)) if rng.random() < 0.4 else "cutting-plane"
    wanted = formulation(rng, structure, method)
    if math.prod(c + 1 for c in count) > MOST_SUMS and getattr(wanted, "slacks", "n") == "one":
        wanted = wanted.set_params(slacks="n")
    named = method == "cutting-plane" and rng.random() < 0.5
    weight = None
    if rng.random() < 0.35:
        n = len(case.X)
        whole = rng.integers(0, 4, n).astype(float)
        weight = whole if rng.integers(2) else rng.uniform(0.2, 3.0, n)
        weight[0] = max(weight[0], 1.0)  # somebody counts
    return Problem(
        number,
        case,
        structure,
        wanted,
        method,
        str(rng.choice(BACKENDS)) if named else "auto",
        float(rng.choice([1e-2, 1e-3, 1e-4])),
        weight,
    )
