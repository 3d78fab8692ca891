"""What a round and its callback know: weights, and which output made each cut."""

import pickle

import numpy as np
import pytest

import structopt as so
from structopt import names
from structopt.run.events import KEPT


def a_run(formulation=None, seen=(), **options):
    X, Y = so.datasets.make_chain_crf(n_examples=6, n_features=9, n_relevant=2, length=3, seed=0)
    structure = so.Chain().fitted(X, Y)
    data = so.DataSet.of(structure, X, Y, n_jobs=options.pop("n_jobs", None))
    run = so.CuttingPlane(
        structure, formulation or so.M3N(C=1.0), data, callbacks=list(seen), **options
    )
    return X, Y, structure, run


@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.parametrize("formulation", [so.M3N(), so.StructRMM(B=2.0), so.LPStruct()])
def test_found_names_the_output_of_every_cut(formulation, n_jobs):
    heard = []
    X, Y, structure, run = a_run(formulation, [heard.append], n_jobs=n_jobs, max_iter=4)
    for record in run:
        assert len(record.found) == record.cuts_added
        for cut in record.found:
            x, gold = X[cut.example], Y[cut.example]
            features = structure.joint_features
            delta = (features(x, gold) - features(x, cut.output)).toarray()[0]
            assert cut.loss == structure.loss(gold, cut.output)
            if cut.family == 0 and not isinstance(formulation, so.StructRMM):  # which retreats
                np.testing.assert_allclose(delta @ record.weights, cut.score, atol=1e-6)
        np.testing.assert_array_equal(record.weights, run.iterate().weights)
    assert heard == run.history  # numbers compare, weights do not


def test_a_joint_cut_names_the_outputs_that_it_sums_up():
    _, Y, structure, run = a_run(so.StructSVM(rescale="margin", slacks="one"))
    (cut,) = run.step().found
    assert cut.example is None
    losses = [structure.loss(Y[i], y) for i, y in cut.output.items()]
    np.testing.assert_allclose(cut.loss, sum(losses))


def test_a_history_keeps_weights_and_outputs_only_of_small_runs():
    *_, run = a_run()
    record = run.step()
    assert run.data.n_features > KEPT
    assert record.weights is not None
    assert (run.history[0].weights, run.history[0].found) == (None, ())
    X, y = so.datasets.make_classes(20, n_features=2, seed=0)
    structure = so.Multiclass().fitted(X, y)
    assert structure.n_features_ <= KEPT
    run = so.CuttingPlane(structure, so.M3N(), so.DataSet.of(structure, X, y))
    run.step()
    assert run.history[0].weights is not None
    assert len(run.history[0].found) > 0


def test_a_record_is_pickled_with_its_outputs_and_without_the_data():
    *_, run = a_run()
    record = run.step()
    again = pickle.loads(pickle.dumps(record))
    assert again == record
    assert again.found == tuple(record.found)
    assert set(record.as_dict()) == set(again.as_dict())
    assert "weights" not in record.as_dict()


@pytest.mark.parametrize("method", [e.key for e in names.of_kind("method")])
def test_every_method_is_stepped_from_public_names(method):
    entry = next(e for e in names.of_kind("method") if e.key == method)
    X, Y = so.datasets.make_chain_crf(n_examples=4, n_features=3, n_relevant=2, length=3, seed=0)
    structure = so.Chain().fitted(X, Y)
    formulation = so.L1M3N(C=1.0) if method == "em" else so.M3N(C=1.0)
    run = getattr(so, entry.name)(structure, formulation, so.DataSet.of(structure, X, Y))
    record = run.step()
    assert record.weights.shape == (structure.n_features_,)
    np.testing.assert_array_equal(record.weights, run.iterate().weights)
    assert run.result().history[0] == record
