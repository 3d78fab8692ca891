"""A job in a process of its own: its time and memory are limited, and it can fail by itself.

Processes are forked off a server that has imported what is slow to import and has solved nothing,
so that one costs milliseconds and no solver's threads are copied into it.

>>> isolated(partial(divmod, 7, 2), seconds=20.0).value
(3, 1)
>>> isolated(partial(divmod, 7, 0), seconds=20.0)
Ended(how='error', value=None, message='ZeroDivisionError: integer division or modulo by zero')
"""

from __future__ import annotations

import contextlib
import math
import multiprocessing
import os
import resource
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial  # noqa: F401  the doctest's
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

import cloudpickle

from structopt.errors import OutOfTimeError
from structopt.lab.harness.measure import PATIENCE
from structopt.lab.harness.process import THREADS

How = Literal["done", "error", "out of time", "out of memory", "crashed"]
PRELOAD = ["cvxpy", "structopt.lab.harness.isolated"]
_GRACE = 5.0  # CPU seconds for what surrounds a job: imports, compiled loops, its answer


@dataclass(frozen=True)
class Ended:
    """How a job ended.

    Attributes
    ----------
    how : {"done", "error", "out of time", "out of memory", "crashed"}
    value : Any
        What it returned, if it is done.
    message : str
        What went wrong otherwise.
    """

    how: How
    value: Any = None
    message: str = ""


def isolated(job: Callable[[], Any], *, seconds: float, memory: float | None = None) -> Ended:
    """Run a job on one thread in a process of its own.

    Parameters
    ----------
    job : callable
        May be defined anywhere, in a script or notebook as well.
    seconds : float
        CPU seconds after which the process is ended (a few more, for what surrounds the job); a
        process that sleeps or hangs is ended after 5 times as many.
    memory : float, optional
        GiB that it may ask for beyond what the imports take.
    """
    try:
        packed = cloudpickle.dumps(job)
    except Exception as error:  # of whatever cannot be pickled
        why = f"it cannot be handed to a process of its own: {type(error).__name__}: {error}"
        return Ended("error", message=why)
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(PRELOAD)
    ours, theirs = context.Pipe(duplex=False)
    process = context.Process(target=_work, args=(packed, theirs, seconds, memory), daemon=True)
    with _one_thread(), _without_main():
        process.start()
    theirs.close()
    try:
        arrived = ours.poll(PATIENCE * (seconds + _GRACE))
        # what it sends is complete, or it ended in the middle and EOFError says so
        sent = ours.recv_bytes() if arrived else None
    except EOFError:
        sent = None
        arrived = True
    finally:
        ours.close()
        if process.is_alive() and not _ends(process):
            process.kill()
        process.join()
    if sent is not None:
        return Ended(*cloudpickle.loads(sent))
    if not arrived or process.exitcode == -signal.SIGXCPU:
        return Ended("out of time", message=f"not within {seconds:g} CPU seconds")
    return Ended("crashed", message=f"its process ended with {_name(process.exitcode)}")


def _ends(process: Any) -> bool:
    process.join(1.0)
    return not process.is_alive()


def _name(code: int | None) -> str:
    if code is None or code >= 0:
        return f"code {code}"
    with contextlib.suppress(ValueError):
        return signal.Signals(-code).name
    return f"signal {-code}"


def _work(job: bytes, answer: Any, seconds: float, memory: float | None) -> None:
    """Do a job, in its process."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)  # Ctrl-C ends it without a word
    os.dup2(2, 1)  # what a solver prints goes beside the tables, not among them
    # it ends by itself, too: whoever waits for it may have been killed
    signal.setitimer(signal.ITIMER_REAL, PATIENCE * (seconds + _GRACE) + _GRACE)
    limit = math.ceil(seconds + _GRACE)
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if memory is not None:
        space = min(_address_space() + int(memory * 2**30), 2**62)
        resource.setrlimit(resource.RLIMIT_AS, (space, space))
    try:
        ended: tuple[Any, ...] = ("done", cloudpickle.loads(job)())
        sent = cloudpickle.dumps(ended)
    except MemoryError:
        sent = cloudpickle.dumps(("out of memory", None, f"more than {memory} GiB"))
    except OutOfTimeError as error:  # of a process that the job started
        sent = cloudpickle.dumps(("out of time", None, str(error)))
    except Exception as error:
        sent = cloudpickle.dumps(("error", None, f"{type(error).__name__}: {error}"))
    sys.stdout.flush()
    answer.send_bytes(sent)
    answer.close()
    # a solver's threads must not keep a finished process
    os._exit(0)


def _address_space() -> int:
    """Return the bytes that this process has mapped; 0 where the system does not say."""
    statm = Path("/proc/self/statm")
    if not statm.is_file():
        return 0
    return int(statm.read_text().split()[0]) * resource.getpagesize()


@contextlib.contextmanager
def _without_main() -> Iterator[None]:
    """Hide the main module: it would be run again in the process, a script from its first line."""
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = main


@contextlib.contextmanager
def _one_thread() -> Iterator[None]:
    """Have the server start with one thread a library: they read it when they are loaded."""
    before = {name: os.environ.get(name) for name in THREADS}
    os.environ.update(dict.fromkeys(THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
