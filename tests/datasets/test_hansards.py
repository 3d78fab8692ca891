"""Word alignments: the reader says what is wrong where; features and error rate by hand."""

import gzip

import numpy as np
import pytest

import structopt as so
from structopt.datasets.hansards import (
    load_hansards,
    load_hansards_corpus,
    one_to_one,
)
from structopt.errors import FileFormatError, InvalidInputError, MissingDataError
from structopt.features.word_pairs import WordPairs

LINKS = "0001 1 1 S\n0001 2 2 P\n\n2 1 3\n"


def write(folder, split="test", links=LINKS, french="la chambre\nla loi passe\n"):
    home = folder / "hansards_alignment"
    home.mkdir(exist_ok=True)
    (home / f"{split}.e.gz").write_bytes(gzip.compress(b"the house\nthe bill\n"))
    (home / f"{split}.f").write_text(french, encoding="utf-8")
    (home / f"{split}.wa.nonullalign").write_text(links, encoding="utf-8")
    return folder


def test_sentences_and_links(tmp_path):
    data = load_hansards(home=write(tmp_path))
    assert len(data) == 2
    assert data.left == [["the", "house"], ["the", "bill"]]
    assert data.sure == [{(0, 0)}, {(0, 2)}]
    assert data.possible == [{(0, 0), (1, 1)}, {(0, 2)}]


def test_files_that_do_not_fit(tmp_path):
    with pytest.raises(MissingDataError, match=r"test\.e"):
        load_hansards(home=tmp_path)
    with pytest.raises(MissingDataError, match="debates"):
        load_hansards_corpus(home=tmp_path)
    with pytest.raises(InvalidInputError, match="split"):
        load_hansards("train", home=tmp_path)
    with pytest.raises(FileFormatError, match="2 English but 1 French"):
        load_hansards(home=write(tmp_path, french="la chambre\n"))


def test_error_rate_by_hand():
    # A = {a, b, c}, S = {a, d}, P = {a, b, d}: hits 1 + 2 of 3 + 2
    a, b, c, d = (0, 0), (0, 1), (1, 0), (1, 1)
    assert so.metrics.alignment_error_rate(
        [{a, d}], [{a, b, c}], possible=[{a, b, d}]
    ) == pytest.approx(1 - 3 / 5)
    assert so.metrics.alignment_error_rate([set()], [set()], possible=[set()]) == 0.0


def test_largest_matching_among_links():
    # the diagonal alone would leave the second right word out
    assert one_to_one({(0, 0), (0, 1), (1, 0)}, (2, 2)) == {(0, 1), (1, 0)}
    assert one_to_one(set(), (2, 2)) == frozenset()


def test_features_by_hand():
    words = WordPairs([["The", "house"], ["the", "bill"]], [["la", "chambre"], ["la", "loi"]])
    x = words.features(["the", "bill"], ["la", "loi"])
    names = WordPairs.NAMES
    assert x.shape == (2, 2, len(names))
    dice = x[:, :, names.index("dice")]
    # the-la in both pairs: 4/4; the-loi once: 2/3; bill-la once: 2/3; bill-loi: 2/2
    np.testing.assert_allclose(dice, [[1.0, 2 / 3], [2 / 3, 1.0]])
    np.testing.assert_allclose(x[:, :, names.index("distance")], [[0.0, 0.5], [0.5, 0.0]])
    assert x[0, 0, names.index("dice, diagonal after")] == 1.0
    unknown = words.features(["x"], ["1867"])
    assert np.isfinite(unknown).all()
    assert unknown[0, 0, names.index("unseen")] == 1.0
    with pytest.raises(InvalidInputError, match="1 and 0"):
        WordPairs([["a"]], [])
