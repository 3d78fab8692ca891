"""Kernels three ways: the pivoted Cholesky map, the dual, and the features written out."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics.pairwise import polynomial_kernel
from sklearn.pipeline import make_pipeline

import structopt as so

TOL = 1e-5


def degree_two(X):
    """The features of (x.y + 1)^2: 1, sqrt2 x_i, x_i^2, sqrt2 x_i x_j."""
    columns = [np.ones(len(X))]
    columns += [np.sqrt(2) * x for x in X.T]
    columns += [x * x for x in X.T]
    columns += [np.sqrt(2) * a * b for a, b in itertools.combinations(X.T, 2)]
    return np.stack(columns, axis=1)


def classes(seed, n=24, d=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    return X, list((X[:, 0] * X[:, 1] > 0).astype(int) + (X[:, 2] > 0.5))


def words(seed, n=8, d=2):
    rng = np.random.default_rng(seed)
    X = [rng.normal(size=(rng.integers(1, 5), d)) for _ in range(n)]
    return X, [list((x[:, 0] * x[:, 1] > 0).astype(int)) for x in X]


POLY = {"kernel": "polynomial", "degree": 2, "gamma": 1.0, "coef0": 1.0}


@pytest.mark.parametrize("formulation", [so.M3N(0.5), so.StructSVM(3.0)], ids=["m3n", "svm"])
@pytest.mark.parametrize("seed", [0, 1])
def test_map_dual_and_explicit_features_agree_on_classes(formulation, seed):
    X, y = classes(seed)
    explicit = so.StructuredClassifier(so.Multiclass(), formulation, tol=TOL)
    explicit.fit(degree_two(X), y)
    mapped = make_pipeline(
        so.KernelMap(**POLY), so.StructuredClassifier(so.Multiclass(), formulation, tol=TOL)
    ).fit(X, y)
    dual = so.KernelMachine(so.Multiclass(), formulation, **POLY, tol=TOL).fit(X, y)
    truth = explicit.result_.certificate.primal
    assert mapped[-1].result_.certificate.primal == pytest.approx(truth, rel=2 * TOL)
    assert dual.result_.certificate.certified
    assert dual.result_.certificate.primal == pytest.approx(truth, rel=2 * TOL)
    assert dual.result_.certificate.dual <= truth * (1 + 1e-9)
    fresh = np.random.default_rng(9).normal(size=(40, 3))
    assert np.mean(np.array(mapped.predict(fresh)) == dual.predict(fresh)) > 0.9


@pytest.mark.parametrize("boundaries", [False, True])
def test_map_dual_and_explicit_features_agree_on_sequences(boundaries):
    X, Y = words(2)
    chain = so.Chain(labels=(0, 1), boundaries=boundaries)
    explicit = so.StructuredClassifier(chain, so.M3N(2.0), tol=TOL)
    explicit.fit([degree_two(x) for x in X], Y)
    mapped = so.StructuredClassifier(chain, so.M3N(2.0), tol=TOL)
    mapped.fit(so.KernelMap(**POLY).fit_transform(X), Y)
    dual = so.KernelMachine(chain, so.M3N(2.0), **POLY, tol=TOL).fit(X, Y)
    truth = explicit.result_.certificate.primal
    assert mapped.result_.certificate.primal == pytest.approx(truth, rel=2 * TOL)
    assert dual.result_.certificate.primal == pytest.approx(truth, rel=2 * TOL)
    assert dual.score(X, Y) == 1.0 - np.mean(
        [a != b for y, p in zip(Y, dual.predict(X), strict=True) for a, b in zip(y, p, strict=True)]
    )


def test_other_formulations_take_the_map():
    X, y = classes(3)
    Z = so.KernelMap(**POLY).fit_transform(X)
    rmm = so.StructuredClassifier(so.Multiclass(), so.StructRMM(3.0, B=1.5), tol=TOL).fit(Z, y)
    explicit = so.StructuredClassifier(so.Multiclass(), so.StructRMM(3.0, B=1.5), tol=TOL)
    explicit.fit(degree_two(X), y)
    assert rmm.result_.certificate.primal == pytest.approx(
        explicit.result_.certificate.primal, rel=2 * TOL
    )
    with pytest.raises(so.errors.IncompatibleError, match="KernelMap"):
        so.KernelMachine(so.Multiclass(), so.L1M3N(1.0)).fit(X, y)


def test_sample_weights_count_in_the_dual_too():
    X, y = classes(4)
    weight = np.arange(len(y)) % 3 / 2.0
    explicit = so.StructuredClassifier(so.Multiclass(), so.M3N(0.5), tol=TOL)
    explicit.fit(degree_two(X), y, sample_weight=weight)
    dual = so.KernelMachine(so.Multiclass(), so.M3N(0.5), **POLY, tol=TOL)
    dual.fit(X, y, sample_weight=weight)
    assert dual.result_.certificate.primal == pytest.approx(
        explicit.result_.certificate.primal, rel=2 * TOL
    )


@given(
    n=st.integers(1, 12),
    d=st.integers(1, 3),
    seed=st.integers(0, 1000),
    kernel=st.sampled_from(["linear", "polynomial", "rbf"]),
    tol=st.sampled_from([1e-1, 1e-4, 1e-12]),
)
@settings(max_examples=60, deadline=None)
def test_the_map_reproduces_the_kernel_up_to_its_error(n, d, seed, kernel, tol):
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, size=(n, d)).astype(float)  # repeated rows: rank is lost
    features = so.KernelMap(kernel, degree=2, gamma=0.5, tol=tol)
    Z = features.fit_transform(X)
    truth = {
        "linear": X @ X.T,
        "polynomial": (0.5 * X @ X.T + 1.0) ** 2,
        "rbf": np.exp(-0.5 * ((X[:, None] - X[None]) ** 2).sum(axis=2)),
    }[kernel]
    largest = truth.diagonal().max()
    left = truth - Z @ Z.T
    assert features.error_ <= max(tol, 1e-13) * max(largest, 1e-300)
    # a positive semidefinite remainder: every entry is below the diagonal's largest
    assert np.abs(left).max() <= features.error_ + 1e-9 * max(largest, 1.0)


def test_ranks_can_be_limited_and_functions_are_kernels():
    X, _ = classes(5)
    few = so.KernelMap("rbf", gamma=1.0, max_rank=4).fit(X)
    assert few.transform(X).shape == (24, 4)
    assert few.error_ > 0
    mine = so.KernelMap(lambda a, b: polynomial_kernel(a, b, degree=2, gamma=1.0, coef0=1.0))
    np.testing.assert_allclose(
        mine.fit_transform(X), so.KernelMap(**POLY).fit_transform(X), atol=1e-9
    )


@pytest.mark.parametrize(
    ("make", "X", "message"),
    [
        (lambda: so.KernelMap("cubic"), np.ones((2, 1)), "kernel is 'cubic'"),
        (lambda: so.KernelMap(tol=0.0), np.ones((2, 1)), "tol must be > 0"),
        (lambda: so.KernelMap("rbf"), np.array([[np.nan]]), "Row 0 holds nan"),
        (lambda: so.KernelMap(lambda a, b: -(a @ b.T)), np.ones((2, 1)), "not positive"),
        (
            lambda: so.KernelMap(lambda a, b: 1.0 - 3.0 * (a != b.T)),
            np.array([[1.0], [2.0]]),
            "not positive",
        ),
        (lambda: so.KernelMap(lambda a, b: np.ones(3)), np.ones((2, 1)), "returned shape"),
        (lambda: so.KernelMap("polynomial", degree=500, gamma=1.0), 1e9 * np.eye(2), "overflowed"),
        (lambda: so.KernelMachine(so.Chain(), so.M3N()), np.ones((2, 1)), "list of sequences"),
        (lambda: so.KernelMachine(so.LabelVector(), so.M3N()), np.ones((2, 1)), "Multiclass and"),
    ],
)
def test_bad_input_gives_typed_errors(make, X, message):
    with pytest.raises(so.errors.StructoptError, match=message):
        make().fit(X, [0, 1])


def test_a_machine_does_what_every_model_does(tmp_path):
    X, y = so.datasets.make_classes(40, seed=0)
    model = so.KernelMachine(so.Multiclass(), so.M3N(C=1.0), gamma=0.5).fit(X, y)
    half = np.arange(40) % 2
    right = np.array([a == b for a, b in zip(model.predict(X), y, strict=True)])
    assert model.score(X, y, sample_weight=half) == pytest.approx(right[half == 1].mean())
    np.testing.assert_array_equal(model.coef_.weight, model.dual_coef_.ravel())
    model.report(tmp_path / "run.html", X, y)
    assert (tmp_path / "run.html").read_text().startswith("<!")
    with pytest.raises(so.errors.IncompatibleError, match="training inputs"):
        model.save(tmp_path / "model")


# ---------------------------------------------------------------------- StructRMM's dual (3)
@pytest.mark.parametrize("B", [1.2, 2.5, 50.0])
@pytest.mark.parametrize("rescale", ["unit", "margin"])
def test_relative_margins_by_the_dual_agree_with_explicit_features(B, rescale):
    X, y = classes(1, n=14)
    formulation = so.StructRMM(20.0, B, rescale=rescale)
    explicit = so.StructuredClassifier(so.Multiclass(), formulation, tol=1e-5)
    truth = explicit.fit(degree_two(X), y).result_.certificate.primal
    dual = so.KernelMachine(so.Multiclass(), formulation, **POLY, tol=1e-2).fit(X, y)
    found = dual.result_.certificate
    assert found.certified
    assert found.dual <= truth * (1 + 1e-9) <= found.primal * (1 + 1e-4)
    scores = polynomial_kernel(X, X, degree=2, gamma=1.0, coef0=1.0) @ dual.dual_coef_.T
    apart = scores[np.arange(len(y)), y][:, None] - scores
    assert np.abs(apart).max() <= B * (1 + 1e-9)


def test_relative_margins_of_sequences_by_the_dual():
    X, Y = words(0)
    formulation = so.StructRMM(10.0, 1.5)
    explicit = so.StructuredClassifier(so.Chain(), formulation, tol=1e-4)
    truth = explicit.fit([degree_two(x) for x in X], Y).result_.certificate.primal
    dual = so.KernelMachine(so.Chain(), formulation, **POLY, tol=1e-2).fit(X, Y)
    assert dual.result_.certificate.certified
    assert dual.result_.certificate.primal == pytest.approx(truth, rel=1.2e-2)


def test_a_fraction_of_the_largest_projection_is_resolved_with_the_kernel():
    X, y = classes(1, n=14)
    half = so.KernelMachine(so.Multiclass(), so.StructRMM(20.0, B_fraction=0.5), **POLY, tol=1e-2)
    svm = so.KernelMachine(so.Multiclass(), so.StructSVM(20.0), **POLY, tol=1e-2).fit(X, y)
    kernel = polynomial_kernel(X, X, degree=2, gamma=1.0, coef0=1.0)

    def largest(model):
        scores = kernel @ model.dual_coef_.T
        return np.abs(scores[np.arange(len(y)), y][:, None] - scores).max()

    assert largest(half.fit(X, y)) == pytest.approx(0.5 * largest(svm), rel=1e-6)
    assert half.result_.certificate.certified
