r"""Examples whose outputs are integer programmes: live models, asked in turn.

max  (s_i + c_i) . z    over the 0/1 points z of example i,    c_i what each part adds to the loss.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from structopt.arrays import Floats, stack_rows
from structopt.errors import OracleError
from structopt.structures.base.integer.solver import IntegerProgram
from structopt.structures.base.vectors import Mask, VectorShard

LIVE = 500
"""Examples of a shard whose models stay live between passes: one holds 0.2 to 0.3 MB, and to build
it anew takes some milliseconds."""


class ProgramShard(VectorShard):
    """Integer programmes with features, gold outputs and costs of parts.

    Parameters
    ----------
    programs : sequence of IntegerProgram
    features : sequence of (parts, d) matrices
    gold, added : sequences of vectors
        Gold outputs, and what each part adds to the loss.
    start : int
        Number of the first example in messages.
    """

    each = ("programs", "paid")

    def __init__(
        self, programs: Sequence[IntegerProgram], features: Sequence[Any], gold: Sequence[Mask],
        added: Sequence[Floats], start: int = 0,
    ) -> None:  # fmt: skip
        offsets = np.concatenate([[0], np.cumsum([len(g) for g in gold])]).astype(np.int64)
        parts = (np.concatenate(gold), np.concatenate(added))
        super().__init__(stack_rows(features), offsets, *parts, start)
        self.programs = list(programs)

    def search(
        self, i: int, scores: Floats, k: int, known: Mask | None
    ) -> list[tuple[Mask, float]]:
        """Return up to k best points of programme i, without ``known``."""
        found: list[tuple[Mask, float]] = []
        seen: list[Floats] = []
        try:
            while len(found) < k:
                best = self.programs[i].maximize(scores, forbidden=seen)
                if best is None:
                    break
                seen.append(best.point)
                if known is None or not np.array_equal(best.point, known):
                    found.append((best.point > 0.5, best.excess))
        except OracleError as error:
            raise self._failed(i, error) from error
        if i >= LIVE:
            self.programs[i].release()
        return found

    def search_within(self, i: int, scores: Floats, held: Any) -> Mask | None:
        """Return programme i's best point with some parts fixed; None if there is none."""
        own = self.programs[i]
        fixed = IntegerProgram(own.rows.fixed(held), gap=own.gap, time_limit=own.time_limit)
        try:
            best = fixed.maximize(scores)
        except OracleError as error:
            raise self._failed(i, error) from error
        return None if best is None else best.point > 0.5

    def _failed(self, i: int, error: OracleError) -> OracleError:
        number = self.start + i
        return OracleError(f"Example {number}: {error}", example=number)

    def content(self) -> Iterator[Any]:
        """Yield arrays that together name the shard's content."""
        yield from super().content()
        for program in self.programs:
            rows = program.rows
            yield from (rows.A.data, rows.A.indices, rows.lower, rows.upper)
