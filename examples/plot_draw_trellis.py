"""
Viterbi on a trellis
====================

``so.draw.trellis``: what the oracle of a chain computes, without and with the loss.

The number at a node is the score of the best way that ends there, thin lines remember where it
came from, the thick path is the best output and the dashed one gold. Below, the loss is added to
every wrong label: the best path is now the most violated constraint.
"""

import numpy as np
from matplotlib.figure import Figure

import structopt as so

X, Y = so.datasets.load_digit_words(40, seed=0)
model = so.StructuredClassifier(so.Chain(), so.M3N(C=1e-2), tol=1e-2).fit(X[1:], Y[1:])
structure, weights = model.structure_, model.result_.weights
figure = Figure(figsize=(8, 11), layout="constrained")
for axis, augmented in zip(figure.subplots(2, 1), (False, True), strict=True):
    so.draw.trellis(
        structure, X[0], weights, gold=np.asarray(Y[0]).tolist(), augmented=augmented, ax=axis
    )
    axis.set_title("loss-augmented scores" if augmented else "scores")
figure.savefig("draw_trellis.png", dpi=120)
