"""What an oracle adds to the scores: the losses that structures take as ``loss=``."""

from structopt.structures.losses.hamming import Hamming
from structopt.structures.losses.part_costs import PartCosts

__all__ = ["Hamming", "PartCosts"]
