"""Which output made each cut of a round: decoded when somebody looks, not before.

>>> import structopt as so
>>> X, y = so.datasets.make_classes(6, n_features=2, seed=0)
>>> structure = so.Multiclass().fitted(X, y)
>>> run = so.CuttingPlane(structure, so.M3N(C=1.0), so.DataSet.of(structure, X, y))
>>> first = run.step()
>>> len(first.found) == first.cuts_added
True
>>> cut = first.found[0]
>>> cut.loss == structure.loss(y[cut.example], cut.output)
True
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from structopt.arrays import Floats
from structopt.engines.dataset import DataSet
from structopt.master.cuts import Cuts
from structopt.master.declare import RestrictedMaster
from structopt.run.events import Found
from structopt.structures.base.shard import Answers
from structopt.structures.base.structure import Structure


class FoundCuts(Sequence[Found]):
    """The cuts that one round added, as records with their outputs.

    Parameters
    ----------
    structure, data, master
        Of the run.
    asked : mapping of int to list of Answers
        What the oracles answered, by family.
    added : sequence of Cuts
        The cuts that were new, a batch a family.
    """

    def __init__(
        self,
        structure: Structure,
        data: DataSet,
        master: RestrictedMaster,
        asked: Mapping[int, list[Answers]],
        added: Sequence[Cuts],
    ) -> None:
        self._structure, self._data, self._master, self._asked = structure, data, master, asked
        # the batches are views of a pool that moves on
        self._which = [(int(c.family[0]), c.example.copy(), c.loss.copy()) for c in added if len(c)]

    def __len__(self) -> int:
        return sum(len(example) for _, example, _ in self._which)

    @overload
    def __getitem__(self, index: int) -> Found: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Found]: ...
    def __getitem__(self, index: int | slice) -> Found | Sequence[Found]:
        return self._decoded[index]

    def __reduce__(self) -> Any:
        """Be pickled as what it holds, without the data."""
        return tuple, (list(self._decoded),)

    @cached_property
    def _decoded(self) -> tuple[Found, ...]:
        found: list[Found] = []
        for family, example, loss in self._which:
            answers = self._asked[family]
            outputs = self._data.outputs(self._structure, answers)
            scores = np.concatenate([a.score for a in answers])
            group = self._master.families[family].group
            if group is not None:
                found += [
                    self._jointly(family, group == g, each, outputs, scores)
                    for g, each in zip(example.tolist(), loss.tolist(), strict=True)
                ]
                continue
            found += [
                Found(family, i, outputs[i], each, float(scores[i]))
                for i, each in zip(example.tolist(), loss.tolist(), strict=True)
            ]
        return tuple(found)

    def _jointly(
        self,
        family: int,
        members: NDArray[np.bool_],
        loss: float,
        outputs: list[Any],
        scores: Floats,
    ) -> Found:
        """Return a cut of a joint family: a sum over the examples that it is about."""
        oracle, weight = self._master.families[family].oracle, self._data.sample_weight
        losses = np.concatenate([a.loss for a in self._asked[family]])
        about = np.flatnonzero(members & np.isfinite(scores) & (weight > 0))
        about = about[oracle.hinge(losses[about], scores[about]) > 0]
        scale = np.broadcast_to(oracle.scale(losses[about]), len(about))
        total = float((weight[about] * scale) @ scores[about])
        return Found(family, None, {i: outputs[i] for i in about.tolist()}, loss, total)
