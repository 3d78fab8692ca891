"""Wrapped structures hand out polytopes and expectations of their own, or none."""

import cvxpy as cp
import numpy as np
import pytest

import structopt as so
from structopt.errors import IncompatibleError

X = [np.eye(2), np.array([[1.0, 0.5], [0.0, 1.0]])]
Y = [["a", "b"], ["b", "a"]]
ONCE = so.constraints.at_most_one("b")
WRAPPED = {
    "chain": (so.constrain(so.Chain(), ONCE), X, Y),
    "set": (so.constrain(so.Multiclass(), ONCE), X, Y),
    "program": (so.BooleanProgram(lambda x, z: [cp.sum(z) <= 1], lambda x: x), X, [(1, 0), (0, 1)]),
    "references": (so.References(so.Chain()), X, [[y] for y in Y]),
}
METHODS = ("extragradient", "bregman", "compact")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", sorted(WRAPPED))
def test_saddle_methods_refuse_them_before_any_work(kind, method, monkeypatch):
    structure, inputs, outputs = WRAPPED[kind]
    shard = type(structure.fitted(inputs, outputs).encode(inputs, outputs))
    asked = []
    monkeypatch.setattr(shard, "ask", lambda *_: asked.append(1))
    model = so.StructuredClassifier(structure, so.M3N(C=1.0), method=method)
    sentence = {
        "program": "Program (gives no relaxation|cannot sum).*use the method 'cutting-plane'",
        "references": "M3N asks 'loss_augmented'.*References offers",
    }.get(kind, "have no (polytope|expectations).*Use the method 'cutting-plane'")
    with pytest.raises(IncompatibleError, match=sentence):
        model.fit(inputs, outputs)
    assert not asked


@pytest.mark.parametrize("method", METHODS)
def test_without_constraints_a_constrained_chain_is_a_chain(method):
    plain, free = so.Chain(), so.constrain(so.Chain(), [])
    models = [
        so.StructuredClassifier(s, so.M3N(C=1.0), method=method, tol=1e-3, max_iter=500).fit(X, Y)
        for s in (plain, free)
    ]
    primal, same = (m.result_.certificate.primal for m in models)
    assert primal == pytest.approx(same, rel=1e-9)


class Strict(so.Chain):
    """A loss of its own."""

    def loss(self, y, other):
        return float(list(y) != list(other))


def test_an_override_of_what_is_wrapped_is_refused_or_used():
    with pytest.raises(IncompatibleError, match=r"Strict overrides \['loss'\]"):
        so.constrain(Strict(), ONCE)

    class Doubled(so.References):
        def loss(self, y, other):
            return 2.0 * super().loss(y, other)

    plain, doubled = (
        kind(so.Chain()).fitted(X, [[y] for y in Y]) for kind in (so.References, Doubled)
    )
    ask = [
        s.encode(X, [[y] for y in Y]).ask(so.oracles.best_other, np.zeros(8))
        for s in (plain, doubled)
    ]
    np.testing.assert_allclose(ask[1].loss, 2.0 * ask[0].loss)

    class Named(so.References):
        def joint_features(self, x, y):
            return 2.0 * super().joint_features(x, y)

    with pytest.raises(IncompatibleError, match="override it there"):
        Named(so.Chain()).fitted(X, [[y] for y in Y]).encode(X, [[y] for y in Y])
