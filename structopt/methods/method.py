"""What every method shares: rounds, budgets, callbacks, interruption, one Result.

A method does one round in :meth:`Method.step` and keeps the best weights and bounds. Going through
a method (``for record in method``) steps it until it ends; `solve` is a loop around that. `result`
and `state` may be asked for whenever a round is over.
"""

from __future__ import annotations

import logging
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Unpack

import numpy as np

from structopt.arrays import Floats
from structopt.engines.dataset import DataSet
from structopt.errors import (
    CertificateError,
    IncompatibleError,
    OracleError,
    OutOfMemoryError,
    OutOfTimeError,
    StructoptError,
)
from structopt.formulations.base import Formulation
from structopt.formulations.slack_groups import chosen
from structopt.master.declare import RestrictedMaster
from structopt.methods.abilities import check_abilities
from structopt.methods.options import check_taken, own_options
from structopt.methods.probe import probe
from structopt.methods.state import State
from structopt.methods.watcher import Iterate, Watcher
from structopt.parameters import check_params, checked
from structopt.run.certificate import FEASIBLE, Certificate, check_bounds
from structopt.run.checkpoint import Checkpoint
from structopt.run.events import Found, Round, relative
from structopt.run.interrupts import Interrupted, held_back, origin
from structopt.run.limits import NAMES, LimitOptions, Limits
from structopt.run.result import Result, Stop
from structopt.structures.base.oracles import Oracle
from structopt.structures.base.structure import Structure

logger = logging.getLogger(__name__)

UNPROVEN = "some oracle answers are not proven to be the best"
"""What a certificate says that rests on such answers."""


class Method(ABC):
    """Base of the methods.

    Parameters
    ----------
    structure : Structure
        Fitted: ``structure.fitted(X, Y)``.
    formulation : Formulation
    data : DataSet
        The encoded training data.
    **limits
        A :class:`~structopt.Limits` as ``limits``, or any of `tol`, `abs_tol`, `max_iter`,
        `time_limit` and `callbacks`, which then take the place of its own.

    Examples
    --------
    >>> import structopt as so
    >>> X, Y = so.datasets.make_chain_crf(8, n_features=5, n_relevant=3, seed=0)
    >>> structure = so.Chain().fitted(X, Y)
    >>> run = so.CuttingPlane(structure, so.M3N(C=0.5), so.DataSet.of(structure, X, Y), tol=1e-2)
    >>> first = run.step()
    >>> first.round, first.dual <= first.primal
    (1, True)
    >>> run.solve().status  # the other rounds
    'optimal'
    """

    name: ClassVar[str]
    _status: Stop | None
    _checkpoint: Checkpoint | None = None
    rounds: ClassVar[int] = 10_000
    """Rounds at most where no limit is given."""
    only_asks: ClassVar[bool] = False
    """Whether it does with what data that live elsewhere are asked (`engine`)."""

    def __init_subclass__(cls) -> None:
        """Let every method refuse options that are not what its constructor's annotations say."""
        if "__init__" in vars(cls):
            cls.__init__ = checked(cls.__init__)  # type: ignore[method-assign]

    def __init__(
        self,
        structure: Structure,
        formulation: Formulation,
        data: DataSet,
        **limits: Unpack[LimitOptions],
    ) -> None:
        self._began, self._driven = time.perf_counter(), time.process_time()
        self.check_options(limits)
        if not self.only_asks:
            data.check_here()
        given = limits.pop("limits", Limits())
        self.limits: Limits = replace(given, **limits)  # type: ignore[misc]
        self.structure, self.data = structure, data
        self._sample = data.sample()
        self._traffic = data.traffic  # by the end of the last round
        self.history: list[Round] = []
        self._weights: Floats = np.zeros(data.n_features)
        self._primal, self._dual, self._residual = np.inf, -np.inf, 0.0
        self._told, self._status = False, None  # by callbacks; why the last loop ended
        self._proven = True  # whether every oracle answer that a bound rests on is
        self._caveat = ""  # about what the formulation rests on
        self.formulation = formulation  # who asks, should resolving it be refused
        check_params(formulation)  # before it is resolved
        self.formulation = formulation.resolve(self._largest_projection)
        self.master = self._declare()

    @classmethod
    def options(cls) -> list[str]:
        """Return the names of the method's own options."""
        return list(own_options(cls))

    @classmethod
    def check_options(cls, given: Collection[str]) -> None:
        """Refuse options that the method does not take."""
        check_taken(cls.name, given, [*cls.options(), "limits", *NAMES])

    # ------------------------------------------------------------------ running
    @abstractmethod
    def step(self) -> Round:
        """Do one round, append its record to `history` and return it."""

    def __iter__(self) -> Iterator[Round]:
        """Step until certified, out of budget or stalled; yield the record of every round."""
        self._told = False
        for watcher in self._watchers():
            watcher.start(self)
        while not self._ended():
            record = self.step()
            self._told = self._told_to_stop(record)
            yield record
        self._check_data()
        if self._status == "optimal":
            probe(self.data, {family.oracle.base for family in self.master.families}, self._weights)

    def _check_data(self) -> None:
        """Refuse bounds that belong to data which are no longer there."""
        if self.data.sample() != self._sample:
            raise CertificateError(
                "The training data changed during the run, so nothing is proven: X (whose memory "
                "is used as it is, where that can be) and sample_weight must stay as they are "
                "until fit returns, and joint_features must give the same each time.",
                primal=self._primal,
                dual=self._dual,
            )

    def _ended(self) -> bool:
        """Return whether no round is to come, and remember why."""
        self._status = None
        if self.history:  # one round is the least that makes a model
            reasons: dict[Stop, bool] = {
                "optimal": self._done(),
                "early_stopping": self._told and self._chosen() is not None,
                "callback": self._told,
                "stalled": self._stalled(),
                "max_iter": len(self.history) >= (self.limits.max_iter or self.rounds),
                "time_limit": self.limits.reached(self._elapsed()),
            }
            self._status = next((status for status, holds in reasons.items() if holds), None)
        return self._status is not None

    def solve(self) -> Result:
        """Step until certified, out of budget, interrupted or stalled; return the best model."""
        with held_back() as ctrl_c:
            try:
                for _ in self:
                    if ctrl_c.take():
                        raise KeyboardInterrupt
            except (KeyboardInterrupt, SystemError) as error:
                # compiled functions that a second Ctrl-C strikes raise a SystemError because of it
                struck = origin(error) if isinstance(error, SystemError) else error
                if isinstance(struck, Interrupted):
                    raise struck from None
                if not isinstance(struck, KeyboardInterrupt):
                    raise
                ctrl_c.take()
                self._status = "interrupted"
            except OutOfTimeError:
                self._status = "time_limit"
                self._begin_anew()
            except MemoryError as error:
                said = f"Memory ran out in round {len(self.history) + 1}: {error}".rstrip(":. ")
                advice = "Try fewer examples or features, slacks='one', or another method."
                raise self._with_best(OutOfMemoryError(f"{said}. {advice}")) from error
            except StructoptError as error:
                if not ctrl_c.take():  # workers hear Ctrl-C too, and a pass without them fails
                    self._with_best(error)
                    raise
                self._status = "interrupted"
            if self._status == "interrupted":
                logger.warning("interrupted: returning the best model so far")
            return self.result()

    def _with_best(self, error: StructoptError) -> StructoptError:
        """Return an error that carries the best model so far, if there is one."""
        if np.isfinite(self._primal):
            # the base's: it asks no oracle, and one may be what failed
            result = Method._result(self, "stalled")
            if isinstance(error, OracleError | CertificateError):
                note = f"{type(error).__name__}: nothing is proven"
                result = replace(result, certificate=result.certificate.doubted(note))
            error.result = result
        return error

    def _begin_anew(self) -> None:
        """Leave a solver that did not return behind, and see that there is a model."""
        return

    def result(self) -> Result:
        """Return the best model so far; the status of a run that could go on is "callback"."""
        if self._status is None:
            self._ended()
        return self._result(self._status or "callback")

    @property
    def state(self) -> State:
        """What the run has found so far, for another one to begin with."""
        return State(self._weights, self._primal, self._dual, self._residual, tuple(self.history))

    def _told_to_stop(self, record: Round) -> bool:
        answers = [callback(record) for callback in self.limits.callbacks]  # every one hears of it
        return any(isinstance(answer, bool | np.bool_) and bool(answer) for answer in answers)

    def _watchers(self) -> list[Watcher]:
        return [c for c in self.limits.callbacks if isinstance(c, Watcher)]

    def iterate(self) -> Iterate:
        """Return where the last round led: its own weights, or the best so far."""
        return Iterate(self._weights, self._primal, self._residual)

    # ------------------------------------------------------------------ for the methods to use
    def _offer(self, weights: Floats, value: float, residual: float = 0.0) -> None:
        """Keep weights if they are feasible and their objective is the best so far."""
        if value < self._primal and residual <= FEASIBLE:
            self._primal, self._residual, self._weights = value, residual, weights.copy()

    def _record(
        self,
        *,
        value: float,
        violation: float,
        nonzeros: int,
        iterations: int,
        oracle_seconds: float,
        solve_seconds: float,
        lift_seconds: float = 0.0,
        cuts_added: int = 0,
        cuts_dropped: int = 0,
        cuts: int = 0,
        primal: float | None = None,
        found: Sequence[Found] = (),
    ) -> Round:
        """Write down a round; ``primal`` is the best value so far, where no bound is kept."""
        driven, moved = time.process_time(), self.data.traffic
        record = Round(
            round=len(self.history) + 1,
            primal=self._primal if primal is None else primal,
            dual=self._dual,
            value=value,
            violation=violation,
            cuts_added=cuts_added,
            cuts_dropped=cuts_dropped,
            cuts=cuts,
            nonzeros=nonzeros,
            iterations=iterations,
            oracle_seconds=oracle_seconds,
            lift_seconds=lift_seconds,
            solve_seconds=solve_seconds,
            seconds=self._elapsed(),
            driver_seconds=driven - self._driven,
            bytes_down=moved.down - self._traffic.down,
            bytes_up=moved.up - self._traffic.up,
            made=self._snapshot(),
            found=found,
        )
        self._driven, self._traffic = driven, moved
        self.history.append(record.kept(self.data.n_features))
        logger.debug("%s", record)
        if self.structure.exact and self._certain():
            check_bounds(self._primal, self._dual, self._residual)
        return record

    def _snapshot(self) -> Callable[[], Floats]:
        """Return what makes the weights that a round led to, whatever comes after it."""
        return partial(np.asarray, self.iterate().weights.copy())

    def _done(self) -> bool:
        near = relative(self._primal, self._dual) <= self.limits.tol
        return near or self._primal - self._dual <= self.limits.abs_tol

    def _stalled(self) -> bool:
        return False

    def _note(self) -> str:
        """Return what else a reader of the certificate should know."""
        return "" if self._proven else UNPROVEN

    def _notes(self) -> tuple[str, ...]:
        """Return what the structure and the data have to say."""
        return self.structure.note(), self.data.note()

    def _certain(self) -> bool:
        """Return whether both bounds are proofs."""
        return self._proven

    def _solved_by(self) -> dict[str, Any]:
        """Return the fields of the result that say who solved what, and with which cuts."""
        return {}

    def _chosen(self) -> tuple[Iterate, str] | None:
        return next((k for w in self._watchers() if (k := w.kept()) is not None), None)

    def _elapsed(self) -> float:
        return time.perf_counter() - self._began

    def _result(self, status: Stop) -> Result:
        best, note = Iterate(self._weights, self._primal, self._residual), self._note()
        chooses = status == "early_stopping" or not self._told
        if chooses and (kept := self._chosen()) is not None:
            best, note = kept[0], "; ".join(filter(None, (kept[1], note)))
        unsaved = "" if self._checkpoint is None else self._checkpoint.trouble
        certificate = Certificate(
            primal=best.value,
            dual=self._dual,
            tolerance=self.limits.tol,
            abs_tolerance=self.limits.abs_tol,
            residual=best.residual,
            exact=self.structure.exact and self._certain(),
            note="; ".join(filter(None, (note, self._caveat, *self._notes(), unsaved))),
        )
        return Result(
            weights=best.weights,
            certificate=certificate,
            history=tuple(self.history),
            status=status,
            seconds=self._elapsed(),
            method=self.name,
            **self._solved_by(),
        )

    def _largest_projection(self, formulation: Formulation) -> float:
        """Solve another formulation on the same data; return its largest |w . delta|."""
        raise IncompatibleError(
            f"{type(self.formulation).__name__} needs the solution of a "
            f"{type(formulation).__name__} first, which the method {self.name!r} does not look "
            "for: use method='cutting-plane'."
        )

    def _declared(self, base: Any = None) -> RestrictedMaster:
        """Declare the formulation; a master that is to be solved needs the base."""
        master = RestrictedMaster(
            self.data.n_examples,
            self.data.n_features,
            sample_weight=self.data.sample_weight,
            base=base,
            nonnegative=self.structure.nonnegative_weights(),
            names=self.structure.feature_names,
            starts=self.data.starts,
            auto=self._groups if self.data.base is None else None,
        )
        master.declare(self.formulation)
        return master

    def _groups(self) -> int:
        """Return how many groups share slacks by "auto", for data that live elsewhere."""
        data: Any = self.data
        n_shards = len(data.starts) - 1
        return chosen(data.n_examples, data.n_features, n_shards, data.cut_entries, data.nonzeros)

    def _declare(self) -> RestrictedMaster:
        """Declare and compile the formulation; refuse what the structure cannot answer."""
        master = self._declared(self.data.base)
        master.compile()
        self._check_abilities(
            type(self.formulation).__name__, *(family.oracle for family in master.families)
        )
        return master

    def _check_abilities(self, who: str, *oracles: Oracle) -> None:
        """Refuse oracles that the structure cannot answer."""
        check_abilities(who, oracles, self.structure, partial=bool(self.data.unknown.any()))
