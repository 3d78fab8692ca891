r"""What one fit takes beyond the examples that it is given, alone in a fresh process.

    python -m structopt.lab.bench.memory_run "chains, sparse" block-ascent 200000

prints as one line of JSON, in MB: the size of the examples as one CSR base with 32-bit indices or,
dense, as they are (``data``); what was resident when the fit began (``before``), the given examples
among it; and the largest that was resident while it ran, less that (``peak``).
"""

from __future__ import annotations

import sys
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import scipy.sparse as sp

from structopt.errors import ConvergenceWarning, StructoptError
from structopt.formulations.m3n import M3N
from structopt.lab.bench.drawn_data import CASES
from structopt.lab.harness.process import answer
from structopt.learn.estimator import StructuredClassifier

ROUNDS = 3


def run(case: str, method: str, rows: str) -> dict[str, Any]:
    """Fit a few examples, which compiles what is needed, then all of them for some rounds."""
    structure, X, Y = CASES[case](int(rows))

    def fit(X: Any, Y: Any) -> Any:
        model = StructuredClassifier(
            structure, M3N(C=1e-3), method=method, tol=1e-6, max_iter=ROUNDS, n_jobs=1
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # some rounds are enough
            return model.fit(X, Y).result_

    fit(X[:50], Y[:50])
    _forget_peak()
    before = _megabytes("VmRSS")
    found = fit(X, Y)
    return {
        "data": _size(X) / 2**20,
        "before": before,
        "peak": _megabytes("VmHWM") - before,
        "weights": found.weights.nbytes / 2**20,
    }


def _size(X: Any) -> float:
    """Return bytes of all matrices."""
    each = X if isinstance(X, list) else [X]
    if not sp.issparse(each[0]):
        return float(sum(x.nbytes for x in each))
    return float(sum(12 * x.nnz + 4 * x.shape[0] for x in each))


def _forget_peak() -> None:
    """Let the peak begin anew at what is resident now."""
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    except OSError as error:
        raise StructoptError(f"Peak memory is read from Linux' /proc ({error}).") from error


def _megabytes(name: str) -> float:
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return float(next(line for line in lines if line.startswith(name)).split()[1]) / 2**10


if __name__ == "__main__":
    answer(partial(run, *sys.argv[1:]))
