"""
Three labels in a row
=====================

A walker turns left and right by turns, with a straight step in between, seen through noise. A
chain knows that a turn follows a straight step, but not which: the last turn is two steps back. A
second-order chain scores three labels in a row, and knows.
"""

import numpy as np
from matplotlib.figure import Figure

import structopt as so

X, Y = so.datasets.make_zigzags(80, length=30, noise=0.9, seed=0)
train, test = slice(0, 40), slice(40, 80)
steps = list(so.datasets.zigzags.STEPS)
rows, models = {"truth": Y[test][0]}, {}
for name, structure in (("chain", so.Chain()), ("second order", so.SecondOrderChain())):
    model = so.StructuredClassifier(structure, so.M3N(C=1.0), tol=1e-2).fit(X[train], Y[train])
    assert model.result_.certificate.certified
    predicted = model.predict(X[test])
    right = np.mean(np.array(list(predicted)) == np.array(Y[test]))
    rows[f"{name}: {100 * right:.0f}% right"] = predicted[0]
    models[name] = model

figure = Figure(figsize=(9, 4.6), layout="constrained")
above, below = figure.subplots(2, 1, height_ratios=[1.2, 2])
codes = np.array([[steps.index(step) for step in row] for row in rows.values()])
above.imshow(codes, aspect="auto", cmap="Set2", vmin=0, vmax=7)
marks = {"left": "<", "right": ">", "straight": "·"}
for r, row in enumerate(rows.values()):
    for t, step in enumerate(row):
        above.text(t, r, marks[step], ha="center", va="center")
above.set(yticks=range(len(rows)), yticklabels=list(rows), xlabel="step")

learned = {(f, y): w for f, y, w in models["second order"].coef_ if f.startswith("after")}
pairs = [f"after {a} {b}" for a in steps for b in steps]
table = np.array([[learned[pair, step] for step in steps] for pair in pairs])
most = np.abs(table).max()
image = below.imshow(table.T, aspect="auto", cmap="PuOr", vmin=-most, vmax=most)
names = [pair.removeprefix("after ").replace(" ", "\n") for pair in pairs]
below.set(xticks=range(len(pairs)), xticklabels=names, yticks=range(3), yticklabels=steps)
below.set(xlabel="the two labels before", ylabel="the next")
figure.colorbar(image, ax=below, label="learned weight")
figure.savefig("second_order.png", dpi=120)
