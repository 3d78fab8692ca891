"""
Bounds of several methods
=========================

``so.draw.bounds``: the same problem by three methods, and what is known of the optimum after
every round.

Every method keeps an upper and a lower bound that hold whatever it did; the optimum lies in the
shaded band.
"""

from matplotlib.figure import Figure

import structopt as so

X, Y = so.datasets.load_digit_words(25, seed=0)
runs = {}
for method in ("cutting-plane", "frank-wolfe", "subgradient"):
    model = so.StructuredClassifier(so.Chain(), so.M3N(C=0.1), method=method, tol=0.04)
    runs[method] = model.fit(X, Y)
figure = Figure(figsize=(7, 4), layout="constrained")
axis = so.draw.bounds(runs, ax=figure.subplots())
optimum = runs["cutting-plane"].result_.certificate.primal
axis.set(ylim=(0, 2.5 * optimum), title="bounds on one optimum")
figure.savefig("draw_bounds.png", dpi=120)
