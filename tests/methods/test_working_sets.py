"""Algorithm 1 of StructRMM and of L1-M3N, example by example as printed."""

import logging

import numpy as np
import pytest
from enumeration import optimum, small_chain, small_classes
from hypothesis import given, settings
from hypothesis import strategies as st
from test_rmm import deltas, rmm_optimum

import structopt as so
from structopt.errors import IncompatibleError
from structopt.learn import bounds


def run_of(problem, formulation, **options):
    X, Y, structure, _ = problem
    return so.WorkingSets(structure, formulation, so.DataSet.of(structure, X, Y), **options)


@given(
    seed=st.integers(0, 10_000),
    chain=st.booleans(),
    B=st.sampled_from([1.5, 4.0]),
    eps=st.sampled_from([1e-2, 1e-5]),
)
@settings(max_examples=20)
def test_rmm_ends_within_the_promise_of_its_two_tolerances(seed, chain, B, eps):
    problem = (small_chain if chain else small_classes)(np.random.default_rng(seed))
    C, truth = 20.0, rmm_optimum(problem, 20.0, B)
    run = run_of(problem, so.StructRMM(C, B), eps=eps, eps_B=2 * eps, tol=0.0)
    result = run.solve()
    found = result.certificate
    assert found.dual <= truth * (1 + 1e-6) <= found.primal * (1 + 2e-6)
    assert found.primal <= truth + C * (eps + 2 * eps) + 1e-6
    assert max(abs(d @ result.weights) for _, d, _ in deltas(problem)) <= B * (1 + 1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_rmm_adds_no_more_cuts_than_theorem_4_3_allows(seed):
    problem = small_classes(np.random.default_rng(seed))
    radius = max(np.linalg.norm(d) for _, d, _ in deltas(problem))
    given = {"C": 5.0, "n_examples": 6, "radius": radius, "eps": 0.05, "eps_B": 0.05}
    run = run_of(problem, so.StructRMM(5.0, 1.5), eps=0.05, eps_B=0.05, tol=0.0)
    before = list(run)
    assert before[-1].cuts_added == 0  # its own end
    assert before[-1].cuts <= bounds.rmm_cuts(**given)
    # every cut raises the dual by at least (4)
    assert before[-1].dual >= before[-1].cuts * bounds.rmm_improvement(**given) - 1e-9


def test_one_cut_at_a_time_and_the_worst_of_the_families():
    """After w = 0 the first example adds the margin row; no round adds more than one an example."""
    problem = small_classes(np.random.default_rng(0))
    run = run_of(problem, so.StructRMM(20.0, 1.5), tol=0.0)
    first = run.step()
    assert 1 <= first.cuts_added <= 6
    cuts = run.master.pool.cuts
    assert cuts.family[0] == 0
    assert len(set(cuts.example.tolist())) == len(cuts)


@pytest.mark.parametrize("kind", ["l1", "svm-unit", "lp-free"])
def test_it_reaches_the_optimum_of_the_full_problem(kind):
    C = 0.5
    free = so.LPStruct(C, nonnegative=False)
    formulation = {"l1": so.L1M3N(C), "svm-unit": so.StructSVM(C), "lp-free": free}
    problem = small_chain(np.random.default_rng(2))
    found = run_of(problem, formulation[kind], eps=1e-7, tol=1e-5).solve().certificate
    assert found.certified
    assert found.primal == pytest.approx(optimum(kind, C, problem), rel=1e-4)


def test_it_says_that_its_own_rule_ended_it():
    problem = small_chain(np.random.default_rng(2))
    result = run_of(problem, so.M3N(1.0), eps=0.5, tol=1e-9).solve()
    assert result.status == "stalled"
    assert "violated by more than 0.5" in result.certificate.note


def test_shards_and_sample_weights_change_nothing():
    X, Y, structure, _ = small_chain(np.random.default_rng(5), n=6)
    shards = [structure.encode(X[a:b], Y[a:b], start=a) for a, b in ((0, 2), (2, 6))]
    weight = np.array([1.0, 0.0, 2.0, 1.0, 1.0, 1.0])
    one = so.DataSet.of(structure, X, Y, sample_weight=weight)
    two = so.DataSet(shards, structure.n_features_, sample_weight=weight)
    values = [
        so.WorkingSets(structure, so.L1M3N(0.3), data, eps=1e-7, tol=1e-6).solve().certificate
        for data in (one, two)
    ]
    assert values[0].primal == pytest.approx(values[1].primal, rel=1e-8)
    other = so.CuttingPlane(structure, so.L1M3N(0.3), one, tol=1e-6).solve().certificate.primal
    assert values[0].primal == pytest.approx(other, rel=1e-5)


def test_one_slack_for_all_is_refused():
    with pytest.raises(IncompatibleError, match="one example at a time"):
        run_of(small_chain(np.random.default_rng(5)), so.StructSVM(slacks="one"))


def test_a_bound_below_the_margin_is_said(caplog):
    problem = small_classes(np.random.default_rng(0))
    with caplog.at_level(logging.WARNING, logger="structopt"):
        run_of(problem, so.StructRMM(1.0, 1.5))
        assert not caplog.records
        run_of(problem, so.StructRMM(1.0, 0.25))
    assert "B = 0.25" in caplog.text
    assert "at least 0.75" in caplog.text


@pytest.mark.parametrize("eps", [0.5, 0.1])
def test_at_the_end_nothing_is_violated_by_more_than_its_tolerance(eps):
    left = []
    for seed in range(6):
        problem = (small_chain if seed % 2 else small_classes)(np.random.default_rng(seed))
        for formulation in (so.M3N(1.0), so.StructRMM(20.0, 0.9)):
            last = run_of(problem, formulation, eps=eps, eps_B=eps, tol=0.0).solve().history[-1]
            if last.cuts_added == 0:  # else the bounds met before
                assert last.violation <= eps * (1 + 1e-6)
                left.append(last.violation / eps)
    assert max(left) > 0.3  # it is this that ends the runs
