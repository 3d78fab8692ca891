"""Trees in brackets, and the treebank that is drawn."""

import pytest

import structopt as so
from structopt.errors import FileFormatError, InvalidInputError, MissingDataError


def test_brackets_of_a_file(tmp_path):
    path = tmp_path / "trees"
    path.write_text("( (S (NP (D a) (N b)) (VP (V c)) (. .)) )\n(N x)\n")
    X, Y = so.datasets.read_brackets(path)
    assert X == [["a", "b", "c", "."], ["x"]]
    assert Y == [("S", ("NP", "D", "N"), ("VP", "V"), "."), "N"]
    assert type(Y[1]) is str


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("(S (N x)", "Tree 0 does not end: 1 brackets are open"),
        ("(N x) )", r"Tree 1: '\)' stands outside"),
        ("(N x) y", "Tree 1: 'y' stands outside"),
        ("(S x y)", r"Tree 0: \(S x y\) is neither"),
        ("()", "Tree 0"),
        ("(S (N x) y)", "is neither"),
    ],
)
def test_bad_brackets_are_named(text, message):
    with pytest.raises(FileFormatError, match=message):
        so.datasets.read_brackets(text)
    with pytest.raises(MissingDataError):
        so.datasets.read_brackets("no such file")


def test_a_treebank_is_derived_by_its_rules():
    bank = so.datasets.make_treebank(30, noise=0.5, seed=3)
    so.Grammar(bank.rules, "S").fitted(bank.X, bank.Y).encode(bank.X, bank.Y)
    assert so.metrics.parse_f1(bank.Y, bank.Y) == 1.0
    with pytest.raises(InvalidInputError, match="n_sentences must be an integer >= 1"):
        so.datasets.make_treebank(0)
    with pytest.raises(InvalidInputError, match="example 0 have 2 and 1 leaves"):
        so.metrics.parse_f1([("S", "A", "A")], ["S"])
