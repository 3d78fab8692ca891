"""scikit-learn's own checks of estimators, and its model selection over ours."""

import pickle

import joblib
import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone, is_classifier
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.model_selection import (
    GridSearchCV,
    HalvingGridSearchCV,
    KFold,
    LeaveOneOut,
    cross_val_predict,
    cross_val_score,
    cross_validate,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

import structopt as so

ESTIMATORS = [
    so.StructuredClassifier(so.Multiclass(), so.M3N(), tol=1e-2),
    so.KernelMachine(so.Multiclass(), so.M3N(), tol=1e-2),
    so.KernelMap(),
    so.DictFeatures(),
    so.ColumnFeatures(),
    so.WordFeatures(),
    so.PerToken(StandardScaler()),
    so.JoinedFeatures([so.WordFeatures()]),
]


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: type(e).__name__)
@pytest.mark.filterwarnings("ignore")  # of the data that scikit-learn tries
def test_scikit_learn_s_checks(estimator):
    results = check_estimator(estimator, on_skip=None)
    assert {r["status"] for r in results} <= {"passed", "skipped"}
    assert is_classifier(estimator) == hasattr(estimator, "structure")


SENTENCES = so.datasets.make_sentences(24, seed=0)
X = [[tuple(row[:2]) for row in s.rows] for s in SENTENCES]
Y = [s.column(2) for s in SENTENCES]
TAGS = sorted({tag for y in Y for tag in y})
WEIGHT = np.linspace(0.5, 2.0, len(X))


def words(**options):
    return so.ColumnFeatures(["0[0].lower", "1[-1..1]"], columns=("word", "pos"), **options)


def tagger(**options):
    chain = so.Chain(labels=TAGS, transitions="bio")
    return so.StructuredClassifier(
        chain, so.M3N(C=1.0), tol=0.1, **{"features": words(), **options}
    )


def test_searches_take_our_scores_by_name():
    values = {"formulation__C": [0.001, 1.0]}
    with joblib.parallel_backend("threading"):
        search = GridSearchCV(tagger(), values, scoring="span_f1", cv=2, n_jobs=2).fit(X, Y)
    assert search.best_params_ == {"formulation__C": 1.0}
    same = GridSearchCV(tagger(), values, scoring=so.metrics.scorer("span_f1"), cv=2).fit(X, Y)
    assert search.best_score_ == same.best_score_
    halving = HalvingGridSearchCV(tagger(), values, scoring="span_f1", cv=2, min_resources=8,
                                  random_state=0).fit(X, Y)  # fmt: skip
    assert halving.best_params_ == {"formulation__C": 1.0}
    both = cross_validate(tagger(), X, Y, cv=2, scoring=["token_accuracy", "span_f1"])
    assert both["test_span_f1"].mean() == pytest.approx(search.best_score_)


def test_predictions_of_folds_have_uneven_lengths():
    found = cross_val_predict(tagger(), X, Y, cv=3)
    assert found.shape == (len(X),)
    assert [len(y) for y in found] == [len(y) for y in Y]
    assert so.metrics.span_f1(Y, found) > 0.7
    alone = cross_val_predict(tagger(), X[:3], Y[:3], cv=LeaveOneOut())  # every fold one length
    assert [len(y) for y in alone] == [len(y) for y in Y[:3]]
    rows, labels = so.datasets.make_classes(30, seed=0)
    model = so.StructuredClassifier(so.Multiclass(), so.M3N(), tol=0.1)
    assert cross_val_predict(model, rows, labels, cv=3).shape == (30,)


def test_a_label_unseen_in_a_fold_is_an_error_counted():
    inputs, outputs = [np.eye(2)] * 3, [["a", "b"], ["a", "b"], ["a", "c"]]
    chain = so.StructuredClassifier(so.Chain(), so.M3N(), tol=0.1)
    scores = cross_val_score(chain, inputs, outputs, cv=KFold(3), error_score="raise")
    assert scores[-1] == 0.5


def test_sample_weights_are_routed():
    with sklearn.config_context(enable_metadata_routing=True):
        # by features outside, so that the weights pass through a pipeline
        model = tagger(features=None).set_fit_request(sample_weight=True)
        pipe = make_pipeline(words(), model.set_score_request(sample_weight=True))
        pipe.fit(X, Y, sample_weight=WEIGHT)
        plain = tagger().fit(X, Y, sample_weight=WEIGHT)
        np.testing.assert_array_equal(pipe[-1].weights_, plain.weights_)
        assert pipe.score(X, Y, sample_weight=WEIGHT) == plain.score(X, Y, WEIGHT)
        score = so.metrics.scorer("span_f1").set_score_request(sample_weight=True)
        asks = tagger().set_fit_request(sample_weight=True)
        given = {"sample_weight": WEIGHT}
        found = cross_validate(asks, X, Y, cv=2, scoring=score, params=given)["test_score"]
        first = next(iter(KFold(2).split(X)))
        fold = [[[Z[i] for i in part] for part in first] for Z in (X, Y, WEIGHT)]
        by_hand = tagger().fit(fold[0][0], fold[1][0], sample_weight=fold[2][0])
        expected = so.metrics.span_f1(
            fold[1][1], by_hand.predict(fold[0][1]), sample_weight=fold[2][1]
        )
        assert found[0] == pytest.approx(expected)


def test_online_methods_go_on():
    model = tagger(method="perceptron", features=words(hashing=2**10))
    assert not hasattr(tagger(), "partial_fit")
    model.set_params(structure__labels=None)
    for _ in range(4):
        for k in range(0, len(X), 8):
            model.partial_fit(X[k : k + 8], Y[k : k + 8], classes=TAGS)
    assert list(model.classes_) == TAGS
    assert model.score(X, Y) > 0.9
    assert model.passed_.visits == 4 * len(X)
    again = pickle.loads(pickle.dumps(model)).partial_fit(X, Y)
    model.partial_fit(X, Y)
    np.testing.assert_array_equal(again.weights_, model.weights_)
    # one call after another is one run: the same order of visits, the same average
    first = tagger(method="perceptron", max_iter=1).fit(X, Y)
    steps = tagger(method="perceptron").partial_fit(X, Y)
    np.testing.assert_array_equal(first.weights_, steps.weights_)
    twice = tagger(method="perceptron", max_iter=2, method_options={"evaluate": False}).fit(X, Y)
    np.testing.assert_allclose(twice.weights_, steps.partial_fit(X, Y).weights_)
    assert not hasattr(steps.fit(X, Y), "passed_")
    with pytest.raises(so.errors.InvalidInputError, match="'NEW'"):
        model.partial_fit(X[:1], [["NEW"] * len(X[0])])


def test_names_of_columns_are_checked():
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(30, 3)), columns=list("abc"))
    labels = ["u", "v", "w"] * 10
    for model in (
        so.StructuredClassifier(so.Multiclass(), so.M3N(), tol=0.1),
        so.KernelMachine(so.Multiclass(), so.M3N(), tol=0.1),
    ):
        model.fit(frame, labels)
        assert list(model.feature_names_in_) == ["a", "b", "c"]
        assert isinstance(model.predict(frame), np.ndarray)
        with pytest.raises(ValueError, match="feature names should match"):
            model.predict(frame[["b", "a", "c"]])
        with pytest.warns(UserWarning, match="does not have valid feature names"):
            model.predict(frame.to_numpy())
    sequences = [frame[:4], frame[4:9]]
    chain = so.StructuredClassifier(so.Chain(), so.M3N(), tol=0.1)
    chain.fit(sequences, ["abab", "ababa"])
    assert list(chain.feature_names_in_) == ["a", "b", "c"]
    with pytest.raises(ValueError, match="feature names should match"):
        chain.predict([frame[:4], frame[["c", "b", "a"]]])


def test_outputs_as_frames():
    dense = [np.eye(3), np.ones((2, 3))]
    scaled = so.PerToken(StandardScaler()).set_output(transform="pandas")
    joined = so.JoinedFeatures([so.PerToken(StandardScaler())]).set_output(transform="pandas")
    for one in (scaled, clone(scaled), joined, so.KernelMap().set_output(transform="pandas")):
        first, second = one.fit_transform(dense)
        assert isinstance(first, pd.DataFrame)
        assert list(second.columns) == list(one.get_feature_names_out())
    model = so.StructuredClassifier(so.Chain(), so.M3N(), tol=0.1)
    pipe = make_pipeline(scaled, model).set_output(transform="pandas").fit(dense, ["aba", "ab"])
    assert list(pipe[-1].feature_names_in_) == ["x0", "x1", "x2"]
    with pytest.raises(so.errors.IncompatibleError, match="sparse"):
        words().set_output(transform="pandas").fit_transform(X)
    with pytest.raises(so.errors.InvalidInputError, match="choose one of"):
        words().set_output(transform="excel")
