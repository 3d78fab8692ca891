"""Shards asked by joblib's workers: threads, or processes."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterable, Sequence
from concurrent.futures.process import BrokenProcessPool
from typing import Any

from structopt.arrays import Floats
from structopt.errors import OracleError, StructoptError
from structopt.structures.base.oracles import Oracle
from structopt.structures.base.shard import Answers, Shard, asked

logger = logging.getLogger(__name__)


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


def asked_apart(
    shards: Sequence[Shard],
    oracle: Oracle,
    weights: Floats,
    n_jobs: int | None,
    *,
    threads: bool = False,
) -> list[Answers]:
    """Return what shards answer to workers, in order; once more if a worker dies.

    Raises
    ------
    OracleError
        A pass fails for a reason that no shard gives.
    """
    from joblib import delayed

    calls = [delayed(asked)(shard, oracle, weights) for shard in shards]
    try:
        try:
            return called(calls, n_jobs, threads=threads)
        except BrokenProcessPool as error:  # joblib starts others
            logger.warning("a worker died (%s); asking once more", error)
            return called(calls, n_jobs, threads=threads)
    except (StructoptError, KeyboardInterrupt):
        raise
    except Exception as error:
        raise OracleError(
            f"A parallel oracle pass failed: {type(error).__name__}: {error} Try n_jobs=1, or "
            "fewer workers if memory ran out."
        ) from error
