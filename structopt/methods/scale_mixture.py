"""Whether a formulation declares the regulariser of its scales and nothing else."""

from __future__ import annotations

import numpy as np

from structopt.errors import IncompatibleError
from structopt.formulations.scale_mixture import ScaleMixture
from structopt.master.declare import RestrictedMaster
from structopt.structures.base.oracles import loss_augmented


def check_declared(wanted: ScaleMixture, declared: RestrictedMaster, method: str) -> None:
    """Refuse a declaration that is not ``regulariser(w) + C sum xi`` with the loss as margin.

    The steps and both bounds rest on that, and a subclass may declare something else.
    """
    lead = f"The method {method!r} learns regulariser(w) + C * sum of slacks, margin the loss: "
    who, family = type(wanted).__name__, declared.families[0]
    if family.oracle is not loss_augmented or family.joint:
        raise IncompatibleError(f"{lead}{who} asks {family.oracle.question}.")
    writers = {
        next(cls for cls in type(wanted).__mro__ if name in vars(cls))
        for name in ("master", "regulariser", "scales", "lower_bound")
    }
    if len(writers) > 1:
        raise IncompatibleError(
            f"{lead}{who} overrides some of master(), regulariser(), scales() and lower_bound(), "
            "which belong together: write all four, or use method='cutting-plane'."
        )
    (w, slacks), rng = declared.declared_variables, np.random.default_rng(0)
    mine = {w.id, *(xi.id for xi in slacks)}
    if declared.declared_constraints or {v.id for v in declared.variables()} != mine:
        return  # scales of its own among the variables: only who solves for them can compare
    for size in (0.0, 0.3, 1.0, 10.0):
        w.save_value(size * rng.standard_normal(w.shape))
        for xi in slacks:
            xi.save_value(size * rng.uniform(0.5, 1.5, xi.shape))
        meant = wanted.regulariser(w.value) + wanted.C * sum(float(xi.value.sum()) for xi in slacks)
        said = float(declared.declared_objective.value)
        if not abs(said - meant) <= 1e-6 * max(abs(meant), 1e-9):
            raise IncompatibleError(
                f"{lead}{who} declares another objective (at some weights {said:g}, not {meant:g})."
            )
