r"""What an oracle's answer says about the hinge of its example: a plane that lies below it.

    h_i(w) = max(0, max_y m_i(y) - s_i(y) w . delta_i(y))  >=  m - w . d,     d = s_i(y) delta_i(y).

Planes weighted by at most c_i an example, summed, are what dual bounds are made of: with
M = sum alpha m and V = sum alpha d, P(w) >= R(w) + M - w . V for every w.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from structopt.arrays import Floats, Ints
from structopt.engines.dataset import DataSet
from structopt.master.form import HingeForm
from structopt.structures.base.parts import Directions
from structopt.structures.base.parts_kernels import add_to
from structopt.structures.base.shard import Answers, asked

_ONLY = np.zeros(1, dtype=np.int64)  # the one example of a single shard


@dataclass(frozen=True)
class Planes:
    """Planes of some examples, those of positive cost whose hinge is positive.

    Attributes
    ----------
    examples : array of int
    margins : array
        m of each plane.
    directions : Directions
        d of each plane, over the base of the :class:`PlaneFinder` that found it.
    """

    examples: Ints
    margins: Floats
    directions: Directions

    def __len__(self) -> int:
        return len(self.examples)

    def take(self, which: Ints) -> Planes:
        """Return the planes at positions ``which``, in that order."""
        return Planes(self.examples[which], self.margins[which], self.directions.take(which))


class PlaneFinder:
    """Asks the oracle of a hinge form, and turns its answers into planes.

    Attributes
    ----------
    base : sparse matrix
        What the directions of all planes refer to.

    Examples
    --------
    >>> import numpy as np, structopt as so
    >>> structure = so.Multiclass(labels=["a", "b"]).fitted(np.eye(2), ["a", "b"])
    >>> data = so.DataSet.of(structure, np.eye(2), ["a", "b"])
    >>> form = HingeForm(so.loss_augmented, np.ones(2), *(np.ones(4),) * 4)
    >>> finder = PlaneFinder(data, form)
    >>> found = finder.one(0, np.zeros(4))
    >>> found.margins, finder.pull(found)
    (array([1.]), array([ 1.,  0., -1.,  0.]))
    """

    def __init__(self, data: DataSet, form: HingeForm) -> None:
        self.data, self.form = data, form
        self.base = data.base
        rows = [shard.base.shape[0] for shard in data.shards]
        counts = [shard.n_examples for shard in data.shards]
        self._shift = np.repeat(np.cumsum([0, *rows[:-1]]), counts)
        self._examples = np.arange(data.n_examples)

    def one(self, i: int, weights: Floats) -> Planes | None:
        """Ask about example i; return its plane, None if its hinge is 0."""
        single, oracle = self.data.single(i), self.form.oracle
        answers = asked(single, oracle, weights)
        margin, scale = oracle.margin(answers.loss), oracle.scale(answers.loss)
        # as floats: 0 * inf must not warn
        if not float(margin[0]) - float(scale[0]) * float(answers.score[0]) > 0.0:
            return None
        found = single.directions(answers.outputs, _ONLY)
        if shift := self._shift[i]:
            found = found.moved(int(shift))
        return Planes(self._examples[i : i + 1], margin, scaled(found, scale))

    def all(self, answers: list[Answers]) -> Planes:
        """Return the planes of a pass over the whole data set."""
        oracle, loss = self.form.oracle, np.concatenate([a.loss for a in answers])
        score = np.concatenate([a.score for a in answers])
        which = np.flatnonzero((self.form.cost > 0) & np.isfinite(score))
        which = which[oracle.hinge(loss[which], score[which]) > 0]
        loss = loss[which]
        if len(which):
            found = self.data.directions(answers, which)
        else:
            found = Directions(np.zeros(1, np.int64), which, which, np.zeros(0))
        return Planes(which, oracle.margin(loss), scaled(found, oracle.scale(loss)))

    def pull(self, planes: Planes, out: Floats | None = None) -> Floats:
        """Return, or add to ``out``, the directions times their examples' costs."""
        total = np.zeros(self.data.n_features) if out is None else out
        d, base = planes.directions, self.base
        add_to(
            total, self.form.cost[planes.examples], d.ptr, d.source, d.offset, d.coef,
            base.indptr, base.indices, base.data,
        )  # fmt: skip
        return total


def scaled(directions: Directions, factors: Floats) -> Directions:
    """Return each direction times its factor."""
    if np.all(factors == 1.0):
        return directions
    coef = directions.coef * np.repeat(factors, np.diff(directions.ptr))
    return Directions(directions.ptr, directions.source, directions.offset, coef)
