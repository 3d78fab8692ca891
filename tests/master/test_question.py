"""The rule decides the question: what its oracle does not maximise is refused, by every method."""

import pickle

import cvxpy as cp
import numpy as np
import pytest
from cvxpy.constraints.nonpos import NonNeg
from cvxpy.constraints.zero import Zero

import structopt as so
from structopt import names
from structopt.errors import IncompatibleError
from structopt.master.declare import RestrictedMaster
from structopt.master.question import LOSSES, Answered, Lines
from structopt.master.rule import sides_of
from structopt.structures.base.oracles import (
    best_other,
    loss_augmented,
    other_augmented,
    slack_rescaled,
    times_loss,
    worst,
)

S = np.array([1.0, 2.0, 1.0])

# rules that loss_augmented does not maximise, and the term that the refusal names
WRONG = {
    "twice the loss": (lambda w, x, c: c.delta @ w >= 2 * c.loss - c.of(x), r"2 \* loss beside"),
    "twice and less": (lambda w, x, c: c.delta @ w >= 2 * c.loss - 1 - c.of(x), r"2 \* loss - 1"),
    "right at a loss of one": (
        lambda w, x, c: c.delta @ w >= 3 * c.loss - 2 * c.scale - c.of(x),
        r"3 \* loss - 2 beside",
    ),
    "twice the direction": (
        lambda w, x, c: 2 * (c.delta @ w) >= c.loss - c.of(x),
        r"1 \* loss beside 2 \*",
    ),
    "from above": (lambda w, x, c: c.delta @ w <= c.loss + c.of(x), "from above"),
    "the loss squared": (lambda w, x, c: c.delta @ w >= c.loss**2 - c.of(x), "not linear"),
    "the root of the loss": (lambda w, x, c: c.delta @ w >= c.loss**0.5 - c.of(x), "not linear"),
    "a variable times the loss": (
        lambda w, x, c: c.delta @ w >= cp.multiply(c.loss, w[0]) - c.of(x),
        "multiplied by cut.loss",
    ),
    "a slack divided by the loss": (
        lambda w, x, c: c.delta @ w >= c.loss - cp.multiply(1 / c.loss, c.of(x)),
        "multiplied by cut.loss",
    ),
    "no loss": (lambda w, x, c: c.delta @ w >= 1 - c.of(x), "its margin is 1"),
    "no direction": (lambda w, x, c: c.of(x) >= c.loss, "does not bound"),
    "both sides": (
        lambda w, x, c: [c.delta @ w >= c.loss - c.of(x), c.delta @ w - c.loss <= 9 - c.of(x)],
        "both sides",
    ),
    "an equality": (lambda w, x, c: c.delta @ w == c.loss - c.of(x), "both sides"),
}

# rules alone, the question that each asks, and its factor and shift
ASKED = {
    "unit": (lambda w, x, c: c.delta @ w >= 1 - c.of(x), best_other, 1.0, 0.0),
    "bound": (lambda w, x, c: c.delta @ w >= -4, best_other, 1.0, -5.0),
    "margin": (lambda w, x, c: c.delta @ w >= c.loss - c.of(x), loss_augmented, 1.0, 0.0),
    "half": (lambda w, x, c: (c.delta @ w) / 2 >= c.loss / 2 - 3, loss_augmented, 0.5, -3.0),
    "other side": (lambda w, x, c: c.loss - c.delta @ w <= c.of(x), loss_augmented, 1.0, 0.0),
    "slack": (
        lambda w, x, c: cp.multiply(c.loss, c.delta @ w) >= c.loss - c.of(x),
        slack_rescaled, 1.0, 0.0,
    ),
    "above": (lambda w, x, c: 2 * (c.delta @ w) <= 3, worst, 2.0, -3.0),
    "numpy": (lambda w, x, c: c.delta @ w >= np.abs(c.loss) - c.of(x), loss_augmented, 1.0, 0.0),
}  # fmt: skip


class Rule(so.Formulation):
    """1/2 |w|^2 + sum xi, with a rule and an oracle as they come."""

    def __init__(self, rule, *oracle, joint=False):
        self.rule, self.oracle, self.joint = rule, oracle, joint

    def master(self, m):
        w, xi = m.weights(), m.slack() if self.joint else m.slacks()
        m.minimize(cp.sum_squares(w) / 2 + cp.sum(xi))
        m.cuts(*self.oracle, lambda cut: self.rule(w, xi, cut), joint=self.joint)


def declared(formulation):
    m = RestrictedMaster(n_examples=4, n_features=3)
    formulation.master(m)
    m.compile()
    return m


@pytest.mark.parametrize("name", WRONG)
def test_a_rule_that_its_oracle_does_not_maximise_is_refused(name):
    rule, message = WRONG[name]
    with pytest.raises(IncompatibleError, match=rf"loss_augmented \(.*maximises: .*{message}"):
        declared(Rule(rule, loss_augmented))


@pytest.mark.parametrize("method", [entry.key for entry in names.of_kind("method")])
def test_every_method_refuses_it(method):
    class Wrong(so.L1M3N if method == "em" else so.M3N):
        def master(self, m):
            w, xi = m.weights(), m.slacks()
            m.minimize(cp.sum_squares(w) / 2 + cp.sum(xi))
            rule = WRONG["right at a loss of one"][0]
            m.cuts(loss_augmented, lambda cut: rule(w, xi, cut))

    X, Y = so.datasets.make_chain_crf(n_examples=5, n_features=6, n_relevant=3, seed=0)
    with pytest.raises(IncompatibleError, match=r"3 \* loss - 2 beside"):
        so.StructuredClassifier(so.Chain(), Wrong(), method=method).fit(X, Y)


@pytest.mark.parametrize("name", ASKED)
def test_the_oracle_follows_from_the_rule(name):
    rule, oracle, factor, shift = ASKED[name]
    (family,) = declared(Rule(rule)).families
    assert family.oracle is oracle
    np.testing.assert_allclose(family.answered.factor, factor)
    np.testing.assert_allclose(family.answered.shift, shift)
    (named,) = declared(Rule(rule, oracle)).families
    np.testing.assert_allclose(named.answered.factor, factor)


def test_a_multiple_of_the_loss_is_asked_at_smaller_weights():
    def families(rule):
        return declared(Rule(rule)).families

    (family,) = families(lambda w, x, c: 2 * (c.delta @ w) >= 3 * c.loss - 1 - c.of(x))
    assert (family.oracle, family.oracle.base) == (times_loss(1.5), loss_augmented)
    np.testing.assert_allclose(family.answered.factor, 2.0)
    np.testing.assert_allclose(family.answered.shift, -1.0)
    each = np.array([2.0, 1.0, 2.0, 0.25])
    for rule in (
        lambda w, x, c: c.delta @ w >= cp.multiply(c.of(each), c.loss) - c.of(x),
        lambda w, x, c: c.delta @ w >= cp.multiply(c.of(each), np.abs(c.loss)) - c.of(x),
    ):
        found = families(rule)
        assert [f.oracle for f in found] == [times_loss(k) for k in (0.25, 1.0, 2.0)]
        assert [f.where.tolist() for f in found] == [(each == k).tolist() for k in (0.25, 1, 2)]
    # of one example alone a constant above 0: gold must be left out
    (family,) = families(lambda w, x, c: c.delta @ w >= 2 * c.loss + c.of(np.eye(4)[1]) - c.of(x))
    assert (family.oracle, family.oracle.base) == (
        times_loss(2.0, other_augmented),
        other_augmented,
    )
    np.testing.assert_allclose(family.answered.shift, [0.0, 1.0, 0.0, 0.0])
    (family,) = families(lambda w, x, c: c.delta @ w >= c.loss + 1 - c.of(x))
    assert family.oracle is other_augmented
    for oracle in (times_loss(1.5), times_loss(1.5, other_augmented), other_augmented):
        again = pickle.loads(pickle.dumps(oracle))
        assert again == oracle
        assert again.base is oracle.base
    assert times_loss(1.5).margin(2.0) == 3.0
    asked = times_loss(1.5, other_augmented).question
    assert asked == "argmax over y != gold of w.phi(y) + 1.5 loss(y)"


def test_two_sides_ask_two_questions():
    both = lambda w, x, c: [c.delta @ w <= 2, c.delta @ w >= -2]  # noqa: E731
    assert [f.oracle for f in declared(Rule(both)).families] == [worst, best_other]
    equal = lambda w, x, c: c.delta @ w == 2  # noqa: E731
    assert [f.oracle for f in declared(Rule(equal)).families] == [best_other, worst]


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        (lambda w, x, c: c.delta @ w >= 1 - c.loss - c.of(x), r"-1 \* loss \+ 1 beside 1"),
        (lambda w, x, c: c.delta @ w >= c.margin - c.of(x), "name the oracle"),
        (lambda w, x, c: c.delta @ w <= c.loss, "from above"),
        (lambda w, x, c: c.delta @ w >= c.loss**2 - c.of(x), "not linear"),
    ],
)
def test_rules_without_a_known_question_are_refused(rule, message):
    with pytest.raises(IncompatibleError, match=message):
        declared(Rule(rule))


def test_joint_cuts_sum_margins_so_a_number_is_none():
    unit = lambda w, x, c: c.delta @ w >= 1 - c.of(x)  # noqa: E731
    for oracle in ((), (best_other,)):
        with pytest.raises(IncompatibleError, match="its margin is 1"):
            declared(Rule(unit, *oracle, joint=True))
    summed = lambda w, x, c: c.delta @ w >= c.margin - c.of(x)  # noqa: E731
    assert declared(Rule(summed, best_other, joint=True)).families[0].answered.plain


def test_what_is_no_oracle_and_no_rule_is_refused():
    m = RestrictedMaster(n_examples=4, n_features=3)
    for given in ((), (loss_augmented,), ("loss", print), (loss_augmented, print, print)):
        with pytest.raises(IncompatibleError, match=r"m\.cuts\(rule\) or m\.cuts\(oracle, rule\)"):
            m.cuts(*given)


def test_methods_that_learn_hinges_read_factor_shift_and_slack():
    X, Y = so.datasets.make_chain_crf(n_examples=5, n_features=6, n_relevant=3, seed=0)
    for rule in (
        lambda w, x, c: c.delta @ w >= c.loss - 1 - c.of(x),
        lambda w, x, c: c.delta @ w >= c.loss - 2 * c.of(x),
        lambda w, x, c: 2 * (c.delta @ w) >= 2 * c.loss - c.of(x),
    ):
        assert (
            so.StructuredClassifier(so.Chain(), Rule(rule)).fit(X, Y).result_.certificate.certified
        )
        for method in ("frank-wolfe", "subgradient", "extragradient", "bregman", "compact"):
            with pytest.raises(IncompatibleError, match="the rule of its cut family"):
                so.StructuredClassifier(so.Chain(), Rule(rule), method=method).fit(X, Y)


def test_plain_means_plain_for_every_example():
    one, two, none = np.ones(2), np.array([1.0, 2.0]), np.zeros(2)
    assert Answered(one, none).plain
    assert not Answered(two, none).plain
    assert not Answered(one, np.array([0.0, -1.0])).plain


def test_coefficients_are_compared_by_their_size_whatever_their_sign():
    minus = Lines(LOSSES, -LOSSES, np.ones(6), np.ones((6, 1)), -LOSSES[:, None] * (1 + 1e-12))
    assert isinstance(minus.beside(loss_augmented), Answered)
    off = Lines(LOSSES, -LOSSES, np.ones(6), np.ones((6, 1)), -LOSSES[:, None] * (1 + 1e-6))
    assert isinstance(off.beside(loss_augmented), str)


def test_sides_of_constraints_in_every_form():
    w = cp.Variable(2)
    w.value = np.array([3.0, -1.0])
    for constraint, truth in (
        (w >= 1, ([2.0, -2.0], False)),
        (w <= 1, ([-2.0, 2.0], False)),
        (w == 1, ([2.0, -2.0], True)),
        (NonNeg(w), ([3.0, -1.0], False)),
        (Zero(w), ([3.0, -1.0], True)),
    ):
        ((expression, equal),) = sides_of(constraint)
        found = expression.value.tolist()
        assert (found, equal) == truth or (equal and [-v for v in found] == truth[0])
    assert len(sides_of([w >= 1, w <= 2])) == 2
    for wrong in ([], [w >= 1] * 3, [cp.SOC(w[0], w)]):
        with pytest.raises(IncompatibleError):
            sides_of(wrong)
