"""Every table and figure of the five papers, and where its experiment is.

The experiment called ``lp-struct-table-1`` is the object ``experiment`` of the module
``structopt.lab.reproduce.lp_struct.table_1``. Without such a module it is not implemented.

>>> entry_of("lp-struct-table-1").item
'Table 1'
"""

from __future__ import annotations

import importlib
import importlib.util
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from structopt.datasets.home import VARIABLE, data_home
from structopt.errors import IncompatibleError, InvalidInputError
from structopt.lab.harness.runner import Outcome, keys_of
from structopt.lab.harness.store import Store
from structopt.lab.reproduce.experiment import Experiment

Setting = Literal["small", "full"]

LP_STRUCT = "Wang and Shawe-Taylor (2009)"
STRUCT_RMM = "Shivaswamy and Jebara (2009)"
L1_M3N = "Zhu, Xing and Zhang (2009)"
SADDLE_M3N = "Taskar, Lacoste-Julien and Jordan (2006)"
CONSTRAINED = "Punyakanok, Roth, Yih and Zimak (2005)"


@dataclass(frozen=True)
class Entry:
    """One table or figure.

    Attributes
    ----------
    name, paper, item, what : str
    minutes : (float, float) or None
        About how many CPU minutes the small and the full setting take: measured on one core of
        2026 where the whole was run, else put together from single cells.
    illustration : bool
        Whether it is a drawing that no experiment is behind.
    """

    name: str
    paper: str
    item: str
    what: str
    minutes: tuple[float, float] | None = None
    illustration: bool = False

    def time(self, setting: Setting) -> str:
        """Return in words how long a setting takes, nothing where nobody knows.

        >>> entry_of("lp-struct-figure-1").time("full")
        'about 0.1 CPU minutes'
        """
        if self.minutes is None:
            return ""
        return f"about {self.minutes[setting == 'full']:g} CPU minutes"


CATALOGUE = (
    Entry(
        "lp-struct-table-1",
        LP_STRUCT,
        "Table 1",
        "Tagging MEDLINE: error, CPU time, rounds",
        (2, 60),
    ),
    Entry(
        "lp-struct-table-2",
        LP_STRUCT,
        "Table 2",
        "Translation: BLEU and NIST of LP (7), (8)",
        (0.5, 2),
    ),
    Entry(
        "lp-struct-section-5",
        LP_STRUCT,
        "Section 5.2",
        "Translation: a decoder in the loop",
        (0.5, 6),
    ),
    Entry(
        "lp-struct-figure-1",
        LP_STRUCT,
        "Figure 1",
        "Extragradient: spirals of the objectives",
        (0.1, 0.1),
    ),
    Entry("lp-struct-figure-2", LP_STRUCT, "Figure 2", "Tagging: CPU time against rounds", (2, 18)),
    Entry(
        "struct-rmm-table-1", STRUCT_RMM, "Table 1", "Named entities and parts of speech", (3, 120)
    ),
    Entry("struct-rmm-table-2", STRUCT_RMM, "Table 2", "Digits with polynomial kernels", (1, 50)),
    Entry(
        "struct-rmm-figure-1",
        STRUCT_RMM,
        "Figure 1",
        "Scaled clouds: margin and spread",
        (0.1, 0.1),
    ),
    Entry("l1-m3n-table-1", L1_M3N, "Table 1", "Nonzero weights against constants", (1, 5)),
    Entry("l1-m3n-figure-1", L1_M3N, "Figure 1", "Projections on two balls", (0.1, 0.1)),
    Entry("l1-m3n-figure-2", L1_M3N, "Figure 2", "Synthetic chains: error against data", (2, 60)),
    Entry("l1-m3n-figure-3", L1_M3N, "Figure 3", "Synthetic chains: average weights", (0.5, 1)),
    Entry("l1-m3n-figure-4", L1_M3N, "Figure 4", "Handwritten words: error of six models", (1, 11)),
    Entry("l1-m3n-figure-5", L1_M3N, "Figure 5", "Synthetic chains: three algorithms", (1, 5)),
    Entry("l1-m3n-figure-6", L1_M3N, "Figure 6", "Handwritten words: two algorithms", (1, 6)),
    Entry(
        "l1-m3n-figure-7", L1_M3N, "Figure 7", "Web records: F1 and accuracy against data", (3, 70)
    ),
    Entry(
        "l1-m3n-section-5", L1_M3N, "Section 5.1", "Synthetic chains, independent inputs", (0.5, 2)
    ),
    Entry("saddle-m3n-figure-1", SADDLE_M3N, "Figure 1", "Two applications", illustration=True),
    Entry(
        "saddle-m3n-figure-2a",
        SADDLE_M3N,
        "Figure 2a",
        "Segmentation: error against rounds",
        (1, 5),
    ),
    Entry(
        "saddle-m3n-figure-2b",
        SADDLE_M3N,
        "Figure 2b",
        "Word alignment: error against rounds",
        (1, 4),
    ),
    Entry(
        "saddle-m3n-section-4",
        SADDLE_M3N,
        "Section 4",
        "The linear rate, and two baselines",
        (0.5, 2),
    ),
    Entry("constrained-figure-1", CONSTRAINED, "Figure 1", "Two algorithms", illustration=True),
    Entry(
        "constrained-figure-2", CONSTRAINED, "Figure 2", "Synthetic labels: LO, L+I and IBT", (1, 5)
    ),
    Entry(
        "constrained-figure-3", CONSTRAINED, "Figure 3", "Semantic roles against features", (2, 180)
    ),
    Entry(
        "constrained-figure-4", CONSTRAINED, "Figure 4", "Noun phrases against features", (1, 15)
    ),
    Entry("constrained-figure-5", CONSTRAINED, "Figure 5", "The bounds on the error", (0.1, 0.1)),
)


def entry_of(name: str) -> Entry:
    """Return a table or figure by name.

    Raises
    ------
    InvalidInputError
        There is none of that name; the message lists them.
    """
    for entry in CATALOGUE:
        if entry.name == name:
            return entry
    raise InvalidInputError(f"Unknown {name!r}; choose from {[e.name for e in CATALOGUE]}.")


def implemented(entry: Entry) -> bool:
    """Whether there is an experiment for a table or figure."""
    return importlib.util.find_spec(_module(entry.name)) is not None


def experiment_of(name: str) -> Experiment:
    """Return the experiment of a table or figure.

    Raises
    ------
    InvalidInputError
        The name is unknown.
    IncompatibleError
        There is no experiment of that name yet, or the figure is a mere drawing.
    """
    entry = entry_of(name)
    if not implemented(entry):
        why = "is a drawing that shows no results" if entry.illustration else "is not implemented"
        known = [e.name for e in CATALOGUE if implemented(e)]
        raise IncompatibleError(f"{entry.paper}, {entry.item} {why}; there are {known}.")
    found: Experiment = importlib.import_module(_module(name)).experiment
    return found


def missing_data(experiment: Experiment) -> list[str]:
    """Return the files an experiment reads that are not in the data home."""
    home = data_home()
    return [
        name
        for name in experiment.data
        if not ((home / name).is_file() or (home / name.removesuffix(".gz")).is_file())
    ]


def folder_of(experiment: Experiment, out: str | os.PathLike[str]) -> Path:
    """Return the folder of one experiment."""
    return Path(out) / experiment.name


def store_of(experiment: Experiment, out: str | os.PathLike[str]) -> Store:
    """Return the cells that are finished, its own or those it looks at once more."""
    return Store(Path(out) / (experiment.runs_of or experiment.name))


def stored(experiment: Experiment, setting: Setting, out: str | os.PathLike[str]) -> Outcome:
    """Return what is in the output folder for a setting, and run nothing."""
    keys = keys_of(experiment, experiment.cells(setting == "full"))
    rows = store_of(experiment, out).rows
    return Outcome(tuple(rows[key] for key in keys if key in rows), len(keys))


def status(entry: Entry, out: str | os.PathLike[str]) -> str:
    """Return how far a table or figure is, in words."""
    if not implemented(entry):
        return "an illustration, nothing to run" if entry.illustration else "not implemented"
    experiment = experiment_of(entry.name)
    small, full = stored(experiment, "small", out), stored(experiment, "full", out)
    if len(full.rows) == full.total:
        return "full run done"
    parts = []
    if len(small.rows) == small.total:
        parts.append("small run done")
    elif small.rows:
        parts.append(f"small run {len(small.rows)} of {small.total} cells")
    if full.rows and len(full.rows) > len(small.rows):
        parts.append(f"full run {len(full.rows)} of {full.total} cells")
    if lacking := missing_data(experiment):
        parts.append(f"needs data at {VARIABLE}/{lacking[0]}")
    told = "; ".join(parts) or "ready to run"
    return f"{told}; in full {entry.time('full')}" if entry.minutes else told


def _module(name: str) -> str:
    paper, kind, number = name.rsplit("-", 2)
    return f"structopt.lab.reproduce.{paper.replace('-', '_')}.{kind}_{number}"
