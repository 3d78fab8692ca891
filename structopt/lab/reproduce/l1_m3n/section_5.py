"""Synthetic chains with independent inputs: the experiment that section 5.1 mentions in words."""

from __future__ import annotations

from typing import ClassVar

from structopt.lab.harness.study import Cell
from structopt.lab.reproduce.l1_m3n.figure_2 import GRID, L1M3nFigure2
from structopt.lab.reproduce.l1_m3n.sparse_models import MODELS


class L1M3nSection5(L1M3nFigure2):
    """Zhu, Xing and Zhang (2009), section 5.1: "We get the same conclusions in the iid case"."""

    name = "l1-m3n-section-5"
    differences: ClassVar[str] = (
        L1M3nFigure2.differences
        + " The paper shows no numbers of this case. All 100 inputs are independent; fewer fields "
        "and parts than in Figure 2."
    )

    def cells(self, full: bool) -> list[Cell]:
        """One job a field, number of parts, part to train on and model: all its constants."""
        fields, shares = (5, (20, 10, 4)) if full else (1, (20, 10))
        return [
            {"field": field, "parts": parts, "fold": fold, "model": model,
             "constants": list(GRID[model]), "correlated": False}
            for parts in shares
            for field in range(fields)
            for fold in range(2)
            for model in MODELS
        ]  # fmt: skip


experiment = L1M3nSection5()
