"""
What the bounds say
===================

When do the bounds say that learning with the constraint wins? Local against global learning.

After Figure 5 of Punyakanok, Roth, Yih and Zimak (2005): the bound of local learning stops at the
error of the best local classifier, that of global learning goes to 0, but starts later.
"""

import numpy as np
from matplotlib.figure import Figure

import structopt as so

N_INPUTS, N_COMPONENTS = 100, 5
sizes = np.logspace(4, 10, 200)

figure = Figure(figsize=(7, 4), layout="constrained")
axis = figure.subplots()
together = np.array(
    [so.bounds.global_error(m, n_inputs=N_INPUTS, n_components=N_COMPONENTS) for m in sizes]
)
axis.loglog(sizes, together, "k", lw=2, label="global, separable (IBT)")
for best, colour in zip((0.0, 0.01, 0.05, 0.2), ("0.6", "C0", "C1", "C3"), strict=True):
    alone = np.array([so.bounds.local_error(m, n_inputs=N_INPUTS, best=best) for m in sizes])
    axis.loglog(sizes, alone, color=colour, label=f"local, best error {best:g} (L+I)")
    ahead = np.flatnonzero(together < alone)
    if len(ahead):
        m = sizes[ahead[0]]
        axis.plot(m, together[ahead[0]], "o", color=colour)
        axis.annotate(
            f"{m:.0e}", (m, together[ahead[0]]), textcoords="offset points", xytext=(4, 6)
        )
axis.axhline(1.0, color="0.8", lw=0.8, zorder=0)
axis.text(9e9, 1.12, "above 1 a bound says nothing", ha="right", color="0.5", fontsize=8)
axis.set(
    xlabel="training examples", ylabel="bound on the error", ylim=(1.5e-3, 6),
    title=f"d = {N_INPUTS} inputs, c = {N_COMPONENTS} labels: where global overtakes local",
)  # fmt: skip
axis.legend(frameon=False, loc="lower left")
axis.grid(alpha=0.25, which="both")
figure.savefig("bounds.png", dpi=120)
