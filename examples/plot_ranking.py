"""
Rankings
========

Train for what is judged: lists of items in order, by pairs, by NDCG and by precision.

Each query has 15 items of three grades, and two features: one tells the best from the rest, one
the worst from the rest. A loss that looks at all pairs minds both; one that looks at the top of
the list minds the first.
"""

import numpy as np
from matplotlib.figure import Figure

import structopt as so

rng = np.random.default_rng(0)
X, Y = [], []
for _ in range(160):
    grade = rng.permutation(np.repeat([0, 1, 2], [6, 6, 3]))
    top, bottom = 1.6 * (grade == 2), 1.6 * (grade > 0)
    X.append(np.column_stack([top, bottom]) + rng.normal(size=(15, 2)) * [1.0, 0.7])
    Y.append(grade)
losses = {
    "pairs (AUC)": so.losses.SwappedPairs(),
    "NDCG at 3": so.losses.NDCG(k=3),
    "precision at 3": so.losses.PrecisionAt(3),
}
train, test = slice(0, 60), slice(60, None)
models, scores = {}, np.zeros((len(losses), len(losses)))
for i, (name, loss) in enumerate(losses.items()):
    model = so.StructuredClassifier(so.Ranking(loss), so.M3N(C=100.0), tol=1e-2)
    models[name] = model.fit(X[train], Y[train])
    assert model.result_.certificate.certified
    found = model.predict(X[test])
    for j, measure in enumerate(losses.values()):
        each = [
            measure.of(y.astype(float), np.array(o)) for y, o in zip(Y[test], found, strict=True)
        ]
        scores[i, j] = 100 * (1 - np.mean(each))

figure = Figure(figsize=(10, 4), layout="constrained")
left, right = figure.subplots(1, 2, width_ratios=[3, 2])
colours = np.array(["lightgrey", "tab:blue", "tab:orange"])
y = Y[test][0]
for row, (name, model) in enumerate(models.items()):
    order = np.array(model.predict(X[test][:1])[0])
    left.scatter(range(15), [-row] * 15, s=260, marker="s", color=colours[y[order]])
    left.text(-0.8, -row + 0.3, f"trained for {name}")
for grade, colour in enumerate(colours):
    left.scatter([], [], marker="s", color=colour, label=f"relevance {grade}")
left.set(ylim=(-2.9, 0.9), title="a held-out query, best places left")
left.axis("off")
left.legend(loc="lower center", ncols=3, frameon=False)
right.imshow(scores - scores.max(axis=0), cmap="PuOr", vmin=-8, vmax=8)
for (i, j), value in np.ndenumerate(scores):
    weight = "bold" if value == scores[:, j].max() else None
    right.text(j, i, f"{value:.1f}", ha="center", va="center", weight=weight)
right.set_xticks(range(3), losses, rotation=20)
right.set_yticks(range(3), losses)
right.set(title="held out, %", xlabel="judged by", ylabel="trained for")
figure.suptitle("Rankings: what a model is trained for, and what it is judged by")
figure.savefig("ranking.png", dpi=120)
