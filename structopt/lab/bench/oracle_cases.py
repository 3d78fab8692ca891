"""The cases of the benchmark of oracles, one function a structure."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from structopt.lab.bench.oracle_case import OURS, REFERENCE, Case, Contender, asked, case
from structopt.structures.base.oracles import loss_augmented


@case("chain")
def chain_cases(rng: np.random.Generator) -> Iterator[Case]:
    """Yield 10 sequences of 20 positions, 12 labels and inputs; and tagging from sparse words."""
    from structopt.structures.chain.structure import Chain

    X = [rng.standard_normal((20, 12)) for _ in range(10)]
    Y, weights = [rng.integers(12, size=20) for _ in X], rng.standard_normal(2 * 12 * 12)
    fast, slow = (Chain(labels=range(12), decoder=d) for d in ("compiled", "networkx"))
    yield from asked("chain", fast, slow, X, Y, weights, 200)
    yield _tagging(rng)


def _tagging(rng: np.random.Generator) -> Case:
    """Tagging from word features, beside CRFsuite with weights it learned in a few rounds."""
    from structopt.lab.bench.tagging import make_tagging
    from structopt.structures.chain.structure import Chain

    X, Y = make_tagging(50, seed=int(rng.integers(2**31)))
    structure = Chain().fitted(X, Y)
    shard, weights = structure.encode(X, Y), rng.standard_normal(structure.n_features_)
    parts = sum(len(y) for y in Y)
    contenders = {OURS: Contender(lambda: shard.argmax(weights))}
    try:
        import pycrfsuite
    except ImportError:
        return Case("chain", "tagging", parts, contenders, ("CRFsuite",))
    rows = [[x[[t]].indices for t in range(x.shape[0])] for x in X]
    items = [pycrfsuite.ItemSequence([[f"w{j}" for j in row] for row in x]) for x in rows]
    trainer = pycrfsuite.Trainer(verbose=False, algorithm="ap", params={"max_iterations": 3})
    for sequence, y in zip(items, Y, strict=True):
        trainer.append(sequence, [str(k) for k in y])
    tagger = pycrfsuite.Tagger()
    with tempfile.TemporaryDirectory() as folder:
        trainer.train(str(Path(folder, "model")))
        tagger.open(str(Path(folder, "model")))  # reads the whole file
    contenders["CRFsuite"] = Contender(lambda: [tagger.tag(sequence) for sequence in items])
    return Case("chain", "tagging", parts, contenders)


@case("second-order")
def second_order_cases(rng: np.random.Generator) -> Iterator[Case]:
    """Yield 10 sequences of 20 positions, 6 labels and 12 inputs."""
    from structopt.structures.second_order.structure import SecondOrderChain

    X = [rng.standard_normal((20, 12)) for _ in range(10)]
    Y, weights = [rng.integers(6, size=20) for _ in X], rng.standard_normal(6 * (12 + 6 + 36))
    fast, slow = (SecondOrderChain(labels=range(6), decoder=d) for d in ("compiled", "networkx"))
    yield from asked("second-order chain", fast, slow, X, Y, weights, 200)


@case("segments")
def segment_cases(rng: np.random.Generator) -> Iterator[Case]:
    """Yield 10 sequences of 20 positions, 4 types of up to 6 positions and the outside."""
    from structopt.structures.segments.structure import Segments

    tags = [f"{kind}-{k}" for k in range(4) for kind in "BI"] + ["O"]
    X, Y = [rng.standard_normal((20, 12)) for _ in range(10)], [["O"] * 20] * 10
    fast, slow = (Segments(tags, longest=6, decoder=d) for d in ("compiled", "networkx"))
    weights = rng.standard_normal(fast.fitted(X, Y).n_features_)
    yield from asked("segments", fast, slow, X, Y, weights, 200)


@case("markov-net")
def markov_net_cases(rng: np.random.Generator) -> Iterator[Case]:
    """Yield 3 grids of 5 x 5 nodes and 3 labels, by junction trees and by branch and bound."""
    import networkx as nx

    from structopt.structures.markov_net.structure import MarkovNet

    X = [nx.grid_2d_graph(5, 5) for _ in range(3)]
    for x in X:
        nx.set_node_attributes(x, {v: rng.normal(size=2) for v in x}, "x")
        nx.set_edge_attributes(x, {e: rng.normal(size=2) for e in x.edges}, "x")
    Y, weights = [rng.integers(3, size=25) for _ in X], rng.normal(size=6 + 12)
    weights[6:] *= 4.0  # pairs matter most, so that messages alone leave a gap
    contenders = {}
    for who, given in ((OURS, {"width": 6}), ("HiGHS", {"branch": True})):
        shard = MarkovNet(range(3), **given).fitted(X, Y).encode(X, Y)
        contenders[who] = Contender(
            partial(shard.ask, loss_augmented, weights),
            lambda found: float(np.sum(found.loss - found.score)),
        )
    yield Case("grid 5 x 5", "loss-augmented argmax", 75, contenders)


@case("hierarchy")
def hierarchy_cases(rng: np.random.Generator) -> Iterator[Case]:
    """Yield 10 random trees of 30 nodes, 12 labels and inputs."""
    from structopt.structures.hierarchy.structure import Hierarchy

    X = [
        (rng.standard_normal((30, 12)), [-1, *(int(rng.integers(v)) for v in range(1, 30))])
        for _ in range(10)
    ]
    Y, weights = [rng.integers(12, size=30) for _ in X], rng.standard_normal(2 * 12 * 12)
    fast, slow = (Hierarchy(labels=range(12), decoder=d) for d in ("compiled", "networkx"))
    yield from asked("hierarchy", fast, slow, X, Y, weights, 300)


@case("arborescence")
def arborescence_cases(rng: np.random.Generator) -> Iterator[Case]:
    """Yield 5 sentences of 20 tokens, all arcs candidates with a score."""
    from structopt.structures.arborescence.structure import Arborescence

    X = [rng.standard_normal((21, 20, 1)) for _ in range(5)]
    Y, weights = [list(range(20)) for _ in X], np.ones(1)
    fast, slow = (Arborescence(decoder=d) for d in ("compiled", "networkx"))
    yield from asked("arborescence", fast, slow, X, Y, weights, 100)
    shard = fast.fitted(X, Y).encode(X, Y)
    contenders = {OURS: Contender(lambda: shard.argmax(weights))}
    missing: tuple[str, ...] = ()
    try:
        from ufal.chu_liu_edmonds import chu_liu_edmonds
    except ImportError:
        missing = ("ufal.chu-liu-edmonds",)
    else:
        tables = [np.vstack([np.full(21, np.nan), x[:, :, 0].T]) for x in X]
        contenders["ufal.chu-liu-edmonds"] = Contender(lambda: [chu_liu_edmonds(t) for t in tables])
    yield Case("arborescence", "argmax", 100, contenders, missing)
    short = [rng.standard_normal((6, 5, 1)) for _ in range(5)]  # networkx lists all trees
    fast, slow = (Arborescence(decoder=d, projective=True) for d in ("compiled", "networkx"))
    heads = [list(range(5)) for _ in short]
    yield from asked("projective tree", fast, slow, short, heads, weights, 25)


@case("grammar")
def grammar_cases(rng: np.random.Generator) -> Iterator[Case]:
    """Yield 10 sentences of a small treebank; a part is a token."""
    from structopt.datasets import make_treebank
    from structopt.structures.grammar.structure import Grammar

    bank = make_treebank(10, seed=int(rng.integers(2**31)))
    fast, slow = (Grammar(bank.rules, "S", decoder=d) for d in ("compiled", "networkx"))
    weights = rng.standard_normal(fast.fitted(bank.X, bank.Y).n_features_)
    parts = sum(map(len, bank.X))
    yield from asked("grammar", fast, slow, bank.X, bank.Y, weights, parts)


@case("alignment path")
def alignment_path_cases(rng: np.random.Generator) -> Iterator[Case]:
    """Yield 3 pairs of 15 protein-like symbols; a part is a pair of positions."""
    from structopt.datasets import make_protein_pairs
    from structopt.structures.alignment_path.structure import AlignmentPath

    X, Y = make_protein_pairs(3, length=15, seed=int(rng.integers(2**31)))
    fast, slow = (AlignmentPath(decoder=d) for d in ("compiled", "networkx"))
    weights = rng.standard_normal(fast.fitted(X, Y).n_features_)
    parts = sum(len(a) * len(b) for a, b in X)
    yield from asked("alignment path", fast, slow, X, Y, weights, parts)


@case("multiclass")
def multiclass_cases(rng: np.random.Generator) -> Iterator[Case]:
    """Yield 1,000 rows of 64 numbers, 10 classes."""
    from structopt.structures.multiclass.structure import Multiclass

    X, Y = rng.standard_normal((1000, 64)), rng.integers(10, size=1000)
    structure = Multiclass(labels=range(10)).fitted(X, Y)
    shard, weights = structure.encode(X, Y), rng.standard_normal(640)
    table = weights.reshape(10, 64)

    def value(labels: Any) -> float:
        return float((X * table[np.asarray(labels)]).sum())

    contenders = {
        OURS: Contender(lambda: shard.argmax(weights).outputs, value),
        "numpy": Contender(lambda: np.argmax(X @ table.T, axis=1), value),
    }
    yield Case("multiclass", "argmax", 1000, contenders)


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
    fast, slow = Lattice(), Lattice(decoder="networkx")
    yield from asked("lattice", fast, slow, X, Y, rng.normal(size=(4,)), parts, 2)


@case("matching")
def matching_cases(rng: np.random.Generator) -> Iterator[Case]:
    """Yield 5 synthetic word alignments; a part is a candidate edge."""
    from structopt.datasets import make_alignments
    from structopt.structures.matching.structure import Matching

    X, Y = make_alignments(5, seed=int(rng.integers(2**31)))
    parts = sum(int(np.prod(x.shape[:2])) for x in X)
    weights = rng.normal(size=(X[0].shape[2],))
    fast, slow = Matching(), Matching(decoder="networkx")
    yield from asked("matching", fast, slow, X, Y, weights, parts, 2)


@case("decision")
def decision_cases(rng: np.random.Generator) -> Iterator[Case]:
    """Yield 200 shortest paths through a grid of 5 x 5 nodes; a part is an edge."""
    import networkx as nx

    from structopt.structures.decision.grid import GridPaths

    grid, costs = GridPaths(5, 5), rng.uniform(1.0, 2.0, (200, 40))

    def reference() -> list[float]:
        graph = nx.DiGraph(grid.edges)
        found = []
        for own in costs:
            nx.set_edge_attributes(graph, dict(zip(grid.edges, own, strict=True)), "cost")
            found.append(nx.shortest_path_length(graph, 0, 24, weight="cost"))
        return found

    contenders = {
        OURS: Contender(
            lambda: grid.minimize(costs), lambda found: float((costs * found.points).sum())
        ),
        REFERENCE: Contender(reference, lambda found: float(sum(found))),
    }
    yield Case("decision", "shortest path", costs.size, contenders)


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
    yield from asked("cut", GraphCut(), GraphCut(decoder="networkx"), X, Y, weights, parts, 2)
