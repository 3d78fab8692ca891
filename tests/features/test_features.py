"""Feature transformers: what they say is what they give, and they survive pickling and cloning."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.feature_extraction.text import HashingVectorizer, TfidfVectorizer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import structopt as so
from structopt.errors import FileFormatError, InvalidInputError
from structopt.features.attributes import SPELLING, attribute
from structopt.features.templates import EDGE, parse_templates
from structopt.features.vocabulary import Vocabulary

ROWS = [[("The", "DT"), ("cat", "NN"), ("sat", "VB")], [("Cats", "NN"), ("sat", "VB")]]
DICTS = [[{"word": w, "pos": p, "n": len(w)} for w, p in s] for s in ROWS]
WORDS = [[w for w, _ in s] for s in ROWS]


def last_two(word):
    return word[-2:]


TRANSFORMERS = {
    "words": (so.WordFeatures(SPELLING, window=(-1, 0, 1), bias=True), WORDS),
    "own attribute": (so.WordFeatures([last_two]), WORDS),
    "hashed words": (so.WordFeatures(("word", "shape"), hashing=64), WORDS),
    "columns": (
        so.ColumnFeatures(["word[-1..1].lower", "pos[-1]|pos[0]"], columns=("word", "pos")),
        ROWS,
    ),
    "numbers": (so.ColumnFeatures(["word[0]", "n[-1..0]"], bias=True), DICTS),
    "crf++": (so.ColumnFeatures(["U0:%x[-2,0]", "U1:%x[0,0]/%x[0,1]", "U2"]), ROWS),
    "dicts": (so.DictFeatures(), DICTS),
    "hashed dicts": (so.DictFeatures(hashing=32), DICTS),
    "vectoriser": (so.PerToken(TfidfVectorizer(analyzer="char_wb", ngram_range=(1, 3))), WORDS),
    "joined": (
        so.JoinedFeatures([so.WordFeatures(), so.PerToken(TfidfVectorizer(analyzer="char"))]),
        WORDS,
    ),
}


@pytest.fixture(params=TRANSFORMERS, ids=str)
def case(request):
    features, X = TRANSFORMERS[request.param]
    return clone(features), X


def same(A, B):
    return len(A) == len(B) and all(
        a.shape == b.shape and abs(sp.csr_array(a) - sp.csr_array(b)).max() < 1e-15
        for a, b in zip(A, B, strict=True)
    )


def test_the_contract_of_a_transformer(case):
    features, X = case
    with pytest.raises(ValueError, match="not fitted"):
        features.transform(X)
    together = clone(features).fit_transform(X)
    found = features.fit(X).transform(X)
    assert features.fit(X) is features
    assert same(found, together)
    assert [x.shape[0] for x in found] == [3, 2]
    names = features.get_feature_names_out()
    assert names.shape == (features.n_features_out_,) == (found[0].shape[1],)
    assert len(set(names)) == len(names) or "joined" in str(type(features)).lower()
    assert all(np.all(np.diff(x[[t]].indices) > 0) for x in found for t in range(x.shape[0]))
    assert same(features.transform(X[1:]), found[1:])  # a sentence's features are its own
    again = pickle.loads(pickle.dumps(features))
    assert same(again.transform(X), found)
    assert again.get_feature_names_out().tolist() == names.tolist()
    assert found.features is features


def test_a_fitted_transformer_learns_in_a_pipeline(case):
    features, X = case
    Y = [["D", "N", "V"], ["N", "V"]]
    model = make_pipeline(features, so.StructuredClassifier(so.Chain(), so.M3N(C=1.0))).fit(X, Y)
    assert model.predict(X) == Y
    assert pickle.loads(pickle.dumps(model)).predict(X) == Y


def test_pickles_are_read_by_a_process_that_hashes_strings_differently(tmp_path):
    features = so.WordFeatures(SPELLING).fit(WORDS)
    expected = features.transform(WORDS)[0].toarray()
    (tmp_path / "f.pickle").write_bytes(pickle.dumps((features, WORDS, expected)))
    code = (
        "import pickle, sys; f, X, e = pickle.load(open(sys.argv[1], 'rb'));"
        "sys.exit(int((f.transform(X)[0].toarray() != e).any()))"
    )
    for seed in ("1", "2"):
        done = subprocess.run(
            [sys.executable, "-c", code, str(tmp_path / "f.pickle")],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            check=False,
        )
        assert done.returncode == 0


# ---------------------------------------------------------------- templates by their definition
TOKENS = st.lists(
    st.lists(st.tuples(st.sampled_from(["a", "b", "Cc"]), st.sampled_from("xy")), min_size=1),
    min_size=1,
)


@given(TOKENS, TOKENS, st.integers(1, 3))
@settings(max_examples=60, deadline=None)
def test_conjunctions_are_those_of_the_definition(train, test, min_count):
    texts = ["w[0]", "w[-1].lower|p[0]", "p[-2]|p[0]|w[1]", "1[0]"]
    features = so.ColumnFeatures(texts, columns=("w", "p"), min_count=min_count).fit(train)
    names = features.get_feature_names_out().tolist()
    place = {"w": 0, "p": 1, 1: 1}

    def active(rows, t):
        for template in parse_templates(texts):
            values = []
            for part in template.parts:
                inside = 0 <= t + part.distance < len(rows)
                value = rows[t + part.distance][place[part.column]] if inside else EDGE
                values.append(attribute(part.attribute)(value))
            yield template.name(values)

    counts = {}
    for rows in train:
        for t in range(len(rows)):
            for name in active(rows, t):
                counts[name] = counts.get(name, 0) + 1
    assert sorted(names) == sorted(n for n, c in counts.items() if c >= min_count)
    for rows, X in zip(test, features.transform(test), strict=True):
        for t in range(len(rows)):
            expected = {n for n in active(rows, t) if counts.get(n, 0) >= min_count}
            assert {names[j] for j in X[[t]].indices} == expected


def test_crfpp_templates_and_their_edges(tmp_path):
    path = tmp_path / "template"
    path.write_text("# unigrams\nU00:%x[-2,0]\nU01:%x[1,0]/%x[0,1]\n\nU02\nB\n")
    features = so.ColumnFeatures(so.read_templates(path))
    X = features.fit_transform([[("the", "DT"), ("cat", "NN"), ("sat", "VB")]])[0]
    names = features.get_feature_names_out()
    assert [sorted(names[X[[t]].indices]) for t in range(3)] == [
        ["U00:_B-2", "U01:cat/DT", "U02"],
        ["U00:_B-1", "U01:sat/NN", "U02"],
        ["U00:the", "U01:_B+1/VB", "U02"],
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("U0:%x[0,0]\nX1\n", "line 2: 'X1' begins with neither"),
        ("B1:%x[0,0]\n", "line 1: .*pairs of labels"),
        ("U0:%t[0,0]\n", "line 1: .*macro"),
        ("# nothing\n", "holds no template"),
    ],
)
def test_bad_template_files_name_the_line(tmp_path, text, message):
    path = tmp_path / "template"
    path.write_text(text)
    with pytest.raises(FileFormatError, match=message):
        so.read_templates(path)


def test_every_form_of_a_sentence_gives_the_same():
    texts, names = ["word[0]", "pos[-1]"], ("word", "pos")
    expected = so.ColumnFeatures(texts, columns=names).fit_transform(ROWS)
    frames = [{"word": [w for w, _ in s], "pos": [p for _, p in s]} for s in ROWS]
    columns = [so.datasets.columns.ColumnSentence([list(row) for row in s]) for s in ROWS]
    for X in (DICTS, frames):
        assert same(so.ColumnFeatures(texts).fit_transform(X), expected)
    assert same(so.ColumnFeatures(texts, columns=names).fit_transform(columns), expected)
    by_number = so.ColumnFeatures(["0[0]", "1[-1]"]).fit_transform(columns)
    assert same(by_number, expected)


def test_numbers_keep_their_value():
    X = [[{"n": 2.5, "up": True}, {"n": 0.0, "up": False}, {"n": -1, "up": True}]]
    features = so.ColumnFeatures(["n[0]", "n[-1]", "up[0]"])
    found = features.fit_transform(X)[0].toarray()
    assert features.get_feature_names_out().tolist() == ["n[0]", "n[-1]", "up[0]"]
    assert found.tolist() == [[2.5, 0, 1], [0, 2.5, 0], [-1, 0, 1]]
    with pytest.raises(InvalidInputError, match="'n' holds strings but held numbers"):
        features.transform([[{"n": "2", "up": True}]])


def test_hashing_is_the_same_in_every_batch_and_tells_templates_apart():
    features = so.WordFeatures(("word", "lower"), window=(-1, 0), hashing=2**20).fit(WORDS)
    both = features.transform(WORDS)
    assert same(both[1:], features.transform(WORDS[1:]))
    assert both[0][[1]].nnz == 4
    joined = so.ColumnFeatures(["0[0]|1[0]"], hashing=2**20)
    ab, ba = joined.fit_transform([[("a", "b")], [("b", "a")]])
    assert ab.indices != ba.indices


# ---------------------------------------------------------------- dicts, as CRFsuite reads them
def test_dicts_have_the_attributes_that_crfsuite_sees():
    crfsuite = pytest.importorskip("pycrfsuite", reason="python-crfsuite is not installed")
    X = [[
        {"word": "the", "up": True, "down": False, "n": 3, "x": 0.5},
        {"near": ["the", "sat"], "in": {"left": "a", "n": 2.0}, "set": {"z"}},
        {"deep": {"er": {"still": "yes", "on": True}}},
        ["bias", "word=cat"],
    ]]  # fmt: skip
    features = so.DictFeatures()
    found = features.fit_transform(X)[0]
    names = features.get_feature_names_out()
    for t, seen in enumerate(crfsuite.ItemSequence(X[0]).items()):
        row = found[[t]]
        mine = dict(zip(names[row.indices].tolist(), row.data.tolist(), strict=True))
        assert mine == {k: v for k, v in seen.items() if v != 0}


def test_lists_of_dicts_are_one_matrix_and_rare_attributes_go():
    X = [{"w": "a"}, {"w": "a", "n": 2.0}, {"w": "b"}, {}]
    features = so.DictFeatures(min_count=2)
    assert features.fit_transform(X).toarray().tolist() == [[1], [1], [0], [0]]
    assert features.transform([{"w": "new"}]).toarray().tolist() == [[0]]
    model = make_pipeline(so.DictFeatures(), so.StructuredClassifier(so.Multiclass(), so.M3N(1.0)))
    assert model.fit(X[:3], ["x", "x", "y"]).predict(X[:3]).tolist() == ["x", "x", "y"]


def test_repeated_attributes_add_up():
    assert so.DictFeatures().fit_transform([[["a", "a", "b"]]])[0].toarray().tolist() == [[2, 1]]


# ---------------------------------------------------------------- arrays and frames
def test_any_transformer_works_by_token():
    rng = np.random.default_rng(0)
    X = [rng.normal(3, 2, (n, 2)) for n in (3, 5)]
    scaled = so.PerToken(StandardScaler()).fit_transform(X)
    assert np.concatenate(scaled).mean(axis=0) == pytest.approx([0, 0], abs=1e-12)
    codes = so.PerToken(OneHotEncoder()).fit_transform(ROWS)
    assert [x.shape for x in codes] == [(3, 7), (2, 7)]
    assert so.PerToken(HashingVectorizer(n_features=8)).fit_transform(WORDS)[1].shape == (2, 8)
    sparse = so.PerToken(StandardScaler(with_mean=False)).fit_transform(
        [sp.csr_array(x) for x in X]
    )
    assert sp.issparse(sparse[0])
    joined = so.JoinedFeatures([so.PerToken(StandardScaler())] * 2).fit_transform(X)
    assert joined[0].shape == (3, 4)


def test_frames_are_cut_into_sentences():
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    frame = pandas.DataFrame(
        {"s": [7, 7, 3, 7], "word": ["a", "b", "c", "d"], "n": [1.0, 2, 3, 4], "tag": list("XYXY")}
    )
    X, Y = so.group_frame(frame, by="s", target="tag")
    assert X == [{"word": ["a", "b", "d"], "n": [1.0, 2.0, 4.0]}, {"word": ["c"], "n": [3.0]}]
    assert Y == [["X", "Y", "Y"], ["X"]]
    assert so.group_frame(frame, by=["s", "tag"], columns=["word"])[0] == {"word": ["a"]}
    features = so.ColumnFeatures(["word[0]", "n[0]"])
    by_frame = features.fit_transform([group for _, group in frame.groupby("s", sort=False)])
    assert same(by_frame, features.fit_transform(X))
    with pytest.raises(InvalidInputError, match=r"group_frame\(frame, by="):
        features.fit(frame)
    with pytest.raises(InvalidInputError, match="no column 'tags'; it has"):
        so.group_frame(frame, by="s", target="tags")
    with pytest.raises(InvalidInputError, match="no rows"):
        so.group_frame(frame[:0], by="s")


def test_a_vocabulary_holds_any_strings():
    words = ["", "a", "é", "日本", "\ud800", "a\nb"]
    found = Vocabulary.of(words)
    assert sorted(words) == list(found) == [found[k] for k in range(len(found))]
    assert found.lookup([*sorted(words), "b"]).tolist() == [0, 1, 2, 3, 4, 5, -1]
    assert Vocabulary.of([]).lookup(["a"]).tolist() == [-1]


# ---------------------------------------------------------------- bad input
@pytest.mark.parametrize(
    ("features", "X", "message"),
    [
        (so.ColumnFeatures(["word"]), WORDS, "'word' is no template"),
        (so.ColumnFeatures(["w[-1..1]|w[0]"]), WORDS, "without ranges"),
        (so.ColumnFeatures(["w[1..-1]"]), WORDS, "no distance"),
        (so.ColumnFeatures(["word[0].wurd"]), WORDS, "Unknown attribute 'wurd'"),
        (so.ColumnFeatures([]), WORDS, "no templates"),
        (so.ColumnFeatures("word[0]"), WORDS, "give a list"),
        (so.ColumnFeatures(["word[0]", "word[0]"]), WORDS, "more than once"),
        (so.ColumnFeatures(["pos[0]"]), WORDS, r"no column 'pos'; it has \['word'\]"),
        (so.ColumnFeatures(["pos[0]"]), ROWS, r"no column 'pos'; it has \[0, 1\]"),
        (so.ColumnFeatures(["tag[0]"], columns=("word", "pos")), ROWS, "no column 'tag'"),
        (so.ColumnFeatures(["2[0]"]), ROWS, "no column 2"),
        (so.ColumnFeatures(["1[0]"]), [[("a", "b"), ("c",)]], r"Token 1 .* has no column 1"),
        (so.ColumnFeatures(["w[0]"]), [[{"w": "a"}, {"v": "b"}]], "no column 'w'"),
        (so.ColumnFeatures(["w[0]"]), [{"w": ["a"], "v": []}], "lengths"),
        (so.ColumnFeatures(["w[0]"]), [{"w": ["a", None]}], "holds None"),
        (so.ColumnFeatures(["w[0]"]), [{"w": [1.0, float("nan")]}], "holds nan"),
        (so.ColumnFeatures(["w[0].lower"]), [{"w": [1.0]}], "holds 1.0, which is no string"),
        (so.ColumnFeatures(["w[0]"]), [{"w": [["x"]]}], "holds"),
        (so.ColumnFeatures(min_count=0), WORDS, "min_count >= 1"),
        (so.ColumnFeatures(hashing=1), WORDS, "hashing is 1"),
        (so.ColumnFeatures(hashing=8, min_count=2), WORDS, "not counted"),
        (so.ColumnFeatures(), "abc", "X is a str"),
        (so.DictFeatures(), [], "at least one"),
        (so.DictFeatures(), [[]], "Sentence 0"),
        (so.DictFeatures(), ["ab"], "Sentence 0"),
        (so.DictFeatures(), [["ab"]], "'ab' is no token"),
        (so.DictFeatures(), [[{"w": None}]], "Token 0 of sentence 0: 'w' is None"),
        (so.DictFeatures(), [[{"n": float("inf")}]], "'n' is inf"),
        (so.DictFeatures(), [{"a": 1}, 3], "Example 1 is a int"),
        (so.DictFeatures(), [[[1]]], "attribute 1 is no string"),
        (so.PerToken(StandardScaler()), [], "at least one"),
        (so.PerToken(StandardScaler()), [np.ones((1, 2)), np.ones((0, 2))], "Sequence 1"),
        (so.PerToken(StandardScaler()), [np.ones((1, 2)), np.ones((1, 3))], "shapes"),
        (so.JoinedFeatures([]), WORDS, "no transformers"),
    ],
)
def test_bad_input_is_named(features, X, message):
    with pytest.raises(InvalidInputError, match=message):
        features.fit(X)
