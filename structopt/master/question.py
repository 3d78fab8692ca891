r"""Which question a rule asks: its rows, read beside what an oracle maximises.

Lowered, a rule is a row for every output y of an example i,

    f_i(loss) * (w . delta) + gamma xi_i + (other columns)  >=  m_i(loss),

and its most violated output maximises ``m_i(loss) - f_i(loss) * (w . delta)``. An oracle maximises
``margin(loss) - scale(loss) * (w . delta)``, so it answers the rule if and only if

    f_i(loss) = k_i scale(loss),    m_i(loss) = k_i margin(loss) + a_i,    k_i > 0,

and nothing else in the row depends on y. Both sides are known at every loss, so this is checked for
all examples at several losses: a rule that its oracle does not maximise would make upper bounds
that are none. A margin ``b_i loss + a_i`` with b_i > 0 is the loss-augmented question at weights
``w f_i / b_i`` (:func:`~structopt.structures.base.oracles.times_loss`), as long as a_i <= 0: gold
is among its answers, and must ask for nothing. With a_i > 0 it is asked of all outputs but gold.

>>> from structopt.structures.base.oracles import loss_augmented
>>> ones = np.ones((len(LOSSES), 1))
>>> twice = Lines(LOSSES, LOSSES, ones[:, 0], ones, 2 * LOSSES[:, None])
>>> twice.beside(loss_augmented)
'its margin is 2 * loss beside 1 * (cut.delta @ w)'
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from structopt.arrays import Floats
from structopt.errors import IncompatibleError
from structopt.structures.base.oracles import (
    Oracle,
    best_other,
    loss_augmented,
    nearest_reference,
    nearest_to_best,
    other_augmented,
    slack_rescaled,
    times_loss,
    worst,
    worst_reference,
)

LOSSES = np.array([1.0, 0.5, 2.0, 3.0, 0.25, 7.0])
"""Losses at which rows are read: two would do for a line, the others find what is none. 0 is left
out, since rules may divide by the loss."""

_OTHERS = np.array([2.0, 5.0, 1.0, 4.0, 0.75, 3.0])
"""Margins of joint cuts, whose sums of margins and of losses are two things."""

BUILT_IN = (
    best_other, loss_augmented, slack_rescaled, worst,
    nearest_reference, nearest_to_best, worst_reference, other_augmented,
)  # fmt: skip
"""Oracles whose question is known; one of the user's own is taken at its word."""

_EQUAL = 1e-9
"""Relative difference up to which coefficients count as equal."""


@dataclass(frozen=True)
class Answered:
    """A family whose oracle maximises its rule: k_i and a_i of every example."""

    factor: Floats
    shift: Floats

    @property
    def plain(self) -> bool:
        """Whether rows read ``scale * (w . delta) + ... >= margin``, without factor and shift."""
        return bool(np.all(self.factor == 1.0) and np.all(self.shift == 0.0))


@dataclass(frozen=True)
class Lines:
    """One side of a rule, ``factor * (w . delta) + ... >= margin``, at sample losses.

    Attributes
    ----------
    loss, asked, scale : arrays
        The losses, and the oracle's margin and scale there.
    factor, margin : arrays (losses, examples)
        The rule's.
    odd : str
        What no oracle knows of: a variable times the loss, or delta times other columns.
    """

    loss: Floats
    asked: Floats
    scale: Floats
    factor: Floats
    margin: Floats
    odd: str = ""

    def of(self, which: NDArray[np.bool_]) -> Lines:
        """Return the side for some of its examples."""
        return replace(self, factor=self.factor[:, which], margin=self.margin[:, which])

    def beside(self, oracle: Oracle) -> Answered | str:
        """Return the rule's factor and shift, or which of its terms the oracle does not fit."""
        if self.odd:
            return self.odd
        factor = self.factor[0] / self.scale[0]
        if np.all(self.factor == 0.0):
            return "it does not bound cut.delta @ w"
        if not np.all(factor > 0):
            above = bool(np.all(self.factor < 0))
            return f"it bounds cut.delta @ w from {'above' if above else 'below'}"
        if not _equal(self.factor, factor * self.scale[:, None]):
            return f"cut.delta @ w is multiplied by {_shown(self.loss, self.factor)}"
        rest = self.margin - factor * self.asked[:, None]
        if not _equal(rest, rest[:1], np.abs(self.margin).max()):
            beside = _shown(self.loss, self.factor)
            return (
                f"its margin is {_shown(self.loss, self.margin)} beside {beside} * (cut.delta @ w)"
            )
        return Answered(factor, rest[0])


def numbers_of(oracle: Oracle | None, *, joint: bool) -> tuple[Floats, Floats, Floats]:
    """Return losses, margins and scales at which rows are read beside an oracle."""
    if oracle is None:
        return LOSSES, LOSSES, np.ones(len(LOSSES))
    margin, scale = np.asarray(oracle.margin(LOSSES)), np.asarray(oracle.scale(LOSSES))
    if joint:  # a cut of all examples: sums, and directions that hold the scale already
        return LOSSES, margin if np.array_equal(margin, LOSSES) else _OTHERS, np.ones(len(LOSSES))
    return LOSSES, margin, scale


def check(lines: list[Lines], oracle: Oracle) -> Answered | str:
    """Return how a rule fits a named oracle; refuse one that a built-in oracle does not maximise.

    An oracle of the user's own is trusted; what does not fit is returned in words.
    """
    if len(lines) > 1:
        fit: Answered | str = (
            "it bounds cut.delta @ w from both sides, and an oracle finds the worst of one: leave "
            "the oracle out, m.cuts(rule)"
        )
    else:
        fit = lines[0].beside(oracle)
    if isinstance(fit, str) and oracle in BUILT_IN:
        raise IncompatibleError(
            f"The rule of a cut family is not what its oracle {oracle!r} ({oracle.question}) "
            f"maximises: {fit}."
        )
    return fit


def multiples(line: Lines) -> Floats:
    """Return kappa of every example whose rule reads ``w . delta >= kappa loss + ...``, else 1.

    >>> ones = np.ones((len(LOSSES), 2))
    >>> multiples(Lines(LOSSES, LOSSES, ones[:, 0], 2 * ones, LOSSES[:, None] * [2.0, 3.0] - 1))
    array([1. , 1.5])
    """
    factor = line.factor
    slope = (line.margin[2] - line.margin[0]) / (line.loss[2] - line.loss[0])
    known = (np.ptp(factor, axis=0) == 0) & (factor[0] > 0) & (slope > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        kappa = np.where(known, slope / factor[0], 1.0)
    return np.where(np.abs(kappa - 1.0) <= _EQUAL, 1.0, kappa)


def derive(line: Lines, *, joint: bool) -> tuple[Oracle, Answered]:
    """Return the oracle that maximises a rule, or refuse in one sentence.

    All examples must ask for the same multiple of the loss (:func:`multiples`).
    """
    reason = line.odd
    for oracle in (loss_augmented,) if joint else BUILT_IN[:4]:
        _, asked, scale = numbers_of(oracle, joint=joint)
        if oracle is loss_augmented and not line.odd:
            oracle = times_loss(float(multiples(line)[0]))
            asked = oracle.margin(asked)
        fit = replace(line, asked=asked, scale=scale).beside(oracle)
        if isinstance(fit, Answered):
            everyone = oracle in (best_other, worst) or bool(np.all(fit.shift <= 0))
            if everyone:
                return oracle, fit
            if oracle.base is loss_augmented and not joint:
                return times_loss(oracle.kappa, other_augmented), fit
            reason = "it asks for a margin even of gold, whose loss is 0"
        elif oracle.base is loss_augmented:
            reason = reason or fit
    raise IncompatibleError(
        f"No oracle is known that finds the most violated output of this rule: {reason}. Known are "
        "margins a, kappa * loss + a with kappa > 0 (a <= 0 in joint cuts), loss * (1 - cut.delta "
        "@ w), and bounds from above; bring an oracle of your own for others, m.cuts(oracle, rule)."
    )


def _equal(a: Floats, b: Floats, size: float = 0.0) -> bool:
    return bool(np.all(np.abs(a - b) <= _EQUAL * max(size, float(np.abs(b).max(initial=0.0)))))


def _shown(loss: Floats, values: Floats) -> str:
    """Return a line in the loss in words.

    >>> _shown(LOSSES, 2 * LOSSES[:, None] - 1)
    '2 * loss - 1'
    """
    first = values[:, 0]
    slope = (first[2] - first[0]) / (loss[2] - loss[0])
    level = first[0] - slope * loss[0]
    if not _equal(first, level + slope * loss, float(np.abs(first).max())):
        return "(a term that is not linear in the loss)"
    level = 0.0 if abs(level) <= _EQUAL * np.abs(first).max() else level
    if slope == 0.0:
        return f"{level:g}"
    return f"{slope:g} * loss" + (f" {'-+'[int(level > 0)]} {abs(level):g}" if level else "")
