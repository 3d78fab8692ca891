r"""The questions a formulation may ask about one example at weights w.

With delta(y) = phi(x, gold) - phi(x, y), every margin family is a set of rows

    scale(y) * w . delta(y)  >=  margin(y) - slack,

and an oracle finds the y whose row is violated most. An oracle is only a name for a question: the
structures answer it (:mod:`structopt.structures.base.structure`), the formulations ask it.

>>> loss_augmented.hinge(loss=2.0, score=0.5)
1.5
>>> slack_rescaled.hinge(loss=2.0, score=0.5)
1.0
>>> times_loss(3.0).hinge(loss=2.0, score=0.5)
5.5
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = [  # public as so.oracles; rules find `times_loss` by themselves
    "Oracle",
    "best_other",
    "loss_augmented",
    "nearest_reference",
    "nearest_to_best",
    "other_augmented",
    "slack_rescaled",
    "worst",
    "worst_reference",
]


@dataclass(frozen=True)
class Oracle:
    """A question, the ability it needs, and the row it produces.

    Attributes
    ----------
    name : str
        What the question is called in messages and files.
    needs : str
        The :class:`~structopt.Structure` ability that answers it.
    question : str
        The question in words.
    margin, scale : callable
        Arrays of losses to the row's right-hand side and to its factor on ``w . delta``.
    """

    name: str
    needs: str
    question: str
    margin: Callable[[Any], Any]
    scale: Callable[[Any], Any]
    kappa: float = 1.0
    """Of `times_loss`: what the loss is multiplied by, so that structures are asked at w / kappa.
    """

    @property
    def base(self) -> Oracle:
        """The question that structures know."""
        if self.kappa == 1.0:
            return self
        return other_augmented if self.needs == other_augmented.needs else loss_augmented

    def hinge(self, loss: Any, score: Any) -> Any:
        """Return ``margin - scale * score``, the slack that an answer asks for."""
        return self.margin(loss) - self.scale(loss) * score

    def __repr__(self) -> str:
        return f"structopt.{self.name}"

    def __reduce__(self) -> Any:  # unpickled in a worker as the same object
        return self.name if self.kappa == 1.0 else (times_loss, (self.kappa, self.base))


def _same(loss: Any) -> Any:
    return loss


def _one(loss: Any) -> Any:
    return loss * 0.0 + 1.0


def _zero(loss: Any) -> Any:
    return loss * 0.0


def _minus_one(loss: Any) -> Any:
    return loss * 0.0 - 1.0


loss_augmented = Oracle(
    "loss_augmented", "argmax", "argmax over all y of w.phi(y) + loss(y)", margin=_same, scale=_one
)
other_augmented = Oracle(
    "other_augmented",
    "second_augmented",
    "argmax over y != gold of w.phi(y) + loss(y)",
    margin=_same,
    scale=_one,
)


@dataclass(frozen=True)
class _Times:
    kappa: float

    def __call__(self, loss: Any) -> Any:
        return self.kappa * loss


def times_loss(kappa: float, base: Oracle = loss_augmented) -> Oracle:
    """Return the question for the margin ``kappa * loss``, kappa > 0, of all y or of all but gold.

    The y that maximises w.phi + kappa loss is that of (w / kappa).phi + loss: no structure has to
    know kappa (:func:`~structopt.structures.base.shard.asked`).
    """
    if kappa == 1.0:
        return base
    return Oracle(
        f"{base.name}, {kappa:g} times the loss",
        base.needs,
        base.question.replace(" loss(y)", f" {kappa:g} loss(y)"),
        margin=_Times(kappa),
        scale=_one,
        kappa=kappa,
    )


best_other = Oracle(
    "best_other", "second_best", "argmax over y != gold of w.phi(y)", margin=_one, scale=_one
)
slack_rescaled = Oracle(
    "slack_rescaled",
    "slack_rescaled",
    "argmax over all y of loss(y) * (1 - w.delta(y))",
    margin=_same,
    scale=_same,
)
worst = Oracle(
    "worst",
    "argmin",
    "argmin over all y of w.phi(y), the largest w.delta(y)",
    margin=_zero,
    scale=_minus_one,
)
nearest_reference = Oracle(
    "nearest_reference",
    "references",
    "argmax over y outside the references of w.phi(y) - w.phi(the reference nearest to y)",
    margin=_one,
    scale=_one,
)
nearest_to_best = Oracle(
    "nearest_to_best",
    "references",
    "argmax over y outside the references of w.phi(y), against the reference nearest to it",
    margin=_one,
    scale=_one,
)
worst_reference = Oracle(
    "worst_reference",
    "references",
    "best y outside the references against the reference with the lowest score",
    margin=_one,
    scale=_one,
)
