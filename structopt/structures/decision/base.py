r"""A set of decisions that linear costs are minimised over.

    min  c . y    over y in S,    S in R^m the same for every example, c of any sign.

Any sign: learning asks for the minimum of ``2 c_hat - c``, whatever the costs themselves are.

>>> import numpy as np
>>> from structopt.structures.decision.listed import Listed
>>> Listed([[1, 0, 0], [0, 1, 1]]).minimize(np.array([[3.0, 1.0, 1.0]])).points
array([[0., 1., 1.]])
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from structopt.arrays import Floats, as_floats
from structopt.errors import IncompatibleError, InvalidInputError, OracleError
from structopt.parameters import Parameters
from structopt.structures.base.given import Held, held_entries


class Decided(NamedTuple):
    """One decision an example, and how far the true minimum may lie below its cost."""

    points: Floats
    excess: Floats


class DecisionSet(Parameters):
    """Base of the sets: how many numbers a decision has, and which one costs least.

    A set of your own writes ``n_parts``, `minimize` and `contains`; what its `minimize` returns, a
    matrix of decisions or :class:`Decided`, is looked at before it is believed.

    Examples
    --------
    >>> import numpy as np, structopt as so
    >>> class AnyTwo(so.decisions.DecisionSet):
    ...     n_parts = 4
    ...
    ...     def minimize(self, costs):
    ...         return (np.argsort(np.argsort(costs, axis=1), axis=1) < 2).astype(float)
    ...
    ...     def contains(self, points):
    ...         return points.sum(axis=1) == 2
    >>> AnyTwo().minimize(np.array([[3.0, 1.0, 2.0, 4.0]])).points
    array([[0., 1., 1., 0.]])
    """

    boolean: bool = True
    """Whether decisions are 0/1 vectors."""

    def __init_subclass__(cls, trusted: bool = False, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "minimize" in vars(cls) and not trusted:  # those of this package equal brute force
            from structopt.structures.decision.written import looked_at

            cls.minimize = looked_at(cls.minimize)  # type: ignore[method-assign]

    @property
    @abstractmethod
    def n_parts(self) -> int:
        """How many numbers a decision has, and a vector of costs."""

    @abstractmethod
    def minimize(self, costs: Floats, start: int = 0) -> Decided:
        """Return the cheapest decision for each row of ``costs`` (n, m).

        ``start`` numbers the first row's example in messages.
        """

    @abstractmethod
    def contains(self, points: Floats) -> NDArray[np.bool_]:
        """Return for each row of ``points`` whether it is a decision of the set."""

    def check(self) -> None:
        """Refuse a set that cannot be used, such as one without decisions."""

    def check_costs(self, costs: Floats, start: int = 0) -> None:
        """Refuse costs that were seen and cannot be; most sets take all that are finite."""

    def note(self) -> str:
        """Return what a certificate should say about the answers; usually nothing."""
        return ""

    def part_names(self) -> list[str]:
        """Return what each number of a decision is called."""
        return [str(j) for j in range(self.n_parts)]

    def others(self, costs: Floats, known: Floats, start: int = 0) -> Decided:
        r"""Return the cheapest 0/1 decisions other than ``known``; ``excess`` is -1 if none is.

        Of all others one differs in some part j: it is the best of m questions, in each of which
        part j is made so dear, or so cheap, that whoever can changes it.
        """
        n, m = costs.shape
        best, value = known.copy(), np.full(n, np.inf)
        excess = np.full(n, -1.0)
        big = 1.0 + 2.0 * np.abs(costs).sum(axis=1)
        for j in range(m):
            pushed = costs.copy()
            pushed[:, j] += np.where(known[:, j] > 0.5, big, -big)
            found = self.minimize(pushed, start)
            cost = (costs * found.points).sum(axis=1)
            better = (found.points[:, j] != known[:, j]) & (cost < value)
            best[better], value[better] = found.points[better], cost[better]
            excess[better] = found.excess[better]
        return Decided(best, excess)

    def held(self, given: Sequence[Any], start: int = 0) -> Held:
        """Return what is given of some decisions, (n, m): 1 and 0, -1 where nothing is."""
        if not self.boolean:
            raise IncompatibleError(
                f"The decisions of this {type(self).__name__} are real: only parts of 0/1 ones can "
                "be given at prediction."
            )
        rows = [held_entries(told, self.n_parts, i) for i, told in enumerate(given, start)]
        return np.array(rows, dtype=np.int8).reshape(-1, self.n_parts)

    def within(self, costs: Floats, held: Held, start: int = 0) -> Decided:
        r"""Return the cheapest 0/1 decisions with parts in (1) or out (0), -1 where they are free.

        ``excess`` is -1 if there is none. Parts that are held cost, or gain, twice what the others
        can, S: decisions that disagree cost at least S more than those that agree.
        """
        free = np.abs(np.where(held < 0, costs, 0.0)).sum(axis=1)
        free[free == 0] = 1.0
        pushed = np.where(held < 0, costs, 2.0 * free[:, None] * (1.0 - 2.0 * held))
        found = self.minimize(pushed, start)
        apart = np.any((held >= 0) & (found.points != held), axis=1)
        early = np.flatnonzero(apart & (found.excess >= free))
        if len(early):
            i = start + int(early[0])
            raise OracleError(
                f"The search stopped before it found a decision of example {i} with the parts "
                "given, or that there is none: give it a smaller gap, or more time.",
                example=i,
            )
        return Decided(found.points, np.where(apart, -1.0, found.excess))


def no_excess(points: Floats) -> Decided:
    """Return decisions that are exact."""
    return Decided(points, np.zeros(len(points)))


def as_rows(values: Any, n_parts: int, name: str, start: int = 0) -> Floats:
    """Return numbers with a row an example and a column a part; refuse others by the example."""
    try:
        rows = as_floats(values, name)
    except InvalidInputError:
        if isinstance(values, list | tuple):
            _name_ragged(values, n_parts, name, start)
        raise
    if rows.ndim != 2 or rows.shape[1] != n_parts:
        raise InvalidInputError(
            f"{name} has shape {rows.shape}; expected (examples, {n_parts}): one number for each "
            "part of a decision."
        )
    bad = np.flatnonzero(~np.isfinite(rows).all(axis=1))
    if len(bad):
        i = int(bad[0])
        j = int(np.argmin(np.isfinite(rows[i])))
        raise InvalidInputError(
            f"{name} of example {start + i} holds {rows[i, j]} at part {j}: replace or drop what "
            "is not finite.",
            example=start + i,
        )
    return rows


def _name_ragged(values: Any, n_parts: int, name: str, start: int) -> None:
    """Name the first example that has another number of parts than the set."""
    for i, row in enumerate(values, start):
        if hasattr(row, "nnz"):
            raise InvalidInputError(
                f"{name} of example {i} is a sparse matrix: give {n_parts} numbers.", example=i
            )
        if not hasattr(row, "__len__") or len(row) != n_parts:
            size = f"{len(row)} numbers" if hasattr(row, "__len__") else f"{row!r}"
            raise InvalidInputError(
                f"{name} of example {i} holds {size}; expected {n_parts}.",
                example=i,
            )
