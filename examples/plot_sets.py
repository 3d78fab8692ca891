"""
Sets
====

A rare class in whole batches, by the share of errors, by F1, and by F3.

Few items are positive. Where the share of errors counts, weak evidence is best ignored, since most
items are negative; F1 asks for what is rare to be found, and F3 counts recall nine times.
"""

import numpy as np
from matplotlib.figure import Figure

import structopt as so

rng = np.random.default_rng(2)


def batch(n=300):
    """One batch: a few clear positives, and more that hide among the rest."""
    y = (np.arange(n) < 0.08 * n).astype(int)
    x = rng.normal(size=(n, 2))
    x[y == 1] += np.where(rng.random((int(y.sum()), 1)) < 0.5, [3.2, 1.0], [1.7, 1.7])
    return np.column_stack([x, np.ones(n)]), y


X, Y = map(list, zip(*(batch() for _ in range(8)), strict=True))
figure = Figure(figsize=(11, 4), layout="constrained")
panels = figure.subplots(1, 3, sharey=True)
losses = (so.losses.ErrorRate(), so.losses.FScore(), so.losses.FScore(beta=3.0))
for panel, loss in zip(panels, losses, strict=True):
    model = so.StructuredClassifier(so.Subset(loss), so.M3N(C=10.0), tol=1e-2).fit(X[:4], Y[:4])
    assert model.result_.certificate.certified
    gold, found = np.concatenate(Y[4:]), np.concatenate(model.predict(X[4:]))
    right = float((gold * found).sum())
    precision, recall = 100 * right / found.sum(), 100 * right / gold.sum()
    x, y = X[4], Y[4]
    for kind, colour, name in ((0, "lightgrey", "negative"), (1, "tab:orange", "positive")):
        panel.scatter(*x[y == kind, :2].T, s=18, color=colour, label=name)
    a, b, c = model.weights_
    across = np.linspace(-3, 5, 2)
    panel.plot(across, -(a * across + c) / b, "k--", lw=1)
    panel.fill_between(across, -(a * across + c) / b, 6, color="tab:green", alpha=0.08)
    panel.set(xlim=(-3, 5), ylim=(-3, 5), xlabel="first feature")
    panel.set_title(f"{loss}\nprecision {precision:.0f}%, recall {recall:.0f}%", fontsize=10)
panels[0].set_ylabel("second feature")
panels[0].legend(loc="lower right")
figure.suptitle("Sets: a rare class in held-out batches; above the line items are in")
figure.savefig("sets.png", dpi=120)
