"""More cases of :mod:`structopt.lab.bench.oracles`: here a whole pass is timed, scores included.

Each asks the shard of the structure and that of its networkx engine the same question.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from structopt.arrays import Floats
from structopt.lab.bench.oracles import OURS, REFERENCE, Case, Contender, case
from structopt.structures.base.oracles import Oracle, best_other, loss_augmented
from structopt.structures.base.shard import Answers
from structopt.structures.base.structure import Structure

QUESTIONS = {"loss-augmented argmax": loss_augmented, "second best": best_other}


def shard_cases(
    name: str,
    fast: Structure,
    slow: Structure,
    X: Sequence[Any],
    Y: Sequence[Any],
    weights: Floats,
    parts: int,
) -> Iterator[Case]:
    """Yield the questions of :data:`QUESTIONS` to a structure and to its reference."""
    shards = {who: s.fitted(X, Y).encode(X, Y) for who, s in ((OURS, fast), (REFERENCE, slow))}
    for question, oracle in QUESTIONS.items():
        contenders = {}
        for who, shard in shards.items():

            def ask(shard: Any = shard, oracle: Oracle = oracle) -> Answers:
                answers: Answers = shard.ask(oracle, weights)
                return answers

            def value(answers: Answers, oracle: Oracle = oracle) -> float:
                return float(np.sum(oracle.hinge(answers.loss, answers.score)))

            contenders[who] = Contender(ask, value)
        yield Case(name, question, parts, contenders)


@case("lattice")
def lattice_cases(rng: np.random.Generator) -> Iterator[Case]:
    """Yield 5 lattices of 30 layers, 3 states each; a part is an edge."""
    import networkx as nx

    from structopt.structures.lattice.structure import Lattice

    X, Y = [], []
    for _ in range(5):
        graph = nx.DiGraph(source=(0, 0), sink=(31, 0))
        for layer in range(31):
            for a in range(1 if layer == 0 else 3):
                for b in range(1 if layer == 30 else 3):
                    graph.add_edge((layer, a), (layer + 1, b), features=rng.normal(size=4))
        states = [(0, 0), *((t, int(rng.integers(3))) for t in range(1, 31)), (31, 0)]
        X.append(graph)
        Y.append(tuple(pairwise(states)))
    parts = sum(graph.number_of_edges() for graph in X)
    weights = rng.normal(size=(4,))
    fast, slow = Lattice(), Lattice(decoder="networkx")
    yield from shard_cases("lattice", fast, slow, X, Y, weights, parts)


@case("matching")
def matching_cases(rng: np.random.Generator) -> Iterator[Case]:
    """Yield 5 synthetic word alignments; a part is a candidate edge."""
    from structopt.datasets import make_alignments
    from structopt.structures.matching.structure import Matching

    X, Y = make_alignments(5, seed=int(rng.integers(2**31)))
    parts = sum(int(np.prod(x.shape[:2])) for x in X)
    weights = rng.normal(size=(X[0].shape[2],))
    fast, slow = Matching(), Matching(decoder="networkx")
    yield from shard_cases("matching", fast, slow, X, Y, weights, parts)


@case("cut")
def cut_cases(rng: np.random.Generator) -> Iterator[Case]:
    """Yield 2 grids of 12 x 12 nodes; a part is a node."""
    from structopt.datasets import make_grids
    from structopt.structures.cut.structure import GraphCut

    X, Y = make_grids(2, side=12, seed=int(rng.integers(2**31)))
    parts = sum(len(y) for y in Y)
    fitted = GraphCut().fitted(X, Y)
    # few, coarse weights: values agree to rounding, whoever rounds capacities
    weights = np.round(rng.normal(size=fitted.n_features_), 1)
    weights[fitted.nonnegative_weights()] = 1.0
    yield from shard_cases("cut", GraphCut(), GraphCut(decoder="networkx"), X, Y, weights, parts)
