"""Scores: each worked out by hand, equal in all its forms, and friendly on bad input."""

import pickle

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV, cross_val_score

import structopt as so
from structopt import metrics
from structopt.errors import InvalidInputError
from structopt.learn.metrics.scorers import SCORES


# ---------------------------------------------------------------- spans: the script's rules by hand
@pytest.mark.parametrize(
    ("tags", "found"),
    [
        # begin at B; a second B of the same type begins again
        ("B-A I-A B-A O", [("A", 0, 2), ("A", 2, 3)]),
        # IOB1: I begins after O and at a change of type; B only divides
        ("I-A I-A I-B O I-B B-B", [("A", 0, 2), ("B", 2, 3), ("B", 4, 5), ("B", 5, 6)]),
        # a type that changes inside ends the span, even at I
        ("B-A I-B", [("A", 0, 1), ("B", 1, 2)]),
        # BIOES: E and S end
        ("B-A I-A E-A S-A B-A E-A", [("A", 0, 3), ("A", 3, 4), ("A", 4, 6)]),
        # E then I, E then E: what follows an end begins
        ("I-A E-A I-A E-A E-A", [("A", 0, 2), ("A", 2, 4), ("A", 4, 5)]),
        # S then I of the same type: again a new one
        ("S-A I-A", [("A", 0, 1), ("A", 1, 2)]),
        # BILOU and BMES: other letters for the same
        ("B-A M-A L-A U-B", [("A", 0, 3), ("B", 3, 4)]),
        # types with a dash, and none at all
        ("B-A-x I-A-x", [("A-x", 0, 2)]),
        ("B I O B", [("", 0, 2), ("", 3, 4)]),
        ("O O", []),
        ("", []),
    ],
)
def test_spans_as_the_conll_script_reads_them(tags, found):
    assert metrics.spans(tags.split()) == found


@pytest.mark.parametrize(
    ("scheme", "tags", "found"),
    [
        ("bio", "I-A B-A I-A I-B O", [("A", 1, 3)]),
        ("bioes", "B-A I-A E-A B-A I-A O S-B E-B", [("A", 0, 3), ("B", 6, 7)]),
        ("iobes", "B-A B-A E-A", [("A", 1, 3)]),
        ("io", "A A O B-C I-C C B", [("A", 0, 2), ("C", 3, 6), ("B", 6, 7)]),
    ],
)
def test_strict_schemes_and_plain_labels(scheme, tags, found):
    assert metrics.spans(tags.split(), scheme=scheme) == found


GOLD = [["B-PER", "I-PER", "O", "B-LOC"], ["B-LOC", "O", "B-ORG", "I-ORG"], ["O", "O"]]
GIVEN = [["B-PER", "I-PER", "O", "B-ORG"], ["B-LOC", "O", "B-ORG", "O"], ["B-PER", "O"]]
# gold: PER(0-2) LOC(3-4) | LOC(0-1) ORG(2-4); given: PER right, ORG wrong | LOC right, ORG too
# short | PER wrong. right 2, gold 4, predicted 5.


def test_span_scores_by_hand():
    assert metrics.span_precision(GOLD, GIVEN) == 2 / 5
    assert metrics.span_recall(GOLD, GIVEN) == 2 / 4
    assert metrics.span_f1(GOLD, GIVEN) == pytest.approx(2 * 2 / (5 + 4))
    # by type (right, predicted, gold): LOC 1 1 2, ORG 0 2 1, PER 1 2 1
    by_type = metrics.span_report(GOLD, GIVEN).by_type
    assert {k: tuple(v) for k, v in by_type.items()} == {
        "LOC": (1, 1, 2), "ORG": (0, 2, 1), "PER": (1, 2, 1)
    }  # fmt: skip
    assert metrics.span_f1(GOLD, GIVEN, average="macro") == pytest.approx((2 / 3 + 0 + 2 / 3) / 3)
    assert metrics.span_precision(GOLD, GIVEN, average="macro") == pytest.approx((1 + 0.5) / 3)
    assert metrics.span_recall(GOLD, GIVEN, average="macro") == pytest.approx((0.5 + 1) / 3)


def test_the_report_has_the_scripts_layout():
    assert str(metrics.span_report(GOLD, GIVEN)).split("\n") == [
        "processed 10 tokens with 4 phrases; found: 5 phrases; correct: 2.",
        "accuracy:  70.00%; precision:  40.00%; recall:  50.00%; FB1:  44.44",
        "              LOC: precision: 100.00%; recall:  50.00%; FB1:  66.67  1",
        "              ORG: precision:   0.00%; recall:   0.00%; FB1:   0.00  2",
        "              PER: precision:  50.00%; recall: 100.00%; FB1:  66.67  2",
    ]


def test_no_spans_at_all_is_zero():
    assert metrics.span_f1([["O"]], [["O"]]) == 0.0
    assert metrics.span_f1([["O"]], [["O"]], average="macro") == 0.0
    assert metrics.span_report([["O"]], [["O"]]).overall.precision == 0.0


def test_weights_count_sentences_several_times():
    twice = metrics.span_f1([*GOLD, GOLD[0]], [*GIVEN, GIVEN[0]])
    assert metrics.span_f1(GOLD, GIVEN, sample_weight=[2, 1, 1]) == pytest.approx(twice)


# ---------------------------------------------------------------- labels, trees, links, maps
def test_labels_that_training_never_saw_are_errors():
    assert metrics.token_accuracy([["a", "new"]], [["a", "b"]]) == 0.5
    assert metrics.token_accuracy(["spam", "new"], ["spam", "ham"]) == 0.5
    assert metrics.sequence_accuracy([["a"], "bb"], [["a"], ["b", "c"]]) == 0.5
    assert metrics.token_accuracy([np.array([[1, 2]])], [np.array([[1, 3]])]) == 0.5


def test_confusion_by_hand():
    found = metrics.confusion([["a", "b", "a"]], [["a", "a", "c"]])
    assert found.labels == ["a", "b", "c"]
    assert found.counts.tolist() == [[1, 0, 1], [1, 0, 0], [0, 0, 0]]
    ordered = metrics.confusion([["a"]], [["b"]], labels=["b", "a", "z"])
    assert ordered.counts.tolist() == [[0, 0, 0], [1, 0, 0], [0, 0, 0]]
    with pytest.raises(InvalidInputError, match=r"leaves out \['b'\]"):
        metrics.confusion([["a"]], [["b"]], labels=["a"])


def test_attachment_by_hand():
    gold, given = [[(2, "s"), (0, "r")], [(0, "r")]], [[(2, "o"), (0, "r")], [(0, "x")]]
    assert metrics.unlabelled_attachment(gold, given) == 1.0
    assert metrics.labelled_attachment(gold, given) == pytest.approx(1 / 3)
    where = [[False, True], [True]]
    assert metrics.labelled_attachment(gold, given, where=where) == 0.5
    with pytest.raises(InvalidInputError, match="pairs"):
        metrics.labelled_attachment([[1, 0]], [[1, 0]])


def test_alignment_error_rate_by_hand():
    # A = {a, b, c}, S = {a, d}, P = {a, b, d}: hits 1 + 2 of 3 + 2
    a, b, c, d = (0, 0), (0, 1), (1, 0), (1, 1)
    rate = metrics.alignment_error_rate([{a, d}], [{a, b, c}], possible=[{a, b, d}])
    assert rate == pytest.approx(1 - 3 / 5)
    assert metrics.alignment_error_rate([set()], [set()]) == 0.0


def test_iou_by_hand():
    gold, given = [np.array([[0, 0], [1, 1]]), [2]], [np.array([[0, 1], [1, 1]]), [0]]
    # 0: 1 of 3, 1: 2 of 3, 2: 0 of 1
    assert metrics.iou(gold, given) == pytest.approx((1 / 3 + 2 / 3 + 0) / 3)
    assert metrics.iou(gold, given, labels=[1]) == pytest.approx(2 / 3)
    assert metrics.iou([{"u": 0}], [{"u": 0}]) == 1.0
    assert metrics.iou_by_label(gold, given) == pytest.approx({0: 1 / 3, 1: 2 / 3, 2: 0.0})


def test_distances_in_a_tree_by_hand():
    parents = {"a": "x", "b": "x", "x": None, "c": None}
    assert metrics.tree_distance([["a", "a"], ["a"]], [["b", "a"], ["c"]], parents=parents) == 5 / 3
    for bad, word in (({"a": "a"}, "above itself"), ({}, "no entry")):
        with pytest.raises(InvalidInputError, match=word):
            metrics.tree_distance(["a"], ["a"], parents=bad)


# ---------------------------------------------------------------- bad input
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: metrics.token_accuracy([], []), "at least one"),
        (lambda: metrics.token_accuracy([["a"]], [["a"], ["b"]]), "1 gold and 2 predicted"),
        (lambda: metrics.token_accuracy([["a"]], [["a", "b"]]), "Example 0 has 1 gold but 2"),
        (lambda: metrics.token_accuracy([{1: 0}], [{2: 0}]), "different nodes"),
        (lambda: metrics.token_accuracy([["a"]], [["a"]], sample_weight=[1, 2]), "sample_weight"),
        (lambda: metrics.span_f1([["B-A"], ["O"]], [["B-A"], ["NN"]]), "Sentence 1.*'NN'.*io"),
        (lambda: metrics.span_f1([["B-A"]], [["B-A", "O"]]), "1 gold and 2 predicted tags"),
        (lambda: metrics.span_f1([[1]], [[1]]), "tag at position 0 is 1"),
        (lambda: metrics.span_f1(GOLD, GIVEN, average="weighted"), "'weighted'"),
        (lambda: metrics.spans(["O"], scheme="iob9"), "'iob9'"),
        (lambda: metrics.scorer("f1"), "no score 'f1'.*span_f1"),
        (lambda: metrics.scorer("iou", average="macro"), "takes no average"),
        (lambda: metrics.bootstrap_interval("iou", [[0]], [[0]], level=95), "between 0 and 1"),
        (lambda: metrics.bootstrap_interval("iou", [[0]], [[0]], n_resamples=0), "at least 1"),
        (lambda: metrics.alignment_error_rate([set()], [set()], possible=[]), "0 sets"),
        (lambda: metrics.unlabelled_attachment([[0]], [[0]], where=[]), "0 masks"),
        (lambda: metrics.unlabelled_attachment([[0]], [[0, 1]]), "1 gold heads"),
    ],
)
def test_bad_input_is_named(call, message):
    with pytest.raises(InvalidInputError, match=message):
        call()


# ---------------------------------------------------------------- resampling
def random_tags(rng, n):
    kinds = np.array(["O", "B-A", "I-A", "B-B", "I-B"])
    return [kinds[rng.integers(5, size=4)].tolist() for _ in range(n)]


def test_resampling_by_counts_equals_resampling_by_evaluation():
    rng = np.random.default_rng(0)
    Y, first, second = (random_tags(rng, 12) for _ in range(3))
    for options in ({}, {"average": "macro"}):
        named = ("span_f1", Y, first), {"n_resamples": 30, "random_state": 1, **options}
        plain = (metrics.span_f1, Y, first), named[1]
        a, b = (metrics.bootstrap_interval(*args, **given) for args, given in (named, plain))
        assert a == pytest.approx(b)
        a, b = (
            metrics.randomisation_test(*args, second, **given) for args, given in (named, plain)
        )
        assert a == pytest.approx(b)


def test_the_randomisation_test_equals_all_swaps():
    # 3 examples, differences 1, 1, 0 right answers: of the 8 swaps 4 are as extreme as none
    Y, first, second = ["a", "a", "a"], ["a", "a", "b"], ["b", "b", "b"]
    found = metrics.randomisation_test(
        "token_accuracy", Y, first, second, n_resamples=4000, random_state=0
    )
    assert found.difference == pytest.approx(2 / 3)
    assert found.p_value == pytest.approx(0.5, abs=0.03)
    same = metrics.randomisation_test("token_accuracy", Y, first, first, n_resamples=50)
    assert same.p_value == 1.0


def test_the_interval_covers_as_often_as_it_says():
    rng = np.random.default_rng(0)
    covered = 0
    for _ in range(100):
        given = np.where(rng.random(200) < 0.7, "a", "b").tolist()
        found = metrics.bootstrap_interval(
            "token_accuracy", ["a"] * 200, given, n_resamples=300, level=0.9, random_state=rng
        )
        covered += found.low <= 0.7 <= found.high
    assert 82 <= covered <= 97


# ---------------------------------------------------------------- scikit-learn
def test_scorers_in_model_selection():
    X, Y = so.datasets.make_chain_crf(n_examples=24, seed=0)
    tags = dict(enumerate(["O", "B-A", "I-A", "B-B", "I-B", "B-C", "I-C"]))
    Y = [[tags[k % 7] for k in map(int, y)] for y in Y]
    model = so.StructuredClassifier(so.Chain(labels=list(tags.values())), so.M3N(C=0.1))
    for name in ("span_f1", "token_accuracy"):
        scores = cross_val_score(model, X, Y, scoring=metrics.scorer(name), cv=2)
        fitted = model.fit(X[12:], Y[12:])
        assert scores[0] == pytest.approx(getattr(metrics, name)(Y[:12], fitted.predict(X[:12])))
    search = GridSearchCV(
        model, {"formulation__C": [0.01, 1.0]}, scoring=metrics.scorer("span_f1"), cv=2
    )
    assert 0 <= search.fit(X, Y).best_score_ <= 1


def test_scorers_pickle_and_errors_are_negated():
    for name in SCORES:
        assert repr(pickle.loads(pickle.dumps(metrics.scorer(name)))) == f"scorer({name!r})"

    class Links:
        def predict(self, X):
            return X

    rate = metrics.scorer("alignment_error_rate")(Links(), [{(0, 1)}], [{(0, 0)}])
    assert rate == -1.0
