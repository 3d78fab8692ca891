r"""Sparse rows and sentences beside liblinear and CRFsuite, and how the time grows.

    1/2 |w|^2 + C sum_i max_y ([y != y_i] - w . delta_i(y))        (liblinear's Crammer-Singer form)

liblinear minimises the same objective, so that its true excess over a certified lower bound is
known; CRFsuite's is another one, and its error on held-out sentences stands beside ours. Rows are
drawn: a few columns each, in Zipf's proportions, labelled by hidden weights with some noise.
Sentences are CoNLL-2002's, looked for in the folder that ``STRUCTOPT_DATA`` names. Every run has a
process of its own; CPU seconds of training alone, compiled loops loaded from their cache.
"""

from __future__ import annotations

import tempfile
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from structopt.errors import MissingDataError, MissingDependencyError, StructoptError
from structopt.formulations.m3n import M3N
from structopt.lab.harness import arguments
from structopt.lab.harness.bench import Bench
from structopt.lab.harness.isolated import isolated
from structopt.lab.harness.study import Cell, Row, every, in_turns, median, where
from structopt.lab.harness.table import Table
from structopt.structures.multiclass.structure import Multiclass

ROWS = {
    "20,000 rows, 50,000 columns, 20 classes": (20_000, 50_000, 20),
    "40,000 rows": (40_000, 50_000, 20),
    "1,000,000 columns": (20_000, 1_000_000, 20),
    "80 classes": (20_000, 50_000, 80),
    "digits": (0, 0, 0),
}
"""Rows, columns and classes of each case."""
NONZEROS, TOL, TAGS_TOL = 15, 5e-3, 1e-2
SENTENCES, HELD_OUT, TAGS_C = 3000, 500, 0.1


def drawn(n: int, d: int, k: int) -> tuple[Any, Any, float]:
    """Return rows, labels and C."""
    if n == 0:
        from sklearn.datasets import load_digits

        digits = load_digits()
        return sp.csr_array(digits.data[:1000] / 16.0), digits.target[:1000], 0.1
    rng = np.random.default_rng(0)
    used = np.minimum(rng.zipf(1.3, (n, NONZEROS)) - 1, 49_999).astype(np.int32)
    used *= d // 50_000
    ends = np.arange(0, n * NONZEROS + 1, NONZEROS, dtype=np.int32)
    values = np.full(n * NONZEROS, NONZEROS**-0.5)
    X = sp.csr_array((values, used.ravel(), ends), (n, d))
    X.sum_duplicates()
    hidden = rng.standard_normal((50_000, k))
    score = hidden[used // (d // 50_000)].sum(axis=1) + 0.5 * rng.standard_normal((n, k))
    return X, np.unique(score.argmax(axis=1), return_inverse=True)[1], 1.0


def rows(size: tuple[int, int, int], who: str, tol: float) -> dict[str, float]:
    """Train on rows; return CPU seconds, the objective, and our lower bound."""
    X, y, C = drawn(*size)
    if who == "liblinear":
        from sklearn.svm import LinearSVC

        peer = LinearSVC(
            multi_class="crammer_singer", C=C, fit_intercept=False, tol=tol, max_iter=100_000
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            start = time.process_time()
            peer.fit(X, y)
            cpu = time.process_time() - start
        scores = np.asarray(X @ peer.coef_.T)
        gold = scores[np.arange(len(y)), y].copy()
        scores += 1.0
        scores[np.arange(len(y)), y] -= 1.0
        hinges = float((scores.max(axis=1) - gold).sum())
        return {"cpu": cpu, "value": 0.5 * float(np.vdot(peer.coef_, peer.coef_)) + C * hinges}
    from structopt.learn.estimator import StructuredClassifier

    model = StructuredClassifier(Multiclass(), M3N(C=C), tol=tol)
    StructuredClassifier(Multiclass(), M3N(C=C)).fit(X[:50], y[:50])  # loads what is compiled
    start = time.process_time()
    model.fit(X, y)
    cpu = time.process_time() - start
    found = model.result_.certificate
    return {"cpu": cpu, "value": C * found.primal, "dual": C * found.dual}


def strings(words: Sequence[str]) -> list[list[str]]:
    """Return what is said of each word of a sentence."""
    said = []
    for t, word in enumerate(words):
        of = ["bias", f"word={word}", f"lower={word.lower()}", f"upper={word[:1].isupper()}"]
        of += [f"ends {word[-k:]}" for k in (1, 2, 3, 4)]
        of += [f"begins {word[:k]}" for k in (1, 2, 3)]
        for step in (-2, -1, 1, 2):
            inside = 0 <= t + step < len(words)
            of.append(f"{step} {words[t + step]}" if inside else f"{step} outside")
        said.append(of)
    return said


def sentences(who: str) -> dict[str, float]:
    """Train on sentences; return CPU seconds and the error on those held out."""
    from structopt.datasets import load_conll2002

    read = load_conll2002()[: SENTENCES + HELD_OUT]
    X, Y = [strings(s.words) for s in read], [s.column(-1) for s in read]
    if who == "CRFsuite":
        import pycrfsuite

        trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
        trainer.set_params({"c1": 0.0, "c2": 1.0})
        for x, y in zip(X[:SENTENCES], Y[:SENTENCES], strict=True):
            trainer.append(pycrfsuite.ItemSequence(x), y)
        with tempfile.TemporaryDirectory() as folder:
            file = str(Path(folder) / "model")
            start = time.process_time()
            trainer.train(file)
            cpu = time.process_time() - start
            tagger = pycrfsuite.Tagger()
            tagger.open(file)
            found = [tagger.tag(pycrfsuite.ItemSequence(x)) for x in X[SENTENCES:]]
        return {"cpu": cpu, "error": _wrong(found, Y[SENTENCES:])}
    from structopt.learn.estimator import StructuredClassifier
    from structopt.structures.chain.structure import Chain

    names: dict[str, int] = {}
    for x in X[:SENTENCES]:
        for of in x:
            for name in of:
                names.setdefault(name, len(names))
    coded = [_coded(x, names) for x in X]
    labels = sorted({tag for y in Y for tag in y})
    model = StructuredClassifier(Chain(labels), M3N(C=TAGS_C), tol=TAGS_TOL)
    StructuredClassifier(Chain(labels), M3N(C=TAGS_C), tol=0.5).fit(coded[:20], Y[:20])
    start = time.process_time()
    model.fit(coded[:SENTENCES], Y[:SENTENCES])
    cpu = time.process_time() - start
    return {"cpu": cpu, "error": _wrong(model.predict(coded[SENTENCES:]), Y[SENTENCES:])}


def _coded(x: Sequence[Sequence[str]], names: dict[str, int]) -> Any:
    known = [[names[name] for name in of if name in names] for of in x]
    ends = np.cumsum([0, *map(len, known)])
    columns = np.array([j for of in known for j in of], dtype=np.int32)
    row = sp.csr_array((np.ones(len(columns)), columns, ends), shape=(len(x), len(names)))
    row.sum_duplicates()
    return row


def _wrong(found: Any, right: Any) -> float:
    pairs = [(a, b) for f, r in zip(found, right, strict=True) for a, b in zip(f, r, strict=True)]
    return 100.0 * sum(bool(a != b) for a, b in pairs) / len(pairs)


@dataclass
class SparseBench(Bench):
    """Rows by block ascent and by liblinear, sentences by block ascent and by CRFsuite."""

    name = "bench-sparse"
    excuses = (MissingDependencyError, MissingDataError)

    repeats: int = arguments.repeats(3)

    def cells(self) -> list[Cell]:
        """Return a cell a case, contender and turn."""
        contenders = [{"case": c, "who": w} for c in ROWS for w in ("structopt", "liblinear")]
        contenders += [{"case": "sentences", "who": w} for w in ("structopt", "CRFsuite")]
        bound = [{"case": case, "who": "bound", "turn": 0} for case in ROWS]
        return [*in_turns(contenders, self.repeats), *bound]

    def run(self, cell: Cell) -> dict[str, Any]:
        """Train in a process of its own."""
        case, who = cell["case"], cell["who"]
        if case == "sentences":
            job = partial(sentences, who)
        else:
            tol = {"bound": 1e-5, "liblinear": 0.05}.get(who, TOL)
            job = partial(rows, ROWS[case], who, tol)
        ended = isolated(job, seconds=120.0)
        if ended.how != "done":
            kind = MissingDataError if "MissingData" in ended.message else StructoptError
            raise kind(f"{who} on {case}: {ended.message}")
        return dict(ended.value)

    def tables(self, rows: Sequence[Row], left_out: Sequence[str]) -> list[Table]:
        """Return one row a case."""
        lines = []
        for case in every(rows, "case"):
            of = [where(rows, case=case, who=who) for who in ("structopt", "liblinear", "CRFsuite")]
            ours, peer = of[0], of[1] or of[2]
            if not ours or not peer:
                continue
            spread = f"{min(r['cpu'] for r in ours):.3f}-{max(r['cpu'] for r in ours):.3f}"
            a, b = median(ours, "cpu"), median(peer, "cpu")
            if case == "sentences":
                beside = [f"error {median(runs, 'error'):.2f}%" for runs in (ours, peer)]
            else:
                low = where(rows, case=case, who="bound")[0]["dual"]
                beside = [f"{median(runs, 'value') / low - 1:.1e}" for runs in (ours, peer)]
            cells = (f"{a:.3f} ({spread})", beside[0], f"{b:.3f}", beside[1], f"{a / b:.2f}")
            lines.append((case, peer[0]["who"], *cells))
        return [Table(
            "Sparse rows and sentences",
            ("case", "peer", "structopt CPU s", "excess", "peer CPU s", "excess", "ratio"),
            tuple(lines),
            (f"Certified to {TOL:g} (sentences {TAGS_TOL:g}); liblinear at tol 0.05, CRFsuite by "
             "L-BFGS; the excess is over a lower bound certified to 1e-5.", *left_out),
        )]  # fmt: skip
