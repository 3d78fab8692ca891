"""Block-coordinate Frank-Wolfe: its exact gap brackets the enumerated optimum."""

from itertools import pairwise

import numpy as np
import pytest
from enumeration import optimum, small_chain, small_classes, solve

import structopt as so
from structopt.arrays import base_matrix
from structopt.errors import IncompatibleError, InvalidInputError
from structopt.methods.frank_wolfe.blocks import Blocks
from structopt.methods.frank_wolfe.method import FrankWolfe
from structopt.methods.frank_wolfe.planes import Planes
from structopt.structures.base.parts import Directions


def run_of(problem, formulation, **kwargs):
    X, Y, structure, _ = problem
    options = {k: kwargs.pop(k) for k in ("sample_weight", "n_jobs") if k in kwargs}
    data = so.DataSet.of(structure, X, Y, **options)
    return FrankWolfe(structure, formulation, data, **kwargs)


def test_bounds_are_monotone_and_agree_with_cutting_planes():
    problem = X, Y, structure, _ = small_chain(np.random.default_rng(1), n=10)
    result = run_of(problem, so.M3N(1.0), tol=1e-4).solve()
    duals = [r.dual for r in result.history]
    assert all(b >= a for a, b in pairwise(duals))
    planes = so.CuttingPlane(
        structure, so.M3N(1.0), so.DataSet.of(structure, X, Y), tol=1e-5
    ).solve()
    assert result.certificate.primal == pytest.approx(planes.certificate.primal, rel=2e-4)


def test_without_a_memory_it_is_the_method_of_the_paper():
    problem = small_chain(np.random.default_rng(3), n=6)
    kept = run_of(problem, so.M3N(2.0), tol=1e-3).solve()
    paper = run_of(problem, so.M3N(2.0), tol=1e-3, planes=2, sweeps=0).solve()
    assert paper.certificate.certified
    assert paper.certificate.primal == pytest.approx(kept.certificate.primal, rel=2e-3)
    assert max(r.cuts for r in paper.history) <= 2 * 6
    assert len(kept.history) <= len(paper.history)


def test_merged_planes_change_neither_weights_nor_bound():
    rng = np.random.default_rng(0)
    base = base_matrix(rng.normal(size=(8, 5)))
    few, many = (Blocks(base, np.ones(1), np.ones(5), planes=k) for k in (2, 9))
    for row in range(8):
        plane = Planes(np.zeros(1, np.int64), np.array([3.0]), Directions.rows(row, 1))
        few.absorb(plane)
        many.absorb(plane)
        kept, value = few.weights.copy(), few.value()  # value() recomputes the weights
        np.testing.assert_allclose(kept, few.weights, atol=1e-12)
        assert value <= many.value() + 1e-9
    assert len(few) <= 2


def test_a_structure_of_sparse_rows():
    X = [np.array([1.0, 0.3]), np.array([-0.5, 1.0]), np.array([-1.0, -1.0])]
    Y = [1, 1, -1]
    plain = so.Enumerated([-1, 1], lambda x, y: 0.5 * y * x).fitted(X, Y)
    result = FrankWolfe(plain, so.StructSVM(3.0), so.DataSet.of(plain, X, Y), tol=1e-5).solve()
    truth = solve(plain, so.StructSVM(3.0), X, Y, tol=1e-6)
    assert result.certificate.certified
    assert result.certificate.primal == pytest.approx(truth.certificate.primal, rel=2e-5)


def test_the_last_weights_are_certified_whenever_it_stops():
    problem = small_chain(np.random.default_rng(1), n=10)
    run = run_of(problem, so.M3N(1.0), tol=0.0, max_iter=5)
    result = run.solve()
    assert result.status == "max_iter"
    assert result.certificate.dual <= result.certificate.primal < result.history[-1].primal
    value = run._form.value(result.weights, run.data)
    assert result.certificate.primal == pytest.approx(value, rel=1e-12)


def test_an_unreachable_tolerance_ends_as_stalled():
    result = run_of(small_classes(np.random.default_rng(4)), so.M3N(0.5), tol=0.0).solve()
    assert result.status in ("optimal", "stalled")
    assert result.certificate.relative_gap <= 1e-10


def test_sample_weights_and_repeatability():
    problem = small_classes(np.random.default_rng(2))
    weight = np.array([1.0, 0.5, 2.0, 0.0, 3.0, 1.0])
    runs = [
        run_of(problem, so.M3N(1.5), tol=1e-4, sample_weight=weight, random_state=3).solve()
        for _ in range(2)
    ]
    np.testing.assert_array_equal(runs[0].weights, runs[1].weights)
    truth = optimum("m3n", 1.5, problem, weights=weight)
    assert runs[0].certificate.primal == pytest.approx(truth, rel=2e-4)


def test_other_forms_and_options_are_refused():
    problem = small_chain(np.random.default_rng(0))
    with pytest.raises(IncompatibleError, match="frank-wolfe"):
        run_of(problem, so.LPStruct(1.0))
    with pytest.raises(InvalidInputError, match="planes"):
        run_of(problem, so.M3N(1.0), planes=1)


def test_structured_smo_moves_mass_between_two_outputs_in_closed_form():
    """One example, three classes, phi = e_y: the first visit is worked out by hand.

    At w = 0 both wrong classes have g = 1 and gold, which holds all mass c = 4, has g = 0: the
    step is min(4, (1 - 0) / |delta|^2) = 1/2 with delta = e_0 - e_1, and w = delta / 2.
    """
    X, y = np.ones((1, 1)), [0]
    structure = so.Multiclass(labels=[0, 1, 2]).fitted(X, y)
    ridge = so.M3N(C=1.0)
    data = so.DataSet.of(structure, X, y, sample_weight=[4.0])
    run = so.StructuredSMO(structure, ridge, data, tol=1e-9)
    run.step()
    assert np.allclose(np.sort(run.iterate().weights), [-0.5, 0.0, 0.5])
    duals = [run.step().dual for _ in range(40)]
    assert all(b >= a for a, b in pairwise(duals))
    found = run.solve()
    best = so.CuttingPlane(structure, ridge, data, tol=1e-9).solve()
    assert found.certificate.certified
    assert found.certificate.primal == pytest.approx(best.certificate.primal, rel=1e-6)
