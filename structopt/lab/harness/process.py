"""A module run in a fresh process with one thread, which answers in one line of JSON."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

from structopt import errors
from structopt.errors import StructoptError

# Set before the process starts: libraries read them when they are loaded.
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")


def alone(module: str, *arguments: str) -> dict[str, Any]:
    """Run ``python -m module arguments`` and return its answer.

    Raises
    ------
    StructoptError
        The process failed, or answered with an ``error`` of this library and its ``message``:
        then of that type.
    """
    done = subprocess.run(
        [sys.executable, "-m", module, *arguments],
        env=os.environ | dict.fromkeys(THREADS, "1"),
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    lines = done.stdout.strip().splitlines()
    if done.returncode or not lines:
        said = (done.stderr.strip().splitlines() or ["nothing"])[-1]
        raise StructoptError(f"The process of {module} ended with code {done.returncode}: {said}")
    answer: dict[str, Any] = json.loads(lines[-1])
    if "error" in answer:
        kind: type[StructoptError] = getattr(errors, answer["error"], StructoptError)
        raise kind(answer["message"])
    return answer
