r"""What an oracle's answer must not fall below: gold's own value, and that of outputs known before.

With value(y) = margin(y) - scale(y) w . delta(y), the answer to an oracle is the output of the
largest value. Gold is one of the outputs (of value margin(0)), and so is every earlier answer, so

    value(answer)  >=  max(0, values of known outputs at the same w).

An oracle that breaks this is not exact, whatever it says; one that keeps it may still not be, which
is what audits are for.

>>> import structopt as so
>>> answers = Answers(outputs=None, loss=np.array([0.0, 1.0]), score=np.array([0.0, 3.0]))
>>> check_gold(so.loss_augmented, [answers], size=1.0)
Traceback (most recent call last):
...
structopt.errors.OracleError: 'loss_augmented' gave example 1 an output of value -2 ...
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from structopt.arrays import Floats, Ints
from structopt.errors import OracleError
from structopt.structures.base.oracles import Oracle, loss_augmented, slack_rescaled, worst
from structopt.structures.base.shard import Answers, excess_of

_ROUNDING = 1e-7
"""Share of the numbers that were added up to which a value counts as equal."""
_WITH_GOLD = (loss_augmented, slack_rescaled, worst)
"""Questions whose answer may be gold, which then has the value 0."""


def check_gold(oracle: Oracle, answers: Sequence[Answers], size: float, start: int = 0) -> None:
    """Refuse exact answers that are worse than gold.

    ``size`` is that of the terms that scores are sums of, ``start`` the number of the first
    example.
    """
    if oracle.base not in _WITH_GOLD or not all(a.exact for a in answers):
        return
    loss = np.concatenate([a.loss for a in answers])
    score = np.concatenate([a.score for a in answers])
    there = np.isfinite(score)
    score = np.where(there, score, 0.0)
    value = oracle.hinge(loss, score) + np.abs(oracle.scale(loss)) * excess_of(answers)
    low = there & (value < -_ROUNDING * (size + np.abs(loss) + np.abs(score)))
    if np.any(low):
        i = int(np.argmax(low))
        raise _worse(oracle.name, start + i, float(value[i]), "gold itself has", 0.0)


def check_known(oracle: Oracle, examples: Ints, known: Floats, given: Floats, size: float) -> None:
    """Refuse answers that a known output of the same example beats.

    Parameters
    ----------
    oracle : Oracle
        What was asked.
    examples, known, given : arrays
        Of each known output: its example, its value, and (an upper bound on) the value of that
        example's answer at the same weights, -inf where there was none.
    size : float
        Of the terms that scores are sums of.
    """
    given = np.broadcast_to(given, known.shape)  # one answer may face many known outputs
    over = known - given > _ROUNDING * (size + np.abs(known))
    if np.any(over):
        k = int(np.argmax(np.where(over, known - np.maximum(given, -1e300), -np.inf)))
        values = float(given[k]), "one that it gave before has", float(known[k])
        raise _worse(oracle.name, int(examples[k]), *values)


def _worse(name: str, example: int, found: float, who: str, better: float) -> OracleError:
    given = f"an output of value {found:.9g}" if np.isfinite(found) else "no output"
    return OracleError(
        f"{name!r} gave example {example} {given} (margin - scale * w . delta), but {who} "
        f"{better:.9g} at the same weights: it does not find the best output, and nothing that "
        "rests on it is proven. Does argmax use gold, and do argmax, loss and joint_features speak "
        "of the same outputs? structopt.testing.check_structure says where they part; a structure "
        "that only approximates says so by `exact = False`.",
        example=example,
    )
