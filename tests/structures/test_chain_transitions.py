"""Transitions that are forbidden or forced: exact in training and prediction.

The conformance checks draw random ones for every oracle; here is what users see.
"""

import itertools
import pickle

import numpy as np
import pytest
from sklearn.base import clone

import structopt as so
from structopt.errors import InfeasibleError, InvalidInputError
from structopt.structures.chain.small import small
from structopt.structures.chain.transitions import allowed_pairs
from structopt.testing.structure import STRUCTURE_CHECKS
from structopt.testing.structure_case import StructureCase

TAGS = ["O", "B-A", "I-A", "B-B", "I-B"]


def data(n=12, seed=0):
    """Tagged sequences in BIO whose inputs say little."""
    rng = np.random.default_rng(seed)
    may = allowed_pairs("bio", TAGS)
    X, Y = [], []
    for _ in range(n):
        y, before = [], 5
        for _ in range(int(rng.integers(1, 7))):
            before = int(rng.choice(np.flatnonzero(may[before, :5])))
            y.append(before)
        X.append(np.eye(5)[y] + rng.normal(0, 1.0, (len(y), 5)))
        Y.append([TAGS[k] for k in y])
    return X, Y


def legal(y):
    return all(
        not tag.startswith("I-") or before in (f"B-{tag[2:]}", tag)
        for before, tag in zip(["O", *y], y, strict=False)
    )


def test_more_random_problems_keep_the_contract():
    drawn = [small(np.random.default_rng(seed)) for seed in range(100, 110)]
    cases = [StructureCase(s, 0) for s in drawn if s.structure.transitions is not None]
    assert len(cases) > 2
    for check in STRUCTURE_CHECKS:
        if "model_file" not in check.__name__ and "override" not in check.__name__:
            for case in cases:
                check(case)


@pytest.mark.parametrize(
    "transitions",
    ["bio", so.bio(["A", "B"]), allowed_pairs("bio", TAGS), allowed_pairs("bio", TAGS)[:5, :5]],
    ids=["name", "mapping", "with ends", "pairs only"],
)
def test_what_is_learned_never_breaks_them(transitions):
    X, Y = data()
    chain = so.Chain(labels=TAGS, transitions=transitions)
    model = so.StructuredClassifier(chain, so.M3N(C=0.05), tol=1e-4).fit(X, Y)
    assert model.result_.certificate.certified
    free = so.StructuredClassifier(so.Chain(labels=TAGS), so.M3N(C=0.05), tol=1e-4).fit(X, Y)
    test, _ = data(200, seed=1)
    whole = np.shape(transitions) != (5, 5)
    assert all(
        legal(y if whole else ["O", "B-A", *y][2:]) or not whole for y in model.predict(test)
    )
    assert not all(legal(y) for y in free.predict(test))
    # fewer outputs: the optimum is no larger, and weights of what is forbidden are 0
    assert model.result_.certificate.primal <= free.result_.certificate.primal + 1e-6
    table = model.coef_
    forbidden = (table.feature == "after O") & (table.label == "I-A")
    assert table.weight[forbidden].tolist() == [0.0]


@pytest.mark.parametrize(
    ("method", "formulation"),
    [
        ("frank-wolfe", so.M3N(C=0.05)), ("subgradient", so.M3N(C=0.05)),
        ("bregman", so.M3N(C=0.05)), ("extragradient", so.M3N(C=0.05)),
        ("compact", so.M3N(C=0.05)), ("perceptron", so.M3N()), ("mira", so.M3N()),
        ("cutting-plane", so.StructSVM(0.05, rescale="slack")),
        ("cutting-plane", so.LPStruct(0.05)),
    ],
    ids=str,
)  # fmt: skip
def test_every_method_learns_with_them(method, formulation):
    X, Y = data(8)
    chain = so.Chain(transitions="bio")
    model = so.StructuredClassifier(chain, formulation, method=method, tol=1e-2, max_iter=300)
    assert all(legal(y) for y in model.fit(X, Y).predict(data(50, seed=1)[0]))


def test_marginals_of_what_is_forbidden_are_zero():
    X, Y = data()
    model = so.StructuredClassifier(so.Chain(labels=TAGS, transitions="bio"), so.M3N(C=0.05))
    for p in model.fit(X, Y).predict_marginals(X):
        assert p.sum(axis=1) == pytest.approx(np.ones(len(p)))
        assert p[0, [2, 4]].tolist() == [0.0, 0.0]


def test_forced_transitions_and_k_best():
    chain = so.Chain(labels=["a", "b"], transitions={None: ["a"], "a": ["b"], "b": ["a", None]})
    fitted = chain.fitted([np.ones((2, 1))], ["ab"])
    zero = np.zeros(fitted.n_features_)
    assert fitted.predict([np.ones((4, 1))], zero) == [["a", "b", "a", "b"]]
    assert fitted.k_best(np.ones((4, 1)), zero, 3) == [["a", "b", "a", "b"]]
    assert fitted.second_best(np.ones((2, 1)), zero, ["a", "b"]) is None
    for decoder in ("compiled", "networkx"):
        odd = clone_with(fitted, decoder)
        with pytest.raises(InfeasibleError, match="Example 1 has no output"):
            odd.predict([np.ones((2, 1)), np.ones((3, 1))], zero)
        with pytest.raises(InfeasibleError, match="Example 0"):
            odd.k_best(np.ones((1, 1)), zero, 2)
    with pytest.raises(InfeasibleError, match="Example 1"):
        fitted.marginals([np.ones((2, 1)), np.ones((3, 1))], zero)


def clone_with(fitted, decoder):
    other = pickle.loads(pickle.dumps(fitted))
    other.decoder = decoder
    return other


def test_tables_of_tags():
    assert so.bio(["A"]) == {
        "O": ["O", "B-A", None], "B-A": ["O", "B-A", "I-A", None],
        "I-A": ["O", "B-A", "I-A", None], None: ["O", "B-A"],
    }  # fmt: skip
    assert so.bioes(["A"]) == {
        "O": ["O", "B-A", "S-A", None], "B-A": ["I-A", "E-A"], "I-A": ["I-A", "E-A"],
        "E-A": ["O", "B-A", "S-A", None], "S-A": ["O", "B-A", "S-A", None],
        None: ["O", "B-A", "S-A"],
    }  # fmt: skip
    named = allowed_pairs(so.bioes(["A", "B"]), [t for t in so.bioes(["A", "B"]) if t is not None])
    tags = [t for t in so.bioes(["A", "B"]) if t is not None]
    assert np.array_equal(named, allowed_pairs("bioes", tags))
    bilou = [t.replace("E-", "L-").replace("S-", "U-") for t in tags]
    assert np.array_equal(named, allowed_pairs("bioes", bilou))


def test_models_are_cloned_and_saved_with_them(tmp_path):
    X, Y = data()
    model = so.StructuredClassifier(so.Chain(transitions="bio"), so.M3N(C=0.05)).fit(X, Y)
    model.save(tmp_path / "m")
    test = data(50, seed=1)[0]
    assert so.load_model(tmp_path / "m").predict(test) == model.predict(test)
    assert clone(model).structure.transitions == "bio"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"transitions": "iob9"}, "'iob9'; choose one of"),
        ({"transitions": "bio", "labels": [*TAGS, "NN"]}, "'NN' is no tag"),
        ({"transitions": {"X": []}}, "names the label 'X'"),
        ({"transitions": {"O": ["X"]}}, "names the label 'X'"),
        ({"transitions": np.ones((2, 2))}, r"shape \(2, 2\); for 5 labels"),
        ({"transitions": {"O": ["B-A"]}}, "after 'O' at position .* such in all"),
        ({"transitions": {None: ["O"]}}, "after the start at position 0"),
        ({"transitions": {**dict.fromkeys(TAGS, TAGS)}}, "has the end after"),
    ],
)
def test_bad_transitions_are_named(options, message):
    X, Y = data()
    with pytest.raises(InvalidInputError, match=message):
        so.StructuredClassifier(so.Chain(**{"labels": TAGS, **options}), so.M3N()).fit(X, Y)


def test_the_place_of_a_forbidden_step_is_named():
    X = [np.ones((2, 1)), np.ones((3, 1))]
    Y = [["O", "B-A"], ["B-A", "O", "I-A"]]
    chain = so.Chain(transitions="bio").fitted(X, Y)
    with pytest.raises(InvalidInputError, match="Example 8 has 'I-A' after 'O' at position 2") as e:
        chain.encode(X, Y, start=7)
    assert e.value.example == 8
    with pytest.raises(InvalidInputError, match="give a list of types"):
        so.bio("PER")


def test_constraints_at_prediction_keep_the_transitions():
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(4, 3)) for _ in range(20)]
    Y = [["O", "B-A", "I-A", "O"], ["B-A", "I-A", "B-A", "O"]] * 10
    model = so.StructuredClassifier(so.Chain(transitions="bio"), so.M3N(C=1.0), tol=1e-2).fit(X, Y)
    legal = [
        list(y)
        for y in itertools.product(["B-A", "I-A", "O"], repeat=4)
        if y.count("B-A") == 1 and "O I-A" not in " ".join(["O", *y])
    ]
    found = model.predict(X, constraints=so.constraints.exactly("B-A", 1))
    for x, y in zip(X, found, strict=True):
        assert y in legal
        score = {tuple(z): model.structure_.joint_features(x, z) @ model.weights_ for z in legal}
        assert score[tuple(y)][0] == pytest.approx(max(v[0] for v in score.values()))
    with pytest.raises(InfeasibleError, match="Example 0 has no output"):
        model.predict(X[:1], constraints=[so.constraints.exactly("B-A", 0),
                                          so.constraints.at_least_one("I-A")])  # fmt: skip
