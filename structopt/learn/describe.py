"""A formulation as it is read: the programme, what each cut family asks, who solves it, and why."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from structopt.backends import registry
from structopt.engines.dataset import DataSet
from structopt.formulations.base import Formulation
from structopt.master.declare import RestrictedMaster
from structopt.methods.cutting_plane import CuttingPlane
from structopt.parameters import checked
from structopt.structures.base.structure import Structure

_KINDS = {
    "soc": "second order",
    "psd": "semidefinite",
    "exp": "exponential",
    "pow": "power",
}


@checked
def describe(formulation: Formulation, structure: Structure, X: Sequence[Any], Y: Any) -> str:
    """Return what a formulation is read as on some data, without solving it.

    Parameters
    ----------
    formulation : Formulation
    structure : Structure
    X, Y : sequences
        Examples and their outputs; a few suffice.

    Examples
    --------
    >>> import structopt as so
    >>> X, y = so.datasets.make_classes(30, seed=0)
    >>> print(so.describe(so.StructSVM(C=1.0), so.Multiclass(), X, y))
    minimise   quad_over_lin(w, ...) / 2.0 + 0.0333... * Sum(xi, None, False)
    over       w (30 weights), xi (30)
    cuts       argmax over y != gold of w.phi(y) (best_other), one an example
    form       quadratic programme
    value      at weights w the slacks are raised to what exact oracles ask for
    backends   'ascent' by backend="auto"; also ...'clarabel'...
    proof      exact oracles above, repaired multipliers below: certified to any tolerance
    """
    fitted = structure.fitted(X, Y)
    run = CuttingPlane(fitted, formulation, DataSet.of(fitted, X, Y))
    master = run.master
    rows = [("minimise", str(master.declared_objective)), ("over", _variables(master))]
    rows += [("subject to", str(constraint)) for constraint in master.declared_constraints]
    rows += [("cuts", _family(master, number)) for number in range(len(master.families))]
    takers = [
        name
        for name in registry.names()
        if registry.make(name).refusal(master.program, master.samples()) is None
    ]
    others = ", ".join(repr(name) for name in takers if name != run.backend.name)
    proof = "exact oracles above, repaired multipliers below: certified to any tolerance"
    if not fitted.exact:
        proof = "none: the structure's oracles are not exact"
    solved = "the other variables are solved for, with what exact oracles ask for"
    raised = "the slacks are raised to what exact oracles ask for"
    rows += [
        ("form", _form(master)),
        ("value", f"at weights w {raised if master.inner is None else solved}"),
        ("backends", f'{run.backend.name!r} by backend="auto"' + f"; also {others}" * bool(others)),
        ("proof", proof),
    ]
    return "\n".join(f"{name:11}{text}" for name, text in rows)


def _variables(master: RestrictedMaster) -> str:
    sizes = [f"{v.name()} ({v.size})" for v in master.variables()[1:]]
    return ", ".join([f"w ({master.n_features} weights)", *sizes])


def _family(master: RestrictedMaster, number: int) -> str:
    family = master.families[number]
    groups = family.owners(master.n_examples)
    shared = "one for all examples" if groups == 1 else f"one a group of examples ({groups})"
    owners = shared if family.joint else "one an example"
    if family.where is not None:
        owners += f", of {int(np.sum(family.where))} of them"
    about = " at an affine map of the variables" if number in master.program.asked else ""
    return f"{family.oracle.question} ({family.oracle.name}){about}, {owners}"


def _form(master: RestrictedMaster) -> str:
    program = master.program
    if program.is_conic:
        blocks = program.cones.blocks
        counts = [f"{sum(b.kind == k for b in blocks)} {_KINDS[k]}" for k in program.cones.kinds]
        return f"conic programme with {', '.join(counts)} cones"
    return "linear programme" if program.is_linear else "quadratic programme"
