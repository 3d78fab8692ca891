"""
When to use a constraint
========================

Constraints at prediction, in training, or not at all: learning curves of LO, L+I and IBT.

After Punyakanok, Roth, Yih and Zimak (2005): five binary labels, half of the 32 vectors legal. The
harder the local problems (kappa: how often the free labelling is illegal), the more it pays to have
the constraint in training; with few examples, or easy local problems, it is enough at prediction.
"""

from matplotlib.figure import Figure

import structopt as so

SIZES = (25, 50, 100, 200, 400, 800)
COLOURS = {"LO": "0.55", "L+I": "tab:blue", "IBT": "tab:red"}
MEANING = {"LO": "never", "L+I": "at prediction", "IBT": "in training too"}

figure = Figure(figsize=(9, 3.4), layout="constrained")
for axis, kappa in zip(figure.subplots(1, 3, sharey=True), (0.0, 0.3, 1.0), strict=True):
    data = so.datasets.make_constrained_labels(1800, n_inputs=20, kappa=kappa, seed=2)
    X_test, Y_test = data.X[800:], data.Y[800:]
    for name, colour in COLOURS.items():
        scheme = so.ConstraintScheme(name, so.LabelVector(data.legal), max_iter=20)
        scores = [scheme.fit(data.X[:m], data.Y[:m]).score(X_test, Y_test) for m in SIZES]
        label = f"{name}: constraint {MEANING[name]}"
        axis.semilogx(SIZES, scores, "o-", ms=4, color=colour, label=label)
    axis.set(title=f"kappa = {kappa:g}", xlabel="training examples")
    axis.set_xticks(SIZES, labels=SIZES)
    axis.minorticks_off()
    axis.grid(alpha=0.3)
figure.axes[0].set_ylabel("right labels, test")
figure.axes[0].legend(frameon=False, loc="lower right", fontsize=8)
figure.savefig("constraints.png", dpi=120)
