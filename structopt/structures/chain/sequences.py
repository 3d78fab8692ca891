r"""What sequences of labels share, however far their scores reach back.

    phi(x, y) = (sum_t x_t by label, counts of pairs, of the ends, of what else is counted).

>>> import numpy as np, structopt as so
>>> X, Y = [np.eye(2)], ["ab"]
>>> [s.fitted(X, Y).n_features_ for s in (so.Chain(), so.SecondOrderChain())]
[8, 16]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Self, TypeVar

import numpy as np
import scipy.sparse as sp

from structopt.arrays import Ints, Stacked, stack_sequences
from structopt.structures.base.labelled import LabelledStructure
from structopt.structures.base.labelled_shard import LabelledShard
from structopt.structures.base.packed import check_decoder
from structopt.structures.base.structure import check_lengths
from structopt.structures.chain.transitions import Bools, allowed_pairs, check_allowed

_S = TypeVar("_S", bound=LabelledShard)


class LabelSequences(LabelledStructure):
    """Sequences of labels with weights of inputs, of pairs, and of both ends."""

    n_inputs_: int
    allowed_: Bools | None = None

    releases_gil: ClassVar[bool] = True

    def __init__(
        self,
        labels: Sequence[Any] | None = None,
        loss: Any = None,
        boundaries: bool = False,
        decoder: str = "compiled",
        transitions: Any = None,
    ) -> None:
        self.labels = labels
        self.cost = loss
        self.boundaries = boundaries
        self.decoder = decoder
        self.transitions = transitions

    def fitted(self, X: Sequence[Any], Y: Sequence[Any]) -> Self:
        """Return a copy that knows the labels, their weights and the dimension."""
        check_decoder(self.decoder)
        check_lengths(X, Y)
        fitted = self._with_labels(Y)
        # pack checks the other inputs; a matrix or frame is no list of them, and is told so here
        whole = sp.issparse(X) or hasattr(X, "columns")
        fitted.n_inputs_ = stack_sequences(X if whole else [X[0]]).matrix.shape[1]
        if self.transitions is not None:
            fitted.allowed_ = allowed_pairs(self.transitions, fitted.labels_)
        fitted.n_features_ = fitted._n_weights()
        return fitted

    def feature_names(self, inputs: Sequence[str] | None = None) -> list[tuple[str, str]]:
        """Return ``(feature, label)`` for each weight; inputs are x0, x1, ... unless named.

        A transition from a to b is ``("after a", "b")``, the ends are ``("start", label)`` and
        ``("end", label)``.
        """
        columns = [f"x{j}" for j in range(self.n_inputs_)] if inputs is None else list(inputs)
        labels = [str(label) for label in self.labels_]
        rows = [(c, k) for k in labels for c in columns]
        rows += [(f"after {j}", k) for j in labels for k in labels]
        if self.boundaries:
            rows += [(which, k) for which in ("start", "end") for k in labels]
        return rows

    def _n_weights(self) -> int:
        n = len(self.labels_)
        return n * (self.n_inputs_ + n + 2 * bool(self.boundaries))

    def _summed(self, tokens: Any, labels: Ints, *more: Ints) -> Any:
        """Return phi of one sequence as a sparse row; ``more`` are places counted once each."""
        n_labels, n_inputs = len(self.labels_), self.n_inputs_
        position, column, value = sp.find(tokens)
        counted = [n_labels * n_inputs + labels[:-1] * n_labels + labels[1:], *more]
        if self.boundaries:
            ends = np.array([labels[0], n_labels + labels[-1]])
            counted.append(n_labels * (n_inputs + n_labels) + ends)
        ones = np.concatenate(counted)
        places = np.concatenate([labels[position] * n_inputs + column, ones])
        places, where = np.unique(places, return_inverse=True)
        summed = np.bincount(where, np.concatenate([value, np.ones(len(ones))]), len(places))
        return sp.csr_array((summed, places, [0, len(places)]), shape=(1, self.n_features_))

    def _begun_allowed(self, shard: _S, stacked: Stacked, gold: Ints, told: bool) -> _S:
        """Return the shard with what is known of gold; gold that is ``told`` must be allowed."""
        shard, allowed = self._begun(shard, gold), self._allowed()
        if allowed is not None and told:
            start, labels = shard.start, self.labels_
            check_allowed(allowed, stacked.offsets, shard.gold, labels, start, "position")
        return shard

    def _allowed(self) -> Bools | None:
        # a model file may hold numbers
        return None if self.allowed_ is None else np.asarray(self.allowed_, dtype=bool)

    def _stack(
        self, X: Any, Y: Sequence[Any] | None, start: int = 0, partial: bool = False
    ) -> tuple[Stacked, Ints]:
        """Return checked tokens and gold labels (zeros without Y)."""
        stacked = stack_sequences(X, self.n_inputs_, start=start)
        return stacked, self._gold(Y, stacked.offsets, start, "positions", partial)
