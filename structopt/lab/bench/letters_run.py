r"""One measured training run on the handwritten words, alone in a fresh process.

    python -m structopt.lab.bench.letters_run structopt 1

trains on fold 1 and prints what it measured as one line of JSON. A process of its own makes peak
memory mean something, and lets :mod:`structopt.lab.bench.letters` fix the number of threads.

Told are the words trained on; CPU seconds ``encode`` (to the learner's own form) and ``train``; the
share of letters wrong on the other folds; peak resident ``memory`` in MB when training ended;
``passes`` over the data (or the peer's iterations). By blocks a pass is as many examples as there
are, those for ``certificates`` among them, and so are ``cheap`` visits over planes that are kept.
Of structopt also P and its certified ``gap``, one decoding pass by itself, where the wall seconds
of the rounds went, and the cuts at the end.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from structopt.datasets.letters import FOLDS, load_letters
from structopt.errors import MissingDependencyError
from structopt.lab.harness.process import answer

C = 0.1
GAP_PER_WORD = 0.6 / 704
"""Certified gap to stop at, in the units of ``P = 1/2 |w|^2 + C sum hinge``: 0.6 on fold 1, which
is where SVM^hmm stops at ``-e 0.01``. That is a tolerance per word, so more words allow more."""
ALPHABET = [chr(ord("a") + i) for i in range(26)]
PASSES = 15  # timed, for the median time of one


def run_structopt(folds: Sequence[int], *, blocks: bool = False) -> dict[str, Any]:
    """Train M3N on a chain until the gap is certified: by the ascent backend, or by blocks."""
    from structopt.engines.dataset import DataSet
    from structopt.formulations.m3n import M3N
    from structopt.methods.block_ascent.method import BlockAscent
    from structopt.methods.cutting_plane import CuttingPlane
    from structopt.structures.base.oracles import loss_augmented
    from structopt.structures.chain.structure import Chain

    def prepare(X: Any, Y: Any) -> tuple[Chain, DataSet]:
        structure = Chain(labels=ALPHABET).fitted(X, Y)
        return structure, DataSet.of(structure, X, Y)

    def learn(structure: Chain, data: DataSet) -> Any:
        gap = GAP_PER_WORD * data.n_examples / C  # M3N's objective is P / C
        options: Any = {"tol": 0.0, "abs_tol": gap}
        if blocks:
            return BlockAscent(structure, M3N(C=C), data, **options)
        return CuttingPlane(structure, M3N(C=C), data, backend="ascent", **options)

    X, Y = load_letters(folds)
    learn(*prepare(X[:30], Y[:30])).solve()  # compiles
    began = time.process_time()
    structure, data = prepare(X, Y)
    encoded = time.process_time()
    run = learn(structure, data)
    result = run.solve()
    trained = time.process_time()
    memory = peak_memory()
    passes = []
    for _ in range(PASSES):
        start = time.process_time()
        data.ask(loss_augmented, result.weights)
        passes.append(time.process_time() - start)
    X, Y = load_letters([f for f in range(FOLDS) if f not in folds])
    predicted = structure.predict(X, result.weights)
    certificate, passes_of = result.certificate, {"passes": len(result.history)}
    if blocks:
        visits = sum(r.iterations for r in result.history) - run.decoded
        passes_of = {
            "passes": round(run.decoded / data.n_examples + run.certificates, 1),
            "certificates": run.certificates,
            "cheap": visits / data.n_examples,
        }
    return {
        **passes_of,
        "words": data.n_examples,
        "encode": encoded - began,
        "train": trained - encoded,
        "test_error": _error(predicted, Y),
        "memory": memory,
        "objective": C * certificate.primal,
        "gap": C * certificate.gap if certificate.certified else float("inf"),
        "bare_pass": statistics.median(passes),
        "oracle": sum(r.oracle_seconds for r in result.history),
        "lift": sum(r.lift_seconds for r in result.history),
        "solve": sum(r.solve_seconds for r in result.history),
        "cuts": result.history[-1].cuts,
    }


def run_crfsuite(folds: Sequence[int]) -> dict[str, Any]:
    """Train CRFsuite (L-BFGS, c2 = 1) on one attribute per lit pixel and all 4,004 weights."""
    try:
        import pycrfsuite
    except ImportError as error:
        raise MissingDependencyError(
            'CRFsuite is not installed: pip install "structopt-margin[crf]".'
        ) from error

    def items(x: Any) -> Any:
        return pycrfsuite.ItemSequence([[f"p{j}" for j in np.flatnonzero(row)] for row in x])

    X, Y = load_letters(folds)
    trainer = pycrfsuite.Trainer(algorithm="lbfgs", verbose=False)
    every = {"feature.possible_states": True, "feature.possible_transitions": True}
    trainer.set_params({"c1": 0.0, "c2": 1.0, **every})
    began = time.process_time()
    for x, y in zip(X, Y, strict=True):
        trainer.append(items(x), y)
    encoded = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        model = str(Path(folder, "letters.crfsuite"))
        trainer.train(model)
        trained = time.process_time()
        memory = peak_memory()
        tagger = pycrfsuite.Tagger()
        tagger.open(model)
        words = len(X)
        X, Y = load_letters([f for f in range(FOLDS) if f not in folds])
        predicted = [tagger.tag(items(x)) for x in X]
        tagger.close()
    return {
        "words": words,
        "encode": encoded - began,
        "train": trained - encoded,
        "test_error": _error(predicted, Y),
        "memory": memory,
        "passes": int(trainer.logparser.last_iteration["num"]),
    }


RUNS: dict[str, Callable[..., dict[str, Any]]] = {
    "structopt": run_structopt,
    "blocks": partial(run_structopt, blocks=True),
    "crfsuite": run_crfsuite,
}


def peak_memory() -> float:
    """Return this process' peak resident memory in megabytes; NaN where it cannot be told."""
    try:
        import resource
    except ImportError:  # Windows
        return float("nan")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return float(peak) / (2**20 if sys.platform == "darwin" else 2**10)


def _error(predicted: Sequence[Any], gold: Sequence[Any]) -> float:
    words = list(zip(predicted, gold, strict=True))
    wrong = sum(int(p != g) for a, b in words for p, g in zip(a, b, strict=True))
    return wrong / max(1, sum(len(b) for _, b in words))


if __name__ == "__main__":
    answer(RUNS[sys.argv[1]], [int(fold) for fold in sys.argv[2:]])
