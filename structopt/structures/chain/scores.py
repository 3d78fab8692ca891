"""What the decoders of sequences read, and what they know of the sequences."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from structopt.arrays import Floats, Ints, check_weights
from structopt.structures.base.input_rows import InputRows
from structopt.structures.chain.transitions import Bools


class ChainScores(NamedTuple):
    """Score of each label at each token, of each transition, of the ends."""

    unary: Floats
    transition: Floats
    start: Floats
    end: Floats

    @classmethod
    def of(cls, tokens: InputRows, weights: Floats, n_labels: int, boundaries: bool) -> ChainScores:
        """Score stacked tokens; weights of a few tokens need no check."""
        pairs = n_labels * tokens.n_inputs
        ends = pairs + n_labels * n_labels
        if tokens.few:
            around = weights[ends:] if boundaries else np.zeros(2 * n_labels)
            transition = weights[pairs:ends]
        else:
            weights = check_weights(weights, ends + 2 * n_labels * boundaries)
            # copies: weights that are read-only would be another type to numba, and compiled anew
            around = np.array(weights[ends:]) if boundaries else np.zeros(2 * n_labels)
            transition = np.array(weights[pairs:ends])
        return cls(
            tokens.scores(weights[:pairs], n_labels),
            transition.reshape(n_labels, n_labels),
            around[:n_labels],
            around[n_labels:],
        )

    def negated(self) -> ChainScores:
        """Return the scores of the opposite question; what is forbidden stays so."""
        steps = (np.where(part == -np.inf, part, -part) for part in self[1:])
        return ChainScores(-self.unary, *steps)

    def finite(self) -> ChainScores:
        """Return the scores with 0 for what is forbidden, to compare outputs that are not."""
        return ChainScores(self.unary, *(np.where(part == -np.inf, 0.0, part) for part in self[1:]))

    def masked(self, allowed: Bools | None) -> ChainScores:
        """Return the scores with minus infinity for what is not allowed."""
        if allowed is None:
            return self
        return ChainScores(
            self.unary,
            np.where(allowed[:-1, :-1], self.transition, -np.inf),
            np.where(allowed[-1, :-1], self.start, -np.inf),
            np.where(allowed[:-1, -1], self.end, -np.inf),
        )


class Tokens(Protocol):
    """Stacked tokens with gold labels, as a shard holds them."""

    tokens: InputRows
    offsets: Ints
    gold: Ints
    cost: Floats
    boundaries: bool
    n_labels: int
    n_examples: int
    allowed: Bools | None


class Sequences(Tokens, Protocol):
    """Tokens that are scored as a chain."""

    def part_scores(self, weights: Floats) -> ChainScores:
        """Return the score of each label at each token, of each transition, of the ends."""
