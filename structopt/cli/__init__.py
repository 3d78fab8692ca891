"""The command ``structopt``."""

from __future__ import annotations

from structopt.cli.commands import main

__all__ = ["main"]
