"""Inputs that nobody has are left out, and nothing changes: answers, directions, optima."""

import importlib

import numpy as np
import pytest
import scipy.sparse as sp

import structopt as so
from structopt import names
from structopt.engines.dataset import DataSet
from structopt.errors import OracleError
from structopt.methods.narrow import Narrow, NarrowCuttingPlane
from structopt.methods.registry import auto
from structopt.structures.base.oracles import best_other, loss_augmented

APART = 700
"""How far apart columns are put."""


def case(entry, seed):
    home = importlib.import_module(f"structopt.{entry.home}")
    room = home if hasattr(home, "small") else importlib.import_module(f"{home.__package__}.small")
    small = room.small(np.random.default_rng(seed))
    structure = small.structure.fitted(small.X, small.Y)
    return structure, DataSet.of(structure, small.X, small.Y)


def spread(data):
    """The same data with columns far apart, and the places of its weights; None if it has not."""
    shard = data.shards[0]
    if shard.inputs_in is None or shard.base is None:
        return None
    rows = getattr(shard, shard.inputs_in)
    d, blocks = rows.n_inputs, getattr(shard, "n_labels", 1)
    if d == 0 or not len(rows.csr.indices):
        return None
    place, width = APART * np.arange(d), APART * d + 300
    wide = shard.renumbered(place, width)
    extra = data.n_features - blocks * d
    where = (width * np.arange(blocks)[:, None] + place).ravel()
    where = np.concatenate([where, blocks * width + np.arange(extra)])
    return DataSet([wide], blocks * width + extra, exact=data.exact), where


WITH_INPUTS = {
    "Arborescence", "Chain", "Hierarchy", "Lattice", "Matching", "Multiclass", "MultiLabel",
    "Ranking", "SecondOrderChain", "Subset",
}  # fmt: skip
STRUCTURES = [entry for entry in names.of_kind("structure") if entry.name in WITH_INPUTS]


def test_all_of_them_are_tried():
    assert {entry.name for entry in STRUCTURES} == WITH_INPUTS


@pytest.mark.parametrize("entry", STRUCTURES, ids=lambda entry: entry.name)
def test_answers_and_directions_are_those_of_all_columns(entry):
    tried = 0
    for seed in range(8):
        structure, data = case(entry, seed)
        found = spread(data)
        if found is None:
            continue
        wide, where = found
        narrow = Narrow.of(wide)
        rng = np.random.default_rng(seed)
        weights = np.zeros(wide.n_features)
        weights[where] = rng.standard_normal(len(where))
        if len(structure.nonnegative_weights()):
            weights = np.abs(weights)
        fewer = narrow.narrowed(weights)
        kept = narrow.widened(fewer)
        untouched = np.setdiff1d(np.flatnonzero(weights), np.flatnonzero(kept))
        weights[untouched] = 0.0
        np.testing.assert_array_equal(kept, weights)
        for oracle in (loss_augmented, best_other):
            if oracle.needs not in structure.abilities():
                continue
            one, two = (d.ask(oracle, w) for d, w in ((wide, weights), (narrow.data, fewer)))
            np.testing.assert_array_equal(one[0].loss, two[0].loss)
            np.testing.assert_allclose(one[0].score, two[0].score, rtol=1e-12, atol=1e-12)
            which = np.flatnonzero(np.isfinite(one[0].score))
            if not len(which):
                continue
            rows = [
                d.directions(a, which).tocsr(d.base, d.n_features).toarray()
                for d, a in ((wide, one), (narrow.data, two))
            ]
            np.testing.assert_allclose(
                [narrow.widened(row) for row in rows[1]], rows[0], rtol=1e-12, atol=1e-12
            )
            tried += 1
    assert tried > 3


# ------------------------------------------------------------------ whole runs
def trees(d=4000, n=12):
    rng = np.random.default_rng(0)
    X, Y = [], []
    for _ in range(n):
        where = rng.integers(0, 20, (5, 3)) * (d // 20)
        nodes = sp.csr_array(
            (rng.integers(1, 4, 15) / 2.0, where.ravel(), np.arange(0, 16, 3)), shape=(5, d)
        )
        X.append((nodes, [-1, 0, 0, 1, 2]))
        Y.append((where.sum(axis=1) // (d // 20) % 3).tolist())
    return X, Y


FORMS = [so.M3N(C=0.5), so.StructSVM(C=3.0), so.L1M3N(C=0.5)]


@pytest.mark.parametrize("formulation", FORMS, ids=str)
def test_the_optimum_is_that_of_all_weights(formulation):
    X, Y = trees()
    structure = so.Hierarchy().fitted(X, Y)
    data = so.DataSet.of(structure, X, Y)
    run = auto(structure, formulation, data, tol=1e-4)
    assert isinstance(run, NarrowCuttingPlane)
    assert run.data.n_features < data.n_features / 10
    few, all_ = run.solve(), so.CuttingPlane(structure, formulation, data, tol=1e-4).solve()
    assert few.certificate.certified
    assert few.weights.shape == all_.weights.shape == (data.n_features,)
    assert few.certificate.dual <= all_.certificate.primal * (1 + 1e-9)
    assert all_.certificate.dual <= few.certificate.primal * (1 + 1e-9)
    rest = np.setdiff1d(np.arange(3 * 4000), (np.arange(3)[:, None] * 4000 + run._narrow.kept))
    assert not few.weights[rest].any()


def test_models_predict_and_go_on_from_each_other():
    X, Y = trees()
    model = so.StructuredClassifier(so.Hierarchy(), so.M3N(C=0.5), tol=1e-3)
    seen = []
    model.set_params(callbacks=[lambda record: seen.append(record.weights.shape) and None])
    model.fit(X, Y)
    assert set(seen) == {model.coef_.shape}
    assert model.result_.cuts is None
    assert len(model.predict(X)) == len(X)
    again = so.StructuredClassifier(so.Hierarchy(), so.M3N(C=0.6), tol=1e-3)
    again.fit(X, Y, warm_start=model.result_)
    assert again.result_.certificate.certified
    paths = so.fit_path(so.StructuredClassifier(so.Hierarchy(), so.M3N()), X, Y, [0.1, 0.2])
    assert all(value.certificate.certified for value in paths.results)


def test_an_error_carries_all_weights(monkeypatch):
    X, Y = trees()
    structure = so.Hierarchy().fitted(X, Y)
    data = so.DataSet.of(structure, X, Y)
    run = auto(structure, so.M3N(), data, tol=1e-4)
    run.step()

    def fails(*_):
        raise OracleError("broken")

    monkeypatch.setattr(run.data, "ask", fails)
    with pytest.raises(OracleError) as caught:
        run.solve()
    assert len(caught.value.result.weights) == data.n_features


class Pulled(so.Formulation):
    """Weights are drawn towards 1, whether there is an input or not."""

    def master(self, m):
        import cvxpy as cp

        w, xi = m.weights(), m.slacks()
        m.minimize(cp.sum_squares(w - 1.0) / 2 + cp.sum(xi))
        m.cuts(lambda cut: cut.delta @ w >= cut.loss - cut.of(xi))


@pytest.mark.parametrize("formulation", [Pulled(), so.StructRMM(B=0.9)], ids=["pulled", "rmm"])
def test_who_speaks_of_all_weights_has_all(formulation):
    X, Y = trees(n=4)
    structure = so.Hierarchy().fitted(X, Y)
    data = so.DataSet.of(structure, X, Y)
    assert type(auto(structure, formulation, data, max_iter=2)) is so.CuttingPlane


def test_early_stopping_and_checkpoints_see_all_weights(tmp_path):
    X, Y = trees(n=4)
    structure = so.Hierarchy().fitted(X, Y)
    data = so.DataSet.of(structure, X, Y)
    file = tmp_path / "run.npz"
    assert type(auto(structure, so.M3N(), data, checkpoint=file)) is so.CuttingPlane
    watch = so.EarlyStopping(X, Y)
    assert type(auto(structure, so.M3N(), data, callbacks=(watch,), tol=1e-4)) is so.CuttingPlane


def test_a_path_goes_on_from_the_cuts():
    """A run on the same data takes the other's cuts up: no round is needed where it is optimal."""
    X, Y = trees()
    structure = so.Hierarchy().fitted(X, Y)
    data = so.DataSet.of(structure, X, Y)
    first = auto(structure, so.M3N(C=0.5), data, tol=1e-4)
    alone = first.solve()
    again = auto(structure, so.M3N(C=0.5), data, tol=1e-4, warm_start=first.state)
    assert again._narrow is first._narrow
    found = again.solve()
    assert found.certificate.certified
    assert len(found.history) == 1 < len(alone.history)
    assert found.history[0].cuts_added == 0
    other = so.DataSet.of(structure, X, Y)  # equal data, another object: weights alone
    third = auto(structure, so.M3N(C=0.5), other, tol=1e-4, warm_start=again.state)
    assert third._narrow is not first._narrow
    assert third.solve().certificate.certified
