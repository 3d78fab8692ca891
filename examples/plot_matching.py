"""
Word alignment
==============

Alignment as matching: the words of a sentence pair, aligned by a model that learned to.

Edges carry features (association, distance from the diagonal, noise); an output is a partial
one-to-one matching, and missing an edge costs twice as much as inventing one.
"""

from matplotlib.figure import Figure

import structopt as so

X, Y = so.datasets.make_alignments(80, mean_edges=90, signal=2.0, seed=5)
machine = so.Matching(loss=so.losses.PartCosts(missed=2.0))
model = so.StructuredClassifier(machine, so.M3N(C=0.05), tol=1e-2).fit(X[:60], Y[:60])
assert model.result_.certificate.certified

predicted = model.predict(X[60:])
shown = max(range(20), key=lambda i: (len(Y[60 + i] ^ predicted[i]) in (3, 4), len(Y[60 + i])))
x, gold, found = X[60 + shown], Y[60 + shown], predicted[shown]
scores = x @ model.result_.weights

figure = Figure(figsize=(9, 4), layout="constrained")
left, right = figure.subplots(1, 2, width_ratios=[3, 2])
n1, n2 = scores.shape
kinds = {
    "found": (gold & found, "tab:green", "-"),
    "missed": (gold - found, "tab:orange", "--"),
    "invented": (found - gold, "tab:red", "-"),
}
for name, (edges, colour, style) in kinds.items():
    left.plot([], [], color=colour, ls=style, lw=2, label=f"{name} ({len(edges)})")
    for i, j in edges:
        ends = (i / (n1 - 1), j / (n2 - 1))
        left.plot(ends, (1, 0), color=colour, ls=style, lw=2)
for words, height in ((n1, 1), (n2, 0)):
    places = [k / (words - 1) for k in range(words)]
    left.scatter(places, [height] * words, s=90, color="w", edgecolor="k", zorder=3)
left.text(0, 1.1, "words of the first sentence")
left.text(0, -0.18, "words of the second sentence")
left.set(ylim=(-0.3, 1.3), title="a held-out pair, chosen for its 3 or 4 errors")
left.axis("off")
left.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
image = right.imshow(scores, cmap="PuOr", vmin=-abs(scores).max(), vmax=abs(scores).max())
right.scatter([j for _, j in gold], [i for i, _ in gold], s=70, fc="none", ec="k", label="gold")
right.set(title="learned score of each edge", xlabel="second sentence", ylabel="first sentence")
right.legend(loc="upper right", fontsize=8)
figure.colorbar(image, ax=right, shrink=0.8)
figure.suptitle(f"Matching: {100 * model.score(X[60:], Y[60:]):.0f}% of held-out edges right")
figure.savefig("matching.png", dpi=120)
