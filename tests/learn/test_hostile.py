"""What a user may write: every rule, structure and weight ends right, not certified, or refused.

"Right" means against enumeration: every output of every example is a row of plain CVXPY
(`structopt.testing.FullProblem`).
"""

import re
from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest

import structopt as so
from structopt import names
from structopt.errors import (
    BackendError,
    CertificateError,
    IncompatibleError,
    OracleError,
)
from structopt.structures.base.oracles import loss_augmented, times_loss
from structopt.structures.base.small import Small
from structopt.testing.full_problem import FullProblem
from structopt.testing.problems import small_chain, small_classes
from structopt.testing.structure_case import StructureCase

pytestmark = pytest.mark.filterwarnings("ignore::structopt.errors.ConvergenceWarning")
METHODS = [entry.key for entry in names.of_kind("method") if entry.key != "outer"]
CASES = {"chain": small_chain(0, n=3, length=2), "classes": small_classes(1, n=5)}
TOL = 1e-3
KAPPAS = np.array([2.0, 0.5, 2.0, 3.0, 0.5])
SHIFTS = np.array([0.0, 0.2, 1.0, 0.0, 0.4])


class Rule(so.Formulation):
    """1/2 |w|^2 + C sum xi, with a rule and perhaps a named oracle."""

    def __init__(self, rule, *oracle, joint=False, objective=None, more=None):
        self.rule, self.oracle, self.joint = rule, oracle, joint
        self.objective, self.more = objective, more

    def master(self, m):
        w, xi = m.weights(), m.slack() if self.joint else m.slacks()
        price = cp.sum(xi) if self.objective is None else self.objective(xi)
        v = None
        cost = cp.sum_squares(w) / 2 + 0.7 * price
        if self.more:
            v = cp.Variable(m.n_features, name="v")
            cost = cost + 2 * cp.sum_squares(v)
        m.minimize(cost)
        n = m.n_examples
        m.cuts(*self.oracle, lambda cut: self.rule(cut, w, xi, v, n), joint=self.joint)


# every rule that was certified and wrong once, alone and beside the oracle that it is not
RULES = {
    "2 loss": lambda c, w, x, v, n: c.delta @ w >= 2 * c.loss - c.of(x),
    "2 loss - 1": lambda c, w, x, v, n: c.delta @ w >= 2 * c.loss - 1 - c.of(x),
    "loss / 3": lambda c, w, x, v, n: 3 * (c.delta @ w) >= c.loss - c.of(x),
    "twice the direction": lambda c, w, x, v, n: 2 * (c.delta @ w) >= c.loss - c.of(x),
    "loss + 1": lambda c, w, x, v, n: c.delta @ w >= c.loss + 1 - c.of(x),
    "kappa of each": lambda c, w, x, v, n: (
        c.delta @ w >= cp.multiply(c.of(KAPPAS[:n]), c.loss) - c.of(x)
    ),
    "kappa and shift of each": lambda c, w, x, v, n: (
        c.delta @ w >= cp.multiply(c.of(KAPPAS[:n]), c.loss) - c.of(SHIFTS[:n]) - c.of(x)
    ),
    "kappa of each, by NumPy": lambda c, w, x, v, n: (
        c.delta @ w >= cp.multiply(np.abs(c.loss), c.of(KAPPAS[:n])) - c.of(x)
    ),
    "shift of each": lambda c, w, x, v, n: c.delta @ w >= c.loss - c.of(SHIFTS[:n]) - c.of(x),
    "loss squared": lambda c, w, x, v, n: c.delta @ w >= c.loss**2 - c.of(x),
    "root": lambda c, w, x, v, n: c.delta @ w >= c.loss**0.5 - c.of(x),
    "a variable times the loss": lambda c, w, x, v, n: (
        c.delta @ w >= cp.multiply(c.loss, w[0]) - c.of(x)
    ),
    "from above": lambda c, w, x, v, n: c.delta @ w <= c.loss + c.of(x),
    "multiply": lambda c, w, x, v, n: (
        c.delta @ cp.multiply(np.linspace(1, 2, w.size), w) >= c.loss - c.of(x)
    ),
    "minus the loss": lambda c, w, x, v, n: c.delta @ w >= -c.loss - c.of(x),
}
NO_QUESTION = {
    "loss squared", "root", "from above", "a variable times the loss", "minus the loss",
}  # fmt: skip
NAMED = {
    "3 loss - 2 scale": lambda c, w, x, v, n: c.delta @ w >= 3 * c.loss - 2 * c.scale - c.of(x),
    "margin times 2": lambda c, w, x, v, n: c.delta @ w >= 2 * c.margin - c.of(x),
}


def ended(case, formulation, method="auto", **options):
    """Train; return "refused", "not certified", or "right" after a look at the truth."""
    options.setdefault("tol", TOL)
    model = so.StructuredClassifier(case.given, formulation, method=method, **options)
    try:
        found = model.fit(case.X, case.Y).result_.certificate
    except IncompatibleError:
        return "refused"
    full = FullProblem(case, formulation)
    best = full.optimum()
    slip = 1e-6 * (1 + abs(best))
    assert found.dual - slip <= best <= found.primal + slip, found
    assert full.value(model.result_.weights) <= found.primal + slip
    if not found.certified:
        return "not certified"
    assert found.primal - best <= options["tol"] * abs(found.primal) + slip
    return "right"


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("case", CASES)
def test_a_rule_alone_is_trained_or_refused_by_every_method(case, rule):
    seen = {m: ended(CASES[case], Rule(RULES[rule]), m, max_iter=60) for m in METHODS}
    assert seen["cutting-plane"] == ("refused" if rule in NO_QUESTION else "right"), seen
    if rule == "2 loss":
        assert seen["frank-wolfe"] == "right"
        assert {seen[m] for m in ("extragradient", "bregman", "compact", "block-ascent", "em")} == {
            "refused"
        }


@pytest.mark.parametrize("rule", RULES | NAMED)
@pytest.mark.parametrize("method", METHODS)
def test_a_rule_beside_a_named_oracle_is_right_or_refused_by_every_method(method, rule):
    wrong = (RULES | NAMED)[rule]
    seen = ended(CASES["classes"], Rule(wrong, loss_augmented), method)
    # a constant does not change the answer (gold, whose row is named here too, is one of them),
    # nor does what delta multiplies: then online methods train, and nothing is certified
    if rule in ("shift of each", "loss + 1", "multiply"):
        assert seen in ("refused", "right") or method in ("perceptron", "mira")
    else:
        assert seen == "refused"


def test_rules_over_other_variables_are_right():
    rule = lambda c, w, x, v, n: c.delta @ (w + v) >= c.loss - c.of(x)  # noqa: E731
    for case in CASES.values():
        assert ended(case, Rule(rule, more=True)) == "right"


@pytest.mark.parametrize("rule", ["2 loss", "loss / 3"])
def test_one_slack_for_all_examples_takes_a_multiple_of_the_loss(rule):
    assert ended(CASES["chain"], Rule(RULES[rule], joint=True)) == "right"


def test_a_multiple_of_the_loss_is_the_question_at_smaller_weights():
    rng = np.random.default_rng(0)
    for case in CASES.values():
        data = so.DataSet.of(case.structure, case.X, case.Y)
        for kappa in (0.1, 3.0):
            oracle, w = times_loss(kappa), rng.normal(size=case.structure.n_features_)
            (answers,) = data.ask(oracle, w)
            for i, phi in enumerate(case.phi):
                every = kappa * case.losses[i] - (phi[case.gold[i]] - phi) @ w
                found = kappa * answers.loss[i] - answers.score[i]
                assert found == pytest.approx(every.max(), rel=1e-12)


def test_too_many_multiples_are_refused_in_words():
    case = small_classes(0, n=20)
    rule = lambda c, w, x, v, n: (  # noqa: E731
        c.delta @ w >= cp.multiply(c.of(np.linspace(1, 2, 20)), c.loss) - c.of(x)
    )
    with pytest.raises(IncompatibleError, match="20 different multiples of the loss"):
        so.StructuredClassifier(case.given, Rule(rule)).fit(case.X, case.Y)


def test_a_multiple_of_an_inexact_oracles_score_keeps_its_excess():
    case = CASES["classes"]
    data = so.DataSet.of(case.structure, case.X, case.Y)
    (shard,) = data.shards
    ask = shard.ask

    def rounded(oracle, weights):
        answers = ask(oracle, weights)
        return replace(answers, excess=np.full(len(answers.loss), 0.25))

    shard.ask = rounded
    (answers,) = data.ask(times_loss(4.0), np.zeros(case.structure.n_features_))
    assert np.all(answers.excess == 1.0)


PLAIN = lambda c, w, x, v, n: c.delta @ w >= c.loss - c.of(x)  # noqa: E731


@pytest.mark.parametrize("constant", [5.0, -5.0])
def test_a_constant_in_the_objective_is_counted_or_refused_by_every_method(constant):
    objective = lambda xi: cp.sum(xi) + constant  # noqa: E731
    for case in CASES.values():
        seen = {m: ended(case, Rule(PLAIN, objective=objective), m, max_iter=60) for m in METHODS}
        assert seen["cutting-plane"] == "right", seen
        assert {seen[m] for m in ("frank-wolfe", "subgradient", "extragradient")} == {"refused"}


def test_slacks_that_cost_nothing_are_trained_by_every_method():
    for case in CASES.values():
        free = Rule(PLAIN, objective=lambda xi: 0 * cp.sum(xi))
        assert {ended(case, free, m) for m in METHODS} <= {"right", "refused", "not certified"}
        assert ended(case, free, "subgradient") == "right"


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf, 1j])
def test_numbers_that_are_none_are_refused_by_every_method_before_any_work(number):
    case = CASES["classes"]
    for objective in (lambda xi: number * cp.sum(xi), lambda xi: cp.sum(xi) + number):
        for method in METHODS:
            assert ended(case, Rule(PLAIN, objective=objective), method) == "refused"


@pytest.mark.parametrize("number", [np.nan, 1j])
def test_a_constraint_of_no_number_is_refused(number):
    case = CASES["classes"]
    for constraints in (lambda w: [cp.sum(w) == number], lambda w: [number * w == 1]):
        for method in ("cutting-plane", "subgradient", "extragradient"):
            with pytest.raises(IncompatibleError):
                so.StructuredClassifier(
                    case.given, so.M3N(constraints=constraints), method=method
                ).fit(case.X, case.Y)


# ---------------------------------------------------------------------- methods that read classes
class Unit(so.L1M3N):
    """An L1M3N with another margin."""

    def master(self, m):
        w, xi = m.weights(), m.slacks()
        m.minimize(cp.norm1(w) / 2 + self.C * cp.sum(xi))
        m.cuts(lambda cut: cut.delta @ w >= 1 - cut.of(xi))


class Dearer(so.L1M3N):
    """An L1M3N with another objective."""

    def master(self, m):
        w, xi = m.weights(), m.slacks()
        m.minimize(cp.norm1(w) / 2 + 3 * self.C * cp.sum(xi))
        m.cuts(lambda cut: cut.delta @ w >= cut.loss - cut.of(xi))


class Other(so.L1M3N):
    """An L1M3N whose regulariser is said to be another."""

    def regulariser(self, weights):
        return 2 * super().regulariser(weights)


@pytest.mark.parametrize("formulation", [Unit, Dearer, Other])
def test_em_trains_what_a_subclass_declares_or_refuses_it(formulation):
    for case in CASES.values():
        assert ended(case, formulation(C=0.3), "em") == "refused"
        if formulation is not Other:
            assert ended(case, formulation(C=0.3)) == "right"


class NormOfSlacks(so.Formulation):
    """Slacks of the user's own, priced by their l1 norm: nothing else but the rule knows them."""

    def __init__(self, limits):
        self.limits = limits

    def master(self, m):
        w, z = m.weights(self.limits), cp.Variable(m.n_examples, nonneg=True, name="z")
        m.minimize(cp.sum_squares(w) / 2 + 0.7 * cp.norm1(z))
        m.cuts(lambda cut: cut.delta @ w >= cut.loss - cut.of(z))


@pytest.mark.parametrize(
    "limits", [None, lambda w: [cp.sum(w) == 0.3], lambda w: [cp.norm2(w) <= 0.2]]
)
def test_a_variable_that_only_an_l1_norm_and_the_rule_know_is_compiled(limits):
    for case in CASES.values():
        assert ended(case, NormOfSlacks(limits)) == "right"


# ---------------------------------------------------------------------- structures and weights
class Chain(so.Chain):
    """Chains with one method of the user's own, which is wrong."""


class NoReturn(Chain):
    def argmax(self, x, weights, *, gold=None):
        super().argmax(x, weights, gold=gold)


class NoGold(Chain):
    def argmax(self, x, weights, *, gold=None):
        return super().argmax(x, weights)


class OtherLoss(Chain):
    def loss(self, y, other):
        return 2.0 * super().loss(y, other)


class OtherFeatures(Chain):
    def joint_features(self, x, y):
        return 2.0 * super().joint_features(x, y)


@pytest.mark.parametrize("structure", [NoReturn, NoGold, OtherLoss, OtherFeatures])
def test_a_structure_that_contradicts_itself_is_named_by_every_method(structure):
    case = CASES["chain"]
    for method in METHODS:
        model = so.StructuredClassifier(structure([0, 1]), so.M3N(0.5), method=method)
        try:
            found = model.fit(case.X, case.Y).result_
        except (OracleError, IncompatibleError, CertificateError):
            continue
        assert not found.certificate.certified, method
        assert found.status != "optimal", method


@pytest.mark.parametrize("method", METHODS)
def test_constrained_outputs_are_trained_as_such_or_refused(method):
    def outputs(x):
        return [y for y in ([0, 0], [0, 1], [1, 0], [1, 1]) if y.count(1) == 1]

    rng = np.random.default_rng(3)
    X = [rng.normal(size=(2, 2)) for _ in range(3)]
    for inner in (so.Chain([0, 1]), so.Multiclass([0, 1])):
        ruled = so.constrain(inner, so.constraints.exactly(1, 1))
        case = StructureCase(Small(ruled, X, [[0, 1], [1, 0], [0, 1]], outputs, tol=1e-7))
        assert ended(case, so.M3N(1.0), method, max_iter=60) in (
            "right",
            "not certified",
            "refused",
        )


@pytest.mark.parametrize("radius", [1e-10, 1e-4, 1.0, 1e6])
def test_a_ball_of_any_size_is_kept_to(radius):
    case = CASES["classes"]
    for method in ("cutting-plane", "subgradient"):
        model = so.StructuredClassifier(
            case.given, so.L1BallM3N(radius=radius), method=method, max_iter=200
        )
        result = model.fit(case.X, case.Y).result_
        if result.certificate.certified:
            assert np.abs(result.weights).sum() <= radius * (1 + 1e-6)


class OwnSlack(so.Formulation):
    def master(self, m):
        w, xi = m.weights(), cp.Variable(m.n_examples, nonneg=True)
        m.minimize(cp.sum_squares(w) / 2 + cp.sum(xi))
        m.cuts(lambda cut: cut.delta @ w >= cut.loss - cut.of(xi))


@pytest.mark.parametrize("method", METHODS)
def test_weights_reach_whatever_stands_for_a_slack_or_are_refused(method):
    case, weight = CASES["classes"], np.array([3.0, 1.0, 2.0, 1.0, 1.0])
    squares = Rule(lambda c, w, x, v, n: c.delta @ w >= c.loss - c.of(x), objective=cp.sum_squares)
    for formulation in (OwnSlack(), squares):
        model = so.StructuredClassifier(case.given, formulation, method=method)
        try:
            model.fit(case.X, case.Y, sample_weight=weight)
        except IncompatibleError:
            continue
        # online methods minimise no objective, so weights act on their steps
        assert not model.result_.certificate.certified
        assert method in ("perceptron", "mira")


@pytest.mark.parametrize("kappa", [2.0, 0.25])
def test_weights_are_repetitions_under_a_multiple_of_the_loss_too(kappa):
    case, weight = CASES["classes"], np.array([3, 1, 2, 1, 0])
    rule = Rule(lambda c, w, x, v, n: c.delta @ w >= kappa * c.loss - c.of(x))
    weighted = so.StructuredClassifier(case.given, rule, tol=1e-6)
    weighted.fit(case.X, case.Y, sample_weight=weight)
    which = np.repeat(np.arange(5), weight)
    again = so.StructuredClassifier(case.given, rule, tol=1e-6)
    again.fit([case.X[i] for i in which], [case.Y[i] for i in which])
    assert weighted.result_.certificate.primal == pytest.approx(
        again.result_.certificate.primal, rel=1e-5
    )


def test_a_solver_that_is_not_there_is_refused_and_a_named_one_is_not_replaced():
    case = CASES["classes"]
    with pytest.raises(IncompatibleError, match="NOSUCH"):
        so.StructuredClassifier(case.given, so.M3N(), backend=so.CVXPY(solver="NOSUCH")).fit(
            case.X, case.Y
        )
    for entry in names.of_kind("backend"):
        try:
            result = (
                so.StructuredClassifier(case.given, so.M3N(), backend=entry.key)
                .fit(case.X, case.Y)
                .result_
            )
        except (IncompatibleError, BackendError):
            continue
        assert re.search(entry.key, str(result.backend)), result.backend
