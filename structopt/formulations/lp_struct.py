"""Structured prediction by linear programming."""

from __future__ import annotations

from typing import Literal

from structopt.errors import IncompatibleError
from structopt.formulations.base import Declaration, Formulation, WeightConstraints
from structopt.parameters import Positive
from structopt.structures.base.oracles import (
    best_other,
    loss_augmented,
    nearest_reference,
    nearest_to_best,
    worst_reference,
)

_ORACLES = {
    None: best_other,
    "nearest": nearest_reference,
    "nearest to best": nearest_to_best,
    "worst": worst_reference,
}


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
    rescale : {"unit", "margin"}
        A margin of 1 for every wrong output, or of its loss; the paper has the former.
    references : {None, "nearest", "nearest to best", "worst"}
        With several good outputs an example (:class:`~structopt.References`):
        pair a bad output with the reference nearest to it, LP (7), or with every reference, of
        which the worst-scored binds, LP (8). With one reference both are LP (6). "nearest to best"
        is LP (7) in the order of Algorithm 1: the best bad output first (line 5), then the
        reference nearest to it (line 6). That pair is not always the most violated one, so that
        nothing is certified.
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
        rescale: Literal["unit", "margin"] = "unit",
        references: Literal["nearest", "nearest to best", "worst"] | None = None,
        constraints: WeightConstraints | None = None,
    ) -> None:
        self.C, self.nonnegative, self.rescale = C, nonnegative, rescale
        self.references, self.constraints = references, constraints

    def master(self, m: Declaration) -> None:
        """Declare the programme."""
        import cvxpy as cp

        oracle = _ORACLES[self.references]
        if self.rescale == "margin":
            if self.references is not None:
                raise IncompatibleError(
                    "LPStruct(rescale='margin') needs loss-augmented decoding, which several "
                    f"references do not offer: leave out references={self.references!r}."
                )
            oracle = loss_augmented
        w, xi = m.weights(self.constraints), m.slacks()
        if self.nonnegative:
            m.subject_to(w >= 0)
        m.minimize(cp.norm1(w) + self.C * cp.sum(xi))
        m.cuts(oracle, lambda cut: cut.delta @ w >= cut.margin - cut.of(xi))
