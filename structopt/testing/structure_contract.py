"""A structure as an object: parameters, copies, subclasses and files."""

from __future__ import annotations

import copy
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np

from structopt.errors import ConvergenceWarning, IncompatibleError
from structopt.formulations.lp_struct import LPStruct
from structopt.formulations.m3n import M3N
from structopt.learn.estimator import StructuredClassifier
from structopt.learn.model_file import load_model
from structopt.structures.base.oracles import loss_augmented
from structopt.testing.check import Check, fail
from structopt.testing.structure_case import StructureCase, rows, same
from structopt.testing.structure_shards import ask, pickled


def parameters_are_stored_as_given(case: StructureCase) -> None:
    """type(s)(**s.get_params()) is the same structure; the constructor only stores."""
    given = case.given.get_params()
    again = type(case.given)(**given).get_params()
    if again.keys() != given.keys() or any(again[k] is not given[k] for k in given):
        fail(f"{again} after cloning, {given} before")


def fitting_changes_nothing(case: StructureCase) -> None:
    """fitted(X, Y) returns a copy and leaves the structure as it was."""
    before = dict(vars(case.given))
    fitted = case.given.fitted(case.X, case.Y)
    after = vars(case.given)
    if fitted is case.given or before.keys() != after.keys():
        fail(f"fitted() left {sorted(after.keys() - before.keys())} behind")
    if fitted.n_features_ != case.structure.n_features_:
        fail(f"fitted twice: {fitted.n_features_} features, then {case.structure.n_features_}")


def structures_pickle(case: StructureCase) -> None:
    """A fitted structure that went through pickle predicts the same."""
    again = pickled(case.structure)
    for w in case.weights if again is not None else ():
        pairs = zip(case.structure.predict(case.X, w), again.predict(case.X, w), strict=True)
        if not all(same(a, b) for a, b in pairs):
            fail("predictions differ after pickling")


def an_override_of_loss_is_used(case: StructureCase) -> None:
    """A subclass whose loss is doubled is asked with that loss, or refused."""
    base = type(case.structure)
    if "loss" in vars(case.structure) or "argmax" not in case.structure.abilities():
        return
    mine = _subclass(case, loss=lambda self, y, other: 2.0 * base.loss(self, y, other))
    shard = ask(mine.encode, case.X, case.Y)
    for w in case.weights if shard is not None else ():
        answers = ask(shard.ask, loss_augmented, w)
        for i in range(len(case.X) if answers is not None else 0):
            twice = 2.0 * case.losses[i]
            delta = rows(shard, answers.outputs, [i], case.structure.n_features_)[0]
            fits = [
                loss
                for phi, loss in zip(case.phi[i], twice, strict=True)
                if case.near(delta, case.phi[i][case.gold[i]] - phi)
            ]
            if not np.any(np.abs(np.array(fits) - answers.loss[i]) <= 1e-9):
                case.wrong(i, w, f"loss {answers.loss[i]}: that of the subclass is one of {fits}")


def an_override_of_features_is_used(case: StructureCase) -> None:
    """A subclass whose features are doubled is asked with those features, or refused."""
    base = type(case.structure)
    if "joint_features" in vars(case.structure) or "argmax" not in case.structure.abilities():
        return
    mine = _subclass(case, joint_features=lambda self, x, y: 2.0 * base.joint_features(self, x, y))
    shard = ask(mine.encode, case.X, case.Y)
    for w in case.weights if shard is not None else ():
        answers = ask(shard.ask, loss_augmented, w)
        for i in range(len(case.X) if answers is not None else 0):
            scores = 2.0 * (case.phi[i][case.gold[i]] - case.phi[i]) @ w
            if not np.any(np.abs(scores - answers.score[i]) <= 1e-6):
                case.wrong(i, w, f"score {answers.score[i]}: the subclass's features are not asked")


def an_override_of_argmax_is_used(case: StructureCase) -> None:
    """A subclass with an argmax of its own is asked through it, or refused."""
    if "argmax" not in case.structure.abilities():
        return
    mine = _subclass(case, argmax=lambda self, x, weights, *, gold=None: gold)
    shard = ask(mine.encode, case.X, case.Y)
    answers = None if shard is None else ask(shard.ask, loss_augmented, case.weights[-1])
    if answers is not None and np.any(answers.loss != 0):
        fail(f"losses {answers.loss} where the subclass always answers gold")


def model_files_keep_it(case: StructureCase) -> None:
    """A model that is saved and loaded predicts the same; a class of one's own is handed in."""
    model = _trained(case)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        model.save(path)
        try:
            again = load_model(path)
        except IncompatibleError as error:
            if "structure=" not in str(error):
                fail(f"the file does not load, and does not say how: {error}")
            again = load_model(path, structure=case.given)
    if repr(again.structure) != repr(model.structure):
        fail(f"loaded {again.structure!r}, saved {model.structure!r}")
    pairs = zip(model.predict(case.X), again.predict(case.X), strict=True)
    if not all(same(a, b) for a, b in pairs):
        fail("predictions differ after loading")
    if model.score(case.X, case.Y) != again.score(case.X, case.Y):
        fail("scores differ after loading")


def _trained(case: StructureCase) -> Any:
    for formulation in (M3N(), LPStruct(nonnegative=False)):
        model = StructuredClassifier(case.given, formulation, max_iter=3)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            fitted = ask(model.fit, case.X, case.Y)
        if fitted is not None:
            return fitted
    fail("neither M3N nor LPStruct can be trained on it")


def _subclass(case: StructureCase, **methods: Any) -> Any:
    """Return the fitted structure as one of a subclass with other methods."""
    mine = copy.copy(case.structure)
    mine.__class__ = type("Mine", (type(case.structure),), methods)
    return mine


CHECKS: tuple[Check, ...] = (
    parameters_are_stored_as_given,
    fitting_changes_nothing,
    structures_pickle,
    an_override_of_loss_is_used,
    an_override_of_features_is_used,
    an_override_of_argmax_is_used,
    model_files_keep_it,
)
