r"""Where the weights of segments stand.

    W (K, d) | B (K', d) | E (K', d) | lengths of each type | S (K', p) | T (K, K) | ends (2, K)

for K labels, of which the first K' are types (the outside has weights of its tokens and transitions
only), d inputs of a token and p of a span. What a structure does not use has no weights.

>>> import numpy as np
>>> Layout(2, 1, 3, 0, np.array([4, 1]), "begin", True, False).n_features
17
"""

from __future__ import annotations

from functools import cached_property

import numpy as np

from structopt.arrays import Floats, Ints

BORDERS = {"none": (False, False), "begin": (True, False), "end": (False, True)}
BORDERS["both"] = (True, True)


class Layout:
    """Sizes of the blocks of weights.

    Parameters
    ----------
    n_labels, n_types, n_inputs, n_spans : int
        K, K', d and p.
    longest : array of int, shape (K,)
        The longest segment of each label.
    borders : {"none", "begin", "end", "both"}
    lengths, boundaries : bool
    """

    def __init__(
        self, n_labels: int, n_types: int, n_inputs: int, n_spans: int, longest: Ints,
        borders: str, lengths: bool, boundaries: bool,
    ) -> None:  # fmt: skip
        self.n_labels, self.n_types = n_labels, n_types
        self.n_inputs, self.n_spans, self.longest = n_inputs, n_spans, longest
        self.begin, self.end = BORDERS[borders]
        self.lengths, self.boundaries = lengths, boundaries

    @cached_property
    def places(self) -> Ints:
        """Where the blocks begin and the last ends: W, B, E, lengths, S, T, the ends."""
        border = self.n_types * self.n_inputs
        sizes = [
            self.n_labels * self.n_inputs,
            border * self.begin,
            border * self.end,
            int(self.longest[: self.n_types].sum()) * self.lengths,
            self.n_types * self.n_spans,
            self.n_labels**2,
            2 * self.n_labels * self.boundaries,
        ]
        return np.cumsum([0, *sizes])

    @property
    def n_features(self) -> int:
        """How many weights there are."""
        return int(self.places[-1])

    @property
    def most(self) -> int:
        """The longest segment of any label."""
        return int(self.longest.max())

    @cached_property
    def length_places(self) -> Ints:
        """Where the weights of each type's lengths begin."""
        ends = np.cumsum(self.longest[: self.n_types])
        return np.asarray(self.places[3] + np.concatenate([[0], ends[:-1]]), dtype=np.int64)

    def length_scores(self, weights: Floats) -> Floats:
        """Return the score of each length (rows) of each label, -inf beyond its longest."""
        every = np.arange(1, self.most + 1)[:, None]
        scores = np.where(every <= self.longest, 0.0, -np.inf)
        if self.lengths:
            for k in range(self.n_types):
                first, n = int(self.length_places[k]), int(self.longest[k])
                scores[:n, k] = weights[first : first + n]
        return scores
