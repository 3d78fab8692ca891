"""What a run has found so far, as a value that another run can begin with."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from structopt.arrays import Floats
from structopt.backends.base import Backend
from structopt.errors import InvalidInputError
from structopt.master.cuts import Cuts
from structopt.master.declare import RestrictedMaster
from structopt.run.events import Round

OTHER = (
    "The warm start or checkpoint belongs to other data, another structure or another kind of "
    "formulation; start without it (or delete the checkpoint file)."
)


class Live(NamedTuple):
    """A master with its pool, the backend that holds its rows, and what backend was asked for."""

    master: RestrictedMaster
    backend: Backend
    asked: tuple[str | Backend, int | None]
    fingerprint: str


@dataclass(frozen=True)
class State:
    """The state of a run: ``warm_start=run.state`` begins another one with it.

    The weights and the cuts are taken over, not the bounds: those are recomputed from the data, so
    the other run may have another C.

    Attributes
    ----------
    weights : array
        The best so far.
    primal, dual, residual : float
        Bounds on the objective, and by how much the weights break the formulation's constraints.
    history : tuple of Round
    cuts : Cuts or None
        The cuts that stand, with their multipliers; None while they are live, and for methods
        without.
    live : Live or None
        The run's own pool and backend, with its multipliers or basis. They change as the run goes
        on, and a run that begins with them uses it up; :meth:`copy` is a value of its own.
    ascent : object
        What a block ascent keeps of the data and its multipliers, which another one goes on with.
    narrow : object
        What a run over the inputs that occur keeps of the data, and its own live state.

    Examples
    --------
    >>> import structopt as so
    >>> X, y = so.datasets.make_classes(60, seed=0)
    >>> structure = so.Multiclass().fitted(X, y)
    >>> data = so.DataSet.of(structure, X, y)
    >>> run = so.CuttingPlane(structure, so.M3N(C=1.0), data)
    >>> for record in run:
    ...     if record.relative_gap < 0.1:
    ...         break
    >>> state = run.state.copy()
    >>> len(state.cuts) == record.cuts
    True
    >>> so.CuttingPlane(structure, so.M3N(C=2.0), data, warm_start=state).solve().status
    'optimal'
    """

    weights: Floats
    primal: float
    dual: float
    residual: float
    history: tuple[Round, ...]
    cuts: Cuts | None = None
    live: Live | None = None
    ascent: Any = None
    narrow: Any = None

    def copy(self) -> State:
        """Return the state with cuts of its own, which the run no longer touches."""
        if self.live is None:
            return replace(self, ascent=None, narrow=None)
        cuts = self.live.master.pool.export(self.live.fingerprint)
        return replace(self, cuts=cuts, live=None)


def by_family(cuts: Cuts, master: RestrictedMaster) -> list[Cuts]:
    """Return the cuts of every family; refuse those of a family or example that is not there."""
    if np.any(cuts.family < 0) or np.any(cuts.family >= len(master.families)):
        raise InvalidInputError(OTHER)
    each = [master.pool.of_family(cuts, number) for number in range(len(master.families))]
    for family, mine in zip(master.families, each, strict=True):
        owners = family.owners(master.n_examples)
        if np.any(mine.example < 0) or np.any(mine.example >= owners):
            raise InvalidInputError(OTHER)
    return each
