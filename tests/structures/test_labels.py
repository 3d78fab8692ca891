"""Labels of any hashable kind, and their weights."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from structopt.errors import InvalidInputError
from structopt.structures.base.labels import LabelSet


def test_sorted_when_sortable_else_first_seen():
    assert list(LabelSet.from_data([[3, 1], [2]])) == [1, 2, 3]
    assert list(LabelSet.from_data([["b", 1], [(), "b"]])) == ["b", 1, ()]
    assert list(LabelSet.from_data([["b", None], ["a"]])) == ["a", "b"]  # None: unknown
    assert list(LabelSet.from_data([[("x", 2), ("x", 1)]])) == [("x", 1), ("x", 2)]


def test_declared_order_and_absent_labels_are_kept():
    labels = LabelSet(["z", "a", "never"])
    assert list(labels) == ["z", "a", "never"]
    assert labels.encode("az").tolist() == [1, 0]
    assert labels.decode(np.array([2, 0])) == ["never", "z"]
    assert labels[-1] == "never"
    assert "a" in labels
    assert labels.index("a") == 1


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (np.array([2, 1], dtype=np.uint8), int),
        (np.array([2.5, 1.5]), float),
        (np.array(["b", "a"]), str),
        (np.array([True, False]), bool),
        ([np.int64(2), 1], int),
    ],
)
def test_numpy_scalars_are_the_python_scalars_they_equal(data, kind):
    labels = LabelSet.from_data([data])
    assert [type(label) for label in labels] == [kind, kind]
    assert labels.encode(data).tolist() == [1, 0]
    assert labels.encode(list(data)).tolist() == [1, 0]
    assert [type(label) for label in labels.decode([0, 1])] == [kind, kind]


def test_datetimes_in_nanoseconds_stay_what_they_are():
    day = np.datetime64("2024-01-01", "ns")
    assert LabelSet([day]).decode([0]) == [day]


def test_equality_hash_repr_and_pickle():
    labels = LabelSet("ab")
    assert pickle.loads(pickle.dumps(labels)) == labels
    assert hash(labels) == hash(LabelSet(["a", "b"]))
    assert labels != LabelSet("ba")
    assert repr(labels) == "LabelSet(['a', 'b'])"


def test_unknown_label_names_label_example_position_and_remedy():
    labels = LabelSet("ab")
    with pytest.raises(
        InvalidInputError, match=r"'c' of example 7, position 1,.*labels=\["
    ) as info:
        labels.encode("ac", example=7)
    assert info.value.example == 7
    with pytest.raises(InvalidInputError, match=r"'c' of example 6 is not one of the 2 known"):
        labels.encode(["a", "c"], start=5)
    with pytest.raises(InvalidInputError, match=r"0, 1, 2, 3, 4, 5, 6, 7, \.\.\."):
        LabelSet(range(20)).encode([99])


def test_labels_that_cannot_be_looked_up_are_refused():
    with pytest.raises(InvalidInputError, match="of example 1 is a list, which cannot be hashed"):
        LabelSet.from_data([["a"], [["b"]]])
    with pytest.raises(InvalidInputError, match="of example 3, position 0, is a list"):
        LabelSet("ab").encode([["a"]], example=3)
    with pytest.raises(InvalidInputError, match="nan"):
        LabelSet.from_data([[1.0, np.nan]])
    with pytest.raises(InvalidInputError, match="'a' is declared more than once"):
        LabelSet(["a", "b", "a"])
    with pytest.raises(InvalidInputError, match="empty"):
        LabelSet([])


def test_weights():
    labels = LabelSet("abc")
    assert labels.weights(None).tolist() == [1, 1, 1]
    assert labels.weights({"b": 2, "c": np.float64(0.5)}).tolist() == [1, 2, 0.5]
    # a occurs 3 times of 4 and b once; c never, so it weighs 1
    balanced = labels.weights("balanced", labels.encode("aaab"))
    assert balanced.tolist() == [4 / 9, 4 / 3, 1]


@pytest.mark.parametrize("bad", [0, -1.0, np.nan, np.inf, "2", None, True])
def test_weights_must_be_finite_and_positive(bad):
    with pytest.raises(InvalidInputError, match="class_weight of 'a' is"):
        LabelSet("ab").weights({"a": bad})


def test_weights_of_unknown_labels_and_kinds_are_refused():
    with pytest.raises(InvalidInputError, match="names the label 'c'"):
        LabelSet("ab").weights({"c": 1.0})
    for bad in ("uniform", 2.0, [1.0, 2.0]):
        with pytest.raises(InvalidInputError, match="give a mapping"):
            LabelSet("ab").weights(bad)
