"""
Certificates closing
====================

Certificates closing: upper and lower bounds on one optimum, round by round, for three backends.

Both bounds are recomputed from the data after every round; no solver is taken at its word. The
optimum lies in the band, whoever solves the masters.
"""

from matplotlib.figure import Figure

import structopt as so

X, Y = so.datasets.load_digit_words(20, seed=0)
figure = Figure(figsize=(10, 3.4), layout="constrained")
backends = {"ascent": "C0", "clarabel": "C1", "osqp": "C2"}
for axis, (backend, colour) in zip(
    figure.subplots(1, 3, sharey=True, sharex=True), backends.items(), strict=True
):
    model = so.StructuredClassifier(so.Chain(), so.M3N(C=0.1), backend=backend, tol=1e-2)
    result = model.fit(X, Y).result_
    assert result.certificate.certified
    rounds = [r.round for r in result.history]
    lower, upper = ([getattr(r, side) for r in result.history] for side in ("dual", "primal"))
    axis.fill_between(rounds, lower, upper, color=colour, alpha=0.25, lw=0)
    axis.plot(rounds, upper, color=colour, lw=1.8)
    axis.plot(rounds, lower, color=colour, lw=1.8, ls="--")
    axis.axhline(result.certificate.primal, color="k", lw=0.6, ls=":")
    axis.set(
        xlabel="round", title=f"{backend}: {result.certificate.primal:.2f} in {len(rounds)} rounds"
    )
axis = figure.axes[0]
axis.plot([], [], color="0.3", label="upper bound")
axis.plot([], [], color="0.3", ls="--", label="lower bound")
axis.legend(frameon=False, loc="lower right")
axis.set(ylabel="objective", ylim=(0, 2.5 * model.result_.certificate.primal))
figure.savefig("certificates.png", dpi=120)
