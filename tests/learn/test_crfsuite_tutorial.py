"""The way of sklearn-crfsuite's tutorial, with our class in place of theirs."""

import numpy as np
from sklearn.model_selection import RandomizedSearchCV

import structopt as so

TRAIN, TEST = so.datasets.make_sentences(60, seed=0), so.datasets.make_sentences(20, seed=1)


def word2features(sent, i):
    word, tag = sent[i][:2]
    features = {
        "bias": 1.0,
        "word.lower()": word.lower(),
        "word[-3:]": word[-3:],
        "word.isupper()": word.isupper(),
        "word.istitle()": word.istitle(),
        "word.isdigit()": word.isdigit(),
        "postag": tag,
        "postag[:2]": tag[:2],
    }
    if i > 0:
        features |= {"-1:word.lower()": sent[i - 1][0].lower(), "-1:postag": sent[i - 1][1]}
    else:
        features["BOS"] = True
    if i < len(sent) - 1:
        features |= {"+1:word.lower()": sent[i + 1][0].lower(), "+1:postag": sent[i + 1][1]}
    else:
        features["EOS"] = True
    return features


def sent2features(sent):
    return [word2features(sent, i) for i in range(len(sent))]


def test_the_tutorial_runs():
    X_train, X_test = ([sent2features(s.rows) for s in part] for part in (TRAIN, TEST))
    y_train, y_test = ([s.column(2) for s in part] for part in (TRAIN, TEST))
    crf = so.StructuredClassifier(
        so.Chain(boundaries=True), so.M3N(C=1.0), tol=0.05, features=so.DictFeatures()
    )
    crf.fit(X_train, y_train)
    labels = list(crf.classes_)
    labels.remove("O")
    y_pred = crf.predict(X_test)
    assert so.metrics.span_f1(y_test, y_pred) > 0.8
    report = str(so.metrics.span_report(y_test, y_pred))
    assert all(label.partition("-")[2] in report for label in labels)
    space = {"formulation__C": [0.1, 1.0]}
    search = RandomizedSearchCV(crf, space, n_iter=2, cv=2, scoring="span_f1", random_state=0)
    search.fit(X_train, y_train)
    assert search.best_score_ > 0.7
    # what the model has learned: transitions, and the state features of a label
    found = crf.coef_
    steps = {(f, k): w for f, k, w in found if f.startswith("after ")}
    assert steps["after B-NP", "I-NP"] > steps["after O", "I-NP"]
    assert any(f.startswith("postag:") for f, _ in crf.top_weights("B-VP", 20))
    marginals = crf.predict_marginals(X_test)
    np.testing.assert_allclose(marginals[0].sum(axis=1), 1.0)
