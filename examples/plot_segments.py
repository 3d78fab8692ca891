"""
Segments
========

States that last for a while, seen through noise: a chain of labels beside a semi-Markov model,
which knows how long each state lasts.
"""

import numpy as np
from matplotlib.figure import Figure

import structopt as so

X, Y = so.datasets.make_segment_signals(60, length=60, noise=0.8, seed=1)
train, test = slice(0, 40), slice(40, 60)
states = list(so.datasets.segment_signals.STATES)
models = {
    "chain": so.StructuredClassifier(so.Chain(), so.M3N(C=1.0), tol=1e-2),
    "segments": so.StructuredClassifier(
        so.Segments(scheme="runs", borders="none"), so.M3N(C=1.0), tol=1e-2
    ),
}
rows = {"truth": Y[test][0]}
for name, model in models.items():
    predicted = model.fit(X[train], Y[train]).predict(X[test])
    assert model.result_.certificate.certified
    found = so.metrics.span_f1(Y[test], predicted, scheme="io")
    rows[f"{name}: {100 * found:.0f}% F1"] = predicted[0]

figure = Figure(figsize=(9, 5), layout="constrained")
above, below, lengths = figure.subplots(3, 1, height_ratios=[2, 1.3, 1.6])
above.plot(X[test][0][:, 1], ".-", color="0.4", lw=0.7)
above.set(ylabel="signal", xlim=(-0.5, 59.5), xticks=[])
for row, labels in enumerate(rows.values()):
    for label, begin, end in so.metrics.spans(labels, scheme="io"):
        below.barh(
            row, end - begin, left=begin - 0.5, height=0.8, color=f"C{states.index(label)}", ec="w"
        )
below.set(yticks=range(len(rows)), yticklabels=list(rows), xlim=(-0.5, 59.5), xlabel="position")
below.invert_yaxis()
weights = models["segments"].coef_
for k, state in enumerate(states):
    own = [(int(f[7:]), w) for f, y, w in weights if y == state and f.startswith("length")]
    lengths.plot(*np.transpose(own), "o-", color=f"C{k}", label=state)
lengths.set(xlabel="length of a segment", ylabel="learned weight")
lengths.legend(frameon=False)
figure.savefig("segments.png", dpi=120)
