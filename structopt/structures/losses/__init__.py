"""What an oracle adds to the scores: the losses that structures take as ``loss=``."""

from structopt.names import members

__getattr__, __dir__ = members("loss", "structopt.losses")
