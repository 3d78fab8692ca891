"""LO, L+I and IBT, the separability test, and the bounds."""

import itertools
import math

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

import structopt as so
from structopt.errors import IncompatibleError
from structopt.learn import bounds
from structopt.learn.component_perceptron import ComponentPerceptron


def accuracies(kappa, n_inputs, n, trials=2, **options):
    """Mean test accuracy of each scheme."""
    found = {"LO": [], "L+I": [], "IBT": []}
    for trial in range(trials):
        data = so.datasets.make_constrained_labels(
            n + 500, n_inputs=n_inputs, kappa=kappa, seed=trial
        )
        structure = so.LabelVector(data.legal)
        for name, scores in found.items():
            scheme = so.ConstraintScheme(name, structure, random_state=0, **options)
            scheme.fit(data.X[:n], data.Y[:n])
            scores.append(scheme.score(data.X[n:], data.Y[n:]))
    return {name: float(np.mean(scores)) for name, scores in found.items()}


def test_the_ends_of_figure_2_stand_in_the_papers_order():
    """At kappa = 0 L+I is ahead of IBT; at kappa = 1 IBT is, given enough examples."""
    easy = accuracies(0.0, 50, 300)
    assert easy["L+I"] > easy["LO"]
    assert easy["L+I"] > easy["IBT"]
    hard = accuracies(1.0, 50, 1000, max_iter=30)
    assert hard["IBT"] > hard["L+I"] > hard["LO"]
    between = {n: accuracies(0.15, 50, n, max_iter=40) for n in (60, 1200)}
    assert between[60]["L+I"] > between[60]["IBT"]
    assert between[1200]["IBT"] > between[1200]["L+I"]


def test_a_fraction_kappa_breaks_the_constraint():
    data = so.datasets.make_constrained_labels(200, n_inputs=4, kappa=0.3, seed=2)
    free = so.separability(so.LabelVector(), data.X[:60], data.Y[:60])
    assert free.separable is False
    again = so.datasets.make_constrained_labels(200, n_inputs=4, kappa=0.3, seed=2)
    np.testing.assert_array_equal(again.X, data.X)
    for bad in ({"kappa": 2.0}, {"legal_fraction": 0.0}, {"n_examples": 0}):
        with pytest.raises(so.errors.InvalidInputError):
            so.datasets.make_constrained_labels(**bad)


@pytest.mark.parametrize(
    "learner", [LogisticRegression(fit_intercept=False), LinearSVC(fit_intercept=False), so.M3N()]
)
def test_any_linear_classifier_learns_locally(learner):
    data = so.datasets.make_constrained_labels(300, n_inputs=5, kappa=0.0, seed=1)
    structure = so.LabelVector(data.legal)
    for name in ("LO", "L+I"):
        scheme = so.ConstraintScheme(name, structure, learner=learner).fit(data.X, data.Y)
        assert scheme.score(data.X, data.Y) > 0.95


@pytest.mark.parametrize("structure", [so.Chain(), so.Multiclass()], ids=["chain", "classes"])
@pytest.mark.parametrize("learner", ["perceptron", so.M3N(), LinearSVC(fit_intercept=False)])
def test_sequences_with_rules_take_every_scheme(structure, learner):
    """Exactly one 1 in each sequence, where the largest input is."""
    rng = np.random.default_rng(0)
    X = [np.stack([x, np.ones(4)], axis=1) for x in rng.normal(size=(40, 4))]
    Y = [[int(k == x[:, 0].argmax()) for k in range(4)] for x in X]
    tied = so.constrain(structure, so.constraints.exactly(1, 1))
    schemes = ("LO", "L+I") if isinstance(learner, LinearSVC) else ("LO", "L+I", "IBT")
    right = {}
    for name in schemes:
        scheme = so.ConstraintScheme(name, tied, learner=learner, max_iter=10, random_state=0).fit(
            X, Y
        )
        right[name] = scheme.score(X, Y)
        legal = [sum(y) == 1 for y in scheme.predict(X)]
        assert all(legal) == (name != "LO")
    assert right["L+I"] > right["LO"]
    assert right.get("IBT", 1.0) > 0.9
    if isinstance(structure, so.Multiclass):  # without transitions the largest input wins
        assert right["L+I"] == 1.0


def test_local_weights_are_those_of_the_classifier():
    data = so.datasets.make_constrained_labels(100, n_components=2, n_inputs=3, seed=1)
    learner = LogisticRegression(fit_intercept=False)
    scheme = so.ConstraintScheme("LO", so.LabelVector(data.legal), learner=learner).fit(
        data.X, data.Y
    )
    predicted = np.array(scheme.predict(data.X))
    for t in range(2):
        alone = LogisticRegression(fit_intercept=False)
        alone.fit(data.X[:, t], [y[t] for y in data.Y])
        np.testing.assert_array_equal(predicted[:, t], alone.predict(data.X[:, t]))


def test_what_cannot_be_done_is_refused_in_one_sentence():
    data = so.datasets.make_constrained_labels(20, n_inputs=3, seed=1)
    structure = so.LabelVector(data.legal)
    cases = [
        (so.ConstraintScheme("XX", structure), so.errors.InvalidInputError, "scheme is one of"),
        (so.ConstraintScheme("LO", so.Multiclass()), so.errors.IncompatibleError, "no constraints"),
        (
            so.ConstraintScheme("IBT", structure, learner=LogisticRegression()),
            so.errors.IncompatibleError,
            "IBT learns through",
        ),
        (
            so.ConstraintScheme("LO", structure, learner=LogisticRegression()),
            so.errors.IncompatibleError,
            "has an intercept",
        ),
    ]
    for scheme, error, message in cases:
        with pytest.raises(error, match=message):
            scheme.fit(data.X, data.Y)


# ---------------------------------------------------------------------- separability
def test_separability_of_data_built_to_be_so():
    """kappa = 0: locally separable. kappa > 0: only with the constraints. A repeated input: not."""
    easy = so.datasets.make_constrained_labels(80, n_inputs=5, kappa=0.0, seed=1)
    hard = so.datasets.make_constrained_labels(80, n_inputs=5, kappa=0.5, seed=1)
    tied = so.LabelVector(easy.legal)
    assert so.separability(tied.unconstrained(), easy.X, easy.Y).separable
    assert so.separability(tied, easy.X, easy.Y).separable
    tied = so.LabelVector(hard.legal)
    assert so.separability(tied.unconstrained(), hard.X, hard.Y).separable is False
    found = so.separability(tied, hard.X, hard.Y)
    assert found.separable
    predicted = tied.fitted(hard.X, hard.Y).predict(hard.X, found.weights)
    assert predicted == hard.Y
    X, Y = np.concatenate([hard.X, hard.X[:1]]), [*hard.Y, hard.legal[0]]
    assert hard.Y[0] != hard.legal[0]
    assert so.separability(tied, X, Y).separable is False


def test_the_largest_margin_is_known_by_hand():
    """x = (2, 0) and (0, 1), two labels: delta = +-(x, -x), so w = sign gives 2|x|_1: 4 and 2.

    Margins above 1 count as 1. Scaled by 1/8 the smaller one is 1/4.
    """
    X = np.array([[2.0, 0.0], [0.0, 1.0]]) / 8
    found = so.separability(so.Multiclass(), X, [0, 1], tol=1e-9)
    assert found.separable
    assert found.margin_at_least <= 0.25 + 1e-9 <= found.margin_at_most + 2e-9
    same = so.separability(so.Multiclass(), np.ones((2, 1)), [0, 1])
    assert same.separable is False
    assert same.margin_at_most <= 1e-6


def test_too_few_rounds_decide_nothing():
    data = so.datasets.make_constrained_labels(60, n_inputs=20, kappa=1.0, seed=1)
    found = so.separability(so.LabelVector(data.legal), data.X, data.Y, max_iter=2)
    assert found.separable is None
    assert found.margin_at_least <= 1e-6 < found.margin_at_most


# ---------------------------------------------------------------------- bounds
def test_bounds_equal_values_worked_out_by_hand():
    # 36 * 2^2 * 1 * (1 + ln(e)) / 1 = 288 with d + m = e is impossible for integers; d + m = 3:
    # 144 (1 + ln 3) * log2(2 * ceil(8 + 2) * 10 + 1) = 144 * 2.0986123 * log2(201)
    value = bounds.covering_number(
        norm=2.0, largest=1.0, margin=1.0, n_weights=1, n_examples=2, n_points=10
    )
    assert value == pytest.approx(144 * (1 + math.log(3)) * math.log2(201))
    # 2/100 (18 + log2(2 / 0.5)) = 0.02 * 20 = 0.4
    assert bounds.lp_struct_error(100, log2_covering=18, confidence=0.5) == pytest.approx(0.4)
    # m = d = 32: sqrt(32 (32 log e + log 40) / 32) = sqrt(32 + log 40)
    by_hand = math.sqrt(32 + math.log(40))
    assert bounds.local_error(32, n_inputs=32, confidence=0.1) == pytest.approx(by_hand)
    assert bounds.local_error(32, n_inputs=32, best=0.25, confidence=0.1) == pytest.approx(
        0.25 + by_hand
    )
    # c = 2, d = 16, m = 32: sqrt(32 + 4 * 16 + log 40)
    assert bounds.global_error(32, n_inputs=16, n_components=2, confidence=0.1) == pytest.approx(
        math.sqrt(32 + 64 + math.log(40))
    )


def test_figure_5_global_learning_wins_in_the_end_where_local_learning_cannot_be_right():
    few, many = 10**5, 10**9
    for best in (0.1, 0.2):
        assert bounds.local_error(few, n_inputs=100, best=best) < bounds.global_error(
            few, n_inputs=100, n_components=5
        )
        assert bounds.local_error(many, n_inputs=100, best=best) > bounds.global_error(
            many, n_inputs=100, n_components=5
        )
    for m in (few, many):
        assert bounds.local_error(m, n_inputs=100) < bounds.global_error(
            m, n_inputs=100, n_components=5
        )


def test_bounds_refuse_what_they_do_not_cover():
    cases = [
        lambda: bounds.local_error(10, n_inputs=100),
        lambda: bounds.local_error(100, n_inputs=10, confidence=0.0),
        lambda: bounds.local_error(100, n_inputs=10, best=2.0),
        lambda: bounds.lp_struct_error(4, log2_covering=1.0, confidence=1.0),
        lambda: bounds.covering_number(
            norm=-1, largest=1, margin=1, n_weights=1, n_examples=1, n_points=1
        ),
    ]
    for case in cases:
        with pytest.raises(so.errors.InvalidInputError):
            case()


def test_a_scheme_does_what_every_model_does(tmp_path):
    data = so.datasets.make_constrained_labels(60, n_inputs=5, kappa=0.5, seed=0)
    structure = so.LabelVector(data.legal)
    scheme = so.ConstraintScheme("L+I", structure, max_iter=3).fit(data.X, data.Y)
    some = np.arange(60) < 20
    whole = scheme.score(data.X[:20], data.Y[:20])
    assert scheme.score(data.X, data.Y, sample_weight=some) == pytest.approx(whole)
    np.testing.assert_array_equal(scheme.coef_.weight, scheme.weights_)
    scheme.report(tmp_path / "run.html")
    with pytest.raises(so.errors.IncompatibleError, match="model_"):
        scheme.save(tmp_path / "model")
    local = LogisticRegression(fit_intercept=False)
    scheme = so.ConstraintScheme("LO", structure, learner=local).fit(data.X, data.Y)
    assert len(scheme.weights_) == scheme.structure_.n_features_
    with pytest.raises(so.errors.IncompatibleError, match="no run to report"):
        scheme.report(tmp_path / "none.html")


# ---------------------------------------------------------------------- Figure 1(a), as printed
def test_components_are_learned_one_after_the_other():
    """Of two equal components that are both wrong, only the first is updated."""
    X = np.array([[1.0, 2.0], [1.0, 2.0]])
    printed = ComponentPerceptron(max_iter=1).fit(X, [1, 1])
    assert printed.coef_.shape == (1, 2)  # one class: nothing is wrong
    three = ComponentPerceptron(max_iter=1).fit(np.array([[1.0, 2.0]] * 3), [0, 1, 1])
    np.testing.assert_array_equal(three.coef_, [[-1.0, -2.0], [1.0, 2.0]])  # updated once


def test_components_and_examples_learn_the_same_where_weights_are_apart():
    data = so.datasets.make_constrained_labels(300, n_inputs=6, kappa=0.0, seed=1)
    X, Y, structure = data.X[:200], data.Y[:200], so.LabelVector(data.legal)
    found = {}
    for learner in ("perceptron", "components"):
        for name in ("LO", "L+I"):
            scheme = so.ConstraintScheme(name, structure, learner=learner, max_iter=300).fit(X, Y)
            found[learner, name] = scheme.score(data.X[200:], data.Y[200:])
            assert scheme.score(X, Y) == 1.0  # locally separable: both end without a mistake
    assert found["components", "LO"] == pytest.approx(found["perceptron", "LO"], abs=0.06)
    with pytest.raises(IncompatibleError, match="IBT"):
        so.ConstraintScheme("IBT", structure, learner="components").fit(X, Y)


def test_components_share_weights_under_constraints():
    X = [np.eye(3)[[0, 1, 2]], np.eye(3)[[2, 0, 1]]]
    Y = ["abc", "cab"]
    structure = so.constrain(so.Chain(labels="abc"), so.constraints.at_most_one("a"))
    scheme = so.ConstraintScheme("L+I", structure, learner="components").fit(X, Y)
    assert scheme.predict(X) == [list(y) for y in Y]


# ---------------------------------------------------------------------- beam search, averaging
@pytest.mark.parametrize("seed", range(8))
def test_a_wide_beam_is_exact_and_a_narrow_one_legal(seed):
    rng = np.random.default_rng(seed)
    every = list(itertools.product(range(3), repeat=3))
    legal = [every[k] for k in rng.choice(len(every), 9, replace=False)]
    X, Y = rng.normal(size=(6, 3, 2)), [legal[k] for k in rng.integers(9, size=6)]
    exact = so.LabelVector(legal, labels=range(3)).fitted(X, Y)
    weights = rng.normal(size=exact.n_features_)

    def value(x, y, gold):
        return (exact.joint_features(x, y) @ weights).item() + exact.loss(gold, y)

    for width in (1, 2, 9):
        beam = so.BeamSearch(legal, labels=range(3), width=width).fitted(X, Y)
        for x, gold in zip(X, Y, strict=True):
            found = beam.argmax(x, weights, gold=gold)
            assert found in legal
            best = max(value(x, y, gold) for y in legal)
            assert value(x, found, gold) <= best + 1e-12
            if width == 9:  # every prefix of every legal vector is kept
                assert value(x, found, gold) == pytest.approx(best)
                assert beam.argmax(x, weights) == exact.argmax(x, weights)


def test_what_a_beam_learns_is_not_certified():
    data = so.datasets.make_constrained_labels(40, n_inputs=4, kappa=0.3, seed=0)
    beam = so.BeamSearch(data.legal, width=1)
    model = so.StructuredClassifier(beam, so.M3N(C=1.0)).fit(data.X, data.Y)
    assert not model.result_.certificate.certified
    scheme = so.ConstraintScheme("IBT", beam, max_iter=5).fit(data.X, data.Y)
    assert all(y in [tuple(v) for v in data.legal] for y in scheme.predict(data.X[:5]))


def test_the_averaged_perceptron_is_that_of_the_method():
    data = so.datasets.make_constrained_labels(60, n_inputs=5, kappa=0.5, seed=1)
    structure = so.LabelVector(data.legal)
    options = {"learner": "averaged perceptron", "max_iter": 4, "random_state": 3}
    scheme = so.ConstraintScheme("IBT", structure, **options).fit(data.X, data.Y)
    plain = so.ConstraintScheme("IBT", structure, **options | {"learner": "perceptron"})
    method = so.StructuredClassifier(
        structure, so.M3N(), method="perceptron", max_iter=4,
        method_options={"average": True, "evaluate": False, "random_state": 3},
    ).fit(data.X, data.Y)  # fmt: skip
    assert np.array_equal(scheme.weights_, method.result_.weights)
    assert not np.array_equal(scheme.weights_, plain.fit(data.X, data.Y).weights_)
