r"""Is there a weight vector that gets every training example right? With a proof either way.

The largest margin of weights in the unit box,

    gamma* = max over |w|_inf <= 1 of  min over i, y != y_i of  w . delta_i(y),

is positive exactly if the data is separable. It is found by cutting planes on

    min xi    s.t.  w . delta_i(y) >= 1 - xi,  -1 <= w <= 1,  xi >= 0,        gamma* = 1 - xi*

(margins above 1 count as 1, which is all the same to the question). Weights whose margin an exact
pass has measured prove that the data is separable; multipliers, a convex combination of deltas that
is nearly zero, prove that no margin above `margin_at_most` exists.

>>> import structopt as so
>>> X, y = so.datasets.make_classes(60, separation=12.0, seed=0)
>>> found = so.separability(so.Multiclass(), X, y)
>>> found.separable, found.margin_at_least > 0
(True, True)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from structopt.arrays import Floats
from structopt.engines.dataset import DataSet
from structopt.formulations.base import Declaration, Formulation
from structopt.methods.cutting_plane import CuttingPlane
from structopt.parameters import checked
from structopt.run.events import Callback, Round
from structopt.structures.base.structure import Structure


@dataclass(frozen=True)
class Separability:
    """What is proven about the largest margin in the unit box.

    Attributes
    ----------
    separable : bool or None
        True if weights with a margin above ``tol`` are known, False if it is proven that there are
        none, None if the rounds did not suffice to tell.
    margin_at_least, margin_at_most : float
        Bounds on gamma*: measured at `weights`, and proved by multipliers.
    weights : array
        The best weights found.
    """

    separable: bool | None
    margin_at_least: float
    margin_at_most: float
    weights: Floats


class LargestMargin(Formulation):
    """The programme of this page: one slack, the largest, over a box of weights."""

    def master(self, m: Declaration) -> None:
        """Declare the programme."""
        w, xi = m.weights(lambda w: [w >= -1, w <= 1]), m.slack()
        m.minimize(xi[0])
        m.cuts(lambda cut: cut.delta @ w >= 1 - xi[0])


@checked
def separability(
    structure: Structure,
    X: Any,
    Y: Any,
    *,
    tol: float = 1e-6,
    max_iter: int = 1000,
    callbacks: Sequence[Callback] = (),
) -> Separability:
    """Decide whether the data is separable, up to margins of ``tol``.

    For a structure with constraints, ask the same of ``structure.unconstrained()``: data can be
    separable with the constraints and not without.

    Parameters
    ----------
    structure : Structure
        Any that knows the best output other than gold.
    X, Y : sequences
        Inputs and outputs, as the structure takes them.
    tol : float
        A largest margin below this counts as none.
    max_iter : int
        Rounds at most.
    callbacks : sequence of callables
        Each is called with every :class:`~structopt.Round`; True stops the run.
    """

    def decided(record: Round) -> bool:
        return record.primal < 1.0 - tol

    fitted = structure.fitted(X, Y)
    run = CuttingPlane(
        fitted,
        LargestMargin(),
        DataSet.of(fitted, X, Y),
        tol=0.0,
        abs_tol=0.5 * tol,
        max_iter=max_iter,
        callbacks=[decided, *callbacks],
    )
    result = run.solve()
    certificate = result.certificate
    at_least, at_most = 1.0 - certificate.primal, 1.0 - certificate.dual
    decision = None
    if certificate.exact and (at_least > tol or at_most <= tol):
        decision = at_least > tol
    return Separability(decision, at_least, at_most, result.weights)
