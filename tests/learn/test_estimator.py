"""The scikit-learn face."""

import numpy as np
import pytest
import scipy.sparse as sp
from enumeration import ElasticNetM3N
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline

import structopt as so
from structopt.errors import IncompatibleError, InvalidInputError


@pytest.fixture(scope="module")
def words():
    return so.datasets.make_chain_crf(n_examples=40, n_features=12, n_relevant=6, seed=3)


def model_of(**kwargs):
    return so.StructuredClassifier(so.Chain(), so.M3N(C=0.1), **kwargs)


def test_fit_predict_score(words):
    X, Y = words
    model = model_of().fit(X[:30], Y[:30])
    predicted = model.predict(X[30:])
    right = sum(
        int(a == b)
        for y, p in zip(Y[30:], predicted, strict=True)
        for a, b in zip(y, p, strict=True)
    )
    assert model.score(X[30:], Y[30:]) == pytest.approx(right / sum(map(len, Y[30:])))
    assert model.result_.certificate.certified
    weight = np.zeros(10)
    weight[0] = 1.0
    alone = model.score(X[30:31], Y[30:31])
    assert model.score(X[30:], Y[30:], sample_weight=weight) == pytest.approx(alone)


def test_clone_grid_search_and_cross_validation(words):
    X, Y = words
    model = model_of()
    copy = clone(model)
    assert repr(copy) == repr(model)
    assert copy.formulation is not model.formulation
    search = GridSearchCV(
        model, {"formulation__C": [1e-4, 0.1], "structure__boundaries": [True]}, cv=2
    )
    search.fit(X, Y)
    assert search.best_score_ == search.cv_results_["mean_test_score"].max() > 0.6
    assert search.best_estimator_.structure_.boundaries is True
    assert len(cross_val_score(model, X, Y, cv=2)) == 2
    assert clone(so.StructuredClassifier(so.Chain(), ElasticNetM3N(tau=0.3))).formulation.tau == 0.3
    with pytest.raises(InvalidInputError, match="has no parameter 'D'"):
        model.set_params(formulation__D=1)


class AddOne(TransformerMixin, BaseEstimator):
    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return [np.hstack([x, np.ones((len(x), 1))]) for x in X]


def test_pipeline(words):
    X, Y = words
    pipeline = Pipeline([("one", AddOne()), ("model", model_of())]).fit(X, Y)
    assert pipeline.named_steps["model"].structure_.n_inputs_ == X[0].shape[1] + 1
    assert 0.5 < pipeline.score(X, Y) <= 1.0


def test_coef_is_a_named_table(words):
    X, Y = words
    model = model_of().fit(X, Y)
    table = model.coef_
    assert table.dtype.names == ("feature", "label", "weight")
    np.testing.assert_array_equal(table["weight"], model.result_.weights)
    assert tuple(table[0])[:2] == ("x0", "0")
    assert tuple(table[-1])[:2] == ("after 1", "1")


def test_random_state_repeats_a_run(words):
    X, Y = words
    first, second = (model_of(random_state=7, backend="ascent").fit(X, Y) for _ in range(2))
    np.testing.assert_array_equal(first.result_.weights, second.result_.weights)


def test_unfitted_and_unconverged_models_say_so(words):
    X, Y = words
    with pytest.raises(NotFittedError):
        model_of().predict(X)
    with pytest.warns(so.ConvergenceWarning, match="max_iter"):
        model = model_of(max_iter=2, tol=1e-9).fit(X, Y)
    assert not model.result_.certificate.certified
    with pytest.raises(InvalidInputError, match="Unknown method"):
        model_of(method="magic").fit(X, Y)
    with pytest.raises(IncompatibleError, match="'tol' is set on the model"):
        model_of(method_options={"tol": 0.1}).fit(X, Y)


def test_progress_is_shown_when_asked(words, capsys):
    X, Y = words
    model_of(verbose=True).fit(X, Y)
    quiet = capsys.readouterr()
    model_of().fit(X, Y)
    assert capsys.readouterr().out == ""
    assert quiet.err == ""


def test_sparse_inputs_and_declared_labels(words):
    X, Y = words
    dense = so.StructuredClassifier(so.Chain(labels=[0, 1, "never"]), so.M3N(C=0.1), tol=1e-6).fit(
        X, Y
    )
    sparse = so.StructuredClassifier(so.Chain(labels=[0, 1, "never"]), so.M3N(C=0.1), tol=1e-6)
    sparse.fit([sp.csr_array(x) for x in X], Y)
    assert sparse.result_.certificate.primal == pytest.approx(
        dense.result_.certificate.primal, rel=1e-6
    )
    assert dense.structure_.n_features_ == 3 * (12 + 3)


BAD = {
    "nan": (lambda X, Y: ([*X[:2], X[2] * np.nan], Y[:3]), 2),
    "inf": (lambda X, Y: ([X[0] + np.inf, *X[1:3]], Y[:3]), 0),
    "empty": (lambda X, Y: ([], []), None),
    "fewer outputs": (lambda X, Y: (X[:3], Y[:2]), None),
    "short output": (lambda X, Y: (X[:3], [Y[0], Y[1][:-1], Y[2]]), 1),
    "columns": (lambda X, Y: ([X[0], X[1][:, :5], X[2]], Y[:3]), 1),
    "empty sequence": (lambda X, Y: ([X[0], X[1][:0]], [Y[0], Y[1][:0]]), 1),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_input_names_the_example(words, case):
    make, example = BAD[case]
    with pytest.raises(InvalidInputError) as caught:
        model_of().fit(*make(*words))
    assert caught.value.example == example
    if example is not None:
        assert str(example) in str(caught.value)


def test_bad_input_at_prediction(words):
    X, Y = words
    model = model_of().fit(X, Y)
    with pytest.raises(InvalidInputError, match="xample 1"):
        model.predict([X[0], X[1] * np.nan])
    with pytest.raises(InvalidInputError):
        model.predict([X[0][:, :3]])
    # a label that training never saw is an error that counts
    assert model.score(X[:1], [["z"] * len(X[0])]) == 0.0
    with pytest.raises(InvalidInputError, match="sample_weight"):
        model.fit(X, Y, sample_weight=[1.0])
    with pytest.raises(InvalidInputError, match="sample_weight"):
        model.fit(X, Y, sample_weight=np.zeros(len(X)))
