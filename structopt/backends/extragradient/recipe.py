r"""What surrounds the step: every ingredient by name, and which variant has which.

>>> Recipe.of("alternating", without=["polish"]).polish
False
>>> Recipe.of("paper").scaling
False
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields, replace
from typing import Literal, get_args

from structopt.errors import InvalidInputError

Variant = Literal["alternating", "korpelevich", "paper"]


@dataclass(frozen=True)
class Recipe:
    """The ingredients, each of which can be left out.

    Attributes
    ----------
    presolve : a smaller problem first (:mod:`.presolve`)
    scaling : rows and columns of comparable size (:mod:`.scaling`)
    norms : costs and sides of norm 1 (:mod:`.scaling`)
    restarts : begin anew when the fixed-point error fell (:mod:`.restart`)
    anchor : Halpern's pull towards the point of the last restart (:mod:`.restart`)
    reflection : twice the way from z to T(z)
    weight : primal weight that follows the movements (:mod:`.weight`)
    polish : conjugate gradients on a settled active set (:mod:`.polish`)
    feasibility : before "optimal", whether there is a point at all (:mod:`.feasible`)
    """

    presolve: bool = True
    scaling: bool = True
    norms: bool = True
    restarts: bool = True
    anchor: bool = True
    reflection: bool = True
    weight: bool = True
    polish: bool = True
    feasibility: bool = True

    @classmethod
    def of(cls, variant: Variant, without: Sequence[str] = ()) -> Recipe:
        """Return what a variant has, less what it is to go without."""
        if variant not in get_args(Variant):
            names = ", ".join(map(repr, get_args(Variant)))
            raise InvalidInputError(f"variant is one of {names}, not {variant!r}.")
        if isinstance(without, str) or not isinstance(without, Collection):
            raise InvalidInputError(f"without is a list of ingredients, not {without!r}.")
        for name in without:
            if name not in ingredients():
                raise InvalidInputError(
                    f"There is no ingredient {name!r} to go without; there are {ingredients()}."
                )
        if variant == "paper":
            without = ingredients()
        elif variant == "korpelevich":  # its operator must be neither anchored nor reflected
            without = [*without, "anchor", "reflection"]
        return replace(cls(), **dict.fromkeys(without, False))


def ingredients() -> list[str]:
    """Return the names of all ingredients.

    >>> ingredients()
    ['presolve', 'scaling', 'norms', 'restarts', 'anchor', 'reflection', 'weight', 'polish', \
'feasibility']
    """
    return [field.name for field in fields(Recipe)]
