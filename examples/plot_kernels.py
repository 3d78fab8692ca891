"""
Kernels
=======

Kernels: the same machine, linear and with Gaussian kernels of two widths, on two moons.
"""

import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import make_moons
from sklearn.pipeline import make_pipeline

import structopt as so

X, y = make_moons(160, noise=0.22, random_state=0)
maps = {
    "linear": so.KernelMap("linear"),
    "Gaussian, gamma = 1": so.KernelMap("rbf", gamma=1.0),
    "Gaussian, gamma = 30": so.KernelMap("rbf", gamma=30.0),
}
across, up = np.meshgrid(np.linspace(-1.8, 2.8, 160), np.linspace(-1.4, 1.9, 120))
plane = np.column_stack([across.ravel(), up.ravel()])

figure = Figure(figsize=(10, 3.2), layout="constrained")
for axis, (name, features) in zip(figure.subplots(1, 3, sharey=True), maps.items(), strict=True):
    machine = so.StructuredClassifier(so.Multiclass(), so.StructSVM(C=200.0), tol=1e-3)
    model = make_pipeline(features, machine).fit(X, y)
    assert machine.result_.certificate.certified
    zero, one = machine.result_.weights.reshape(2, -1)
    score = (features.transform(plane) @ (one - zero)).reshape(across.shape)
    axis.contourf(across, up, score, levels=[-1e9, 0, 1e9], colors=["#d5e3f5", "#f8dcd6"])
    styles = ["--", "-", "--"]
    axis.contour(
        across, up, score, levels=[-1, 0, 1], colors="k", linewidths=0.8, linestyles=styles
    )
    axis.scatter(*X.T, c=np.where(y == 1, "tab:red", "tab:blue"), s=12, lw=0)
    axis.set_title(f"{name}\n{features.rank_} features, {100 * model.score(X, y):.0f}% right")
    axis.set(xticks=[], yticks=[])
figure.savefig("kernels.png", dpi=120)
