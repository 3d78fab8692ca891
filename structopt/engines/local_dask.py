"""A local Dask cluster in a process of its own: its scheduler takes nothing of the one that asks.

Dask's own LocalCluster keeps its scheduler in the process that starts it, where it takes some 4% of
a core while it waits, and more than a compiled pass of 60 ms while it works. Here the same cluster
is started by a small process, and found by its address. That ends with its input: when it is
closed, and when whoever started it is gone, however that came.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import threading

from structopt.errors import EngineError

_SCRIPT = """
import json, signal, sys
signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for whoever asks
given = json.loads(sys.stdin.readline())
sys.path[:] = given["path"]
from distributed import LocalCluster
with LocalCluster(
    n_workers=given["n_workers"], threads_per_worker=1, dashboard_address=":0"
) as cluster:
    print(json.dumps([cluster.scheduler_address, len(cluster.workers)]), flush=True)
    sys.stdin.readline()
"""
_PATIENCE = 20.0
"""Seconds for a cluster to close its workers, before it is ended."""


class LocalDask:
    """A cluster of processes with one thread each.

    Parameters
    ----------
    n_workers : int, optional
        By default one a core.
    timeout : float
        Seconds until it must be there.

    Attributes
    ----------
    address : str
        Of its scheduler.
    """

    def __init__(self, n_workers: int | None, timeout: float) -> None:
        import dask.config

        inherited = {"DASK_INTERNAL_INHERIT_CONFIG": dask.config.serialize(dask.config.config)}
        self._process = subprocess.Popen(
            [sys.executable, "-c", _SCRIPT], env=os.environ | inherited,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        asked, told = self._process.stdin, self._process.stdout
        assert asked is not None
        assert told is not None
        said: list[str] = []
        self._reading = threading.Thread(target=lambda: said.append(told.readline()), daemon=True)
        self._reading.start()
        try:
            asked.write(json.dumps({"n_workers": n_workers, "path": sys.path}) + "\n")
            asked.flush()
            self._reading.join(timeout)
            self.address, self._n_workers = json.loads(said[0])
        except BaseException as error:
            self._end(0.0)
            if isinstance(error, OSError | IndexError | ValueError):
                raise EngineError(
                    f"No local Dask cluster came up within {timeout:g} s: what its process wrote "
                    "stands above. Start one yourself and give its address or a Client as engine."
                ) from error
            raise

    def __str__(self) -> str:
        return f"a local cluster, {self._n_workers} workers, at {self.address}"

    def close(self) -> None:
        """End the workers, the scheduler and their process."""
        self._end(_PATIENCE)

    def _end(self, patience: float) -> None:
        asked, told = self._process.stdin, self._process.stdout
        assert asked is not None
        assert told is not None
        with contextlib.suppress(OSError):  # it may be gone
            asked.close()
        try:
            self._process.wait(patience)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._reading.join()
        told.close()
