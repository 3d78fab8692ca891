r"""The lower bound of a programme whose other terms are known in closed form.

    g(y) = gain - sum_k (h_k + c_k/2 |.|^2)*(pull_k - q_k) + the bound of the separable part

with the conjugates of :mod:`structopt.master.terms`. Where a norm stands alone (c_k = 0), all
multipliers are scaled down until its pull fits into the dual ball: what no solver has to repair.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from structopt.arrays import Floats
from structopt.master.cuts import Cuts
from structopt.master.lagrangian import Lagrangian, Priced
from structopt.master.program import Program
from structopt.master.split import Split
from structopt.master.terms import Term


class TermLagrangian(Lagrangian):
    """The dual function of a split programme."""

    def __init__(self, split: Split) -> None:
        self._split, plain = split, split.plain
        self._ridge = np.asarray(plain.P.diagonal())
        rest = np.ones(plain.size)
        rest[split.columns] = 0.0
        # for the rest the columns of the terms are held at 0
        super().__init__(replace(
            plain, P=sp.diags_array(rest * self._ridge, format="csc"), q=rest * plain.q,
            lb=np.where(rest > 0, plain.lb, 0.0), ub=np.where(rest > 0, plain.ub, 0.0),
        ))  # fmt: skip

    def price(self, rows: Cuts, cut_duals: Floats, static_duals: Floats | None) -> Priced:
        """Return what the bound needs of the multipliers; there are no static rows."""
        return super().price(rows, cut_duals, None)

    def value(self, priced: Priced, x: Floats) -> float:
        """Return a lower bound."""
        pull = priced.pull.copy()
        pull[self._split.columns] = 0.0
        flat = [term for term in self._split.terms if self._ridge[term.columns[0]] == 0.0]
        t = min((term.fits(priced.pull[term.columns]) for term in flat), default=1.0)
        rest = super().value(replace(priced, pull=t * pull, gain=t * priced.gain), x)
        return rest - sum(self._conjugate(term, t * priced.pull) for term in self._split.terms)

    def _conjugate(self, term: Term, pull: Floats) -> float:
        mine = term.columns
        v, c = (pull - self._split.plain.q)[mine], float(self._ridge[mine[0]])
        if c == 0.0:
            return term.conjugate(v)
        w = term.prox(v / c, 1.0 / c)
        return float(v @ w) - 0.5 * c * float(w @ w) - term.value(w)


def lagrangian_of(program: Program) -> Lagrangian:
    """Return the dual function of a programme, by its terms where they are known."""
    return Lagrangian(program) if program.split is None else TermLagrangian(program.split)
