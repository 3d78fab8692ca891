"""What the decoders of second-order chains read."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from structopt.arrays import Floats, Ints, check_weights
from structopt.structures.base.input_rows import InputRows
from structopt.structures.chain.scores import ChainScores
from structopt.structures.chain.transitions import Bools


class SecondOrderScores(NamedTuple):
    """The scores of a chain, and of three labels in a row, ``triple[i, j, k]``."""

    unary: Floats
    transition: Floats
    start: Floats
    end: Floats
    triple: Floats

    @classmethod
    def of(
        cls, tokens: InputRows, weights: Floats, n_labels: int, boundaries: bool,
        allowed: Bools | None,
    ) -> SecondOrderScores:  # fmt: skip
        """Score stacked tokens; weights of a few tokens need no check."""
        size = n_labels * (tokens.n_inputs + n_labels + 2 * boundaries)
        if not tokens.few:
            weights = check_weights(weights, size + n_labels**3)
        chain = ChainScores.of(tokens, weights[:size], n_labels, boundaries).masked(allowed)
        # a copy: weights that are read-only would be another type to numba, and compiled anew
        return cls(*chain, np.array(weights[size:]).reshape((n_labels,) * 3))

    @property
    def chain(self) -> ChainScores:
        """The scores without those of triples."""
        return ChainScores(*self[:4])

    def negated(self) -> SecondOrderScores:
        """Return the scores of the opposite question; what is forbidden stays so."""
        return SecondOrderScores(*self.chain.negated(), -self.triple)

    def of_triples(self, labels: Ints, offsets: Ints) -> Floats:
        """Return what the triples of stacked outputs score, in each sequence."""
        found = np.zeros(len(labels))
        last = third(offsets)
        found[last] = self.triple[labels[last - 2], labels[last - 1], labels[last]]
        return np.asarray(np.add.reduceat(found, offsets[:-1]), dtype=np.float64)


def third(offsets: Ints) -> Ints:
    """Return the positions that have two before them.

    >>> third(np.array([0, 1, 5, 7]))
    array([3, 4])
    """
    place = np.arange(offsets[-1]) - np.repeat(offsets[:-1], np.diff(offsets))
    return np.flatnonzero(place > 1)
