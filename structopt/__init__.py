"""structopt: a modeling layer for max-margin structured prediction over LP and QP solvers.

Say what an output can be (a structure), what is minimised (a formulation, in CVXPY) and who solves
it (a backend); structopt finds the violated constraints, grows the restricted master problem,
certifies the answer and shows what happened.

Names are loaded when they are first used (:mod:`structopt.names`).
"""

from __future__ import annotations

from typing import Any

from structopt import names

__version__ = "0.1.0"
__all__ = ["__version__", *names.public()]


def __getattr__(name: str) -> Any:
    value = globals()[name] = names.load(name)
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
