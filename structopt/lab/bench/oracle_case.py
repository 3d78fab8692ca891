"""A question about one structure and those who answer it; cases register under a name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from structopt.arrays import Floats
from structopt.structures.base.oracles import best_other, loss_augmented
from structopt.structures.base.shard import Answers
from structopt.structures.base.structure import Structure

OURS, REFERENCE = "structopt", "networkx"


@dataclass(frozen=True)
class Contender:
    """Someone who answers: ``run`` is timed; ``value`` of what it returns is compared, if given."""

    run: Callable[[], Any]
    value: Callable[[Any], float] | None = None


@dataclass(frozen=True)
class Case:
    """A question about one structure, and those who answer it.

    Attributes
    ----------
    structure, question : str
    parts : int
        Tokens or nodes that one call decodes.
    contenders : dict of str to Contender
        "structopt", "networkx" where there is a reference, and peers by their names.
    missing : tuple of str
        Peers that are not installed.
    """

    structure: str
    question: str
    parts: int
    contenders: dict[str, Contender]
    missing: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """What is asked of what."""
        return f"{self.structure}, {self.question}"


Maker = Callable[[np.random.Generator], Iterable[Case]]
CASES: dict[str, Maker] = {}


def case(name: str) -> Callable[[Maker], Maker]:
    """Register a function that makes the cases of a structure."""

    def register(make: Maker) -> Maker:
        CASES[name] = make
        return make

    return register


QUESTIONS: dict[str, Callable[[Any, Floats], list[Answers]]] = {
    "loss-augmented argmax": lambda shard, weights: [shard.ask(loss_augmented, weights)],
    "second best": lambda shard, weights: [shard.ask(best_other, weights)],
    "5 best": lambda shard, weights: shard.k_best(weights, 5),
}


def asked(
    name: str,
    fast: Structure,
    slow: Structure,
    X: Sequence[Any],
    Y: Sequence[Any],
    weights: Floats,
    parts: int,
    questions: int = len(QUESTIONS),
) -> Iterator[Case]:
    """Yield questions, the first of :data:`QUESTIONS`, to a structure and to its reference."""
    shards = {who: s.fitted(X, Y).encode(X, Y) for who, s in ((OURS, fast), (REFERENCE, slow))}

    def value(found: list[Answers]) -> float:
        return float(sum(np.sum(a.loss) - np.sum(a.score) for a in found))

    for question, ask in list(QUESTIONS.items())[:questions]:
        contenders = {
            who: Contender(partial(ask, shard, weights), value) for who, shard in shards.items()
        }
        yield Case(name, question, parts, contenders)
