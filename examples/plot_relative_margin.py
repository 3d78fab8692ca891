"""
Relative margins
================

Relative margins: bounding the spread of projections changes the direction that wins.
"""

import numpy as np
from matplotlib.figure import Figure

import structopt as so

# two classes, wide in one direction: the largest margin leans towards the wide one
rng = np.random.default_rng(0)
spread = rng.normal(size=(120, 2)) * [6.0, 0.4]
y = rng.integers(2, size=120)
X = spread + np.outer(2 * y - 1, [2.0, 1.0])

figure = Figure(figsize=(9, 3), layout="constrained")
for axis, fraction in zip(figure.subplots(1, 3, sharey=True), (None, 0.6, 0.3), strict=True):
    formulation = (
        so.StructSVM(C=100.0) if fraction is None else so.StructRMM(100.0, B_fraction=fraction)
    )
    model = so.StructuredClassifier(so.Multiclass(), formulation, tol=1e-3).fit(X, y)
    assert model.result_.certificate.certified
    direction = model.result_.weights[2:] - model.result_.weights[:2]
    axis.scatter(*X.T, c=y, s=8, cmap="coolwarm")
    line = np.array([-18.0, 18.0])
    axis.plot(line, -direction[0] / direction[1] * line, "k")
    name = "StructSVM" if fraction is None else f"StructRMM, B = {fraction} of its largest"
    axis.set(title=f"{name}\n{100 * model.score(X, y):.0f}% right", xlim=(-18, 18), ylim=(-3, 3))
figure.savefig("relative_margin.png", dpi=120)
