"""Solving a master problem: no solver's word is taken, and nobody steps in unasked.

"Infeasible" and "unbounded" are looked into (:mod:`structopt.methods.verdict`); where they are not
true, or the backend fails in another way, the reference backend solves the round if that is allowed
(it was not named by the user, or with ``fallback=True``), and the Result says so.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass, replace

import numpy as np

from structopt.arrays import Floats
from structopt.backends import registry
from structopt.backends.attempt import attempt
from structopt.backends.base import Backend, MasterSolution
from structopt.errors import BackendError, InfeasibleError, UnboundedError
from structopt.master.declare import RestrictedMaster
from structopt.methods.clash import clashing
from structopt.methods.verdict import MET, Verdict, examine
from structopt.run.result import Rescue

logger = logging.getLogger(__name__)

_RESCUERS = ("cvxpy", "osqp")
"""Who steps in, in this order. The first solves by Clarabel, which calls masters with sides of 1e10
infeasible; OSQP does not."""
_WORD = "That is the solver's word: no proof of it was found."


@dataclass(frozen=True)
class Solved:
    """What came of a round's master.

    Attributes
    ----------
    solution : MasterSolution or None
        None where the objective falls without limit: more cuts are needed, or there is no minimum.
    rescue : Rescue or None
        Who failed and who solved it instead.
    descent : array or None
        The direction in which the objective falls, where it is known.
    """

    solution: MasterSolution | None
    rescue: Rescue | None = None
    descent: Floats | None = None


def solve_master(
    master: RestrictedMaster,
    backend: Backend,
    number: int,
    *,
    tolerance: float,
    time_limit: float | None,
    fallback: bool,
) -> Solved:
    """Solve the master of round ``number``.

    Raises
    ------
    InfeasibleError
        If no point satisfies the constraints: proven, for linear and quadratic masters.
    BackendError
        If the backend fails and so does the reference, or nobody may step in.
    """
    start = time.monotonic()
    solution = attempt(master, backend, tolerance, time_limit)
    found = _judged(master, solution)
    if found.solution is None or not _failed(found.solution):
        return found
    if time_limit is not None and time.monotonic() - start >= time_limit:
        # nothing was found in time: no multipliers and the point 0 are bounds all the same
        return Solved(replace(_nothing(master), status="inaccurate"))
    why = found.solution.message
    if backend.name == "cvxpy":
        raise BackendError(
            f"CVXPY failed in round {number}: {why} Check solver= and options=, try another "
            "backend, or scale the features to similar ranges."
        )
    if not fallback:
        raise BackendError(
            f"Backend {backend.name!r} failed in round {number}: {why} It was named, so no other "
            "one steps in: try backend='auto', fallback=True (the reference backend then solves "
            "such rounds, and the result says which), or features scaled to similar ranges."
        )
    others = [name for name in _RESCUERS if name != backend.name]
    logger.warning(
        "backend %r failed in round %d (%s); retrying on the reference backend",
        backend.name, number, why,
    )  # fmt: skip
    failures = []
    for name in others[:1] if master.program.is_conic else others:
        other = registry.make(name)
        other.start(master)
        if len(master.pool):
            other.append(master.pool.cuts)
        second = _judged(master, attempt(master, other, tolerance, None))
        if second.solution is None or not _failed(second.solution):
            return replace(second, rescue=Rescue(number, backend.name, name, why))
        failures.append(f"{name!r}: {second.solution.message}")
    raise BackendError(
        f"Backend {backend.name!r} failed in round {number} ({why}), and so did the others that "
        f"were tried ({'; '.join(failures)}). Scale the features to similar ranges, or try another "
        "backend."
    )


def no_minimum(
    master: RestrictedMaster, descent: Floats | None, *, late: bool = False
) -> UnboundedError:
    """Return the error of a master whose objective falls for ever; ``late`` if time was up."""
    which = _WORD
    if descent is not None:
        moved = [
            f"{v.name()} ({np.count_nonzero(part)} of {v.size})"
            for v in master.variables()
            if np.any(part := descent[master.columns[v.id] :][: v.size])
        ]
        which = f"It falls for ever along a direction that moves {', '.join(moved)}."
    return UnboundedError(
        f"The master problem has no minimum with {len(master.pool)} cuts, and "
        f"{'time is up' if late else 'there is no cut that ends its fall'}: some variable lowers "
        f"the objective without limit. {which} Add a regulariser or bounds."
    )


def verify(master: RestrictedMaster, word: str) -> Verdict:
    """Look into a solver's word, "infeasible" or "unbounded".

    Raises
    ------
    InfeasibleError
        If it is proven that no point satisfies the constraints.
    """
    program, cuts = master.program, master.pool.cuts
    rows = [program.A, cuts.matrix(program)] if len(cuts) else [program.A]
    lower = np.concatenate([program.lower, cuts.lower])
    upper = np.concatenate([program.upper, cuts.upper])
    verdict = examine(program, rows, lower, upper)
    unmet = program.is_conic and verdict.residual > MET and word == "infeasible"
    if verdict.ray is not None or unmet:
        raise _no_point(master, verdict)
    return verdict


def _judged(master: RestrictedMaster, solution: MasterSolution) -> Solved:
    """Look into a solver's word; what is not true of it counts as failure."""
    if solution.status not in ("infeasible", "unbounded"):
        return Solved(solution)
    verdict = verify(master, solution.status)
    if verdict.descent is not None:
        return Solved(None, descent=verdict.descent)
    conic = master.program.is_conic
    if conic and solution.status == "unbounded" and not _has_minimum(master):
        return Solved(None)  # along no line: what nobody denies is said to be the solver's word
    bounded = ", and a solver finds its minimum" if conic else ""
    bounded = bounded or ", and no direction lowers the objective for ever"
    bounded = "" if conic and solution.status == "infeasible" else bounded
    message = (
        f"it calls the master {solution.status}, which is not so: a point satisfies it to "
        f"{verdict.residual:.1g} of its numbers{bounded} ({solution.message or 'no more is said'})."
    )
    return Solved(_nothing(master, message))


def _has_minimum(master: RestrictedMaster) -> bool:
    """Return whether the reference backend finds a minimum of the master as it stands."""
    other = registry.make(_RESCUERS[0])
    other.start(master)
    if len(master.pool):
        other.append(master.pool.cuts)
    return attempt(master, other, 1e-6, None).status in ("optimal", "inaccurate")


def _nothing(master: RestrictedMaster, message: str = "") -> MasterSolution:
    return MasterSolution(
        "failed", np.zeros(master.size), np.zeros(len(master.pool)), None, 0, message
    )


def _no_point(master: RestrictedMaster, verdict: Verdict | None) -> InfeasibleError:
    clash = clashing(master)
    proof = _WORD
    if verdict is not None and verdict.ray is not None:
        used = int(np.count_nonzero(verdict.ray))
        far = f" for numbers up to {verdict.reach:.0e}" if np.isfinite(verdict.reach) else ""
        proof = f"Multipliers of {used} rows prove it{far}; the least that must give way is " + (
            f"{verdict.residual:.1g} of a row's numbers."
        )
    together = f" These clash: {'; '.join(clash)}." if clash else ""
    return InfeasibleError(
        f"No weights satisfy the formulation's constraints ({len(master.pool)} cuts so far)."
        f"{together} {proof} Relax the constraints on the weights, or give hard cut families a "
        "slack.",
        constraints=clash,
    )


def _failed(solution: MasterSolution) -> bool:
    return solution.status == "failed" or not bool(np.all(np.isfinite(solution.x)))
