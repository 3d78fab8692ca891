"""Dask's workers as the place where shards live.

Tasks, their order, where they run and what is done again when a worker dies are Dask's; here is
which client is used, how long one waits, and what a failure is called.

>>> Dask("tcp://127.0.0.1:9", timeout=0.5).connect(None)
Traceback (most recent call last):
...
structopt.errors.EngineError: No Dask scheduler answers at tcp://127.0.0.1:9 ...
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from structopt.engines.chunks import is_future, is_lazy
from structopt.engines.local_dask import LocalDask
from structopt.engines.place import Remote
from structopt.engines.where import made, packed, same
from structopt.errors import EngineError, InvalidInputError, MissingDependencyError, StructoptError
from structopt.parameters import Parameters, Positive, checked

if TYPE_CHECKING:
    from distributed import Client

logger = logging.getLogger(__name__)

_NEEDED = "structopt.engines.where"
_LARGE = "1 TiB"
"""Size of a graph that Dask warns of: chunks of this process are meant to be in it."""


class Dask(Parameters):
    """Dask's workers as the place where shards live.

    Parameters
    ----------
    client : Client or str, optional
        A Dask client, or the address of a scheduler. None is the client that is there already;
        where there is none, a local cluster is started, and closed with the data.
    timeout : float
        Seconds in which no shard answers, and after which a question is given up.

    Notes
    -----
    Give it, or what it is made of, as ``engine``: ``StructuredClassifier(..., engine=client)``.

    Examples
    --------
    >>> import structopt as so
    >>> so.Dask(timeout=60.0)
    Dask(client=None, timeout=60.0)
    """

    @checked
    def __init__(self, client: Any = None, *, timeout: Positive = 600.0) -> None:
        self.client, self.timeout = client, timeout

    def connect(self, n_jobs: int | None) -> Cluster:
        """Return the cluster, once it has a worker; ``n_jobs`` shards, or one a thread."""
        try:
            import distributed
        except ImportError as error:
            raise MissingDependencyError(
                "This engine needs Dask: pip install 'structopt-margin[dask]'."
            ) from error
        if n_jobs is not None and n_jobs < 1 and n_jobs != -1:
            raise InvalidInputError(f"n_jobs is {n_jobs}: give the number of shards, or -1.")
        asked = None if n_jobs == -1 else n_jobs
        client, opened = self._client(distributed, asked)
        try:
            return Cluster(client, self.timeout, asked, opened)
        except BaseException:
            for one in opened:
                one.close()
            raise

    def _client(self, distributed: Any, n_workers: int | None) -> tuple[Client, list[Any]]:
        """Return a client, and what is to be closed after use."""
        if isinstance(self.client, str):
            try:
                found = distributed.Client(
                    self.client, timeout=min(self.timeout, 30.0), set_as_default=False
                )
            except (OSError, TimeoutError, ValueError) as error:
                raise EngineError(
                    f"No Dask scheduler answers at {self.client} ({_told(error)}). Is the address "
                    "right, and is `dask scheduler` running there?"
                ) from error
            return found, [found]
        if self.client is not None:
            if not isinstance(self.client, distributed.Client):
                raise InvalidInputError(
                    "client must be a Dask Client or the address of a scheduler; got "
                    f"{type(self.client).__name__}."
                )
            return self.client, []
        try:
            return distributed.get_client(), []
        except ValueError:
            pass
        started = LocalDask(n_workers, self.timeout)
        try:
            logger.warning("engine='dask': no client is there; started %s", started)
            client = distributed.Client(
                started.address, timeout=min(self.timeout, 30.0), set_as_default=False
            )
        except BaseException:
            started.close()
            raise
        return client, [client, started]


class Cluster(Remote):
    """A client, and how long it is waited for.

    Parameters
    ----------
    client : Client
    timeout : float
    n_shards : int, optional
        By default one a thread of the workers.
    opened : list
        What to close, first the client.
    """

    def __init__(
        self, client: Client, timeout: float, n_shards: int | None, opened: Sequence[Any] = ()
    ) -> None:
        self.client, self.timeout, self._opened = client, timeout, list(opened)
        try:
            client.wait_for_workers(1, timeout=timeout)
            threads = client.sync(client.scheduler.ncores, callback_timeout=timeout)
        except TimeoutError as error:
            raise EngineError(
                f"The Dask cluster has had no worker for {timeout:g} s: start some, or "
                "give so.Dask(..., timeout=) more time."
            ) from error
        except (Exception, asyncio.CancelledError) as error:
            raise EngineError(
                f"The Dask client is not usable ({_told(error)}): is it closed?"
            ) from error
        self.n_shards = sum(threads.values()) if n_shards is None else n_shards
        # what a worker cannot import would end it, and Dask would try the next one

        async def imported() -> Any:
            return await client.run(exec, f"import {_NEEDED}", on_error="return")

        for found in self._waited(imported, [], "importing structopt").values():
            if isinstance(found, ImportError):
                raise EngineError(
                    f"Workers lack a package that is needed here ({_told(found)}): install "
                    "structopt-margin on all of them, in the same version."
                )

    def share(self, value: Any) -> Any:
        """Send a value once: as a task, so that Dask can send it again to another worker."""
        return self._submitted(self.client.submit, same, value, pure=False)

    def map(self, function: Callable[..., Any], *columns: Iterable[Any]) -> list[Any]:
        """Apply a function to each row of columns, where what it needs is."""
        listed = map(list, columns)
        return list(self._submitted(self.client.map, function, *listed, pure=False))

    def spread(self, chunks: Sequence[Any]) -> list[Any]:
        """Make every chunk on a worker; Dask spreads what is asked for at once."""
        # not bound to addresses: Dask forgets such tasks if all workers go and others come
        own = [c for c in chunks if not (is_future(c) or is_lazy(c))]
        functions = iter(self.map(made, map(packed, own)) if own else [])
        lazy = iter(self._submitted(self.client.compute, [c for c in chunks if is_lazy(c)]))
        return [
            c if is_future(c) else next(lazy) if is_lazy(c) else next(functions) for c in chunks
        ]

    def _submitted(self, submit: Callable[..., Any], *given: Any, **where: Any) -> Any:
        import dask

        try:
            with dask.config.set({"distributed.admin.large-graph-warning-threshold": _LARGE}):
                return submit(*given, **where)
        except Exception as error:  # of pickling, of the client: Dask has no one type for them
            raise EngineError(
                f"Dask does not take the work ({_told(error)}). Can the structure and the examples "
                "be pickled, and is the client open?"
            ) from error

    def get(self, handles: Sequence[Any], doing: str) -> list[Any]:
        """Return what tasks came to; wait as long as some of them finish within the time given."""
        handles = list(handles)

        async def gathered() -> list[Any]:
            return list(await self.client.gather(handles, asynchronous=True))

        return self._waited(gathered, handles, doing)  # type: ignore[no-any-return]

    def _waited(self, question: Callable[[], Any], handles: Sequence[Any], doing: str) -> Any:
        finished = -1
        while True:
            try:
                return self.client.sync(question, callback_timeout=self.timeout)
            except TimeoutError as error:
                before, finished = finished, sum(one.status == "finished" for one in handles)
                if finished == max(before, 0):
                    raise self._silent(handles, doing) from error
            except (Exception, asyncio.CancelledError) as error:
                raise self._failure(error, handles, doing) from error

    def _silent(self, handles: Sequence[Any], doing: str) -> EngineError:
        number = next((i for i, one in enumerate(handles) if one.status != "finished"), 0)
        try:
            left = len(self.client.sync(self.client.scheduler.ncores, callback_timeout=5))
            workers = "no worker is left" if left == 0 else f"{left} workers are left"
        except (TimeoutError, OSError, RuntimeError, asyncio.CancelledError):
            workers = "the scheduler does not answer"
        return EngineError(
            f"Shard {number} of {len(handles)} gave no answer within {self.timeout:g} s while "
            f"{doing}, and {workers}. Start workers, or give so.Dask(..., timeout=) more time.",
            shard=number,
        )

    def _failure(self, error: BaseException, handles: Sequence[Any], doing: str) -> StructoptError:
        """Return what to call a failure."""
        from distributed.scheduler import KilledWorker

        number = next((i for i, one in enumerate(handles) if one.status == "error"), None)
        if isinstance(error, StructoptError):
            if number is not None:
                error.args = (_placed(error, number, len(handles), doing),)
            return error
        if number is None:
            return EngineError(
                f"The Dask cluster was lost while {doing} ({_told(error)}): its scheduler has "
                "stopped, or the client was closed."
            )
        shard, said = f"Shard {number} of {len(handles)} failed while {doing}", _told(error)
        if isinstance(error, KilledWorker | MemoryError):
            said = (
                f"the workers that held it died, most likely for want of memory ({said}). Try "
                "more, smaller shards (n_jobs=), or workers with more memory."
            )
        elif isinstance(error, ImportError) or "deserializ" in str(error):
            said = (
                f"workers and scheduler lack a package that is needed here ({said}). Install "
                "structopt-margin, and the modules that your own classes come from, in the same "
                "versions everywhere (client.get_versions(check=True) compares)."
            )
        else:
            said += (
                ". Does what makes this chunk work on the workers' machines, and are its files "
                "there?"
            )
        return EngineError(f"{shard}: {said}", shard=number)

    def close(self) -> None:
        """Close the client or the local cluster that was opened here."""
        while self._opened:
            self._opened.pop(0).close()


def _placed(error: StructoptError, number: int, n_shards: int, doing: str) -> str:
    """Return what an error says, with the shard that it speaks of."""
    same = " Every chunk has the inputs and labels that the structure was fitted on."
    unlike = doing == "encoding" and isinstance(error, InvalidInputError)
    return f"In shard {number} of {n_shards}: {error}{same if unlike else ''}"


def _told(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"
