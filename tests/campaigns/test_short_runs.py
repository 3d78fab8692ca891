"""A short run of every campaign; the long ones are commands of their own."""

import importlib.util
from functools import cache
from pathlib import Path

import pytest


@cache
def campaign(name):
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_malformed_calls_are_answered_or_refused_by_name():
    done, findings = campaign("malformed_calls").run(400, seed=0)
    assert done == 400
    assert findings == {}


@pytest.mark.parametrize(("which", "count"), [("model", 200), ("checkpoint", 20)])
def test_damaged_files_give_typed_errors(which, count):
    seen, findings = campaign("damaged_files").run(which, count, seed=0)
    assert findings == []
    assert seen["FileFormatError"] > count / 2


@pytest.mark.parametrize(
    ("which", "count"),
    [
        ("solver faults", 15),
        ("hanging solver", 1),
        ("full disk", 2),
        ("SIGINT at an instruction", 4),
        ("SIGINT twice", 4),
        ("SIGINT at a moment", 3),
        ("SIGTERM, heard", 1),
        ("SIGTERM", 1),
        ("SIGKILL", 2),
        ("killed worker", 1),
    ],
)
def test_faults_keep_the_best_model(which, count):
    assert campaign("faults").run(which, count, seed=0) == []
