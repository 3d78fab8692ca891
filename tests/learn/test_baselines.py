"""HMM and CRF: counts by hand, decoding by enumeration, likelihood by enumeration."""

import itertools
import pickle
import sys

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.special import logsumexp
from scipy.stats import norm
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV

import structopt as so
from structopt.errors import IncompatibleError, InvalidInputError, MissingDependencyError
from structopt.learn.baselines import emissions


# ---------------------------------------------------------------------- HMM
def test_probabilities_are_the_smoothed_counts():
    # "the dog runs", "dog runs", "the the" over the words the = 0, dog = 1, runs = 2
    X = [np.eye(3)[[0, 1, 2]], np.eye(3)[[1, 2]], np.eye(3)[[0, 0]]]
    Y = [["D", "N", "V"], ["N", "V"], ["D", "D"]]
    model = so.HMM(smoothing=1.0).fit(X, Y)
    assert list(model.structure_.labels_) == ["D", "N", "V"]
    # starts: D twice, N once, of three sequences
    np.testing.assert_allclose(model.startprob_, [3 / 6, 2 / 6, 1 / 6])
    # moves: D-N, D-D once each; N-V twice; V nowhere
    np.testing.assert_allclose(
        model.transmat_, [[2 / 5, 2 / 5, 1 / 5], [1 / 5, 1 / 5, 3 / 5], [1 / 3] * 3]
    )
    # words: D three times "the", N twice "dog", V twice "runs"
    assert model.emissions_ == "categorical"
    words = [[4 / 6, 1 / 6, 1 / 6], [1 / 5, 3 / 5, 1 / 5], [1 / 5, 1 / 5, 3 / 5]]
    np.testing.assert_allclose(np.exp(model.emission_.weights), words)
    half = so.HMM(smoothing=0.5).fit(X, Y)
    np.testing.assert_allclose(half.startprob_, [2.5 / 4.5, 1.5 / 4.5, 0.5 / 4.5])


def test_bernoulli_and_gaussian_by_hand():
    # label a: (1, 0), (1, 1); label b: (0, 1). s = 1
    X, Y = [np.array([[1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])], ["aab"]
    model = so.HMM().fit(X, Y)
    assert model.emissions_ == "bernoulli"
    on = np.array([[3 / 4, 2 / 4], [1 / 3, 2 / 3]])
    weights, bias = model.emission_
    for x in itertools.product((0.0, 1.0), repeat=2):
        wanted = np.log(np.where(np.array(x) == 1, on, 1 - on)).sum(axis=1)
        np.testing.assert_allclose(weights @ np.array(x) + bias, wanted)
    # one feature, label a: 1, 3; label b: 5. All: mean 3, variance 8 / 3. s = 1
    model = so.HMM(emissions="gaussian").fit([np.array([[1.0], [3.0], [5.0]])], ["aab"])
    weights, bias = model.emission_
    mean = np.array([(1 + 3 + 3) / 3, (5 + 3) / 2])
    variance = np.array(
        [((1 - 7 / 3) ** 2 + (3 - 7 / 3) ** 2 + 8 / 3) / 3, ((5 - 4) ** 2 + 8 / 3) / 2]
    )
    for x in (-1.0, 0.5, 4.0):
        got = weights @ np.array([x, x * x]) + bias
        wanted = norm.logpdf(x, mean, np.sqrt(variance))
        np.testing.assert_allclose(got - got[0], wanted - wanted[0])


def log_emission(kind, model, X, Y, x, k, s):
    """log p(x | k) from the data and nothing of the library."""
    tokens, labels = np.concatenate(X), np.concatenate(Y)
    mine = tokens[labels == k]
    if kind == "categorical":
        return x @ np.log((mine.sum(axis=0) + s) / (mine.sum() + s * tokens.shape[1]))
    if kind == "bernoulli":
        on = (mine.sum(axis=0) + s) / (len(mine) + 2 * s)
        return np.log(np.where(x == 1, on, 1 - on)).sum()
    mean = (mine.sum(axis=0) + s * tokens.mean(axis=0)) / (len(mine) + s)
    variance = (((mine - mean) ** 2).sum(axis=0) + s * tokens.var(axis=0)) / (len(mine) + s)
    return norm.logpdf(x, mean, np.sqrt(variance)).sum()


DRAWS = {
    "categorical": lambda rng, n: np.eye(4)[rng.integers(4, size=n)],
    "bernoulli": lambda rng, n: rng.integers(2, size=(n, 4)).astype(float),
    "gaussian": lambda rng, n: rng.normal(1.0, 2.0, size=(n, 4)),
}


@pytest.mark.parametrize("kind", DRAWS)
@pytest.mark.parametrize("sparse", [False, True])
def test_decoding_is_the_most_probable_of_all(kind, sparse):
    rng = np.random.default_rng(5)
    X = [DRAWS[kind](rng, n) for n in (3, 4, 1, 5, 4, 2)]
    Y = [rng.integers(3, size=len(x)) for x in X]
    Y[0][:3] = [0, 1, 2]
    given = [sp.csr_array(x) for x in X] if sparse else X
    model = so.HMM(smoothing=0.3).fit(given, Y)
    assert model.emissions_ == kind
    start = np.array([sum(y[0] == k for y in Y) + 0.3 for k in range(3)]) / (len(Y) + 0.9)
    moves = np.full((3, 3), 0.3)
    for y in Y:
        np.add.at(moves, (y[:-1], y[1:]), 1.0)
    moves /= moves.sum(axis=1, keepdims=True)

    def joint(x, y):
        value = np.log(start[y[0]]) + sum(np.log(moves[a, b]) for a, b in itertools.pairwise(y))
        return value + sum(log_emission(kind, model, X, Y, x[t], y[t], 0.3) for t in range(len(y)))

    for x, predicted in zip(X, model.predict(given), strict=True):
        everything = list(itertools.product(range(3), repeat=len(x)))
        assert tuple(predicted) == max(everything, key=lambda y, x=x: joint(x, y))
        lifted = emissions.lift(model.emissions_, x)
        scores = [model.structure_.joint_features(lifted, y) @ model.weights_ for y in everything]
        wanted = np.array([joint(x, y) for y in everything])
        np.testing.assert_allclose(np.ravel(scores) - scores[0], wanted - wanted[0], atol=1e-9)


def test_auto_looks_at_the_values():
    counts = np.array([[2.0, 0.0], [0.0, 1.0]])
    assert emissions.kind_of(counts) == emissions.kind_of(sp.csr_array(counts)) == "categorical"
    assert emissions.kind_of(sp.csr_array(np.eye(2))) == "categorical"
    assert emissions.kind_of(np.array([[1.0, 1.0], [0.0, 0.0]])) == "bernoulli"
    assert emissions.kind_of(np.array([[0.5, 0.0]])) == "gaussian"
    assert emissions.kind_of(-np.eye(2)) == "gaussian"


def test_constant_features_and_labels_without_data():
    X, Y = [np.full((3, 2), 0.5)], [[0, 1, 1]]
    model = so.HMM(labels=[0, 1, 2]).fit(X, Y)
    assert np.isfinite(model.weights_).all()
    assert model.predict(X)[0][0] in (0, 1, 2)
    assert model.transmat_.shape == (3, 3)


def test_hmm_reads_digits_and_is_an_estimator():
    X, Y = so.datasets.load_digit_words(80, seed=0)
    X_test, Y_test = so.datasets.load_digit_words(40, split="test", seed=1)
    model = so.HMM().fit(X, Y)
    assert model.emissions_ == "gaussian"
    assert model.score(X_test, Y_test) > 0.7
    assert clone(so.HMM(0.2, emissions="bernoulli")).get_params() == {
        "smoothing": 0.2, "emissions": "bernoulli", "labels": None
    }  # fmt: skip
    search = GridSearchCV(so.HMM(labels=range(10)), {"smoothing": [0.1, 1.0]}, cv=2).fit(X, Y)
    assert search.best_params_["smoothing"] in (0.1, 1.0)
    assert pickle.loads(pickle.dumps(model)).predict(X_test) == model.predict(X_test)


@pytest.mark.parametrize("make", [so.HMM, so.CRF])
def test_bad_input_is_named(make):
    X, Y = [np.eye(2), np.eye(2)[:1]], ["ab", "a"]
    with pytest.raises(NotFittedError):
        make().predict(X)
    with pytest.raises(InvalidInputError, match="xample 1"):
        make().fit([X[0], X[1] * np.nan], Y)
    with pytest.raises(InvalidInputError, match="2 positions but 1 labels"):
        make().fit(X, ["a", "a"])
    with pytest.raises(InvalidInputError, match="2 inputs but 1 outputs"):
        make().fit(X, ["ab"])
    if make is so.CRF:
        pytest.importorskip("pycrfsuite", reason="python-crfsuite is not installed")
    model = make().fit(X, Y)
    assert model.predict([]) == []
    with pytest.raises(InvalidInputError, match="columns"):
        model.predict([np.ones((2, 3))])


def test_hmm_refuses_what_it_cannot_count():
    X, Y = [np.eye(2)], ["ab"]
    for bad in (0.0, -1.0, np.nan):
        with pytest.raises(InvalidInputError, match="smoothing"):
            so.HMM(bad).fit(X, Y)
    with pytest.raises(InvalidInputError, match="'poisson'"):
        so.HMM(emissions="poisson").fit(X, Y)
    with pytest.raises(InvalidInputError, match="zeros and ones"):
        so.HMM(emissions="bernoulli").fit([2 * np.eye(2)], Y)
    with pytest.raises(InvalidInputError, match="negative"):
        so.HMM(emissions="categorical").fit([-np.eye(2)], Y)


# ---------------------------------------------------------------------- CRF
@pytest.fixture
def crfsuite():
    return pytest.importorskip("pycrfsuite", reason="python-crfsuite is not installed")


def test_crf_agrees_with_crfsuite_itself(crfsuite, tmp_path, capfd):
    X, Y = so.datasets.load_digit_words(40, seed=0)
    trainer = crfsuite.Trainer("lbfgs", verbose=False)
    trainer.set_params(
        {"c2": 0.5, "c1": 0.1, "feature.possible_states": 1, "feature.possible_transitions": 1}
    )
    items = [[{f"{j}": v for j, v in enumerate(row) if v} for row in x.tolist()] for x in X]
    for sequence, y in zip(items, Y, strict=True):
        trainer.append(sequence, [str(k) for k in y])
    trainer.train(str(tmp_path / "direct"))
    tagger = crfsuite.Tagger()
    tagger.open(str(tmp_path / "direct"))
    wanted = [[int(k) for k in tagger.tag(sequence)] for sequence in items]
    tagger.close()
    model = so.CRF(C2=0.5, C1=0.1).fit(X, Y)
    assert model.predict(X) == wanted
    assert so.CRF(C2=0.5, C1=0.1).fit([sp.csr_array(x) for x in X], Y).predict(X) == wanted
    assert capfd.readouterr() == ("", "")
    assert model.score(X, Y) > 0.95
    again = pickle.loads(pickle.dumps(model))
    assert again.predict(X) == wanted


def test_crf_weights_are_where_the_gradient_vanishes(crfsuite):
    # 0 = sum_i E[phi(x_i, y)] - phi(x_i, y_i) + 2 C2 w, the expectation by enumeration
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(n, 3)).round(2) for n in (3, 4, 2, 4)]
    Y = [[("t", int(k)) for k in rng.integers(2, size=len(x))] for x in X]
    model = so.CRF(C2=0.3).fit(X, Y)
    structure, weights = model.structure_, model.weights_
    gradient = 2 * 0.3 * weights
    for x, y in zip(X, Y, strict=True):
        others = list(itertools.product(structure.labels_, repeat=len(x)))
        features = np.vstack([structure.joint_features(x, o).toarray() for o in others])
        log_p = features @ weights
        gradient += np.exp(log_p - logsumexp(log_p)) @ features
        gradient -= structure.joint_features(x, y).toarray()[0]
        best = others[int(np.argmax(log_p))]
        assert model.predict([x]) == [list(best)]
    assert np.abs(gradient).max() < 0.02
    assert np.abs(weights).max() > 0.1


def test_crf_l1_switches_weights_off(crfsuite):
    X, Y = so.datasets.load_digit_words(40, seed=0)
    ridge, lasso = so.CRF(C2=0.1).fit(X, Y), so.CRF(C2=0.0, C1=2.0).fit(X, Y)
    assert np.count_nonzero(lasso.weights_) < 0.2 * np.count_nonzero(ridge.weights_)
    seen = so.CRF(C2=0.1, all_pairs=False, max_iter=30).fit(X, Y)
    assert np.count_nonzero(seen.weights_) < np.count_nonzero(ridge.weights_)
    assert so.CRF(algorithm="l2sgd", max_iter=20).fit(X, Y).score(X, Y) > 0.8


def test_crf_is_an_estimator_and_says_what_it_does_not_take(crfsuite):
    X, Y = [np.eye(2)], ["ab"]
    assert clone(so.CRF(0.2, 0.1, max_iter=3)).get_params() == {
        "C2": 0.2, "C1": 0.1, "algorithm": "lbfgs", "max_iter": 3, "all_pairs": True, "labels": None
    }  # fmt: skip
    with pytest.raises(InvalidInputError, match="'newton'"):
        so.CRF(algorithm="newton").fit(X, Y)
    with pytest.raises(InvalidInputError, match="C2"):
        so.CRF(-1.0).fit(X, Y)
    with pytest.raises(IncompatibleError, match="l2sgd"):
        so.CRF(C1=0.1, algorithm="l2sgd").fit(X, Y)


def test_crf_without_its_package_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "pycrfsuite", None)
    with pytest.raises(MissingDependencyError, match=r"structopt-margin\[crf\]"):
        so.CRF().fit([np.eye(2)], ["ab"])


# ---------------------------------------------------------------------- CRF over any structure
def tree_problem():
    rng = np.random.default_rng(3)
    X = [(rng.normal(size=(3, 2)), [-1, 0, 0]) for _ in range(4)]
    return X, ["aba", "bba", "abb", "aaa"]


def by_enumeration(structure, X, Y, weights):
    """The negative log likelihood, every labelling written out."""
    total = 0.0
    for x, y in zip(X, Y, strict=True):
        scores = [
            (structure.joint_features(x, list(other)) @ weights).item()
            for other in itertools.product("ab", repeat=len(y))
        ]
        total += logsumexp(scores) - (structure.joint_features(x, list(y)) @ weights).item()
    return total


@pytest.mark.parametrize(("C2", "C1"), [(0.3, 0.0), (0.05, 0.8)])
def test_a_tree_crf_minimises_the_enumerated_likelihood(C2, C1):
    X, Y = tree_problem()
    model = so.StructuredCRF(so.Hierarchy(labels="ab"), C2, C1, tol=1e-8).fit(X, Y)

    def objective(w):
        plain = by_enumeration(model.structure_, X, Y, w)
        return plain + C2 * float(w @ w) + C1 * float(np.abs(w).sum())

    best = objective(model.weights_)
    assert best == pytest.approx(model.objective_, rel=1e-9)
    rng = np.random.default_rng(0)
    for size in (1e-3, 0.1, 1.0):  # convex: no better point near or far
        for _ in range(10):
            step = rng.normal(size=len(model.weights_))
            assert objective(model.weights_ + size * step) >= best - 1e-9
    assert (np.abs(model.weights_) == 0).any() == (C1 > 0)


def test_a_chain_crf_is_that_of_crfsuite():
    X, Y = so.datasets.make_chain_crf(15, n_features=4, n_relevant=2, length=4, seed=0)
    ours = so.StructuredCRF(so.Chain(), 0.5, tol=1e-7).fit(X, Y)
    theirs = so.CRF(C2=0.5).fit(X, Y)
    assert np.allclose(ours.weights_, theirs.weights_, atol=2e-3)


def test_a_crf_needs_sums_over_outputs():
    X, Y = so.datasets.make_alignments(3, mean_edges=6, seed=0)
    with pytest.raises(IncompatibleError, match="sum over its outputs"):
        so.StructuredCRF(so.Matching()).fit(X, Y)
    with pytest.raises(InvalidInputError, match="Structure"):
        so.StructuredCRF("tree").fit(X, Y)
