"""Pictures with matplotlib: ``so.draw.plane``, ``trellis``, ``bounds``, ``structure``."""

from structopt.names import members

__getattr__, __dir__ = members("drawing", "structopt.draw")
