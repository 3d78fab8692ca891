"""An audit agrees with what is true, for every structure, and finds what is not."""

import importlib
import warnings

import cvxpy as cp
import numpy as np
import pytest

import structopt as so
from structopt import names
from structopt.errors import CertificateError, IncompatibleError
from structopt.structures.chain import shard as chain_shard

ROOMS = [entry for entry in names.of_kind("structure", "wrapper") if entry.name != "References"]


def drawn(entry, seed):
    """Return a structure of a kind with tiny examples."""
    room = importlib.import_module(f"structopt.{entry.home.rsplit('.', 1)[0]}.small")
    return room.small(np.random.default_rng(seed))


@pytest.mark.parametrize("entry", ROOMS, ids=lambda entry: entry.name)
def test_every_structure_agrees_with_itself(entry):
    for seed in (0, 1):
        small = drawn(entry, seed)
        model = so.StructuredClassifier(small.structure, so.M3N(0.7), max_iter=200)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model.fit(small.X, small.Y)
        found = so.audit(model, small.X, small.Y)
        assert found.agrees, found
        if model.result_.certificate.certified:
            assert found.objective == pytest.approx(found.claimed, rel=1e-6, abs=1e-9)


CHAINS = so.datasets.make_chain_crf(n_examples=6, n_features=4, n_relevant=2, length=3, seed=0)


@pytest.mark.parametrize(
    "formulation",
    [so.M3N(0.5, slacks="one"), so.StructSVM(2.0), so.StructSVM(2.0, rescale="slack"),
     so.LPStruct(1.0), so.L1M3N(0.5), so.L1BallM3N(2.0), so.StructRMM(2.0, B=3.0),
     so.AdaptiveM3N(0.5)],
    ids=lambda formulation: type(formulation).__name__,
)  # fmt: skip
def test_every_formulation_is_recomputed(formulation):
    X, Y = CHAINS
    weight = np.array([1.0, 2.0, 0.5, 1.0, 0.0, 1.0])
    model = so.StructuredClassifier(so.Chain(), formulation).fit(X, Y, sample_weight=weight)
    found = so.audit(model, X, Y, sample_weight=weight, examples=2)
    assert found.agrees, found
    assert found.objective == pytest.approx(found.claimed, rel=1e-5)
    assert found.optimum is None or found.optimum <= found.claimed * (1 + 1e-6)


@pytest.mark.parametrize("method", ["frank-wolfe", "subgradient", "extragradient", "bregman"])
def test_every_method_is_audited(method):
    X, Y = CHAINS
    model = so.StructuredClassifier(so.Chain(), so.M3N(0.5), method=method, tol=0.02, audit=True)
    assert model.fit(X, Y).audit_.agrees
    assert "agrees" in repr(model.audit_)


def test_a_decoder_that_lies_is_found(monkeypatch):
    X, Y = CHAINS
    asked = chain_shard.ChainShard.ask

    def gold(self, oracle, weights):
        answers = asked(self, oracle, weights)
        outputs = np.zeros_like(answers.outputs) + self.gold
        return so.Answers(outputs, 0 * answers.loss, 0 * answers.score)

    monkeypatch.setattr(chain_shard.ChainShard, "ask", gold)
    model = so.StructuredClassifier(so.Chain(), so.M3N(0.5), audit=True, backend="ascent")
    with pytest.raises(CertificateError, match="DISAGREES") as caught:
        model.fit(X, Y)
    assert not caught.value.result.certificate.certified
    assert "the optimum is" in str(caught.value)
    assert "example 0: asked 'loss_augmented'" in str(caught.value)


def test_wrong_numbers_are_found():
    X, Y = CHAINS
    model = so.StructuredClassifier(so.Chain(), so.M3N(0.5)).fit(X, Y)
    from dataclasses import replace

    c = model.result_.certificate
    given = {"structure": model.structure_, "formulation": so.M3N(0.5)}
    for wrong in (replace(c, primal=0.9 * c.primal), replace(c, dual=1.1 * c.primal)):
        forged = replace(model.result_, certificate=wrong)
        assert not so.audit(forged, X, Y, **given).agrees
    assert so.audit(model.result_, X, Y, **given).agrees
    with pytest.raises(IncompatibleError, match="needs structure="):
        so.audit(model.result_, X, Y)


class Shared(so.Formulation):
    """Two weight vectors, of which rules see the sum."""

    def master(self, m):
        w, v, xi = m.weights(), cp.Variable(m.n_features, name="v"), m.slacks()
        m.minimize(cp.sum_squares(w) + 2.0 * cp.sum_squares(v) + cp.sum(xi))
        m.cuts(lambda cut: cut.delta @ (w + v) >= cut.loss - cut.of(xi))


def test_what_a_result_does_not_keep_is_not_accused():
    X, y = so.datasets.make_classes(12, seed=0)
    model = so.StructuredClassifier(so.Multiclass(), Shared(), tol=1e-4).fit(X, y)
    found = so.audit(model, X, y)
    assert model.result_.certificate.certified
    assert found.agrees
    assert np.isnan(found.objective)
    assert "other variables" in found.skipped[0]
    assert found.optimum == pytest.approx(model.result_.certificate.primal, rel=1e-3)
