"""``structopt warm``: compile ahead what the first fit would have to wait for."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp

from structopt.formulations.l1_m3n import L1M3N
from structopt.formulations.m3n import M3N
from structopt.lab.harness.arguments import Command, argument
from structopt.learn.estimator import StructuredClassifier
from structopt.structures.chain.structure import Chain
from structopt.structures.multiclass.structure import Multiclass

WAYS: tuple[dict[str, Any], ...] = (
    {"formulation": M3N()},
    {"formulation": M3N(), "method": "cutting-plane"},
    {"formulation": L1M3N()},
    {"formulation": M3N(), "method": "perceptron", "max_iter": 1},
)
"""What users begin with: their compiled loops are most of what there is for a structure."""


@dataclass
class Warm(Command):
    """Train tiny models of classes and sequences, so that their compiled loops are in the cache."""

    example: ClassVar[str] = "example: structopt warm"

    quiet: bool = argument(False, "say nothing")

    def execute(self, command: str) -> int:
        """Compile."""
        start = time.perf_counter()
        X = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
        for way in WAYS:
            for rows in (X, sp.csr_array(X)):
                StructuredClassifier(Multiclass(), **way).fit(rows, [0, 1, 1]).predict(rows)
                pair = [rows, rows[:2]]
                StructuredClassifier(Chain(), **way).fit(pair, [[0, 1, 1], [0, 1]]).predict(pair)
        if not self.quiet:
            print(f"compiled in {time.perf_counter() - start:.1f} s; later processes load it")
        return 0
