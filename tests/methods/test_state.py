"""Runs from outside: stepped, looked at, copied, handed over, resumed."""

import pickle

import numpy as np
import pytest

import structopt as so
from structopt.errors import IncompatibleError, InvalidInputError
from structopt.methods import registry

FORMULATION = {"em": so.L1M3N(0.5)}


@pytest.fixture(scope="module")
def problem():
    X, Y = so.datasets.make_chain_crf(20, n_features=8, n_relevant=4, seed=0)
    structure = so.Chain().fitted(X, Y)
    return structure, so.DataSet.of(structure, X, Y)


@pytest.mark.parametrize("name", registry.names())
def test_stepping_from_outside_is_what_solve_does(problem, name):
    structure, data = problem
    formulation = FORMULATION.get(name, so.M3N(0.1))
    options = {"tol": 0.05, "max_iter": 200}
    whole = registry.make(name)(structure, formulation, data, **options).solve()
    run = registry.make(name)(structure, formulation, data, **options)
    seen = []
    for record in run:
        seen.append(record)
        assert run.state.history == tuple(seen)
        assert run.state.dual <= run.state.primal
    result = run.result()
    assert len(seen) == len(whole.history)
    assert (result.status, result.method) == (whole.status, name)
    np.testing.assert_array_equal(result.weights, whole.weights)
    assert result.certificate == whole.certificate
    assert list(run) == []  # it has ended


def test_a_run_that_is_left_says_so_and_goes_on(problem):
    structure, data = problem
    run = so.CuttingPlane(structure, so.M3N(0.1), data, tol=1e-6)
    for record in run:
        if record.round == 2:
            break
    assert run.result().status == "callback"
    assert run.solve().status == "optimal"
    assert run.history[:2] == list(run.state.history[:2])


@pytest.mark.parametrize("backend", ["ascent", "highs"])
def test_a_copied_state_serves_many_runs(problem, backend):
    structure, data = problem
    kind = so.M3N if backend == "ascent" else so.L1M3N
    first = so.CuttingPlane(structure, kind(0.1), data, backend=backend)
    first.step(), first.step()
    state = first.state.copy()
    kept = state.cuts.multiplier.copy()
    assert state.live is None
    assert len(state.cuts) == len(first.master.pool) > 0
    assert first.solve().status == "optimal"  # the copy did not use it up
    runs = [
        so.CuttingPlane(structure, kind(C), data, backend=backend, warm_start=s, tol=1e-5)
        for C in (0.1, 0.2)
        for s in (state, pickle.loads(pickle.dumps(state)))
    ]
    values = [run.solve().certificate.primal for run in runs]
    np.testing.assert_array_equal(state.cuts.multiplier, kept)
    assert values[0] == values[1]
    assert values[2] == values[3]
    fresh = so.CuttingPlane(structure, kind(0.2), data, backend=backend, tol=1e-5).solve()
    assert values[2] == pytest.approx(fresh.certificate.primal, rel=2e-5)


def test_asking_for_results_changes_nothing(problem):
    structure, data = problem
    asked, plain = (
        so.CuttingPlane(structure, so.M3N(0.1, slacks="one"), data, tol=1e-4) for _ in range(2)
    )
    for _ in asked:
        first, second = asked.result().cuts, asked.state.copy().cuts
        for name in ("source", "offset", "coef"):
            pair = [getattr(cuts.directions, name) for cuts in (first, second)]
            np.testing.assert_array_equal(*pair)
    whole = plain.solve()
    assert asked.result().certificate == whole.certificate
    np.testing.assert_array_equal(asked.result().weights, whole.weights)


def test_weights_of_any_method_can_be_begun_with(problem):
    structure, data = problem
    rough = so.FrankWolfe(structure, so.M3N(0.1), data, tol=0.1).solve()
    assert rough.cuts is None
    run = so.CuttingPlane(structure, so.M3N(0.1), data, warm_start=rough)
    assert run.state.primal == pytest.approx(rough.certificate.primal)
    assert run.solve().certificate.certified
    X, y = so.datasets.make_classes(20, seed=0)
    other = so.Multiclass().fitted(X, y)
    with pytest.raises(InvalidInputError, match="other data"):
        so.CuttingPlane(other, so.M3N(), so.DataSet.of(other, X, y), warm_start=rough)


def test_only_cutting_planes_look_for_another_solution_first(problem):
    structure, data = problem
    with pytest.raises(IncompatibleError, match="needs the solution of a StructSVM first"):
        so.Perceptron(structure, so.StructRMM(1.0, B_fraction=0.5), data)
