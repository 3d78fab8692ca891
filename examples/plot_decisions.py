"""
Predict, then optimise
======================

Predict, then optimise: costs that are learned for the path that they lead to.

The edges of a grid cost what depends on the inputs by a polynomial of high degree, which no linear
model can predict. Ridge regression is wrong where it is wrong; SPO+ is right where it matters, and
its optimum is certified.
"""

import numpy as np
from matplotlib.figure import Figure

import structopt as so

degrees, n = (1, 2, 4, 6, 8), 200
grid = so.decisions.GridPaths(5, 5)
regrets = {"two stages (ridge)": [], "SPO+, certified": []}
for degree in degrees:
    X, costs = so.datasets.make_shortest_paths(n + 1000, degree=degree, noise=0.5, seed=3)
    ridge = so.TwoStage(grid).fit(X[:n], costs[:n])
    model = so.DecisionModel(grid, so.M3N(C=0.1), tol=1e-2).fit(X[:n], costs[:n])
    assert model.result_.certificate.certified
    for name, learned in zip(regrets, (ridge, model), strict=True):
        regrets[name].append(100 * learned.regret(X[n:], costs[n:]))

# the example on which the two paths differ most in cost
better = ridge.regrets(X[n:], costs[n:]) - model.regrets(X[n:], costs[n:])
shown = n + int(np.argmax(better))
paths = {
    "the cheapest": (grid.minimize(costs[[shown]]).points[0], "0.55", "-", 9),
    "ridge": (ridge.predict(X[[shown]])[0], "tab:orange", "--", 3.5),
    "SPO+": (model.predict(X[[shown]])[0], "tab:blue", "-", 3.5),
}

figure = Figure(figsize=(10, 4.4), layout="constrained")
left, right = figure.subplots(1, 2, width_ratios=[4, 5])
widths = 1.0 + 3.0 * costs[shown] / costs[shown].max()
for (u, v), width in zip(grid.edges, widths, strict=True):
    ends = np.array([divmod(u, 5), divmod(v, 5)])
    left.plot(ends[:, 1], -ends[:, 0], color="0.85", lw=2 * width, zorder=0)
for name, (path, colour, style, width) in paths.items():
    total = costs[shown] @ path
    left.plot([], [], color=colour, ls=style, lw=width, label=f"{name}: {total:.1f}")
    for u, v in (grid.edges[j] for j in np.flatnonzero(path)):
        ends = np.array([divmod(u, 5), divmod(v, 5)])
        left.plot(ends[:, 1], -ends[:, 0], color=colour, ls=style, lw=width, zorder=width < 5)
left.set_title("a new example at degree 8")
left.legend(loc="lower left", bbox_to_anchor=(0.0, -0.22), ncols=3, frameon=False)
left.set_aspect("equal")
left.axis("off")
for (name, values), colour in zip(regrets.items(), ("tab:orange", "tab:blue"), strict=True):
    right.plot(degrees, values, "o-", color=colour, label=name)
right.set(xlabel="degree of the costs", ylabel="regret on new examples (%)", ylim=(0, None))
right.set_title(f"{n} training examples, noise 0.5")
right.legend()
figure.savefig("decisions.png", dpi=120)
