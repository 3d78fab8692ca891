r"""The methods on one problem of parts, in turns, alone in a fresh process.

    python -m structopt.lab.bench.parts_run trees 1000 1e-2 3 block-ascent cutting-plane

prints, for each method, CPU seconds ``cpu`` of training on encoded data (a list, one of each turn;
compiled loops are loaded before, by two rounds), the relative certified gap, and how many rounds it
took, as one line of JSON. Cutting planes learn over the columns that occur, as with
``method="auto"``.
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


def train(case: str, width: str, tol: str, repeats: str, *methods: str) -> dict[str, Any]:
    """Train by each method, after two rounds that do not count."""
    if case in GIVEN:
        make, C = GIVEN[case]
        structure, X, Y = make()
    else:
        _, n, C = DRAWN[case]
        structure, X, Y = drawn(case, int(width), n)
    fitted = structure.fitted(X, Y)
    data = DataSet.of(fitted, X, Y)

    def run(method: str, **limits: Any) -> Method:
        narrow = Narrow.of(data) if method == "cutting-plane" else None
        if narrow is not None:
            return NarrowCuttingPlane(fitted, M3N(C), narrow, **limits)
        return registry.make(method)(fitted, M3N(C), data, **limits)

    found: dict[str, Any] = {}
    for method in methods:
        run(method, max_iter=2).solve()
        found[method] = {"cpu": []}
    for _ in range(int(repeats)):
        for method in methods:
            start = time.process_time()
            result = run(method, tol=float(tol)).solve()
            found[method]["cpu"].append(time.process_time() - start)
            found[method] |= {
                "rounds": len(result.history), "objective": result.certificate.primal,
                "gap": result.certificate.relative_gap, "certified": result.certificate.certified,
            }  # fmt: skip
    return found


if __name__ == "__main__":
    answer(train, *sys.argv[1:])
