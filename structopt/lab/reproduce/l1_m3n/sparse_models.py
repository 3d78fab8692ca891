r"""The six models of Zhu, Xing and Zhang (2009), each along its regularisation constants.

CRF, L2-CRF, L1-CRF      -log likelihood + C2 |w|^2 + C1 |w|_1
M3N                      1/2 |w|^2 + C sum of hinges
L1-M3N                   1/2 |w|_1 + C sum of hinges
LapM3N                   KL from a Laplace prior + C sum of hinges
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from structopt.arrays import Floats
from structopt.formulations.l1_m3n import L1M3N
from structopt.formulations.laplace_m3n import LaplaceM3N
from structopt.formulations.m3n import M3N
from structopt.lab.harness.measure import error_percent, learn
from structopt.lab.harness.study import Row, every, where
from structopt.lab.reproduce import curves
from structopt.lab.reproduce.number import Number, deviation, mean
from structopt.learn.baselines.crf import CRF
from structopt.learn.baselines.structured_crf import StructuredCRF
from structopt.learn.estimator import StructuredClassifier
from structopt.structures.chain.structure import Chain

MODELS = ("CRF", "L2-CRF", "L1-CRF", "M3N", "L1-M3N", "LapM3N")


def model_of(
    name: str,
    constant: float,
    labels: Sequence[Any],
    *,
    tol: float,
    max_iter: int,
    lam: float = 1e3,
) -> Any:
    """Return an estimator; ``constant`` is C2, C1, C or, for LapM3N, C of the L1-M3N it nears.

    ``lam`` is lambda of LapM3N.
    """
    if name.endswith("CRF"):
        given = {"CRF": (0.0, 0.0), "L2-CRF": (constant, 0.0), "L1-CRF": (0.0, constant)}[name]
        return CRF(*given, max_iter=max_iter, labels=labels)
    formulation, method = {
        "M3N": (M3N(C=constant), "auto"),
        "L1-M3N": (L1M3N(C=constant), "em"),
        # at 2 C sqrt(lam), a large lam makes the Laplace prior's pull that of 1/2 |w|_1
        "LapM3N": (LaplaceM3N(C=2.0 * constant * lam**0.5, lam=lam), "em"),
    }[name]
    return StructuredClassifier(
        Chain(labels=labels), formulation, method=method, tol=tol, max_iter=max_iter
    )


LAPLACE = (1e3, 1e5)
"""Values of lambda of LapM3N, each with every C."""


def settings(name: str, constants: Sequence[float]) -> list[tuple[float, float]]:
    """Return the constants of a model, each with a lambda; only LapM3N has several of these."""
    some = LAPLACE if name == "LapM3N" else LAPLACE[:1]
    return [(constant, lam) for lam in some for constant in constants]


def along(
    name: str,
    constants: Sequence[float],
    train: tuple[Any, Any],
    test: tuple[Any, Any],
    labels: Sequence[Any],
    *,
    tol: float,
    max_iter: int = 500,
) -> dict[str, Any]:
    """Learn one model at all its settings; return errors, CPU seconds, gaps and weights.

    Every other example of the test data is for validation: settings are chosen there, and the
    errors that count are those on the rest.
    """
    held, rest = ([part[start::2] for part in test] for start in (0, 1))
    errors, validation, seconds, gaps, weights = [], [], [], [], []
    for constant, lam in settings(name, constants):
        model = model_of(name, constant, labels, tol=tol, max_iter=max_iter, lam=lam)
        seconds.append(learn(model, *train))
        w, gap = weights_of(model)
        errors.append(error_percent(model.structure_, w, *rest))
        validation.append(error_percent(model.structure_, w, *held))
        gaps.append(gap)
        weights.append(w)
    return {
        "errors": errors, "validation": validation, "seconds": seconds, "gaps": gaps,
        "weights": weights,
    }  # fmt: skip


def weights_of(model: Any) -> tuple[Floats, float | None]:
    """Return the weights of any of the six, and the certified gap if there is one."""
    if isinstance(model, CRF | StructuredCRF):
        return model.weights_, None
    return model.result_.weights, model.result_.certificate.relative_gap


def best(rows: Sequence[Row], name: str) -> tuple[int, Number]:
    """Return the setting with the lowest mean error on validation data, and its test error."""
    here = where(rows, model=name)
    errors = np.array([row["errors"] for row in here], dtype=np.float64)
    if not len(errors):
        return 0, Number("", f"{name} %", None)
    k = int(np.mean([row["validation"] for row in here], axis=0).argmin())
    return k, Number("", f"{name} %", mean(errors[:, k]), deviation(errors[:, k]))


def at_their_best(
    rows: Sequence[Row], key: str, label: Callable[[Any], str], models: Sequence[str] = MODELS
) -> list[Number]:
    """Return the error of every model at its best constant, for each value of a key."""
    return [
        replace(best(where(rows, **{key: value}), model)[1], label=label(value))
        for value in every(rows, key)
        for model in models
    ]


def along_the_grid(rows: Sequence[Row], name: str) -> str:
    """Return the mean test errors of a model at all its constants, in words."""
    here = where(rows, model=name)
    means = np.mean([row["errors"] for row in here], axis=0) if here else []
    constants = here[0]["constants"] if here else []
    return ", ".join(f"{v:.1f} at {c:g}" for c, v in zip(constants, means, strict=True))


def spent(rows: Sequence[Row], models: Sequence[str] = MODELS) -> str:
    """Return a sentence on the mean CPU seconds of one fit at the chosen constants."""
    parts = []
    for name in models:
        if here := where(rows, model=name):
            k = best(here, name)[0]
            parts.append(f"{name} {mean(row['seconds'][k] for row in here):.3g}")
    return f"CPU seconds of one fit, mean over all sizes: {', '.join(parts)}."


def edges(rows: Sequence[Row], key: str, grid: Mapping[str, Sequence[float]]) -> str:
    """Return a sentence on the constants that were chosen, and which end the grid."""
    parts = []
    for name in MODELS:
        found = (best(where(rows, **{key: value}), name)[0] for value in every(rows, key))
        chosen = {settings(name, grid[name])[k] for k in found}
        values = {constant for constant, _ in chosen}
        at_edge = len(grid[name]) > 1 and values & {min(grid[name]), max(grid[name])}
        shown = ", ".join(
            f"{v:g}" + (f" at lambda {lam:g}" if name == "LapM3N" else "")
            for v, lam in sorted(chosen)
        )
        parts.append(f"{name} {shown}" + (" (an end of the grid)" if at_edge else ""))
    return "Constants with the lowest mean error on validation data: " + "; ".join(parts) + "."


def draw(numbers: Sequence[Number], figure: Any, x: str, lines: Sequence[str] = MODELS) -> None:
    """Draw errors against the number that their labels end with."""
    points = [
        {x: int("".join(c for c in n.label if c.isdigit())), n.metric.removesuffix(" %"): n.value}
        for n in numbers
    ]
    curves.draw(figure, points, x=x, lines=lines, ylabel="error %")
