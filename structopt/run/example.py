"""An output beside what a model predicts for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Example:
    """One output and its prediction.

    Attributes
    ----------
    index : int
        Place in the data.
    gold, predicted : object
        Sequences are shown part by part, everything else as text.
    errors, parts : float
        How many parts are wrong, of how many, as the structure counts them.
    """

    index: int
    gold: Any
    predicted: Any
    errors: float
    parts: float
