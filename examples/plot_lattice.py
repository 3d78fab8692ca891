"""
A lattice's k best
==================

All paths through a word lattice, best first, under weights learned from two transcribed ones.
"""

import networkx as nx
import numpy as np
from matplotlib.figure import Figure

import structopt as so


def lattice(arcs):
    """Make a lattice of arcs (from, to, word, acoustic score, language score)."""
    x = nx.DiGraph(source=0, sink=max(arc[1] for arc in arcs))
    for u, v, word, acoustic, language in arcs:
        x.add_edge(u, v, label=word, features={"acoustic": acoustic, "language": language})
    return x


x = lattice([
    (0, 1, "recognise", -3.0, -1.0), (0, 2, "wreck", -1.2, -2.0), (2, 3, "a", -0.5, -0.4),
    (3, 4, "nice", -1.0, -0.9), (1, 5, "speech", -2.0, -0.6), (1, 4, "an ice", -1.6, -2.2),
    (4, 5, "beach", -0.9, -1.2), (4, 6, "peach", -1.1, -1.8), (5, 7, "now", -0.8, -0.5),
    (6, 7, "now", -0.8, -0.9),
])  # fmt: skip
gold = ((0, 1), (1, 5), (5, 7))
other = lattice([
    (0, 1, "ice", -1.0, -1.5), (1, 2, "cream", -1.2, -0.7), (0, 2, "I scream", -1.0, -3.0),
])  # fmt: skip
model = so.StructuredClassifier(so.Lattice(), so.LPStruct(C=10.0), tol=1e-6)
model.fit([x, other], [gold, ((0, 2),)])
assert model.result_.certificate.certified
weights = model.result_.weights

best = model.structure_.k_best(x, weights, 5)
score = [float((model.structure_.joint_features(x, y) @ weights)[0]) for y in best]
place = [(0, 0), (2, 1), (1, -0.6), (2, -1), (3, -1), (4, 0.6), (4, -1.5), (5, 0)]  # of each node

figure = Figure(figsize=(10, 4), layout="constrained")
left, right = figure.subplots(1, 2, width_ratios=[3, 2])
for u, v, word in x.edges(data="label"):
    (a, b), (c, d) = place[u], place[v]
    ranks = [r for r, y in enumerate(best) if (u, v) in y]
    first = ranks[0] if ranks else 5
    left.annotate(
        "", (c, d), (a, b),
        arrowprops={"arrowstyle": "-|>", "color": f"C{first}" if ranks else "0.8",
                    "lw": 3.0 - 0.4 * first, "shrinkA": 9, "shrinkB": 9},
    )  # fmt: skip
    left.text(
        (a + c) / 2, (b + d) / 2, word, ha="center", va="center", fontsize=11,
        bbox={"fc": "w", "ec": "none", "pad": 1.5},
    )  # fmt: skip
for a, b in place:
    left.plot(a, b, "o", ms=12, mfc="w", mec="k")
left.set(xlim=(-0.4, 5.4), ylim=(-1.9, 1.4), title="each edge in the colour of its best path")
left.axis("off")
ranks = np.arange(len(best))
right.barh(ranks, np.array(score) - min(score) + 0.3, color=[f"C{r}" for r in ranks], alpha=0.5)
for r, y in enumerate(best):
    right.text(0.08, r, " ".join(so.Lattice.words(x, y)), va="center", fontsize=10)
right.set(
    yticks=ranks, yticklabels=[f"{s:.2f}" for s in score], xticks=[], title="k best, by score"
)
right.invert_yaxis()
names = ", ".join(f"{name} {w:.2f}" for name, _, w in model.coef_)
figure.suptitle(f"learned weights: {names}")
figure.savefig("lattice.png", dpi=120)
