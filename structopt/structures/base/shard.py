"""Examples encoded once, in whatever form their structure likes best, to be asked as a whole.

A :class:`Shard` answers an oracle for all of its examples in one call; some of them are a shard
again, over the same arrays. The master problem sees only the answers.
"""

from __future__ import annotations

import copy
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from importlib import import_module
from itertools import pairwise
from typing import Any, ClassVar, Self, TypeVar

import numpy as np

from structopt.arrays import Floats, Ints, strided
from structopt.errors import IncompatibleError, InfeasibleError
from structopt.structures.base.expectations import Expected
from structopt.structures.base.label_problem import LabelProblem
from structopt.structures.base.oracles import Oracle
from structopt.structures.base.parts import UNIT, Directions
from structopt.structures.base.relaxation import Relaxation


@dataclass(frozen=True)
class Answers:
    """What a shard answers to an oracle: for each example an output, its loss, and ``w . delta``.

    Where an example has no such output at all (nothing but gold is possible), ``score`` is
    infinite: the constraint cannot be violated.

    Examples
    --------
    >>> import numpy as np, structopt as so
    >>> X, Y = so.datasets.make_chain_crf(8, n_features=5, n_relevant=3, seed=0)
    >>> structure = so.Chain().fitted(X, Y)
    >>> data = so.DataSet.of(structure, X, Y)
    >>> (answers,) = data.ask(so.loss_augmented, np.zeros(structure.n_features_))
    >>> answers.exact, float(answers.loss.sum()), float(answers.score.sum())
    (True, 64.0, 0.0)
    """

    outputs: Any
    loss: Floats
    score: Floats
    exact: bool = True
    """Whether these are proven to be the right answers, within `excess` where it is given."""
    excess: Floats | None = None
    """How far each example's true answer may beat this one, in score: an oracle that rounds, or
    stops at a gap, gives it here, and upper bounds stay bounds. None means 0."""


def no_output(example: int) -> InfeasibleError:
    """Return the error of an example that has no output."""
    return InfeasibleError(
        f"Example {example} has no output at all: its constraints contradict each other.",
        example=example,
    )


def excess_of(answers: Sequence[Answers]) -> Floats:
    """Return how far each example's true answer may beat the given one, over all shards."""
    each = [np.zeros(len(a.loss)) if a.excess is None else a.excess for a in answers]
    return np.concatenate(each)


_S = TypeVar("_S", bound="Shard")


class Shard(ABC):
    """Encoded examples, with gold outputs, that answer oracles for given weights.

    Attributes
    ----------
    n_examples : int
        How many examples the shard holds.
    base : sparse matrix
        The base matrix of :class:`~structopt.structures.base.parts.Directions`; sparse rows are
        directions over :data:`~structopt.structures.base.parts.UNIT`, entry by entry.
    start : int
        Number of the first example in messages.
    """

    along: ClassVar[Mapping[str, tuple[str, ...]]] = {}
    """What :meth:`part` cuts: for each array of ends (example i has the entries ``ends[i]`` to
    ``ends[i + 1]``) the attributes that run along it. Whatever can be sliced will do."""
    each: ClassVar[tuple[str, ...]] = ()
    """The attributes with one entry an example."""

    inputs_in: ClassVar[str | None] = None
    """The attribute that holds all rows of inputs, where weights are one block as long as these are
    wide (one a label, where there are labels), and then those that no input multiplies."""

    n_examples: int
    start: int = 0
    few: bool = False
    """Whether this is a part, made for many small questions: weights need no check."""
    base: Any = UNIT
    gold: Any = None
    """The encoded gold outputs, where they are an array (for fingerprints)."""

    @abstractmethod
    def ask(self, oracle: Oracle, weights: Floats) -> Answers:
        """Answer ``oracle`` for every example."""

    @abstractmethod
    def directions(self, outputs: Any, which: Ints) -> Directions:
        """Return delta of ``outputs[which]`` over ``base``."""

    def renumbered(self, place: Ints, width: int) -> Self:
        """Return the same examples with input j as input ``place[j]`` of ``width``."""
        assert self.inputs_in is not None, "rows of inputs"
        other = forget(copy.copy(self))
        rows = getattr(self, self.inputs_in).renumbered(place, width)
        setattr(other, self.inputs_in, rows)
        vars(other)["base"] = rows.base
        return other

    def within(self, weights: Floats, held: Any) -> tuple[Any, Any]:
        """Return every example's best output that has the parts given in ``held``.

        ``held`` is what the structure's `held` makes of what users give. With the outputs: which
        examples have none.
        """
        raise IncompatibleError(f"{self.name()} cannot be held to parts that are given.")

    # ------------------------------------------------------------------ what online methods ask
    def argmax(self, weights: Floats) -> Answers:
        """Return every example's best output, without the loss."""
        raise self._lacks("argmax")

    def k_best(self, weights: Floats, k: int) -> list[Answers]:
        """Return the k best outputs of every example: the best of each, the second of each, ...

        Where an example has fewer, ``score`` is infinite; where all have, the list ends.
        """
        raise self._lacks("k_best")

    def marginals(self, weights: Floats) -> list[Floats]:
        """Return, for every example, the probability of each label at each part."""
        raise self._lacks("marginals")

    def part(self, a: int, b: int) -> Self:
        """Return examples a to b - 1 as a shard over the same ``base``: views, not copies."""
        part = copy.copy(self)
        part.n_examples, part.start, part.few = b - a, self.start + a, True
        own = vars(forget(part))
        for name in self.each:
            if own[name] is not None:
                own[name] = own[name][a:b]
        for ends, names in self.along.items():
            first, stop = int(own[ends][a]), int(own[ends][b])
            own[ends] = own[ends][a : b + 1] - first
            for name in names:
                if own[name] is not None:
                    own[name] = own[name][first:stop]
        return part

    def runs(self, edges: Sequence[int]) -> list[Self]:
        """Return the runs of examples between edges as shards over the same ``base``.

        They are for questions as large as those to the whole: products are chosen as it does.
        Weights are checked before, and not changed while runs are asked.
        """
        from structopt.structures.base.input_rows import InputRows

        parts = [self.part(a, b) for a, b in pairwise(edges)]
        for name, rows in vars(self).items():
            if isinstance(rows, InputRows):
                rows.share(vars(part)[name] for part in parts)
        return parts

    @property
    def n_scores(self) -> int | None:
        """How many scores of parts a pass looks at; None where runs are not asked side by side."""
        return None

    def joined(self, outputs: Sequence[Any], edges: Ints) -> Any:
        """Return the outputs of the runs of examples between edges as those of the whole."""
        raise self._lacks("joined")

    def single(self, i: int) -> Shard:
        """Return example i as a shard of its own, over the same ``base``."""
        if not (self.along or self.each):
            raise self._lacks("single")
        return self if self.n_examples == 1 else self.part(i, i + 1)

    # ------------------------------------------------------------------ what outer loops ask
    @property
    def anchor(self) -> Any:
        """The outputs that directions are measured from, as `directions` takes them."""
        return self.gold

    @property
    def unknown(self) -> Any:
        """Which examples have a gold output that is known in part only."""
        return np.zeros(self.n_examples, dtype=bool)

    def anchored(self, outputs: Any) -> Self:
        """Return the same examples with delta measured from ``outputs``; losses stay."""
        raise self._fixed("measured from outputs other than gold")

    def completed(self, weights: Floats) -> Self:
        """Return the examples with what is unknown of gold chosen as these weights like best."""
        return self  # all of it is known

    def relabelled(self, weights: Floats) -> Self:
        """Return the examples completed, what was unknown now gold: it is charged as any part."""
        raise self._fixed("labelled by a model")

    def _fixed(self, what: str) -> IncompatibleError:
        return IncompatibleError(f"Examples of {self.name()} cannot be {what} yet.")

    def label_problem(self, oracle: Oracle) -> LabelProblem | None:
        """Return the examples as labels of rows, with the oracle's margins, where they are that."""
        return None

    def answered(self, oracle: Oracle, unary: Floats, steps: Floats) -> Answers:
        """Answer ``oracle`` from the score of each label at each row, and of transitions."""
        raise self._lacks("answered")

    def relaxation(self) -> Relaxation:
        """Return the examples' outputs as one polytope that can be projected on."""
        sums = type(self).expected is not Shard.expected
        raise IncompatibleError(
            f"{self.name()} gives no relaxation (its outputs as a polytope that can be projected "
            "on), which the saddle-point method needs: use "
            + ("'bregman', by its sums over outputs, or " if sums else "the method ")
            + "'cutting-plane'."
        )

    def expected(self, weights: Floats, loss_weight: float, cost: Floats) -> Expected:
        """Return expectations under exp(w . phi + loss_weight * loss), weighted by cost."""
        raise IncompatibleError(
            f"{self.name()} cannot sum over its outputs (sum-product), which the method "
            "'bregman' needs: use the method 'cutting-plane'."
        )

    def _lacks(self, name: str) -> IncompatibleError:
        return IncompatibleError(
            f"{type(self).__name__} has no {name!r}, which methods that visit examples one at a "
            "time need: define it, or use the method 'cutting-plane'."
        )

    def _unknown(self, oracle: Oracle) -> IncompatibleError:
        return IncompatibleError(f"{self.name()} does not know the oracle {oracle.name!r}.")

    def name(self) -> str:
        """Return what its structure is called in messages."""
        return type(self).__name__.removesuffix("Shard")

    def content(self) -> Iterator[Any]:
        """Yield arrays that together name the shard's content."""
        yield from (self.base.data, self.base.indices, self.base.indptr)
        if self.gold is not None:
            yield np.asarray(self.gold)

    def sample(self) -> Iterator[Any]:
        """Yield a few numbers of what is held, which may be the user's own memory."""
        yield strided(self.base.data)
        if self.inputs_in is not None:
            yield getattr(self, self.inputs_in).sample()


def asked(shard: Shard, oracle: Oracle, weights: Floats) -> Answers:
    """Ask a shard, whatever multiple kappa of the loss the oracle's margin is.

    What is asked at w / kappa is answered at w: scores and what they may miss times kappa.
    """
    if oracle.kappa == 1.0:
        return shard.ask(oracle, weights)
    answers = shard.ask(oracle.base, weights / oracle.kappa)
    excess = None if answers.excess is None else oracle.kappa * answers.excess
    return replace(answers, score=oracle.kappa * answers.score, excess=excess)


def forget(shard: _S) -> _S:
    """Return a shard that is being changed, without what it had worked out."""
    own = vars(shard)
    for name in [n for n in own if isinstance(getattr(type(shard), n, None), cached_property)]:
        if name != "base":
            del own[name]
    return shard


def decoders(kernels: Any, decoder: str) -> Any:
    """Return the compiled kernels of a room, or the networkx reference that stands beside them."""
    if decoder == "compiled":
        return kernels
    return import_module(f"{kernels.__package__}.reference")


def ranked(gold: Any, ends: Ints, found: Sequence[Any]) -> Iterator[tuple[Any, Any]]:
    """Stack each example's best outputs by rank: the best of each, the second of each, ...

    Yields the outputs of a rank along ``ends``, and which examples have so many no more; they keep
    gold there.

    >>> found = [np.array([[1, 1], [0, 1]]), np.array([[2]])]
    >>> [(y.tolist(), none.tolist()) for y, none in ranked(np.zeros(3, int), [0, 2, 3], found)]
    [([1, 1, 2], [False, False]), ([0, 1, 0], [False, True])]
    """
    for r in range(max(map(len, found))):
        outputs, missing = gold.copy(), np.zeros(len(found), dtype=bool)
        for i, rows in enumerate(found):
            if r < len(rows):
                outputs[ends[i] : ends[i + 1]] = rows[r]
            else:
                missing[i] = True
        yield outputs, missing
