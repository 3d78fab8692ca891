"""Every structure shows its outputs, and no data make a page that is wrong or does something."""

import numpy as np
import pytest
from small_structures import small_of
from test_report import HOSTILE, SCRIPT, make_result, read

import structopt as so
from structopt import names
from structopt.errors import InvalidInputError
from structopt.report import write_report
from structopt.report.pictures import picture_of
from structopt.report.scores import Counts, label_table
from structopt.report.task import task_of
from structopt.run.example import Example
from structopt.structures.base.sketch import Arcs, Bag, Boxes, Grid, Links, Order, Path, Plain, Row

STRUCTURES = names.of_kind("structure")


@pytest.mark.parametrize("entry", STRUCTURES, ids=lambda entry: entry.name)
def test_every_structure_shows_its_outputs(entry):
    """What is equal looks equal, and whatever differs in loss differs in its claims."""
    kinds = set()
    for seed in range(3):
        small = small_of(entry)(np.random.default_rng(seed))
        structure = small.structure.fitted(small.X, small.Y)
        for x, y in zip(small.X, small.Y, strict=True):
            for other in small.outputs(x)[:4]:
                gold, given = structure.sketches(x, y, other)
                if structure.loss(y, other) == 0 and y == other:
                    assert gold.claims() == given.claims()
                codes = dict.fromkeys(Counts.of([(gold, given)]).labels, 0)
                kinds.add(picture_of("e", gold, given, codes).kind)
    assert kinds <= {"row", "outline", "grid", "drawing", "boxes", "order", "bag", "plain"}


PAIRS = {
    "row": (Row(("B", "O"), ("Rome", "is")), Row(("B", "B"), ("Rome", "is"))),
    "images": (Row((3, 1), list(np.eye(4).reshape(2, 2, 4))), Row((3, 8))),
    "outline": (Row(("a", "b"), None, (0, 1)), Row(("a", "a"), None, (0, 1))),
    "grid": (Grid((("a", "b"), ("a", "b")), np.eye(2)), Grid((("a", "b"), ("b", "b")))),
    "arcs": (Arcs((0, 1), ("Rome", HOSTILE)), Arcs((2, 0))),
    "links": (
        Links(frozenset({(0, 1)}), "ab", ("x", HOSTILE)),
        Links(frozenset({(1, 1)}), "ab", "xy"),
    ),
    "boxes": (
        Boxes(((0, 2, "S"), (0, 2, "VP"), (1, 2, "N")), ("the", "dog")),
        Boxes(((0, 1, "S"), (1, 2, "N")), ("the", "dog")),
    ),
    "path": (
        Path((("s", "a", "the"), ("a", "t", None)), (("s", "t", "all"),)),
        Path((("s", "t", HOSTILE),), (("s", "a", "the"), ("a", "t", None))),
    ),
    "order": (Order((0, 1, 2), ("x", HOSTILE, "z")), Order((1, 0, 2), ("x", "y", "z"))),
    "graded": (Order((1, 0), None, (0.0, 1.5)), Order((0, 1), None, (0.0, 1.5))),
    "bag": (Bag(("a", HOSTILE)), Bag(("a", "b"))),
    "plain": (Plain("a < b"), Plain(HOSTILE)),
    "other kinds": (Row(("a",)), Plain("a")),
    "other lengths": (Row(("a", "b")), Row(("a",))),
    "nothing": (Row(()), Row(())),
    "no cells": (Grid(()), Grid(())),
}  # fmt: skip


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)
def test_every_kind_of_picture_is_drawn(pair, tmp_path):
    write_report(make_result(), tmp_path / "a.html", examples=[Example(0, 0, 1, 1, 2, pair)])
    page = read(tmp_path / "a.html")
    assert page.scripts == [SCRIPT]
    assert len(page.ids) == len(set(page.ids))
    assert all(a.get("alt") for tag, a in page.attributes if tag == "img")
    assert all(a["src"].startswith("data:image/png") for tag, a in page.attributes if tag == "img")


def test_right_to_left_words_have_their_direction(tmp_path):
    pair = Row(("N", "V"), ("שלום", "مرحبا")), Row(("N", "N"), ("שלום", "مرحبا"))
    tree = Arcs((0, 1), ("שלום", "你好")), Arcs((2, 0))  # matplotlib's own font lacks some
    shown = [Example(i, 0, 1, 1, 2, one) for i, one in enumerate((pair, tree))]
    write_report(make_result(), tmp_path / "a.html", title="שלום", examples=shown)
    page = read(tmp_path / "a.html")
    assert ("div", {"class": "row", "dir": "auto"}) in page.attributes
    assert ("h1", {"dir": "auto"}) in page.attributes
    assert "你好" in page.text


def test_ten_thousand_labels_fit_on_a_page(tmp_path):
    rng = np.random.default_rng(0)
    labels = [f"label {k} {HOSTILE}" for k in range(10_000)]
    gold, given = (rng.permutation(labels).reshape(100, 100) for _ in range(2))
    pairs = [(Row(tuple(a)), Row(tuple(b))) for a, b in zip(gold, given, strict=True)]
    shown = [Example(i, None, None, 100, 100, pair) for i, pair in enumerate(pairs)]
    weights = rng.normal(size=10_000)
    features = [("bias", label) for label in labels]
    path = tmp_path / "a.html"
    write_report(make_result(weights=weights), path, feature_names=features, examples=shown)
    assert path.stat().st_size < 2_000_000
    page = read(path)
    assert page.scripts == [SCRIPT]
    assert "9940 labels with fewer errors are left out" in page.text


def test_one_example_and_none(tmp_path):
    X, Y = so.datasets.make_chain_crf(3, n_features=4, n_relevant=3, seed=0)
    model = so.StructuredClassifier(so.Chain(), so.M3N(C=0.1)).fit(X, Y)
    model.report(tmp_path / "one.html", X[:1], Y[:1])
    assert "of 1 example" in read(tmp_path / "one.html").text
    model.report(tmp_path / "none.html", [], [])
    assert "No examples were given" in read(tmp_path / "none.html").text


def test_inputs_are_shown_as_they_are_given(tmp_path):
    X, Y = so.datasets.load_digit_words(6)
    model = so.StructuredClassifier(so.Chain(), so.M3N(C=0.1), tol=0.1).fit(X, Y)
    images = [x.reshape(-1, 8, 8) for x in X]
    model.report(tmp_path / "images.html", X, Y, inputs=images)
    page = read(tmp_path / "images.html")
    labels = len(model.classes_)
    assert page.tags.count("img") == sum(map(len, Y)) + labels  # and the weights of each label
    assert "pixel (" in page.text
    model.report(tmp_path / "words.html", X, Y, inputs=[[f"<{k}>" for k in y] for y in Y])
    assert f"<{Y[0][0]}>" in read(tmp_path / "words.html").text
    with pytest.raises(InvalidInputError, match="has 1 parts, but its output has"):
        model.report(tmp_path / "no.html", X, Y, inputs=[["a"] for _ in Y])


def test_words_of_a_model_with_features_stand_beside_their_labels(tmp_path):
    X, Y = [["Rome", "is", "old"], ["we", "saw", "Rome"]], [["N", "V", "A"], ["P", "V", "N"]]
    model = so.StructuredClassifier(so.Chain(), so.M3N(C=1.0), features=so.WordFeatures())
    model.fit(X, Y).report(tmp_path / "a.html", X, Y)
    page = read(tmp_path / "a.html")
    assert page.text.index("Rome") < page.text.index("saw")
    assert "Speaks for it" in page.text


def test_scores_are_those_of_the_labels():
    pairs = [(Row(("a", "b", None)), Row(("a", "a", "b"))), (Row(("b",)), Row(("b",)))]
    counts = Counts.of(pairs)
    assert (counts.gold["b"], counts.predicted["b"], counts.right["b"]) == (2, 2, 1)
    table = label_table(counts)
    assert [row[0] for row in table.rows] == ["b", "a"]
    examples = [Example(i, 0, 0, i, 3, pair) for i, pair in enumerate(pairs)]
    task = task_of(examples)
    assert task.worst == ("b", "a", 1)
    assert [one.index for one in task.shown] == [1, 0]
