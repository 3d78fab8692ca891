"""Block ascent round by round: both bounds against every output written out."""

from dataclasses import replace

import numpy as np
import pytest
from enumeration import optimum, small_chain, small_classes

import structopt as so
from structopt.methods.block_ascent.limits import ratio

WEIGHT = np.array([1.0, 0.5, 2.0, 0.0])
FORMS = {  # the formulation, and what 1/2 |w|^2 and a hinge cost
    "m3n": (lambda: so.M3N(0.7), 1 / 0.7, 1.0),
    "svm-margin": (lambda: so.StructSVM(6.0, rescale="margin"), 1.0, 1.5),
    "svm-unit": (lambda: so.StructSVM(6.0), 1.0, 1.5),
}


def value(problem, w, kind, cost, curvature):
    X, Y, structure, outputs = problem
    total = curvature / 2 * w @ w
    for i, (x, gold) in enumerate(zip(X, Y, strict=True)):
        short = [0.0]
        for y in outputs[i]:
            if loss := structure.loss(gold, y):
                delta = structure.joint_features(x, gold) - structure.joint_features(x, y)
                short.append((1.0 if kind == "svm-unit" else loss) - float((delta @ w)[0]))
        total += cost[i] * max(short)
    return total


@pytest.mark.parametrize("weight", [None, WEIGHT])
@pytest.mark.parametrize("make", [small_chain, small_classes])
@pytest.mark.parametrize("kind", FORMS)
def test_both_bounds_of_every_round(kind, make, weight):
    _, curvature, rate = FORMS[kind]
    problem, run = started(kind, make, weight)
    cost = rate * (np.ones(4) if weight is None else weight)
    truth = optimum(kind, 0.7 if kind == "m3n" else 6.0, problem, weights=weight)
    best = start = value(problem, np.zeros(problem[2].n_features_), kind, cost, curvature)
    if kind == "svm-unit" and make is small_chain:  # over parts, which ask before they know
        best = np.inf
        assert run._primal == best
    else:
        assert run._primal == pytest.approx(start)
    for _ in range(8):
        run.step()
        dual, passes = run._dual, run.certificates
        found = run._certify()
        assert run.certificates == passes + 1
        w = run.iterate().weights
        assert found == pytest.approx(value(problem, w, kind, cost, curvature), rel=1e-9)
        best = min(best, found)
        assert run._primal == pytest.approx(best, rel=1e-9)
        assert dual <= run._dual <= truth * (1 + 1e-7)
        assert run._dual >= 0.0
    result = run.solve()
    assert result.certificate.certified
    assert result.certificate.exact
    assert result.certificate.primal == pytest.approx(truth, rel=2e-6)
    final = value(problem, result.weights, kind, cost, curvature)
    assert result.certificate.primal == pytest.approx(final, rel=1e-9)


def started(kind, make, weight):
    problem = make(np.random.default_rng(5), n=4)
    data = so.DataSet.of(problem[2], *problem[:2], sample_weight=weight)
    return problem, so.BlockAscent(problem[2], FORMS[kind][0](), data, tol=1e-6)


@pytest.mark.parametrize("make", [small_chain, small_classes])
def test_what_its_own_oracles_leave_open_is_heard(make):
    """Their answers come from shards, not through the data set that other tests wrap."""
    excess = np.array([0.3, 0.0, 0.05, 1.1])
    for open_, exact in ((excess, True), (None, False)):
        problem, run = started("m3n", make, None)
        for part in run._problem.labels._runs:
            answered = part.answered

            def loose(*args, answered=answered, open_=open_, exact=exact):
                return replace(answered(*args), excess=open_, exact=exact)

            part.answered = loose
        found = run.solve()
        here = run.iterate()
        least = value(problem, here.weights, "m3n", np.ones(4), 1 / 0.7)
        assert found.certificate.exact == exact
        assert found.certificate.certified <= exact
        if exact:
            assert least < here.value <= least + excess.sum() + 1e-9
            assert found.certificate.primal <= here.value
        else:
            assert "not proven" in found.certificate.note


def test_limits_of_any_size_differ_by_one_factor_or_not():
    """Multipliers are taken over under other limits only if all of them were scaled alike."""
    one = np.ones(2)
    for size in (1e-12, 1e-9, 1.0, 1e9):
        assert ratio(size * one, one) == pytest.approx(size)
        assert ratio(size * np.array([1.0, 3.0]), one) is None
        assert ratio(size * np.array([1.0, 1 + 1e-9]), one) is None
    assert ratio(np.array([1.0, 0.0]), one) is None


@pytest.mark.parametrize("make", [small_chain, small_classes])
def test_taken_over_multipliers_and_weights_fit_together(make):
    """The dual that is kept step by step is that of the multipliers, also under another C."""
    problem, first = started("m3n", make, None)
    for _ in range(3):
        first.step()
    data = first.data
    for C in (0.7, 0.9, 0.2):
        run = so.BlockAscent(problem[2], so.M3N(C), data, tol=1e-9, warm_start=first.state)
        blocks = run._blocks
        assert len(blocks)
        for _ in range(3):
            weights, gain = run._problem.summed(blocks)
            assert blocks.dual == pytest.approx(gain - weights.ridge(), rel=1e-9)
            blocks.full_pass(np.arange(4))
