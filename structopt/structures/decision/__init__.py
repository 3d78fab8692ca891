"""Decisions: the sets that costs are minimised over, public as ``so.decisions``."""

from structopt.names import members

__getattr__, __dir__ = members("decisions", "structopt.decisions")
