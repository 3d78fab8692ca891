r"""Minimum error rate training: the weights that maximise corpus BLEU on n-best lists.

    max_w  BLEU(h_1(w), ..., h_n(w)),     h_i(w) = argmax_h  w . features_i(h)

Along ``w + gamma d`` the score of every hypothesis is a line in gamma, so the winner of a sentence
changes only at the corners of the upper envelope of its lines. Between the merged corners of all
sentences BLEU is constant: one sweep finds its exact maximum on the whole line.

>>> from structopt.datasets.nbest import NBestList
>>> import numpy as np
>>> one = NBestList(0, ("a red house here", "red a house here"),
...                 np.array([[1.0, 0.0], [0.0, 2.0]]), ("lm", "tm"), np.zeros(2))
>>> model = MERT(random_state=0).fit([one], ["a red house here"])
>>> model.predict([one]), bool(abs(model.bleu_ - 100) < 1e-9)
(['a red house here'], True)
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np

from structopt.arrays import Floats, Ints, check_weights
from structopt.errors import InvalidInputError
from structopt.learn.baselines import mert_kernels
from structopt.learn.metrics.bleu import (
    References,
    bleu_of_statistics,
    bleu_statistics,
    check_corpus,
)
from structopt.parameters import Parameters, Seed
from structopt.run.progress import counted

logger = logging.getLogger(__name__)


class Stacked(NamedTuple):
    """N-best lists one below the other: list i is rows ``ptr[i] .. ptr[i + 1] - 1``."""

    features: Floats
    ptr: Ints

    @classmethod
    def of(cls, lists: Sequence[Any], n_features: int | None = None) -> Stacked:
        """Stack the features of lists; refuse empty ones, other widths and what is not finite."""
        blocks: list[Floats] = []
        for i, one in enumerate(lists):
            block = np.asarray(one.features, dtype=np.float64)
            wanted = n_features or (blocks[0] if blocks else block).shape[-1]
            if len(one.hypotheses) == 0 or block.shape != (len(one.hypotheses), wanted):
                raise InvalidInputError(
                    f"N-best list {i} has {len(one.hypotheses)} hypotheses and features of shape "
                    f"{block.shape}; expected one row of {wanted} for each of at least one.",
                    example=i,
                )
            if not np.isfinite(block).all():
                raise InvalidInputError(
                    f"N-best list {i} has a feature that is not finite.", example=i
                )
            blocks.append(block)
        ptr = np.cumsum([0, *(len(block) for block in blocks)]).astype(np.int64)
        return cls(np.ascontiguousarray(np.concatenate(blocks)), ptr)


class MERT(Parameters):
    r"""Och's exact line search along coordinates and random directions, with restarts.

    Parameters
    ----------
    restarts : int
        Random starting points beside the first one.
    n_random : int
        Random directions a pass, after one along each coordinate.
    max_passes : int
        Most passes over the directions from one starting point.
    random_state : int, optional
        Seed of the directions and starting points.
    verbose : bool
        Show the starting points as they are done.

    Attributes
    ----------
    weights_ : array
        Of l1 norm 1 (decisions do not depend on the length).
    bleu_ : float
        Corpus BLEU of the choices at ``weights_`` on the training lists, 0 to 100.
    history_ : list of float
        BLEU after each pass of the best run.

    Notes
    -----
    F. J. Och (2003), "Minimum error rate training in statistical machine translation". The search
    along a line is exact; over all weights it finds a local maximum, and restarts help.
    """

    weights_: Floats
    bleu_: float
    history_: list[float]

    def __init__(
        self,
        *,
        restarts: int = 10,
        n_random: int = 10,
        max_passes: int = 30,
        random_state: Seed | None = None,
        verbose: bool = False,
    ) -> None:
        self.restarts, self.n_random = restarts, n_random
        self.max_passes, self.random_state, self.verbose = max_passes, random_state, verbose

    def fit(
        self,
        lists: Sequence[Any],
        references: Sequence[References],
        *,
        initial: Any = None,
    ) -> Self:
        """Find weights.

        Parameters
        ----------
        lists : sequence of n-best lists
            Each has ``hypotheses`` and ``features``, as of
            :func:`~structopt.datasets.nbest.read_nbest`.
        references : sequence of str, or of sequences of str
        initial : array, optional
            Where to start; all ones by default.
        """
        check_corpus(lists, references)
        for name, least in (("restarts", 0), ("n_random", 0), ("max_passes", 1)):
            if getattr(self, name) < least:
                raise InvalidInputError(f"{name} is {getattr(self, name)}; at least {least}.")
        data = Stacked.of(lists)
        n_features = data.features.shape[1]
        start = np.ones(n_features) if initial is None else check_weights(initial, n_features)
        counts = [
            bleu_statistics(one.hypotheses, good)[0]
            for one, good in zip(lists, references, strict=True)
        ]
        problem = _Problem(data, np.concatenate(counts))
        rng = np.random.default_rng(self.random_state)
        self.bleu_ = -1.0
        for run in counted(range(self.restarts + 1), "MERT", shown=self.verbose):
            shift = np.max(np.abs(start)) * rng.standard_normal(n_features) if run else 0.0
            weights, history = self._climb(problem, start + shift, rng)
            logger.info("MERT start %d: BLEU %.3f after %d passes", run, history[-1], len(history))
            if history[-1] > self.bleu_:
                self.weights_, self.bleu_, self.history_ = weights, history[-1], history
        return self

    def choose(self, lists: Sequence[Any]) -> Ints:
        """Return the position of the best hypothesis in each list, the first of equals."""
        if len(lists) == 0:
            return np.zeros(0, dtype=np.int64)
        data = Stacked.of(lists, len(self.weights_))
        best = mert_kernels.first_best(data.features @ self.weights_, data.ptr)
        return np.asarray(best - data.ptr[:-1])

    def predict(self, lists: Sequence[Any]) -> list[str]:
        """Return the best hypothesis of each list."""
        chosen = self.choose(lists).tolist()
        return [one.hypotheses[h] for one, h in zip(lists, chosen, strict=True)]

    def _climb(
        self, problem: _Problem, weights: Floats, rng: np.random.Generator
    ) -> tuple[Floats, list[float]]:
        """Search along directions until a whole pass gains nothing."""
        weights = _scaled(weights)
        bleu = problem.bleu(weights)
        history = [bleu]
        for _ in range(self.max_passes):
            random = rng.standard_normal((self.n_random, len(weights)))
            for direction in np.concatenate([np.eye(len(weights)), random]):
                step, _ = problem.line_search(weights, direction)
                moved = _scaled(weights + step * direction)
                found = problem.bleu(moved)  # as it is, not as the sweep found it up to rounding
                if found > bleu:
                    weights, bleu = moved, found
            history.append(bleu)
            if bleu <= history[-2]:
                break
        return weights, history


def _scaled(weights: Floats) -> Floats:
    norm = np.abs(weights).sum()
    return weights / norm if norm > 0 else weights


class _Problem:
    """Stacked lists with the BLEU counts of each hypothesis."""

    def __init__(self, data: Stacked, counts: Ints) -> None:
        self.data, self.counts = data, counts

    def bleu(self, weights: Floats) -> float:
        """Return corpus BLEU of the choices at weights."""
        chosen = mert_kernels.first_best(self.data.features @ weights, self.data.ptr)
        return float(bleu_of_statistics(self.counts[chosen].sum(axis=0)))

    def line_search(self, weights: Floats, direction: Floats) -> tuple[float, float]:
        """Return the step with the highest BLEU along a direction, and that BLEU.

        The step is the middle of its interval; where that is unbounded, a little past its end.
        """
        features, ptr = self.data
        first, step, loser, winner = mert_kernels.envelopes(
            features @ weights, features @ direction, ptr
        )
        order = np.argsort(step, kind="stable")
        change = self.counts[winner[order]] - self.counts[loser[order]]
        totals = self.counts[first].sum(axis=0) + np.cumsum(
            np.vstack([np.zeros_like(change[:1], shape=(1, change.shape[1])), change]), axis=0
        )
        corners = np.concatenate([[-np.inf], step[order], [np.inf]])
        open_ = corners[1:] > corners[:-1]  # corners that coincide leave nothing between them
        bleu = np.where(open_, bleu_of_statistics(totals), -1.0)
        k = int(np.argmax(bleu))
        low, high = corners[k], corners[k + 1]
        if np.isinf(low) and np.isinf(high):
            return 0.0, float(bleu[k])
        if np.isinf(low):
            return high - max(1.0, abs(high)), float(bleu[k])
        if np.isinf(high):
            return low + max(1.0, abs(low)), float(bleu[k])
        return (low + high) / 2, float(bleu[k])
