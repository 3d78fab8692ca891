r"""Sparse rows and sentences beside liblinear and CRFsuite, and how time and memory grow.

    1/2 |w|^2 + C sum_i max_y ([y != y_i] - w . delta_i(y))        (liblinear's Crammer-Singer form)

liblinear minimises the same objective, so that its true excess over a certified lower bound is
known, and ours at the loosest tolerance that is no worse stands beside it. CRFsuite's objective is
another one: its error on held-out sentences stands beside ours. Rows are words of CoNLL-2000 with
their parts of speech, and digits; what grows is drawn; sentences are CoNLL-2002's Spanish; letters
are those of ``structopt bench letters``. Data are looked for in the folder that ``STRUCTOPT_DATA``
names. Every run has a process of its own and one thread (:mod:`structopt.lab.bench.sparse_run`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from structopt.errors import MissingDataError, MissingDependencyError
from structopt.lab.bench.letters import TRAIN
from structopt.lab.bench.sparse_run import BOUND, OURS, PEERS, ROWS, TAGS_TOL
from structopt.lab.harness import arguments
from structopt.lab.harness.bench import Bench
from structopt.lab.harness.process import alone
from structopt.lab.harness.study import Cell, Row, every, in_turns, median, where
from structopt.lab.harness.table import Table

TAGGING = ("sentences", "sentences, perceptron", "letters, fold 1", "letters, folds 1-9")
GROWTH: dict[str, tuple[str, ...]] = {
    "rows: 20,000, 50,000 columns, 20 classes": ("rows", "20000", "50000", "20"),
    "rows: 40,000 of them": ("rows", "40000", "50000", "20"),
    "rows: 1,000,000 columns": ("rows", "20000", "1000000", "20"),
    "rows: 80 classes": ("rows", "20000", "50000", "80"),
    "rows: 1,000 classes": ("rows", "20000", "50000", "1000"),
    "tokens: 10,000 by 10, 20 labels": ("tokens", "10000", "10", "20"),
    "tokens: 20,000": ("tokens", "20000", "10", "20"),
    "tokens: by 100": ("tokens", "10000", "100", "20"),
    "tokens: 2,000 by 10, 100 labels": ("tokens", "2000", "10", "100"),
    "tokens: 2,000 by 10, 1,000 labels": ("tokens", "2000", "10", "1000"),
    "1,000 columns": ("columns", "1000"),
    "the same among 1,000,000": ("columns", "1000000"),
}
"""What grows, and the arguments of the run; the first of a kind is what others are compared to."""


@dataclass
class SparseBench(Bench):
    """Rows by block ascent and by liblinear, sentences by block ascent and by CRFsuite."""

    name = "bench-sparse"
    excuses = (MissingDependencyError, MissingDataError)

    repeats: int = arguments.repeats(3)

    def cells(self) -> list[Cell]:
        """Return a cell a case, contender and turn; bounds, growth and what takes minutes once."""
        pairs = [{"case": case, "who": who} for case in ROWS for who in ("structopt", "liblinear")]
        for case in TAGGING[:-1]:
            pairs += [{"case": case, "who": who} for who in ("structopt", "CRFsuite")]
        grown = [{"case": case, "who": "growth"} for case in GROWTH]
        pairs += grown[-2:]
        once = [{"case": case, "who": "bound"} for case in ROWS] + grown[:-2]
        once += [{"case": TAGGING[-1], "who": who} for who in ("structopt", "CRFsuite")]
        return [*in_turns(pairs, self.repeats), *in_turns(once, 1)]

    def run(self, cell: Cell) -> dict[str, Any]:
        """Train in a process of its own."""
        case, who = cell["case"], cell["who"]
        if case.startswith("letters"):
            folds = TRAIN["1" if case == TAGGING[2] else "1-9"]
            learner = {"structopt": "blocks", "CRFsuite": "crfsuite"}[who]
            found = alone("structopt.lab.bench.letters_run", learner, *map(str, folds))
            return found | {"cpu": found["train"], "wrong": 100 * found["test_error"]}
        if case in ROWS:
            given: tuple[str, ...] = ("rows", who, case)
        elif case in GROWTH:
            given = ("growth", *GROWTH[case])
        else:
            given = ("sentences", who + case.removeprefix("sentences"))
        return alone("structopt.lab.bench.sparse_run", *given)

    def tables(self, rows: Sequence[Row], left_out: Sequence[str]) -> list[Table]:
        """Return both comparisons, and the growth."""
        return [_beside_liblinear(rows, left_out), _beside_crfsuite(rows), _growth(rows)]


def _beside_liblinear(rows: Sequence[Row], left_out: Sequence[str]) -> Table:
    lines = []
    for case in ROWS:
        bound = where(rows, case=case, who="bound")
        ours, peer = (where(rows, case=case, who=who) for who in ("structopt", "liblinear"))
        if not (bound and ours and peer):
            continue
        low = bound[0]["dual"][0]
        each = [(tol, *_at(ours, k, low)) for k, tol in enumerate(OURS)]
        for k, theirs in enumerate(PEERS):
            cpu, spread, excess = _at(peer, k, low)
            _, plain, plain_spread, plain_excess = each[1]
            tol, same, _, same_excess = next((e for e in each if e[3] <= excess), each[-1])
            lines.append((
                case, f"{theirs:g}", f"{cpu:.3g} ({spread})", f"{excess:.1e}",
                f"{plain:.3g} ({plain_spread})", f"{plain_excess:.1e}", f"{plain / cpu:.2f}",
                f"{same:.3g} at {tol:g}", f"{same_excess:.1e}", f"{same / cpu:.2f}",
            ))  # fmt: skip
    return Table(
        "Sparse rows beside liblinear",
        ("rows", "its tol", "liblinear CPU s", "excess", f"structopt at {OURS[1]:g}", "excess",
         "ratio", "at no more excess", "excess", "ratio"),
        tuple(lines),
        (f"Medians and ranges; excess: P / D - 1 with D certified to {BOUND:g}; our tolerance is a "
         f"certified gap, one of {OURS}.", *left_out),
    )  # fmt: skip


def _at(runs: Sequence[Row], k: int, low: float) -> tuple[float, str, float]:
    """Return the middle time, the range and the middle excess of runs at their k-th tolerance."""
    one = [{"cpu": run["cpu"][k], "value": run["value"][k]} for run in runs]
    return median(one, "cpu"), _range(one), median(one, "value") / low - 1.0


def _range(runs: Sequence[Row]) -> str:
    seconds = [run["cpu"] for run in runs]
    return f"{min(seconds):.3g}-{max(seconds):.3g}"


def _beside_crfsuite(rows: Sequence[Row]) -> Table:
    lines = []
    for case in TAGGING:
        ours, peer = (where(rows, case=case, who=who) for who in ("structopt", "CRFsuite"))
        if not (ours and peer):
            continue
        cells = [
            cell
            for runs in (ours, peer)
            for cell in (
                f"{median(runs, 'cpu'):.3g} ({_range(runs)})",
                f"{median(runs, 'wrong'):.2f}", f"{median(runs, 'memory'):.0f}",
            )
        ]  # fmt: skip
        ratios = [f"{median(ours, key) / median(peer, key):.2f}" for key in ("cpu", "memory")]
        lines.append((case, _passes(ours[0]), *cells, *ratios))
    return Table(
        "Sentences and letters beside CRFsuite",
        ("case", "passes", "structopt CPU s", "error %", "peak MB", "CRFsuite CPU s", "error %",
         "peak MB", "CPU ratio", "MB ratio"),
        tuple(lines),
        (f"Sentences certified to {TAGS_TOL:g}, letters to 0.6 for every 704 words; CRFsuite by "
         "L-BFGS, or 20 epochs of its averaged perceptron. Passes: examples decoded, and visits "
         "over planes that are kept, in as many as there are (rounds, where it is one number).",),
    )  # fmt: skip


def _passes(run: Row) -> str:
    if "cheap" in run:
        return f"{run['passes']:.1f} + {run['cheap']:.0f}"
    return f"{run['rounds']}"


def _growth(rows: Sequence[Row]) -> Table:
    lines = []
    first: dict[str, float] = {}
    for case in every(where(rows, who="growth"), "case"):
        runs = where(rows, who="growth", case=case)
        cpu = median(runs, "cpu")
        times = cpu / first.setdefault(GROWTH[case][0], cpu)
        lines.append(
            (case, f"{cpu:.3g} ({_range(runs)})", f"{times:.2f}", f"{median(runs, 'memory'):.0f}")
        )
    return Table(
        "Growth",
        ("case", "structopt CPU s", "times the first", "peak MB"),
        tuple(lines),
        (f"Rows certified to {OURS[1]:g}, tokens to {TAGS_TOL:g}, columns (3,000 rows, 60,000 "
         f"nonzeros, 10 classes) to {OURS[3]:g}.",),
    )  # fmt: skip
