r"""One check for all solvers, on the programme as it was given: never the solver's word.

The largest of the relative primal residual, dual residual and gap
(:class:`~structopt.backends.extragradient.certificate.Residuals`) is the error of an answer; an
answer is verified at a tolerance when its error is at most that. What is said to be infeasible or
unbounded is verified by a ray (:mod:`~structopt.backends.extragradient.rays`), from y or from x.

>>> import numpy as np
>>> from structopt.lab.compare.programmes import programme
>>> p = programme([[0.0]], [1.0], [[1.0]], [2.0], [np.inf], [0.0], [np.inf])
>>> judged(p, Answer(np.array([2.0]), np.array([1.0])), 1e-6).status
'solved'
>>> judged(p, Answer(np.array([3.0]), np.array([1.0])), 1e-6).status
'wrong'
>>> judged(p, Answer(np.array([3.0]), np.array([1.0]), "not converged"), 1e-6).status
'not converged'
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from structopt.backends.extragradient.certificate import Residuals
from structopt.backends.extragradient.problem import checked as settled
from structopt.backends.extragradient.rays import proves_infeasible, proves_unbounded
from structopt.lab.compare.answers import Answer
from structopt.master.program import Program


@dataclass(frozen=True)
class Verdict:
    """What an answer is worth.

    Attributes
    ----------
    status : str
        "solved"; "infeasible" or "unbounded", proved by a ray; "unproved", the same without one;
        "wrong", said to be optimal and is not; "not converged", not said and not true; "failed".
    error, primal_residual, dual_residual, gap : float
    objective, bound : float
    """

    status: str
    error: float = np.inf
    primal_residual: float = np.inf
    dual_residual: float = np.inf
    gap: float = np.inf
    objective: float = np.nan
    bound: float = np.nan

    @property
    def verified(self) -> bool:
        """Whether the question is answered."""
        return self.status in ("solved", "infeasible", "unbounded")


def judged(program: Program, answer: Answer, tolerance: float) -> Verdict:
    """Return what an answer is worth at a tolerance."""
    y = answer.y if len(answer.y) == len(program.lower) else np.zeros(len(program.lower))
    if answer.claim == "infeasible":
        return Verdict("infeasible" if proves_infeasible(program, y) else "unproved")
    if answer.claim == "unbounded":
        x = answer.x if len(answer.x) == program.size else np.zeros(program.size)
        return Verdict("unbounded" if proves_unbounded(program, x) else "unproved")
    if len(answer.x) != program.size or not np.all(np.isfinite(answer.x)):
        return Verdict("failed" if answer.claim != "optimal" else "wrong")
    found = Residuals(settled(program)).assess(answer.x, np.nan_to_num(y))
    value, bound = float(found.primal), float(found.dual)
    gap = abs(value - bound) / (1.0 + abs(value) + abs(bound))
    status = "wrong" if answer.claim == "optimal" else "not converged"
    if found.error <= tolerance:
        status = "solved"
    primal, dual = float(found.primal_residual), float(found.dual_residual)
    return Verdict(status, float(found.error), primal, dual, gap, value, bound)
