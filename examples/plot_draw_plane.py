"""
Cutting planes in two weights
=============================

``so.draw.plane``: rounds, cuts and the objective's level lines, with slacks and without.

Three small lattices with two features an edge, so that the whole learning problem is a picture.
Above, slack can be bought: level lines are those of the whole objective, ticks point to where a
cut is violated. Below it cannot, and the cuts carve out the feasible region, round by round.
"""

import cvxpy as cp
from matplotlib.figure import Figure

import structopt as so


class HardMargin(so.Formulation):
    """min |w|^2 / 2 such that every path stays behind by its loss."""

    def master(self, m):
        w = m.weights()
        m.minimize(cp.sum_squares(w) / 2)
        m.cuts(lambda cut: cut.delta @ w >= cut.loss)


def start(formulation, n_examples, noise, seed):
    """Return a run on lattices with two features."""
    data = so.datasets.make_lattices(
        n_examples, n_columns=3, width=3, n_features=2, n_references=1, noise=noise, seed=seed
    )
    gold = [paths[0] for paths in data.Y]
    structure = so.Lattice().fitted(data.X, gold)
    encoded = so.DataSet.of(structure, data.X, gold)
    return so.CuttingPlane(structure, formulation, encoded, backend="clarabel", tol=1e-4)


figure = Figure(figsize=(10, 6.6), layout="constrained")
soft, hard = start(so.M3N(C=3.0), 3, 0.5, 1), start(HardMargin(), 2, 0.0, 2)
frames = (soft, "problem", (-1.5, 5.0, -1.0, 5.5)), (hard, "master", (-3.0, 9.0, -11.0, 1.0))
for axes, (run, levels, limits) in zip(figure.subplots(2, 3), frames, strict=True):
    for axis, until in zip(axes, (1, 2, 5) if run is soft else (1, 2, 3), strict=True):
        while len(run.history) < until:
            record = run.step()
        so.draw.plane(run, levels=levels, limits=limits, ax=axis)
        axis.get_legend() and axis.get_legend().remove()
        axis.set(title=f"round {record.round}: {record.cuts_added} new cuts", xlabel="", ylabel="")
figure.savefig("draw_plane.png", dpi=120)
