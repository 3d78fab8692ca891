"""
What became of which symbol
===========================

Alignments of two protein-like sequences, by scores that are learned and by the edit distance.

Scores of substitutions and of gaps are learned from 60 aligned pairs by `AlignmentPath`, beside
those of the edit distance. Drawn are both alignments of a held-out pair, and the substitutions that
were learned: symbols of one kind turn into each other.
"""

import numpy as np
from matplotlib.figure import Figure

import structopt as so
from structopt.datasets.sequence_pairs import ACIDS

how = {"substituted": 0.6, "opened": 0.08}
X, Y = so.datasets.make_protein_pairs(60, seed=0, **how)
test, gold = so.datasets.make_protein_pairs(100, seed=1, **how)
model = so.StructuredClassifier(so.AlignmentPath(), so.M3N(C=1.0), tol=1e-2).fit(X, Y)
assert model.result_.certificate.certified
structure = model.structure_
names = structure.feature_names()
match = [(1.0 if f[0] == f[-1] else -1.0) for f, kind in names if kind == "match"]
plain = np.array([*match, *[-1.0] * (len(names) - len(match) - 2), 0.0, 0.0])

found = {"learned": model.predict(test), "edit distance": structure.predict(test, plain)}
wrong = [len(g ^ e) - len(g ^ m) for g, m, e in zip(gold, *found.values(), strict=True)]
shown = int(np.argmax(wrong))

figure = Figure(figsize=(11, 4.6), layout="constrained")
left, right = figure.subplots(1, 2, width_ratios=[2.1, 1])
for row, (who, outputs) in enumerate(found.items()):
    top, (a, b), y = -3.2 * row, test[shown], outputs[shown]
    for i, symbol in enumerate(a):
        left.text(i, top, symbol, ha="center", va="bottom", fontsize=9, family="monospace")
    for j, symbol in enumerate(b):
        left.text(j, top - 1.4, symbol, ha="center", va="top", fontsize=9, family="monospace")
    for i, j in y:
        colour = "tab:blue" if (i, j) in gold[shown] else "tab:red"
        left.plot([i, j], [top - 0.1, top - 1.3], color=colour, lw=1.2)
    error = so.metrics.alignment_error_rate(gold, outputs)
    left.text(0, top + 0.75, f"{who}: {100 * error:.0f}% alignment error in 100 pairs", fontsize=10)
left.set(xlim=(-1, max(map(len, test[shown])) + 0.5), ylim=(-5.4, 1.4))
left.axis("off")

order = [structure.symbols_.index(s) for s in "".join(ACIDS)]
size = len(order)
table = model.result_.weights[: size * size].reshape(size, size)[np.ix_(order, order)]
most = np.abs(table).max()
right.imshow(table, cmap="RdBu", vmin=-most, vmax=most)
right.set_xticks(range(size), "".join(ACIDS), fontsize=8)
right.set_yticks(range(size), "".join(ACIDS), fontsize=8)
for edge in np.cumsum([len(kind) for kind in ACIDS])[:-1] - 0.5:
    right.axhline(edge, color="0.6", lw=0.6)
    right.axvline(edge, color="0.6", lw=0.6)
right.set_title("learned scores of substitutions, by kind", fontsize=10)
figure.savefig("edit_alignment.png", dpi=120)
