r"""Predict, then optimise: certified SPO+ beside PyEPO, InvOpt and two-stage regression.

The generators of Elmachtoub and Grigas: shortest paths on a grid of 5 x 5 nodes, and knapsacks of
32 items and two resources. Compared are the normalised regret on 1,000 new examples, and the CPU
seconds of learning; each peer runs in a process of its own, its imports left out.

==================  =========================================================================
ridge, boosting     two stages: `Ridge()`, `GradientBoostingRegressor()` for each part
SPO+                `DecisionModel`, M3N with C the mean absolute cost (so that units do not
                    matter), certified to a relative gap of 1e-2
SPO+, C chosen      the same for C times 0.01, 0.1, 1, 10 on three quarters of the examples;
                    the one with the least regret on the last quarter learns from all
from decisions      `DecisionModel` that sees decisions instead of costs, C = 1, gap 1e-2
PyEPO               SPO+ by Adam, batches of 32, 20,000 examples (200 passes over 100), its own
                    models, which Gurobi solves
PyEPO, our sets     the same with our sets as its models: the methods compared, with one oracle
InvOpt              from decisions: its first-order method, as many examples, the same C, our sets
==================  =========================================================================
"""

from __future__ import annotations

import tempfile
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.ensemble import GradientBoostingRegressor

from structopt.arrays import Floats
from structopt.datasets.decisions import make_knapsacks, make_shortest_paths
from structopt.errors import ConvergenceWarning, MissingDependencyError, OutOfTimeError
from structopt.formulations.m3n import M3N
from structopt.lab.bench.decisions_run import PEERS, decisions
from structopt.lab.harness import arguments
from structopt.lab.harness.bench import Bench
from structopt.lab.harness.process import Companion
from structopt.lab.harness.study import Cell, Row, known, turns, where
from structopt.lab.harness.table import Table
from structopt.learn.decisions.model import DecisionModel
from structopt.learn.decisions.two_stage import TwoStage
from structopt.learn.path import fit_path

PROBLEMS = ("paths", "knapsacks")
OURS = ("ridge", "boosting", "SPO+", "SPO+, C chosen", "from decisions")
FEW = ("boosting", "PyEPO")
"""Who is slow, and takes part in the first draws only."""
CHOICE = (0.01, 0.1, 1.0, 10.0)
N_TEST = 1000
SETTING = ("problem", "examples", "noise", "degree")


@dataclass
class DecisionBench(Bench):
    """Every learner on every setting, in turns.

    Parameters
    ----------
    problems, degrees, noises, sizes : sequences
    draws, few : int
        Draws of each setting; of those who are slow, only the first few.
    minutes : float
        No setting is begun after them: what was drawn until then is shown.
    only : sequence of str, optional
        Learners.
    C, tol : float
        Of M3N (times the mean absolute cost, where costs are seen), and the relative gap.
    """

    name = "bench-decisions"
    excuses = (MissingDependencyError, OutOfTimeError)

    problems: Sequence[str] = arguments.argument(
        PROBLEMS, "paths, knapsacks (both)", nargs="+", metavar="NAME"
    )
    degrees: Sequence[int] = arguments.argument(
        (1, 2, 4, 6, 8), "of the costs (1 2 4 6 8)", nargs="+", type=int, metavar="N"
    )
    noises: Sequence[float] = arguments.argument(
        (0.0, 0.5), "half width of the costs' noise (0 0.5)", nargs="+", type=float, metavar="X"
    )
    sizes: Sequence[int] = arguments.argument(
        (100, 1000), "examples to learn from (100 1000)", nargs="+", type=int, metavar="N"
    )
    draws: int = arguments.argument(10, "draws of each setting")
    few: int = arguments.argument(2, "draws for boosting and PyEPO with Gurobi, which are slow")
    minutes: float = arguments.argument(float("inf"), "after which no draw of a setting begins")
    only: Sequence[str] | None = arguments.argument(
        None, "of these learners only", nargs="+", metavar="NAME"
    )
    C: float = 1.0
    tol: float = 1e-2

    def __post_init__(self) -> None:
        known(self.problems, PROBLEMS, "problem")
        self.learners = known(self.only or [*OURS, *PEERS], [*OURS, *PEERS], "learner")
        self._peers: dict[str, Companion] = {}
        self._compiled: set[tuple[str, str]] = set()
        self._begun: set[tuple[Any, ...]] = set()
        self._until = time.monotonic() + 60.0 * self.minutes

    def cells(self) -> list[Cell]:
        """Return a cell a setting, draw and learner; learners take turns in going first."""
        settings = list(product(self.problems, self.sizes, self.noises, self.degrees))
        return [
            dict(zip(SETTING, setting, strict=True)) | {"turn": draw, "who": who}
            for draw in range(self.draws)
            for setting in settings
            for who in turns(self.learners, draw)
            if draw < self.few or who not in FEW
        ]

    def warm_up(self, cell: Cell) -> None:
        """Compile what learns, once for each problem."""
        who = cell["problem"], cell["who"]
        if cell["who"] in PEERS or cell["who"] == "boosting" or who in self._compiled:
            return
        self._compiled.add(who)
        X, costs, weights = _drawn(cell)
        self._ours(cell["who"], decisions(cell["problem"], weights), X, costs)

    def run(self, cell: Cell) -> dict[str, Any]:
        """Learn, and look at what decisions on new examples cost."""
        self._begin(cell)
        X, costs, weights = _drawn(cell)
        of, n, who = decisions(cell["problem"], weights), cell["examples"], cell["who"]
        if who in PEERS:
            seconds, table = self._peer(cell, X[:n], costs[:n], weights)
            inputs = np.hstack([X, np.ones((len(X), 1))])
            predicted = inputs @ table.T
            proof: dict[str, Any] = {}
        else:
            began = time.process_time()
            model, proof = self._ours(who, of, X[:n], costs[:n])
            seconds = time.process_time() - began
            predicted = model.predict_costs(X)
        best = (costs * of.minimize(costs).points).sum(axis=1)
        decided = (costs[n:] * of.minimize(predicted[n:]).points).sum(axis=1)
        return {
            "regret": float((decided - best[n:]).sum() / np.abs(best[n:]).sum()),
            "loss": _spo_plus(of, predicted[:n], costs[:n]),
            "seconds": seconds,
            **proof,
        }

    def _begin(self, cell: Cell) -> None:
        """Let a draw of a setting begin while there is time, and then be finished by all."""
        drawn = tuple(cell[key] for key in (*SETTING, "turn"))
        if drawn not in self._begun and time.monotonic() > self._until:
            raise OutOfTimeError(f"No draw began after {self.minutes:g} minutes.")
        self._begun.add(drawn)

    def _ours(self, who: str, of: Any, X: Floats, costs: Floats) -> tuple[Any, dict[str, Any]]:
        if who in ("ridge", "boosting"):
            regressor = GradientBoostingRegressor(random_state=0) if who == "boosting" else None
            return TwoStage(of, regressor).fit(X, costs), {}
        size = float(np.abs(costs).mean()) if who != "from decisions" else 1.0
        C = self.C * size
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            if who == "SPO+, C chosen":
                cut = 3 * len(X) // 4
                given = DecisionModel(of, M3N(), tol=self.tol)
                values = [size * factor for factor in CHOICE]
                path = fit_path(given, X[:cut], costs[:cut], values)
                C = values[int(np.argmax(path.scores(X[cut:], costs[cut:])))]
            model = DecisionModel(of, M3N(C=C), tol=self.tol)
            if who == "from decisions":
                model.fit(X, decisions=of.minimize(costs).points)
            else:
                model.fit(X, costs)
        found = model.result_.certificate
        return model, {"certified": found.relative_gap <= self.tol, "gap": found.relative_gap}

    def _peer(self, cell: Cell, X: Floats, costs: Floats, weights: Floats) -> tuple[float, Floats]:
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder, "problem.npz")
            np.savez(source, problem=cell["problem"], X=X, costs=costs, weights=weights, C=self.C)
            who = cell["who"]
            if who not in self._peers:
                self._peers[who] = Companion("structopt.lab.bench.decisions_run", who)
            found = self._peers[who].ask(str(source))
        return float(found["seconds"]), np.array(found["weights"])

    def tables(self, rows: Sequence[Row], left_out: Sequence[str]) -> list[Table]:
        """Return the regret, the seconds, and the loss on the training examples, by setting."""
        who = [name for name in self.learners if where(rows, who=name)]
        settings = list(dict.fromkeys(tuple(row[key] for key in SETTING) for row in rows))
        proven = [row["certified"] for row in rows if "certified" in row]
        notes = (
            f"Of our {len(proven)} fits {sum(proven)} are certified to {self.tol:g}. "
            f"Means over so many draws ({', '.join(FEW)}: the first {self.few}) "
            "± their standard deviation. " + " ".join(left_out),
        )

        def table(title: str, key: str, form: str, of: Sequence[str], more: str) -> Table:
            lines = tuple(
                (
                    *map(str, setting),
                    str(max(len(_at(rows, setting, name)) for name in who)),
                    *(_mean(_at(rows, setting, name), key, form) for name in of),
                )
                for setting in settings
            )
            return Table(title, (*SETTING, "draws", *of), lines, (more, *notes))

        # with ties, as in knapsacks of whole values, the loss depends on the best decision chosen:
        # only with the same oracle is it the same function
        learned = [name for name in who if name in ("SPO+", "PyEPO, our sets")]
        return [
            table("Regret", "regret", "{:.2%}", who, "Normalised regret on 1,000 new examples."),
            table("CPU seconds", "seconds", "{:.2f}", who, "Of learning, imports left out."),
            table(
                "SPO+ loss", "loss", "{:.4g}", learned,
                "Mean SPO+ loss on the training examples, without the regulariser.",
            ),
        ]  # fmt: skip


def _drawn(cell: Cell) -> tuple[Floats, Floats, Floats]:
    """Return inputs, costs and weights of items of a cell, examples to test on last."""
    how = {"degree": cell["degree"], "noise": cell["noise"], "seed": 1000 + cell["turn"]}
    if cell["problem"] == "paths":
        return *make_shortest_paths(cell["examples"] + N_TEST, **how), np.zeros((0, 0))
    return make_knapsacks(cell["examples"] + N_TEST, **how)


def _spo_plus(of: Any, predicted: Floats, costs: Floats) -> float:
    """Return the mean SPO+ loss of predicted costs."""
    best = of.minimize(costs).points
    asked = 2.0 * predicted - costs
    return float((asked * (best - of.minimize(asked).points)).sum(axis=1).mean())


def _at(rows: Sequence[Row], setting: tuple[Any, ...], who: str) -> list[Row]:
    return where(rows, who=who, **dict(zip(SETTING, setting, strict=True)))


def _mean(rows: Sequence[Row], key: str, form: str) -> str:
    """Return mean and standard deviation over draws; of one draw its value."""
    values = [row[key] for row in rows]
    if len(values) < 2:
        return form.format(values[0]) if values else ""
    return f"{form.format(np.mean(values))} ± {form.format(np.std(values, ddof=1))}"
