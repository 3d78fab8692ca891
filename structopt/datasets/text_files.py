r"""Lines of a text file, gzipped or not, with errors that name the file.

>>> import pathlib, tempfile
>>> with tempfile.TemporaryDirectory() as folder:
...     path = pathlib.Path(folder, "two.txt")
...     _ = path.write_text("one\ntwo\n")
...     list(read_lines(path))
[(1, 'one'), (2, 'two')]
"""

from __future__ import annotations

import gzip
import os
import sys
import zlib
from collections.abc import Iterator
from pathlib import Path

from structopt.errors import FileFormatError, InvalidInputError, MissingDataError
from structopt.parameters import checked


@checked
def read_bytes(path: str | os.PathLike[str]) -> bytes:
    """Return a whole file, unpacked if it is gzipped, whatever its name; "-" is standard input."""
    try:
        raw = sys.stdin.buffer.read() if os.fspath(path) == "-" else Path(path).read_bytes()
    except FileNotFoundError as error:
        raise MissingDataError(f"There is no file {os.fspath(path)!r}.", path=path) from error
    except IsADirectoryError as error:
        raise InvalidInputError(f"{os.fspath(path)!r} is a folder: name a file.") from error
    try:
        return gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw
    except (EOFError, OSError, zlib.error) as error:
        raise FileFormatError(
            f"{os.fspath(path)} is truncated or damaged: not a whole gzip file ({error})."
        ) from error


@checked
def read_text(path: str | os.PathLike[str]) -> str:
    """Return a whole UTF-8 file, unpacked if it is gzipped, without a byte order mark."""
    raw = read_bytes(path)
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise at(path, line, f"not UTF-8 ({error.reason})") from error


@checked
def read_lines(path: str | os.PathLike[str]) -> Iterator[tuple[int, str]]:
    """Yield the number and the text of every line, without its end."""
    # not splitlines, which also cuts at characters that may stand inside a token
    lines = read_text(path).removesuffix("\n").split("\n")
    yield from enumerate((line.rstrip("\r") for line in lines), 1)


class LineError(Exception):
    """Why a line cannot be read; whoever knows its number says where it stands."""


def at(path: str | os.PathLike[str], line: int, reason: str) -> FileFormatError:
    """Return the error of a malformed line."""
    name = "standard input" if os.fspath(path) == "-" else os.fspath(path)
    return FileFormatError(f"{name}, line {line}: {reason}")
