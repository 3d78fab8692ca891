r"""LP (8) on lattices in the shape of LP-Struct's second experiment, for growing numbers of them.

Sentences, about 8 million features and several references each come from
:func:`~structopt.datasets.swap_lattices.make_swap_lattices`, as arrays; cutting planes with one
slack a sentence solve

    min_{w >= 0} |w|_1 + C sum_i xi_i    s.t.  w . (phi(g) - phi(y)) >= 1 - xi_i

for every reference g and every other path y, to a certified relative gap of 1e-1.

>>> from structopt.lab.harness.runner import run
>>> bench = TranslationScaleBench(examples=[30], n_features=2000, vocabulary=50)
>>> (row,) = run(bench, bench.cells()).rows
>>> row["certified"], row["gap"] <= 0.1
(True, True)
"""

from __future__ import annotations

import resource
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from structopt.datasets.swap_lattices import make_swap_lattices
from structopt.engines.dataset import DataSet
from structopt.formulations.lp_struct import LPStruct
from structopt.lab.harness import arguments
from structopt.lab.harness.bench import Bench
from structopt.lab.harness.study import Cell, Row
from structopt.lab.harness.table import Table
from structopt.methods.cutting_plane import CuttingPlane
from structopt.structures.lattice.structure import Lattice
from structopt.structures.references.structure import References

GAP = 1e-1
"""Relative gap to certify."""


@dataclass
class TranslationScaleBench(Bench):
    """Each number of sentences once, in growing order: the peak is that of the process so far."""

    name = "bench-translation-scale"

    examples: Sequence[int] = arguments.argument(
        (1000, 10_000), "sentences (1000 10000)", nargs="+", type=int, metavar="N"
    )
    C: float = arguments.argument(1.0, "weight of the slacks", flag="--C")
    limit: float = arguments.argument(600.0, "wall seconds that one run may learn")
    n_features: int = 8_000_000
    vocabulary: int = 20_000

    def cells(self) -> list[Cell]:
        """Return a cell a size."""
        return [{"examples": n} for n in sorted(self.examples)]

    def warm_up(self, cell: Cell) -> None:
        """Compile."""
        if cell["examples"] == min(self.examples):
            self._learned(50, 3000, 60)

    def run(self, cell: Cell) -> dict[str, Any]:
        """Draw, encode and learn."""
        return self._learned(cell["examples"], self.n_features, self.vocabulary)

    def _learned(self, n: int, n_features: int, vocabulary: int) -> dict[str, Any]:
        began = time.process_time()
        X, Y = make_swap_lattices(n, n_features=n_features, vocabulary=vocabulary)
        drawn = time.process_time()
        structure = References(Lattice()).fitted(X, Y)
        data = DataSet.of(structure, X, Y)
        encoded = time.process_time()
        lp8 = LPStruct(C=self.C, references="worst")
        run = CuttingPlane(structure, lp8, data, tol=GAP, time_limit=self.limit)
        declared = time.process_time()
        result = run.solve()
        learned = time.process_time()
        certificate, rounds = result.certificate, result.history
        return {
            "arcs": len(X.tail),
            "references": len(Y.ptr) - 1,
            "used": len(np.unique(X.arc_features.indices)),
            "bytes": X.nbytes,
            "peak": 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss,
            "draw": drawn - began,
            "encode": encoded - drawn,
            "declare": declared - encoded,
            "learn": learned - declared,
            "ask": sum(r.oracle_seconds for r in rounds),
            "lift": sum(r.lift_seconds for r in rounds),
            "solve": sum(r.solve_seconds for r in rounds),
            "rounds": len(rounds),
            "cuts": rounds[-1].cuts,
            "nonzeros": int(np.count_nonzero(result.weights)),
            "primal": certificate.primal,
            "gap": certificate.relative_gap,
            "certified": certificate.certified,
        }

    def tables(self, rows: Sequence[Row], left_out: Sequence[str]) -> list[Table]:
        """Return one row a size: what there is, and what it costs."""
        sizes = tuple(
            (f"{r['examples']:,}", f"{r['references']:,}", f"{r['arcs']:,}", f"{r['used']:,}",
             f"{r['bytes'] / 1e6:,.0f}", f"{r['peak'] / 1e9:.1f}")
            for r in rows
        )  # fmt: skip
        costs = tuple(
            (f"{r['examples']:,}", *(f"{r[part]:.1f}" for part in PARTS), f"{r['rounds']}",
             f"{r['cuts']:,}", f"{r['nonzeros']:,}", f"{r['primal']:,.0f}", f"{r['gap']:.1e}")
            for r in rows
        )  # fmt: skip
        return [
            Table(
                "Lattices in the shape of LP-Struct's second experiment",
                ("sentences", "references", "arcs", "features that occur", "MB as arrays",
                 "peak GB"),
                sizes,
                ("Peak memory of the process so far, sizes in growing order.",),
            ),
            Table(
                f"LP (8), C = {self.C:g}, to a certified gap of {GAP:g}",
                ("sentences", *PARTS, "rounds", "cuts", "weights", "objective", "gap"),
                costs,
                ("CPU seconds of drawing, encoding, declaring and learning; within learning, wall "
                 "seconds of asking oracles, lifting cuts and solving masters.",),
            ),
        ]  # fmt: skip


PARTS = ("draw", "encode", "declare", "learn", "ask", "lift", "solve")
"""What takes time."""
