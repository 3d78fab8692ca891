r"""Where data files live.

The folder named by the environment variable ``STRUCTOPT_DATA``, or else the place that the platform
keeps for such things: ``$XDG_CACHE_HOME/structopt`` or ``~/.cache/structopt`` on Linux,
``~/Library/Caches/structopt`` on macOS, ``%LOCALAPPDATA%\structopt`` on Windows.

>>> data_home().is_absolute()
True
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path

from structopt.datasets.catalogue import CATALOGUE
from structopt.errors import InvalidInputError, MissingDataError

VARIABLE = "STRUCTOPT_DATA"


def data_home() -> Path:
    """Return the folder that data files are looked for in; it need not exist.

    Returns
    -------
    pathlib.Path
        An absolute path. Nothing is created.
    """
    if named := os.environ.get(VARIABLE):
        return Path(named).expanduser().absolute()
    return _platform_cache().absolute() / "structopt"


def _platform_cache() -> Path:
    # os.path.expanduser leaves "~" alone where there is no home; Path.home() would raise.
    user = Path(os.path.expanduser("~"))
    platform: str = sys.platform  # a plain str, so that type checkers read all three branches
    if platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or user / "AppData" / "Local")
    if platform == "darwin":
        return user / "Library" / "Caches"
    named = os.environ.get("XDG_CACHE_HOME", "")
    # The XDG base directory specification: a relative path is invalid and must be ignored.
    return Path(named) if os.path.isabs(named) else user / ".cache"


def find_data(
    names: Sequence[str], *, what: str, advice: str = "", home: str | os.PathLike[str] | None = None
) -> Path:
    """Return the first of some files that exists under the data home.

    Parameters
    ----------
    names : sequence of str
        Paths relative to the data home, most wanted first.
    what : str
        What the files hold, for the message.
    advice : str
        Where such a file comes from, for the message.
    home : path, optional
        A folder to look in instead of :func:`data_home`.

    Raises
    ------
    MissingDataError
        None of the files is there; the message says what to put where.
    """
    root = _root(home)
    for name in names:
        if (root / name).is_file():
            return root / name
    raise _missing([root / name for name in names], what, advice, home is None)


def find(name: str, file: str, *, home: str | os.PathLike[str] | None = None) -> Path:
    """Return a file, gzipped or not, of a data set of the catalogue, which says what it is."""
    entry = CATALOGUE[name]
    names = [f"{entry.folder}/{pattern}" for pattern in entry.group(file)]
    return find_data(names, what=entry.what, advice=_advice(name), home=home)


def find_all(
    name: str, *patterns: str, home: str | os.PathLike[str] | None = None
) -> tuple[Path, list[list[Path]]]:
    """Return the folder of a data set and, for each pattern, its files there, at least one.

    A pattern stands for gzipped files too.

    Raises
    ------
    MissingDataError
        A pattern has no file.
    """
    entry = CATALOGUE[name]
    folder = _root(home) / entry.folder
    found = [
        sorted(p for end in ("", ".gz") for p in folder.glob(pattern + end) if p.is_file())
        for pattern in patterns
    ]
    for pattern, paths in zip(patterns, found, strict=True):
        if not paths:
            raise _missing([folder / pattern], entry.what, _advice(name), home is None)
    return folder, found


def check_split(split: str, known: Sequence[str]) -> None:
    """Refuse a part of a data set that does not exist."""
    if split not in known:
        raise InvalidInputError(f"split is {split!r}; choose one of {', '.join(known)}.")


def _root(home: str | os.PathLike[str] | None) -> Path:
    return data_home() if home is None else Path(home).expanduser().absolute()


def _advice(name: str) -> str:
    entry = CATALOGUE[name]
    fetch = f" To download it, run `structopt data fetch {name}`." if entry.sources else ""
    return entry.advice + fetch


def _missing(wanted: list[Path], what: str, advice: str, anywhere: bool) -> MissingDataError:
    put = " or ".join(map(str, wanted))
    elsewhere = f", or name another folder in the environment variable {VARIABLE}"
    return MissingDataError(
        f"There is no file with {what}. Put {put} there{elsewhere if anywhere else ''}."
        f"{f' {advice}' if advice else ''}",
        path=wanted[0],
    )
