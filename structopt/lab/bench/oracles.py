r"""Time of each oracle per part of an output: compiled, by networkx, by a library of one's own.

    time per part = CPU seconds of a call / (tokens or nodes that it labels).

A case is a structure and a question with the contenders that answer it; cases register themselves
under a name, so that a new structure adds one function. Every contender decodes the same examples
from the same scores, unless its note says otherwise; values found are compared.

>>> [case.name for case in CASES["multiclass"](np.random.default_rng(0))]
['multiclass, scoring and argmax']
"""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from structopt.errors import OracleError
from structopt.lab.harness import arguments
from structopt.lab.harness.bench import Bench
from structopt.lab.harness.study import Cell, Row, every, in_turns, known, median, where
from structopt.lab.harness.table import Table

OURS, REFERENCE = "structopt", "networkx"
AGREE = 1e-9  # relative, between values that were summed in different orders


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


@dataclass
class OracleBench(Bench):
    """Every contender of some cases, in turns.

    Parameters
    ----------
    only : sequence of str, optional
        Names of :data:`CASES`; all by default.
    repeats : int
    enough : float
        CPU seconds that a measurement of fast calls should last.
    cases : sequence of Case
        Others.
    """

    name = "bench-oracles"

    only: Sequence[str] | None = arguments.argument(
        None, "of these structures only", nargs="+", metavar="NAME"
    )
    repeats: int = arguments.repeats(5)
    enough: float = 0.05
    cases: Sequence[Case] = ()
    _values: dict[int, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        from structopt.lab.bench import oracles_graphs  # noqa: F401  registers its cases

        names = known(self.only or list(CASES), list(CASES), "oracle case")
        self.cases = self.cases or [c for n in names for c in CASES[n](np.random.default_rng(0))]

    def cells(self) -> list[Cell]:
        """Return a cell a case, contender and turn."""
        return [
            {"case": number} | cell
            for number, case in enumerate(self.cases)
            for cell in in_turns([{"who": who} for who in case.contenders], self.repeats)
        ]

    def label(self, cell: Cell) -> str:
        """Name a cell in the progress line."""
        return f"{self.cases[cell['case']].name}, {cell['who']}, turn {cell['turn'] + 1}"

    def warm_up(self, cell: Cell) -> None:
        """Let someone answer once, which compiles, and compare with what was answered before.

        Raises
        ------
        OracleError
            The values found differ.
        """
        case = self.cases[cell["case"]]
        contender = case.contenders[cell["who"]]
        answer = contender.run()
        if contender.value is not None:
            value = contender.value(answer)
            ours = self._values.setdefault(cell["case"], value)
            if not math.isclose(value, ours, rel_tol=AGREE, abs_tol=AGREE):
                raise OracleError(
                    f"{case.name}: {cell['who']} finds {value!r}, structopt {ours!r}; one of them "
                    "is wrong."
                )

    def run(self, cell: Cell) -> dict[str, Any]:
        """Time calls."""
        case = self.cases[cell["case"]]
        seconds = _timed(case.contenders[cell["who"]].run, self.enough)
        return {"per_part": seconds / case.parts}

    def tables(self, rows: Sequence[Row], left_out: Sequence[str]) -> list[Table]:
        """Return one row a case."""
        lines = []
        for number in every(rows, "case"):
            case, of = self.cases[number], where(rows, case=number)
            micro = {who: 1e6 * median(where(of, who=who), "per_part") for who in case.contenders}
            peer = next((who for who in micro if who not in (OURS, REFERENCE)), "")
            absent = f"{case.missing[0]} (not installed)" if case.missing else ""
            lines.append(
                (
                    case.name,
                    f"{micro[OURS]:.3g}",
                    *_beside(micro, REFERENCE),
                    peer or absent,
                    *_beside(micro, peer),
                )
            )
        return [Table(
            "Oracles",
            ("oracle", "structopt µs", "networkx µs", "ratio", "library", "its µs", "its ratio"),
            tuple(lines),
            ("Median CPU microseconds per part (token, node, example), one thread, compilation "
             "left out. All decode given scores, and the values found agree; where a library "
             "scores as well, so does structopt. The networkx references of chains and hierarchies "
             "compute in exact fractions.",),
        )]  # fmt: skip


def _beside(micro: dict[str, float], who: str) -> tuple[str, str]:
    if who not in micro:
        return "", ""
    return f"{micro[who]:.3g}", f"{micro[who] / micro[OURS]:.3g}"


def _timed(run: Callable[[], Any], enough: float) -> float:
    """Return the CPU seconds of a call, the mean of as many as fill the time."""
    calls, start = 0, time.process_time()
    while True:
        run()
        calls += 1
        spent = time.process_time() - start
        if spent >= enough:
            return spent / calls


# ---------------------------------------------------------------------- chains
@case("chain")
def chain_cases(rng: np.random.Generator) -> Iterator[Case]:
    """Yield decoding, best other and 5-best of 10 sequences of 20 positions, 12 labels."""
    from structopt.structures.chain import kernels as chain_kernels
    from structopt.structures.chain import reference as chain_reference

    n_labels, length, n = 12, 20, 10
    offsets = np.arange(n + 1) * length
    unary = rng.standard_normal((n * length, n_labels))
    transition, ends = rng.standard_normal((n_labels, n_labels)), np.zeros(n_labels)
    scores = (unary, transition, ends, ends)
    gold, free = rng.integers(n_labels, size=n * length), np.zeros(n * length)

    def value(labels: Any) -> float:
        labels = np.asarray(labels).reshape(-1, n, length)
        picked = np.take_along_axis(unary.reshape(1, n, length, n_labels), labels[..., None], 3)
        return float(picked.sum() + transition[labels[..., :-1], labels[..., 1:]].sum())

    def k_best(module: Any) -> Any:
        found = [module.k_best(unary[a:b], *scores[1:], 5) for a, b in pairwise(offsets.tolist())]
        return np.stack(found, axis=1)

    def contenders(ask: Callable[[Any], Any]) -> dict[str, Contender]:
        return {
            OURS: Contender(lambda: ask(chain_kernels), value),
            REFERENCE: Contender(lambda: ask(chain_reference), value),
        }

    best = contenders(lambda module: module.viterbi(*scores, offsets, gold, free))
    other = contenders(lambda module: module.best_other(*scores, offsets, gold))
    yield Case("chain", "argmax", n * length, best)
    yield Case("chain", "second best", n * length, other)
    yield Case("chain", "5 best", n * length, contenders(k_best))
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
        return Case("chain", "scoring and argmax", parts, contenders, ("CRFsuite",))
    items = [
        pycrfsuite.ItemSequence([[f"w{j}" for j in row.indices] for row in _rows(x)]) for x in X
    ]
    trainer = pycrfsuite.Trainer(verbose=False, algorithm="ap", params={"max_iterations": 3})
    for sequence, y in zip(items, Y, strict=True):
        trainer.append(sequence, [str(k) for k in y])
    tagger = pycrfsuite.Tagger()
    with tempfile.TemporaryDirectory() as folder:
        trainer.train(str(Path(folder, "model")))
        tagger.open(str(Path(folder, "model")))  # reads the whole file
    contenders["CRFsuite"] = Contender(lambda: [tagger.tag(sequence) for sequence in items])
    return Case("chain", "scoring and argmax", parts, contenders)


def _rows(matrix: Any) -> list[Any]:
    return [matrix[[t]] for t in range(matrix.shape[0])]


# ---------------------------------------------------------------------- hierarchies
@case("hierarchy")
def hierarchy_cases(rng: np.random.Generator) -> Iterator[Case]:
    """Yield decoding, best other and 5-best of 10 random trees of 30 nodes, 12 labels."""
    from structopt.structures.hierarchy import kernels as hierarchy_kernels
    from structopt.structures.hierarchy import reference as hierarchy_reference
    from structopt.structures.hierarchy.shard import k_best_labels

    n_labels, size, n = 12, 30, 10
    parent = np.concatenate(
        [[-1, *(i * size + rng.integers(v) for v in range(1, size))] for i in range(n)]
    ).astype(np.int64)
    order, offsets = np.arange(n * size), np.arange(n + 1) * size  # parents come first
    unary, kind = rng.standard_normal((n * size, n_labels)), np.zeros(n * size, np.int64)
    pair = rng.standard_normal((1, n_labels, n_labels))
    gold = rng.integers(n_labels, size=n * size)
    child = np.flatnonzero(parent >= 0)

    def value(labels: Any) -> float:
        total = 0.0
        for y in np.asarray(labels).reshape(-1, n * size):
            total += unary[order, y].sum() + pair[0, y[child], y[parent[child]]].sum()
        return float(total)

    def k_best(ask: Callable[..., Any]) -> Any:
        found = []
        for a, b in pairwise(offsets.tolist()):
            up = np.where(parent[a:b] < 0, -1, parent[a:b] - a)
            found.append(ask(unary[a:b], pair, kind[a:b], up, order[: b - a], 5))
        return np.concatenate(found, axis=1)

    trees = (unary, pair, kind, parent, order)
    ours, reference = hierarchy_kernels, hierarchy_reference
    for question, mine, theirs in (
        ("argmax", lambda: ours.max_product(*trees), lambda: reference.max_product(*trees)),
        (
            "second best",
            lambda: ours.best_other(*trees, offsets, gold)[0],
            lambda: reference.best_other(*trees, offsets, gold)[0],
        ),
        ("5 best", lambda: k_best(k_best_labels), lambda: k_best(reference.k_best)),
    ):
        contenders = {OURS: Contender(mine, value), REFERENCE: Contender(theirs, value)}
        yield Case("hierarchy", question, n * size, contenders)


# ---------------------------------------------------------------------- arborescences
@case("arborescence")
def arborescence_cases(rng: np.random.Generator) -> Iterator[Case]:
    """Yield decoding, best other and 5-best of 5 sentences of 20 tokens, all arcs candidates."""
    from structopt.structures.arborescence import kernels as arborescence_kernels
    from structopt.structures.arborescence import reference as arborescence_reference

    length, n = 20, 5
    every = [(h, m) for h in range(length + 1) for m in range(1, length + 1) if h != m]
    head, dependent = (np.tile(np.array(every)[:, c], n) for c in (0, 1))
    arcs, tokens = np.arange(n + 1) * len(every), np.arange(n + 1) * length
    scores = rng.standard_normal(len(head))
    graph = (scores, arcs, head, dependent, tokens)
    gold, _ = arborescence_kernels.decode(*graph, np.zeros(n * length, np.int64), 0.0, False)
    tables = [
        arborescence_kernels.tables(scores, a, b, head, dependent, length + 1)[0]
        for a, b in pairwise(arcs.tolist())
    ]

    def of_arcs(answer: Any) -> float:
        return float(scores[answer[0]].sum())

    def of_heads(answer: Any) -> float:
        rows, total = np.arange(1, length + 1), 0.0
        for table, trees in zip(tables, answer, strict=True):
            for heads in np.atleast_2d(trees):
                total += table[rows, np.asarray(heads)[1:]].sum()
        return total

    def contenders(
        ask: Callable[[Any], Any], value: Callable[[Any], float]
    ) -> dict[str, Contender]:
        return {
            OURS: Contender(lambda: ask(arborescence_kernels), value),
            REFERENCE: Contender(lambda: ask(arborescence_reference), value),
        }

    best = contenders(lambda module: module.decode(*graph, gold, 0.0, False), of_arcs)
    missing: tuple[str, ...] = ()
    try:
        from ufal.chu_liu_edmonds import chu_liu_edmonds

        best["ufal.chu-liu-edmonds"] = Contender(
            lambda: [chu_liu_edmonds(table)[0] for table in tables], of_heads
        )
    except ImportError:
        missing = ("ufal.chu-liu-edmonds",)
    yield Case("arborescence", "argmax", n * length, best, missing)
    other = contenders(lambda module: module.best_other(*graph, gold, False), of_arcs)
    yield Case("arborescence", "second best", n * length, other)
    five = contenders(lambda module: [module.k_best(t, False, 5) for t in tables], of_heads)
    yield Case("arborescence", "5 best", n * length, five)


# ---------------------------------------------------------------------- classes
@case("multiclass")
def multiclass_cases(rng: np.random.Generator) -> Iterator[Case]:
    """Yield scoring and decoding of 1,000 rows of 64 numbers, 10 classes."""
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
    yield Case("multiclass", "scoring and argmax", 1000, contenders)
