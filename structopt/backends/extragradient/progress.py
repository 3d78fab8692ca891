"""A table of progress, a line at looks 1, 2, 4, 8, ... and at the end."""

from __future__ import annotations

from collections.abc import Callable

from structopt.backends.extragradient.outcome import Callback, Iterate, Solution
from structopt.master.program import Program

_HEADER = (
    "    step  restarts  products  primal objective   dual objective   primal res.  dual res."
    "   error     weight"
)


class Table:
    """A callback that writes lines, and asks another one.

    Parameters
    ----------
    write : callable
        Gets each line.
    problem : Program
    callback : callable, optional

    Examples
    --------
    >>> import numpy as np, scipy.sparse as sp
    >>> from structopt.backends.extragradient.solver import solve
    >>> p = Program(P=sp.csr_array((2, 2)), q=np.ones(2), l1=np.zeros(2),
    ...             A=sp.csr_array([[1.0, 2.0]]), lower=np.array([4.0]), upper=np.array([np.inf]),
    ...             lb=np.zeros(2), ub=np.full(2, np.inf))
    >>> table = Table(print, p)
    Extragradient: 2 columns, 1 rows, 2 entries
    >>> table.end(solve(p, callback=table, without=["presolve"]))
        step  restarts ...
          40         0 ...
    optimal: error ... after ... steps, ... restarts, ... products, ... s
    """

    def __init__(
        self, write: Callable[[str], None], problem: Program, callback: Callback | None = None
    ) -> None:
        self._write, self._callback, self._looks = write, callback, 0
        rows, columns = problem.A.shape
        entries = problem.A.nnz + problem.P.nnz
        write(f"Extragradient: {columns:,} columns, {rows:,} rows, {entries:,} entries")

    def __call__(self, it: Iterate) -> bool | None:
        """Write a line now and then."""
        if not self._looks:
            self._write(_HEADER)
        self._looks += 1
        if self._looks & (self._looks - 1) == 0:
            self._write(
                f"{it.iteration:8d}  {it.restarts:8d}  {it.products:8d}  {it.primal: .9e}  "
                f"{it.dual: .9e}  {it.primal_residual:.1e}      {it.dual_residual:.1e}     "
                f"{it.error:.1e}  {it.weight:.1e}"
            )
        return None if self._callback is None else self._callback(it)

    def end(self, found: Solution) -> None:
        """Write why it ended."""
        self._write(
            f"{found.status.replace('_', ' ')}: error {found.error:.1e} after "
            f"{found.iterations:,} steps, {found.restarts} restarts, {found.products:,} products, "
            f"{found.seconds:.2f} s" + (f" ({found.reason})" if found.reason else "")
        )
