"""A finished or interrupted comparison: its rows, and what they were made with.

>>> Comparison([], [1.0, 1.2]).variation > 0.1
True
"""

from __future__ import annotations

import json
import math
import os
import statistics
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from structopt.errors import FileFormatError
from structopt.lab.compare.embedded import page_rows
from structopt.lab.compare.lock import LOCK
from structopt.lab.harness.output import write_files
from structopt.lab.harness.store import FILE, Store
from structopt.lab.harness.study import Row

VERSION = 2
"""Of the rows: those of others are not read."""
IDENTITY = ("version", "set", "problem", "digest", "solver", "settings", "tolerance", "limit",
            "memory", "turn", "machine_id", "date")  # fmt: skip
"""What tells attempts, and machines, apart."""
SOLVED = ("solved", "infeasible", "unbounded")
"""The statuses that answer a problem."""


@dataclass
class Comparison:
    """A finished or interrupted comparison: rows, and what they were made with.

    Attributes
    ----------
    rows : list of dict
        One an attempt: see :data:`structopt.lab.compare.files.SCHEMA`.
    references : list of float
        CPU seconds of the reference problem, in the order of time; those of further machines
        as multiples of their mean, times the first one's.
    machines : list of dict
        Processor, versions, BLAS, threads and command line of every run that added rows.
    left_out : list of str
        Problems that could not be read, and why.
    """

    rows: list[Row]
    references: list[float] = field(default_factory=list)
    machines: list[dict[str, Any]] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    interrupted: bool = False

    @property
    def variation(self) -> float:
        """Standard deviation of the reference's times over their mean; NaN without two of them."""
        times = np.array(self.references)
        return float(times.std(ddof=1) / times.mean()) if len(times) > 1 else float("nan")

    @cached_property
    def contradictions(self) -> dict[str, float]:
        """Problems with verified answers that differ, and the tightest tolerance where they do.

        Objectives may differ by ten tolerances. Where a tolerance is loose, residuals of its size
        leave more than that open; and a problem can be proved infeasible and have a point within
        it. At a tight one something is wrong.
        """
        found: dict[tuple[str, str], list[Row]] = {}
        for row in self.rows:
            if row["status"] in SOLVED:
                found.setdefault((row["set"], row["problem"]), []).append(row)
        names = [name for _, name in found]
        differ = {
            name if names.count(name) == 1 else f"{where}/{name}": min(
                (_apart(a, b) for a in rows for b in rows), default=math.inf
            )
            for (where, name), rows in found.items()
        }
        return {name: tol for name, tol in differ.items() if tol < math.inf}

    @property
    def agree(self) -> bool:
        """Whether on no problem two verified answers contradict each other."""
        return not self.contradictions

    def write(self, folder: str | os.PathLike[str]) -> list[Path]:
        """Write tables, figures and the page into a folder; return the files."""
        from structopt.lab.compare.files import files_of

        return write_files(folder, files_of(self))

    @classmethod
    def read(cls, *places: str | os.PathLike[str]) -> Comparison:
        """Return what some folders hold together: one, or those of several machines.

        A page holds what its folder holds, and can be given in its place.

        Raises
        ------
        FileFormatError
            A folder or page holds no comparison, or one of another version.
        """
        rows: dict[str, Row] = {}
        twice = 0
        for place in map(Path, places):
            if not place.is_file() and not (place / FILE).is_file():
                raise FileFormatError(f"{place} holds no comparison: there is no {FILE}.")
            found = page_rows(place) if place.is_file() else [*Store(place).rows.values()]
            for number, row in enumerate(found):
                own = [str(place), number] if "reference" in row else [row.get(k) for k in IDENTITY]
                key = json.dumps(own)
                twice += "status" in row and key in rows and rows[key] != row
                rows[key] = row
        done = cls.of(rows.values())
        if twice:
            done.left_out.append(f"{twice} attempts of which a later folder has another")
        if not done.rows:
            why = "; ".join(done.left_out) or "there is none"
            raise FileFormatError(f"{', '.join(map(str, places))}: no finished attempt ({why}).")
        return done

    @property
    def stored(self) -> list[Row]:
        """All that :meth:`of` makes a comparison of."""
        times = [{"reference": k, "cpu": cpu} for k, cpu in enumerate(self.references)]
        return [*self.rows, *times, *self.machines]

    @classmethod
    def of(cls, rows: Any) -> Comparison:
        """Sort stored rows into attempts, references and machines."""
        done, other, damaged = cls([]), 0, 0
        times: dict[Any, list[float]] = {}
        for row in rows:
            if "machine_id" in row and isinstance(row.get("versions"), dict):
                done.machines.append({name: row.get(name) for name in LOCK})
            elif "reference" in row:
                if _is_number(row.get("cpu")):
                    times.setdefault(str(row.get("machine")), []).append(row["cpu"])
            elif row.get("version") != VERSION:
                other += 1
            elif is_row(row):
                done.rows.append(row)
            else:
                damaged += 1
        first = statistics.fmean(next(iter(times.values()))) if times else 0.0
        for some in times.values():  # how much each machine varies, not how they differ
            mean = statistics.fmean(some)
            done.references += [cpu * first / mean if mean > 0 else cpu for cpu in some]
        if other and not done.rows:
            raise FileFormatError(
                f"All {other} rows are of another version of this comparison: run it again."
            )
        if other:
            done.left_out.append(f"{other} rows of another version of this comparison")
        if damaged:
            done.left_out.append(f"{damaged} rows that are damaged: run them again")
        return done


def _apart(one: Row, two: Row) -> float:
    """Return the looser of the tolerances of two answers that differ, infinity if they do not."""
    tol, other = one["tolerance"], two["tolerance"]
    if one["status"] == two["status"] == "solved":
        a, b = one["objective"], two["objective"]
        # a relative gap of tol on either side, residuals of that size beside it
        differ = abs(a - b) > 10.0 * (tol + other) * (1.0 + abs(a) + abs(b))
    else:
        differ = one["status"] != two["status"]
    return float(max(tol, other)) if differ else math.inf


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < math.inf


def is_row(row: Row) -> bool:
    """Whether a row of a file has what tables and figures ask for."""
    words = all(isinstance(row.get(name), str) for name in ("set", "problem", "solver", "status"))
    asked = all(_is_number(row.get(name)) and row[name] > 0 for name in ("tolerance", "limit"))
    found = row.get("status") == "solved"  # then there are numbers
    measured = ("cpu", "error", "objective", "gap")
    numbers = all(
        _is_number(row.get(name)) or (row.get(name) is None and not found) for name in measured
    )
    cpu: Any = row.get("cpu")
    if row.get("status") in SOLVED and not (_is_number(cpu) and cpu >= 0):
        return False
    parts = ("oracle_cpu", "lift_cpu", "solve_cpu", "other_cpu", "iterations")
    split = "oracle_cpu" not in row or all(_is_number(row.get(name)) for name in parts)
    turn, settings = row.get("turn"), row.get("settings")
    return words and asked and numbers and split and isinstance(turn, int) and isinstance(
        settings, dict
    )  # fmt: skip
