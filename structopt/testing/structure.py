r"""Whether a structure answers what brute force answers, in every form in which it is asked.

>>> import numpy as np, structopt as so
>>> class Sign(so.Structure):
...     def joint_features(self, x, y):
...         return 0.5 * y * np.asarray(x)
...     def loss(self, y, other):
...         return float(y != other)
...     def argmax(self, x, weights, *, gold=None):     # forgets the loss
...         return max((-1, 1), key=lambda y: self.joint_features(x, y) @ weights)
>>> so.testing.check_structure(Sign(), [[1.0], [2.0]], [1, -1], outputs=lambda x: [-1, 1])
Traceback (most recent call last):
structopt.testing.check.CheckError: Sign() fails loss_augmented_is_brute_force: ...
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from structopt.structures.base.small import Small
from structopt.structures.base.structure import Structure
from structopt.testing import (
    structure_contract,
    structure_given,
    structure_oracles,
    structure_shards,
    structure_sums,
)
from structopt.testing.check import run
from structopt.testing.structure_case import StructureCase

STRUCTURE_CHECKS = (
    *structure_oracles.CHECKS,
    *structure_shards.CHECKS,
    *structure_sums.CHECKS,
    *structure_given.CHECKS,
    *structure_contract.CHECKS,
)


def check_structure(
    structure: Structure,
    X: Any,
    Y: Sequence[Any],
    *,
    outputs: Callable[[Any], Sequence[Any]] | None = None,
    exclude: Mapping[str, str] | None = None,
    tol: float = 1e-7,
    seed: int = 0,
) -> tuple[str, ...]:
    """Check a structure on a few small examples, by enumerating their outputs.

    Parameters
    ----------
    structure : Structure
        Fitted or not; it is not changed.
    X, Y : sequences
        Small examples and their gold outputs: every output of each is listed.
    outputs : callable x -> list, optional
        All outputs of an example; by default they are found by walking `k_best`.
    exclude : mapping of name to reason, optional
        Checks to leave out.
    tol : float
        Relative error that counts as rounding.
    seed : int
        Of the weights that are tried.

    Returns
    -------
    tuple of str
        The names of the checks that passed.

    Raises
    ------
    CheckError
        What failed, on which example and weights, and what the check is about.
    """
    case = StructureCase(Small(structure, X, Y, outputs, tol=tol), seed=seed)
    return run(STRUCTURE_CHECKS, case, repr(structure), exclude=exclude)
