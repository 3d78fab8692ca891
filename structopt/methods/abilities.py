"""Which questions a structure and its data can answer."""

from __future__ import annotations

from collections.abc import Sequence

from structopt.errors import IncompatibleError
from structopt.structures.base.oracles import Oracle, loss_augmented, worst
from structopt.structures.base.structure import Structure


def check_abilities(
    who: str, oracles: Sequence[Oracle], structure: Structure, *, partial: bool
) -> None:
    """Refuse oracles that the structure cannot answer; some gold may be known in part only."""
    offered = structure.abilities()
    if partial:
        check_partial(who, oracles)
    for oracle in oracles:
        if oracle.needs not in offered:
            raise IncompatibleError(
                f"{who} asks {oracle.name!r} ({oracle.question}), which needs {oracle.needs!r}; "
                f"{type(structure).__name__} offers {sorted(offered)}. "
                f"{structure.why_not(oracle.needs)}".rstrip()
            )


def check_partial(who: str, oracles: Sequence[Oracle]) -> None:
    """Refuse questions about outputs other than gold where gold is known in part only."""
    for oracle in oracles:
        if oracle.base not in (loss_augmented, worst):
            raise IncompatibleError(
                f"{who} asks {oracle.name!r} ({oracle.question}), and some gold outputs are known "
                "in part only: there is no one output to differ from. Use a margin-rescaled "
                "formulation, such as M3N or StructSVM(rescale='margin')."
            )
