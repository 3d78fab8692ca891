"""Peers that learn decisions, each in a process of its own: PyEPO's SPO+ and InvOpt.

Called as ``python -m structopt.lab.bench.decisions_run who problem.npz``; prints one line of JSON
with CPU seconds (imports left out) and the matrix (m, p + 1) of weights, the constant last; or with
what is missing.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from structopt.arrays import Floats
from structopt.structures.decision.base import DecisionSet
from structopt.structures.decision.grid import GridPaths
from structopt.structures.decision.knapsack import Knapsack

STEPS = 640
"""Steps over 32 examples: 200 passes over 100 examples, 20 over 1,000."""
RATES = {"paths": 0.01, "knapsacks": 0.1}
"""Adam's steps. At degree 4 and noise 0.5, 0.1 ends at twice the loss of 0.01 on paths, and 0.01 is
too slow on knapsacks."""


def decisions(problem: str, weights: Floats) -> DecisionSet:
    """Return the set of a problem: a grid of 5 x 5 nodes, or knapsacks of capacity 20."""
    return GridPaths(5, 5) if problem == "paths" else Knapsack(weights, 20.0)


def pyepo(given: dict[str, Any]) -> tuple[float, Floats]:
    """Learn SPO+ by Adam over batches of 32, costs predicted by one linear layer."""
    import torch
    from pyepo.data.dataset import optDataset
    from pyepo.func import SPOPlus
    from pyepo.model import knapsackModel, shortestPathModel
    from torch.utils.data import DataLoader

    torch.set_num_threads(1)
    torch.manual_seed(0)
    problem, X, costs = str(given["problem"]), given["X"], given["costs"]
    if problem == "paths":
        model = shortestPathModel((5, 5))
    else:
        model, costs = knapsackModel(given["weights"], [20.0] * len(given["weights"])), -costs
    model._model.setParam("Threads", 1)
    inputs, targets = X.astype(np.float32), costs.astype(np.float32)
    began = time.process_time()
    loader = DataLoader(optDataset(model, inputs, targets), batch_size=32, shuffle=True)
    layer, loss = torch.nn.Linear(X.shape[1], costs.shape[1]), SPOPlus(model, processes=1)
    adam = torch.optim.Adam(layer.parameters(), lr=RATES[problem])
    for _ in range(max(1, STEPS // max(1, len(X) // 32))):
        for x, c, w, z in loader:
            value = loss(layer(x), c, w, z)
            adam.zero_grad()
            value.backward()
            adam.step()
    seconds = time.process_time() - began
    table = torch.hstack([layer.weight, layer.bias[:, None]]).detach().numpy().astype(np.float64)
    return seconds, table if problem == "paths" else -table


def invopt(given: dict[str, Any]) -> tuple[float, Floats]:
    """Learn from decisions by InvOpt's first-order method; our sets answer its questions."""
    from invopt import FOM

    of = decisions(str(given["problem"]), given["weights"])
    X = np.hstack([given["X"], np.ones((len(given["X"]), 1))])
    gold = of.minimize(given["costs"]).points
    m, p = of.n_parts, X.shape[1]

    def phi(x: Floats, y: Floats) -> Floats:
        return np.outer(y, x).ravel()

    def augmented(theta: Floats, x: Floats, y: Floats) -> Floats:
        costs = theta.reshape(m, p) @ x - (1.0 - 2.0 * y)
        found: Floats = of.minimize(costs[None, :]).points[0]
        return found

    augmented(np.zeros(m * p), X[0], gold[0])  # compiles
    np.random.seed(0)  # what InvOpt draws from
    began = time.process_time()
    theta = FOM(
        list(zip(X, gold, strict=True)), phi, np.zeros(m * p), augmented,
        lambda t: 1.0 / (1.0 + t), max(1, STEPS * 32 // len(X)), batch_type="reshuffled",
        reg_param=1.0 / (float(given["C"]) * len(X)), averaged=1,
    )  # fmt: skip
    return time.process_time() - began, np.asarray(theta).reshape(m, p)


PEERS: dict[str, Callable[[dict[str, Any]], tuple[float, Floats]]] = {
    "PyEPO": pyepo,
    "InvOpt": invopt,
}


def main(who: str, source: str) -> dict[str, Any]:
    """Let a peer learn the problem in ``source``."""
    with np.load(source) as stored:
        given = {name: stored[name] for name in stored.files}
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            seconds, weights = PEERS[who](given)
    except (ImportError, NameError) as error:  # without a solver PyEPO's models lack their names
        message = f"{who} is not installed ({error}); pip install 'structopt-margin[decisions]'."
        return {"error": "MissingDependencyError", "message": message}
    return {"seconds": seconds, "weights": weights.tolist()}


if __name__ == "__main__":
    print(json.dumps(main(sys.argv[1], sys.argv[2])))
