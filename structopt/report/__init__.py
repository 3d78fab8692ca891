"""Runs made visible: self-contained HTML reports that need nothing but structopt."""

from __future__ import annotations

from structopt.report.html import write_comparison, write_report

__all__ = ["write_comparison", "write_report"]
