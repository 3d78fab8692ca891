r"""What is minimised by solving convex upper bounds, one after the other.

    F(w) <= Q_v(w) for all w,    F(v) = Q_v(v):      v <- argmin_w Q_v(w),  again and again.

With a difference of convex functions F = f - g, Q_v is f minus the tangent of g at v (the
concave-convex procedure); with a minimum over labels of what is convex in w, Q_v holds the labels
that are best at v. A formulation of your own says for any v what to solve, in ten lines:

>>> import cvxpy as cp, numpy as np, structopt as so
>>> class LogPenalty(so.NonConvex):
...     '''sum_j log(1 + |w_j|) + C sum xi: log is concave, its tangent at |v_j| lies above it.'''
...     def __init__(self, C=1.0):
...         self.C = C
...     def bound(self, data, v, last):
...         slope = 1.0 / (1.0 + np.abs(v))
...         constant = float(np.sum(np.log1p(np.abs(v)) - slope * np.abs(v)))
...         return so.ConvexBound(WeightedL1(self.C, slope), data, constant)
>>> class WeightedL1(so.Formulation):
...     def __init__(self, C, slope):
...         self.C, self.slope = C, slope
...     def master(self, m):
...         w, xi = m.weights(), m.slacks()
...         m.minimize(self.slope @ cp.abs(w) + self.C * cp.sum(xi))
...         m.cuts(lambda cut: cut.delta @ w >= cut.loss - cut.of(xi))
>>> X, y = so.datasets.make_classes(40, seed=0)
>>> model = so.StructuredClassifier(so.Multiclass(), LogPenalty(), method="outer").fit(X, y)
>>> model.result_.status, model.result_.certificate.certified  # stationary, no global optimum
('stationary', False)
"""

from __future__ import annotations

import copy
from typing import Any, ClassVar, NamedTuple, Self

from structopt.arrays import Floats
from structopt.engines.dataset import DataSet
from structopt.errors import IncompatibleError
from structopt.formulations.base import Declaration, Formulation


class ConvexBound(NamedTuple):
    """A convex programme that lies above an objective: what one outer step solves.

    Attributes
    ----------
    formulation : Formulation
    data : DataSet
        The same examples, perhaps with delta measured from other outputs (``data.anchored``,
        ``data.completed``), other labels (``data.relabelled``) or other weights.
    constant : float
        What must be added to the programme's value.
    charged : bool
        Whether losses are measured from the moved outputs, too: then the cuts of examples that
        moved are of no use any more.
    """

    formulation: Formulation
    data: DataSet
    constant: float = 0.0
    charged: bool = False


class NonConvex(Formulation):
    """Base of what is minimised by ``method="outer"``: write :meth:`bound`."""

    touching: ClassVar[bool] = True
    """Whether every bound touches the objective. If not, a bound that would raise the objective is
    not taken, and the run ends there."""
    margin_only: ClassVar[bool] = False
    """Whether only margin-rescaled families will do, since delta is not measured from gold."""

    def bound(self, data: DataSet, v: Floats, last: ConvexBound | None) -> ConvexBound:
        """Return the convex upper bound at weights v; ``last`` is the one before.

        Its value at v is the objective there. Return the data themselves (``last.data``) where
        nothing moves, so that the run goes on with its cuts and its solver.
        """
        raise IncompatibleError(f"{type(self).__name__} must define bound(data, v, last).")

    def start(self, data: DataSet) -> ConvexBound | None:
        """Return a convex programme whose solution is where to begin; by default weights of 0."""
        return None

    def master(self, m: Declaration) -> None:
        """Refuse: there is no one convex programme."""
        raise IncompatibleError(
            f"{type(self).__name__} is not convex: use method='outer', which solves a convex upper "
            "bound in every step."
        )


class Around(NonConvex):
    """Base of those that are built around a convex formulation.

    Its parameters are parameters here, too (``formulation__C``), for paths and grid searches.
    """

    formulation: Formulation

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the constructor's arguments, and those of the formulation inside."""
        own = super().get_params(deep)
        if not (deep and isinstance(self.formulation, Formulation)):
            return own
        inside = self.formulation.get_params()
        return own | {f"formulation__{name}": value for name, value in inside.items()}

    def set_params(self, **params: Any) -> Self:
        """Change arguments in place; the formulation inside is changed in a copy."""
        lead = "formulation__"
        inner = {k.removeprefix(lead): v for k, v in params.items() if k.startswith(lead)}
        super().set_params(**{k: v for k, v in params.items() if not k.startswith(lead)})
        if inner:
            self.formulation = copy.copy(self.formulation).set_params(**inner)
        return self
