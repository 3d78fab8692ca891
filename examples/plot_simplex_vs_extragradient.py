"""
Simplex against extragradient
=============================

CPU time against rounds: dual simplex, the paper's extragradient method, and ours.

After Figure 2 of Wang and Shawe-Taylor (2009), where a simplex method of that time lost against the
extragradient method. HiGHS, which keeps its basis while cuts are appended, is ahead of both; the
paper's own stopping rule ends rounds too early, so that it needs more of them.
"""

import time

from matplotlib.figure import Figure

import structopt as so

X, Y = so.datasets.make_chain_crf(n_examples=40, length=6, n_features=12, n_relevant=9, n_labels=3)
structure = so.Chain().fitted(X, Y)
data = so.DataSet.of(structure, X, Y)
solvers = {
    "dual simplex (HiGHS)": so.HiGHS,
    "extragradient, alternating": so.ExtragradientBackend,
    "extragradient, as in the paper": lambda: so.ExtragradientBackend(
        variant="paper", max_iter=20_000
    ),
}


def train(backend, rounds):
    """Return the result and the CPU seconds after each round."""
    seconds, start = [], time.process_time()
    run = so.CuttingPlane(
        structure, so.LPStruct(C=1.0), data, backend=backend, tol=1e-2, time_limit=5.0,
        max_iter=rounds, callbacks=[lambda record: seconds.append(time.process_time() - start)],
    )  # fmt: skip
    return run.solve(), seconds


figure = Figure(figsize=(6, 4), layout="constrained")
axis = figure.subplots()
for name, make in solvers.items():
    train(make(), rounds=2)  # compiles
    result, seconds = train(make(), rounds=200)
    label = f"{name}: gap {result.certificate.relative_gap:.0e}"
    axis.semilogy(range(1, len(seconds) + 1), seconds, ".-", label=label)
axis.set(xlabel="round", ylabel="CPU seconds so far", title="LP-Struct on chains")
axis.legend()
figure.savefig("simplex_vs_extragradient.png", dpi=120)
