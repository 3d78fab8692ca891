"""An output beside what a model predicts for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from structopt.structures.base.sketch import Sketch, plain_sketch


@dataclass(frozen=True)
class Example:
    """One output and its prediction.

    Attributes
    ----------
    index : int
        Place in the data.
    gold, predicted : object
        The outputs.
    errors, parts : float
        How many parts are wrong, of how many, as the structure counts them.
    pictures : (Sketch, Sketch), optional
        What the two look like, as the structure says; by default sequences are shown part by part,
        everything else as text.
    """

    index: int
    gold: Any
    predicted: Any
    errors: float
    parts: float
    pictures: tuple[Sketch, Sketch] | None = None

    @property
    def sketches(self) -> tuple[Sketch, Sketch]:
        """What the two outputs look like."""
        if self.pictures is not None:
            return self.pictures
        return plain_sketch(None, self.gold), plain_sketch(None, self.predicted)
