r"""Structured SMO: two multipliers of one example exchange mass, in closed form.

    D(alpha) = sum_i,y alpha_iy m_i(y) - sum_j v_j^2 / (2 p_j),
    v = sum_i,y alpha_iy s_i(y) delta_i(y),
    alpha >= 0,  sum_y alpha_iy = c_i,  gold among the outputs with m = 0 and delta = 0.

A visit to example i takes the output u that breaks the optimality conditions most (the oracle's
answer at w) and the output d with alpha_id > 0 that least deserves its mass, and moves
min(alpha_id, (g_u - g_d) / |delta_u - delta_d|^2) from d to u, where g = m - s w . delta.
"""

from __future__ import annotations

from typing import Unpack

from structopt.engines.dataset import DataSet
from structopt.formulations.base import Formulation
from structopt.methods.frank_wolfe.method import FrankWolfe
from structopt.parameters import Seed
from structopt.run.limits import LimitOptions
from structopt.structures.base.structure import Structure


class StructuredSMO(FrankWolfe):
    r"""Sequential minimal optimisation over outputs; a round is a visit to every example.

    .. math::
        \alpha_{iu} \leftarrow \alpha_{iu} + t, \quad \alpha_{id} \leftarrow \alpha_{id} - t, \qquad
        t = \min\Bigl(\alpha_{id},\; \frac{g_u - g_d}{|\delta_u - \delta_d|^2}\Bigr)

    The baseline that the saddle-point paper names beside exponentiated gradient. D never falls, and
    the gap is certified as by ``"frank-wolfe"``, which takes several such steps a visit and visits
    again without the oracle: use that one to learn, this one to compare.

    Parameters
    ----------
    structure, formulation, data, **limits
        As in :class:`~structopt.FrankWolfe`.
    planes : int
        Outputs of an example that may carry mass at once; of more, the two that carry least are
        joined, which changes neither w nor D.
    random_state : int, optional
        Seed of the order of visits; None is 0.

    Notes
    -----
    Taskar, Guestrin and Koller (2004), Max-margin Markov networks, section 6: there the pair is
    drawn from the marginals of a chain, and examples are chosen by how much they violate the
    conditions; here the oracle names one of the pair, for any structure, and examples take turns.

    Examples
    --------
    >>> import structopt as so
    >>> X, y = so.datasets.make_classes(60, seed=0)
    >>> structure = so.Multiclass().fitted(X, y)
    >>> run = so.StructuredSMO(structure, so.M3N(), so.DataSet.of(structure, X, y), tol=1e-2)
    >>> run.solve().certificate.certified
    True
    """

    name = "structured-smo"
    _pairs = 1

    def __init__(
        self,
        structure: Structure,
        formulation: Formulation,
        data: DataSet,
        *,
        planes: int = 24,
        random_state: Seed | None = None,
        **limits: Unpack[LimitOptions],
    ) -> None:
        super().__init__(
            structure, formulation, data, planes=planes, sweeps=0, random_state=random_state,
            **limits,
        )  # fmt: skip
