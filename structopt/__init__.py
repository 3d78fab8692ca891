"""structopt: a modeling layer for max-margin structured prediction over LP and QP solvers.

Say what an output can be (a structure), what is minimised (a formulation, in CVXPY) and who solves
it (a backend); structopt finds the violated constraints, grows the restricted master problem,
certifies the answer and shows what happened.

Names are loaded when they are first used, so that ``import structopt`` is cheap.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOME = {
    "AdaptiveM3N": "formulations.adaptive_m3n",
    "Answers": "structures.shards",
    "Arborescence": "structures.arborescence",
    "CRF": "baselines.crf",
    "CandidateEdges": "structures.matching_inputs",
    "Certificate": "certificate",
    "Chain": "structures.chain",
    "ConvergenceWarning": "errors",
    "Cut": "structures.cut",
    "CuttingPlane": "methods.cutting_plane",
    "DataSet": "structures.shards",
    "EM": "methods.em",
    "EarlyStopping": "early_stopping",
    "Enumerated": "structures.enumerated",
    "Extragradient": "extragradient.cvxpy_solver",
    "Formulation": "formulations.base",
    "FrankWolfe": "methods.frank_wolfe",
    "HMM": "baselines.hmm",
    "Hierarchy": "structures.hierarchy",
    "KernelMachine": "kernel_machine",
    "KernelMap": "kernels",
    "L1BallM3N": "formulations.l1_ball_m3n",
    "L1M3N": "formulations.l1_m3n",
    "LPStruct": "formulations.lp_struct",
    "LabelVector": "structures.label_vector",
    "LaplaceM3N": "formulations.laplace_m3n",
    "Lattice": "structures.lattice",
    "M3N": "formulations.m3n",
    "MIRA": "methods.mira",
    "MarkovNet": "structures.markov_net",
    "Matching": "structures.matching",
    "Multiclass": "structures.multiclass",
    "Oracle": "structures.oracles",
    "Path": "paths",
    "Perceptron": "methods.perceptron",
    "Program": "structures.program",
    "References": "structures.references",
    "Result": "result",
    "Round": "events",
    "Scheme": "schemes",
    "Selection": "selection",
    "Separability": "margins",
    "StructRMM": "formulations.struct_rmm",
    "StructSVM": "formulations.struct_svm",
    "Structure": "structures.base",
    "StructuredClassifier": "estimator",
    "Subgradient": "methods.subgradient",
    "WordFeatures": "templates",
    "best_other": "structures.oracles",
    "constrain": "structures.constrain",
    "load_model": "model_file",
    "loss_augmented": "structures.oracles",
    "nearest_reference": "structures.oracles",
    "path": "paths",
    "select": "selection",
    "separability": "margins",
    "slack_rescaled": "structures.oracles",
    "worst": "structures.oracles",
    "worst_reference": "structures.oracles",
}
_MODULES = ("bench", "bounds", "constraints", "datasets", "errors")

__all__ = ["__version__", *_HOME, *_MODULES]

if TYPE_CHECKING:
    from structopt import bench, bounds, constraints, datasets, errors
    from structopt.baselines.crf import CRF
    from structopt.baselines.hmm import HMM
    from structopt.certificate import Certificate
    from structopt.early_stopping import EarlyStopping
    from structopt.errors import ConvergenceWarning
    from structopt.estimator import StructuredClassifier
    from structopt.events import Round
    from structopt.extragradient.cvxpy_solver import Extragradient
    from structopt.formulations.adaptive_m3n import AdaptiveM3N
    from structopt.formulations.base import Formulation
    from structopt.formulations.l1_ball_m3n import L1BallM3N
    from structopt.formulations.l1_m3n import L1M3N
    from structopt.formulations.laplace_m3n import LaplaceM3N
    from structopt.formulations.lp_struct import LPStruct
    from structopt.formulations.m3n import M3N
    from structopt.formulations.struct_rmm import StructRMM
    from structopt.formulations.struct_svm import StructSVM
    from structopt.kernel_machine import KernelMachine
    from structopt.kernels import KernelMap
    from structopt.margins import Separability, separability
    from structopt.methods.cutting_plane import CuttingPlane
    from structopt.methods.em import EM
    from structopt.methods.frank_wolfe import FrankWolfe
    from structopt.methods.mira import MIRA
    from structopt.methods.perceptron import Perceptron
    from structopt.methods.subgradient import Subgradient
    from structopt.model_file import load_model
    from structopt.paths import Path, path
    from structopt.result import Result
    from structopt.schemes import Scheme
    from structopt.selection import Selection, select
    from structopt.structures.arborescence import Arborescence
    from structopt.structures.base import Structure
    from structopt.structures.chain import Chain
    from structopt.structures.constrain import constrain
    from structopt.structures.cut import Cut
    from structopt.structures.enumerated import Enumerated
    from structopt.structures.hierarchy import Hierarchy
    from structopt.structures.label_vector import LabelVector
    from structopt.structures.lattice import Lattice
    from structopt.structures.markov_net import MarkovNet
    from structopt.structures.matching import Matching
    from structopt.structures.matching_inputs import CandidateEdges
    from structopt.structures.multiclass import Multiclass
    from structopt.structures.oracles import (
        Oracle,
        best_other,
        loss_augmented,
        nearest_reference,
        slack_rescaled,
        worst,
        worst_reference,
    )
    from structopt.structures.program import Program
    from structopt.structures.references import References
    from structopt.structures.shards import Answers, DataSet
    from structopt.templates import WordFeatures


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(importlib.import_module(f"structopt.{_HOME[name]}"), name)
    elif name in _MODULES:
        value = importlib.import_module(f"structopt.{name}")
    else:
        raise AttributeError(f"module 'structopt' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
