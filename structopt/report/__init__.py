"""Runs made visible: self-contained HTML reports, and figures.

:func:`write_report` and :func:`write_comparison` need nothing but structopt;
:func:`plot_bounds` and :func:`plot_time_split` draw with matplotlib
(``pip install "structopt-margin[plot]"``).
"""

from __future__ import annotations

from structopt.report.draw.plots import plot_bounds, plot_time_split
from structopt.report.html import write_comparison, write_report

__all__ = ["plot_bounds", "plot_time_split", "write_comparison", "write_report"]
