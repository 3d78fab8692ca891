"""What a user overrides is what is used, or is refused; one example is a batch of one."""

import numpy as np
import pytest

import structopt as so
from structopt.errors import IncompatibleError, InvalidInputError, OracleError
from structopt.structures.base.example_shard import ExampleShard

X, Y = so.datasets.make_chain_crf(n_examples=8, n_features=4, n_relevant=4, seed=0)
ROWS = np.concatenate(X)[:30]
LABELS = np.concatenate(Y)[:30]
INPUTS = {so.Chain: (X, Y), so.Multiclass: (ROWS, LABELS)}


def objective(structure, formulation, data):
    model = so.StructuredClassifier(structure, formulation, tol=1e-6).fit(*data)
    return model.result_.certificate.primal


@pytest.mark.parametrize("base", [so.Chain, so.Multiclass])
def test_a_definition_that_inherited_oracles_do_not_know_is_refused(base):
    class Heavy(base):
        def loss(self, y, other):
            return 10.0 * super().loss(y, other)

    class Doubled(base):
        def joint_features(self, x, y):
            return 2.0 * super().joint_features(x, y)

    sentence = "overrides loss.. but inherits argmax.., which does not know of it: override argmax"
    with pytest.raises(IncompatibleError, match=sentence):
        objective(Heavy(), so.M3N(), INPUTS[base])
    inputs, outputs = INPUTS[base]
    heavy = Heavy().fitted(inputs, outputs)
    zero = np.zeros(heavy.n_features_)
    shard = heavy.encode(inputs, outputs)
    for single in (shard, shard.single(0), so.DataSet.of(heavy, inputs, outputs).single(3)):
        with pytest.raises(IncompatibleError, match=sentence):
            single.ask(so.loss_augmented, zero)
    assert len(heavy.predict(inputs, zero)) == len(outputs)  # which has nothing to do with loss
    with pytest.raises(IncompatibleError, match="override slack_rescaled"):
        heavy.slack_rescaled(inputs[0], zero, outputs[0])
    doubled = Doubled().fitted(inputs, outputs)
    assert not doubled.abilities()
    for call in (
        lambda: objective(Doubled(), so.LPStruct(), INPUTS[base]),
        lambda: doubled.predict(inputs, zero),
        lambda: doubled.argmax(inputs[0], zero),
        lambda: doubled.k_best(inputs[0], zero, 2),
        lambda: doubled.marginals(inputs, zero),
    ):
        with pytest.raises(IncompatibleError, match=r"Doubled overrides joint_features\(\)"):
            call()


def test_best_other_does_not_depend_on_the_loss():
    class Heavy(so.Chain):
        def loss(self, y, other):
            return 10.0 * super().loss(y, other)

    found = objective(Heavy(), so.LPStruct(C=0.5), (X, Y))
    assert found == pytest.approx(objective(so.Chain(), so.LPStruct(C=0.5), (X, Y)), rel=1e-4)


def test_what_a_user_overrides_is_used():
    class Heavy(so.Chain):
        def loss(self, y, other):
            return 10.0 * super().loss(y, other)

        def argmax(self, x, weights, *, gold=None):
            return super().argmax(x, np.asarray(weights) / 10.0, gold=gold)

    class Doubled(so.Chain):
        def joint_features(self, x, y):
            return 2.0 * super().joint_features(x, y)

        def argmax(self, x, weights, *, gold=None):
            return super().argmax(x, 2.0 * np.asarray(weights), gold=gold)

    same = so.Chain(loss=so.losses.Hamming(dict.fromkeys(np.unique(LABELS).tolist(), 10.0)))
    expected = objective(same, so.M3N(), (X, Y))
    assert objective(Heavy(), so.M3N(), (X, Y)) == pytest.approx(expected, rel=1e-5)
    twice = [2.0 * x for x in X]
    chain = so.Chain().fitted(X, Y)
    doubled = Doubled().fitted(X, Y)
    assert isinstance(doubled.encode(X, Y), ExampleShard)
    weights = np.random.default_rng(0).normal(size=chain.n_features_)
    scaled = weights.copy()
    scaled[len(chain.labels_) * chain.n_inputs_ :] *= 2.0  # transitions are doubled too
    assert doubled.predict(X, weights) == chain.predict(twice, scaled)
    answers = doubled.encode(X, Y).ask(so.loss_augmented, weights)
    truth = chain.encode(twice, Y).ask(so.loss_augmented, scaled)
    np.testing.assert_allclose(answers.score, truth.score)
    np.testing.assert_allclose(answers.loss, truth.loss)


def test_a_method_of_one_object_counts_and_so_does_a_list_of_the_best():
    structure = so.Chain().fitted(X, Y)
    structure.loss = lambda y, other: 0.5 * float(list(y) != list(other))
    assert structure.overridden() == {"loss"}
    assert "argmax" not in structure.abilities()

    class Listed(so.Chain):
        def joint_features(self, x, y):
            return -super().joint_features(x, y)

        def k_best(self, x, weights, k):
            return so.Chain.k_best(self, x, -np.asarray(weights), k)

    listed, chain = Listed().fitted(X, Y), so.Chain().fitted(X, Y)
    assert listed.abilities() == {"k_best", "second_best"}
    weights = np.random.default_rng(0).normal(size=chain.n_features_)
    for x, y in zip(X, Y, strict=True):
        assert listed.second_best(x, weights, y) == chain.second_best(x, -weights, y)


def test_rows_of_a_sparse_matrix_are_asked_one_by_one():
    import scipy.sparse as sp

    class First(so.Multiclass):
        def argmax(self, x, weights, *, gold=None):
            assert x.shape == (1, 2)
            return self.labels_[0]

    inputs, outputs = sp.csr_array(np.eye(2)), ["a", "b"]
    shard = First().fitted(inputs, outputs).encode(inputs, outputs)
    assert shard.ask(so.loss_augmented, np.zeros(4)).outputs == ["a", "a"]
    assert shard.single(1).ask(so.loss_augmented, np.zeros(4)).loss.tolist() == [1.0]


@pytest.mark.parametrize("method", ["argmax", "argmin", "slack_rescaled", "k_best"])
def test_a_forgotten_return_is_named(method):
    def forgetful(self, *given, **more):
        pass

    structure = type("Forgetful", (so.Chain,), {method: forgetful})().fitted(X, Y)
    shard, zero = structure.encode(X, Y, start=7), np.zeros(structure.n_features_)
    asked = {
        "argmax": so.loss_augmented,
        "argmin": so.oracles.worst,
        "slack_rescaled": so.slack_rescaled,
    }
    sentence = rf"Forgetful.{method}\(\) gave None on example 7: it must return an output"
    with pytest.raises(OracleError, match=sentence) as info:
        shard.k_best(zero, 2) if method == "k_best" else shard.ask(asked[method], zero)
    assert info.value.example == 7
    if method == "argmax":
        with pytest.raises(OracleError, match=r"gave None on example 0"):
            structure.predict(X, zero)
        with pytest.raises(OracleError, match=r"gave None on example 9"):
            shard.single(2).argmax(zero)


def test_old_spellings_of_a_loss_name_the_new_one():
    with pytest.raises(InvalidInputError, match=r"Chain\(class_weight=...\) is now loss=so.losses"):
        so.Chain(class_weight="balanced")
    with pytest.raises(InvalidInputError, match=r"is now loss=so\.losses\.Hamming"):
        so.Chain().set_params(class_weight="balanced")
    with pytest.raises(InvalidInputError, match=r"loss is 'balanced', .* give so\.losses"):
        so.Chain(loss="balanced").fitted(X, Y)
    balanced = so.losses.Hamming("balanced")
    structure = so.Chain().set_params(loss=balanced)
    assert structure.get_params()["loss"] is balanced
    assert "loss=Hamming(class_weight='balanced')" in repr(structure)


@pytest.mark.parametrize("base", [so.Chain, so.Multiclass])
def test_parts_of_a_shard_answer_as_the_whole(base):
    inputs, outputs = INPUTS[base]
    structure = base().fitted(inputs, outputs)
    weights = np.random.default_rng(1).normal(size=structure.n_features_)
    shard, n = structure.encode(inputs, outputs), structure.n_features_
    whole = shard.ask(so.slack_rescaled, weights)
    for a, b in ((0, 3), (3, 8), (5, 6)):
        for part in (shard.part(a, b), shard.part(2, 8).part(a - 2, b - 2) if a > 1 else None):
            if part is None:
                continue
            found = part.ask(so.slack_rescaled, weights)
            np.testing.assert_array_equal(found.loss, whole.loss[a:b])
            np.testing.assert_allclose(found.score, whole.score[a:b], atol=1e-12)
            assert part.start == a
            assert part.base is shard.base
            delta = part.directions(found.outputs, np.arange(b - a)).tocsr(shard.base, n)
            expected = shard.directions(whole.outputs, np.arange(a, b)).tocsr(shard.base, n)
            np.testing.assert_array_equal(delta.toarray(), expected.toarray())
