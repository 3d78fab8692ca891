"""What every benchmark needs: fair turns, medians, and a record of where it ran.

>>> turns(["a", "b", "c"], 1)
['b', 'c', 'a']
>>> Sample((3.0, 1.0, 2.0)).median
2.0
"""

from __future__ import annotations

import datetime
import importlib.metadata
import os
import platform
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

PACKAGES = (
    "structopt-margin", "cvxpy", "highspy", "osqp", "clarabel", "numba", "numpy", "scipy",
    "networkx", "python-crfsuite", "ufal.chu-liu-edmonds",
)  # fmt: skip
"""Packages whose version changes what is measured."""


def turns(names: Sequence[str], turn: int) -> list[str]:
    """Return the order of a turn: each competitor goes first equally often."""
    start = turn % len(names)
    return [*names[start:], *names[:start]]


@dataclass(frozen=True)
class Sample:
    """Repeated measurements of one number."""

    values: tuple[float, ...]

    @property
    def median(self) -> float:
        """The middle value: one disturbed repetition does not move it."""
        return statistics.median(self.values)

    @property
    def range(self) -> str:
        """Least and most, in words."""
        return f"{min(self.values):.3g}-{max(self.values):.3g}"


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
