"""Wang and Shawe-Taylor (2009), section 5.2: a decoder by phrases, and its weights by LP and MERT.

Words are aligned, phrases extracted, every sentence becomes the lattice of its translations; LP (7)
and (8) learn from lattices with oracle paths as pseudo-references, and MERT tunes the blanket
features on n-best lists that are decoded anew in every round. All decode new sentences.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import numpy as np

from structopt.arrays import Floats
from structopt.datasets.hansards import CORPUS, load_hansards, load_hansards_corpus
from structopt.datasets.lattice_arrays import LatticeArrays
from structopt.datasets.nbest import NBestList
from structopt.errors import InvalidInputError
from structopt.features.phrase_lattices import BLANKET, PhraseLattices
from structopt.features.phrases import PhraseTable
from structopt.formulations.lp_struct import LPStruct
from structopt.lab.harness.measure import CpuLimit, learn, proof
from structopt.lab.harness.study import Cell, Row
from structopt.lab.reproduce.experiment import Experiment
from structopt.lab.reproduce.lp_struct.table_2 import PAPER, REFERENCES, RESAMPLES
from structopt.lab.reproduce.number import Number, deviation, mean
from structopt.learn.baselines.word_aligner import WordAligner, intersected
from structopt.learn.estimator import StructuredClassifier
from structopt.learn.metrics.resampling import randomisation_test
from structopt.structures.lattice.structure import Lattice
from structopt.structures.references.structure import References

START, ORACLE = "weights of 1", "the pseudo-references' own"
ROUNDS, LISTED = 5, 50
"""Of MERT: how often sentences are decoded anew, and how many hypotheses are added each time."""


class Decoder(Experiment):
    """Table 2 with a decoder in the loop."""

    name = "lp-struct-section-5"
    data: ClassVar[tuple[str, ...]] = tuple(
        f"hansards_alignment/{name}.{end}.gz"
        for name in (*CORPUS, "test", "dev")
        for end in ("e", "f", "wa.nonullalign")[: 2 + (name not in CORPUS)]
    )
    differences: ClassVar[str] = (
        "the Hansards at hand have 2,867 pairs instead of 207,000, and a decoder of our own stands "
        "for Moses: HMM alignments of both directions, intersected, phrases of 3 words at most, 13 "
        "blanket features instead of 14, trigrams and phrases in each orientation. Only pairs of "
        "20 words or fewer are learned from and tested on; the others make the phrase table and "
        "the language model. Pseudo-references are best paths of the lattice. Free weights, "
        "blanket features divided by their spread; C is chosen on the development set, "
        "which MERT is tuned on as in the paper."
    )

    def cells(self, full: bool) -> list[Cell]:
        """Return one cell a draw of table, training, development and test sentences."""
        setting = (
            {"table": None, "train": 200, "validation": 100, "test": 200, "longest": 20,
             "order": 3, "options": 3, "constants": [30.0, 300.0], "limit": 20.0}
            if full
            else {"table": 400, "train": 30, "validation": 20, "test": 30, "longest": 10,
                  "order": 2, "options": 2, "constants": [10.0], "limit": 5.0}
        )  # fmt: skip
        return [{"draw": k, **setting, "tol": 1e-2} for k in range(3)]

    def run(self, cell: Cell) -> dict[str, Any]:
        """Build the decoder, learn its weights three ways, translate, compare."""
        from structopt.learn.metrics import oracle_paths

        began = time.process_time()
        task = Task.of(cell)
        train, dev, test = task.parts
        Y = oracle_paths(train.X, train.gold)
        found: dict[str, Any] = {
            "arcs": len(train.X.tail), "features": train.X.arc_features.shape[1],
            "building": time.process_time() - began,
            ORACLE: task.scores(train, [paths[0] for paths in Y]),
        }  # fmt: skip
        texts = {START: task.decoded(test, task.start)}
        found[START] = {"cpu": None, "weights": len(BLANKET)}
        began = time.process_time()
        weights = tuned(task, dev, cell["draw"])
        found["MERT"] = {"cpu": time.process_time() - began, "weights": len(BLANKET)}
        texts["MERT"] = task.decoded(test, weights)
        for name, which in REFERENCES.items():
            best = -1.0
            for C in cell["constants"]:
                model = StructuredClassifier(
                    References(Lattice()),
                    LPStruct(C, nonnegative=False, references=which),  # type: ignore[arg-type]
                    tol=cell["tol"], callbacks=[CpuLimit(cell["limit"], last=True)],
                )  # fmt: skip
                cpu = learn(model, train.X, Y)
                w = model.result_.weights
                score = task.scores(dev, task.lattice.predict(dev.X, w))["bleu"]
                if score > best:
                    best, texts[name] = score, task.decoded(test, w)
                    found[name] = {
                        "C": C, "cpu": cpu, "weights": int(np.count_nonzero(w)), **proof(model),
                        "learned": task.scores(train, task.lattice.predict(train.X, w))["bleu"],
                    }  # fmt: skip
        for name, said in texts.items():
            found[name] |= scored(said, test.gold)
            if name in REFERENCES:
                found[name]["p"] = randomisation_test(
                    "bleu", test.gold, said, texts["MERT"], n_resamples=RESAMPLES, random_state=0
                ).p_value
        return found

    def numbers(self, rows: Sequence[Row]) -> list[Number]:
        """Return the scores beside those of Table 2."""
        numbers = []
        for model in (*PAPER, START, ORACLE):
            bleu, nist = PAPER.get(model, (None, None))
            of = [row[model] for row in rows]
            for metric, key, paper in (("BLEU %", "bleu", bleu), ("NIST", "nist", nist)):
                values = [one[key] for one in of]
                numbers.append(Number(model, metric, mean(values), deviation(values), paper))
            for metric, key in (
                ("p against MERT", "p"), ("BLEU % where learned", "learned"), ("CPU s", "cpu"),
                ("weights", "weights"), ("gap", "relative_gap"),
            ):  # fmt: skip
                numbers.append(Number(model, metric, mean(one.get(key) for one in of)))
        return numbers

    def remarks(self, rows: Sequence[Row]) -> list[str]:
        """Say how large the lattices are, and what was chosen."""
        if not rows:
            return []
        chosen = "; ".join(
            f"{name} {', '.join(format(row[name]['C'], 'g') for row in rows)}"
            for name in REFERENCES
        )
        arcs, features, building = (
            mean(row[key] for row in rows) for key in ("arcs", "features", "building")
        )
        return [
            f"{arcs:.0f} arcs in the training lattices and {features:.0f} features, means over "
            f"{len(rows)} draws; {building:.0f} CPU s to align, extract and build a draw.",
            f"C by draw: {chosen}. The pseudo-references' scores are on the training sentences.",
        ]


class Part(NamedTuple):
    """Lattices, and what their sentences should be."""

    X: LatticeArrays
    gold: list[str]


class Task(NamedTuple):
    """The sentences of a draw as lattices, a structure that decodes them, and plain weights."""

    made: PhraseLattices
    parts: list[Part]
    lattice: Lattice
    start: Floats

    @classmethod
    def of(cls, cell: Cell) -> Task:
        """Draw sentences, learn phrases from most of them, and build the lattices of the others."""
        english, french = load_hansards_corpus()
        for split in ("test", "dev"):
            more = load_hansards(split)
            english, french = [*english, *more.left], [*french, *more.right]
        e, f = ([[w.lower() for w in s] for s in side] for side in (english, french))
        order = np.random.default_rng(cell["draw"]).permutation(len(e)).tolist()
        sizes = [cell["train"], cell["validation"], cell["test"]]
        short = [i for i in order if len(f[i]) and max(len(e[i]), len(f[i])) <= cell["longest"]]
        held = short[: sum(sizes)]
        if len(held) < sum(sizes):
            raise InvalidInputError(f"There are {len(short)} short pairs, too few for {sizes}.")
        kept = set(held)
        rest = [i for i in order if i not in kept and len(e[i]) and len(f[i])][: cell["table"]]
        source, target = [f[i] for i in rest], [e[i] for i in rest]
        there, back = WordAligner("hmm").fit(source, target), WordAligner("hmm").fit(target, source)
        links = intersected(there.predict(source, target), back.predict(target, source))
        table = PhraseTable(options=cell["options"]).fit(source, target, links)
        made = PhraseLattices(table, order=cell["order"]).fit(target)
        parts = []
        for stop, size in zip(np.cumsum(sizes).tolist(), sizes, strict=True):
            some = held[stop - size : stop]
            X = made.transform([f[i] for i in some])
            parts.append(Part(X, [" ".join(e[i]) for i in some]))
        blanket = parts[0].X.arc_features[:, : len(BLANKET)].toarray()
        spread = np.ones(len(made.names_))
        spread[: len(BLANKET)] = np.where(blanket.any(axis=0), blanket.std(axis=0), 1.0)
        for part in parts:
            part.X.arc_features.data /= spread[part.X.arc_features.indices]
        start = np.where(np.arange(len(spread)) < len(BLANKET), spread, 0.0)
        return cls(made, parts, Lattice().fitted(parts[0].X, parts[0].gold), start)

    def decoded(self, part: Part, weights: Floats) -> list[str]:
        """Return the best translations."""
        return self.made.texts(part.X, self.lattice.predict(part.X, weights))

    def scores(self, part: Part, paths: Sequence[Any]) -> dict[str, float]:
        """Return BLEU and NIST of paths."""
        return scored(self.made.texts(part.X, paths), part.gold)


def scored(texts: list[str], gold: list[str]) -> dict[str, float]:
    """Return BLEU and NIST of translations."""
    from structopt.learn.metrics import corpus_bleu, corpus_nist

    return {"bleu": corpus_bleu(texts, gold), "nist": corpus_nist(texts, gold)}


def tuned(task: Task, part: Part, seed: int) -> Floats:
    """Return weights of the blanket features by MERT, on n-best lists that grow."""
    from structopt.learn.baselines.mert import MERT

    n, weights = len(BLANKET), task.start
    known: list[dict[Any, tuple[str, Floats]]] = [{} for _ in part.gold]
    for _ in range(ROUNDS):
        for i, one in enumerate(known):
            x = part.X[i]
            blanket = x.arc_features[:, :n].toarray()
            for path in task.lattice.k_best(x, weights, LISTED):
                text = task.made.texts(x, [path])[0]
                one[path] = (text, blanket[list(path)].sum(axis=0))
        lists = [
            NBestList(i, tuple(text for text, _ in one.values()),
                      np.array([row for _, row in one.values()]), BLANKET, np.zeros(len(one)))
            for i, one in enumerate(known)
        ]  # fmt: skip
        model = MERT(random_state=seed).fit(lists, part.gold, initial=weights[:n])
        weights = np.concatenate([model.weights_, np.zeros(len(weights) - n)])
    return weights


experiment = Decoder()
