"""A module run in a process of its own with one thread, which answers in lines of JSON."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from typing import Any

from structopt import errors
from structopt.errors import OutOfTimeError, StructoptError

# Set before the process starts: libraries read them when they are loaded.
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


def alone(module: str, *arguments: str) -> dict[str, Any]:
    """Run ``python -m module arguments`` and return its answer.

    Raises
    ------
    OutOfTimeError
        The limit on its CPU time ended it.
    StructoptError
        The process failed, or answered with an ``error`` of this library and its ``message``:
        then of that type.
    """
    done = subprocess.run(
        [sys.executable, "-m", module, *arguments],
        env=os.environ | dict.fromkeys(THREADS, "1"),
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode == -signal.SIGXCPU:
        raise OutOfTimeError(f"The process of {module} was out of CPU time.")
    lines = done.stdout.strip().splitlines()
    if done.returncode or not lines:
        said = (done.stderr.strip().splitlines() or ["nothing"])[-1]
        raise StructoptError(f"The process of {module} ended with code {done.returncode}: {said}")
    return _answer(lines[-1])


class Companion:
    """``python -m module arguments`` kept running: asked one line, it answers with one of JSON.

    Its imports and what it compiles are paid once. It ends when this object does.
    """

    def __init__(self, module: str, *arguments: str) -> None:
        self.module = module
        self._process = subprocess.Popen(
            [sys.executable, "-m", module, *arguments],
            env=os.environ | dict.fromkeys(THREADS, "1"),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip

    def ask(self, line: str) -> dict[str, Any]:
        """Return the answer to a line; raises as :func:`alone` does."""
        asked, answers = self._process.stdin, self._process.stdout
        assert asked is not None
        assert answers is not None
        try:
            asked.write(line + "\n")
            asked.flush()
            answer = answers.readline()
        except BrokenPipeError:
            answer = ""
        if not answer:
            code = self._process.wait()
            raise StructoptError(f"The process of {self.module} ended with code {code}.")
        return _answer(answer)

    def close(self) -> None:
        """End the process."""
        self._process.kill()
        self._process.communicate()

    def __del__(self) -> None:
        self.close()


def _answer(line: str) -> dict[str, Any]:
    """Return an answer, or raise the error that it is."""
    answer: dict[str, Any] = json.loads(line)
    if "error" in answer:
        kind: type[StructoptError] = getattr(errors, answer["error"], StructoptError)
        raise kind(answer["message"])
    return answer


def answer(job: Callable[..., dict[str, Any]], *arguments: Any) -> None:
    """Do a job and print its outcome, or the error, as JSON."""
    try:
        outcome = job(*arguments)
    except StructoptError as error:
        outcome = {"error": type(error).__name__, "message": str(error)}
    # Past whatever a library may have printed.
    os.write(1, f"\n{json.dumps(outcome)}\n".encode())
