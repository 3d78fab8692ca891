"""Outer loops: objectives recomputed by enumeration, cuts that survive, and what is refused."""

from __future__ import annotations

from itertools import product

import cvxpy as cp
import numpy as np
import pytest

import structopt as so
from structopt.errors import CertificateError, IncompatibleError, InvalidInputError
from structopt.methods.outer.carry import carried

LABELS = ["a", "b"]


def chains(seed=0, share=0.4, n=8, known=3):
    """Return short sequences whose later ones have labels that are unknown."""
    rng = np.random.default_rng(seed)
    X = [rng.normal(size=(3, 2)) for _ in range(n)]
    Y = [rng.choice(LABELS, 3).tolist() for _ in range(n)]
    Y = [
        y if i < known else [None if rng.random() < share else k for k in y]
        for i, y in enumerate(Y)
    ]
    return so.Chain(LABELS), X, Y, [list(y) for y in product(LABELS, repeat=3)]


def classes(seed=0, n=12, known=6):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    Y = [k if i < known else None for i, k in enumerate(rng.choice([*LABELS, "c"], n).tolist())]
    return so.Multiclass([*LABELS, "c"]), X, Y, [*LABELS, "c"]


class Pairs(so.Structure):
    """A user's own: y = (label, latent side); phi is x in one of four blocks; the side is free."""

    outputs = tuple(product((0, 1), (0, 1)))
    n_features_ = 8

    def joint_features(self, x, y):
        row = np.zeros((4, 2))
        row[2 * y[0] + y[1]] = x
        return row.ravel()

    def loss(self, y, other):
        return float(y[0] != other[0])

    def argmax(self, x, weights, *, gold=None):
        charge = (lambda y: 0.0) if gold is None else (lambda y: self.loss(gold, y))
        return max(self.outputs, key=lambda y: self.joint_features(x, y) @ weights + charge(y))

    def complete(self, x, weights, gold):
        agree = [y for y in self.outputs if y[0] == gold[0]]
        return max(agree, key=lambda y: self.joint_features(x, y) @ weights)


def own(seed=0, n=10):
    rng = np.random.default_rng(seed)
    X = list(rng.normal(size=(n, 2)))
    return Pairs(), X, [(int(abs(x[0]) > 0.6), None) for x in X], list(Pairs.outputs)


CASES = {"chains": chains, "classes": classes, "own": own}


def agrees(gold, y):
    if gold is None or not isinstance(gold, list | tuple):
        return gold is None or gold == y
    return all(g is None or g == k for g, k in zip(gold, y, strict=True))


def dense(structure, x, y):
    row = structure.joint_features(x, y)
    return np.asarray(row.toarray()).ravel() if hasattr(row, "toarray") else np.asarray(row)


def tables(structure, X, Y, outputs):
    """Return, by enumeration, the features of all outputs and the loss of each."""
    phi = [np.stack([dense(structure, x, y) for y in outputs]) for x in X]
    return phi, [np.array([structure.loss(gold, y) for y in outputs]) for gold in Y]


def solved(case, formulation, **options):
    structure, X, Y, outputs = case
    model = so.StructuredClassifier(structure, formulation, method="outer", **options).fit(X, Y)
    return model, *tables(model.structure_, X, Y, outputs)


def descends(result):
    assert result.status == "stationary"
    assert not result.certificate.certified
    assert "no statement about the global optimum" in result.certificate.note
    for step in result.steps:
        assert step.certificate.certified
        assert step.after <= step.before + step.certificate.gap + 1e-9
    ends = [step.after for step in result.steps]
    assert [step.before for step in result.steps[1:]] == pytest.approx(ends[:-1], rel=1e-9)
    assert result.stationarity <= 1e-5 * abs(result.certificate.primal)


@pytest.mark.parametrize("name", CASES)
def test_latent_objective_is_that_of_enumeration_and_stationary_in_cvxpy(name):
    _, _, Y, outputs = case = CASES[name]()
    model, phi, losses = solved(case, so.Latent(so.M3N(C=0.5)), tol=1e-5)
    result, w = model.result_, model.result_.weights
    descends(result)
    assert len(result.steps) > 1 or name == "classes"  # without a label there is no loss
    good = [np.array([agrees(gold, y) for y in outputs]) for gold in Y]
    value = w @ w
    for p, loss, ok in zip(phi, losses, good, strict=True):
        value += (p @ w + loss).max() - (p @ w)[ok].max()
    assert result.certificate.primal == pytest.approx(value, rel=1e-9)
    # the convex upper bound that stands there, written out: no point of it is lower
    v = cp.Variable(len(w))
    hinge = 0
    for p, loss, ok in zip(phi, losses, good, strict=True):
        best = np.flatnonzero(ok)[np.argmax((p @ w)[ok])]
        hinge += cp.max(loss + (p - p[best]) @ v)
    problem = cp.Problem(cp.Minimize(cp.sum_squares(v) + hinge))
    problem.solve(solver=cp.CLARABEL)
    assert value - problem.value <= result.stationarity + 1e-6 * (1 + abs(value))


@pytest.mark.parametrize("name", ["classes", "chains"])
def test_ramp_loss_is_that_of_enumeration(name):
    structure, X, Y, _ = case = CASES[name](seed=2, known=99)
    model, phi, losses = solved(case, so.RampLoss(so.M3N(C=2.0)), tol=1e-5)
    descends(model.result_)
    w = model.result_.weights
    value = w @ w / 4
    value += sum((p @ w + loss).max() - (p @ w).max() for p, loss in zip(phi, losses, strict=True))
    assert model.result_.certificate.primal == pytest.approx(value, rel=1e-9)
    hinge = so.StructuredClassifier(structure, so.M3N(C=2.0), tol=1e-5).fit(X, Y).result_
    assert value <= hinge.certificate.primal + 1e-6


def test_reweighted_l1_is_sparser_than_l1():
    structure, X, Y, outputs = case = chains(seed=3, known=99, n=12)
    model, phi, losses = solved(case, so.ReweightedL1(C=0.3, epsilon=0.05), tol=1e-5)
    descends(model.result_)
    w = model.result_.weights
    value = 0.025 * np.log1p(np.abs(w) / 0.05).sum()
    for p, loss, gold in zip(phi, losses, Y, strict=True):
        value += 0.3 * (p @ w + loss - p[outputs.index(gold)] @ w).max()
    assert model.result_.certificate.primal == pytest.approx(value, rel=1e-7)
    plain = so.StructuredClassifier(structure, so.L1M3N(C=0.3), tol=1e-5).fit(X, Y).result_
    size = np.abs(w).max() * 1e-6
    assert np.sum(np.abs(w) > size) <= np.sum(np.abs(plain.weights) > size)


@pytest.mark.parametrize("name", ["classes", "chains"])
@pytest.mark.parametrize("threshold", [None, 0.8])
def test_transductive_margins_and_self_training(name, threshold):
    _, X, Y, outputs = case = CASES[name](seed=4)
    formulation = so.Transductive(so.M3N(C=0.5))
    if threshold is not None:
        formulation = so.SelfTraining(so.M3N(C=0.5), threshold)
    model, phi, _ = solved(case, formulation, tol=1e-5)
    descends(model.result_)
    fitted, w = model.structure_, model.result_.weights
    value = w @ w
    for x, gold, p in zip(X, Y, phi, strict=True):
        label = fitted.complete(x, w, gold)
        loss = np.array([fitted.loss(label, y) for y in outputs])
        hinge = (p @ w + loss - p[outputs.index(label)] @ w).max()
        unknown = not agrees(label, gold)
        value += min(hinge, threshold) if unknown and threshold is not None else hinge
    assert model.result_.certificate.primal == pytest.approx(value, rel=1e-5)


@pytest.mark.parametrize("name", CASES)
def test_carried_cuts_are_cuts_of_the_new_bound(name):
    structure, X, Y, outputs = CASES[name]()
    fitted = structure.fitted(X, Y)
    data = so.DataSet.of(fitted, X, Y)
    phi, losses = tables(fitted, X, Y, outputs)
    rng = np.random.default_rng(0)
    v = rng.normal(size=fitted.n_features_)
    first = data.completed(v)
    run = so.CuttingPlane(fitted, so.M3N(C=1.0), first, tol=1e-4)
    run.solve()
    w = rng.normal(size=fitted.n_features_) - v
    bound = so.ConvexBound(run.formulation, data.completed(w))
    cuts, moved = carried(run, bound)
    assert moved > 0
    assert len(cuts) == len(run.state.copy().cuts)
    rows = cuts.directions.tocsr(data.base, fitted.n_features_).toarray()
    for row, i, loss in zip(rows, cuts.example, cuts.loss, strict=True):
        ok = np.array([agrees(Y[i], y) for y in outputs])
        anchor = phi[i][np.flatnonzero(ok)[np.argmax((phi[i] @ w)[ok])]]
        near = np.abs(anchor - phi[i] - row).max(axis=1) < 1e-9
        assert np.any(near & np.isclose(losses[i], loss))
    # what they say is used, and the answer is that of a fresh run
    warm = so.State(w, np.inf, -np.inf, 0.0, (), cuts=cuts)
    again = so.CuttingPlane(fitted, so.M3N(C=1.0), bound.data, warm_start=warm, tol=1e-6).solve()
    fresh = so.CuttingPlane(fitted, so.M3N(C=1.0), bound.data, tol=1e-6).solve()
    assert again.certificate.primal == pytest.approx(fresh.certificate.primal, rel=1e-5)
    assert again.certificate.certified


def test_where_losses_move_too_the_cuts_of_what_moved_are_dropped():
    structure, X, Y, _ = classes()
    fitted = structure.fitted(X, Y)
    data = so.DataSet.of(fitted, X, Y)
    rng = np.random.default_rng(1)
    run = so.CuttingPlane(fitted, so.M3N(), data.relabelled(rng.normal(size=9)), tol=1e-4)
    run.solve()
    bound = so.ConvexBound(run.formulation, data.relabelled(rng.normal(size=9)), charged=True)
    cuts, moved = carried(run, bound)
    changed = np.diff(bound.data.moved_from(run.data).ptr) > 0
    assert moved == changed.sum() > 0
    assert len(cuts) > 0
    assert not changed[cuts.example].any()


class Tangent(so.NonConvex):
    """The user's own: 1/2 |w|^2 + sum xi - a . |w|, a concave part with its tangent at v."""

    def __init__(self, steep=0.1, wrong=0.0):
        self.steep, self.wrong = steep, wrong

    def bound(self, data, v, last):
        slope = self.steep * np.sign(v)
        return so.ConvexBound(Tilted(slope), data, self.wrong * float(np.abs(v).sum()))


class Nothing(so.NonConvex):
    def bound(self, data, v, last):
        return None


class Tilted(so.Formulation):
    def __init__(self, slope):
        self.slope = slope

    def master(self, m):
        w, xi = m.weights(), m.slacks()
        m.minimize(cp.sum_squares(w) / 2 - self.slope @ w + cp.sum(xi))
        m.cuts(lambda cut: cut.delta @ w >= cut.loss - cut.of(xi))


def test_a_linearisation_of_the_user_s_own():
    _, _, Y, outputs = case = chains(known=99)
    model, phi, losses = solved(case, Tangent(), tol=1e-5)
    descends(model.result_)
    w = model.result_.weights
    value = w @ w / 2 - 0.1 * np.abs(w).sum()
    for p, loss, gold in zip(phi, losses, Y, strict=True):
        value += (p @ w + loss - p[outputs.index(gold)] @ w).max()
    assert model.result_.certificate.primal == pytest.approx(value, rel=1e-7)


def test_a_linearisation_that_is_no_upper_bound_is_found_out():
    with pytest.raises(CertificateError, match="no upper bound, or does not touch"):
        solved(chains(known=99), Tangent(wrong=5.0))


def test_what_does_not_fit_is_refused():
    structure, X, Y, _ = chains()
    model = so.StructuredClassifier(structure, so.Latent(so.M3N()))
    with pytest.raises(IncompatibleError, match="is not convex: use method='outer'"):
        model.fit(X, Y)
    with pytest.raises(IncompatibleError, match="M3N is: use method='cutting-plane'"):
        model.set_params(formulation=so.M3N(), method="outer").fit(X, Y)
    with pytest.raises(IncompatibleError, match="margin-rescaled"):
        model.set_params(formulation=so.Latent(so.StructSVM())).fit(X, Y)
    with pytest.raises(IncompatibleError, match="no one output to differ from"):
        model.set_params(formulation=so.StructSVM(), method="auto").fit(X, Y)
    one = so.SelfTraining(so.M3N(slacks="one"))
    with pytest.raises(IncompatibleError, match="SelfTraining caps"):
        model.set_params(formulation=one, method="outer").fit(X, Y)
    with pytest.raises(IncompatibleError, match="must define bound"):
        model.set_params(formulation=so.NonConvex(), method="outer").fit(X, Y)
    with pytest.raises(IncompatibleError, match="gave None"):
        model.set_params(formulation=Nothing()).fit(X, Y)
    with pytest.raises(InvalidInputError, match="formulation must be a Formulation"):
        model.set_params(formulation=so.Latent("M3N")).fit(X, Y)


def test_what_is_inside_has_parameters_along_a_path_too():
    structure, X, Y, _ = chains()
    model = so.StructuredClassifier(structure, so.Latent(so.M3N()), method="outer")
    found = so.fit_path(model, X, Y, [0.1, 0.2], parameter="formulation__formulation__C")
    assert [r.status for r in found.results] == ["stationary"] * 2
    assert [m.formulation.formulation.C for m in found.models] == [0.1, 0.2]
    assert model.formulation.formulation.C == 1.0
    assert repr(so.SelfTraining(so.M3N())).count("C=") == 1


def test_limits_stop_it_with_the_best_so_far():
    structure, X, Y, _ = chains()
    model = so.StructuredClassifier(structure, so.Latent(so.M3N()), method="outer", max_iter=1)
    result = model.fit(X, Y).result_
    assert result.status == "max_iter"
    assert len(result.steps) == 1
    assert "not stationary yet" in result.certificate.note
    again = so.OuterLoop(
        model.structure_, so.Latent(so.M3N()), so.DataSet.of(model.structure_, X, Y),
        warm_start=result,
    )  # fmt: skip
    assert again.solve().certificate.primal <= result.certificate.primal + 1e-9


def test_a_plain_formulation_on_partial_gold_says_that_it_is_a_bound(tmp_path):
    structure, X, Y, _ = chains()
    plain = so.StructuredClassifier(structure, so.M3N(C=0.5)).fit(X, Y).result_
    assert plain.certificate.certified
    assert "4 gold outputs are known in part" in plain.certificate.note
    model = so.StructuredClassifier(structure, so.Latent(so.M3N(C=0.5)), method="outer").fit(X, Y)
    assert model.result_.certificate.primal <= plain.certificate.primal
    model.save(tmp_path / "m.npz")
    read = so.load_model(tmp_path / "m.npz")
    assert read.predict(X) == model.predict(X)
    assert repr(read.formulation) == repr(model.formulation)
    assert read.result_.status == "stationary"


def test_the_ramp_loss_of_paths():
    import networkx as nx

    rng = np.random.default_rng(6)
    X, every = [], [[(0, a), (a, b), (b, 5)] for a in (1, 2) for b in (3, 4)]
    for _ in range(6):
        x = nx.DiGraph([(0, 1), (0, 2), *product((1, 2), (3, 4)), (3, 5), (4, 5)])
        nx.set_edge_attributes(x, {e: rng.normal(size=2) for e in x.edges}, "features")
        X.append(x)
    Y = [every[k] for k in rng.integers(4, size=6)]
    case = so.Lattice(loss=so.losses.PartCosts(1.0, 0.5)), X, Y, every
    model, phi, losses = solved(case, so.RampLoss(so.M3N(C=2.0)), tol=1e-5)
    descends(model.result_)
    w = model.result_.weights
    value = w @ w / 4
    value += sum((p @ w + loss).max() - (p @ w).max() for p, loss in zip(phi, losses, strict=True))
    assert model.result_.certificate.primal == pytest.approx(value, rel=1e-9)
