"""A short run of every campaign; the long ones are commands of their own."""

import importlib.util
from pathlib import Path

import pytest


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
