r"""An objective as its separable part and the terms that are known in closed form.

    min  S(x) + sum_k h_k(x_k)      with S separable and h_k of :mod:`structopt.master.terms`

It is read off the declared objective, term by term: ``norm2`` over rows, columns or pieces of a
variable, ``norm_inf``, ``pnorm``, ``normNuc``, and the entropies ``entr``, ``kl_div`` and
``rel_entr``.

>>> import cvxpy as cp
>>> w = cp.Variable(4)
>>> norms = cp.sum(cp.norm2(cp.reshape(w, (2, 2), order="C"), axis=1))
>>> found = split(3 * norms + cp.sum_squares(w) / 2, [], [w], {w.id: 0}, 4)
>>> found.plain.P.diagonal(), found.terms[0].block, found.terms[0].price
(array([1., 1., 1., 1.]), array([0, 1, 0, 1]), 3.0)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import cvxpy as cp
import numpy as np
import scipy.sparse as sp
from cvxpy.atoms.affine.binary_operators import MulExpression, multiply
from cvxpy.atoms.affine.sum import Sum

from structopt.arrays import Floats, Ints
from structopt.master.compile import affine_rows, compile_problem, summands
from structopt.master.program import Program
from structopt.master.terms import (
    BlockNorm,
    Entropy,
    LargestEntry,
    PowerNorm,
    Term,
    TraceNorm,
)


@dataclass(frozen=True)
class Split:
    """A programme in two parts over the same columns.

    Attributes
    ----------
    plain : Program
        The separable part; columns that neither part knows are held at 0.
    terms : tuple of Term
        The others, no column in two of them.
    """

    plain: Program
    terms: tuple[Term, ...]

    @property
    def columns(self) -> Ints:
        """The columns of all terms."""
        return np.concatenate([term.columns for term in self.terms])


def split(
    objective: Any,
    constraints: Sequence[Any],
    variables: Sequence[Any],
    columns: Mapping[int, int],
    size: int,
) -> Split | None:
    """Return the two parts over given columns, None if there is anything else."""
    terms: list[Term] = []
    rest: list[Any] = []
    for factor, summand in summands(objective):
        term = _term_of(factor, summand, columns, size)
        if term is None:
            rest.append(factor * summand)
        else:
            terms.append(term)
    taken = np.concatenate([term.columns for term in terms]) if terms else np.zeros(0)
    if not terms or len(np.unique(taken)) < len(taken):
        return None
    own = compile_problem(sum(rest) if rest else cp.Constant(0.0), constraints, variables)
    if own.static.shape[0] or own.diagonal is None:
        return None
    found = Split(_placed(own, columns, size), tuple(terms))
    return found if all(_fits(found.plain, term) for term in terms) else None


def _placed(own: Program, columns: Mapping[int, int], size: int) -> Program:
    """Return a separable programme over other columns; those that it does not know stay 0."""
    spans = sorted((start, identity) for identity, start in own.columns.items())
    ends = [start for start, _ in spans[1:]] + [own.size]
    source, target = [], []
    for (start, identity), end in zip(spans, ends, strict=True):
        if identity in columns:
            source.append(np.arange(start, end))
            target.append(columns[identity] + np.arange(end - start))
    here, there = np.concatenate(source), np.concatenate(target)

    def spread(values: Floats, elsewhere: float = 0.0) -> Floats:
        full = np.full(size, elsewhere)
        full[there] = values[here]
        return full

    diagonal = own.diagonal
    assert diagonal is not None, "the programme is separable"
    return replace(
        own, P=sp.diags_array(spread(diagonal), format="csc"), q=spread(own.q), l1=spread(own.l1),
        lb=spread(own.lb), ub=spread(own.ub), A=sp.csr_array((0, size)), columns=columns,
    )  # fmt: skip


def _fits(plain: Program, term: Term) -> bool:
    """Return whether a term is all that is said of its columns, a ridge apart."""
    mine = term.columns
    curvature = plain.P.diagonal()[mine]
    even = np.all(curvature == curvature[0]) and not np.any(plain.l1[mine])
    even = even and (curvature[0] > 0 or not np.any(plain.q[mine]) or isinstance(term, Entropy))
    low = np.isneginf(plain.lb[mine]) | (isinstance(term, Entropy) & (plain.lb[mine] == 0))
    return bool(even and np.all(low) and np.all(np.isposinf(plain.ub[mine])))


def _term_of(factor: float, summand: Any, columns: Mapping[int, int], size: int) -> Term | None:
    """Return a summand as a term, None if it is not one."""
    if not np.isfinite(factor) or factor == 0.0 or summand.parameters():
        return None
    scale, atom = _weighted(summand)
    if atom is None or (chosen := _selected(atom, columns, size)) is None:
        return None
    where, size_of = chosen
    price = factor * size_of
    if isinstance(atom, cp.Pnorm) and price > 0:
        power, shape = float(atom.p), atom.args[0].shape
        if power == 2.0:
            block = _blocks(shape, atom.axis)
            count = int(block.max()) + 1
            each = np.broadcast_to(np.ones(1) if scale is None else scale, (count,))
            return BlockNorm(where, price, block, np.array(each)) if np.all(each > 0) else None
        alone = atom.axis is None and scale is None and 1.0 < power < np.inf
        return PowerNorm(where, price, power) if alone else None
    if scale is not None:
        return None
    if isinstance(atom, cp.norm_inf) and atom.axis is None and price > 0:
        return LargestEntry(where, price)
    if isinstance(atom, cp.normNuc) and price > 0:
        rows, cols = atom.args[0].shape
        return TraceNorm(where, price, (rows, cols))
    return _entropy(factor, size_of, atom, where)


def _entropy(factor: float, size_of: float, atom: Any, where: Ints) -> Term | None:
    if size_of != 1.0:
        return None
    if isinstance(atom, cp.entr) and factor < 0:
        return Entropy(where, -factor, np.ones(len(where)), 0.0)
    if isinstance(atom, cp.kl_div | cp.rel_entr) and factor > 0:
        prior = np.broadcast_to(np.ravel(atom.args[1].value, order="F"), (len(where),))
        mass = 1.0 if isinstance(atom, cp.kl_div) else 0.0
        return Entropy(where, factor, np.array(prior), mass) if np.all(prior > 0) else None
    return None


def _weighted(summand: Any) -> tuple[Floats | None, Any]:
    """Return scales and the atom of ``sum(atom)``, ``scales @ atom`` or the atom by itself."""
    if isinstance(summand, cp.norm1) and isinstance(summand.args[0], cp.Pnorm):  # mixed_norm
        return None, summand.args[0]
    if isinstance(summand, MulExpression) and summand.args[0].is_constant():
        return np.ravel(summand.args[0].value), summand.args[1]
    if not isinstance(summand, Sum):
        return None, summand if summand.is_scalar() else None
    inner = summand.args[0]
    if isinstance(inner, multiply) and inner.args[0].is_constant():
        return np.ravel(inner.args[0].value, order="F"), inner.args[1]
    return None, inner


def _blocks(shape: tuple[int, ...], axis: int | None) -> Ints:
    """Return which norm each entry of an argument goes into, in the order of its columns."""
    count = int(np.prod(shape))
    if axis is None or len(shape) < 2:
        return np.zeros(count, dtype=np.int64)
    place = np.arange(count)
    return place % shape[0] if axis == 1 else place // shape[0]


def _selected(atom: Any, columns: Mapping[int, int], size: int) -> tuple[Ints, float] | None:
    """Return the columns that an atom's argument selects, and the one factor on all of them."""
    if not atom.args or any(not other.is_constant() for other in atom.args[1:]):
        return None
    argument = atom.args[0]
    known = all(variable.id in columns for variable in argument.variables())
    if not argument.is_affine() or argument.is_constant() or not known:
        return None
    rows, constant = affine_rows(argument, columns, size)
    one_each = np.array_equal(np.diff(rows.indptr), np.ones(argument.size))
    if not one_each or np.any(constant) or len(np.unique(rows.indices)) < len(rows.indices):
        return None
    if np.any(rows.data != rows.data[0]) or rows.data[0] <= 0:
        return None
    return rows.indices.astype(np.int64), float(rows.data[0])
