"""A tiny problem of every structure, with the list of all outputs of every example."""

from dataclasses import dataclass
from functools import cache
from itertools import combinations, permutations, product
from typing import Any

import cvxpy as cp
import networkx as nx
import numpy as np

import structopt as so


@dataclass(frozen=True, eq=False)
class Problem:
    structure: Any  # not fitted
    X: Any
    Y: list
    outputs: list  # of each example, all of them

    @cache  # noqa: B019, problems are made once and kept
    def fit(self):
        """Return the fitted structure and the encoded data."""
        fitted = self.structure.fitted(self.X, self.Y)
        return fitted, so.DataSet.of(fitted, self.X, self.Y)


def _problem(structure, X, outputs, rng):
    """Make gold what hidden weights like best, and for the last example second best."""
    fitted = structure.fitted(X, [listed[0] for listed in outputs])
    hidden = rng.normal(size=fitted.n_features_)
    Y = []
    for i, (x, listed) in enumerate(zip(X, outputs, strict=True), 1):
        order = np.argsort([-(vector(fitted, x, y) @ hidden) for y in listed], kind="stable")
        Y.append(listed[order[0 if i < len(X) else 1]])
    return Problem(structure, X, Y, outputs)


def vector(structure, x, y):
    """Return joint features as a dense vector."""
    row = structure.joint_features(x, y)
    return (row.toarray() if hasattr(row, "toarray") else np.asarray(row, float)).ravel()


def _numbers(rng, *shape):
    return np.round(rng.normal(size=shape), 1)


def multiclass(rng):
    X = _numbers(rng, 5, 2)
    return _problem(so.Multiclass(labels="abc"), X, [list("abc")] * 5, rng)


def _labellings(labels, length):
    return [list(y) for y in product(labels, repeat=length)]


def chain(rng):
    X = [_numbers(rng, 3, 2) for _ in range(4)]
    return _problem(so.Chain(labels="ab"), X, [_labellings("ab", 3)] * 4, rng)


def label_vector(rng):
    legal = [(0, 0, 1), (0, 1, 0), (1, 0, 0), (1, 1, 1)]
    X = _numbers(rng, 4, 3, 2)
    return _problem(so.LabelVector(legal, labels=(0, 1)), X, [legal] * 4, rng)


def hierarchy(rng):
    shapes = [[-1, 0, 0], [-1, 0, 1], [1, -1, 1], [-1, 0, -1]]
    X = [(_numbers(rng, 3, 2), parents) for parents in shapes]
    return _problem(so.Hierarchy(labels="ab"), X, [_labellings("ab", 3)] * 4, rng)


def arborescence(rng):
    def is_tree(heads):
        arcs = nx.DiGraph((h, m) for m, h in enumerate(heads, 1))
        arcs.add_nodes_from(range(4))
        return nx.is_arborescence(arcs)

    trees = [list(heads) for heads in product(range(4), repeat=3) if is_tree(heads)]
    X = [_numbers(rng, 4, 3, 3) for _ in range(4)]
    return _problem(so.Arborescence(), X, [trees] * 4, rng)


def lattice(rng):
    edges = [("s", "a"), ("s", "b"), ("a", "b"), ("a", "t"), ("b", "t"), ("s", "t")]
    X = []
    for _ in range(4):
        x = nx.DiGraph(source="s", sink="t")
        for edge in edges:
            x.add_edge(*edge, features=_numbers(rng, 3))
        X.append(x)
    paths = [tuple(path) for path in nx.all_simple_edge_paths(X[0], "s", "t")]
    return _problem(so.Lattice(missed=2.0), X, [paths] * 4, rng)


def matching(rng):
    edges = list(product(range(2), range(3)))
    subsets = [s for size in range(3) for s in combinations(edges, size)]
    matchings = [
        frozenset(s) for s in subsets if len({i for i, _ in s}) == len({j for _, j in s}) == len(s)
    ]
    X = [_numbers(rng, 2, 3, 3) for _ in range(4)]
    return _problem(so.Matching(loss=so.losses.PartCosts(missed=2.0)), X, [matchings] * 4, rng)


def _cut(rng, edges):
    X = [(np.array(edges), _numbers(rng, 4, 2), np.abs(_numbers(rng, 4, 2))) for _ in range(3)]
    return _problem(so.GraphCut(), X, [_labellings((0, 1), 4)] * 3, rng)


def cut(rng):
    return _cut(rng, [(0, 1), (1, 2), (2, 3), (3, 0)])


def cut_with_triangle(rng):
    return _cut(rng, [(0, 1), (1, 2), (2, 0), (2, 3)])


def program(rng):
    def budget(x, z):
        return [cp.sum(z) <= 2, z[0] + z[1] <= 1]

    outputs = [z for z in product((0, 1), repeat=3) if sum(z) <= 2 and z[0] + z[1] <= 1]
    X = [_numbers(rng, 3, 3) for _ in range(3)]
    return _problem(so.BooleanProgram(budget, lambda x: x), X, [outputs] * 3, rng)


def _constrained(rng, structure):
    X = [_numbers(rng, 3, 2) for _ in range(4)]
    outputs = [y for y in _labellings("ab", 3) if y.count("b") == 1 or y == list("aaa")]
    rules = [so.constraints.at_most_one("b")]
    return _problem(so.constrain(structure, rules), X, [outputs] * 4, rng)


def constrained_chain(rng):
    return _constrained(rng, so.Chain(labels="ab"))


def constrained_classes(rng):
    return _constrained(rng, so.Multiclass(labels="ab"))


def _markov_net(rng, graph):
    X = [graph.copy() for _ in range(3)]
    for x in X:
        nx.set_node_attributes(x, {v: _numbers(rng, 2) for v in x}, "x")
    outputs = [dict(zip(graph, y, strict=True)) for y in product("ab", repeat=len(graph))]
    structure = so.MarkovNet(labels="ab", branch=True)
    return _problem(structure, X, [outputs] * 3, rng)


def markov_tree(rng):
    return _markov_net(rng, nx.path_graph(3))


def markov_cycle(rng):
    return _markov_net(rng, nx.cycle_graph(3))


def enumerated(rng):
    words = ["cat", "cot", "dot", "dog"]

    def features(x, y):
        return x * [y.count("c"), y.count("o"), y.count("t")]

    def hamming(y, other):
        return float(sum(a != b for a, b in zip(y, other, strict=True)))

    X = _numbers(rng, 5, 3)
    return _problem(so.Enumerated(words, features, hamming), X, [words] * 5, rng)


class Ranking(so.Structure):
    """The user's own of docs/structures.md: three methods and nothing else."""

    def joint_features(self, x, y):
        return sum(x[item] / (place + 1) for place, item in enumerate(y))

    def loss(self, y, other):
        return float(sum(a != b for a, b in zip(y, other, strict=True)))

    def argmax(self, x, weights, *, gold=None):
        def value(y):
            return self.joint_features(x, y) @ weights + (self.loss(gold, y) if gold else 0.0)

        return max(permutations(range(len(x))), key=value)


def own(rng):
    X = _numbers(rng, 4, 3, 3)
    return _problem(Ranking(), X, [list(permutations(range(3)))] * 4, rng)


def _with_references(make):
    """Take the output that is next best to gold, by loss, as a second good one."""

    def made(rng):
        one = make(rng)
        fitted, _ = one.fit()
        good = []
        for gold, listed in zip(one.Y, one.outputs, strict=True):
            others = [y for y in listed if fitted.loss(gold, y) > 0]
            good.append([gold, min(others, key=lambda y, gold=gold: fitted.loss(gold, y))])
        # k-best lists are slow: the last two examples
        return Problem(so.References(one.structure), one.X[-2:], good[-2:], one.outputs[-2:])

    return made


PLAIN = {
    "Multiclass": multiclass,
    "Chain": chain,
    "LabelVector": label_vector,
    "Hierarchy": hierarchy,
    "Arborescence": arborescence,
    "Lattice": lattice,
    "Matching": matching,
    "Cut, bipartite": cut,
    "Cut, triangle": cut_with_triangle,
    "Program": program,
    "constrain(Chain)": constrained_chain,
    "constrain(Multiclass)": constrained_classes,
    "MarkovNet, tree": markov_tree,
    "MarkovNet, cycle": markov_cycle,
    "Enumerated": enumerated,
    "your own": own,
}
REFERENCES = {f"References({name})": _with_references(PLAIN[name]) for name in PLAIN}
PROBLEMS = PLAIN | REFERENCES


@cache
def problem(name):
    """Return the problem of a name; the same one every time."""
    return PROBLEMS[name](np.random.default_rng(len(name)))


def rows(given, *, pairs="worst"):
    """Return (example, delta, loss) of every output that is not gold, as arrays.

    With references, "worst" pairs an output with every one of them, "nearest" with the one of least
    loss (the first of several).
    """
    structure = given.structure.fitted(given.X, given.Y)
    several = isinstance(structure, so.References)
    found = []
    for i, (x, gold, outputs) in enumerate(zip(given.X, given.Y, given.outputs, strict=True)):
        for y in outputs:
            if structure.loss(gold, y) == 0:
                continue
            good = gold if several else [gold]
            if pairs == "nearest":
                good = [min(good, key=lambda g, y=y: structure.structure.loss(g, y))]
            for g in good:
                delta = vector(structure, x, g) - vector(structure, x, y)
                found.append((i, delta, structure.loss(gold, y)))
    return tuple(np.array(column) for column in zip(*found, strict=True))
