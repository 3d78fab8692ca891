"""
A new formulation in ten lines
==============================

A new margin formulation in ten lines: sparsity of an elastic net as its l1 weight grows.
"""

import cvxpy as cp
from matplotlib.figure import Figure

import structopt as so


class ElasticNetM3N(so.Formulation):
    r"""min tau |w|_1 + 1/2 |w|_2^2 + C sum xi  s.t.  w . delta_i(y) >= loss_i(y) - xi_i."""

    def __init__(self, C=1.0, tau=0.1):
        self.C, self.tau = C, tau

    def master(self, m):
        w, xi = m.weights(), m.slacks()
        m.minimize(self.tau * cp.norm1(w) + cp.sum_squares(w) / 2 + self.C * cp.sum(xi))
        m.cuts(lambda cut: cut.delta @ w >= cut.loss - cut.of(xi))


X, Y = so.datasets.load_digit_words(100, seed=0)
X_test, Y_test = so.datasets.load_digit_words(100, split="test", seed=1)
taus = [0.0, 0.03, 0.1, 0.3, 1.0]
used, accuracy = [], []
for tau in taus:
    formulation = ElasticNetM3N(C=0.1, tau=tau)
    model = so.StructuredClassifier(so.Chain(labels=range(10)), formulation, tol=1e-2).fit(X, Y)
    assert model.result_.certificate.certified
    used.append(int((model.result_.weights != 0).sum()))
    accuracy.append(model.score(X_test, Y_test))

figure = Figure(figsize=(6, 3.5), layout="constrained")
left = figure.subplots()
left.plot(used, accuracy, "o-")
for tau, x, y in zip(taus, used, accuracy, strict=True):
    left.annotate(f"tau = {tau:g}", (x, y), textcoords="offset points", xytext=(6, -10))
left.set(xlabel="weights in use", ylabel="test accuracy", title="An elastic net in ten lines")
figure.savefig("new_formulation.png", dpi=120)
