r"""Time of each oracle per part of an output: compiled, by networkx, by a library of one's own.

    time per part = CPU seconds of a call / (parts that it decides).

A case is a structure and a question with the contenders that answer it; cases register themselves
under a name, so that a new structure adds one function. A whole pass over small examples is timed,
scores included: the shard of the structure and that of its networkx decoder are asked the same
question, and the values found are compared.

>>> [case.name for case in CASES["multiclass"](np.random.default_rng(0))]
['multiclass, argmax']
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from structopt.errors import OracleError
from structopt.lab.bench import oracle_cases, oracle_orders  # noqa: F401  (they register)
from structopt.lab.bench.oracle_case import CASES, OURS, REFERENCE, Case
from structopt.lab.harness import arguments
from structopt.lab.harness.bench import Bench
from structopt.lab.harness.study import Cell, Row, every, in_turns, known, median, where
from structopt.lab.harness.table import Table

AGREE = 1e-9  # relative, between values that were summed in different orders


@dataclass
class OracleBench(Bench):
    """Every contender of some cases, in turns.

    Parameters
    ----------
    only : sequence of str, optional
        Names of :data:`CASES`; all by default.
    repeats : int
    enough : float
        CPU seconds that a measurement of fast calls should last.
    cases : sequence of Case
        Others.
    """

    name = "bench-oracles"

    only: Sequence[str] | None = arguments.argument(
        None, "of these structures only", nargs="+", metavar="NAME"
    )
    repeats: int = arguments.repeats(5)
    enough: float = 0.05
    cases: Sequence[Case] = ()
    _values: dict[int, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        names = known(self.only or list(CASES), list(CASES), "oracle case")
        self.cases = self.cases or [c for n in names for c in CASES[n](np.random.default_rng(0))]

    def cells(self) -> list[Cell]:
        """Return a cell a case, contender and turn."""
        return [
            {"case": number} | cell
            for number, case in enumerate(self.cases)
            for cell in in_turns([{"who": who} for who in case.contenders], self.repeats)
        ]

    def label(self, cell: Cell) -> str:
        """Name a cell in the progress line."""
        return f"{self.cases[cell['case']].name}, {cell['who']}, turn {cell['turn'] + 1}"

    def warm_up(self, cell: Cell) -> None:
        """Let someone answer once, which compiles, and compare with what was answered before.

        Raises
        ------
        OracleError
            The values found differ.
        """
        case = self.cases[cell["case"]]
        contender = case.contenders[cell["who"]]
        answer = contender.run()
        if contender.value is not None:
            value = contender.value(answer)
            ours = self._values.setdefault(cell["case"], value)
            if not math.isclose(value, ours, rel_tol=AGREE, abs_tol=AGREE):
                raise OracleError(
                    f"{case.name}: {cell['who']} finds {value!r}, structopt {ours!r}; one of them "
                    "is wrong."
                )

    def run(self, cell: Cell) -> dict[str, Any]:
        """Time calls."""
        case = self.cases[cell["case"]]
        seconds = _timed(case.contenders[cell["who"]].run, self.enough)
        return {"per_part": seconds / case.parts}

    def tables(self, rows: Sequence[Row], left_out: Sequence[str]) -> list[Table]:
        """Return one row a case."""
        lines = []
        for number in every(rows, "case"):
            case, of = self.cases[number], where(rows, case=number)
            micro = {who: 1e6 * median(where(of, who=who), "per_part") for who in case.contenders}
            peer = next((who for who in micro if who not in (OURS, REFERENCE)), "")
            absent = f"{case.missing[0]} (not installed)" if case.missing else ""
            lines.append(
                (
                    case.name,
                    f"{micro[OURS]:.3g}",
                    *_beside(micro, REFERENCE),
                    peer or absent,
                    *_beside(micro, peer),
                )
            )
        return [Table(
            "Oracles",
            ("oracle", "structopt µs", "networkx µs", "ratio", "library", "its µs", "its ratio"),
            tuple(lines),
            ("Median CPU microseconds per part (token, node, example), one thread, compilation "
             "left out; a whole pass over small examples is timed, scores included. The values "
             "found agree. The networkx references of chains, segments and trees compute in exact "
             "fractions; ufal.chu-liu-edmonds is given the scores.",),
        )]  # fmt: skip


def _beside(micro: dict[str, float], who: str) -> tuple[str, str]:
    if who not in micro:
        return "", ""
    return f"{micro[who]:.3g}", f"{micro[who] / micro[OURS]:.3g}"


def _timed(run: Callable[[], Any], enough: float) -> float:
    """Return the CPU seconds of a call, the mean of as many as fill the time."""
    calls, start = 0, time.process_time()
    while True:
        run()
        calls += 1
        spent = time.process_time() - start
        if spent >= enough:
            return spent / calls
