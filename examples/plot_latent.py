"""
Hidden labels
=============

Labels that are partly unknown: latent margins, and how their objective falls step by step.

Half of the labels of a noisy sequence task are hidden. A latent margin completes them in every
step; the objective falls, and each step's convex upper bound is certified.
"""

import numpy as np
from matplotlib.figure import Figure

import structopt as so

X, Y = so.datasets.make_chain_crf(n_examples=160, n_features=20, n_relevant=8, seed=2)
X_test, Y_test = X[60:], Y[60:]
shares, scores = (
    [0.0, 0.2, 0.4, 0.6, 0.8],
    {"hidden labels completed": [], "each known position alone": []},
)
for share in shares:
    rng = np.random.default_rng(0)
    hidden = [[None if rng.random() < share else k for k in y] for y in Y[:60]]
    model = so.StructuredClassifier(so.Chain([0, 1]), so.Latent(so.M3N(C=0.02)), method="outer")
    scores["hidden labels completed"].append(model.fit(X[:60], hidden).score(X_test, Y_test))
    if share == 0.4:
        steps = model.result_.steps
    # without sequences: the positions that are known, each on its own
    rows = [(x[t], k) for x, y in zip(X, hidden, strict=False) for t, k in enumerate(y)]
    known = [(x, k) for x, k in rows if k is not None]
    single = so.StructuredClassifier(so.Multiclass([0, 1]), so.M3N(C=0.02))
    single.fit(np.array([x for x, _ in known]), [k for _, k in known])
    flat = np.concatenate(X_test)
    scores["each known position alone"].append(single.score(flat, np.concatenate(Y_test).tolist()))

figure = Figure(figsize=(8, 3.2), layout="constrained")
left, right = figure.subplots(1, 2)
for name, values in scores.items():
    left.plot(shares, values, "o-", label=name)
left.set(xlabel="share of labels that are hidden", ylabel="accuracy on other data")
left.legend(fontsize=8)
right.plot(range(len(steps)), [s.before for s in steps], "o-", label="objective")
bounds = [s.before - s.stationarity for s in steps]
right.plot(range(len(steps)), bounds, "k_", label="certified lower bound of the step")
right.set(xlabel="outer step", ylabel="latent objective", xticks=range(len(steps)))
right.legend(fontsize=8)
figure.savefig("latent.png", dpi=120)
