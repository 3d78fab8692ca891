"""LP-Struct's Table 1 on a handful of sentences: every learner of both settings can be run."""

from types import SimpleNamespace

import numpy as np
import pytest

from structopt.lab.reproduce.lp_struct import table_1


@pytest.fixture
def sentences(monkeypatch):
    rng = np.random.default_rng(0)
    made = []
    for _ in range(60):
        words = rng.integers(8, size=int(rng.integers(2, 6)))
        made.append(
            SimpleNamespace(words=[f"w{k}" for k in words], tags=[f"t{k % 3}" for k in words])
        )
    monkeypatch.setattr(table_1.datasets, "load_medpost", lambda: made)


def test_every_line_of_the_table_comes_from_a_cell(sentences):
    small = table_1.experiment.cells(False)
    full = {table_1._line(cell) for cell in table_1.experiment.cells(True)}
    assert full == {*table_1.PAPER, f"{table_1.HAMMING}, C chosen"}  # which is shown as a remark
    assert set(table_1.CHANGES) < {cell["model"] for cell in small}
    rows = []
    for cell in small:
        cell = cell | {"train": 40, "test": 20, **({"limit": 2.0} if "limit" in cell else {})}
        rows.append(cell | table_1.experiment.run(cell))
    found = {(n.label, n.metric): n.value for n in table_1.experiment.numbers(rows)}
    for cell in small:
        assert 0 <= found[cell["model"], "error %"] < 50  # a word says its tag
    remarks = " ".join(table_1.experiment.remarks([row | {"train": table_1.FULL} for row in rows]))
    assert all(change in remarks for change in table_1.CHANGES.values())
    tried = {
        "model": table_1.HAMMING,
        "train": table_1.FULL - table_1.LEFT,
        "C": 5.0,
        "error": 7.25,
    }
    later = table_1.experiment.remarks([{**tried, "train": table_1.FULL}, tried])
    assert "7.25% at C = 5" in later[0]
