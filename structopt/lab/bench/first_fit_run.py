r"""Fits so small that what is fixed shows, alone in a fresh process.

    python -m structopt.lab.bench.first_fit_run cold

prints CPU seconds ``cpu`` as one line of JSON: of a fit of ``rows`` (20 of them), and of the
README's example from the start of the process to its score, with a ``warm`` cache of compiled loops
(the one that is there; run it twice) or a ``cold`` one of its own, which is thrown away.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from typing import Any

from structopt.lab.harness.process import answer

FITS = 30


def first(cache: str) -> dict[str, Any]:
    """Return the CPU seconds of this process once the README's example has run."""
    with tempfile.TemporaryDirectory() as folder:
        if cache == "cold":
            os.environ["NUMBA_CACHE_DIR"] = folder  # before Numba is imported
        import structopt as so

        X, Y = so.datasets.load_digit_words(150, seed=0)
        X_test, Y_test = so.datasets.load_digit_words(50, split="test", seed=1)
        model = so.StructuredClassifier(so.Chain(), so.M3N(C=0.1)).fit(X, Y)
        score = model.score(X_test, Y_test)
    return {"cpu": [time.process_time()], "score": score}


def rows() -> dict[str, Any]:
    """Return the CPU seconds of fits of 20 rows, after one that does not count."""
    import structopt as so

    X, y = so.datasets.make_classes(20, seed=0)
    model, taken = so.StructuredClassifier(so.Multiclass(), so.M3N()).fit(X, y), list[float]()
    for _ in range(FITS):
        start = time.process_time()
        model.fit(X, y)
        taken.append(time.process_time() - start)
    return {"cpu": [statistics.median(taken), min(taken), max(taken)], "score": model.score(X, y)}


if __name__ == "__main__":
    answer(rows) if sys.argv[1] == "rows" else answer(first, sys.argv[1])
