"""Many examples at once: shards answer as single examples do, and in any order and number."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np

from structopt.arrays import Floats
from structopt.engines.dataset import DataSet
from structopt.errors import IncompatibleError, InvalidInputError
from structopt.structures.base.oracles import (
    Oracle,
    best_other,
    loss_augmented,
    other_augmented,
    slack_rescaled,
    worst,
)
from structopt.structures.base.shard import Answers, Shard
from structopt.testing.check import Check, fail
from structopt.testing.structure_case import StructureCase, rows, same

ORACLES = (loss_augmented, best_other, other_augmented, slack_rescaled, worst)


def offered(case: StructureCase) -> list[Oracle]:
    """Return the oracles that the structure answers."""
    return [oracle for oracle in ORACLES if oracle.needs in case.structure.abilities()]


def shard_answers_are_brute_force(case: StructureCase) -> None:
    """A shard's answers ask for the largest row, within the `excess` that they report."""
    shard = case.structure.encode(case.X, case.Y)
    for w in case.weights:
        for oracle in offered(case):
            answers = shard.ask(oracle, w)
            for i in range(len(case.X)):
                check_answer(case, shard, answers, i, w, case.hinge(oracle, i, w), oracle.name)


def shard_argmax_is_brute_force(case: StructureCase) -> None:
    """A shard's argmax has the highest score."""
    shard = case.structure.encode(case.X, case.Y)
    for w in case.weights:
        answers = ask(shard.argmax, w)
        for i in range(len(case.X) if answers is not None else 0):
            check_answer(case, shard, answers, i, w, case.phi[i] @ w, "argmax")


def shard_k_best_is_brute_force(case: StructureCase) -> None:
    """A shard's k best have the highest scores, one rank after the other."""
    if "k_best" not in case.structure.abilities():
        return
    shard = case.structure.encode(case.X, case.Y)
    for w in case.weights:
        ranks = ask(shard.k_best, w, 3)
        for r, answers in enumerate(ranks or []):
            for i, phi in enumerate(case.phi):
                ranked = np.sort(phi @ w)[::-1]
                if r >= len(ranked):
                    if not np.isposinf(answers.score[i]):
                        case.wrong(i, w, f"rank {r} of {len(ranked)} outputs is answered")
                    continue
                found = phi[case.gold[i]] @ w - answers.score[i]
                if not case.near(found, ranked[r]):
                    case.wrong(i, w, f"rank {r} scores {found}, truly {ranked[r]}")


def check_answer(
    case: StructureCase,
    shard: Shard,
    answers: Answers,
    i: int,
    w: Floats,
    values: Floats,
    name: str,
    losses: Floats | None = None,
) -> None:
    """Compare one answer's direction, loss and score with an output that has them, and its value.

    ``values`` are those of all outputs; the answer is any one that has its direction and loss.
    """
    best, loss = float(np.max(values)), case.losses[i] if losses is None else losses
    if np.isneginf(best):
        if not np.isposinf(answers.score[i]):
            case.wrong(i, w, f"{name}: nothing is possible, but the score is {answers.score[i]}")
        return
    delta = rows(shard, answers.outputs, [i], case.structure.n_features_)[0]
    differences = case.phi[i][case.gold[i]] - case.phi[i]
    fits = [
        k
        for k, difference in enumerate(differences)
        if case.near(delta, difference) and case.near(answers.loss[i], loss[k])
    ]
    if not fits:
        case.wrong(i, w, f"{name}: no output has direction {delta} and loss {answers.loss[i]}")
    if not case.near(answers.score[i], delta @ w):
        case.wrong(i, w, f"{name}: score {answers.score[i]}, but w . delta = {delta @ w}")
    excess = 0.0 if answers.excess is None else float(answers.excess[i])
    if case.small.exact and excess > 1e-6 * (1 + abs(best)):
        case.wrong(i, w, f"{name}: reports an excess of {excess}")
    found = max(values[k] for k in fits)
    if not (case.near(min(found + excess, best), best) and answers.exact):
        case.wrong(i, w, f"{name}: value {found} with excess {excess}; truly {best}")


def single_answers_as_its_shard(case: StructureCase) -> None:
    """single(i) is example i over the same base: same loss, score and direction."""
    shard = case.structure.encode(case.X, case.Y)
    singles = [ask(shard.single, i) for i in range(len(case.X))]
    for w in case.weights:
        for oracle in offered(case):
            together = shard.ask(oracle, w)
            for i, one in enumerate(singles):
                if one is not None:
                    alone = one.ask(oracle, w)
                    _agree(case, [(shard, together, i), (one, alone, 0)], i, w, oracle.name)


def several_shards_are_one(case: StructureCase) -> None:
    """A data set in several shards gives the answers and directions of one."""
    n, middle = case.structure.n_features_, max(1, len(case.X) // 2)
    pieces = [slice(0, middle), slice(middle, len(case.X))] if len(case.X) > 1 else [slice(0, 1)]
    one = DataSet([case.structure.encode(case.X, case.Y)], n)
    many = DataSet(
        [case.structure.encode(case.X[p], case.Y[p], start=p.start) for p in pieces],
        n,
        threads=True,
    )
    every = np.arange(len(case.X))
    for w in case.weights:
        for oracle in offered(case):
            asked = one.ask(oracle, w), many.ask(oracle, w)
            for field in ("loss", "score"):
                first, second = (np.concatenate([getattr(a, field) for a in b]) for b in asked)
                if not case.near(second, first):
                    fail(f"{oracle.name}: {field} {second} of two shards, {first} of one")
            finite = every[np.isfinite(asked[0][0].score)]
            if len(finite):
                a, b = (
                    _csr(data, data.directions(answers, finite), n)
                    for data, answers in zip((one, many), asked, strict=True)
                )
                if not case.near(b, a):
                    fail(f"{oracle.name}: directions of two shards differ from those of one")


def order_does_not_matter(case: StructureCase) -> None:
    """Examples in another order get the same answers."""
    order = np.random.default_rng(0).permutation(len(case.X)).tolist()
    shard = case.structure.encode(case.X, case.Y)
    moved = case.structure.encode([case.X[i] for i in order], [case.Y[i] for i in order])
    for w in case.weights:
        for oracle in offered(case):
            asked = shard.ask(oracle, w), moved.ask(oracle, w)
            for place, i in enumerate(order):
                pair = [(shard, asked[0], i), (moved, asked[1], place)]
                _agree(case, pair, i, w, oracle.name)


def predict_is_argmax(case: StructureCase) -> None:
    """predict(X, w) is argmax(x, w) of each x, and an empty list for an empty one."""
    for w in case.weights:
        predicted = case.structure.predict(case.X, w)
        for i, (x, y) in enumerate(zip(case.X, predicted, strict=True)):
            alone = case.structure.argmax(x, w)
            if not same(y, alone):
                case.wrong(i, w, f"predict gives {y!r}, argmax {alone!r}")
    if list(case.structure.predict([], case.weights[0])):
        fail("predict([], w) is not empty")


def shards_pickle(case: StructureCase) -> None:
    """A shard that went through pickle (to a worker, to disk) answers the same."""
    shard = case.structure.encode(case.X, case.Y)
    again = pickled(shard)
    if again is None:
        return
    for oracle in offered(case):
        for w in case.weights:
            pair = shard.ask(oracle, w), again.ask(oracle, w)
            if not case.near(pair[1].score, pair[0].score):
                fail(f"{oracle.name}: {pair[1].score} after pickling, {pair[0].score} before")


def content_names_the_data(case: StructureCase) -> None:
    """Shards of the same data have the same fingerprint; those of other gold outputs do not."""
    n, Y = case.structure.n_features_, list(case.Y)
    names = [DataSet([case.structure.encode(case.X, Y)], n).fingerprint("") for _ in range(2)]
    for i, outputs in enumerate(case.outputs):
        distinct = [
            k for k in range(len(outputs)) if np.any(case.phi[i][k] != case.phi[i][case.gold[i]])
        ]
        if distinct:
            Y[i] = outputs[distinct[0]]
            names.append(DataSet([case.structure.encode(case.X, Y)], n).fingerprint(""))
            break
    if names[0] != names[1] or names[0] in names[2:]:
        fail(f"fingerprints {names}: of the same data twice, and of others")


def bad_questions_are_refused(case: StructureCase) -> None:
    """An unknown oracle is incompatible; missing outputs and weights of another length invalid."""
    shard, n = case.structure.encode(case.X, case.Y), case.structure.n_features_
    odd = Oracle("odd", "argmax", "?", margin=abs, scale=abs)
    for expected, question in (
        (IncompatibleError, lambda: shard.ask(odd, np.zeros(n))),
        (InvalidInputError, lambda: case.structure.encode(case.X, case.Y[1:])),
        (InvalidInputError, lambda: case.given.fitted(case.X, case.Y[1:])),
    ):
        try:
            question()
        except expected:
            continue
        fail(f"no {expected.__name__}")


def pickled(given: Any) -> Any:
    """Return a copy by pickle; None if a class or function of the user's cannot be imported."""
    try:
        written = pickle.dumps(given)
    except (AttributeError, TypeError, pickle.PicklingError):
        return None  # joblib's workers get those by value
    return pickle.loads(written)


def ask(question: Callable[..., Any], *args: Any) -> Any:
    """Return an answer, or None where the question is not offered."""
    try:
        return question(*args)
    except IncompatibleError:
        return None


def _agree(
    case: StructureCase, pair: list[tuple[Shard, Answers, int]], i: int, w: Floats, name: str
) -> None:
    (_, first, a), (_, second, b) = pair
    for field in ("loss", "score"):
        values = getattr(first, field)[a], getattr(second, field)[b]
        if not case.near(values[1], values[0]):
            case.wrong(i, w, f"{name}: {field} is {values[0]} in one shard, {values[1]} in another")
    if np.isfinite(first.score[a]):
        n = case.structure.n_features_
        one, other = (rows(shard, answers.outputs, [k], n)[0] for shard, answers, k in pair)
        if not case.near(other, one):
            case.wrong(i, w, f"{name}: direction {one} in one shard, {other} in another")


def _csr(data: DataSet, directions: Any, n: int) -> Floats:
    return np.asarray(directions.tocsr(data.base, n).toarray())


CHECKS: tuple[Check, ...] = (
    shard_answers_are_brute_force,
    shard_argmax_is_brute_force,
    shard_k_best_is_brute_force,
    single_answers_as_its_shard,
    several_shards_are_one,
    order_does_not_matter,
    predict_is_argmax,
    shards_pickle,
    content_names_the_data,
    bad_questions_are_refused,
)
