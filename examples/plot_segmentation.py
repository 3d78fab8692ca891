"""
Segmentation
============

Segmentation as minimum cut: what one weight for agreeing neighbours does to a noisy scene.
"""

import numpy as np
from matplotlib.figure import Figure

import structopt as so

SIDE = 40
X, Y = so.datasets.make_grids(4, side=SIDE, n_features=6, signal=0.9, seed=4)
train, test = slice(0, 3), 3

cut = so.StructuredClassifier(so.GraphCut(), so.M3N(C=0.01), tol=1e-2).fit(X[train], Y[train])
# the same nodes without a single edge: every pixel for itself
alone = [(np.zeros((0, 2), dtype=int), nodes) for _, nodes in X]
pixels = so.StructuredClassifier(so.GraphCut(), so.M3N(C=0.01), tol=1e-2).fit(
    alone[train], Y[train]
)
assert cut.result_.certificate.certified
assert pixels.result_.certificate.certified

nodes = X[test][1]
evidence = nodes @ pixels.result_.weights[: nodes.shape[1]]
right = {
    "each pixel for itself": (
        pixels.predict([alone[test]])[0],
        pixels.score([alone[test]], [Y[test]]),
    ),
    "minimum cut": (cut.predict([X[test]])[0], cut.score([X[test]], [Y[test]])),
}
figure = Figure(figsize=(11, 3.2), layout="constrained")
axes = figure.subplots(1, 4)
limit = np.abs(evidence).max()
shape = (SIDE, SIDE)
axes[0].imshow(evidence.reshape(shape), cmap="RdBu_r", vmin=-limit, vmax=limit)
axes[0].set_title("evidence at each pixel")
for axis, (name, (labels, score)) in zip(axes[1:], right.items(), strict=False):
    axis.imshow(np.reshape(labels, shape), cmap="Blues", vmin=0, vmax=1.4)
    axis.set_title(f"{name}\n{100 * score:.1f}% right")
axes[3].imshow(np.reshape(Y[test], shape), cmap="Blues", vmin=0, vmax=1.4)
axes[3].set_title("truth")
for axis in axes:
    axis.set(xticks=[], yticks=[])
figure.suptitle(f"a held-out scene; the edge weight learned is {cut.result_.weights[-1]:.2f}")
figure.savefig("segmentation.png", dpi=120)
