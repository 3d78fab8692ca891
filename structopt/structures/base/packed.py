r"""Structures that answer for many examples at once; one example is a batch of one.

Every structure of this package is a :class:`PackedStructure`. It says how examples are packed into
a :class:`~structopt.structures.base.shard.Shard` and how a shard's outputs are written for users;
`argmax`, `argmin`, `second_best`, `k_best`, `slack_rescaled`, `predict` and `marginals` follow from
the shard, so that there is one decoder and not two. To write one (`Chain` is the example):

* ``offers``: the abilities its shard answers.
* ``fitted(X, Y)``: a copy that knows its dimension (`LabelledStructure` finds labels and weights).
* ``pack(X, Y, start)``: checked examples as a shard; Y is None where nothing is known (prediction),
  then any valid gold will do. ``start`` numbers the first example in messages.
* ``unpack(shard, outputs)``: what users see, one output an example.
* ``joint_features(x, y)`` and ``loss(y, other)``: the definition that shards must agree with.
* ``held(X, given, shard)``, if parts of outputs can be given at prediction: what is given
  (:mod:`structopt.structures.base.given`) as ``shard.within(weights, held)`` reads it.

A shard answers `ask`, `argmax`, `k_best`, ...; an infinite score says that there is no such output.
It names the arrays that run along its examples (``along``, ``each``), and
:meth:`~structopt.structures.base.shard.Shard.part` cuts examples a .. b out of it as views.

A subclass that overrides a method is asked through its own methods, example by example. What it
inherits must still be true: who overrides `loss` overrides `argmax` and `slack_rescaled` too where
they are asked for, who overrides `joint_features` every oracle that is asked for.

>>> import numpy as np, structopt as so
>>> class Strict(so.Chain):
...     '''One wrong label is as bad as all of them.'''
...     def loss(self, y, other):
...         return float(list(y) != list(other))
>>> sorted(Strict.offers - Strict().abilities()), Strict().overridden()
(['argmax', 'second_augmented', 'slack_rescaled'], frozenset({'loss'}))
>>> Strict().why_not("argmax")
'Strict overrides loss() but inherits argmax(), which does not know of it: override argmax() too.'
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from functools import cache
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from structopt.arrays import Floats, count
from structopt.errors import IncompatibleError, InvalidInputError
from structopt.parameters import Count, checked
from structopt.structures.base.given import nothing_agrees
from structopt.structures.base.oracles import (
    Oracle,
    best_other,
    loss_augmented,
    other_augmented,
    slack_rescaled,
    worst,
)
from structopt.structures.base.shard import Answers, Shard, no_output
from structopt.structures.base.structure import ABILITIES, Structure, check_lengths

DECODERS = ("compiled", "networkx")
WRITTEN = frozenset({"joint_features", "loss", "answer", *ABILITIES})
"""The methods that a user may write; whoever overrides one is asked through all of them."""
NEEDS = {
    "loss": frozenset({"argmax", "slack_rescaled", "second_augmented"}),
    "joint_features": frozenset(ABILITIES),
}
"""Which abilities are wrong once a definition is overridden."""


class PackedStructure(Structure):
    """Base of the structures that decode many examples in one call: see the module's page."""

    offers: ClassVar[frozenset[str]] = frozenset({"argmax"})
    """The abilities that the shard answers."""

    _stored: ClassVar[Mapping[str, str]] = {"loss": "cost"}  # `loss` itself is the method
    _moved: ClassVar[Mapping[str, str]] = {
        "class_weight": "loss=so.losses.Hamming(class_weight=...)",
        "extra": "loss=so.losses.PartCosts(extra=...)",
        "missed": "loss=so.losses.PartCosts(missed=...)",
        "false_positive": "loss=so.losses.PartCosts(extra=...)",
        "false_negative": "loss=so.losses.PartCosts(missed=...)",
        "cost": "loss=so.losses.PartCosts(...)",
    }

    # ------------------------------------------------------------------ what a structure writes
    @abstractmethod
    def pack(self, X: Any, Y: Any, start: int = 0) -> Shard:
        """Return checked examples as a shard, whatever may be overridden; Y may be None."""

    @abstractmethod
    def unpack(self, shard: Any, outputs: Any) -> list[Any]:
        """Return a shard's outputs as users write them, one an example."""

    def held(self, X: Any, given: Any, shard: Any) -> Any:
        """Return what is given of some examples, as the shard's `within` reads it."""
        raise IncompatibleError(
            f"{type(self).__name__} cannot be held to parts that are given at prediction."
        )

    def one(self, x: Any) -> Any:
        """Return x as the inputs of a data set with one example."""
        return [x]

    @property
    def own_loss(self) -> Any:
        """A loss of the user's that brings its oracle, ``argmax(structure, x, weights, gold)``."""
        given = getattr(self, "cost", None)
        return given if hasattr(given, "argmax") and callable(given) else None

    # ------------------------------------------------------------------ what follows
    def encode(self, X: Any, Y: Any, *, start: int = 0) -> Shard:
        """Encode examples with their gold outputs; ``start`` numbers the first in messages."""
        if self.overridden() - {"marginals"}:
            return super().encode(X, Y, start=start)
        check_lengths(X, Y)
        shard = self.pack(X, Y, start)
        _ = shard.base  # made on demand; a shard that is asked many times has it from the start
        return shard

    def argmax(self, x: Any, weights: Floats, *, gold: Any = None) -> Any:
        """Return the best output, loss-augmented if gold is given."""
        if gold is not None:
            if self.own_loss is not None:
                return self.own_loss.argmax(self, x, weights, gold)
            return self._one(loss_augmented, x, weights, gold)
        self._check("argmax", "joint_features")
        shard = self.pack(self.one(x), None)
        return self._unpacked(shard, shard.argmax(weights))[0]

    def argmin(self, x: Any, weights: Floats) -> Any:
        """Return the output with the lowest score."""
        return self._one(worst, x, weights, None)

    def second_best(self, x: Any, weights: Floats, gold: Any) -> Any:
        """Return the best output other than gold; None if there is no other."""
        answered = "second_best" in self.offers and self._holds("second_best")
        if "k_best" in self.overridden() and not answered:
            return super().second_best(x, weights, gold)
        return self._one(best_other, x, weights, gold)

    def second_augmented(self, x: Any, weights: Floats, gold: Any) -> Any:
        """Return the best output other than gold with its loss added; None if there is no other."""
        return self._one(other_augmented, x, weights, gold)

    @checked
    def k_best(self, x: Any, weights: Floats, k: Count) -> list[Any]:
        """Return the k best outputs, best first (fewer if there are fewer)."""
        self._check("k_best")
        shard = self.pack(self.one(x), None)
        found = shard.k_best(weights, k)
        ranked = [*found[:1], *(a for a in found[1:] if np.isfinite(a.score[0]))]
        if not ranked:
            raise no_output(shard.start)
        return [self._unpacked(shard, answers)[0] for answers in ranked]

    def slack_rescaled(self, x: Any, weights: Floats, gold: Any) -> Any:
        """Return the output that maximises ``loss * (1 - w . delta)``."""
        return self._one(slack_rescaled, x, weights, gold)

    def predict(self, X: Any, weights: Floats, *, given: Any = None) -> list[Any]:
        """Return the best output of every example, in one pass; see :meth:`Structure.predict`."""
        if given is not None:
            return self._held(X, weights, given)
        if "argmax" in self.overridden():
            return super().predict(X, weights)
        self._check("argmax", "joint_features")
        if count(X) == 0:
            return []
        X = sp.csr_array(X) if sp.issparse(X) else X
        shard = self.pack(X, None)
        return self._unpacked(shard, shard.argmax(weights))

    def marginals(self, X: Any, weights: Floats) -> list[Floats]:
        """Return, for every example, the probability of each label at each part."""
        self._check("marginals")
        return self.pack(X, None).marginals(weights) if count(X) else []

    def complete(self, x: Any, weights: Floats, gold: Any) -> Any:
        """Return the best output that agrees with what is known of gold."""
        shard = self.pack(self.one(x), [gold]).completed(weights)
        return self.unpack(shard, shard.anchor)[0]

    # ------------------------------------------------------------------ overrides
    def overridden(self) -> frozenset[str]:
        """Return the methods that were overridden below the class that packs, or on the object."""
        own = _overridden(type(self))  # type: ignore[arg-type]  # a class is hashable
        given = {"loss", "argmax"} if self.own_loss is not None else set()
        return own | (WRITTEN & vars(self).keys()) | given

    def abilities(self) -> frozenset[str]:
        """Return the questions it can answer; inherited answers that are wrong by now left out."""
        own = self.overridden()
        mine = {a for a in ABILITIES if (a in self.offers or a in own) and self._holds(a)}
        return frozenset(mine | ({"second_best"} if "k_best" in own else set()))

    def why_not(self, ability: str) -> str:
        """Return why an ability is missing, where a definition that it needs was overridden."""
        if ability not in self.offers or self._holds(ability):
            return super().why_not(ability)
        if self.own_loss is not None and ability in NEEDS["loss"]:
            return f"{self.own_loss!r} brings no {ability}()."
        changed = [d for d in NEEDS if d in self.overridden() and ability in NEEDS[d]]
        return (
            f"{type(self).__name__} overrides {' and '.join(f'{d}()' for d in changed)} but "
            f"inherits {ability}(), which does not know of it: override {ability}() too."
        )

    def _holds(self, ability: str, *definitions: str) -> bool:
        """Whether an answer is the subclass's own, or nothing it depends on was overridden."""
        own = self.overridden()
        changed = (d for d in definitions or NEEDS if d in own and ability in NEEDS[d])
        return ability in own or not any(changed)

    def _check(self, ability: str, *definitions: str) -> None:
        """Refuse what is not offered, or what would use a definition that was overridden."""
        if ability not in self.offers:
            raise self._lacks(ability)
        if not self._holds(ability, *definitions):
            raise IncompatibleError(self.why_not(ability))

    # ------------------------------------------------------------------ inside
    def _one(self, oracle: Oracle, x: Any, weights: Floats, gold: Any) -> Any:
        """Answer an oracle for one example."""
        self._check(oracle.needs)
        shard = self.pack(self.one(x), None if gold is None else [gold])
        answers = shard.ask(oracle, weights)
        if oracle in (best_other, other_augmented) and not np.isfinite(answers.score[0]):
            return None
        return self._unpacked(shard, answers)[0]

    def _held(self, X: Any, weights: Floats, given: Any) -> list[Any]:
        """Return the best outputs that have the parts given."""
        if {"argmax", "joint_features"} & _overridden(type(self)):  # type: ignore[arg-type]
            raise IncompatibleError(
                f"{type(self).__name__} overrides argmax() or joint_features(), and what is given "
                "is asked of what it inherits: predict without it, or override predict() too."
            )
        if count(X) == count(given, "given") == 0:
            return []
        check_lengths(X, given)
        shard = self.pack(X, None)
        outputs, missing = shard.within(weights, self.held(X, given, shard))
        if np.any(missing):
            i = int(np.argmax(missing))
            raise nothing_agrees(given[i], shard.start + i)
        return self.unpack(shard, outputs)

    def _unpacked(self, shard: Shard, answers: Answers) -> list[Any]:
        missing = np.flatnonzero(~np.isfinite(answers.score))
        if len(missing):
            raise no_output(shard.start + int(missing[0]))
        return self.unpack(shard, answers.outputs)


def check_decoder(decoder: str) -> None:
    """Refuse a decoder that does not exist."""
    if decoder not in DECODERS:
        raise InvalidInputError(f"decoder is {decoder!r}; it must be one of {DECODERS}.")


@cache
def _overridden(cls: type) -> frozenset[str]:
    below: list[type] = []
    for base in cls.__mro__:
        if "pack" in vars(base):
            break
        below.append(base)
    return frozenset(name for base in below for name in WRITTEN if name in vars(base))
