r"""What is minimised: the contract of every formulation.

A formulation declares its restricted master problem in CVXPY and nothing else:

    def master(self, m):
        w, xi = m.weights(), m.slacks()
        m.minimize(cp.sum_squares(w) / 2 + self.C * cp.sum(xi))
        m.cuts(lambda cut: cut.delta @ w >= cut.loss - cut.of(xi))

See :class:`structopt.master.declare.RestrictedMaster` for what ``m`` offers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np

from structopt.arrays import Ints
from structopt.errors import IncompatibleError, InvalidInputError
from structopt.formulations.slack_groups import SlackGroups
from structopt.parameters import Parameters

WeightConstraints = Callable[[Any], Sequence[Any]]
"""A function of the weight variable that returns constraints: ``lambda w: [w >= 0]``."""


def groups_of(names: Sequence[tuple[str, str]] | None, by: str) -> dict[str, Ints]:
    """Return the positions of weights by their label or feature.

    >>> groups_of([("x1", "a"), ("x2", "a"), ("x1", "b")], "feature")
    {'x1': array([0, 2]), 'x2': array([1])}
    """
    if by not in ("label", "feature"):
        raise InvalidInputError(f"Weights are grouped by 'label' or 'feature', not by {by!r}.")
    if names is None:
        raise IncompatibleError(
            "The structure does not name its weights: write feature_names(), or slices of w."
        )
    found: dict[str, list[int]] = {}
    for place, (feature, label) in enumerate(names):
        found.setdefault(str(label if by == "label" else feature), []).append(place)
    return {name: np.array(places, dtype=np.int64) for name, places in found.items()}


class Declaration(Protocol):
    """What ``m`` offers while a formulation declares its restricted master problem."""

    n_examples: int
    n_features: int

    def weights(self, constraints: WeightConstraints | None = None, *, frozen: Any = None) -> Any:
        """Return w, the weights; ``constraints(w)`` adds constraints, ``frozen`` fixes some."""

    def groups(self, by: str = "label") -> dict[str, Ints]:
        """Return the weights of each label, or of each feature, as positions in w."""

    def slacks(self, groups: SlackGroups = "n") -> Any:
        """Return a new variable xi >= 0 with one slack an example, or one a group of them."""

    def slack(self) -> Any:
        """Return a new variable xi >= 0: one slack for all examples together."""

    def minimize(self, objective: Any) -> None:
        """Declare what is minimised."""

    def subject_to(self, *constraints: Any) -> None:
        """Declare constraints that are there from the start."""

    def cuts(
        self, *oracle_and_rule: Any, joint: SlackGroups | bool = False, where: Any = None
    ) -> None:
        """Declare a family of cuts by the row of an answer, ``m.cuts(rule)``.

        The rule says which question to ask; ``m.cuts(oracle, rule)`` names it as well. ``joint``
        sums the answers of a group into one cut, for ``m.slacks(groups)``.
        """


class Formulation(Parameters):
    """Base of every formulation. Store the constructor's arguments, declare in :meth:`master`.

    Examples
    --------
    >>> import cvxpy as cp, structopt as so
    >>> class SquaredHinge(so.Formulation):
    ...     def __init__(self, C=1.0):
    ...         self.C = C
    ...
    ...     def master(self, m):
    ...         w, xi = m.weights(), m.slacks()
    ...         m.minimize(cp.sum_squares(w) / 2 + self.C * cp.sum_squares(xi))
    ...         m.cuts(lambda cut: cut.delta @ w >= cut.loss - cut.of(xi))
    >>> X, Y = so.datasets.make_chain_crf(8, n_features=5, n_relevant=3, seed=0)
    >>> so.StructuredClassifier(so.Chain(), SquaredHinge()).fit(X, Y).result_.certificate.certified
    True
    """

    checked_in = "master"

    def master(self, m: Declaration) -> None:
        """Declare variables, objective, constraints and cut families on ``m``."""
        raise NotImplementedError(f"{type(self).__name__} must define master(self, m).")

    def resolve(self, largest_projection: Callable[[Formulation], float]) -> Formulation:
        """Return the formulation with parameters fixed that depend on another one's solution.

        ``largest_projection(other)`` solves another formulation on the same data and returns the
        largest |w . delta| that its weights give. Most formulations have nothing to resolve.
        """
        return self
