r"""Is there a point at all? Bounded least squares, whose residual is the answer.

    min 1/2 |A x - s|^2   over   lb <= x <= ub,  lower <= s <= upper

ends at 0, at a point that satisfies everything; or at r = s - A x, with A'r = 0 on the columns
strictly within their bounds, of the sign that holds the others, and r of the signs of the sides it
is at: r is then a proof that there is no point (:mod:`.rays`), whose value is |r|^2. An iterate of
the saddle point's method within a tolerance says nothing of that: where rows miss each other by
less, it stands still there, and "optimal" would be said of a programme without a point.

The method is the active set's for bounded least squares (Lawson and Hanson; Bierlaire, Toint and
Tuyttens): some projected gradient steps choose which columns are free, conjugate gradients solve
for those, the step is cut off at the bounds or, if that does not help, at the best of the places
where it meets one; what is at its bound then leaves, until a whole step fits.

>>> import numpy as np, scipy.sparse as sp
>>> p = Program(P=sp.csr_array((2, 2)), q=np.zeros(2), l1=np.zeros(2),
...             A=sp.csr_array([[1.0, 1.0]]), lower=np.array([3.0]), upper=np.array([np.inf]),
...             lb=np.zeros(2), ub=np.ones(2))
>>> search = Feasibility(p, np.zeros(2))
>>> search.seek(1000.0)
array([1.])
>>> search.x, search.found
(array([1., 1.]), False)

It is asked of the problem given, not of the presolved one: for the presolve, rows that miss each
other by 1e-9 do so by rounding.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from structopt.arrays import Floats
from structopt.backends.extragradient.norm import largest
from structopt.backends.extragradient.polish_kernels import least_squares
from structopt.backends.extragradient.rays import TRIES, infeasibility, proves_infeasible
from structopt.backends.extragradient.scaling import Scale, parts
from structopt.master.program import Program

Bools = NDArray[np.bool_]

TINY = 1e-13
"""A residual of this share of 1 + |x| is rounding."""
STEPS, HELPS, LOOSE, FIT = 3, 0.9, 1e-3, 1e-13
"""Projected gradient steps in a row; what a step cut off at the bounds must bring the square down
to; residual of the conjugate gradients, before and after a step fits."""
STILL, ROUNDS = 1e-6, 3
"""What a round must take off the square, as a share of it, to have moved; rounds in a row without
that, after which the search has come as far as floats go: rows that miss each other by 1e-10."""
LONGEST, WORK = 4, 5e8
"""Products of one least squares, as a multiple of rows and columns; multiplications (some tenths of
a second) that one search may take."""


class Feasibility:
    """The search of one problem, which can be gone on with.

    Parameters
    ----------
    problem : Program
    x : array
        Where to begin.

    Attributes
    ----------
    found : bool
        Whether there is a point.
    spent : int
        Products.
    least : float
        Products that one search may take.
    """

    def __init__(self, problem: Program, x: Floats) -> None:
        self.given, self.scale = problem, Scale.of(problem)
        self.problem = p = self.scale.apply(problem)
        self.least = WORK / (1 + p.A.nnz + len(p.lower))
        norm, _, self.spent = largest(p.A, None)
        x = self.scale.into(x, np.zeros(len(p.lower)))[0]
        m, n = p.A.shape
        between = np.flatnonzero(p.lower != p.upper)  # rows with a slack s of their own
        slacks = sp.csr_array(
            (-np.ones(len(between)), (between, np.arange(len(between)))), (m, len(between))
        )
        self._A = sp.csr_array(sp.hstack([p.A, slacks]))
        self._At = sp.csr_array(self._A.T)
        self._sides = parts(self._A), parts(self._At)
        self._low = np.concatenate([p.lb, p.lower[between]])
        self._high = np.concatenate([p.ub, p.upper[between]])
        self._right = np.where(p.lower == p.upper, p.lower, 0.0)
        self._shorten = 1.0 / (norm * norm + 1.0)
        self._most, self._rows = LONGEST * (m + n), np.ones(m, dtype=bool)
        self._columns = n
        self._stand(np.clip(np.concatenate([x, (p.A @ x)[between]]), self._low, self._high))
        self.found, self._until = False, 0.0
        self._open: Bools | None = None  # the columns whose least squares is under way
        self._fit = LOOSE

    @property
    def x(self) -> Floats:
        """The point so far."""
        return self.scale.back(self._z[: self._columns], self._right)[0]

    def seek(self, products: float) -> Floats | None:
        """Search on for some products; return multipliers that prove that there is no point.

        Otherwise :attr:`found` says whether there is a point.
        """
        self._until = self.spent + products
        least, still = np.inf, 0
        while self.spent < self._until and still < ROUNDS:
            if self._satisfied():
                self.found = True
                return None
            if self._open is None:
                for _ in range(STEPS):
                    self._stand(self._cut(self._shorten * self._pull()))
                    self.spent += 1
                self._open, self._fit = self._face(self._pull()), LOOSE
            if not self._solves(self._open):
                return None
            self._open = None
            still = still + 1 if self._square >= (1.0 - STILL) * least else 0
            least = min(least, self._square)
            if not self._satisfied():
                ray = self._ray()
                if ray is not None and proves_infeasible(self.given, ray):
                    return ray
        return None

    # ------------------------------------------------------------------ the active set
    def _stand(self, z: Floats) -> None:
        self._z, self._r = z, self._right - self._A @ z
        self._square = float(self._r @ self._r)

    def _satisfied(self) -> bool:
        return bool(self._square**0.5 <= TINY * (1.0 + float(np.linalg.norm(self._z))))

    def _pull(self) -> Floats:
        self.spent += 1
        return np.asarray(self._At @ self._r)

    def _cut(self, step: Floats) -> Floats:
        return np.asarray(np.clip(self._z + step, self._low, self._high))

    def _face(self, pull: Floats) -> Bools:
        """Return the columns that may move: within their bounds, or pulled away from one."""
        z = self._z
        free: Bools = ((z > self._low) | (pull > 0)) & ((z < self._high) | (pull < 0))
        return free

    def _solves(self, face: Bools) -> bool:
        """Solve the least squares of some columns, less those that come to a bound; if in time."""
        while self.spent < self._until:
            step, most = np.zeros(len(self._z)), min(self._most, int(self._until - self.spent) + 2)
            self.spent += least_squares(
                *self._sides, self._rows, face, self._r.copy(), step, most, self._fit
            )
            beyond = face & ((self._z + step < self._low) | (self._z + step > self._high))
            was = self._z, self._r, self._square
            self._stand(self._cut(step))
            self.spent += 1
            if beyond.any():
                if self._square >= HELPS * was[2]:
                    self._z, self._r, self._square = was
                    beyond = self._to_bound(face, beyond, step)
                face &= ~beyond
            elif self._fit == LOOSE:
                self._fit = FIT
            else:
                return True
        return False

    def _to_bound(self, face: Bools, beyond: Bools, step: Floats) -> Bools:
        """Go to the best of some places where a bound is met; return which columns met theirs."""
        with np.errstate(divide="ignore", invalid="ignore"):
            room = np.where(step > 0, self._high - self._z, self._low - self._z) / step
        room = np.where(face & (step != 0), np.maximum(room, 0.0), np.inf)
        room[beyond] = np.minimum(room[beyond], 1.0)  # or just above, by rounding
        places = np.sort(room[room <= 1.0])
        which = np.unique((len(places) - 1) // 2 ** np.arange(8))
        start, best, length = self._z, (self._z, self._r, self._square), places[0]
        for place in places[np.append(0, which)].tolist():
            self._z = start
            self._stand(self._cut(place * step))
            self.spent += 1
            if self._square <= best[2]:
                best, length = (self._z, self._r, self._square), place
        self._z, self._r, self._square = best
        return np.asarray(room <= length)

    # ------------------------------------------------------------------ the proof
    def _ray(self) -> Floats | None:
        """Return the residual, moved to where A'r is 0 on the columns within their bounds."""
        r = self._r / np.max(np.abs(self._r))
        free = (self._z > self._low) & (self._z < self._high)
        for _ in range(TRIES):
            off, moved = np.where(free, self._At @ r, 0.0), np.zeros(len(r))
            at, a = self._sides[1], self._sides[0]
            most = min(self._most, max(2, int(self._until - self.spent)))
            self.spent += 2 + least_squares(at, a, free, r != 0, -off, moved, most, FIT)
            ray = infeasibility(self.problem, np.where(r * (r + moved) > 0, r + moved, 0.0))
            if ray is None or not ray.near:
                return None
            if ray.proves:
                y = self.scale.back(np.zeros(self._columns), ray.direction)[1]
                return np.asarray(y / np.max(np.abs(y)))
            free[: self._columns] |= ray.wrong  # a slope that is 0 but for rounding
            r = ray.direction
        return None
