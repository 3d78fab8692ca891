"""The versions of what a run was made with."""

from __future__ import annotations

import platform
from importlib import metadata

import structopt

PACKAGES = ("cvxpy", "clarabel", "highspy", "osqp", "numpy", "scipy", "scikit-learn", "numba")


def versions() -> str:
    """Return them in a line.

    >>> versions().startswith("structopt ")
    True
    """
    found = [f"structopt {structopt.__version__}", f"Python {platform.python_version()}"]
    for package in PACKAGES:
        try:
            found.append(f"{package} {metadata.version(package)}")
        except metadata.PackageNotFoundError:  # installed in another way than by a package
            continue
    return ", ".join(found)
