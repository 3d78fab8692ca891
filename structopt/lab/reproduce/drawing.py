"""The default picture of an experiment: its numbers beside the paper's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from structopt.lab.reproduce.number import Number
from structopt.report.draw.theme import OKABE_ITO


def draw_numbers(numbers: Sequence[Number], figure: Any) -> None:
    """Draw one panel a metric: a dot with its spread for every label, here and in the paper."""
    metrics = list(dict.fromkeys(number.metric for number in numbers))
    labels = list(dict.fromkeys(number.label for number in numbers))
    figure.set_size_inches(max(4.5, 3.2 * len(metrics)), 1.6 + 0.4 * len(labels))
    panels = figure.subplots(1, len(metrics), sharey=True, squeeze=False)[0]
    for panel, metric in zip(panels, metrics, strict=True):
        for kind, marker, color, shift in (
            ("here", "o", OKABE_ITO[0], -0.12),
            ("paper", "D", OKABE_ITO[1], 0.12),
        ):
            points = [
                (
                    number.value if kind == "here" else number.paper,
                    labels.index(number.label) + shift,
                    number.spread if kind == "here" else number.paper_spread,
                )
                for number in numbers
                if number.metric == metric
            ]
            for x, y, spread in points:
                if x is not None:
                    panel.errorbar(x, y, xerr=spread, marker=marker, color=color, linestyle="")
            panel.plot([], [], marker=marker, color=color, linestyle="", label=kind)
        panel.set_xlabel(metric)
        panel.grid(True, axis="x", color="0.9")
        panel.spines[["top", "right"]].set_visible(False)
    panels[0].set_yticks(range(len(labels)), labels)
    panels[0].invert_yaxis()
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
