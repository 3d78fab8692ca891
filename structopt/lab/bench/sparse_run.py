r"""One learner on sparse rows or sentences, alone in a fresh process.

    python -m structopt.lab.bench.sparse_run rows structopt digits

prints what it measured as one line of JSON: CPU seconds ``cpu`` of training alone (compiled loops
loaded before, on a few rows), the objective ``value``, the lower bound ``dual``, the percentage
``wrong`` on what is held out, and the peak resident ``memory`` in MB when training ended. Where a
learner has a tolerance these are lists, one number for each in ``tol``.
"""

from __future__ import annotations

import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from structopt.errors import MissingDependencyError
from structopt.lab.bench import sparse_data
from structopt.lab.bench.letters_run import peak_memory
from structopt.lab.harness.process import answer

OURS, PEERS, BOUND, TAGS_TOL = (1e-2, 5e-3, 2e-3, 1e-3), (0.05,), 1e-4, 1e-2
EPOCHS = 20
ROWS: dict[str, Callable[[], tuple[Any, Any, float]]] = {
    "tagged words": sparse_data.tagged_words,
    "digits": sparse_data.digits,
}


def rows(who: str, case: str) -> dict[str, Any]:
    """Train classes on rows at several tolerances."""
    X, y, C = ROWS[case]()
    if who == "liblinear":
        found = [_liblinear(X, y, C, tol) for tol in PEERS]
        return {"tol": PEERS, "cpu": [a for a, _ in found], "value": [b for _, b in found]}
    tols = (BOUND,) if who == "bound" else OURS
    runs = [_classes(X, y, C, tol) for tol in tols]
    return {"tol": tols, **{key: [run[key] for run in runs] for key in ("cpu", "value", "dual")}}


def _classes(X: Any, y: Any, C: float, tol: float) -> dict[str, Any]:
    from structopt.formulations.m3n import M3N
    from structopt.learn.estimator import StructuredClassifier
    from structopt.structures.multiclass.structure import Multiclass

    model = StructuredClassifier(Multiclass(), M3N(C=C), tol=tol)
    StructuredClassifier(Multiclass(), M3N(C=C)).fit(X[:50], y[:50])  # loads what is compiled
    start = time.process_time()
    model.fit(X, y)
    cpu, found = time.process_time() - start, model.result_.certificate
    gap = found.relative_gap if found.certified else np.inf
    return {
        "cpu": cpu, "value": C * found.primal, "dual": C * found.dual, "certified": gap <= tol,
        "memory": peak_memory(),
    }  # fmt: skip


def _liblinear(X: Any, y: Any, C: float, tol: float) -> tuple[float, float]:
    """Return CPU seconds and the objective of liblinear's weights."""
    from sklearn.svm import LinearSVC

    peer = LinearSVC(
        multi_class="crammer_singer", C=C, fit_intercept=False, tol=tol, max_iter=100_000
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peer.fit(X[:50], y[:50])  # as ours: what is loaded at first does not count
        start = time.process_time()
        peer.fit(X, y)
        cpu = time.process_time() - start
    scores = np.asarray(X @ peer.coef_.T)
    gold = scores[np.arange(len(y)), y].copy()
    scores += 1.0
    scores[np.arange(len(y)), y] -= 1.0
    hinges = float((scores.max(axis=1) - gold).sum())
    return cpu, 0.5 * float(np.vdot(peer.coef_, peer.coef_)) + C * hinges


def growth(what: str, *size: str) -> dict[str, Any]:
    """Train on drawn rows, drawn sequences, or columns far apart, of some size."""
    numbers = [int(number) for number in size]
    if what == "rows":
        return _classes(*sparse_data.drawn(*numbers), 5e-3)
    if what == "columns":
        return _classes(*sparse_data.spread(*numbers), 1e-3)
    return _tagger(*sparse_data.drawn_sequences(*numbers))[0]


def sentences(who: str) -> dict[str, Any]:
    """Train on sentences: max-margin, or by a perceptron, beside CRFsuite's two."""
    X, Y = sparse_data.sentences()
    n = sparse_data.SENTENCES
    if who.startswith("CRFsuite"):
        return _crfsuite(X[:n], Y[:n], X[n:], Y[n:], perceptron="perceptron" in who)
    x = sparse_data.coded(X)
    del X
    options: dict[str, Any] = {}
    if "perceptron" in who:  # without another pass for an objective, which the peer has not
        options = {"method": "perceptron", "max_iter": EPOCHS}
        options["method_options"] = {"evaluate": False}
    measured, model = _tagger(x[:n], Y[:n], 0.1, sorted({tag for y in Y for tag in y}), **options)
    return measured | {"wrong": _wrong(model.predict(x[n:]), Y[n:])}


def _tagger(
    X: Any, Y: Any, C: float, labels: Any = None, **options: Any
) -> tuple[dict[str, Any], Any]:
    from structopt.formulations.m3n import M3N
    from structopt.learn.estimator import StructuredClassifier
    from structopt.structures.chain.structure import Chain

    def model() -> Any:
        return StructuredClassifier(Chain(labels), M3N(C=C), tol=TAGS_TOL, **options)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a perceptron has made mistakes in its last epoch
        model().fit(X[:20], Y[:20])  # loads what is compiled
        found = model()
        start = time.process_time()
        found.fit(X, Y)
        cpu = time.process_time() - start
    c = found.result_.certificate
    measured = {"cpu": cpu, "rounds": len(found.result_.history), "memory": peak_memory()}
    if not options:
        measured["certified"] = c.certified and c.relative_gap <= TAGS_TOL
    return measured, found


def _crfsuite(X: Any, Y: Any, others: Any, right: Any, *, perceptron: bool) -> dict[str, Any]:
    try:
        import pycrfsuite
    except ImportError as error:
        raise MissingDependencyError(
            'CRFsuite is not installed: pip install "structopt-margin[crf]".'
        ) from error

    trainer = pycrfsuite.Trainer(algorithm="ap" if perceptron else "lbfgs", verbose=False)
    trainer.set_params({"max_iterations": EPOCHS} if perceptron else {"c1": 0.0, "c2": 1.0})
    for x, y in zip(X, Y, strict=True):
        trainer.append(pycrfsuite.ItemSequence(x), y)
    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder) / "model")
        start = time.process_time()
        trainer.train(file)
        measured = {"cpu": time.process_time() - start, "memory": peak_memory()}
        tagger = pycrfsuite.Tagger()
        tagger.open(file)
        found = [tagger.tag(pycrfsuite.ItemSequence(x)) for x in others]
    return measured | {"wrong": _wrong(found, right)}


def _wrong(found: Any, right: Any) -> float:
    pairs = [(a, b) for f, r in zip(found, right, strict=True) for a, b in zip(f, r, strict=True)]
    return 100.0 * sum(bool(a != b) for a, b in pairs) / len(pairs)


JOBS: dict[str, Callable[..., dict[str, Any]]] = {
    "rows": rows, "growth": growth, "sentences": sentences
}  # fmt: skip


if __name__ == "__main__":
    answer(JOBS[sys.argv[1]], *sys.argv[2:])
