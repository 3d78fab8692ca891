r"""Several good outputs an example: pseudo-references, over any structure with k-best decoding.

With good outputs G_i, a constraint pairs a bad output y with a good one g:

    w . (phi(x_i, g) - phi(x_i, y)) >= 1 - xi_i,    y outside G_i,

where g is the reference nearest to y in a structural distance (LP 7), or every one of them, of
which the worst-scored is violated most (LP 8). With one reference both are LP (6).

>>> import numpy as np, structopt as so
>>> X = [np.eye(2)]
>>> Y = [["ab", "aa"]]                          # two sequences that would both be right
>>> structure = so.References(so.Chain(labels="ab")).fitted(X, Y)
>>> structure.second_best(X[0], np.zeros(8), Y[0])
['b', 'a']
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Self

import numpy as np
import scipy.sparse as sp

from structopt.arrays import Floats, count
from structopt.datasets.lattice_arrays import PathArrays
from structopt.errors import IncompatibleError, InvalidInputError
from structopt.structures.base.oracles import best_other
from structopt.structures.base.sketch import Sketch
from structopt.structures.base.structure import Structure, check_lengths
from structopt.structures.lattice.arrays import read_paths, references_of
from structopt.structures.lattice.inputs import Paths
from structopt.structures.lattice.structure import Lattice
from structopt.structures.losses.part_costs import PartCosts
from structopt.structures.references.lattice_shard import LatticeReferenceShard
from structopt.structures.references.shard import ReferenceShard


class References(Structure):
    """A structure whose gold is a list of references; Y holds such a list for every example.

    Parameters
    ----------
    structure : Structure
        What an output can be; it needs the ability `k_best`.
    distance : callable, optional
        ``distance(reference, y)``, for :data:`nearest_reference`; the structure's loss by default.
    """

    fitted_inside: ClassVar[tuple[str, ...]] = ("structure",)

    def __init__(
        self, structure: Structure, distance: Callable[[Any, Any], float] | None = None
    ) -> None:
        self.structure, self.distance = structure, distance

    def fitted(self, X: Sequence[Any], Y: Sequence[Any]) -> Self:
        """Return a copy whose inner structure is fitted to the first references."""
        check_lengths(X, Y)
        fitted = copy.copy(self)
        if isinstance(Y, PathArrays):  # checked as arrays, where they are encoded
            fitted.structure = self.structure.fitted(X, Y)
            fitted.n_features_ = fitted.structure.n_features_
            return fitted
        for i, references in enumerate(Y):
            sized = hasattr(references, "__len__") and not isinstance(references, str)
            if not sized or len(references) == 0:
                raise InvalidInputError(
                    f"Example {i} has no list of references: give at least one good output, as "
                    "[y] or [y1, y2, ...].",
                    example=i,
                )
        first = [y for references in Y for y in references]
        inputs = [x for x, references in zip(X, Y, strict=True) for _ in references]
        fitted.structure = self.structure.fitted(inputs, first)
        if type(fitted.structure).beside is not Structure.beside:
            raise IncompatibleError(
                f"References compares outputs by features of their own; those of a "
                f"{type(self.structure).__name__} depend on gold. Give each good output as an "
                "example of its own."
            )
        offered = fitted.structure.abilities()  # which may depend on the data
        if "k_best" not in offered:
            raise IncompatibleError(
                f"References needs 'k_best'; {type(self.structure).__name__} offers "
                f"{sorted(offered)}. {fitted.structure.why_not('k_best')}".strip()
            )
        fitted.n_features_ = fitted.structure.n_features_
        return fitted

    def abilities(self) -> frozenset[str]:
        """Return what can be asked; loss-augmented decoding cannot."""
        return frozenset({"second_best", "k_best", "references"})

    def joint_features(self, x: Any, y: Any) -> Any:
        """Return the inner structure's features of an output."""
        return self.structure.joint_features(x, y)

    def loss(self, y: Any, other: Any) -> float:
        """Return the smallest loss of ``other`` against any of the references ``y``."""
        return min(self.structure.loss(reference, other) for reference in self._some(y))

    @staticmethod
    def _some(gold: Any) -> Any:
        if sp.issparse(gold) or hasattr(gold, "iloc"):  # they are not counted or read as lists are
            kind = type(gold).__name__
            raise InvalidInputError(f"A list of references is a {kind}: give a list.")
        if count(gold, "A list of references") == 0:
            raise InvalidInputError("Give at least one reference.")
        return gold

    def argmax(self, x: Any, weights: Floats, *, gold: Any = None) -> Any:
        """Return the best output; loss-augmented decoding is not offered for several references."""
        if gold is not None:
            raise self._lacks("argmax with gold")
        return self.structure.argmax(x, weights)

    def k_best(self, x: Any, weights: Floats, k: int) -> list[Any]:
        """Return the k best outputs."""
        return self.structure.k_best(x, weights, k)

    def second_best(self, x: Any, weights: Floats, gold: Any) -> Any:
        """Return the best output outside the references ``gold``, or None."""
        shard = self.encode([x], [self._some(gold)])
        answers = shard.ask(best_other, weights)
        return shard.bad(answers.outputs, 0) if np.isfinite(answers.score[0]) else None

    def predict(self, X: Any, weights: Floats, *, given: Any = None) -> list[Any]:
        """Return the best output of every example."""
        return self.structure.predict(X, weights, given=given)

    def unpack(self, shard: Any, outputs: Any) -> list[Any]:
        """Return the output outside the references that each example was answered with."""
        return [shard.bad(outputs, i) for i in range(shard.n_examples)]

    def part_count(self, y: Any) -> int:
        """Return the parts of the first reference."""
        return self.structure.part_count(y[0])

    def part_errors(self, y: Any, other: Any) -> int:
        """Return the errors against the closest reference."""
        return min(self.structure.part_errors(reference, other) for reference in y)

    def feature_names(self) -> list[tuple[str, str]] | None:
        """Return the inner structure's names."""
        return self.structure.feature_names()

    def sketch(self, x: Any, y: Any, shown: Any = None) -> Sketch:
        """Return the inner structure's sketch of an output."""
        return self.structure.sketch(x, y, shown)

    def sketches(
        self, x: Any, gold: Any, predicted: Any, shown: Any = None
    ) -> tuple[Sketch, Sketch]:
        """Show the reference that is nearest to what was predicted."""
        nearest = min(gold, key=lambda reference: self.structure.loss(reference, predicted))
        return self.structure.sketches(x, nearest, predicted, shown)

    def encode(
        self, X: Sequence[Any], Y: Sequence[Any], *, start: int = 0
    ) -> ReferenceShard | LatticeReferenceShard:
        """Encode examples with their references; a lattice has an oracle of its own for them."""
        check_lengths(X, Y)
        if type(self).joint_features is not References.joint_features:
            raise IncompatibleError(
                f"{type(self).__name__} overrides joint_features(), but outputs are listed by "
                f"{type(self.structure).__name__}: override it there."
            )
        inner, written = self.structure, type(self).loss is not References.loss
        if isinstance(inner, Lattice) and not (
            written or inner.overridden() or inner.decoder == "networkx"
        ):
            lattices = inner.read(X, start)
            if isinstance(Y, PathArrays):
                good, references = read_paths(lattices, Y), references_of(Y)
            else:
                numbers = [lattices.numbers(i, paths) for i, paths in enumerate(Y)]
                good = Paths.stacked([path for paths in numbers for path in paths])
                references = np.cumsum([0, *map(len, numbers)])
            costs = PartCosts.given(inner.cost)
            return LatticeReferenceShard(lattices, good, references, costs, self.distance)
        return ReferenceShard(self, X, Y, start)
