"""Outputs as a polytope and as a distribution, where a structure offers them: equal enumeration."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.optimize import linprog

from structopt.arrays import Floats
from structopt.structures.base.oracles import loss_augmented
from structopt.structures.base.relaxation import Polytope
from structopt.testing.check import Check, fail
from structopt.testing.structure_case import StructureCase
from structopt.testing.structure_shards import ask

ERROR = 1e-6
"""What projections are asked for."""


def relaxation_at_gold_is_gold(case: StructureCase) -> None:
    """The gold point lies in the polytope, has the features of gold and no loss."""
    relaxed = ask(case.structure.encode(case.X, case.Y).relaxation)
    if relaxed is None:
        return
    total = sum(phi[gold] for phi, gold in zip(case.phi, case.gold, strict=True))
    if not case.near(relaxed.features(relaxed.gold), total):
        fail(f"features(gold) is {relaxed.features(relaxed.gold)}, expected {total}")
    losses = relaxed.loss_constant + _by_owner(relaxed, relaxed.loss * relaxed.gold, case)
    if not case.near(losses, np.zeros(len(case.X))):
        fail(f"the loss of gold is {losses}")
    _inside(relaxed.polytope(), relaxed.gold, "gold")


def relaxation_has_the_same_optimum(case: StructureCase) -> None:
    """Score plus loss over the polytope is as by enumeration; not less if not integral."""
    relaxed = ask(case.structure.encode(case.X, case.Y).relaxation)
    for w in case.weights if relaxed is not None else ():
        aim = relaxed.scores(w) + relaxed.loss
        z = _furthest(relaxed.polytope(), aim)
        found = float(aim @ z + relaxed.loss_constant.sum() - relaxed.scores(w) @ relaxed.gold)
        truth = sum(float(np.max(case.hinge(loss_augmented, i, w))) for i in range(len(case.X)))
        if found < truth - 1e-6 or (relaxed.integral and found > truth + 1e-6):
            fail(f"the polytope's optimum is {found}, truly {truth}; integral: {relaxed.integral}")
        if relaxed.integral and not case.near(relaxed.features(z) @ w, relaxed.scores(w) @ z):
            fail("scores and features of a vertex do not belong together")


def relaxation_projects(case: StructureCase) -> None:
    """project(z) lies in the polytope, and no point of it is nearer to z than the error allows."""
    relaxed = ask(case.structure.encode(case.X, case.Y).relaxation)
    if relaxed is None:
        return
    rows, rng = relaxed.polytope(), np.random.default_rng(case.seed)
    for scale in (0.5, 3.0):
        z = scale * rng.normal(size=len(relaxed.gold)) + relaxed.gold
        found = relaxed.project(z, error=ERROR)
        _inside(rows, found.point, "a projection")
        vertex = _furthest(rows, z - found.point)
        # (z - p)(v - p) <= 0 for the exact p and every v
        slip = float((z - found.point) @ (vertex - found.point))
        reach = np.linalg.norm(z - found.point) + np.linalg.norm(vertex - found.point)
        # squared distances round at 1e-16, so distances at 1e-8
        error = found.error + 1e-8 * (1 + np.linalg.norm(z - found.point))
        if found.error > 2 * ERROR or slip > 4 * error * reach:
            fail(f"a projection is {slip} from optimal and reports an error of {found.error}")
        again = relaxed.project(z, error=ERROR, state=found.state).point
        loose = relaxed.project(z, error=0.3)
        _inside(rows, loose.point, "a loose projection")
        apart = np.linalg.norm(again - found.point), np.linalg.norm(loose.point - found.point)
        if apart[0] > 2 * error + ERROR or apart[1] > loose.error + error:
            fail(f"projections are {apart} apart: from a state, and with an error of {loose.error}")
    again = relaxed.project(relaxed.gold, error=ERROR).point
    if np.linalg.norm(again - relaxed.gold) > 2 * ERROR:
        fail("a point of the polytope is not its own projection")


def expectations_are_sums_over_outputs(case: StructureCase) -> None:
    """expected(w, b, cost) is what summing exp(w . phi + b loss) over all outputs gives."""
    shard = case.structure.encode(case.X, case.Y)
    cost = np.random.default_rng(case.seed).uniform(0.5, 2.0, size=len(case.X))
    for w in (*case.weights, 1000 * case.weights[-1]):  # large scores do not overflow
        for b in (0.0, 0.7):
            found = ask(shard.expected, w, b, cost)
            if found is None:
                return
            features, loss, partition = np.zeros(len(w)), 0.0, 0.0
            for i, phi in enumerate(case.phi):
                delta = phi - phi[case.gold[i]]
                log = delta @ w + b * case.losses[i]
                mass = np.exp(log - log.max())
                features += cost[i] * (mass / mass.sum()) @ delta
                loss += cost[i] * float(mass / mass.sum() @ case.losses[i])
                partition += cost[i] * float(np.log(mass.sum()) + log.max())
            if not (
                case.near(found.features, features)
                and case.near(found.loss, loss)
                and case.near(found.log_partition, partition)
            ):
                fail(f"expected gives {found}, expected {features}, {loss}, {partition}")


def marginals_are_sums_over_outputs(case: StructureCase) -> None:
    """marginals(X, w) is, for every part, the probability of each label."""
    if "marginals" not in case.structure.abilities():
        return
    labels: list[Any] = list(case.structure.labels_)  # type: ignore[attr-defined]
    for w in case.weights:
        for i, found in enumerate(case.structure.marginals(case.X, w)):
            score = case.phi[i] @ w
            mass = np.exp(score - score.max())
            parts = [_listed(y) for y in case.outputs[i]]
            truth = np.zeros((len(parts[0]), len(labels)))
            for y, p in zip(parts, mass / mass.sum(), strict=True):
                for t, label in enumerate(y):
                    truth[t, labels.index(label)] += p
            if not case.near(np.reshape(found, truth.shape), truth):
                case.wrong(i, w, f"marginals {found}, by enumeration {truth}")


def _listed(y: Any) -> list[Any]:
    """Return the labels of an output, in the order of its parts."""
    if isinstance(y, Mapping):
        return list(y.values())
    return list(y) if isinstance(y, list | tuple) else [y]


def _by_owner(relaxed: Any, values: Floats, case: StructureCase) -> Floats:
    return np.asarray(np.bincount(relaxed.owner, values, minlength=len(case.X)), np.float64)


def _inside(rows: Polytope, z: Floats, what: str) -> None:
    over = rows.A @ z - rows.b
    if np.any(z < 0) or np.any(over > 1e-9) or np.any(np.abs(over[rows.equality]) > 1e-9):
        fail(f"{what} lies outside the polytope by {max(float(over.max()), float(-z.min()))}")


def _furthest(rows: Polytope, aim: Floats) -> Floats:
    """Return a vertex of the polytope that maximises ``aim . z``."""
    equal = rows.equality
    found = linprog(
        -aim,
        A_ub=rows.A[~equal] if np.any(~equal) else None,
        b_ub=rows.b[~equal] if np.any(~equal) else None,
        A_eq=rows.A[equal] if np.any(equal) else None,
        b_eq=rows.b[equal] if np.any(equal) else None,
        method="highs-ds",
    )
    if found.x is None:
        fail(f"the polytope has no optimum: {found.message}")
    return np.asarray(found.x)


CHECKS: tuple[Check, ...] = (
    relaxation_at_gold_is_gold,
    relaxation_has_the_same_optimum,
    relaxation_projects,
    expectations_are_sums_over_outputs,
    marginals_are_sums_over_outputs,
)
