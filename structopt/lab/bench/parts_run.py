r"""One learner on one problem of parts, alone in a fresh process.

    python -m structopt.lab.bench.parts_run block-ascent trees 1000 1e-2

prints CPU seconds ``cpu`` of training on encoded data (compiled loops loaded before, by a round),
the objective, the relative certified gap, and how many rounds it took, as one line of JSON.
Cutting planes learn over the columns that occur, as with ``method="auto"``.
"""

from __future__ import annotations

import sys
import time
from typing import Any

from structopt.engines.dataset import DataSet
from structopt.formulations.m3n import M3N
from structopt.lab.bench.parts_data import DRAWN, drawn, named, parses
from structopt.lab.harness.process import answer
from structopt.methods import registry
from structopt.methods.method import Method
from structopt.methods.narrow import Narrow, NarrowCuttingPlane

GIVEN = {"parses": (parses, 0.03), "names": (named, 0.1)}


def train(method: str, case: str, width: str, tol: str) -> dict[str, Any]:
    """Train, after a first round that does not count."""
    if case in GIVEN:
        make, C = GIVEN[case]
        structure, X, Y = make()
    else:
        _, n, C = DRAWN[case]
        structure, X, Y = drawn(case, int(width), n)
    fitted = structure.fitted(X, Y)
    data = DataSet.of(fitted, X, Y)

    def run(**limits: Any) -> Method:
        narrow = Narrow.of(data) if method == "cutting-plane" else None
        if narrow is not None:
            return NarrowCuttingPlane(fitted, M3N(C), narrow, **limits)
        return registry.make(method)(fitted, M3N(C), data, **limits)

    run(max_iter=2).solve()
    start = time.process_time()
    result = run(tol=float(tol)).solve()
    cpu, found = time.process_time() - start, result.certificate
    return {
        "cpu": cpu, "rounds": len(result.history), "objective": found.primal,
        "gap": found.relative_gap, "certified": found.certified,
    }  # fmt: skip


if __name__ == "__main__":
    answer(train, *sys.argv[1:])
