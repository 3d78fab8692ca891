r"""The plainest form, read off a declaration that is not compiled: a ridge and hinges.

    P(w) = p/2 |w|^2 + sum_i c_i max(0, max_y margin_i(y) - w . delta_i(y)).

Compiling makes vectors of the length of the weights, which for sparse inputs is far more than the
data hold. Here only the declared expressions are looked at: which terms the objective is a sum of,
and what the rule says at sample losses (:mod:`structopt.master.question`). Nothing depends on the
number of features or examples, and what is not surely of this form is left to the compiler.

>>> import cvxpy as cp
>>> m = RestrictedMaster(n_examples=2, n_features=10**9)
>>> w, xi = m.weights(), m.slacks()
>>> m.minimize(cp.sum_squares(w) / 4 + 3 * cp.sum(xi))
>>> m.cuts(lambda cut: cut.delta @ w >= cut.loss - cut.of(xi))
>>> plain_form(m)
PlainForm(oracle=structopt.loss_augmented, cost=array([3., 3.]), curvature=0.5)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import cvxpy as cp
import numpy as np
from cvxpy.atoms.affine.sum import Sum

from structopt.arrays import Floats
from structopt.errors import IncompatibleError
from structopt.master.compile import square_argument, summands
from structopt.master.declare import RestrictedMaster
from structopt.master.declared_checks import check_whole
from structopt.master.forms import Form, Side
from structopt.master.lift import Family
from structopt.master.question import LOSSES, Lines, check, derive, numbers_of
from structopt.master.rule import CutNumber, CutView, DeltaView, sides_of
from structopt.structures.base.oracles import Oracle


@dataclass(frozen=True)
class PlainForm:
    """A ridge and one hinge an example.

    Attributes
    ----------
    oracle : Oracle
        Finds the y of the largest hinge.
    cost : array
        c_i, sample weights included.
    curvature : float
        p.
    """

    oracle: Oracle
    cost: Floats
    curvature: float


def plain_form(master: RestrictedMaster) -> PlainForm | str:
    """Return the form of a declared master, or why it is not surely this one."""
    found = _terms(master)
    if isinstance(found, str):
        return found
    if found.l1:
        return f"its objective has the term norm1({master.declared_variables[0]})"
    if not (0.0 < found.curvature < np.inf and 0.0 < found.price < np.inf):
        return f"its objective is {found.curvature:g} / 2 |w|^2 + {found.price:g} sum of slacks"
    oracle = _oracle(master)
    if isinstance(oracle, str):
        return oracle
    return PlainForm(oracle, found.price * master.sample_weight, found.curvature)


def rests_at_zero(master: RestrictedMaster) -> bool:
    """Return whether surely every weight that no input multiplies is 0, and none has a name.

    So it is with a ridge and an l1 norm of all weights alike, and rules about ``w . delta`` alone:
    the programme over the other weights is the same one.

    >>> import cvxpy as cp
    >>> def declared(regulariser):
    ...     m = RestrictedMaster(n_examples=2, n_features=3)
    ...     w, xi = m.weights(), m.slacks()
    ...     m.minimize(regulariser(w) + cp.sum(xi))
    ...     m.cuts(lambda cut: cut.delta @ w >= cut.loss - cut.of(xi))
    ...     return m
    >>> rests_at_zero(declared(cp.norm1)), rests_at_zero(declared(lambda w: cp.norm1(w[:2])))
    (True, False)
    """
    found = _terms(master)
    if isinstance(found, str) or min(found.curvature, found.l1) < 0.0:
        return False
    return found.curvature + found.l1 > 0.0 and not isinstance(_oracle(master), str)


class _Terms(NamedTuple):
    """The objective ``curvature/2 |w|^2 + l1 |w|_1 + price sum_i xi_i``."""

    curvature: float
    l1: float
    price: float


def _terms(master: RestrictedMaster) -> _Terms | str:
    """Return what an objective is a sum of, or why it is not surely that."""
    check_whole(master)
    if master.declared_constraints:
        return "there are constraints"
    if master.declared_objective.parameters():
        return "its objective holds a cp.Parameter"
    family = master.families[0] if len(master.families) == 1 else None
    if family is None or family.joint or family.where is not None:
        return "its cuts are not one family, a cut an example"
    weights, slacks = master.declared_variables
    if weights is None or len(slacks) != 1:
        return "it has not one slack an example"
    curvature = l1 = price = 0.0
    for factor, term in summands(master.declared_objective):
        square = square_argument(term)
        if square is not None and square[1] is weights:
            curvature += 2.0 * factor * square[0]
        elif isinstance(term, cp.norm1) and term.axis is None and term.args[0] is weights:
            l1 += factor
        elif isinstance(term, Sum) and term.axis is None and term.args[0] is slacks[0]:
            price += factor
        else:
            return f"its objective has the term {term}"
    return _Terms(curvature, l1, price)


def _oracle(master: RestrictedMaster) -> Oracle | str:
    """Return the oracle that the one family asks, or why its rule is not plain."""
    weights, slacks = master.declared_variables
    try:
        return _asked(master.families[0], weights, slacks[0])
    except Exception as error:  # a rule may do anything NumPy can; the compiler decides
        said = " ".join(str(error).split()) or type(error).__name__
        return f"its rule is not plain ({said})"


def _asked(family: Family, weights: Any, slack: Any) -> Oracle | str:
    """Return the oracle whose margin a rule states, and nothing else."""
    loss, margin, scale = numbers_of(family.named, joint=False)
    numbers = dict(zip(("loss", "margin", "scale"), (loss, margin, scale), strict=True))
    numbers = {name: values for name, values in numbers.items() if name in family.numbers}
    rows: Floats | str
    try:
        rows = _read(family, weights, slack, numbers)
    except Exception:  # it does what forms cannot, in whatever way: CVXPY says what it is
        rows = _valued(family, weights, slack, numbers)
    if isinstance(rows, str):
        return rows
    constant, factor, gamma = rows
    if not np.allclose(gamma, 1.0, 1e-12, 0.0):
        return f"its rule has a slack times {gamma[0]:g}"
    line = Lines(loss, margin, scale, factor[:, None], -constant[:, None])
    if family.named is None:
        oracle, fit = derive(line, joint=False)
    else:
        oracle, found = family.named, check([line], family.named)
        if isinstance(found, str):
            return found
        fit = found
    if oracle.kappa != 1.0:
        return f"its margin is {oracle.kappa:g} * loss"
    return oracle if fit.plain else "its rule is a multiple of its oracle's, or shifted"


def _picks(slack: Any, own: Any) -> Callable[[Any], Any]:
    """Return what ``cut.of`` is: the example's own slack, and of nothing else."""

    def of(variable: Any) -> Any:
        if variable is not slack:
            raise IncompatibleError("it reads more of an example than its slack")
        return own

    return of


def _read(family: Family, weights: Any, slack: Any, numbers: Mapping[str, Floats]) -> Floats:
    """Return the rows of a rule that is one inequality, by arithmetic; TypeError if it is not."""
    n = len(LOSSES)
    given = {name: Form.number(values) for name, values in numbers.items()}
    delta = DeltaView(weights, Form.of_delta(n), None)
    side = family.rule(CutView(delta, given, _picks(slack, Form.of_slack(n))))
    if not isinstance(side, Side):
        raise TypeError("it is not one inequality between forms")
    return side.rows


def _valued(
    family: Family, weights: Any, slack: Any, numbers: Mapping[str, Floats]
) -> Floats | str:
    """Return the rows of a rule in CVXPY, from its values, or why it has none."""
    given = {name: CutNumber(1, name=name) for name in numbers}
    projection, own = cp.Variable(1), cp.Variable(1)
    delta = DeltaView(weights, projection, None)
    sides = sides_of(family.rule(CutView(delta, given, _picks(slack, own))))
    expression, equality = sides[0]
    known = {variable.id for variable in expression.variables()} <= {projection.id, own.id}
    if len(sides) > 1 or equality or not known or expression.size != 1:
        return "its rule is not one inequality about the slack of its example"
    if not (expression.is_affine() and expression.is_dpp()):
        return "its rule is not affine in the numbers of a cut"
    values = np.empty((3, len(LOSSES)))
    for at in range(len(LOSSES)):
        for name, each in numbers.items():
            given[name].save_value(each[at : at + 1])  # as .value, without CVXPY's checks
        for point, (p, s) in enumerate(((0.0, 0.0), (1.0, 0.0), (0.0, 1.0))):
            projection.save_value(np.array([p]))
            own.save_value(np.array([s]))
            values[point, at] = expression.value[0]
    return np.stack([values[0], values[1] - values[0], values[2] - values[0]])
