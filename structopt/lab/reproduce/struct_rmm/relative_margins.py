"""StructSVM and StructRMM with C and B chosen on validation data, as their paper does it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from structopt.engines.dataset import DataSet
from structopt.formulations.struct_rmm import StructRMM
from structopt.formulations.struct_svm import StructSVM
from structopt.lab.harness.measure import solve
from structopt.lab.harness.study import Row
from structopt.lab.reproduce.number import Number, mean
from structopt.structures.base.oracles import best_other, worst

LIMIT = 30.0
"""CPU seconds that one machine may take; the best weights then count, and the run as unfinished.
Tight bounds at large C close their gap slowly."""
Errors = Callable[[Any, Any], tuple[float, float]]
"""A fitted structure and weights to the errors in percent on validation and test data."""


class Tried(NamedTuple):
    """One setting and its errors in percent."""

    C: float
    fraction: float
    validation: float
    test: float


def compare_margins(
    structure: Any,
    X: Any,
    Y: Any,
    errors: Errors,
    *,
    C: Sequence[float],
    fractions: Sequence[float],
    tol: float,
) -> dict[str, Any]:
    """Learn StructSVM for every C, and StructRMM with B at fractions of its largest projection.

    The setting that is best on validation data gives the error on test data, and the other way
    round; their mean counts. CPU seconds are those of one machine, means over the settings.
    """
    fitted = structure.fitted(X, Y)
    data = DataSet.of(fitted, X, Y)
    plain, relative, unfinished, cpu = [], [], 0, {"svm": 0.0, "rmm": 0.0}
    for c in C:
        solved = solve(fitted, StructSVM(c), data, tol=tol, time_limit=LIMIT)
        cpu["svm"] += solved.cpu
        result = solved.result
        unfinished += result.status != "optimal"
        plain.append(Tried(c, 1.0, *errors(fitted, result.weights)))
        largest = largest_projection(data, result.weights)
        for fraction in fractions if largest > 0 else ():
            solved = solve(
                fitted, StructRMM(c, fraction * largest), data, tol=tol, time_limit=LIMIT
            )
            cpu["rmm"] += solved.cpu
            bounded = solved.result
            unfinished += bounded.status != "optimal"
            relative.append(Tried(c, fraction, *errors(fitted, bounded.weights)))
    svm, rmm = chosen(plain), chosen(relative or plain)
    return {
        "svm": _both(plain),
        "rmm": _both(relative or plain),
        "svm_C": svm.C,
        "rmm_C": rmm.C,
        "rmm_fraction": rmm.fraction,
        "unfinished": unfinished,
        "svm_cpu": cpu["svm"] / len(plain),
        "rmm_cpu": cpu["rmm"] / max(1, len(relative)),
        "tried": [list(t) for t in [*plain, *relative]],
    }


EPS = 0.01
"""eps and eps_B of Algorithm 1, which the paper does not state."""
PRINTED, OURS = "Algorithm 1 as printed", "cutting planes"


def as_printed(
    structure: Any, X: Any, Y: Any, errors: Errors, *, C: float, fraction: float, tol: float
) -> dict[str, dict[str, float]]:
    """Learn one StructRMM by Algorithm 1 as printed (corrected), and by cutting planes to a gap.

    As printed the worst of the three sets of one example comes in, and the dual is solved again.
    """
    fitted = structure.fitted(X, Y)
    data = DataSet.of(fitted, X, Y)
    svm = solve(fitted, StructSVM(C), data, tol=tol, time_limit=LIMIT).result
    formulation = StructRMM(C, fraction * largest_projection(data, svm.weights))
    runs: dict[str, dict[str, Any]] = {
        PRINTED: {"method": "working-sets", "eps": EPS, "eps_B": EPS, "tol": 0.0},
        OURS: {"method": "cutting-plane", "tol": tol},
    }
    found = {}
    for name, options in runs.items():
        solved = solve(fitted, formulation, data, time_limit=LIMIT, **options)
        history, certificate = solved.result.history, solved.result.certificate
        found[name] = {
            "error": errors(fitted, solved.result.weights)[1],
            "cpu": solved.cpu,
            "cuts": float(history[-1].cuts),
            "gap": 100.0 * certificate.relative_gap,
        }
    return found


def printed_numbers(label: str, rows: Sequence[Row]) -> list[Number]:
    """Return what :func:`as_printed` found in cells of one task, in rows of their own."""
    return [
        Number(f"{label}, {name}", metric, mean(row["printed"][name][key] for row in rows))
        for name in ((PRINTED, OURS) if rows else ())
        for key, metric in (
            ("error", "error %"), ("cpu", "CPU s"), ("cuts", "cuts"), ("gap", "certified gap %"),
        )
    ]  # fmt: skip


def largest_projection(data: Any, weights: Any) -> float:
    """Return the largest ``|w . delta_i(y)|`` over all examples and outputs."""
    answers = [*data.ask(worst, weights), *data.ask(best_other, weights)]
    scores = np.concatenate([a.score for a in answers])
    return float(np.abs(scores[np.isfinite(scores)]).max(initial=0.0))


def chosen(tried: Sequence[Tried]) -> Tried:
    """Return the setting with the lowest error on validation data, the first of equal ones.

    >>> chosen([Tried(1, 1, 5.0, 9.0), Tried(10, 1, 4.0, 8.0), Tried(100, 1, 4.0, 7.0)]).C
    10
    """
    return min(tried, key=lambda t: t.validation)


def _both(tried: Sequence[Tried]) -> float:
    return (chosen(tried).test + min(tried, key=lambda t: t.test).validation) / 2
