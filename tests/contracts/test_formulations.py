"""Every formulation of the one list keeps its contract, in each of its variants."""

import inspect
from typing import Literal, get_args, get_origin, get_type_hints

import cvxpy as cp
import numpy as np
import pytest

import structopt as so
from structopt import names
from structopt.testing.formulation import CHECKS, FormulationCase
from structopt.testing.problems import small_chain, small_classes

# beside what annotations say (every literal and every boolean is tried)
MORE = {
    "M3N": [{"slacks": 2}],
    "StructRMM": [{"B": 0.7}, {"B_fraction": 0.5}],
    "L1BallM3N": [{"radius": 0.8}],
    "L2BallM3N": [{"radius": 0.8}],
    "LaplaceM3N": [{"lam": 4.0}],
}
# in one process and of one shard these are slacks="auto" and slacks="one"
SAME = [("slacks", "n"), ("slacks", "shards")]


def choices(hint):
    """The values that an annotation lists."""
    if hint is bool:
        return [False, True]
    if get_origin(hint) is Literal:
        return list(get_args(hint))
    return [value for part in get_args(hint) for value in choices(part) if part is not hint]


def variants(cls):
    """Instances with every listed value of every parameter, one changed at a time."""
    parameters = inspect.signature(cls).parameters
    base = {"C": 4.0} if "C" in parameters else {}  # weights move, and slacks stay
    hints = get_type_hints(cls.__init__)
    yield cls(**base)
    for name, parameter in parameters.items():
        for value in choices(hints.get(name)):
            if value != parameter.default and (name, value) not in SAME:
                yield cls(**base, **{name: value})
    for more in MORE.get(cls.__name__, ()):
        yield cls(**base, **more)


def described(formulation):
    """Name a variant by what it changes."""
    default = type(formulation)().get_params()
    changed = {k: v for k, v in formulation.get_params().items() if v != default[k] and k != "C"}
    inner = ", ".join(f"{k}={v}" for k, v in changed.items())
    return f"{type(formulation).__name__}({inner})"


VARIANTS = [v for entry in names.of_kind("formulation") for v in variants(entry.load())]
# for several good outputs only: tests/contracts/test_grid.py trains them
ASKED_OF_REFERENCES = [v for v in VARIANTS if v.get_params().get("references")]


@pytest.fixture(scope="module")
def cases():
    return {}


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
@pytest.mark.parametrize(
    "formulation", [v for v in VARIANTS if v not in ASKED_OF_REFERENCES], ids=described
)
def test_formulation(formulation, check, cases):
    case = cases.setdefault(id(formulation), FormulationCase(formulation))
    check(case)


def test_what_asks_for_references_needs_them():
    for formulation in ASKED_OF_REFERENCES:
        with pytest.raises(so.errors.InvalidInputError, match="no structure here answers"):
            FormulationCase(formulation)


@pytest.mark.parametrize("entry", names.of_kind("formulation"), ids=lambda entry: entry.name)
@pytest.mark.parametrize("value", [0, -1.0, np.nan, None, "one"])
def test_strength_must_be_a_positive_number(entry, value):
    cls = entry.load()
    (name,) = {"C", "radius"} & inspect.signature(cls).parameters.keys()
    case = small_classes()
    data = so.DataSet.of(case.structure, case.X, case.Y)
    with pytest.raises(so.errors.InvalidInputError, match=f"{name} must be a .*number > 0"):
        so.CuttingPlane(case.structure, cls(**{name: value}), data)


class Named(so.Formulation):
    """A question, and a rule of one's own."""

    def __init__(self, oracle, rule):
        self.oracle, self.rule = oracle, rule

    def master(self, m):
        w, xi = m.weights(), m.slacks()
        m.minimize(cp.sum_squares(w) / 2 + cp.sum(xi))
        m.cuts(self.oracle, lambda cut: self.rule(cut, w, xi))


@pytest.mark.parametrize(
    ("oracle", "rule"),
    [
        # at loss 1 it looks like the loss
        (so.loss_augmented, lambda c, w, xi: c.delta @ w >= 3 * c.loss - 2 - c.of(xi)),
        (so.loss_augmented, lambda c, w, xi: c.delta @ w >= 1 - c.of(xi)),
        (so.loss_augmented, lambda c, w, xi: c.delta @ w >= 2 * c.loss - c.of(xi)),
        (so.oracles.best_other, lambda c, w, xi: c.delta @ w >= c.loss - c.of(xi)),
        (so.slack_rescaled, lambda c, w, xi: c.delta @ w >= c.loss - c.of(xi)),
        (so.oracles.worst, lambda c, w, xi: c.delta @ w >= c.loss - c.of(xi)),
    ],
)
def test_a_rule_that_its_oracle_does_not_answer_is_refused(oracle, rule):
    case = small_classes()
    data = so.DataSet.of(case.structure, case.X, case.Y)
    data.ask = None  # nobody is asked
    with pytest.raises(so.errors.IncompatibleError):
        so.CuttingPlane(case.structure, Named(oracle, rule), data)


def test_a_wrong_optimum_is_found_out(monkeypatch):
    """The checks do fail: here the oracle forgets the loss."""
    case = small_chain(1, n=3, length=2)
    shard = type(case.structure.encode(case.X, case.Y))
    ask = shard.ask

    def forgetful(self, oracle, weights):
        return ask(self, so.oracles.best_other if oracle is so.loss_augmented else oracle, weights)

    monkeypatch.setattr(shard, "ask", forgetful)
    with pytest.raises(so.testing.CheckError, match="fails optimum_is_enumeration"):
        so.testing.check_formulation(so.M3N(4.0), cases=[case])
