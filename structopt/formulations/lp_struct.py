"""Structured prediction by linear programming."""

from __future__ import annotations

from typing import Literal

from structopt.formulations.base import Declaration, Formulation, WeightConstraints
from structopt.parameters import Positive
from structopt.structures.base.oracles import best_other, nearest_reference, worst_reference

_ORACLES = {None: best_other, "nearest": nearest_reference, "worst": worst_reference}


class LPStruct(Formulation):
    r"""LP-Struct: an l1 regulariser and a unit margin, a linear programme.

    .. math::
        \min_{w,\xi\ge 0} \|w\|_1 + C \sum_i \xi_i
        \quad\text{s.t.}\quad w\cdot\delta_i(y) \ge 1 - \xi_i,\ y \ne y_i,
        \qquad w \ge 0 \text{ if nonnegative}

    Parameters
    ----------
    C : float
        Weight of the slacks.
    nonnegative : bool
        Keep w >= 0, as the paper does; False leaves the weights free.
    references : {None, "nearest", "worst"}
        With several good outputs an example (:class:`~structopt.References`):
        pair a bad output with the reference nearest to it, LP (7), or with every reference, of
        which the worst-scored binds, LP (8). With one reference both are LP (6).
    constraints : callable, optional
        Takes the CVXPY weight variable and returns constraints that the answer keeps.

    Notes
    -----
    Wang and Shawe-Taylor (2009), LP (6), (7) and (8).

    ============  ========
    paper         here
    ============  ========
    C             ``C``
    xi_i          ``m.slacks()``
    H             the rows ``cut.delta``
    ============  ========

    Examples
    --------
    >>> import structopt as so
    >>> X, Y = so.datasets.make_chain_crf(8, n_features=5, n_relevant=3, seed=0)
    >>> free = so.LPStruct(C=1.0, nonnegative=False)
    >>> result = so.StructuredClassifier(so.Chain(), free).fit(X, Y).result_
    >>> result.certificate.certified, bool((result.weights == 0).any())  # l1 leaves weights out
    (True, True)
    """

    def __init__(
        self,
        C: Positive = 1.0,
        *,
        nonnegative: bool = True,
        references: Literal["nearest", "worst"] | None = None,
        constraints: WeightConstraints | None = None,
    ) -> None:
        self.C, self.nonnegative = C, nonnegative
        self.references, self.constraints = references, constraints

    def master(self, m: Declaration) -> None:
        """Declare the programme."""
        import cvxpy as cp

        w, xi = m.weights(self.constraints), m.slacks()
        if self.nonnegative:
            m.subject_to(w >= 0)
        m.minimize(cp.norm1(w) + self.C * cp.sum(xi))
        m.cuts(_ORACLES[self.references], lambda cut: cut.delta @ w >= 1 - cut.of(xi))
