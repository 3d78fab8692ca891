"""
The spiral
==========

The spiral of the extragradient method, for a whole linear programme and with column generation.

After Figure 1 of Wang and Shawe-Taylor (2009): primal against dual objective of every iterate. Both
iterates are infeasible on the way; where the objectives meet, on the diagonal, lies the optimum.
"""

from matplotlib.figure import Figure

import structopt as so
from structopt.backends.extragradient import solver

X, y = so.datasets.make_classes(15, n_features=2, separation=2.0, seed=0)
structure = so.Multiclass().fitted(X, y)
data = so.DataSet.of(structure, X, y)

rounds = [[]]  # iterates of each round; a round's first is number 1
backend = so.ExtragradientBackend(
    variant="paper", every=1, callback=lambda it: rounds[-1].append(it)
)
run = so.CuttingPlane(
    structure, so.LPStruct(C=0.3), data, backend=backend, tol=1e-2, max_iter=60,
    callbacks=[lambda record: rounds.append([])],
)  # fmt: skip
result = run.solve()

whole = []  # the last master, with all its cuts, from nothing
solver.solve(
    run.backend.problem(), variant="paper", tolerance=1e-3, max_iter=20_000, every=1,
    callback=whole.append,
)  # fmt: skip

figure = Figure(figsize=(9, 4), layout="constrained")
left, right = figure.subplots(1, 2, sharex=True, sharey=True)
left.plot([it.primal for it in whole], [it.dual for it in whole], lw=0.8)
left.set(title=f"all cuts at once: {len(whole):,} steps", xlabel="primal objective")
left.set_ylabel("dual objective")
for number, iterates in enumerate(filter(None, rounds)):
    line = ([it.primal for it in iterates], [it.dual for it in iterates])
    right.plot(*line, lw=0.8, color="C0" if number % 2 else "C1")
steps = sum(len(iterates) for iterates in rounds)
right.set(title=f"column generation: {len(result.history)} rounds, {steps:,} steps")
right.set_xlabel("primal objective")
optimum = result.certificate.dual
for axis in (left, right):
    axis.axline((optimum, optimum), slope=1, color="0.7", lw=0.8, zorder=0)
    axis.plot(optimum, optimum, "k*", ms=9)
figure.savefig("spiral.png", dpi=120)
