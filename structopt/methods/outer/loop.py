r"""Outer loops: a convex upper bound is solved and certified, and the next one stands where it led.

    v_{t+1} = argmin_w Q_t(w),      F(v_{t+1}) = Q_{t+1}(v_{t+1}) <= Q_t(v_{t+1}) <= F(v_t) + gap_t.

The first inequality is checked in every step, the second is what the certificate of the inner solve
says: so the objective never rises by more than the certificates allow. With L_t the certified lower
bound of Q_t,

    F(v_t) - min_w Q_t(w)  <=  F(v_t) - L_t

measures how far v_t is from being stationary, and the loop ends when that is small. It is no bound
on the distance to the global optimum, for which there is none here.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple, Unpack

import numpy as np

from structopt.arrays import Floats, check_weights
from structopt.backends.base import Backend
from structopt.engines.dataset import DataSet
from structopt.errors import CertificateError, IncompatibleError
from structopt.formulations.base import Formulation
from structopt.methods.cutting_plane import CuttingPlane
from structopt.methods.method import Method
from structopt.methods.outer.carry import carried
from structopt.methods.outer.nonconvex import ConvexBound, NonConvex
from structopt.methods.state import State
from structopt.parameters import Seed
from structopt.run.certificate import Certificate
from structopt.run.events import Round
from structopt.run.limits import LimitOptions, Limits
from structopt.run.result import Rescue, Result, Stop  # noqa: F401  # Rescue: a field of both
from structopt.structures.base.oracles import loss_augmented
from structopt.structures.base.structure import Structure

INNER = 0.5
"""The share of the tolerance to which inner programmes are solved: their gap is a part of what is
measured."""

RISE = 1e-7
"""The share by which a bound may exceed the one before where it stands: roundings of oracles that
are asked from different anchors."""


class _Led(NamedTuple):
    """Where a step led: what the next bound says there, and what it takes over."""

    weights: Floats
    value: float
    moved: int
    carried: int
    last: bool


@dataclass(frozen=True)
class OuterStep:
    """One outer step.

    Attributes
    ----------
    before, after : float
        The objective where the step began, and where it led.
    certificate : Certificate
        Of the convex upper bound that was solved, without its constant.
    stationarity : float
        How far the objective where the step began lies above the certified lower bound of its
        convex upper bound.
    moved : int
        Examples whose completion or label is another one after the step.
    carried : int
        Cuts that the next step begins with.
    rounds : int
        Of the inner solve.

    Examples
    --------
    >>> import structopt as so
    >>> X, Y = so.datasets.make_chain_crf(8, n_features=5, n_relevant=3, seed=0)
    >>> model = so.StructuredClassifier(so.Chain(), so.RampLoss(so.M3N(C=0.5)), method="outer")
    >>> step = model.fit(X, Y).result_.steps[0]
    >>> step.after <= step.before + step.certificate.gap, step.rounds > 0
    (True, True)
    """

    before: float
    after: float
    certificate: Certificate
    stationarity: float
    moved: int
    carried: int
    rounds: int


@dataclass(frozen=True)
class OuterResult(Result):
    """A result with what each outer step did.

    Attributes
    ----------
    steps : tuple of OuterStep
    stationarity : float
        Of the returned weights: no convex upper bound there goes lower by more than this.

    Examples
    --------
    >>> import structopt as so
    >>> X, Y = so.datasets.make_chain_crf(8, n_features=5, n_relevant=3, seed=0)
    >>> model = so.StructuredClassifier(so.Chain(), so.RampLoss(so.M3N(C=0.5)), method="outer")
    >>> result = model.fit(X, Y).result_
    >>> isinstance(result, so.OuterResult), len(result.steps) > 0
    (True, True)
    """

    steps: tuple[OuterStep, ...] = ()
    stationarity: float = np.inf


class OuterLoop(Method):
    """Minimise what is not convex, by certified steps on convex upper bounds.

    In a :class:`~structopt.Round` of it `value` is the objective after the step, `violation` its
    stationarity, `iterations` the rounds of the inner solve and `cuts` those that were carried on.

    Parameters
    ----------
    structure, formulation, data, **limits
        See :class:`~structopt.Method`; the formulation is a :class:`~structopt.NonConvex`, `tol`
        the relative stationarity to stop at, and `max_iter` counts outer steps.
    backend : str or Backend
        Who solves the master problems.
    random_state : int, optional
        Seed of what the backend draws at random.
    warm_start : Result or State, optional
        Weights to begin at, instead of where the formulation says.

    Examples
    --------
    >>> import structopt as so
    >>> X, Y = so.datasets.make_chain_crf(n_examples=20, seed=0)
    >>> Y = [[None if t == 0 else label for t, label in enumerate(y)] for y in Y]
    >>> model = so.StructuredClassifier(so.Chain(), so.Latent(so.M3N(C=0.1)), method="outer")
    >>> result = model.fit(X, Y).result_
    >>> result.status, all(step.certificate.certified for step in result.steps)
    ('stationary', True)
    >>> all(step.after <= step.before + step.certificate.gap for step in result.steps)
    True
    """

    name = "outer"
    rounds = 100

    def __init__(
        self,
        structure: Structure,
        formulation: Formulation,
        data: DataSet,
        *,
        backend: str | Backend = "auto",
        random_state: Seed | None = None,
        warm_start: Result | State | None = None,
        **limits: Unpack[LimitOptions],
    ) -> None:
        super().__init__(structure, formulation, data, **limits)
        self._asked = (backend, random_state)
        self.steps: list[OuterStep] = []
        self._stationarity, self._proven, self._stuck = np.inf, True, False
        given = None if warm_start is None else warm_start.weights
        at = self._first_weights() if given is None else check_weights(given, data.n_features)
        self._bound = self._bound_at(at, None)
        self._run = self._begun(self._bound, State(at, np.inf, -np.inf, 0.0, ()))
        self._at, self._value = at, self._run.state.primal + self._bound.constant
        self._offer(at, self._value)

    @property
    def _nonconvex(self) -> NonConvex:
        assert isinstance(self.formulation, NonConvex), "others are refused"
        return self.formulation

    # ------------------------------------------------------------------ running
    def step(self) -> Round:
        """Solve the convex bound at the weights so far, and move it to where that led."""
        clock = time.perf_counter()
        run, constant = self._run, self._bound.constant
        start, before = self._at, self._value
        result = self._solved(run)
        certificate = result.certificate
        self._proven = self._proven and certificate.certified
        self._stuck = result.status not in ("optimal", "time_limit")
        lower, stationarity = certificate.dual + constant, before - certificate.dual - constant
        led = self._next(run, result.weights, certificate.primal + constant)
        if led.last:  # the bound stays where it is, and so does its lower bound
            kept = led.weights, led.value, led.value - lower
        elif self._near(stationarity, before):
            kept = start, before, stationarity
        else:
            kept = led.weights, led.value, np.inf
        self._weights, self._primal, self._stationarity = kept
        rounds = len(result.history)
        given = (before, led.value, certificate, stationarity, led.moved, led.carried, rounds)
        self.steps.append(OuterStep(*given))
        return self._record(
            value=led.value,
            violation=stationarity,
            nonzeros=int(np.count_nonzero(led.weights)),
            iterations=rounds,
            oracle_seconds=sum(r.oracle_seconds for r in result.history),
            solve_seconds=time.perf_counter() - clock,
            cuts=led.carried,
        )

    def _next(self, run: CuttingPlane, weights: Floats, value: float) -> _Led:
        """Put up the bound at weights where the last one has a value."""
        last = self._bound
        bound = self._bound_at(weights, last)
        cuts, moved = len(run.master.pool), 0
        if bound.data is last.data:
            if bound.formulation is last.formulation and bound.constant == last.constant:
                return _Led(weights, value, moved, cuts, last=True)
            warm = replace(run.state, weights=weights)
        else:
            found, moved = carried(run, bound)
            cuts, warm = len(found), State(weights, np.inf, -np.inf, 0.0, (), cuts=found)
        following = self._begun(bound, warm)
        after = following.state.primal + bound.constant
        if np.isinf(after):  # not known from weights alone: the bound before lies above it
            after = value
        if after > value + RISE * max(1.0, abs(value)):
            if not self._nonconvex.touching:  # no better labels: this is where it ends
                return _Led(weights, value, 0, cuts, last=True)
            raise CertificateError(
                f"The bound of {type(self.formulation).__name__} at new weights has the value "
                f"{after:.9g} there, above {value:.9g}, that of the bound before: one of them is "
                "no upper bound, or does not touch the objective where it stands.",
                primal=value,
                dual=after,
            )
        self._bound, self._run = bound, following
        self._at, self._value = weights, after
        return _Led(weights, after, moved, cuts, last=False)

    # ------------------------------------------------------------------ inside
    def _bound_at(self, weights: Floats, last: ConvexBound | None) -> ConvexBound:
        bound = self._nonconvex.bound(self.data, weights, last)
        if not isinstance(bound, ConvexBound):
            raise IncompatibleError(
                f"{type(self.formulation).__name__}.bound() gave {bound!r}: it must return a "
                "so.ConvexBound(formulation, data, constant)."
            )
        return bound

    def _begun(self, bound: ConvexBound, warm: State | None) -> CuttingPlane:
        limits = Limits(
            tol=INNER * self.limits.tol,
            abs_tol=INNER * self.limits.abs_tol,
            time_limit=self.limits.remaining(self._elapsed()),
        )
        backend, random_state = self._asked
        run = CuttingPlane(
            self.structure, bound.formulation, bound.data, backend=backend,
            random_state=random_state, warm_start=warm, limits=limits,
        )  # fmt: skip
        if self._nonconvex.margin_only:
            for family in run.master.families:
                if family.oracle is not loss_augmented:
                    raise IncompatibleError(
                        f"{type(self.formulation).__name__} measures delta from other outputs than "
                        f"gold, which has a meaning for margin-rescaled losses only; "
                        f"{type(bound.formulation).__name__} asks {family.oracle.name!r}: use M3N, "
                        "or StructSVM(rescale='margin')."
                    )
        return run

    def _solved(self, run: CuttingPlane) -> Result:
        run.limits = replace(run.limits, time_limit=self._remaining(run))
        result = run.solve()
        if result.status == "interrupted":
            raise KeyboardInterrupt
        return result

    def _remaining(self, run: CuttingPlane) -> float | None:
        left = self.limits.remaining(self._elapsed())
        return None if left is None else left + run._elapsed()

    def _first_weights(self) -> Floats:
        first = self._nonconvex.start(self.data)
        if first is None:
            return np.zeros(self.data.n_features)
        return self._solved(self._begun(first, None)).weights

    def _declare(self) -> Any:
        """Refuse what is convex; every bound has a master of its own."""
        if not isinstance(self.formulation, NonConvex):
            raise IncompatibleError(
                f"The method 'outer' minimises what is not convex (so.Latent, so.RampLoss, ..., a "
                f"subclass of so.NonConvex); {type(self.formulation).__name__} is: use "
                "method='cutting-plane'."
            )
        return None

    def _near(self, stationarity: float, value: float) -> bool:
        small = self.limits.tol * max(abs(value), 1e-12)
        return stationarity <= max(small, self.limits.abs_tol)

    def _done(self) -> bool:
        return self._near(self._stationarity, self._primal)

    def _stalled(self) -> bool:
        return self._stuck

    def _ended(self) -> bool:
        over = super()._ended()
        if self._status == "optimal":
            self._status = "stationary"
        return over

    def _certain(self) -> bool:
        return False  # of a global optimum nothing is known

    def _note(self) -> str:
        if not self._done():
            return "not stationary yet, and no statement about the global optimum"
        proof = "certified" if self._proven else "not certified in every step"
        return (
            f"a stationary point: no convex upper bound there is lower by more than "
            f"{self._stationarity:.3g} ({proof}); no statement about the global optimum"
        )

    def _notes(self) -> tuple[str, ...]:
        return (self.structure.note(),)  # what is unknown is not held fixed here

    def _solved_by(self) -> dict[str, Any]:
        return {"backend": self._run.backend.name}

    def _result(self, status: Stop) -> OuterResult:
        base = super()._result(status)
        given = {f.name: getattr(base, f.name) for f in fields(base)}
        return OuterResult(**given, steps=tuple(self.steps), stationarity=self._stationarity)
