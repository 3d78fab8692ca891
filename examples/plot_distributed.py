"""
When one machine is not enough
==============================

Sequences on two workers of a local Dask cluster: they are asked, and never come to this process.
In round 3 one worker is killed; Dask makes its examples again, and the run ends at the optimum that
one process finds.
"""

import os
import signal
from functools import partial

from distributed import Client, LocalCluster
from matplotlib.figure import Figure

import structopt as so

read = partial(so.datasets.make_chain_crf, 300, n_features=20, n_relevant=8)  # files, in real life


def main() -> None:
    """Learn here and there; draw the bounds, and what travelled."""
    chunks = [partial(read, seed=seed) for seed in range(4)]
    structure = so.Chain().fitted(*chunks[0]())  # its labels and inputs are those of all chunks
    alone = so.DataSet.of_chunks(structure, chunks)
    expected = so.CuttingPlane(structure, so.M3N(C=0.1), alone).solve().certificate.primal

    cluster = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0")
    with cluster, Client(cluster) as client:

        def kill_one(record: so.Round) -> None:
            if record.round == 3:
                os.kill(min(client.run(os.getpid).values()), signal.SIGKILL)

        data = so.DataSet.of_chunks(structure, chunks, engine=so.Dask(client, timeout=120))
        run = so.CuttingPlane(structure, so.M3N(C=0.1), data, callbacks=[kill_one])
        result = run.solve()
    assert result.certificate.certified
    assert abs(result.certificate.primal - expected) < 2e-3 * expected

    rounds = [record.round for record in result.history]
    figure = Figure(figsize=(9, 3.4), layout="constrained")
    bounds, bytes_ = figure.subplots(1, 2)
    bounds.plot(rounds, [r.primal for r in result.history], "o-", label="upper bound")
    bounds.plot(rounds, [r.dual for r in result.history], "o-", label="lower bound")
    bounds.axhline(expected, color="k", lw=0.8, ls=":", label="one process")
    bounds.axvline(3.5, color="tab:red", lw=0.8, ls="--", label="a worker is killed")
    bounds.set(xlabel="round", ylabel="objective", ylim=(0, 2 * expected))
    bounds.legend(frameon=False)
    bytes_.bar(rounds, [r.bytes_up / 1e6 for r in result.history], label="up: answers, cuts")
    bytes_.bar(rounds, [r.bytes_down / 1e6 for r in result.history], label="down: weights")
    data_size = (alone.base.data.nbytes + alone.base.indices.nbytes) / 1e6
    bytes_.axhline(data_size, color="k", lw=0.8, ls=":", label="the data")
    bytes_.set(xlabel="round", ylabel="MB")
    bytes_.legend(frameon=False)
    figure.savefig("distributed.png", dpi=120)


if __name__ == "__main__":  # workers are processes, which import this file
    main()
