"""Where shards live: in this process, behind joblib, in a folder, or on Dask's workers.

>>> place("threads", 2, threads=False)
Here(n_jobs=2, threads=True)
>>> place("cloud", None, threads=True)
Traceback (most recent call last):
...
structopt.errors.InvalidInputError: Unknown engine 'cloud'; choose from ['this process', ...
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from structopt.errors import InvalidInputError

NAMES = ("this process", "threads", "processes", "disk", "dask")


class Here(NamedTuple):
    """In this process, with joblib's workers: threads, or processes."""

    n_jobs: int | None
    threads: bool


class Remote(ABC):
    """Workers elsewhere that hold things, and do work where these are.

    What they hold is known here by handles, which no one looks into.
    """

    n_shards: int
    """Into how many shards data are cut."""

    @abstractmethod
    def share(self, value: Any) -> Any:
        """Send a value once; return its handle."""

    @abstractmethod
    def map(self, function: Callable[..., Any], *columns: Sequence[Any]) -> list[Any]:
        """Apply a function to each row of columns, which hold handles or values; return handles."""

    @abstractmethod
    def spread(self, chunks: Sequence[Any]) -> list[Any]:
        """Return a handle of each chunk, which is made on a worker, spread over all of them."""

    @abstractmethod
    def get(self, handles: Sequence[Any], doing: str) -> list[Any]:
        """Return the values of handles, shard by shard; ``doing`` is for messages."""

    @abstractmethod
    def close(self) -> None:
        """Let go of what was opened for this engine."""


def place(engine: Any, n_jobs: int | None, *, threads: bool) -> Here | Remote:
    """Return where an engine keeps shards.

    Parameters
    ----------
    engine : str, Client, Dask, Disk or None
    n_jobs : int, optional
        In joblib's sense.
    threads : bool
        Whether shards release the interpreter lock.
    """
    if engine is None:
        return Here(n_jobs, threads)
    if engine == "this process":
        if n_jobs not in (None, 1):
            raise InvalidInputError(
                f"engine='this process' works alone, and n_jobs is {n_jobs}: leave one of them out."
            )
        return Here(1, threads)
    if engine in ("threads", "processes"):
        return Here(-1 if n_jobs is None else n_jobs, engine == "threads")
    from structopt.engines.dask_engine import Dask
    from structopt.engines.disk import Disk

    if engine == "disk":
        engine = Disk()
    if isinstance(engine, Dask | Disk):
        return engine.connect(n_jobs)
    named = isinstance(engine, str) and (engine == "dask" or "://" in engine)
    if named or type(engine).__module__.partition(".")[0] == "distributed":
        return Dask(None if engine == "dask" else engine).connect(n_jobs)
    raise InvalidInputError(
        f"Unknown engine {engine!r}; choose from {list(NAMES)}, or give the address of a Dask "
        "scheduler (tcp://...), a Dask Client or so.Dask(...)."
    )
