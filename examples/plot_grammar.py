"""
Where a phrase attaches
=======================

Constituency trees: with a telescope, or with a tail?

Two sentences have the same tags, and words decide where the last phrase belongs. `Grammar` learns
rules, words and the ends of spans from 60 trees; drawn are the best tree of each sentence, and how
far the best other tree is behind.
"""

from matplotlib.figure import Figure

import structopt as so

train, test = so.datasets.make_treebank(60, seed=0), so.datasets.make_treebank(200, seed=1)
f1 = {}
for ends in (False, True):
    grammar = so.Grammar(train.rules, "S", ends=ends)
    model = so.StructuredClassifier(grammar, so.M3N(C=1.0), tol=1e-2).fit(train.X, train.Y)
    assert model.result_.certificate.certified
    f1[ends] = so.metrics.parse_f1(test.Y, model.predict(test.X))


def draw(axis, tree, words):
    """Draw a tree from its words up."""
    at = iter(range(len(words)))

    def place(node):
        if isinstance(node, str):
            t = next(at)
            axis.plot([t, t], [-0.7, -0.25], color="0.7", lw=1)
            axis.text(t, -1.0, words[t], ha="center", va="center", fontsize=10)
            x, height, label = t, 0, node
        else:
            below = [place(child) for child in node[1:]]
            x, height = sum(b[0] for b in below) / len(below), 1 + max(b[1] for b in below)
            for under, high in below:
                axis.plot([x, under], [height - 0.25, high + 0.25], color="0.6", lw=1)
            label = node[0]
        colour = "tab:red" if label == "PP" else "black"
        axis.text(x, height, label, ha="center", va="center", fontsize=10, color=colour)
        return x, height

    place(tree)
    axis.set_ylim(-1.4, 6.8)
    axis.axis("off")


figure = Figure(figsize=(11, 4.2), layout="constrained")
structure, weights = model.structure_, model.result_.weights
for axis, last in zip(figure.subplots(1, 2), ("tail", "telescope"), strict=True):
    x = f"the poet saw a dog with a {last}".split()
    first, second = structure.k_best(x, weights, 2)
    apart = (structure.joint_features(x, first) - structure.joint_features(x, second)) @ weights
    draw(axis, first, x)
    axis.set_title(f"the other tree is {float(apart[0]):.2f} behind", fontsize=10)
figure.suptitle(
    f"F1 of brackets in 200 sentences: {f1[False]:.3f} by rules and tags, {f1[True]:.3f} with the "
    "words at the ends of spans"
)
figure.savefig("grammar.png", dpi=120)
