"""The one list of names: what is public, where it lives, and of what kind it is.

``structopt.X`` is loaded from here when it is first used, so that ``import structopt`` is cheap;
the registries of backends and methods, model files, the tables of the documentation and the
contract tests read the same list. To add a structure, a formulation, a backend or a method: write
its file, and add its line here (``tests/contracts/test_names.py`` writes what type checkers read).

>>> [entry.key for entry in of_kind("backend")]
['ascent', 'proximal', 'splitting', 'highs', 'clarabel', 'osqp', 'extragradient', 'cvxpy']
"""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Callable
from typing import Any, NamedTuple


class Name(NamedTuple):
    """A public name: its module under ``structopt``, its kind, and the word users write for it."""

    name: str
    home: str
    kind: str
    key: str = ""

    def load(self) -> Any:
        """Import and return what the name stands for."""
        return getattr(importlib.import_module(f"structopt.{self.home}"), self.name)


NAMES = [
    Name("Multiclass", "structures.multiclass.structure", "structure"),
    Name("Chain", "structures.chain.structure", "structure"),
    Name("SecondOrderChain", "structures.second_order.structure", "structure"),
    Name("Segments", "structures.segments.structure", "structure"),
    Name("LabelVector", "structures.label_vector.structure", "structure"),
    Name("Hierarchy", "structures.hierarchy.structure", "structure"),
    Name("Arborescence", "structures.arborescence.structure", "structure"),
    Name("Lattice", "structures.lattice.structure", "structure"),
    Name("Grammar", "structures.grammar.structure", "structure"),
    Name("AlignmentPath", "structures.alignment_path.structure", "structure"),
    Name("Matching", "structures.matching.structure", "structure"),
    Name("GraphMatching", "structures.graph_matching.structure", "structure"),
    Name("GraphCut", "structures.cut.structure", "structure"),
    Name("MarkovNet", "structures.markov_net.structure", "structure"),
    Name("BooleanProgram", "structures.program.structure", "structure"),
    Name("Decision", "structures.decision.structure", "structure"),
    Name("Ranking", "structures.ranking.structure", "structure"),
    Name("Subset", "structures.subset.structure", "structure"),
    Name("MultiLabel", "structures.multi_label.structure", "structure"),
    Name("Enumerated", "structures.enumerated.structure", "structure"),
    Name("References", "structures.references.structure", "wrapper"),
    Name("constrain", "structures.constrain.structure", "wrapper"),
    # public as so.losses.X
    Name("Hamming", "structures.losses.hamming", "loss"),
    Name("Confusion", "structures.losses.confusion", "loss"),
    Name("TreeDistance", "structures.losses.tree_distance", "loss"),
    Name("SpanCosts", "structures.losses.span_costs", "loss"),
    Name("PartCosts", "structures.losses.part_costs", "loss"),
    Name("SwappedPairs", "structures.losses.swapped_pairs", "loss"),
    Name("AveragePrecision", "structures.losses.average_precision", "loss"),
    Name("NDCG", "structures.losses.discounted_gain", "loss"),
    Name("PrecisionAt", "structures.losses.discounted_gain", "loss"),
    Name("ErrorRate", "structures.losses.contingency", "loss"),
    Name("FScore", "structures.losses.contingency", "loss"),
    Name("Precision", "structures.losses.contingency", "loss"),
    Name("Recall", "structures.losses.contingency", "loss"),
    Name("Costed", "structures.base.costed", "loss"),
    Name("Priced", "structures.decision.priced", "loss"),
    # public as so.decisions.X: what a `Decision` chooses from
    Name("GridPaths", "structures.decision.grid", "decisions"),
    Name("ShortestPaths", "structures.decision.paths", "decisions"),
    Name("Assignments", "structures.decision.assignments", "decisions"),
    Name("Knapsack", "structures.decision.knapsack", "decisions"),
    Name("SpanningTrees", "structures.decision.trees", "decisions"),
    Name("Tours", "structures.decision.tours", "decisions"),
    Name("LinearProgram", "structures.decision.program", "decisions"),
    Name("Listed", "structures.decision.listed", "decisions"),
    Name("DecisionSet", "structures.decision.base", "decisions"),
    Name("StructSVM", "formulations.struct_svm", "formulation"),
    Name("StructRMM", "formulations.struct_rmm", "formulation"),
    Name("M3N", "formulations.m3n", "formulation"),
    Name("L1M3N", "formulations.l1_m3n", "formulation"),
    Name("L1BallM3N", "formulations.l1_ball_m3n", "formulation"),
    Name("L2BallM3N", "formulations.l2_ball_m3n", "formulation"),
    Name("AdaptiveM3N", "formulations.adaptive_m3n", "formulation"),
    Name("LaplaceM3N", "formulations.laplace_m3n", "formulation"),
    Name("LPStruct", "formulations.lp_struct", "formulation"),
    # what `constraints=` of a formulation takes
    Name("Fixed", "formulations.given_weights", "constraint"),
    Name("BeamSearch", "structures.label_vector.beam", "constraint"),
    # in the order in which backend="auto" asks: each is the fastest that takes what the ones
    # before it refuse
    Name("Ascent", "backends.ascent.backend", "backend", "ascent"),
    Name("Proximal", "backends.proximal", "backend", "proximal"),
    Name("Splitting", "backends.splitting", "backend", "splitting"),
    Name("HiGHS", "backends.highs", "backend", "highs"),
    Name("Clarabel", "backends.clarabel", "backend", "clarabel"),
    Name("OSQP", "backends.osqp", "backend", "osqp"),
    Name("ExtragradientBackend", "backends.extragradient.backend", "backend", "extragradient"),
    Name("CVXPY", "backends.reference", "backend", "cvxpy"),
    # the first two are what method="auto" stands for: the only one that takes every formulation,
    # and the one that is faster where it takes a problem
    Name("CuttingPlane", "methods.cutting_plane", "method", "cutting-plane"),
    Name("BlockAscent", "methods.block_ascent.method", "method", "block-ascent"),
    Name("WorkingSets", "methods.working_sets", "method", "working-sets"),
    Name("FrankWolfe", "methods.frank_wolfe.method", "method", "frank-wolfe"),
    Name("StructuredSMO", "methods.frank_wolfe.smo", "method", "structured-smo"),
    Name("Subgradient", "methods.subgradient.method", "method", "subgradient"),
    Name("SaddleExtragradient", "methods.saddle.extragradient", "method", "extragradient"),
    Name("Bregman", "methods.saddle.bregman", "method", "bregman"),
    Name("DualExtragradient", "methods.saddle.dual_extragradient", "method", "dual-extragradient"),
    Name(
        "ExponentiatedGradient",
        "methods.saddle.exponentiated_gradient",
        "method",
        "exponentiated-gradient",
    ),
    Name("Compact", "methods.saddle.compact", "method", "compact"),
    Name("EM", "methods.em", "method", "em"),
    Name("Perceptron", "methods.online.perceptron", "method", "perceptron"),
    Name("MIRA", "methods.online.mira", "method", "mira"),
    # what is not convex, and the method that solves convex upper bounds of it
    Name("Latent", "methods.outer.latent", "nonconvex"),
    Name("RampLoss", "methods.outer.ramp", "nonconvex"),
    Name("ReweightedL1", "methods.outer.reweighted_l1", "nonconvex"),
    Name("Transductive", "methods.outer.transductive", "nonconvex"),
    Name("SelfTraining", "methods.outer.transductive", "nonconvex"),
    Name("OuterLoop", "methods.outer.loop", "outer", "outer"),
    Name("StructuredClassifier", "learn.estimator", "model"),
    Name("KernelMachine", "learn.kernels", "model"),
    Name("ConstraintScheme", "learn.schemes", "model"),
    Name("DecisionModel", "learn.decisions.model", "model"),
    Name("TwoStage", "learn.decisions.two_stage", "model"),
    Name("HMM", "learn.baselines.hmm", "model"),
    Name("CRF", "learn.baselines.crf", "model"),
    Name("StructuredCRF", "learn.baselines.structured_crf", "model"),
    Name("WordAligner", "learn.baselines.word_aligner", "model"),
    Name("MERT", "learn.baselines.mert", "model"),
    Name("load_model", "learn.model_file", "function"),
    Name("save_model", "learn.model_file", "function"),
    Name("fit_path", "learn.path", "function"),
    Name("grid_select", "learn.select", "function"),
    Name("describe", "learn.describe", "function"),
    Name("binarised", "structures.grammar.trees", "function"),
    Name("unbinarised", "structures.grammar.trees", "function"),
    Name("bio", "structures.chain.transitions", "function"),
    Name("bioes", "structures.chain.transitions", "function"),
    Name("span_tags", "structures.segments.tags", "function"),
    Name("separability", "learn.margins", "function"),
    Name("nbest_words", "structures.lattice.nbest", "function"),
    Name("write_report", "report.html", "function"),
    Name("write_comparison", "report.html", "function"),
    # public as so.draw.x
    Name("plane", "report.draw.weight_plane", "drawing"),
    Name("trellis", "report.draw.chain_trellis", "drawing"),
    Name("bounds", "report.draw.closing_bounds", "drawing"),
    Name("structure", "report.draw.outputs", "drawing"),
    Name("audit", "testing.audit", "function"),
    Name("compare", "lab.compare.compare", "function"),
    Name("Structure", "structures.base.structure", "base"),
    Name("Formulation", "formulations.base", "base"),
    Name("NonConvex", "methods.outer.nonconvex", "base"),
    Name("Backend", "backends.base", "base"),
    Name("Method", "methods.method", "base"),
    Name("Oracle", "structures.base.oracles", "base"),
    Name("loss_augmented", "structures.base.oracles", "oracle"),
    Name("slack_rescaled", "structures.base.oracles", "oracle"),
    Name("nearest_reference", "structures.base.oracles", "oracle"),
    Name("nearest_to_best", "structures.base.oracles", "oracle"),
    Name("worst_reference", "structures.base.oracles", "oracle"),
    Name("Answers", "structures.base.shard", "record"),
    Name("DataSet", "engines.dataset", "record"),
    Name("Dask", "engines.dask_engine", "record"),
    Name("Disk", "engines.disk", "record"),
    Name("LatticeArrays", "datasets.lattice_arrays", "record"),
    Name("PathArrays", "datasets.lattice_arrays", "record"),
    Name("CandidateEdges", "structures.matching.inputs", "record"),
    Name("Not", "structures.base.given", "record"),
    Name("Order", "structures.base.orders", "record"),
    Name("Audit", "testing.audit", "record"),
    Name("Certificate", "run.certificate", "record"),
    Name("Result", "run.result", "record"),
    Name("Explanation", "learn.explain", "record"),
    Name("Round", "run.events", "record"),
    Name("Found", "run.events", "record"),
    Name("ConvexBound", "methods.outer.nonconvex", "record"),
    Name("OuterResult", "methods.outer.loop", "record"),
    Name("OuterStep", "methods.outer.loop", "record"),
    Name("Limits", "run.limits", "record"),
    Name("State", "methods.state", "record"),
    Name("RegularizationPath", "learn.path", "record"),
    Name("Selection", "learn.select", "record"),
    Name("Separability", "learn.margins", "record"),
    Name("EarlyStopping", "learn.early_stopping", "callback"),
    Name("ConvergenceWarning", "errors", "warning"),
    Name("ExtragradientSolver", "backends.extragradient.cvxpy_solver", "solver"),
    Name("ArcFeatures", "features.arcs", "features"),
    Name("PhraseTable", "features.phrases", "features"),
    Name("PhraseLattices", "features.phrase_lattices", "features"),
    Name("ColumnFeatures", "features.columns", "features"),
    Name("DictFeatures", "features.dicts", "features"),
    Name("JoinedFeatures", "features.sequences", "features"),
    Name("KernelMap", "features.kernel_map", "features"),
    Name("PageFeatures", "features.pages", "features"),
    Name("PerToken", "features.sequences", "features"),
    Name("WordFeatures", "features.words", "features"),
    Name("group_frame", "features.frames", "function"),
    Name("read_templates", "features.templates", "function"),
    Name("spin_images", "features.spin_images", "function"),
    Name("surface_normals", "features.spin_images", "function"),
]

MODULES = {
    "bounds": "learn.bounds",
    "constraints": "structures.constrain.rules",
    "datasets": "datasets",
    "decisions": "structures.decision",
    "draw": "report.draw",
    "errors": "errors",
    "losses": "structures.losses",
    "metrics": "learn.metrics",
    "oracles": "structures.base.oracles",
    "testing": "testing",
}
"""Public modules whose home is deeper than their name."""

HIDDEN = {"loss": "losses", "drawing": "draw", "decisions": "decisions"}
"""Kinds whose names are public in a module of their own."""

RENAMED = {
    "Cut": "GraphCut",
    "Extragradient": "ExtragradientSolver",
    "Path": "RegularizationPath",
    "Program": "BooleanProgram",
    "Scheme": "ConstraintScheme",
    "best_other": "oracles.best_other",
    "compare_backends": "compare",
    "path": "fit_path",
    "select": "grid_select",
    "worst": "oracles.worst",
}
"""Names of version 0.1, and what they are called now."""


def _by_name() -> dict[str, Name]:
    return {entry.name: entry for entry in NAMES if entry.kind not in HIDDEN}


def of_kind(*kinds: str) -> list[Name]:
    """Return the entries of some kinds, in order."""
    return [entry for entry in NAMES if entry.kind in kinds]


def members(kind: str, module: str) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Return ``__getattr__`` and ``__dir__`` of a module whose members are the names of a kind.

    >>> find, listed = members("loss", "structopt.losses")
    >>> find(listed()[0]).__name__
    'Hamming'
    """

    def listed() -> list[str]:
        return [entry.name for entry in of_kind(kind)]

    def find(name: str) -> Any:
        found = next((entry for entry in of_kind(kind) if entry.name == name), None)
        if found is None:
            raise AttributeError(f"{module} has no {name!r}; it has {listed()}.")
        return found.load()

    return find, listed


def load(name: str) -> Any:
    """Return what a public name stands for.

    >>> load("M3N").__module__
    'structopt.formulations.m3n'
    """
    if name in (entries := _by_name()):
        return entries[name].load()
    if name in MODULES:
        return importlib.import_module(f"structopt.{MODULES[name]}")
    if name in RENAMED:
        raise AttributeError(f"structopt.{name} is now structopt.{RENAMED[name]}.")
    raise AttributeError(f"module 'structopt' has no attribute {name!r}{_near(name)}")


def _near(name: str) -> str:
    """Return where a name may be that is not public here.

    >>> for wanted in ("StructoptError", "Hamming", "Chian"):
    ...     print(_near(wanted))
    ; it is structopt.errors.StructoptError
    ; it is structopt.losses.Hamming
    ; did you mean Chain?
    """
    if name.endswith("Error") and hasattr(importlib.import_module("structopt.errors"), name):
        return f"; it is structopt.errors.{name}"
    homes = {e.name: HIDDEN[e.kind] for e in NAMES if e.kind in HIDDEN}
    if name in homes:
        return f"; it is structopt.{homes[name]}.{name}"
    close = difflib.get_close_matches(name, public(), n=1)
    return f"; did you mean {close[0]}?" if close else ""


def public() -> list[str]:
    """Return every public name."""
    return [*_by_name(), *MODULES]


def stub() -> str:
    """Return the text of ``__init__.pyi``: the same names, for type checkers."""
    lines = ["# written by tests/contracts/test_names.py", "__version__: str"]
    for name, home in MODULES.items():
        package, _, module = f"structopt.{home}".rpartition(".")
        lines.append(f"from {package} import {module} as {name}")
    lines += [f"from structopt.{e.home} import {e.name} as {e.name}" for e in _by_name().values()]
    return "\n".join(lines) + "\n"
