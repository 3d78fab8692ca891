"""Structures that a user may write: what is wrong with one is named, or nothing is certified."""

import numpy as np
import pytest

import structopt as so
from structopt import names
from structopt.errors import IncompatibleError, InvalidInputError, OracleError

pytestmark = pytest.mark.filterwarnings("ignore::structopt.errors.ConvergenceWarning")
METHODS = [entry.key for entry in names.of_kind("method") if entry.key != "outer"]


class Three(so.Structure):
    """Three classes by hand: the methods that a user writes."""

    def joint_features(self, x, y):
        found = np.zeros(6)
        found[2 * y : 2 * y + 2] = x
        return found

    def loss(self, y, other):
        return float(y != other)

    def value(self, x, w, y, gold):
        return self.joint_features(x, y) @ w + (0.0 if gold is None else self.loss(gold, y))

    def argmax(self, x, weights, *, gold=None):
        return max(range(3), key=lambda y: self.value(x, weights, y, gold))

    def second_best(self, x, weights, gold):
        others = [y for y in range(3) if y != gold]
        return max(others, key=lambda y: self.value(x, weights, y, None))


class AlwaysZero(Three):
    def argmax(self, x, weights, *, gold=None):
        return 0


class Erases(Three):
    def argmax(self, x, weights, *, gold=None):
        found = super().argmax(x, weights, gold=gold)
        weights[:] = 0.0
        return found


class ErasesAfter(Three):
    """Asked by nobody but predictions, and the last look at the oracles."""

    def argmax(self, x, weights, *, gold=None):
        weights[:] = 0.0
        return 0


class Infinite(Three):
    def loss(self, y, other):
        return np.inf if (y, other) == (0, 1) else float(y != other)


class NoNumber(Three):
    def loss(self, y, other):
        return {}


class GoldCosts(Three):
    def loss(self, y, other):
        return 1.0 + (y != other)


class CompletesToZero(Three):
    def complete(self, x, weights, gold):
        return 0


class Complex(Three):
    def joint_features(self, x, y):
        return super().joint_features(x, y) * 1j


class Words(Three):
    def joint_features(self, x, y):
        return ["a"] * 6


class Matrix(Three):
    def joint_features(self, x, y):
        return np.stack([super().joint_features(x, y)] * 2)


class Fails(Three):
    def argmax(self, x, weights, *, gold=None):
        raise KeyError("argmax")


class FarPlaces(Three):
    def nonnegative_weights(self):
        return np.array([0, 99])


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    "structure",
    [AlwaysZero, Erases, Infinite, NoNumber, GoldCosts, CompletesToZero, Complex, Words, Matrix,
     Fails, FarPlaces],
)  # fmt: skip
def test_a_structure_of_three_methods_that_is_wrong_is_named(structure, method):
    rng = np.random.default_rng(5)
    X, Y = [np.round(rng.normal(size=2), 2) for _ in range(6)], rng.integers(3, size=6).tolist()
    online = method in ("perceptron", "mira")  # these claim nothing
    for formulation in (so.M3N(0.7), so.L1M3N(0.7), so.StructSVM(3.0)):
        model = so.StructuredClassifier(structure(), formulation, method=method, max_iter=100)
        try:
            found = model.fit(X, Y).result_.certificate
        except (OracleError, InvalidInputError, IncompatibleError):
            continue
        # the unit margin asks second_best alone, and that is right
        asked = not isinstance(formulation, so.StructSVM) or structure is Infinite
        assert online or not (asked and found.certified), formulation


def test_what_nobody_asks_leaves_the_model_alone():
    rng = np.random.default_rng(5)
    X, Y = [np.round(rng.normal(size=2), 2) for _ in range(6)], rng.integers(3, size=6).tolist()
    for method in ("cutting-plane", "frank-wolfe", "subgradient", "working-sets"):
        weights = []
        for structure in (Three, ErasesAfter):
            model = so.StructuredClassifier(structure(), so.StructSVM(3.0), method=method)
            try:
                weights.append(model.fit(X, Y).result_.weights)
            except OracleError:  # its answers contradict each other
                continue
        np.testing.assert_allclose(weights[-1], weights[0], atol=1e-12)
        assert np.any(weights[0])


# ---------------------------------------------------------------------- encode of the user's own
class Doubles(so.Chain):
    def encode(self, X, Y, *, start=0):
        return super().encode([2 * np.asarray(x) for x in X], Y, start=start)


class DropsOne(so.Chain):
    def encode(self, X, Y, *, start=0):
        return super().encode(X[:-1], Y[:-1], start=start)


class Raises(so.Chain):
    def encode(self, X, Y, *, start=0):
        return X.to_shard()


class NoShard(so.Chain):
    def encode(self, X, Y, *, start=0):
        super().encode(X, Y, start=start)


ENCODES = {
    Doubles: "features differ by",
    DropsOne: "packed 3 of 4 examples",
    Raises: r"failed: AttributeError",
    NoShard: "gave None",
}


@pytest.mark.parametrize("kind", ENCODES)
def test_an_encode_that_packs_other_examples_is_refused(kind):
    """All but the last two ended certified, for data that were not given."""
    rng = np.random.default_rng(3)
    X, Y = [rng.standard_normal((2, 2)) for _ in range(4)], [[0, 1], [1, 1], [0, 0], [1, 0]]
    with pytest.raises(IncompatibleError, match=ENCODES[kind]):
        so.StructuredClassifier(kind([0, 1]), so.M3N(1.0)).fit(X, Y)


def test_an_encode_that_passes_on_is_none_the_worse():
    class Passes(so.Chain):
        def encode(self, X, Y, *, start=0):
            return super().encode(X, Y, start=start)

    rng = np.random.default_rng(3)
    X, Y = [rng.standard_normal((2, 2)) for _ in range(4)], [[0, None], [1, 1], [0, 0], [1, 0]]
    assert (
        so.StructuredClassifier(Passes([0, 1]), so.M3N(1.0)).fit(X, Y).result_.certificate.certified
    )


@pytest.mark.parametrize("engine", [None, "disk"])
def test_a_fitted_that_fits_nothing_is_told(engine):
    class Unfitted(so.Chain):
        def fitted(self, X, Y):
            return self

    model = so.StructuredClassifier(Unfitted([0, 1]), so.M3N(1.0), engine=engine)
    with pytest.raises(InvalidInputError, match="does not know its n_features_"):
        model.fit([np.eye(2)], [[0, 1]])
