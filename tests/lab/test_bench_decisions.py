"""The comparison of learners of decisions runs, and says who is not installed."""

import numpy as np
import pytest

from structopt.errors import MissingDependencyError, StructoptError
from structopt.lab.bench import decisions, decisions_run
from structopt.lab.harness.process import Companion
from structopt.lab.harness.runner import run


def test_learners_take_part_and_peers_are_excused(monkeypatch):
    monkeypatch.setattr(decisions, "N_TEST", 20)
    monkeypatch.setattr(decisions, "GradientBoostingRegressor", lambda random_state: None)

    class Missing:
        def __init__(self, module, who):
            assert module == decisions_run.__name__
            self.who = who

        def ask(self, source):
            with np.load(source) as given:
                assert given["X"].shape == (20, 5)
            raise decisions.MissingDependencyError(f"{self.who} is not installed.")

    monkeypatch.setattr(decisions, "Companion", Missing)
    bench = decisions.DecisionBench(
        problems=("paths", "knapsacks"), degrees=(2,), noises=(0.5,), sizes=(20,), draws=1
    )
    outcome = run(bench, bench.cells())
    reasons = [reason for _, reason in outcome.left_out]
    assert {row["who"] for row in outcome.rows} == set(decisions.OURS)
    assert bench.proved(outcome.rows)
    assert any("PyEPO" in reason for reason in reasons)
    regret, seconds, loss = bench.tables(outcome.rows, reasons)
    assert regret.rows[0][:5] == ("paths", "20", "0.5", "2", "1")
    assert len(seconds.rows) == len(loss.rows) == 2


def test_no_draw_of_a_setting_begins_when_time_is_up_and_one_begun_is_finished(monkeypatch):
    monkeypatch.setattr(decisions, "N_TEST", 20)
    bench = decisions.DecisionBench(
        problems=("paths",), degrees=(2,), noises=(0.5,), sizes=(20,), draws=3, only=("ridge",)
    )
    first, *later = bench.cells()
    bench.run(first)
    bench._until = -1.0
    bench.run(first)
    outcome = run(bench, [first, *later])
    assert [row["turn"] for row in outcome.rows] == [0]
    assert "No draw began" in outcome.left_out[0][1]


def test_the_process_of_a_peer_says_what_is_missing(monkeypatch, tmp_path):
    def absent(given):
        raise ImportError("No module named 'torch'")

    monkeypatch.setitem(decisions_run.PEERS, "PyEPO", absent)
    np.savez(tmp_path / "problem.npz", X=np.ones((2, 1)))
    answer = decisions_run.main("PyEPO", str(tmp_path / "problem.npz"))
    assert answer["error"] == "MissingDependencyError"
    assert "structopt-margin[decisions]" in answer["message"]


def test_a_peer_returns_weights(monkeypatch, tmp_path):
    """InvOpt's call, with a stand-in that takes one step: what it is given has its shapes."""
    import sys
    import types

    def first_order(data, phi, theta, FOP, step, epochs, **options):
        x, y = data[0]
        return theta - step(0) * (phi(x, y) - phi(x, FOP(theta, x, y)))

    monkeypatch.setitem(sys.modules, "invopt", types.SimpleNamespace(FOM=first_order))
    X, costs, weights = decisions._drawn(
        {"problem": "paths", "degree": 1, "noise": 0.0, "turn": 0, "examples": 3}
    )
    given = {"problem": "paths", "X": X[:3], "costs": costs[:3], "weights": weights, "C": 1.0}
    _, table = decisions_run.invopt(given)
    assert table.shape == (40, 6)
    assert np.any(table != 0)


def test_a_companion_answers_line_by_line_and_ends(monkeypatch, tmp_path):
    (tmp_path / "parrot.py").write_text(
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    if line == 'end\\n': sys.exit(3)\n"
        "    bad = {'error': 'MissingDependencyError', 'message': 'no torch'}\n"
        "    print(json.dumps(bad if line == 'bad\\n' else {'said': line.strip()}), flush=True)\n"
    )
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    parrot = Companion("parrot")
    assert [parrot.ask(word)["said"] for word in ("a", "b")] == ["a", "b"]
    with pytest.raises(MissingDependencyError, match="no torch"):
        parrot.ask("bad")
    with pytest.raises(StructoptError, match="parrot ended with code 3"):
        parrot.ask("end")
    with pytest.raises(StructoptError, match="ended with code 3"):
        parrot.ask("a")
    parrot.close()
