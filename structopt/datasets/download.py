r"""Downloads of public data sets into the data home, with `pooch` (extra ``data``).

A file is moved to its place only when it is whole and its SHA-256 sum is the expected one; a file
that is already there is never overwritten.

>>> fetch("horses")
Traceback (most recent call last):
    ...
structopt.errors.InvalidInputError: There is no download for 'horses' (none stated, offered ...
"""

from __future__ import annotations

import hashlib
import logging
import os
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

from structopt.datasets.catalogue import CATALOGUE, Entry, Source
from structopt.datasets.home import data_home
from structopt.datasets.text_files import read_bytes
from structopt.errors import (
    ChecksumError,
    DownloadError,
    FileFormatError,
    InvalidInputError,
    MissingDependencyError,
)

TIMEOUT = 30
"""Seconds without a byte from the server after which a download is given up."""

log = logging.getLogger(__name__)


class Fetched(NamedTuple):
    """A download that is in its place: its files, its sum, and whether it was there before."""

    url: str
    paths: tuple[Path, ...]
    sha256: str | None
    """Of the download; None where the files were there and the download, an archive, is not."""
    was_there: bool


def fetch(
    name: str,
    *,
    known_hash: Mapping[str, str] | Literal["recorded"] | None = "recorded",
    home: str | os.PathLike[str] | None = None,
    report: Callable[[str], None] | None = None,
) -> list[Fetched]:
    """Download a data set of the catalogue from its public home.

    Parameters
    ----------
    name : str
        A key of :data:`~structopt.datasets.catalogue.CATALOGUE`.
    known_hash : "recorded", mapping or None
        "recorded": the sums of the catalogue, of the files as they are put in place; one without a
        sum is refused. A mapping from the names of downloads (the last part of the address) to
        SHA-256 sums of your own. None: take what comes; the sums of the downloads are returned, to
        be pinned next time.
    home : path, optional
        A folder instead of the data home.
    report : callable, optional
        Told what is being done.

    Raises
    ------
    InvalidInputError
        The name is unknown, or the set has no download, or a sum is missing.
    ChecksumError
        A file has another sum; it is not kept.
    DownloadError
        The server refuses, or the connection breaks; nothing is left behind.
    MissingDependencyError
        pooch is not installed.
    """
    entry = _entry(name)
    root = data_home() if home is None else Path(home).expanduser().absolute()
    if isinstance(known_hash, str) and known_hash != "recorded":
        raise InvalidInputError(
            f"known_hash is {known_hash!r}: give 'recorded', None, or a mapping from the names of "
            "downloads to SHA-256 sums."
        )
    todo = []
    for source in entry.sources:  # all sums before the first download
        there = [entry.there(root, target) for target in source.files.values()]
        expected = _expected(source, known_hash)
        known = "" in expected or set(source.files.values()) <= set(expected)
        if isinstance(known_hash, Mapping) and not known and None in there:
            raise InvalidInputError(
                f"known_hash has no sum for {source.name}, only for {sorted(known_hash)}: give the "
                "sum of the download, by the last part of its address."
            )
        if known_hash is not None and not known and None in there:
            raise InvalidInputError(
                f"no checksum recorded for {source.url}; download it yourself and put "
                f"{_wanted(entry)} at {root / entry.folder}, or, if you trust the address, run "
                f"`structopt data fetch {name} --no-checksum` (known_hash=None), which says the "
                "sum that it finds."
            )
        todo.append((source, expected, there))
    return [_one(root / entry.folder, *one, report) for one in todo]


def _entry(name: str) -> Entry:
    if name not in CATALOGUE:
        raise InvalidInputError(
            f"There is no data set {name!r}; choose one of {', '.join(CATALOGUE)}."
        )
    entry = CATALOGUE[name]
    if not entry.sources:
        raise InvalidInputError(
            f"There is no download for {name!r} ({entry.licence}): get it from {entry.page} and "
            f"put {_wanted(entry)} into the folder {entry.folder} of the data home."
        )
    return entry


def _wanted(entry: Entry) -> str:
    return ", ".join(" or ".join(group) for group in entry.files)


def _expected(source: Source, known: Mapping[str, str] | str | None) -> dict[str, str]:
    """Return the sums to check, by the name in the folder; that of the download goes by ""."""
    if known is None:
        return {}
    if isinstance(known, str):
        return {name: source.sums[name] for name in source.files.values() if name in source.sums}
    given = known.get(source.name)
    return {} if given is None else {"": given.lower().removeprefix("sha256:")}


def _one(
    folder: Path,
    source: Source,
    expected: dict[str, str],
    there: list[Path | None],
    report: Callable[[str], None] | None,
) -> Fetched:
    kept = [path for path in there if path is not None]
    if len(kept) == len(there):
        for path, target in zip(kept, source.files.values(), strict=True):
            if path.name in (target, f"{target}.gz"):  # else another format that the loader takes
                what = f"{path}, which is there,"
                _compare(what, _content(path), expected.get(target), "delete it to fetch it again.")
        if kept[0].name != source.files.get(""):
            return Fetched(source.url, tuple(kept), None, True)
        found, what = _sha256(kept[0]), f"{kept[0]}, which is there,"
        _compare(what, found, expected.get(""), "delete it to fetch it again.")
        return Fetched(source.url, tuple(kept), found, True)
    if report is not None:
        report(f"fetching {source.url}")
    folder = folder.resolve()
    folder.parent.mkdir(parents=True, exist_ok=True)
    # Beside the folder, so that moving a file to its place is one atomic step.
    with tempfile.TemporaryDirectory(prefix=".download-", dir=folder.parent) as scratch:
        got = _retrieve(source.url, source.name, Path(scratch))
        advice = "it was changed or damaged on the way, and is not kept."
        found = _sha256(got)
        _compare(source.url, found, expected.get(""), advice)
        unpacked = _unpack(source, got, Path(scratch))
        for new, target in zip(unpacked, source.files.values(), strict=True):
            _compare(f"{target} of {source.url}", _content(new), expected.get(target), advice)
        folder.mkdir(exist_ok=True)
        paths = []
        for new, old, target in zip(unpacked, there, source.files.values(), strict=True):
            if old is None:
                os.replace(new, folder / target)
            paths.append(old or folder / target)
    log.info("%s: SHA-256 %s", source.url, found)
    return Fetched(source.url, tuple(paths), found, False)


def _compare(what: str, found: str, expected: str | None, advice: str) -> None:
    """Raise if another sum than the one found is expected."""
    if expected is not None and found != expected:
        raise ChecksumError(
            f"{what} has the SHA-256 sum {found}, not {expected}: {advice}",
            expected=expected,
            found=found,
        )


def _retrieve(url: str, name: str, scratch: Path) -> Path:
    try:
        import pooch
        import requests
    except ImportError as error:
        raise MissingDependencyError(
            "Downloads need pooch; install it with: pip install 'structopt-margin[data]'"
        ) from error
    pooch.get_logger().setLevel(logging.WARNING)  # its advice is about its own arguments
    downloader: Any = pooch.HTTPDownloader(timeout=TIMEOUT)
    try:
        got = pooch.retrieve(url, None, fname=name, path=scratch, downloader=downloader)
    except requests.exceptions.RequestException as error:
        if error.response is not None:  # pooch 1.9 leaves it open
            error.response.close()
        raise DownloadError(f"{url} could not be downloaded: {error}") from error
    return Path(got)


def _unpack(source: Source, got: Path, scratch: Path) -> list[Path]:
    """Unpack the wanted members of an archive, in their order."""
    # Under names of ours: no path of the archive is ever followed.
    paths = [scratch / str(place) for place in range(len(source.files))]
    if "" in source.files:
        paths[0].write_bytes(got.read_bytes())  # readable for others, which pooch's file is not
        return paths
    try:
        with zipfile.ZipFile(got) as archive:
            for path, member in zip(paths, source.files, strict=True):
                path.write_bytes(archive.read(member))
    except KeyError as error:
        raise FileFormatError(f"{source.url} has changed: {error.args[0]}") from error
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise FileFormatError(f"{source.url} is no whole ZIP archive: {error}") from error
    return paths


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _content(path: Path) -> str:
    """Return the sum of a file, unpacked if it is gzipped."""
    return hashlib.sha256(read_bytes(path)).hexdigest()
