r"""An audit: what a certificate rests on, computed a second time in other ways.

* The objective at the weights, from raw features: every example asked through the per-example
  methods of its structure, joint features and losses computed anew.
* The oracles, on some examples: asked at several weights, with and without gold, and compared with
  each other, with the networkx reference of the structure, and with all outputs where they are few.
* The bounds: none may contradict the recomputed objective; where all examples together have few
  outputs, the whole problem is written out in CVXPY, and its optimum must lie between them.

>>> import structopt as so
>>> X, Y = so.datasets.make_chain_crf(n_examples=6, n_features=4, n_relevant=2, length=3, seed=0)
>>> model = so.StructuredClassifier(so.Chain(), so.M3N(C=0.5)).fit(X, Y)
>>> found = so.audit(model, X, Y)
>>> found.agrees, found.compared["networkx"], found.compared["enumeration"]
(True, 6, 6)
"""

from __future__ import annotations

import copy
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from structopt.arrays import Floats, as_floats, as_sequence, count
from structopt.engines.dataset import DataSet
from structopt.errors import IncompatibleError, InvalidInputError, StructoptError
from structopt.formulations.base import Formulation
from structopt.master.separation import separate
from structopt.methods.cutting_plane import CuttingPlane
from structopt.methods.nearest_feasible import nearest_feasible
from structopt.methods.probe import OTHERS, QUESTIONS, Beaten, Known, beaten, trial_weights
from structopt.parameters import Count, Seed, checked
from structopt.run.certificate import contradicts
from structopt.run.result import Result
from structopt.structures.base.example_shard import ExampleShard
from structopt.structures.base.oracles import Oracle
from structopt.structures.base.small import Small
from structopt.structures.base.structure import Structure, check_lengths
from structopt.testing.full_problem import FullProblem
from structopt.testing.structure_case import StructureCase

_EQUAL = 1e-6
"""Relative difference up to which numbers computed in two ways count as equal."""
_FEW, _ALL = 256, 2000
"""Outputs of one example, and of all together, up to which they are listed."""


@dataclass(frozen=True)
class Audit:
    """What an audit found.

    Attributes
    ----------
    objective, claimed : float
        The objective at the weights, recomputed (NaN where that cannot be), and the certificate's.
    optimum : float or None
        Of the whole problem written out, where it is small.
    compared : mapping of str to int
        Examples whose answers were compared, by what with.
    skipped : tuple of str
        What could not be looked at, and why.
    disagreements : tuple of str
        What does not agree; empty if all does.
    """

    objective: float
    claimed: float
    optimum: float | None
    compared: Mapping[str, int]
    skipped: tuple[str, ...]
    disagreements: tuple[str, ...]

    @property
    def agrees(self) -> bool:
        """Whether nothing was found that contradicts the certificate."""
        return not self.disagreements

    def __repr__(self) -> str:
        by = ", ".join(f"{n} by {what}" for what, n in self.compared.items()) or "none"
        lines = [
            f"Audit: {'agrees' if self.agrees else 'DISAGREES'}",
            f"  objective {self.objective:.9g} from raw features, {self.claimed:.9g} certified",
            f"  examples compared: {by}",
        ]
        if self.optimum is not None:
            lines.append(f"  the whole problem, written out: {self.optimum:.9g}")
        lines += [f"  not looked at: {what}" for what in self.skipped]
        return "\n".join(lines + [f"  - {wrong}" for wrong in self.disagreements])


@checked
def audit(
    fitted: Any,
    X: Any,
    Y: Any,
    *,
    structure: Structure | None = None,
    formulation: Formulation | None = None,
    sample_weight: Any = None,
    examples: Count = 20,
    random_state: Seed = 0,
) -> Audit:
    """Check a certificate a second time, on the data that the model was trained on.

    Parameters
    ----------
    fitted : StructuredClassifier or Result
        A fitted model, or what a method returned; then `structure` (fitted) and `formulation` too.
    X, Y : sequences
        The training data.
    structure, formulation : optional
        Those of the model by default.
    sample_weight : array, optional
        As in training.
    examples : int
        Examples whose oracles are asked again.
    random_state : int
        Which ones, and at which weights.

    Returns
    -------
    Audit
    """
    result = fitted if isinstance(fitted, Result) else getattr(fitted, "result_", None)
    if not isinstance(result, Result):
        raise InvalidInputError(
            f"An audit looks at a fitted model or a Result; got {type(fitted).__name__}."
        )
    if not isinstance(fitted, Result):
        structure = fitted.structure_ if structure is None else structure
        formulation = fitted.formulation if formulation is None else formulation
        X, Y = fitted._inputs(X), fitted._check_target(Y)
    if structure is None or formulation is None:
        raise IncompatibleError("An audit of a Result needs structure= (fitted) and formulation=.")
    X, Y = as_sequence(X), as_sequence(Y)
    check_lengths(X, Y)
    X = [X[[i]] for i in range(count(X))] if sp.issparse(X) else X
    return _Auditor(structure, formulation, X, Y, sample_weight).run(
        result, examples, np.random.default_rng(random_state)
    )


class _Auditor:
    """Goes through an audit and writes down what it finds."""

    def __init__(
        self, structure: Structure, formulation: Formulation, X: Any, Y: Any, sample_weight: Any
    ) -> None:
        self.structure, self.X, self.Y = structure, X, Y
        self.formulation = formulation.resolve(_unresolved)
        given = np.ones(len(Y)) if sample_weight is None else sample_weight
        self.weight = as_floats(given, "sample_weight")
        shards = [ExampleShard(structure, X, Y, 0)]
        n, exact = structure.n_features_, structure.exact
        self.raw = DataSet(shards, n, sample_weight=self.weight, exact=exact)
        self.compared: Counter[str] = Counter()
        self.skipped: list[str] = []
        self.wrong: list[str] = []

    def run(self, result: Result, examples: int, rng: np.random.Generator) -> Audit:
        """Do all of it."""
        weights, c = result.weights, result.certificate
        master = CuttingPlane(self.structure, self.formulation, self.raw).master
        some = rng.choice(len(self.Y), size=min(examples, len(self.Y)), replace=False)
        for oracle in {family.oracle.base for family in master.families}:
            if oracle not in QUESTIONS:
                self.skipped.append(f"{oracle.name!r}, whose question is not known here")
                continue
            for i in np.sort(some).tolist():
                self._example(oracle, i, trial_weights(self.structure, weights, rng))
        value = np.nan
        if any(family.asked is not None for family in master.families):
            self.skipped.append(
                "the objective at the weights: a rule multiplies delta by other variables too, "
                "whose values a result does not keep"
            )
        else:
            value = self._objective(master, weights)
        if value > c.primal + _EQUAL * max(abs(c.primal), abs(value)):
            self.wrong.append(f"the objective is {value:.9g}, above the upper bound {c.primal:.9g}")
        if not np.isnan(value) and contradicts(value, c.dual, max(c.residual, _EQUAL)):
            self.wrong.append(f"the objective is {value:.9g}, below the lower bound {c.dual:.9g}")
        optimum = self._optimum()
        if optimum is not None:
            room = _EQUAL * max(1.0, abs(optimum))
            if not c.dual - room <= optimum <= c.primal + room:
                self.wrong.append(
                    f"the optimum is {optimum:.9g}, outside {c.dual:.9g} .. {c.primal:.9g}"
                )
        skipped, wrong = tuple(self.skipped), tuple(self.wrong)
        return Audit(value, c.primal, optimum, dict(self.compared), skipped, wrong)

    def _example(self, oracle: Oracle, i: int, trials: list[Floats]) -> None:
        """Compare the answers for one example."""
        x, gold, mine = self.X[i], self.Y[i], self.structure
        shard = mine.encode([x], [gold], start=i)
        answers = shard.ask(oracle, trials[1])
        excess = 0.0 if answers.excess is None else float(answers.excess[0])
        if not (mine.exact and answers.exact):
            self.skipped.append(f"{oracle.name!r} of example {i}: not claimed to be exact")
            return
        more = []
        for by, outputs in (("networkx", self._reference), ("enumeration", self._listed)):
            found = outputs(oracle, x, gold, trials[1])
            more += found
            self.compared[by] += bool(found)
        self.compared["its own answers"] += 1
        right = Known.of(mine, x, gold, gold)
        known = [Known.of(mine, x, gold, y) for y in more]
        claimed = (
            float(oracle.hinge(answers.loss, answers.score)[0])
            if np.isfinite(answers.score[0])
            else -np.inf
        )
        most = claimed + abs(float(oracle.scale(answers.loss)[0])) * excess
        for k in known:
            value, size = k.value(oracle, right, trials[1])
            if (oracle not in OTHERS or k.loss > 0) and value - most > _EQUAL * max(1.0, size):
                said = Beaten(oracle, "its answer", most, k.output, value)
                self.wrong.append(f"example {i}: {said}")
                return
        if excess == 0.0:
            for said in beaten(mine, oracle, x, gold, trials, *more):
                self.wrong.append(f"example {i}: {said}")
                return

    def _reference(self, oracle: Oracle, x: Any, gold: Any, weights: Floats) -> list[Any]:
        """Return the answer of the networkx reference, where the structure has one."""
        if getattr(self.structure, "decoder", None) != "compiled":
            return []
        other = copy.copy(self.structure)
        other.decoder = "networkx"  # type: ignore[attr-defined]
        answer = other.answer(oracle, x, gold, weights)
        return [] if answer is None else [answer]

    def _listed(self, oracle: Oracle, x: Any, gold: Any, weights: Floats) -> list[Any]:
        """Return all outputs of an example, where they are few."""
        if "k_best" not in self.structure.abilities():
            return []
        found = self.structure.k_best(x, 0.0 * weights, _FEW + 1)
        return found if len(found) <= _FEW else []

    def _objective(self, master: Any, weights: Floats) -> float:
        """Return the objective at weights, every example asked by itself."""
        x = np.zeros(master.size)
        x[master.weight_columns] = weights
        x = nearest_feasible(master, x)
        found = separate(master, self.raw, x)
        if np.isinf(found.value):  # hard families, broken by roundings: a hair inside
            inside = separate(master, self.raw, nearest_feasible(master, 0.0 * x)).inside
            found = separate(master, self.raw, x, inside)
        return found.value

    def _optimum(self) -> float | None:
        """Return the optimum of the whole problem, where it is small enough to be written out."""
        most = _ALL // len(self.Y)
        if "k_best" not in self.structure.abilities() or most < 2:
            return None
        if type(self.structure).beside is not Structure.beside:
            self.skipped.append("the whole problem, written out: features depend on gold")
            return None
        nothing, few = np.zeros(self.structure.n_features_), min(most, _FEW)

        def outputs(x: Any) -> list[Any]:
            return self.structure.k_best(x, nothing, few + 1)

        listed = [outputs(x) for x in self.X]
        if any(len(found) > few for found in listed):
            return None
        case = StructureCase(Small(self.structure, self.X, self.Y, outputs))
        pairs = zip(self.Y, listed, strict=True)
        case.outputs = [[self.structure.beside(gold, y) for y in found] for gold, found in pairs]
        try:
            return FullProblem(case, self.formulation, self.weight).optimum()
        except StructoptError as error:
            self.skipped.append(f"the whole problem, written out: {error}")
            return None


def _unresolved(formulation: Formulation) -> float:
    raise IncompatibleError(
        "The formulation takes a number from another run: hand the audit one that has it, "
        "formulation=so.StructRMM(B=...)."
    )
