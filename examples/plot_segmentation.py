"""Segmentation: labels of single nodes, and with edges that reward agreement (weights >= 0)."""

import numpy as np
from matplotlib.figure import Figure

import structopt as so

SIDE = 40
X, Y = so.datasets.make_scenes(3, side=SIDE, n_features=8, separation=0.8, seed=3)
train, test = slice(0, 2), 2
no_edges = np.zeros((0, 2), dtype=np.int64)
alone = [(no_edges, nodes, np.zeros((0, 1))) for _, nodes in X]

pictures = {"truth": Y[test]}
for name, inputs in (("nodes alone", alone), ("with edges", X)):
    model = so.StructuredClassifier(so.Cut(), so.M3N(C=0.01), method="extragradient", tol=1e-2)
    model.fit(inputs[train], Y[train])
    assert model.result_.certificate.certified
    wrong = 1.0 - model.score([inputs[test]], [Y[test]])
    pictures[f"{name}: {100 * wrong:.1f}% wrong"] = model.predict([inputs[test]])[0]

figure = Figure(figsize=(9, 3.2), layout="constrained")
for axis, (title, labels) in zip(figure.subplots(1, 3), pictures.items(), strict=True):
    axis.imshow(np.reshape(labels, (SIDE, SIDE)), cmap="cividis")
    axis.set(title=title, xticks=[], yticks=[])
figure.savefig("segmentation.png", dpi=120)
