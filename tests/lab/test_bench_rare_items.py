"""The comparison of measures that machines are trained for runs, and its table fits together."""

import numpy as np
import pytest

from structopt.lab.bench import rare_items
from structopt.lab.harness.runner import run


def test_every_machine_takes_part(monkeypatch):
    monkeypatch.setattr(rare_items, "ITEMS", 30)
    bench = rare_items.RareItemsBench(data=("gaussians",), draws=2, share=0.2)
    outcome = run(bench, bench.cells())
    assert bench.proved(outcome.rows)
    (table,) = bench.tables(outcome.rows, [])
    assert [line[1] for line in table.rows] == list(rare_items.LEARNERS)
    assert all("±" in line[-2] for line in table.rows)
    assert [line[2] == "" for line in table.rows] == [False, False, True, True, True]


def test_measures_by_hand():
    found = rare_items.measured(np.array([3.0, -1.0, 1.0, 0.0]), np.array([1, 1, 0, 0]))
    assert found["F1"] == found["break-even"] == found["precision at 10"] == 0.5
    assert found["AUC"] == pytest.approx(0.5)
