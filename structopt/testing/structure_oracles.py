"""One example at a time: what a structure answers is what a look at every output answers."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from structopt.arrays import Floats
from structopt.errors import IncompatibleError
from structopt.structures.base.oracles import (
    best_other,
    loss_augmented,
    other_augmented,
    slack_rescaled,
)
from structopt.testing.check import Check, fail
from structopt.testing.structure_case import StructureCase, dense, same


def loss_is_zero_at_gold_only(case: StructureCase) -> None:
    """loss(gold, y) is finite, >= 0, 0 at gold, and above 0 at every other output."""
    for i, gold in enumerate(case.Y):
        for k, y in enumerate(case.outputs[i]):
            loss = case.structure.loss(gold, y)
            if not (np.isfinite(loss) and (loss == 0 if k == case.gold[i] else loss > 0)):
                fail(f"loss({gold!r}, {y!r}) is {loss} on example {i}")
            if not case.near(loss, case.losses[i][k]):
                fail(f"loss({gold!r}, {y!r}) is {loss}, expected {case.losses[i][k]}")


def features_are_finite_rows(case: StructureCase) -> None:
    """joint_features gives n_features_ finite numbers for every output, the expected ones."""
    for i, x in enumerate(case.X):
        for k, y in enumerate(case.outputs[i]):
            row = dense(case.structure.joint_features(x, y))
            if row.shape != (case.structure.n_features_,) or not np.all(np.isfinite(row)):
                fail(f"joint_features of example {i} and {y!r} is {row}")
            if not case.near(row, case.phi[i][k]):
                fail(f"joint_features of example {i}, {y!r}: {row}, expected {case.phi[i][k]}")


def parts_count_errors(case: StructureCase) -> None:
    """part_errors is 0 at gold, above 0 elsewhere, and at most part_count where parts are fixed."""
    for i, gold in enumerate(case.Y):
        for k, y in enumerate(case.outputs[i]):
            errors = case.structure.part_errors(gold, y)
            if (errors == 0) != (k == case.gold[i]) or errors < 0:
                fail(f"part_errors({gold!r}, {y!r}) is {errors}")


def argmax_is_brute_force(case: StructureCase) -> None:
    """argmax(x, w) has the highest score."""
    ask = case.structure.argmax
    _compare(case, lambda i, w: ask(case.X[i], w), lambda i, w: case.phi[i] @ w)


def argmin_is_brute_force(case: StructureCase) -> None:
    """argmin(x, w) has the lowest score."""
    if "argmin" in case.structure.abilities():
        ask = case.structure.argmin
        _compare(case, lambda i, w: ask(case.X[i], w), lambda i, w: -(case.phi[i] @ w))


def loss_augmented_is_brute_force(case: StructureCase) -> None:
    """argmax(x, w, gold=gold) has the highest score plus loss."""
    if "argmax" in case.structure.abilities():
        ask = case.structure.argmax
        _compare(
            case,
            lambda i, w: ask(case.X[i], w, gold=case.Y[i]),
            lambda i, w: case.hinge(loss_augmented, i, w),
        )


def second_best_is_brute_force(case: StructureCase) -> None:
    """second_best(x, w, gold) is the best of the others or None, whatever gold is."""
    if "second_best" not in case.structure.abilities():
        return
    ask = case.structure.second_best

    def others(i: int, w: Floats) -> Floats:
        score = case.phi[i] @ w
        score[int(np.argmax(score))] = -np.inf
        return score

    for right, value in (
        (lambda i, _: case.Y[i], lambda i, w: case.hinge(best_other, i, w)),
        (lambda i, w: case.outputs[i][int(np.argmax(case.phi[i] @ w))], others),
    ):
        asked = partial(_asked, ask, case.X, right)
        _compare(case, asked, value, ordered=("all",))


def second_augmented_is_brute_force(case: StructureCase) -> None:
    """second_augmented(x, w, gold) has the highest score plus loss of the others, or is None."""
    if "second_augmented" in case.structure.abilities():
        ask = partial(_asked, case.structure.second_augmented, case.X, lambda i, _: case.Y[i])
        _compare(case, ask, lambda i, w: case.hinge(other_augmented, i, w), ordered=())


def slack_rescaled_is_brute_force(case: StructureCase) -> None:
    """slack_rescaled(x, w, gold) has the highest loss * (1 - w . delta)."""
    if "slack_rescaled" in case.structure.abilities():
        ask = case.structure.slack_rescaled
        _compare(
            case,
            lambda i, w: ask(case.X[i], w, case.Y[i]),
            lambda i, w: case.hinge(slack_rescaled, i, w),
            ordered=(),
        )


def k_best_is_brute_force(case: StructureCase) -> None:
    """k_best(x, w, k) are the k highest scores, best first, no output twice, fewer if there are."""
    if "k_best" not in case.structure.abilities():
        return
    for i, w in case.asked():
        scores = case.phi[i] @ w
        for k in (1, 2, 4, len(scores) + 3):
            found = [case.place(i, y) for y in case.structure.k_best(case.X[i], w, k)]
            if len(set(found)) < len(found) or len(found) != min(k, len(scores)):
                case.wrong(i, w, f"k_best of {k} gives {len(found)}, some of them twice or missing")
            truth = np.argsort(-scores, kind="stable")[:k]
            if not case.near(scores[found], scores[truth]):
                case.wrong(i, w, f"k_best of {k} scores {scores[found]}, truly {scores[truth]}")
            if case.small.ordered == "all" and case.exactly(w) and found != truth.tolist():
                case.wrong(i, w, f"k_best of {k} breaks ties against the order of outputs")


def what_is_not_offered_is_refused(case: StructureCase) -> None:
    """An ability that is not listed raises IncompatibleError on some example at least."""
    mine, w = case.structure, case.weights[0]
    asks: dict[str, Callable[[Any, Any], Any]] = {
        "argmin": lambda x, _: mine.argmin(x, w),
        "second_best": lambda x, gold: mine.second_best(x, w, gold),
        "second_augmented": lambda x, gold: mine.second_augmented(x, w, gold),
        "k_best": lambda x, _: mine.k_best(x, w, 2),
        "slack_rescaled": lambda x, gold: mine.slack_rescaled(x, w, gold),
        "marginals": lambda x, _: mine.marginals([x], w),
    }
    for name in set(asks) - mine.abilities():
        try:
            for x, gold in zip(case.X, case.Y, strict=True):
                asks[name](x, gold)
        except IncompatibleError:
            continue
        fail(f"{name!r} is not among abilities() but answers")


def _compare(
    case: StructureCase,
    ask: Callable[[int, Floats], Any],
    value: Callable[[int, Floats], Floats],
    *,
    ordered: tuple[str, ...] = ("best", "all"),
) -> None:
    """Compare answers with the outputs of highest value, and ties with the order of outputs."""
    for i, w in case.asked():
        values, y = value(i, w), ask(i, w)
        best = int(np.argmax(values))
        if np.isneginf(values[best]):
            if y is not None:
                case.wrong(i, w, f"answers {y!r} where nothing is possible")
            continue
        found = values[case.place(i, y)]
        if found > values[best] or (case.small.exact and not case.near(found, values[best])):
            truth = case.outputs[i][best]
            case.wrong(i, w, f"answers {y!r} of value {found}; {truth!r} has {values[best]}")
        tied = case.small.ordered in ordered and case.exactly(w) and whole_losses(case)
        if tied and not same(y, case.outputs[i][best]):
            case.wrong(i, w, f"answers {y!r}; of equal ones {case.outputs[i][best]!r} is first")


def _asked(ask: Any, X: list[Any], right: Any, i: int, w: Floats) -> Any:
    return ask(X[i], w, right(i, w))


def whole_losses(case: StructureCase) -> bool:
    """Return whether sums of losses are exact: multiples of a half."""
    return all(np.all(2 * loss == np.round(2 * loss)) for loss in case.losses)


CHECKS: tuple[Check, ...] = (
    loss_is_zero_at_gold_only,
    features_are_finite_rows,
    parts_count_errors,
    argmax_is_brute_force,
    argmin_is_brute_force,
    loss_augmented_is_brute_force,
    second_best_is_brute_force,
    second_augmented_is_brute_force,
    slack_rescaled_is_brute_force,
    k_best_is_brute_force,
    what_is_not_offered_is_refused,
)
