"""LO, L+I and IBT by the perceptron, averaged and not, from two runs: local ones and global ones.

LO and L+I share their weights, and an averaged run passes through the weights that are not: what
differs is only how one predicts.

>>> import structopt as so
>>> data = so.datasets.make_constrained_labels(60, n_inputs=4, kappa=1.0, seed=0)
>>> learned = learn_schemes(so.LabelVector(data.legal), data.X, data.Y, epochs=5, seed=0)
>>> [name for name in learned.found]
['LO', 'L+I', 'L+I, averaged', 'IBT', 'IBT, averaged']
"""

from __future__ import annotations

import time
from typing import Any, NamedTuple

from structopt.arrays import Floats
from structopt.formulations.m3n import M3N
from structopt.learn.estimator import StructuredClassifier
from structopt.learn.schemes import ConstraintScheme
from structopt.structures.base.structure import Structure

AVERAGED = ", averaged"


class Learned(NamedTuple):
    """What predicts, by line, and the CPU seconds of the run behind it."""

    found: dict[str, tuple[Structure, Floats]]
    seconds: dict[str, float]

    def predict(self, name: str, X: Any) -> list[Any]:
        """Return the outputs of a line."""
        structure, weights = self.found[name]
        return list(structure.predict(X, weights))


class Kept:
    """A callback that keeps the run, whose last weights its average hides."""

    method: Any = None

    def start(self, method: Any) -> None:
        """Begin with a run."""
        self.method = method

    def __call__(self, record: Any) -> bool:
        """Go on."""
        return False

    def kept(self) -> None:
        """Have the run's own weights returned."""


def learn_schemes(structure: Any, X: Any, Y: Any, *, epochs: int, seed: int) -> Learned:
    """Learn by the perceptron of the paper, and by the same averaged.

    Parameters
    ----------
    structure : Structure
        With constraints.
    X, Y : sequences
    epochs : int
        At most; one without a mistake is the last.
    seed : int
        Of the order of visits.
    """
    found: dict[str, tuple[Structure, Floats]] = {}
    seconds = {}
    for name in ("L+I", "IBT"):
        model = StructuredClassifier(
            structure, M3N(), method="perceptron", max_iter=epochs, callbacks=[Kept()],
            method_options={"evaluate": False, "random_state": seed},
        )  # fmt: skip
        began = time.process_time()
        scheme = ConstraintScheme(name, structure, learner=model).fit(X, Y)
        seconds[name] = time.process_time() - began
        run = scheme.model_
        assert run is not None, "a perceptron is a run"
        kept: Any = run.callbacks[0]
        last = kept.method.current
        if name == "L+I":
            found["LO"], seconds["LO"] = (run.structure_, last), seconds[name]
        found[name] = scheme.structure_, last
        found[name + AVERAGED] = scheme.structure_, run.result_.weights
    return Learned(found, seconds)
