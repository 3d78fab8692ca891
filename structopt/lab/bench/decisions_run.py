"""Peers that learn decisions, each in a process of its own: PyEPO's SPO+ and InvOpt.

Called as ``python -m structopt.lab.bench.decisions_run who``; reads the name of a file a line, and
prints one line of JSON for each with CPU seconds (imports left out) and the matrix (m, p + 1) of
weights, the constant last; or with what is missing.
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

SEEN = 20_000
"""Examples that a peer sees: 200 passes over 100, 20 over 1,000, as in PyEPO's own experiments."""
RATES = {"paths": 0.01, "knapsacks": 0.1}
"""Adam's steps. At degree 4 and noise 0.5, 0.1 ends at twice the loss of 0.01 on paths, and 0.01 is
too slow on knapsacks."""


def decisions(problem: str, weights: Floats) -> DecisionSet:
    """Return the set of a problem: a grid of 5 x 5 nodes, or knapsacks of capacity 20."""
    return GridPaths(5, 5) if problem == "paths" else Knapsack(weights, 20.0)


def passes(n: int) -> int:
    """Return how often a peer goes over n examples."""
    return max(1, SEEN // n)


def pyepo(given: dict[str, Any]) -> tuple[float, Floats]:
    """Learn SPO+ by PyEPO with its own models, which Gurobi solves."""
    from pyepo.model import knapsackModel, shortestPathModel

    if str(given["problem"]) == "paths":
        model, sign = shortestPathModel((5, 5)), 1.0
    else:  # values are maximised
        weights = given["weights"]
        model, sign = knapsackModel(weights, [20.0] * len(weights)), -1.0
    model._model.setParam("Threads", 1)
    return _spo_plus_by_adam(given, model, sign)


def pyepo_on_our_sets(given: dict[str, Any]) -> tuple[float, Floats]:
    """Learn SPO+ by PyEPO, our sets answering its questions: the two methods, one oracle."""
    from pyepo.model.opt import optModel

    of = decisions(str(given["problem"]), given["weights"])

    class Ours(optModel):  # type: ignore[misc]  # PyEPO is Any
        def _getModel(self) -> tuple[DecisionSet, range]:  # noqa: N802  PyEPO's names
            return of, range(of.n_parts)

        def setObj(self, c: Floats) -> None:  # noqa: N802
            self.costs = np.asarray(c, dtype=np.float64)

        def solve(self) -> tuple[Floats, float]:
            point = of.minimize(self.costs[None, :]).points[0]
            return point, float(self.costs @ point)

    of.minimize(given["costs"][:1])  # compiles
    return _spo_plus_by_adam(given, Ours(), 1.0)


def _spo_plus_by_adam(given: dict[str, Any], model: Any, sign: float) -> tuple[float, Floats]:
    """Learn SPO+ by Adam over batches of 32, costs predicted by one linear layer."""
    import torch
    from pyepo.data.dataset import optDataset
    from pyepo.func import SPOPlus
    from torch.utils.data import DataLoader

    torch.set_num_threads(1)
    torch.manual_seed(0)
    inputs, costs = given["X"].astype(np.float32), (sign * given["costs"]).astype(np.float32)
    began = time.process_time()
    loader = DataLoader(optDataset(model, inputs, costs), batch_size=32, shuffle=True)
    layer, loss = torch.nn.Linear(inputs.shape[1], costs.shape[1]), SPOPlus(model, processes=1)
    adam = torch.optim.Adam(layer.parameters(), lr=RATES[str(given["problem"])])
    for _ in range(passes(len(inputs))):
        for x, c, w, z in loader:
            value = loss(layer(x), c, w, z)
            adam.zero_grad()
            value.backward()
            adam.step()
    seconds = time.process_time() - began
    table = torch.hstack([layer.weight, layer.bias[:, None]]).detach().numpy().astype(np.float64)
    return seconds, sign * table


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
        lambda t: 1.0 / (1.0 + t), passes(len(X)), batch_type="reshuffled",
        reg_param=1.0 / (float(given["C"]) * len(X)), averaged=1,
    )  # fmt: skip
    return time.process_time() - began, np.asarray(theta).reshape(m, p)


PEERS: dict[str, Callable[[dict[str, Any]], tuple[float, Floats]]] = {
    "PyEPO": pyepo,
    "PyEPO, our sets": pyepo_on_our_sets,
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
    for name in sys.stdin:
        print(json.dumps(main(sys.argv[1], name.rstrip("\n"))), flush=True)
