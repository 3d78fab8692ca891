"""An oracle that does not find the best output never ends in a certificate."""

import numpy as np
import pytest

import structopt as so
from structopt.errors import CertificateError, OracleError
from structopt.structures.base.shard import Answers

LABELS = "abc"


class Own(so.Structure):
    """Classes, by the three methods of a user."""

    def joint_features(self, x, y):
        row = np.zeros(3 * len(x))
        row[LABELS.index(y) * len(x) :][: len(x)] = x
        return row

    def loss(self, y, other):
        return float(y != other)

    def argmax(self, x, weights, *, gold=None):
        return self.best(x, weights, gold, 1.0)

    def best(self, x, weights, gold, share):
        def value(y):
            loss = 0.0 if gold is None else self.loss(gold, y)
            return self.joint_features(x, y) @ weights + share * loss

        return max(LABELS, key=value)


class IgnoresGold(Own):
    def argmax(self, x, weights, *, gold=None):
        return self.best(x, weights, gold, 0.0)


class HalfTheLoss(Own):
    def argmax(self, x, weights, *, gold=None):
        return self.best(x, weights, gold, 0.5)


class GivesGold(Own):
    def argmax(self, x, weights, *, gold=None):
        return super().argmax(x, weights) if gold is None else gold


class Worst(Own):
    def argmax(self, x, weights, *, gold=None):
        return self.best(x, -weights, gold, 1.0)


class NoReturn(Own):
    def argmax(self, x, weights, *, gold=None):
        self.best(x, weights, gold, 1.0)


def data(seed, apart):
    rng = np.random.default_rng(seed)
    y = rng.choice(list(LABELS), size=15)
    return rng.normal(size=(15, 3)) + apart * np.eye(3)[[LABELS.index(k) for k in y]], y.tolist()


def hinges(weights, X, Y):
    own = Own()
    return sum(
        max(own.loss(y, z) - (own.joint_features(x, y) - own.joint_features(x, z)) @ weights
            for z in LABELS)
        for x, y in zip(X, Y, strict=True)
    )  # fmt: skip


@pytest.mark.parametrize("method", ["cutting-plane", "frank-wolfe", "subgradient", "em"])
@pytest.mark.parametrize("lie", [IgnoresGold, HalfTheLoss, GivesGold, Worst, NoReturn])
def test_no_lie_is_certified(lie, method):
    formulation = so.L1M3N(1.0) if method == "em" else so.M3N(1.0)
    for seed, apart in ((0, 0.0), (1, 3.0)):
        X, Y = data(seed, apart)
        model = so.StructuredClassifier(lie(), formulation, method=method, tol=0.02)
        with pytest.raises((OracleError, CertificateError)) as caught:
            model.fit(X, Y)
        best = caught.value.result
        assert best is None or not best.certificate.certified
        if isinstance(caught.value, OracleError):
            assert caught.value.example is not None


def test_the_truth_is_certified():
    for method in ("cutting-plane", "frank-wolfe"):
        X, Y = data(1, 3.0)
        model = so.StructuredClassifier(Own(), so.M3N(1.0), method=method, tol=0.02).fit(X, Y)
        w, c = model.result_.weights, model.result_.certificate
        assert c.certified
        assert c.primal == pytest.approx(w @ w / 2 + hinges(w, X, Y))


def altered(structure, X, Y, change, after=4):
    """Return a data set whose answers are changed from some question on."""
    made = so.DataSet.of(structure, X, Y)
    asked, passes = made._ask, []

    def ask(oracle, weights):
        passes.append(oracle)
        answers = asked(oracle, weights)
        return answers if len(passes) < after else [change(a) for a in answers]

    made._ask = ask
    return made


@pytest.mark.parametrize("formulation", [so.M3N(1.0), so.M3N(1.0, slacks="one"), so.LPStruct(1.0),
                                         so.StructSVM(1.0, rescale="slack")])  # fmt: skip
def test_scores_that_are_off_meet_what_is_known(formulation):
    X, Y = data(2, 0.5)
    structure = so.Multiclass().fitted(X, Y)
    for change in (
        lambda a: Answers(a.outputs, a.loss, a.score + 0.3),
        lambda a: Answers(a.outputs, 0.5 * a.loss, a.score),
    ):
        off = altered(structure, X, Y, change)
        try:
            result = so.CuttingPlane(structure, formulation, off, tol=1e-4, max_iter=60).solve()
        except (OracleError, CertificateError):
            continue
        assert not result.certificate.certified or isinstance(formulation, so.LPStruct)


def test_an_answer_below_gold_or_below_a_known_plane_is_named():
    X, Y = data(3, 0.5)
    structure = so.Multiclass().fitted(X, Y)
    below = altered(structure, X, Y, lambda a: Answers(a.outputs, a.loss, a.score + 9.0))
    with pytest.raises(OracleError, match=r"gave example 0 .* gold itself has 0 ") as caught:
        so.CuttingPlane(structure, so.M3N(1.0), below, tol=1e-6).solve()
    assert caught.value.example == 0
    zero = altered(structure, X, Y, lambda a: Answers(a.outputs, 0 * a.loss, 0 * a.score))
    with pytest.raises(OracleError, match="but one that it gave before has"):
        so.CuttingPlane(structure, so.M3N(1.0), zero, tol=1e-6).solve()
    nothing = lambda a: Answers(a.outputs, 0 * a.loss, 0 * a.score)  # noqa: E731
    later = altered(structure, X, Y, nothing, after=2)
    with pytest.raises(OracleError, match="but one that it gave before has"):
        so.FrankWolfe(structure, so.M3N(1.0), later, tol=1e-6).solve()


def test_what_does_not_claim_to_be_exact_is_not_accused_and_not_certified():
    class Rough(IgnoresGold):
        exact = False

    X, Y = data(0, 0.0)
    result = so.StructuredClassifier(Rough(), so.M3N(1.0), max_iter=30).fit(X, Y).result_
    assert not result.certificate.certified
