"""A run that another one rests on: it fixes a number of the formulation, and leaves its cuts."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from structopt.arrays import Floats
from structopt.master.cuts import Cuts
from structopt.methods.method import Method
from structopt.structures.base.oracles import best_other, worst


class Forerunner(NamedTuple):
    """What a run on the same data left behind, and its largest |w . delta|."""

    weights: Floats
    cuts: Cuts
    families: list[tuple[str, bool]]
    largest: float
    caveat: str


def forerun(first: Method, families: list[tuple[str, bool]]) -> Forerunner:
    """Solve a run and measure the largest projection |w . delta| that its weights give."""
    result, data = first.solve(), first.data
    if result.status == "interrupted":  # half a model is no measure
        raise KeyboardInterrupt
    caveat = ""
    if result.status != "optimal":
        caveat = (
            f"the bound rests on a {type(first.formulation).__name__} that stopped "
            f"({result.status}) at a relative gap of {result.certificate.relative_gap:.1e}"
        )
    answers = [a for oracle in (worst, best_other) for a in data.ask(oracle, result.weights)]
    scores = np.concatenate([a.score for a in answers])
    largest = float(np.abs(scores[np.isfinite(scores)]).max(initial=0.0))
    return Forerunner(result.weights, result.cuts, families, largest, caveat)
