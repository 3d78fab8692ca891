"""
Given parts
===========

What is known of an output at prediction is given, and the best output that agrees is found exactly.
Here single steps of a zigzag way are given, against what the model believes, and labels on both
sides of them change along.
"""

import numpy as np
from matplotlib.figure import Figure

import structopt as so

X, Y = so.datasets.make_zigzags(50, length=16, slip=0.0, noise=1.2, seed=2)
model = so.StructuredClassifier(so.SecondOrderChain(), so.M3N(C=1.0), tol=1e-2)
model.fit(X[:40], Y[:40])
steps = list(so.datasets.zigzags.STEPS)
x, free = X[41:42], model.predict(X[41:42])[0]
turn = next(t for t in range(6, 16) if free[t] != "straight")
other = {"left": "right", "right": "left"}[free[turn]]
known = {
    "nothing given": None,
    "a turn given": {turn: other},
    "a turn ruled out": {turn: so.Not(free[turn])},
    "a straight step given": {turn: "straight"},
}
rows = {name: model.predict(x, given=[given])[0] for name, given in known.items()}
assert rows["nothing given"] == free
assert rows["a turn given"][turn] == other

figure = Figure(figsize=(9, 4), layout="constrained")
above, below = figure.subplots(2, 1, height_ratios=[1.3, 1])
codes = np.array([[steps.index(step) for step in row] for row in rows.values()])
above.imshow(codes, aspect="auto", cmap="Set2", vmin=0, vmax=7)
marks = {"left": "<", "right": ">", "straight": "·"}
for r, row in enumerate(rows.values()):
    for t, step in enumerate(row):
        changed = step != free[t]
        above.text(t, r, marks[step], ha="center", va="center", weight="bold" if changed else None)
    if r:
        above.plot([turn - 0.5, turn + 0.5, turn + 0.5, turn - 0.5, turn - 0.5],
                   [r - 0.5, r - 0.5, r + 0.5, r + 0.5, r - 0.5], color="k")  # fmt: skip
above.set(yticks=range(len(rows)), yticklabels=list(rows), xticks=[])
believed = model.structure_.marginals(x, model.weights_)[0]
below.imshow(np.transpose(believed), aspect="auto", cmap="Greys", vmin=0, vmax=1)
below.set(yticks=range(3), yticklabels=[str(k) for k in model.structure_.labels_], xlabel="step")
below.set_title("probability of each label, nothing given", fontsize=10)
figure.savefig("given.png", dpi=120)
