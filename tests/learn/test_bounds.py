"""The papers' bounds: by hand, from fitted models, and for any growth function."""

import math

import numpy as np
import pytest
from enumeration import constraints, small_chain

import structopt as so
from structopt.errors import IncompatibleError, InvalidInputError
from structopt.learn import bounds


def test_theorem_6_2_of_a_fitted_model_is_recomputed_by_hand():
    problem = X, Y, structure, _ = small_chain(np.random.default_rng(0), n=5)
    C = 0.5
    model = so.StructuredClassifier(so.Chain(labels=range(2)), so.LPStruct(C), tol=1e-4).fit(X, Y)
    found = model.bound(X, Y, confidence=0.1)
    w = model.result_.weights
    hinge = np.zeros(5)
    largest = 1 / C
    for i, delta, _ in constraints(*problem):
        hinge[i] = max(hinge[i], 1 - delta @ w)
        largest = max(largest, np.abs(delta).max())
    c = np.abs(w).sum() + C * hinge.sum()
    pairs, d, m = 5 * (2**3 - 1), structure.n_features_, 5
    assert found.n_points == pairs
    assert found.norm == pytest.approx(c, rel=1e-6)
    assert found.largest == pytest.approx(largest)
    ratio = c * largest / 0.5
    covering = (
        36
        * ratio**2
        * (1 + math.log(d + m))
        * math.log2(2 * math.ceil(4 * ratio + 2) * 2 * pairs + 1)
    )
    assert found.log2_covering == pytest.approx(covering, rel=1e-6)
    assert found.value == pytest.approx(2 / pairs * (covering + math.log2(20)), rel=1e-6)


def test_long_sequences_have_more_pairs_than_floats_can_count():
    X = [np.ones((600, 1))]
    Y = [[0, 1, 2, 3, 4] * 120]
    model = so.StructuredClassifier(so.Chain(), so.LPStruct(1.0)).fit(X, Y)
    found = model.bound(X, Y)
    assert found.n_points == 5**600 - 1
    assert 0 <= found.value < 1e-300
    more = bounds.lp_struct_error(5**300, log2_covering=1e4)
    assert more == pytest.approx(2 * (1e4 + math.log2(40)) / 5**300)


def test_bounds_of_other_models_are_refused():
    X, y = so.datasets.make_classes(20, seed=0)
    model = so.StructuredClassifier(so.Multiclass(), so.M3N()).fit(X, y)
    with pytest.raises(IncompatibleError, match="about LPStruct"):
        model.bound(X, y)
    X, Y = so.datasets.make_alignments(4, mean_edges=5, seed=0)
    model = so.StructuredClassifier(so.Matching(), so.LPStruct(nonnegative=False)).fit(X, Y)
    with pytest.raises(IncompatibleError, match="give n_points"):
        model.bound(X, Y)
    assert model.bound(X, Y, n_points=100, largest=3.0).n_points == 100
    for wrong in (0, math.inf, math.nan, -1):
        with pytest.raises(InvalidInputError):
            bounds.lp_struct_error(wrong, log2_covering=1.0)


def test_bound_2_takes_any_growth_function():
    m = 1000
    # 2^m labellings: the bound says nothing, whatever m
    assert bounds.growth_error(m, log_growth=lambda k: k * math.log(2)) > 1
    by_hand = math.sqrt(32 * (math.log(7) + math.log(40)) / m) + 0.25
    finite = bounds.growth_error(m, log_growth=lambda k: math.log(7), best=0.25, confidence=0.1)
    assert finite == pytest.approx(by_hand)
    with pytest.raises(InvalidInputError, match="log_growth"):
        bounds.growth_error(m, log_growth=lambda k: -1.0)


def test_theorem_4_3_by_hand():
    given = {"C": 8.0, "n_examples": 10, "radius": 2.0}
    # max(2 * 8 * 4 / eps_B^2, 20 / eps, 8 * 8 * 4 / eps^2)
    assert bounds.rmm_cuts(eps=1.0, eps_B=0.1, **given) == pytest.approx(6400)
    assert bounds.rmm_cuts(eps=0.5, eps_B=10.0, **given) == pytest.approx(1024)
    assert bounds.rmm_cuts(eps=100.0, eps_B=100.0, **given) == pytest.approx(0.2)
    assert bounds.rmm_improvement(eps=0.5, eps_B=10.0, **given) == pytest.approx(1 / 128)
