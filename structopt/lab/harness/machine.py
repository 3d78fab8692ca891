"""Where, when and with what something was measured."""

from __future__ import annotations

import datetime
import importlib.metadata
import os
import platform
from dataclasses import dataclass
from pathlib import Path

PACKAGES = (
    "structopt-margin", "cvxpy", "highspy", "osqp", "clarabel", "numba", "numpy", "scipy",
    "networkx", "scikit-learn", "dask", "scs", "ecos", "piqp", "proxsuite", "qdldl", "ortools",
    "gurobipy", "mosek", "cplex", "copt", "xpress", "python-crfsuite", "ufal.chu-liu-edmonds",
    "pyepo", "invopt",
)  # fmt: skip
"""Packages whose version changes what is measured."""


@dataclass(frozen=True)
class Machine:
    """Where and with what something was measured.

    Attributes
    ----------
    date : str
    processor, system : str
    cores : int
    load : float
        Processes that wanted a core in the last minute; above `cores`, trust ratios only.
    python : str
    versions : dict of str to str
        Of the packages in use, structopt among them.
    """

    date: str
    processor: str
    system: str
    cores: int
    load: float
    python: str
    versions: dict[str, str]

    @classmethod
    def here(cls) -> Machine:
        """Describe this machine, now."""
        versions = {}
        for package in PACKAGES:
            try:
                versions[package] = importlib.metadata.version(package)
            except importlib.metadata.PackageNotFoundError:
                continue
        return cls(
            date=datetime.datetime.now().astimezone().isoformat(timespec="seconds"),
            processor=_processor(),
            system=f"{platform.system()} {platform.machine()}",
            cores=os.cpu_count() or 1,
            load=os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan"),
            python=platform.python_version(),
            versions=versions,
        )

    def __str__(self) -> str:
        versions = ", ".join(f"{name} {version}" for name, version in self.versions.items())
        return (
            f"{self.date}; {self.processor}, {self.cores} cores, load {self.load:.1f}, "
            f"{self.system}; Python {self.python}; {versions}"
        )


def _processor() -> str:
    # platform.processor() says only "x86_64" on Linux
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.is_file():
        for line in cpuinfo.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine() or "unknown processor"
