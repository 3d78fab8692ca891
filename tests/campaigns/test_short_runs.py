"""A short run of every campaign; the long ones are commands of their own."""

import importlib.util
import json
import re
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from structopt import names


@cache
def campaign(name):
    sys.path.append(str(Path(__file__).parent))  # campaigns share files of their own
    spec = importlib.util.spec_from_file_location(name, Path(__file__).with_name(f"{name}.py"))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_malformed_calls_are_answered_or_refused_by_name():
    done, findings = campaign("malformed_calls").run(400, seed=0)
    assert done == 400
    assert findings == {}


def test_every_public_name_is_called():
    recipes = campaign("malformed_calls").every_recipe()
    called = " ".join(recipes)
    missing = [
        entry.name
        for entry in names.NAMES
        if entry.name not in campaign("more_recipes").NOT_CALLED
        and not re.search(rf"\b{entry.name}\b", called)
    ]
    # models and functions that recipes of other names call
    assert set(missing) <= {"StructuredClassifier", "DataSet"}, missing


@pytest.mark.parametrize(
    ("which", "count"), [("models", 200), ("checkpoints", 30), ("comparisons", 60), ("data", 300)]
)
def test_damaged_files_give_typed_errors(which, count):
    seen, findings = campaign("damaged_files").run(which, count, seed=0)
    assert findings == []
    assert 0 < seen["FileFormatError"] < count


def test_random_problems_are_solved_to_the_enumerated_optimum():
    seen, findings = campaign("full_solves").run(range(60), seed=0)
    assert findings == {}
    assert seen["optimal"] > 20


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


def test_mutants_of_a_file_are_reached_and_killed(tmp_path):
    found, command = tmp_path / "results.jsonl", Path(__file__).with_name("mutation.py")
    given = ["run/certificate", "--sample", "2", "--seed", "1", "--results", str(found)]
    done = subprocess.run(
        [sys.executable, str(command), *given], capture_output=True, text=True, check=False
    )
    results = [json.loads(line) for line in found.read_text().splitlines()]
    assert len(results) == 2
    assert all(r["reached"] and r["killed"] and "::" in r["by"] for r in results)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "FAILS" not in done.stdout
