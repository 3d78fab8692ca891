r"""Quadratic terms that couple columns: a block that is positive definite, or squares of new ones.

A lower bound minimises over the columns that P couples by solving with their block. One that is
singular (``quad_form(w, S)`` with S of low rank) is written as squares of columns of its own,

    1/2 x'P x = 1/2 t't,      t = R x,      R'R = P.

>>> p = Program(P=sp.csc_array([[1.0, 1.0], [1.0, 1.0]]), q=np.zeros(2), l1=np.zeros(2),
...             A=sp.csr_array((0, 2)), lower=np.zeros(0), upper=np.zeros(0),
...             lb=np.full(2, -np.inf), ub=np.full(2, np.inf))
>>> split = uncoupled(p)
>>> split.P.diagonal(), abs(split.A.toarray()), split.lower
(array([0., 0., 1.]), array([[1., 1., 1.]]), array([0.]))
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import eigh
from scipy.sparse.linalg import splu

from structopt.master.cones import Cones
from structopt.master.program import Program

_SINGULAR = 1e-9
"""Relative size of a pivot or eigenvalue below which a block counts as singular."""


def coupled_block(P: Any) -> tuple[NDArray[np.bool_], Any]:
    """Return which columns P couples with others, and their block."""
    coo = sp.coo_array(P)
    coupled = np.zeros(P.shape[0], dtype=bool)
    coupled[coo.row[(coo.row != coo.col) & (coo.data != 0)]] = True
    if not np.any(coupled):
        return coupled, sp.csc_array((0, 0))
    which = np.flatnonzero(coupled)
    return coupled, sp.csc_array(sp.csc_array(P)[which][:, which])


def is_definite(block: Any) -> bool:
    """Return whether a symmetric block is positive definite, well away from singular."""
    if not block.shape[0]:
        return True
    try:
        options = {"SymmetricMode": True}
        factor = splu(block, permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options=options)
    except RuntimeError:  # exactly singular
        return False
    pivots = factor.U.diagonal()
    return bool(pivots.min() > _SINGULAR * pivots.max())


def uncoupled(program: Program) -> Program:
    """Return a programme whose coupled block, if there is one, is positive definite."""
    coupled, block = coupled_block(program.P)
    if is_definite(block):
        return program
    values, vectors = eigh(block.toarray())
    kept = values > _SINGULAR * values.max(initial=0.0)
    where, n, k = np.flatnonzero(coupled), program.size, int(kept.sum())
    root = np.zeros((k, n))
    root[:, where] = np.sqrt(values[kept])[:, None] * vectors[:, kept].T
    alone = sp.diags_array(np.where(coupled, 0.0, program.P.diagonal()))
    wider = sp.csr_array((program.A.shape[0], k))
    rows = [[program.A, wider], [sp.csr_array(root), -sp.eye_array(k)]]
    free, cones = np.full(k, np.inf), program.cones
    if len(cones):
        matrix = sp.hstack([cones.matrix, sp.csr_array((len(cones), k))])
        cones = replace(cones, matrix=sp.csr_array(matrix))
    return replace(
        program,
        P=sp.csc_array(sp.block_diag([alone, sp.eye_array(k)])),
        q=np.r_[program.q, np.zeros(k)],
        l1=np.r_[program.l1, np.zeros(k)],
        A=sp.csr_array(sp.block_array(rows)),
        lower=np.r_[program.lower, np.zeros(k)],
        upper=np.r_[program.upper, np.zeros(k)],
        lb=np.r_[program.lb, -free],
        ub=np.r_[program.ub, free],
        cones=cones if len(cones) else Cones.none(n + k),
    )
