"""From raw inputs to a named, explained, saved model."""

import pickle
from html import escape
from itertools import pairwise, product

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score
from sklearn.pipeline import make_pipeline

import structopt as so
from structopt.errors import FileFormatError, IncompatibleError, InvalidInputError

SENTENCES = [
    [("The", "DT"), ("cat", "NN"), ("sat", "VB")], [("A", "DT"), ("dog", "NN")],
    [("Dogs", "NN"), ("sat", "VB")], [("The", "DT"), ("dog", "NN"), ("ran", "VB")],
]  # fmt: skip
TAGS = [["B-NP", "I-NP", "O"], ["B-NP", "I-NP"], ["B-NP", "O"], ["B-NP", "I-NP", "O"]]
WORDS = [[word for word, _ in sentence] for sentence in SENTENCES]
TEMPLATES = ["word[-1..1].lower", "pos[-1]|pos[0]"]


def features(**options):
    return so.ColumnFeatures(TEMPLATES, columns=("word", "pos"), **options)


def model(**options):
    chain = so.Chain(transitions="bio", boundaries=True)
    return so.StructuredClassifier(chain, so.M3N(C=1.0), features=features(), **options)


@pytest.fixture(scope="module")
def fitted():
    return model().fit(SENTENCES, TAGS)


# ---------------------------------------------------------------- raw inputs
def test_features_belong_to_the_model(fitted):
    assert fitted.predict(SENTENCES) == TAGS
    assert fitted.score(SENTENCES, TAGS) == 1.0
    assert not hasattr(fitted.features, "n_features_out_")  # what was given is not changed
    again = pickle.loads(pickle.dumps(fitted))
    assert again.predict(SENTENCES) == TAGS
    assert clone(fitted).fit(SENTENCES, TAGS).predict(SENTENCES) == TAGS
    assert [p.shape for p in fitted.predict_marginals(SENTENCES[:1])] == [(3, 3)]


def test_a_pipeline_learns_and_names_alike(fitted):
    plain = so.StructuredClassifier(so.Chain(transitions="bio", boundaries=True), so.M3N(C=1.0))
    pipeline = make_pipeline(features(), plain).fit(SENTENCES, TAGS)
    assert pipeline.predict(SENTENCES) == TAGS
    assert np.allclose(pipeline[-1].result_.weights, fitted.result_.weights)
    assert pipeline[-1].weight_names() == fitted.weight_names()


def test_searches_reach_the_features():
    search = GridSearchCV(
        model(tol=1e-2), {"features__min_count": [1, 2], "formulation__C": [0.1]}, cv=2,
        scoring=so.metrics.scorer("span_f1"),
    )  # fmt: skip
    assert search.fit(SENTENCES, TAGS).best_params_["features__min_count"] in (1, 2)
    for found in so.fit_path(model(tol=1e-2), SENTENCES, TAGS, [0.1, 1.0]).models:
        assert found.predict(SENTENCES[:1])[0][0] == "B-NP"


# ---------------------------------------------------------------- names
def test_names_reach_weights_and_reports(fitted, tmp_path):
    table = fitted.coef_
    assert {"word[0].lower=the", "pos[-1]|pos[0]=DT|NN", "after B-NP", "start"} <= {*table.feature}
    top = fitted.top_weights("I-NP", n=3)
    assert len(top) == 3
    sizes = [abs(weight) for _, weight in top]
    assert sizes == sorted(sizes, reverse=True)
    mine = table[(table.label == "I-NP") & (table.feature == top[0][0])]
    assert mine.weight.tolist() == [top[0][1]]
    assert " -> " in fitted.top_weights(n=1)[0][0]
    fitted.report(tmp_path / "r.html", SENTENCES, TAGS)
    name = fitted.top_weights(n=1)[0][0].split(" -> ")[0]
    assert escape(name) in (tmp_path / "r.html").read_text(encoding="utf-8")
    with pytest.raises(InvalidInputError, match="No weight belongs to the label 'XX'"):
        fitted.top_weights("XX")


def test_columns_of_a_frame_and_dicts_name_the_weights():
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    frame = pandas.DataFrame({"size": [1.0, 2.0, 3.0], "age": [0.0, 1.0, 5.0]})
    found = so.StructuredClassifier(so.Multiclass(), so.M3N(1.0)).fit(frame, ["a", "b", "b"])
    assert {*found.coef_.feature} == {"size", "age"}
    pipeline = make_pipeline(so.DictFeatures(), clone(found))
    pipeline.fit([{"w": "x"}, {"w": "y"}], ["a", "b"])
    assert {*pipeline[-1].coef_.feature} == {"w:x", "w:y"}


# ---------------------------------------------------------------- explanations
def test_reasons_sum_to_the_score(fitted):
    found = fitted.explain(SENTENCES[0])
    assert found.output == TAGS[0]
    x, weights = fitted.features_.transform(SENTENCES[:1])[0], fitted.result_.weights
    score = (fitted.structure_.joint_features(x, TAGS[0]) @ weights)[0]
    assert found.score == pytest.approx(score)
    for part in found.parts:
        assert part.score == pytest.approx(sum(value for _, value in part.reasons))
    assert "start" in dict(found.parts[0].reasons)
    assert "after B-NP" in dict(found.parts[1].reasons)
    assert "end" in dict(found.parts[2].reasons)
    lines = found.text(2, [word for word, _ in SENTENCES[0]]).split("\n")
    assert lines[0].startswith("The\tB-NP (then ")
    assert str(found).startswith("0\tB-NP")


@pytest.mark.parametrize("transitions", [None, {"a": ["b", "c", None]}])
def test_margins_are_those_of_all_outputs(transitions):
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(4, 3)) for _ in range(6)]
    Y = [["a", "b", "c", "b"] for _ in X]
    chain = so.Chain(labels=["a", "b", "c"], transitions=transitions)
    learned = so.StructuredClassifier(chain, so.M3N(C=0.01)).fit(X, Y)
    x, structure = X[0], learned.structure_
    found = learned.explain(x)
    scores = {
        y: (structure.joint_features(x, y) @ learned.result_.weights)[0]
        for y in product("abc", repeat=4)
        if transitions is None or ("a", "a") not in pairwise(y)
    }
    assert found.score == pytest.approx(max(scores.values()))
    for t, part in enumerate(found.parts):
        others = {y: s for y, s in scores.items() if y[t] != part.label}
        best = max(others, key=others.get)
        assert part.margin == pytest.approx(found.score - others[best])
        assert part.instead == best[t]


def test_other_structures_are_explained_as_a_whole():
    X, y = so.datasets.make_classes(30, seed=0)
    found = so.StructuredClassifier(so.Multiclass(), so.M3N(1.0)).fit(X, y)
    told = found.explain(X[0])
    assert [told.output] == found.predict(X[:1])
    scores = X[0] @ found.result_.weights.reshape(len(found.structure_.labels_), -1).T
    assert told.score == pytest.approx(scores.max())
    assert told.parts[0].margin == pytest.approx(np.diff(np.sort(scores))[-1])
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(6, 3, 2)), [["a", "b", "a"], ["b", "a", "a"]] * 3
    vector = so.StructuredClassifier(so.LabelVector(), so.M3N(1.0)).fit(X, Y)
    told = vector.explain(X[0])
    assert told.output == vector.predict(X[:1])[0]
    assert " -> " in told.parts[0].reasons[0][0]


# ---------------------------------------------------------------- probabilities
def test_the_temperature_makes_held_out_outputs_most_likely(fitted):
    X, Y = so.datasets.make_chain_crf(n_examples=60, seed=0)
    learned = so.StructuredClassifier(so.Chain(), so.M3N(C=1.0), tol=1e-2).fit(X[:30], Y[:30])
    best = learned.fit_temperature(X[30:], Y[30:])

    def cost(temperature):  # over all label sequences of each example
        total = 0.0
        for x, y in zip(X[30:], Y[30:], strict=True):
            every = list(product(learned.classes_, repeat=len(y)))
            phi = [learned.structure_.joint_features(x, z) @ learned.weights_ for z in every]
            scores = np.ravel(phi) / temperature
            gold = every.index(tuple(int(label) for label in y))
            total += np.log(np.exp(scores - scores.max()).sum()) + scores.max() - scores[gold]
        return total

    assert cost(best) <= min(cost(best * 1.05), cost(best / 1.05))
    assert fitted.fit_temperature(SENTENCES, TAGS) < 0.1  # no error at all: the surer the better
    cut = so.StructuredClassifier(so.LabelVector(), so.M3N(1.0))
    cut.fit(np.eye(4).reshape(2, 2, 4), [["a", "b"], ["b", "a"]])
    with pytest.raises(IncompatibleError, match="no marginals"):
        cut.fit_temperature(np.eye(4).reshape(2, 2, 4), [["a", "b"], ["b", "a"]])


# ---------------------------------------------------------------- labels that training never saw
def test_an_unseen_label_is_an_error_that_counts(fitted, tmp_path):
    odd = [["B-PP", "I-NP", "O"], *TAGS[1:]]
    assert fitted.score(SENTENCES, odd) == pytest.approx(9 / 10)
    fitted.report(tmp_path / "r.html", SENTENCES, odd)
    assert so.metrics.span_f1(odd, fitted.predict(SENTENCES)) < 1
    X, Y = so.datasets.make_classes(30, seed=0)
    labels = ["rare", *map(str, Y[1:])]  # in one fold only
    scores = cross_val_score(
        so.StructuredClassifier(so.Multiclass(), so.M3N(1.0)), X, labels, cv=KFold(3)
    )
    assert np.all(np.isfinite(scores))


# ---------------------------------------------------------------- files
@pytest.mark.parametrize(
    ("made", "X"),
    [
        (features(), SENTENCES),
        (features(hashing=64, bias=True), SENTENCES),
        (so.ColumnFeatures(["U0:%x[-1,0]", "U1", "0[0]|1[1]"]), SENTENCES),
        (so.WordFeatures(("word", "suffix2"), window=(-1, 0)), WORDS),
        (so.DictFeatures(), [[{"w": w, "n": len(w)} for w, _ in s] for s in SENTENCES]),
        (so.JoinedFeatures([features(), so.ColumnFeatures(["0[0]"])]), SENTENCES),
    ],
)  # fmt: skip
def test_files_keep_the_features(made, X, tmp_path):
    plain = so.StructuredClassifier(so.Chain(), so.M3N(C=1.0), tol=1e-2)
    whole = clone(plain).set_params(features=made).fit(X, TAGS)
    whole.save(tmp_path / "whole")
    pipeline = make_pipeline(clone(made), plain).fit(X, TAGS)
    so.save_model(pipeline, tmp_path / "pipeline")
    for path in ("whole", "pipeline"):
        loaded = so.load_model(tmp_path / path)
        assert loaded.predict(X) == whole.predict(X)
        assert loaded.weight_names() == whole.weight_names()
        assert np.array_equal(loaded.result_.weights, whole.result_.weights)
        assert loaded.fit(X, TAGS).predict(X) == whole.predict(X)


def test_files_of_sparse_weights_are_small(tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 3000)), ["a", "b"] * 10
    l1 = so.StructuredClassifier(so.Multiclass(), so.L1M3N(C=0.01), tol=1e-2).fit(X, y)
    l1.save(tmp_path / "m")
    assert np.count_nonzero(l1.result_.weights) < 100
    assert (tmp_path / "m").stat().st_size < 8 * 6000
    assert np.array_equal(so.load_model(tmp_path / "m").result_.weights, l1.result_.weights)


def test_what_no_file_keeps_is_said(tmp_path):
    plain = so.StructuredClassifier(so.Chain(), so.M3N(C=1.0), tol=1e-2)
    letters = so.PerToken(TfidfVectorizer(analyzer="char"))
    for given, message in (
        (letters, "PerToken was given what a file does not keep"),
        (so.WordFeatures([str.upper]), "WordFeatures was given what a file does not keep"),
        (so.JoinedFeatures([so.WordFeatures(), letters]), "PerToken|TfidfVectorizer"),
    ):
        with pytest.raises(IncompatibleError, match=message):
            clone(plain).set_params(features=given).fit(WORDS, TAGS).save(tmp_path / "m")
    steps = make_pipeline(so.WordFeatures(), "passthrough", plain).fit(WORDS, TAGS)
    with pytest.raises(IncompatibleError, match="one transformer of features"):
        so.save_model(steps, tmp_path / "m")


def test_damaged_features_are_a_typed_error(fitted, tmp_path):
    from structopt.files import read_arrays, write_arrays

    fitted.save(tmp_path / "m")
    header, arrays = read_arrays(tmp_path / "m", "structopt model 2")
    key = next(name for name in arrays if name.startswith("features"))
    without = {name: value for name, value in arrays.items() if name != key}
    cut = {**arrays, key: arrays[key][:3]}
    other = {**header, "features": {**header["features"], "class": "KernelMap"}}
    for h, a in ((header, without), (header, cut), (other, arrays)):
        write_arrays(tmp_path / "bad", h, a)
        with pytest.raises(FileFormatError, match="damaged"):
            so.load_model(tmp_path / "bad")


def test_what_needs_features_is_told_so():
    plain = so.StructuredClassifier(so.Chain(), so.M3N(C=1.0))
    for X in ([[{"w": "a"}]], [["a"]], [[("a", "b")]]):
        with pytest.raises(InvalidInputError, match=r"example 0 .* by features= of the model"):
            plain.fit(X, [["A"]])
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    frame = pandas.DataFrame({"sentence": [1, 1], "word": ["a", "b"]})
    with pytest.raises(InvalidInputError, match=r"group_frame\(frame, by="):
        plain.fit(frame, ["A", "B"])
    with pytest.raises(InvalidInputError, match="by features= of the model"):
        so.StructuredClassifier(so.Multiclass(), so.M3N(1.0)).fit([{"w": 1}, {"w": 2}], ["a", "b"])


def test_the_tutorial_of_sklearn_crfsuite():
    """Dicts in, labels out: its class has become ours, and the rest stands as it does there."""

    def word2features(sent, i):
        word = sent[i][0]
        found = {"bias": 1.0, "word.lower()": word.lower(), "word[-3:]": word[-3:],
                 "word.isupper()": word.isupper(), "word.isdigit()": word.isdigit()}  # fmt: skip
        if i > 0:
            found.update({"-1:word.lower()": sent[i - 1][0].lower(), "-1:postag": sent[i - 1][1]})
        else:
            found["BOS"] = True
        return found

    sentences = so.datasets.make_sentences(60, seed=0)
    rows = [s.rows for s in sentences]
    X = [[word2features(s, i) for i in range(len(s))] for s in rows]
    y = [[label for _, _, label in s] for s in rows]
    crf = so.StructuredClassifier(so.Chain(), so.M3N(C=1.0), features=so.DictFeatures(), tol=0.05)
    crf.fit(X[:40], y[:40])
    labels = list(crf.classes_)
    labels.remove("O")
    y_pred = crf.predict(X[40:])
    assert so.metrics.token_accuracy(y[40:], y_pred) > 0.8
    assert crf.score(X[40:], y[40:]) == pytest.approx(so.metrics.token_accuracy(y[40:], y_pred))
    assert [len(crf.top_weights(label, 5)) for label in labels] == [5] * len(labels)
    search = GridSearchCV(crf, {"formulation__C": [0.1, 1.0]}, cv=2,
                          scoring=so.metrics.scorer("span_f1"))  # fmt: skip
    assert search.fit(X[:20], y[:20]).best_estimator_.predict(X[:1])
