"""
A path of weights
=================

The weights of an L1-M3N as C grows: inputs enter one after the other, the relevant ones first.

Data of Zhu, Xing and Zhang (2009): 30 of 60 inputs decide the labels, in ten groups of three that
show nearly the same value. Each C starts from the cuts of the one before, and each is certified.
"""

import numpy as np
from matplotlib.figure import Figure

import structopt as so

N_INPUTS, N_RELEVANT = 60, 30
X, Y = so.datasets.make_chain_crf(400, n_features=N_INPUTS, n_relevant=N_RELEVANT, seed=1)
model = so.StructuredClassifier(so.Chain(), so.L1M3N(), tol=2e-3)
path = so.fit_path(model, X[:200], Y[:200], np.logspace(-3.2, -1, 14))
assert all(result.certificate.certified for result in path.results)

# two labels: an input's pull is the difference of its two weights
weights = np.array([result.weights[: 2 * N_INPUTS] for result in path.results])
pull = weights[:, N_INPUTS:] - weights[:, :N_INPUTS]
scores = path.scores(X[200:], Y[200:])

figure = Figure(figsize=(7, 5), layout="constrained")
top, bottom = figure.subplots(2, 1, sharex=True, height_ratios=[3, 1])
top.plot(path.values, pull[:, N_RELEVANT:], color="0.7", lw=1)
top.plot(path.values, pull[:, :N_RELEVANT], color="tab:blue", lw=1.6)
top.plot([], [], color="tab:blue", label=f"{N_RELEVANT} relevant inputs")
top.plot([], [], color="0.7", label=f"{N_INPUTS - N_RELEVANT} inputs of noise")
top.axhline(0, color="k", lw=0.5)
top.set(ylabel="weight of label 1 minus label 0", title="L1-M3N: the path of its weights")
top.legend(frameon=False, loc="upper left")
bottom.semilogx(path.values, scores, "o-", color="tab:orange")
bottom.axvline(path.values[int(np.argmax(scores))], color="tab:orange", lw=0.8, ls=":")
bottom.set(xlabel="C", ylabel="held-out accuracy")
figure.savefig("sparsity_path.png", dpi=120)
