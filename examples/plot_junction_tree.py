"""
Exact beliefs on a grid
=======================

A noisy picture as a Markov net with cycles: by junction trees every question is answered exactly,
also how sure each pixel is.
"""

import networkx as nx
import numpy as np
from matplotlib.figure import Figure

import structopt as so

SIDE = 8
rng = np.random.default_rng(0)


def picture():
    """Draw a disk, and the grid of its pixels seen through noise."""
    centre, radius = rng.uniform(2, SIDE - 3, size=2), rng.uniform(1.8, 3.0)
    x = nx.grid_2d_graph(SIDE, SIDE)
    y = {v: int(np.hypot(*(np.array(v) - centre)) < radius) for v in x}
    for v in x:
        x.nodes[v]["x"] = [1.0, y[v] + 0.8 * rng.normal()]
    return x, y


X, Y = zip(*(picture() for _ in range(13)), strict=True)
model = so.StructuredClassifier(so.MarkovNet(width=11), so.M3N(C=0.1), tol=1e-2)
model.fit(X[:12], Y[:12])
assert model.result_.certificate.certified
x, truth = X[12], Y[12]
predicted = model.predict([x])[0]
second = model.structure_.second_best(x, model.result_.weights, predicted)
sure = model.predict_marginals([x])[0][:, 1]

panels = {
    "truth": list(truth.values()),
    "seen": [x.nodes[v]["x"][1] for v in x],
    "best": list(predicted.values()),
    "where the second best differs": [predicted[v] != second[v] for v in x],
    "probability": sure,
}
figure = Figure(figsize=(11, 2.6), layout="constrained")
for axis, (name, values) in zip(figure.subplots(1, 5), panels.items(), strict=True):
    axis.imshow(np.reshape(values, (SIDE, SIDE)).astype(float), cmap="viridis")
    axis.set_title(name, fontsize=10)
    axis.axis("off")
figure.savefig("junction_tree.png", dpi=120)
