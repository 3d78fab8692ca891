"""The tree of typed errors: what happened, with the numbers, and what to try next.

>>> issubclass(InfeasibleError, StructoptError)
True
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from typing import Any


class StructoptError(Exception):
    """Base of every error that structopt raises on purpose.

    Attributes
    ----------
    result : Result or None
        The best model found before the failure, when there is one.
    """

    result: Any = None


class InvalidInputError(StructoptError, ValueError):
    """Data or an argument that cannot be used; ``example`` is its position when known."""

    def __init__(self, message: str, *, example: int | None = None) -> None:
        super().__init__(message)
        self.example = example


class NotNumbersError(InvalidInputError, TypeError):
    """Inputs that are no real numbers at all (mappings, None, complex numbers)."""


class IncompatibleError(StructoptError, ValueError):
    """A part was asked for something it does not offer; raised before any work is done."""


class InfeasibleError(StructoptError):
    """No weights satisfy the master's constraints, or no output those of ``example``.

    ``constraints`` are those of the formulation that clash, as they were written.
    """

    def __init__(
        self, message: str, *, example: int | None = None, constraints: Sequence[str] = ()
    ) -> None:
        super().__init__(message)
        self.example, self.constraints = example, tuple(constraints)


class UnboundedError(StructoptError):
    """The master problem has no minimum: its value falls without limit."""


class OracleError(StructoptError):
    """An oracle failed or broke its contract; ``example`` is the example it was asked about."""

    def __init__(self, message: str, *, example: int | None = None) -> None:
        super().__init__(message)
        self.example = example


class EngineError(StructoptError):
    """Where the data live cannot be reached, or failed; ``shard`` is the part of the data."""

    def __init__(self, message: str, *, shard: int | None = None) -> None:
        super().__init__(message)
        self.shard = shard


class BackendError(StructoptError):
    """A solver failed, and nobody else solved the round: the reference failed too, or may not."""


class OutOfTimeError(StructoptError):
    """A solver did not return in time; a run ends at its time limit instead of showing this."""


class OutOfMemoryError(StructoptError, MemoryError):
    """Memory ran out in a round."""


class CertificateError(StructoptError):
    """A lower bound above the upper bound: a bug or a wrong oracle; ``primal``, ``dual`` are both.

    ``result`` holds the best model of the run; it is not certified.
    """

    def __init__(self, message: str, *, primal: float = math.nan, dual: float = math.nan) -> None:
        super().__init__(message)
        self.primal, self.dual = primal, dual


class FileFormatError(StructoptError, ValueError):
    """A model, checkpoint or data file that is truncated, foreign, or of another version."""


class MissingDataError(StructoptError, FileNotFoundError):
    """A data file is not where it is looked for; ``path`` is where it should be."""

    def __init__(self, message: str, *, path: str | os.PathLike[str] | None = None) -> None:
        super().__init__(message)
        self.path = path


class DownloadError(StructoptError, OSError):
    """A data file could not be downloaded; nothing was left behind."""


class ChecksumError(DownloadError):
    """A data file is not the expected one; ``expected`` and ``found`` are SHA-256 sums."""

    def __init__(self, message: str, *, expected: str = "", found: str = "") -> None:
        super().__init__(message)
        self.expected, self.found = expected, found


class MissingDependencyError(StructoptError, ImportError):
    """An optional package is needed; the message names the extra that brings it."""


class ConvergenceWarning(UserWarning):
    """The run stopped before its certified gap reached ``tol``."""
