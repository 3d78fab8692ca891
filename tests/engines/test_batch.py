"""Batches decoded by threads: the answers of one thread, and its messages."""

import numpy as np
import pytest

import structopt as so
from structopt.engines import batch
from structopt.errors import InvalidInputError


@pytest.fixture(scope="module")
def sentences():
    X, Y = so.datasets.make_chain_crf(n_examples=60, n_features=5, n_relevant=3, length=4, seed=0)
    return so.StructuredClassifier(so.Chain(), so.M3N(0.1), tol=0.1).fit(X, Y), [*X] * 20


@pytest.mark.parametrize("n_jobs", [None, 2, 3, -1])
def test_threads_change_no_prediction(sentences, n_jobs):
    model, X = sentences
    alone = model.structure_.predict(X, model.weights_)
    assert model.set_params(n_jobs=n_jobs).predict(X) == alone


def test_a_structure_of_python_is_asked_by_one_thread(monkeypatch, sentences):
    model, X = sentences
    monkeypatch.setattr(so.Chain, "releases_gil", False)
    monkeypatch.setattr(batch, "edges", lambda *a, **k: pytest.fail("split"))
    assert len(model.set_params(n_jobs=2).predict(X)) == len(X)


def test_a_bad_example_has_its_number_in_the_whole_batch(sentences):
    model, X = sentences
    broken = [*X[:1100], np.full((3, 5), np.nan), *X[1101:]]
    with pytest.raises(InvalidInputError, match="1100"):
        model.set_params(n_jobs=2).predict(broken)


def test_no_workers_are_refused(sentences):
    model, X = sentences
    with pytest.raises(InvalidInputError, match="n_jobs is 0"):
        model.set_params(n_jobs=0).predict(X)
