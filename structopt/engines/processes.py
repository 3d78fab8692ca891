"""Calls by joblib's workers: threads, or processes."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any


def called(calls: Iterable[Any], n_jobs: int | None, *, threads: bool = False) -> list[Any]:
    """Return what joblib's delayed calls return, in order.

    A worker process that has grown is replaced, with a warning in a thread of joblib's own. Where
    warnings are errors (``python -W error``) that thread would end, and the call wait for ever.

    >>> from joblib import delayed
    >>> called([delayed(abs)(-1), delayed(abs)(2)], 2, threads=True)
    [1, 2]
    """
    from joblib import Parallel

    pool = Parallel(n_jobs=n_jobs, prefer="threads" if threads else "processes")
    with warnings.catch_warnings():
        warnings.filterwarnings("default", "A worker stopped while some jobs", UserWarning)
        return list(pool(calls))
