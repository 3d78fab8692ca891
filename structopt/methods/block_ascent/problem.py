"""What block ascent reads of a data set: labels of rows, or whatever else is a sum of parts."""

from __future__ import annotations

from typing import Any, Protocol, Self

from structopt.arrays import Floats, Ints
from structopt.engines.dataset import DataSet
from structopt.master.plain import PlainForm
from structopt.master.value import ValueAt
from structopt.methods.block_ascent.labelled import Labelled
from structopt.methods.block_ascent.parts import Parts
from structopt.methods.labels import Labels
from structopt.structures.base.example_shard import ExampleShard


class Blocks(Protocol):
    """Planes and multipliers of every example, and the weights that they make."""

    near: float
    whole: int
    finest: float
    gaps: Floats
    dual: float

    def __len__(self) -> int:
        """Return how many planes there are."""

    def resume(self, other: Any) -> None:
        """Go on with the planes and multipliers of other blocks, if limits differ by one factor."""

    def full_pass(self, order: Ints) -> int:
        """Take up what is found for every example, settle; return how many were decoded."""

    def cheap_epochs(self, gap: float, seed: int) -> int:
        """Visit examples over their planes until their gap is a share of the given one."""


class Weights(Protocol):
    """Weights in the layout of a problem."""

    def ridge(self) -> float:
        """Return 1/2 |w|^2."""

    def nonzeros(self) -> int:
        """Return how many weights are not 0."""


class Problem(Protocol):
    """Examples with their margins, and weights in a layout of its own."""

    @property
    def form(self) -> PlainForm:
        """What is to be minimised."""

    def reads(self, data: DataSet) -> bool:
        """Return whether it was read off a data set."""

    def under(self, form: PlainForm) -> Self:
        """Return the same data under a form with the same oracle."""

    def blocks(self) -> Blocks:
        """Return the blocks of all examples, at multipliers of 0."""

    def at_zero(self) -> float:
        """Return an upper bound on the objective at weights of 0; infinity if none is known."""

    def suits(self, tol: float) -> bool:
        """Return whether it is the faster way to a tolerance, as far as was measured."""

    def summed(self, blocks: Any) -> tuple[Any, float]:
        """Return the weights of the blocks' multipliers, anew from the data, and their gain."""

    def value(self, weights: Any) -> ValueAt:
        """Return the objective at weights: every example is asked about, by its own oracle."""

    def nothing(self) -> Any:
        """Return weights of 0."""

    def narrowed(self, weights: Floats) -> Any:
        """Return given weights in the layout of the problem."""

    def widened(self, weights: Any) -> Floats:
        """Return weights as users see them."""


def read(data: DataSet, form: PlainForm, before: Problem | None = None) -> Problem | str:
    """Read a data set, or say why it cannot be read; ``before`` may have read it already."""
    if before is not None and before.reads(data) and before.form.oracle == form.oracle:
        return before.under(form)
    labels = Labels.of(data, form.oracle)
    if not isinstance(labels, str):
        return Labelled.of(labels, form)
    if any(isinstance(shard, ExampleShard) for shard in data.shards):
        return "its structure is asked example by example, through methods of its own"
    return Parts.of(data, form)
