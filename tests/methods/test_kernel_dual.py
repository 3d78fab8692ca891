"""The dual with kernels, round by round, against features written out: a linear kernel's own."""

import time
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from enumeration import optimum, small_chain, small_classes
from test_rmm import rmm_optimum

import structopt as so
from structopt.methods.kernel_dual.method import KernelDual

WEIGHT = np.array([1.0, 0.5, 2.0, 0.0])


def started(make, seed, formulation, weight=None, **options):
    """A run over rows of a Gram matrix, and the map from its weights to those of the features."""
    X, Y, structure, _ = problem = make(np.random.default_rng(seed), n=4)
    flat = np.atleast_2d(np.vstack(X))
    gram = flat @ flat.T
    offsets = np.cumsum([0, *(1 if x.ndim == 1 else len(x) for x in X)])
    rows = [gram[a:b] if X[0].ndim == 2 else gram[a] for a, b in pairwise(offsets)]
    inner = type(structure)(labels=structure.labels_).fitted(rows, Y)
    data = so.DataSet.of(inner, rows, Y, sample_weight=weight)
    run = KernelDual(inner, formulation, data, gram=gram, offsets=offsets, tol=1e-6, **options)

    def weights(beta):
        count = len(structure.labels_) * len(flat)
        nodes = beta[:count].reshape(len(structure.labels_), -1)
        return np.concatenate([(nodes @ flat).ravel(), beta[count:]])

    return problem, run, weights


def hinges(problem, w, kind):
    X, Y, structure, outputs = problem
    found = []
    for i, (x, gold) in enumerate(zip(X, Y, strict=True)):
        short = [0.0]
        for y in outputs[i]:
            if loss := structure.loss(gold, y):
                delta = structure.joint_features(x, gold) - structure.joint_features(x, y)
                score = float((delta @ w)[0])
                margin = 1.0 if kind == "svm-unit" else loss
                short.append(margin - (loss if kind == "svm-slack" else 1.0) * score)
        found.append(max(short))
    return np.array(found)


FORMS = {  # the formulation, and what 1/2 |w|^2 and a hinge cost
    "m3n": (lambda: so.M3N(0.7), 1 / 0.7, 1.0),
    "svm-unit": (lambda: so.StructSVM(6.0), 1.0, 1.5),
    "svm-slack": (lambda: so.StructSVM(6.0, rescale="slack"), 1.0, 1.5),
}


@pytest.mark.parametrize("weight", [None, WEIGHT])
@pytest.mark.parametrize("make", [small_chain, small_classes])
@pytest.mark.parametrize("kind", FORMS)
def test_both_bounds_of_every_round(kind, make, weight):
    formulation, curvature, rate = FORMS[kind]
    cost = rate * (np.ones(4) if weight is None else weight)
    problem, run, weights = started(make, 5, formulation(), weight)
    truth = optimum(kind, 0.7 if kind == "m3n" else 6.0, problem, weights=weight)
    duals = []
    for _ in range(12):
        start = time.perf_counter()
        record = run.step()
        assert record.oracle_seconds + record.solve_seconds <= time.perf_counter() - start
        w = weights(run.beta)
        short = hinges(problem, w, kind)
        value = curvature / 2 * w @ w + cost @ short
        assert record.value == pytest.approx(value, rel=1e-9)
        assert record.violation == pytest.approx(short.max(), rel=1e-9)
        assert run._squared_norm() == pytest.approx(w @ w)
        assert record.dual <= truth * (1 + 1e-7)
        assert record.primal >= truth * (1 - 1e-7)
        gain = 0.0
        for c, shares, margins in zip(cost, run._shares, run._margins, strict=True):
            assert np.all(shares >= 0)
            assert shares.sum() == pytest.approx(1.0)
            gain += c * shares @ margins
        duals.append(gain - curvature / 2 * w @ w)
        assert record.dual == pytest.approx(max(duals), rel=1e-9)
        assert record.cuts == sum(len(m) for m in run._margins) - 4
    assert np.all(np.diff(duals) >= -1e-9)  # every move is one to a better value
    result = run.solve()
    assert result.certificate.certified
    assert result.certificate.primal == pytest.approx(truth, rel=2e-6)


@pytest.mark.parametrize("make", [small_chain, small_classes])
@pytest.mark.parametrize("B", [0.6, 1.5])
def test_weights_within_the_bounds_of_relative_margins(make, B):
    problem, run, weights = started(make, 3, so.StructRMM(8.0, B))
    truth = rmm_optimum(problem, 8.0, B)
    deltas = [
        (problem[2].joint_features(x, gold) - problem[2].joint_features(x, y)).toarray()[0]
        for x, gold, outputs in zip(problem[0], problem[1], problem[3], strict=True)
        for y in outputs
    ]
    for _ in range(15):
        record = run.step()
        w = weights(run.beta)
        most = max(abs(d @ w) for d in deltas)
        t = min(1.0, B / most) if most > 0 else 1.0
        value = t * t * w @ w / 2 + 2.0 * hinges(problem, t * w, "svm-unit").sum()
        assert record.value == pytest.approx(value, rel=1e-9)
        assert record.dual <= truth * (1 + 1e-7)
        assert record.primal >= truth * (1 - 1e-7)
        prices = sum(p.sum() for p in run._prices)
        assert all(np.all(p >= 0) for p in run._prices)
        gain = 2.0 * sum(m @ a for m, a in zip(run._margins, run._shares, strict=True))
        assert gain - B * prices - w @ w / 2 <= record.dual + 1e-9
    result = run.solve()
    assert result.certificate.certified
    assert result.certificate.primal == pytest.approx(truth, rel=2e-6)
    final = weights(result.weights)
    assert max(abs(d @ final) for d in deltas) <= B * (1 + 1e-9)


def test_unproven_projections_certify_nothing():
    """Those that bound weights are asked of other oracles than the hinges are."""
    for unproven in (so.oracles.worst, so.oracles.best_other):
        _, run, _ = started(small_classes, 3, so.StructRMM(8.0, 1.5))
        ask = run.data.ask

        def open_(oracle, w, ask=ask, unproven=unproven):
            return [replace(a, exact=oracle is not unproven) for a in ask(oracle, w)]

        run.data.ask = open_
        found = run.solve().certificate
        assert not found.exact
        assert not found.certified
