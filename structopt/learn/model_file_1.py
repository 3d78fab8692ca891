"""Model files of version 0.1, read as today's: classes and parameters had other names then.

>>> costs({"false_positive": 2.0, "fertility": 1})
{'fertility': 1, 'loss': {'part': {'class': 'PartCosts', 'parameters': {'extra': 2.0}}}}
"""

from __future__ import annotations

from typing import Any

from structopt import names
from structopt.learn.plain import encode

OLD = "structopt model 1"
_LOSSES = {
    "class_weight": ("Hamming", "class_weight"),
    "extra": ("PartCosts", "extra"),
    "missed": ("PartCosts", "missed"),
    "false_positive": ("PartCosts", "extra"),
    "false_negative": ("PartCosts", "missed"),
}


def upgraded(header: dict[str, Any]) -> dict[str, Any]:
    """Return a header of version 0.1 as today's; it kept tol and max_iter only."""
    fitted = header["fitted"]
    if "labels_" in fitted:  # all labelled structures weigh their labels now
        ones = [1.0] * len(fitted["labels_"]["labels"])
        fitted = {"class_weight_": {"array": ones}} | fitted
    backend, _, finisher = header["backend"].partition(", then ")
    methods = [entry.key for entry in names.of_kind("method")]
    return header | {
        "structure": _part(header["structure"]),
        "formulation": _part(header["formulation"]),
        "backend": "auto",
        "fitted": {"attributes": fitted, "inside": {}},
        "settings": encode(header["settings"]),
        "result": {
            "status": header["status"],
            "seconds": float(header["seconds"]),
            "backend": None if backend in methods else backend,
            "finisher": finisher or None,
            "method": backend if backend in methods else methods[0],
        },
    }


def _part(spec: dict[str, Any]) -> dict[str, Any]:
    name = names.RENAMED.get(spec["class"], spec["class"])
    if spec["own"]:
        return {"class": name, "own": True}
    parameters = costs(spec["parameters"])
    if "engine" in parameters:
        engine = parameters.pop("engine")
        parameters["decoder"] = "networkx" if engine == "networkx" else "compiled"
    return {"class": name, "parameters": parameters}


def costs(parameters: dict[str, Any]) -> dict[str, Any]:
    """Return parameters with those that cost something as one ``loss``."""
    kept = {k: v for k, v in parameters.items() if k not in _LOSSES}
    given = [(*_LOSSES[k], v) for k, v in parameters.items() if k in _LOSSES and v is not None]
    if given:
        inner = {name: value for _, name, value in given}
        kept["loss"] = {"part": {"class": given[0][0], "parameters": inner}}
    return kept
