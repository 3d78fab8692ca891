"""Methods by name, imported when they are asked for."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from structopt.errors import IncompatibleError, InvalidInputError
from structopt.names import of_kind
from structopt.parameters import checked
from structopt.run.limits import NAMES

if TYPE_CHECKING:
    from structopt.engines.dataset import DataSet
    from structopt.formulations.base import Formulation
    from structopt.methods.block_ascent.method import BlockAscent
    from structopt.methods.method import Method
    from structopt.structures.base.structure import Structure

logger = logging.getLogger(__name__)


def names() -> list[str]:
    """Return the names of all methods.

    >>> names()
    ['cutting-plane', 'block-ascent', 'working-sets', 'frank-wolfe', 'structured-smo',
     'subgradient', 'extragradient', 'bregman', 'dual-extragradient', 'exponentiated-gradient',
     'compact', 'em', 'perceptron', 'mira']
    """
    return [entry.key for entry in of_kind("method")]


@checked
def make(name: str) -> type[Method]:
    """Return the class of a method from its name; "auto" is the first, which takes everything.

    >>> make("auto").name, make("perceptron").name
    ('cutting-plane', 'perceptron')
    """
    for entry in of_kind("method", "outer"):
        if name in (entry.key, "auto"):
            found: type[Method] = entry.load()
            return found
    known = ["auto", *names(), "outer"]
    raise InvalidInputError(f"Unknown method {name!r}; choose from {known}.")


def auto(structure: Structure, formulation: Formulation, data: DataSet, **options: Any) -> Method:
    """Return the run that ``method="auto"`` stands for: block ascent where it takes the problem.

    Otherwise, where an option is given that is about cuts or masters, or where what is begun with
    has cuts, it is cutting planes.

    >>> import structopt as so
    >>> X, y = so.datasets.make_classes(20, seed=0)
    >>> structure = so.Multiclass().fitted(X, y)
    >>> data = so.DataSet.of(structure, X, y)
    >>> auto(structure, so.M3N(), data).name, auto(structure, so.L1M3N(), data).name
    ('block-ascent', 'cutting-plane')
    """
    fast, general = (entry.load() for entry in of_kind("method")[1::-1])
    begun = options.get("warm_start")
    cuts = begun is not None and (begun.cuts, getattr(begun, "live", None)) != (None, None)
    if not cuts and set(options) <= {*fast.options(), "limits", *NAMES}:
        try:
            run: BlockAscent = fast(structure, formulation, data, **options)
            if run.suits():
                return run
        except IncompatibleError as error:
            logger.info("method='auto' is %r: %s", general.name, error)
    from structopt.methods.narrow import Narrow, NarrowCuttingPlane, speaks_of_none

    narrow = Narrow.again(data, begun)
    if narrow is not None and speaks_of_none(structure, formulation, data, options):
        return NarrowCuttingPlane(structure, formulation, narrow, **options)
    found: Method = general(structure, formulation, data, **options)
    return found


def is_online(name: str) -> bool:
    """Whether a method learns one example at a time; nothing is imported to know it.

    >>> is_online("mira"), is_online("auto")
    (True, False)
    """
    online = [entry.key for entry in of_kind("method") if entry.home.startswith("methods.online.")]
    return name in online
