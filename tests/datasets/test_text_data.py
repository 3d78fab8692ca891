"""Readers of tagged text and digits, and the templates that turn words into features."""

import gzip

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import structopt as so
from structopt.datasets import read_columns
from structopt.features.attributes import ATTRIBUTES, SPELLING
from structopt.features.templates import EDGE

DIGIT = ",".join(["0", "16"] * 32)


def write(tmp_path, text, name="file.txt"):
    path = tmp_path / name
    if name.endswith(".gz"):
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz"])
@pytest.mark.parametrize("end", ["", "\n", "\n\n\n"])
def test_columns_are_read_with_and_without_a_last_empty_line(tmp_path, name, end):
    first, second = read_columns(write(tmp_path, "a\tDT O\nb NN B-X\n\n\r\nc NN O" + end, name))
    assert (first.words, first.column(-1), second.words) == (["a", "b"], ["O", "B-X"], ["c"])


def test_loaders_look_in_the_data_home_and_say_what_is_missing(tmp_path, monkeypatch):
    monkeypatch.setenv("STRUCTOPT_DATA", str(tmp_path))
    for load in (
        so.datasets.load_conll2000,
        so.datasets.load_conll2002,
        so.datasets.load_medpost,
        so.datasets.load_optdigits,
    ):
        with pytest.raises(so.errors.MissingDataError, match="STRUCTOPT_DATA"):
            load()
    (tmp_path / "conll2000_chunking").mkdir()
    write(tmp_path / "conll2000_chunking", "a DT O\n", "test.txt.gz")
    assert so.datasets.load_conll2000("test")[0].words == ["a"]
    (tmp_path / "conll2002_spanish").mkdir()
    write(tmp_path / "conll2002_spanish", "a DT O\n", "esp.testb")
    assert so.datasets.load_conll2002("testb")[0].column(2) == ["O"]
    (tmp_path / "medpost").mkdir()
    write(tmp_path / "medpost", "P1A01\nin_II vitro_RR+ a_b_NN\n", "tag_a.ioc.gz")
    assert so.datasets.load_medpost()[0] == (["in", "vitro", "a_b"], ["II", "RR", "NN"])
    assert so.datasets.load_medpost(merge=False)[0].tags[1] == "RR+"
    (tmp_path / "optdigits").mkdir()
    write(tmp_path / "optdigits", DIGIT + ",3\n", "optdigits.tra")
    X, y = so.datasets.load_optdigits()
    assert (X.shape, X[0, 1], y.tolist()) == ((1, 64), 1.0, [3])
    with pytest.raises(so.errors.InvalidInputError, match="choose one of"):
        so.datasets.load_conll2000("dev")


# ---------------------------------------------------------------------- templates
SENTENCES = st.lists(
    st.lists(st.sampled_from(["The", "cat-2", "U.S.", "x", "ran", "IBM", "é"]), min_size=1),
    min_size=1,
)


@given(SENTENCES, SENTENCES, st.integers(1, 3), st.booleans())
@settings(max_examples=60, deadline=None)
def test_features_are_those_of_the_definition(train, test, min_count, bias):
    attributes, window = ("word", "suffix2", "shape"), (-2, 0, 1)
    features = so.WordFeatures(attributes, window=window, min_count=min_count, bias=bias).fit(train)
    names = list(features.get_feature_names_out())
    assert len(names) == features.n_features_out_ == len(set(names))

    def active(words, t):
        for attribute in attributes:
            f = ATTRIBUTES.get(attribute, lambda w: w[-2:])
            for o in window:
                value = f(words[t + o]) if 0 <= t + o < len(words) else EDGE
                yield f"{attribute}[{o}]={value}"

    counts = {}
    for words in train:
        for t in range(len(words)):
            for name in active(words, t):
                counts[name] = counts.get(name, 0) + 1
    for words, X in zip(test, features.transform(test), strict=True):
        assert X.shape == (len(words), len(names))
        for t in range(len(words)):
            expected = {n for n in active(words, t) if counts.get(n, 0) >= min_count}
            expected |= {"bias"} if bias else set()
            row = X[[t]]
            assert {names[j] for j in row.indices} == expected
            assert np.all(np.diff(row.indices) > 0)


def test_spelling_features_learn_to_tag():
    X = [["Anna", "runs"], ["Bob", "walked"], ["Carl", "walks"], ["Dora", "talked"]]
    Y = [["N", "V"]] * 4
    features = so.WordFeatures(SPELLING, window=(-1, 0, 1))
    model = so.StructuredClassifier(so.Chain(), so.M3N(C=1.0)).fit(features.fit_transform(X), Y)
    assert model.predict(features.transform([["Eve", "jumped"]])) == [["N", "V"]]


@pytest.mark.parametrize(
    ("options", "X", "message"),
    [
        ({"attributes": ("wurd",)}, [["a"]], "Unknown attribute 'wurd'"),
        ({"window": ()}, [["a"]], "a window"),
        ({}, [], "no sentences"),
        ({}, ["abc"], "Sentence 0 is 'abc'"),
        ({}, [["a"], []], "Sentence 1"),
        ({}, [["a", 3]], "holds 3, which is no string"),
    ],
)
def test_bad_templates_and_sentences_are_named(options, X, message):
    with pytest.raises(so.errors.InvalidInputError, match=message):
        so.WordFeatures(**options).fit(X)
