r"""Label vectors decoded by beam search: the generic search, which may miss the best legal vector.

    B_0 = {()},   B_t = the ``width`` best of {(y, k) : y in B_{t-1}, (y, k) begins a legal vector}.

>>> import numpy as np, structopt as so
>>> X, Y = [np.eye(2)] * 2, [(0, 1), (1, 1)]
>>> legal = [(0, 1), (1, 1), (1, 0)]
>>> weights = np.array([1.0, 0, 0, 0, 0, 3.0, 0, 0])  # 0 at first (1), then 0 (3), which 0 forbids
>>> for width in (1, 2):
...     print(so.BeamSearch(legal, width=width).fitted(X, Y).argmax(X[0], weights))
(0, 1)
(1, 0)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from structopt.arrays import Floats, check_weights
from structopt.parameters import Count
from structopt.structures.label_vector.structure import LabelVector


class BeamSearch(LabelVector):
    r"""Vectors of c labels, decoded from the first component to the last with a beam.

    Every prefix that is kept begins some legal vector, so that a legal vector is always found; the
    best one where ``width`` is large enough, and otherwise perhaps not: ``exact`` is False, and
    nothing learned with it is certified.

    Parameters
    ----------
    legal, labels, loss
        As in :class:`~structopt.LabelVector`, which is exact.
    width : int
        Prefixes that are kept.

    Notes
    -----
    Punyakanok, Roth, Yih and Zimak (2005), section 2: "For general structure of constraints, a
    generic search method (e.g., beam search) may be applied."
    """

    exact: ClassVar[bool] = False
    offers: ClassVar[frozenset[str]] = frozenset({"argmax"})

    def __init__(
        self,
        legal: Sequence[Sequence[Any]] | None = None,
        labels: Sequence[Any] | None = None,
        loss: Any = None,
        width: Count = 4,
    ) -> None:
        super().__init__(legal, labels, loss)
        self.width = width

    def argmax(self, x: Any, weights: Floats, *, gold: Any = None) -> Any:
        """Return the best vector that the beam comes to, plus the loss given gold."""
        (inputs,), n = self._inputs([x]), len(self.labels_)
        table = check_weights(weights, self.n_features_).reshape(self.n_components_, n, -1)
        score = np.einsum("tkd,td->tk", table, inputs)
        if gold is not None:
            score = score + self._added(gold)
        begins = {tuple(row[:t].tolist()) for row in self._legal() for t in range(len(row) + 1)}
        beam: list[tuple[float, tuple[int, ...]]] = [(0.0, ())]
        for t in range(self.n_components_):
            further = [
                (value + float(score[t, k]), (*prefix, k))
                for value, prefix in beam
                for k in range(n)
                if not begins or (*prefix, k) in begins
            ]
            beam = sorted(further, key=lambda one: -one[0])[: self.width]  # of equals the first
        return tuple(self.labels_.decode(np.array(beam[0][1])))

    def _added(self, gold: Any) -> Floats:
        """Return what each label at each component adds to the loss, which is a sum over them."""
        found = np.zeros((self.n_components_, len(self.labels_)))
        for t in range(self.n_components_):
            for k, label in enumerate(self.labels_):
                found[t, k] = self.loss(gold, (*gold[:t], label, *gold[t + 1 :]))
        return found
