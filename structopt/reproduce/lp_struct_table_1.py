"""Wang and Shawe-Taylor (2009), Table 1: six learners on the sentences of MedPost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from structopt import datasets
from structopt.backends import registry
from structopt.baselines.crf import CRF
from structopt.baselines.hmm import HMM
from structopt.estimator import StructuredClassifier
from structopt.formulations.lp_struct import LPStruct
from structopt.formulations.m3n import M3N
from structopt.reproduce.experiment import Cell, Experiment, Number, Row, deviation, mean
from structopt.reproduce.measure import CpuLimit, learn, proof
from structopt.reproduce.tagging import draw, error
from structopt.structures.chain import Chain
from structopt.templates import WordFeatures

PAPER = {
    "CRF": (4.58, 0.14, 51403, 205),
    "MIRA": (4.91, 0.06, 9084, 46),
    "Perceptron": (5.38, 0.19, 26, 100),
    "LP-Struct, simplex": (4.94, 0.18, 3879, 23),
    "LP-Struct, extragradient": (4.92, 0.13, 856, 14),
    "HMM": (20.02, 0.29, None, None),
    "LP-Struct, proximal": (None, None, None, None),
}
BACKENDS = {
    "LP-Struct, simplex": "highs",
    "LP-Struct, extragradient": "extragradient",
    "LP-Struct, proximal": "proximal",
}


class Tagging(Experiment):
    """The table."""

    name = "lp-struct-table-1"
    data = ("medpost/tag_cl.ioc.gz",)
    differences = (
        "the 2006 release of MedPost with its 67 tags; CRFsuite instead of CRF++, our MIRA and "
        "perceptron, both averaged; HiGHS instead of LP_SOLVE. The paper gives neither C nor when "
        "it stops: here LP-Struct runs to a certified gap or to a limit of CPU time, and "
        "the gap of the weights is shown."
    )

    def cells(self, full: bool) -> list[Cell]:
        """Return one cell a learner and draw."""
        sizes = {"train": 5700, "test": 1000} if full else {"train": 100, "test": 300}
        linear = {"C": 30.0 if full else 100.0, "tol": 1e-2, "limit": 900.0 if full else 20.0}
        options: dict[str, dict[str, float]] = {
            "CRF": {"C2": 0.1},
            "MIRA": {"C": 0.01, "epochs": 20},
            "Perceptron": {"epochs": 20},
            "HMM": {"smoothing": 0.01},
        }
        known = [model for model in PAPER if BACKENDS.get(model, "highs") in registry.names()]
        return [
            {"model": model, "draw": draw_, **sizes, **options.get(model, linear)}
            for draw_ in range(5 if full else 1)
            for model in known
        ]

    def run(self, cell: Cell) -> dict[str, Any]:
        """Train and test one learner."""
        sentences = [(s.words, s.tags) for s in datasets.load_medpost()]
        features = WordFeatures(("word",))
        train, test = draw(sentences, (cell["train"], cell["test"]), cell["draw"], features)
        model = _model(cell)
        cpu = learn(model, train.X, train.Y)
        found = {"error": error(model, test), "train_error": error(model, train), "cpu": cpu}
        return found | (proof(model) if hasattr(model, "result_") else {})

    def numbers(self, rows: Sequence[Row]) -> list[Number]:
        """Return error, time, rounds and gap."""
        numbers = []
        for model, (wrong, spread, seconds, rounds) in PAPER.items():
            of = [row for row in rows if row["model"] == model]
            errors = [row["error"] for row in of]
            numbers += [
                Number(model, "error %", mean(errors), deviation(errors), wrong, spread),
                Number(model, "CPU s", mean(row["cpu"] for row in of), None, seconds),
                Number(model, "rounds", mean(row.get("rounds") for row in of), None, rounds),
                Number(model, "train error %", mean(row["train_error"] for row in of)),
                Number(model, "certified gap %", _percent(row.get("relative_gap") for row in of)),
            ]
        return numbers


def _percent(shares: Any) -> float | None:
    value = mean(shares)
    return None if value is None else 100.0 * value


def _model(cell: Cell) -> Any:
    name = cell["model"]
    if name == "CRF":
        return CRF(C2=cell["C2"], all_pairs=False)
    if name == "HMM":
        return HMM(smoothing=cell["smoothing"])
    if name in ("MIRA", "Perceptron"):
        options = {"epochs": cell["epochs"]} | ({"C": cell["C"]} if name == "MIRA" else {})
        return StructuredClassifier(
            Chain(), M3N(), method=name.lower(), method_options=options, random_state=0
        )
    return StructuredClassifier(
        Chain(), LPStruct(cell["C"]), backend=BACKENDS[name], tol=cell["tol"],
        callbacks=[CpuLimit(cell["limit"])],
    )  # fmt: skip


experiment = Tagging()
