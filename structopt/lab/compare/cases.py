r"""The table of what `structopt compare` compares. A new case is one entry here.

Backends need no entry: they come from :mod:`structopt.backends.registry`.

>>> list(FORMULATIONS)[:3]
['M3N', 'LP-Struct', 'StructRMM']
>>> list(DATA)
['digits', 'digit words', 'chain CRF', 'letters']
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from string import ascii_lowercase
from typing import Any

from structopt import datasets
from structopt.engines.dataset import DataSet
from structopt.formulations.base import Formulation
from structopt.formulations.l1_m3n import L1M3N
from structopt.formulations.lp_struct import LPStruct
from structopt.formulations.m3n import M3N
from structopt.formulations.struct_rmm import StructRMM
from structopt.formulations.struct_svm import StructSVM
from structopt.lab.bench.tagging import make_tagging
from structopt.structures.base.structure import Structure
from structopt.structures.chain.structure import Chain
from structopt.structures.multiclass.structure import Multiclass


@dataclass(frozen=True)
class Data:
    """A data set with its structure, and what to test on, if anything."""

    structure: Structure
    X: Any
    Y: Any
    test: tuple[Any, Any] | None = None

    @property
    def size(self) -> str:
        """How large it is, in words."""
        parts = sum(int(self.structure.part_count(y)) for y in self.Y)
        return f"{len(self.Y)} examples, {parts} parts"

    @cached_property
    def fitted(self) -> Structure:
        """The structure that knows the data."""
        return self.structure.fitted(self.X, self.Y)

    @cached_property
    def encoded(self) -> DataSet:
        """The data, encoded once for all backends."""
        return DataSet.of(self.fitted, self.X, self.Y)


@dataclass(frozen=True)
class Case:
    """A formulation on a data set, and the backends that are to solve it."""

    formulation: str
    data: str
    objective: Formulation
    given: Data
    backends: tuple[str, ...]


# Constants at which the optimum is neither w = 0 nor free of slack; but on the chain CRF, which no
# weights separate, formulations with a unit margin (LP-Struct, StructRMM) are best with w = 0.
FORMULATIONS: dict[str, Callable[[], Formulation]] = {
    "M3N": lambda: M3N(C=0.1),
    "LP-Struct": lambda: LPStruct(C=5.0, nonnegative=False),
    "StructRMM": lambda: StructRMM(C=10.0, B=3.0),
    "StructSVM": lambda: StructSVM(C=10.0),
    "L1-M3N": lambda: L1M3N(C=1.0),
}
DEFAULT = ("M3N", "LP-Struct", "StructRMM")
"""A quadratic programme, a linear one, and one whose rows are bounded on both sides."""


def _digits(quick: bool) -> Data:
    X, y = datasets.load_digits_classes()
    few = slice(0, 16 if quick else 200)
    return Data(Multiclass(labels=range(10)), X[few], y[few])


def _digit_words(quick: bool) -> Data:
    X, Y = datasets.load_digit_words(4 if quick else 30, length=(2, 4) if quick else (3, 7))
    return Data(Chain(labels=range(10)), X, Y)


def _chain_crf(quick: bool) -> Data:
    size = (8, 40, 12) if quick else (80, 100, 30)
    X, Y = datasets.make_chain_crf(size[0], n_features=size[1], n_relevant=size[2], seed=0)
    return Data(Chain(labels=range(2)), X, Y)


def _letters(quick: bool) -> Data:
    X, Y = datasets.load_letters(1)
    few = slice(0, 2 if quick else 15)
    return Data(Chain(labels=list(ascii_lowercase)), X[few], Y[few])


DATA: dict[str, Callable[[bool], Data]] = {
    "digits": _digits,
    "digit words": _digit_words,
    "chain CRF": _chain_crf,
    "letters": _letters,  # from STRUCTOPT_DATA; left out where it is missing
}


def _tagging(quick: bool) -> Data:
    size = (60, 60, 6) if quick else (200, 150, 8)
    X, Y = make_tagging(size[0], n_words=size[1], n_labels=size[2])
    return Data(Chain(labels=range(size[2])), X, Y)


MASTERS: dict[str, tuple[Callable[[], Formulation], Callable[[bool], Data]]] = {
    "M3N, digit words": (lambda: M3N(C=0.1), _digit_words),
    "StructRMM, digits": (lambda: StructRMM(C=10.0, B=3.0), _digits),
    "LP-Struct, digits": (lambda: LPStruct(C=5.0, nonnegative=False), _digits),
    "LP-Struct, tagging": (lambda: LPStruct(C=10.0, nonnegative=False), _tagging),
    "L1-M3N, digit words": (lambda: L1M3N(C=1.0), _digit_words),
}
"""Runs whose masters make a sequence; none is solved by w = 0."""
