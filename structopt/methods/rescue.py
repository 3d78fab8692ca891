"""Solving a master problem: on the reference where its backend fails, with errors that say why."""

from __future__ import annotations

import logging

import numpy as np

from structopt.backends import registry
from structopt.backends.base import Backend, MasterSolution
from structopt.errors import BackendError, InfeasibleError, UnboundedError
from structopt.master.declare import RestrictedMaster
from structopt.run.result import Rescue

logger = logging.getLogger(__name__)


def solve_master(
    master: RestrictedMaster,
    backend: Backend,
    number: int,
    *,
    tolerance: float,
    time_limit: float | None,
) -> tuple[MasterSolution, Rescue | None]:
    """Solve the master of round ``number``; say by whom if the backend failed.

    Raises
    ------
    InfeasibleError, UnboundedError
        If the backend proves that there is no solution.
    BackendError
        If the reference fails too.
    """
    solution, rescue = backend.solve(tolerance=tolerance, time_limit=time_limit), None
    if _failed(solution) and backend.name == "cvxpy":
        raise BackendError(
            f"CVXPY failed in round {number}: {solution.message} Check solver= and options=, try "
            "another backend, or scale the features to similar ranges."
        )
    if _failed(solution):
        logger.warning(
            "backend %r failed in round %d (%s); retrying on the reference backend",
            backend.name, number, solution.message,
        )  # fmt: skip
        reference = registry.make("cvxpy")
        reference.start(master)
        rescue = Rescue(number, backend.name, reference.name, solution.message)
        solution = reference.solve(tolerance=tolerance)
        if _failed(solution):
            raise BackendError(
                f"Backend {backend.name!r} failed in round {number} ({rescue.why}), and so did "
                f"the reference ({solution.message}). Try another backend, or scale the features "
                "to similar ranges."
            )
    if solution.status == "infeasible":
        raise InfeasibleError(
            f"No weights satisfy the formulation's constraints ({len(master.pool)} cuts so far). "
            "Relax the constraints on the weights, or give hard cut families a slack."
        )
    if solution.status == "unbounded":
        raise UnboundedError(
            f"The master problem has no minimum with {len(master.pool)} cuts: some variable "
            "lowers the objective without limit. Add a regulariser or bounds."
        )
    return solution, rescue


def _failed(solution: MasterSolution) -> bool:
    return solution.status == "failed" or not bool(np.all(np.isfinite(solution.x)))
