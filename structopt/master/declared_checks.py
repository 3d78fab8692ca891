"""What a declaration must be; refused in one sentence with the term, before oracles are asked."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import cvxpy as cp
import numpy as np
import scipy.sparse as sp
from cvxpy.atoms.affine.add_expr import AddExpression
from cvxpy.atoms.affine.binary_operators import MulExpression
from cvxpy.atoms.affine.sum import Sum

from structopt.arrays import Ints
from structopt.errors import (
    IncompatibleError,
    InfeasibleError,
    InvalidInputError,
    OutOfMemoryError,
    UnboundedError,
)
from structopt.master.cones import Cones
from structopt.master.cuts import Cuts
from structopt.master.evaluated import Declared
from structopt.master.interior import solve
from structopt.master.program import Program

_MARKS = ("nonneg", "nonpos", "pos", "neg", "bounds")
"""What a variable may be marked as: these become bounds of its columns."""


def check_whole(master: Any) -> None:
    """Refuse a declaration that leaves something out, or holds what is none of CVXPY's."""
    if master._weights is None or master._objective is None or not master.families:
        raise IncompatibleError(
            "A formulation's master(m) must call m.weights(), m.minimize(...) and m.cuts(...)."
        )
    objective, static = master._objective, master._static
    if not isinstance(objective, cp.Expression) or not objective.is_scalar():
        raise IncompatibleError(
            f"m.minimize() takes one scalar CVXPY expression; got {objective!r}. Sum it up with "
            "cp.sum(...)."
        )
    for constraint in static:
        if not isinstance(constraint, cp.constraints.constraint.Constraint):
            raise IncompatibleError(
                f"m.subject_to() takes CVXPY constraints; got {constraint!r}. Write a comparison "
                "of expressions, such as w >= 0."
            )
    for declared in [objective, *static]:
        for leaf in [*declared.variables(), *declared.constants()]:
            if leaf.is_complex():
                raise IncompatibleError(f"{declared} holds complex numbers: give real ones.")


def check_places(nonnegative: Ints, n_features: int) -> None:
    """Refuse a structure's places of weights that are none."""
    if np.any((nonnegative < 0) | (nonnegative >= n_features)):
        raise InvalidInputError(
            f"The structure's nonnegative_weights() gave {nonnegative}: give places of weights, "
            f"0 to {n_features - 1}."
        )


def check_declared(master: Any) -> None:
    """Refuse a declaration that is not whole, or not convex, or without its numbers."""
    check_whole(master)
    objective, static = master._objective, master._static
    problem = cp.Problem(cp.Minimize(objective), static)
    if parameters := problem.parameters():
        raise IncompatibleError(
            f"The objective or a constraint holds the cp.Parameter {parameters[0]}: a master "
            "is compiled once, so write its number instead."
        )
    _check_numbers(objective, static)
    _check_variables(problem)
    _check_weighted(master)
    _check_convex(objective, static)


def _check_numbers(objective: Any, static: list[Any]) -> None:
    """Refuse NaN, and infinite numbers where they do not say that there is no bound."""
    for term in [*terms_of(objective), *static]:
        for side, none in _sides(term):
            known = [side] if side.is_constant() else side.constants()
            for numbers in (constant.value for constant in known):
                entries = numbers.data if sp.issparse(numbers) else np.asarray(numbers)
                if not np.all(np.isfinite(entries) | (entries == none)):
                    raise IncompatibleError(
                        f"{term} holds a number that is NaN or infinite: give finite ones."
                    )


def _sides(term: Any) -> list[tuple[Any, float]]:
    """Return the expressions of a term or constraint, each with its number for "no bound"."""
    if isinstance(term, cp.constraints.Inequality):
        return [(term.args[0], -np.inf), (term.args[1], np.inf)]
    if isinstance(term, cp.constraints.constraint.Constraint):
        return [(side, 0.0) for side in term.args]
    return [(term, 0.0)]


def _check_variables(problem: Any) -> None:
    for variable in problem.variables():
        marked = [k for k, v in variable.attributes.items() if v is not None and v is not False]
        if {"integer", "boolean"} & set(marked):
            raise IncompatibleError(
                f"The variable {variable.name()} is integer: what is learned is a convex "
                "programme. Leave the mark out, and round afterwards, or bound it."
            )
        odd = [mark for mark in marked if mark not in _MARKS]
        if odd:
            raise IncompatibleError(
                f"The variable {variable.name()} is marked {odd[0]!r}: declare it without, and say "
                f"so in m.subject_to(...), such as {variable.name()} >> 0."
            )


def _check_convex(objective: Any, static: list[Any]) -> None:
    for term in terms_of(objective):
        if not term.is_convex():
            bent = "concave" if term.is_concave() else "not convex by CVXPY's rules"
            raise IncompatibleError(
                f"The objective is not convex: its term {term} is {bent}. Write it with convex "
                "atoms, or bound it by one."
            )
    for constraint in static:
        if not constraint.is_dcp():
            raise IncompatibleError(
                f"The constraint {constraint} is not convex by CVXPY's rules: write it as convex "
                "<= concave, and equalities between affine expressions."
            )


def _check_weighted(master: Any) -> None:
    """Refuse sample weights where they would not mean that an example is repeated."""
    if np.all(master.sample_weight == 1.0):
        return
    mine = {xi.id for xi in master._slacks}
    whole = [master._objective, *(side for c in master._static for side in c.args)]
    terms = [term for expression in whole for term in terms_of(expression)]
    bent = [t for t in terms if {v.id for v in t.variables()} & mine and not t.is_affine()]
    if bent:
        raise IncompatibleError(
            f"With sample weights the slacks of m.slacks() must stand in sums: {bent[0]} is "
            "not linear in them, and a weight would not mean that an example is repeated. "
            "Repeat the examples instead."
        )
    for constraint in master._static:
        if any(_outside_sums(side, set(master._slack_scale)) for side in constraint.args):
            raise IncompatibleError(
                f"With sample weights the slacks of m.slacks() must stand in sums: {constraint} "
                "bounds them one by one, and would not mean that an example is repeated. Repeat "
                "the examples instead."
            )


def _outside_sums(expression: Any, slacks: set[int]) -> bool:
    """Return whether a slack stands in an expression by itself: in no sum, no matrix product."""
    if type(expression) in (Sum, MulExpression):
        return False
    if not expression.args:
        return expression.id in slacks if isinstance(expression, cp.Variable) else False
    return any(_outside_sums(part, slacks) for part in expression.args)


def check_bounds(master: Any) -> None:
    """Refuse bounds that contradict each other."""
    program = master.program
    clash = np.flatnonzero(program.lb > program.ub)
    if len(clash):
        j = int(clash[0])
        start = program.weights.start
        what = f"weight {j - start}" if start <= j < program.weights.stop else f"column {j}"
        raise InfeasibleError(
            f"The constraints contradict each other: {what} must be >= {program.lb[j]:g} and "
            f"<= {program.ub[j]:g}. Relax one of them."
        )


def check_rows(master: Any) -> None:
    """Refuse rules that a slack tightens or a convex term relaxes, and what nobody bounds."""
    rows = [_rows_of(master, number) for number in range(len(master.families))]
    names = {c: v.name() for v in master._slacks for c in _columns(master, v)}
    for family, cuts in zip(master.families, rows, strict=True):
        entry = np.repeat(np.where(np.isfinite(cuts.lower), 1.0, -1.0), np.diff(cuts.extra.indptr))
        relaxing, column = entry * cuts.extra.data, cuts.extra.indices
        both = np.isfinite(cuts.lower) & np.isfinite(cuts.upper)
        for j in np.unique(column[relaxing < 0]).tolist() if not np.any(both) else []:
            if j in names:
                raise IncompatibleError(
                    f"The slack {names[j]} tightens the rows of a cut family instead of relaxing "
                    f"them: write ... >= cut.loss - cut.of({names[j]})."
                )
        for number, variable in enumerate(family.epigraphs.variables):
            mine, convex = np.isin(column, _columns(master, variable)), family.epigraphs.convex
            if np.any(relaxing[mine] > 0 if convex[number] else relaxing[mine] < 0):
                term = family.epigraphs.constraints[number].args[0 if convex[number] else 1]
                raise IncompatibleError(
                    f"The rule of a cut family is not convex: {term} stands on the side where it "
                    "relaxes the margin. Write cut.delta @ w >= cut.loss + a convex term."
                )
        harmless = (relaxing > 0) & (master.program.lb[column] >= 0)
        if family.margin_is_loss and not np.all(harmless | (relaxing == 0)):
            j = int(column[~harmless & (relaxing != 0)][0])
            raise IncompatibleError(
                "With cut.loss as its margin this rule asks something even of gold, whose loss "
                f"and delta are 0: {_name(master, j)} is not a slack >= 0 that relaxes it. Write a "
                "margin without the loss (gold is then left out), or name the oracle, "
                "m.cuts(so.loss_augmented, rule), if the rule is to hold for gold too."
            )
    _check_fall(master, rows)


def _name(master: Any, column: int) -> str:
    return next((v.name() for v in master.variables() if column in _columns(master, v)), "a column")


def _rows_of(master: Any, number: int) -> Cuts:
    """Return a row of every example or group, without its direction."""
    family = master.families[number]
    who = np.arange(family.owners(master.n_examples))
    ones = np.ones(len(who))
    cuts = Cuts(0 * who + number, who, ones, ones, ones)
    if family.looks_into_delta:
        return replace(cuts.take(who[:0]), extra=sp.csr_array((0, master.size)), lower=ones[:0],
                       upper=ones[:0])  # fmt: skip
    lifted: Cuts = family.lift(cuts)
    return lifted


def _columns(master: Any, variable: Any) -> Any:
    return master.columns[variable.id] + np.arange(variable.size)


def _check_fall(master: Declared, rows: list[Cuts]) -> None:
    """Refuse a master that falls for ever along a direction of which no oracle hears.

    A direction d of descent that leaves what oracles are asked about alone meets no other cuts
    than rows ``extra.d >= 0``: whatever the data are, they do not end the fall.
    """
    p = master.program
    fixed = master._fixed()
    if not np.any(~fixed) or (np.all(p.q[~fixed] >= 0) and np.all(np.isfinite(p.lb[~fixed]))):
        return
    low = np.where(fixed | (np.isfinite(p.lb)), 0.0, -1.0)
    high = np.where(fixed | (np.isfinite(p.ub)), 0.0, 1.0)
    lower = [np.where(np.isfinite(p.lower), 0.0, -np.inf)]
    upper = [np.where(np.isfinite(p.upper), 0.0, np.inf)]
    blocks = [p.A]
    for cuts in rows:
        blocks.append(cuts.extra)
        lower.append(np.where(np.isfinite(cuts.lower), 0.0, -np.inf))
        upper.append(np.where(np.isfinite(cuts.upper), 0.0, np.inf))
    curved = sp.csr_array(p.P)
    bent = np.flatnonzero(np.diff(curved.indptr))
    blocks.append(curved[bent])
    lower.append(np.zeros(len(bent)))
    upper.append(np.zeros(len(bent)))
    priced = np.where(p.l1 > 0, 0.0, 1.0)  # a price on both sides: those columns stay
    cones = Cones(p.cones.matrix, 0.0 * p.cones.side, p.cones.blocks) if p.is_conic else p.cones
    if any(cone.kind == "psd" and cone.side > 60 for cone in p.cones.blocks):
        return  # minutes of an interior point method, for a check
    falling = Program(
        P=sp.csc_array((p.size, p.size)),
        q=p.q,
        l1=np.zeros(p.size),
        A=sp.csr_array(sp.vstack(blocks)),
        lower=np.concatenate(lower),
        upper=np.concatenate(upper),
        lb=low * priced,
        ub=high * priced,
        cones=cones if p.is_conic else Cones.none(p.size),
    )
    try:
        found = solve(falling)
    except OutOfMemoryError:  # what cannot be looked at here may still be trained by another way
        return
    if found.status != "optimal" or p.q @ found.x > -1e-6 * (1.0 + np.abs(p.q).max()):
        return
    size = np.abs(found.x)
    moved = [
        f"{v.name()} ({count} of {v.size})"
        for v in master.variables()
        if (count := int(np.sum(size[_columns(master, v)] > 1e-3)))
    ]
    raise UnboundedError(
        "The objective has no minimum, whatever the data are: it falls for ever along a direction "
        f"that moves {', '.join(moved) or 'a variable'}, and nothing holds that. Add a bound, a "
        "price in the objective, or a rule that does."
    )


def terms_of(expression: Any) -> list[Any]:
    """Return what an expression is a sum of."""
    if isinstance(expression, AddExpression):
        return [term for part in expression.args for term in terms_of(part)]
    return [expression]
