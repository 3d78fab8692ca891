"""What a comparison was made with: enough for a stranger to make it again.

>>> sorted(set(LOCK) - set(lock()))
[]
"""

from __future__ import annotations

import hashlib
import json
import shlex
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_info

from structopt.lab.harness.machine import Machine

LOCK = ("machine_id", "date", "processor", "system", "cores", "load", "python", "versions",
        "libraries", "command")  # fmt: skip
"""What is told of a machine."""


def lock() -> dict[str, Any]:
    """Return what a comparison was made with: machine, versions, BLAS, threads, command."""
    machine = asdict(Machine.here())
    about = ("internal_api", "version", "num_threads", "threading_layer")
    blas = [{key: pool.get(key) for key in about} for pool in threadpool_info()]
    fixed = {key: machine[key] for key in ("processor", "system", "cores", "python", "versions")}
    ident = hashlib.sha256(json.dumps(fixed, sort_keys=True).encode()).hexdigest()[:8]
    program = Path(sys.argv[0])
    ours = program.parts[-2:] == ("structopt", "__main__.py")  # python -m structopt
    command = shlex.join(["structopt" if ours else program.name, *sys.argv[1:]])
    return {"machine_id": ident, **machine, "libraries": blas, "command": command}
