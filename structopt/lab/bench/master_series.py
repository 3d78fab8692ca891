r"""Masters of growing size, in series: what a run to a certified gap ends with.

Each entry is a training problem; its master is the programme with all cuts with which cutting
planes end. Series grow in examples n and in features d.

>>> Tagging(12, 20, 3, 1.0).master().A.shape[1] > 0
True
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

from structopt import datasets
from structopt.datasets.swap_lattices import make_swap_lattices
from structopt.engines.dataset import DataSet
from structopt.errors import StructoptError
from structopt.features.words import WordFeatures
from structopt.formulations.base import Formulation
from structopt.formulations.l1_m3n import L1M3N
from structopt.formulations.lp_struct import LPStruct
from structopt.lab.bench.tagging import make_tagging
from structopt.master.program import Program
from structopt.methods.cutting_plane import CuttingPlane
from structopt.structures.chain.structure import Chain
from structopt.structures.lattice.structure import Lattice
from structopt.structures.references.structure import References

GAP = 1e-2
"""Relative gap to which a run is taken."""


@dataclass(frozen=True)
class Case(ABC):
    """A training problem of a series."""

    @property
    @abstractmethod
    def series(self) -> str:
        """What it is one size of."""

    @abstractmethod
    def data(self) -> tuple[Any, Any, Any]:
        """Return the structure, not fitted, inputs and outputs."""

    @abstractmethod
    def formulation(self) -> Formulation:
        """Return what is trained."""

    def master(self) -> Program:
        """Return the master with which a run to :data:`GAP` ends."""
        from structopt.backends.extragradient.backend import ExtragradientBackend

        structure, X, Y = self.data()
        structure = structure.fitted(X, Y)
        run = CuttingPlane(structure, self.formulation(), DataSet.of(structure, X, Y), tol=GAP)
        certificate = run.solve().certificate
        if not certificate.certified:
            raise StructoptError(f"The run that makes the master is not certified: {certificate}.")
        backend = ExtragradientBackend()
        backend.start(run.master)
        backend.append(run.master.pool.cuts)
        return backend.problem()


@dataclass(frozen=True)
class Tagging(Case):
    """LP-Struct with free weights on sentences of a hidden Markov model."""

    n_sentences: int
    n_words: int
    n_labels: int
    C: float

    @property
    def series(self) -> str:
        """Strong (C = 1: few weights, many cuts in use) or weak regularisation."""
        return f"LP-Struct, tagging, C = {self.C:g}"

    def data(self) -> tuple[Any, Any, Any]:
        """Draw sentences."""
        X, Y = make_tagging(self.n_sentences, n_words=self.n_words, n_labels=self.n_labels)
        return Chain(labels=range(self.n_labels)), X, Y

    def formulation(self) -> Formulation:
        """Return LP-Struct."""
        return LPStruct(C=self.C, nonnegative=False)


@dataclass(frozen=True)
class SparseTagging(Tagging):
    """L1-M3N on the same sentences: margins that grow with the loss."""

    @property
    def series(self) -> str:
        """As above."""
        return f"L1-M3N, tagging, C = {self.C:g}"

    def formulation(self) -> Formulation:
        """Return L1-M3N."""
        return L1M3N(C=self.C)


@dataclass(frozen=True)
class MedPost(Case):
    """LP-Struct on sentences of the MedPost corpus, from STRUCTOPT_DATA, words as features."""

    n_sentences: int
    C: float

    @property
    def series(self) -> str:
        """As above."""
        return f"LP-Struct, MedPost, C = {self.C:g}"

    def data(self) -> tuple[Any, Any, Any]:
        """Return the first sentences."""
        sentences = datasets.load_medpost()[: self.n_sentences]
        words, tags = [s.words for s in sentences], [s.tags for s in sentences]
        return Chain(), WordFeatures(("word",)).fit_transform(words), tags

    def formulation(self) -> Formulation:
        """Return LP-Struct."""
        return LPStruct(C=self.C, nonnegative=False)


@dataclass(frozen=True)
class Lattices(Case):
    """LP (8) of LP-Struct's paper: lattices with several references."""

    n_sentences: int
    vocabulary: int
    n_features: int
    C: float

    @property
    def series(self) -> str:
        """As above."""
        return f"LP (8), lattices, C = {self.C:g}"

    def data(self) -> tuple[Any, Any, Any]:
        """Draw lattices."""
        X, Y = make_swap_lattices(
            self.n_sentences, n_features=self.n_features, vocabulary=self.vocabulary
        )
        return References(Lattice()), X, Y

    def formulation(self) -> Formulation:
        """Return LP (8)."""
        return LPStruct(C=self.C, references="worst")
