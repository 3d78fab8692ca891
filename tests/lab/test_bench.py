"""Benchmarks run, agree and write what they say; how fast they are is not tested here."""

import csv
from dataclasses import replace

import numpy as np
import pytest

from structopt.cli import commands as cli
from structopt.errors import BackendError, InvalidInputError, MissingDataError
from structopt.lab.bench import extragradient, letters, masters
from structopt.lab.bench.path import bench_path
from structopt.lab.bench.tagging import make_tagging
from structopt.lab.harness.machine import Machine, Sample, turns

SMALL = masters.Size(n_sentences=25, n_words=30, n_labels=3, rounds=5, C=0.5)


# ---------------------------------------------------------------------- parts
def test_every_competitor_goes_first_equally_often():
    names = ["a", "b", "c"]
    firsts = [turns(names, turn)[0] for turn in range(6)]
    assert sorted(firsts) == ["a", "a", "b", "b", "c", "c"]
    assert all(sorted(turns(names, turn)) == names for turn in range(6))


def test_machine_names_versions():
    machine = Machine.here()
    assert machine.versions["structopt-margin"]
    assert machine.cores >= 1
    assert "cvxpy" in str(machine)
    assert Sample((1.0, 5.0, 2.0)).median == 2.0


def test_tagging_is_seeded_and_sparse():
    X, Y = make_tagging(4, n_words=50, n_labels=5, seed=3)
    again, _ = make_tagging(4, n_words=50, n_labels=5, seed=3)
    assert all((a != b).nnz == 0 for a, b in zip(X, again, strict=True))
    assert all(x.shape == (len(y), 55) for x, y in zip(X, Y, strict=True))
    assert all(set(np.diff(x.indptr)) == {2} for x in X)


# ---------------------------------------------------------------------- masters
def test_masters_agree_in_every_round():
    bench = masters.bench_masters(SMALL, repeats=2)
    assert len(bench.rounds) == SMALL.rounds
    objectives = {
        name: [[step.objective for step in run] for run in runs]
        for name, runs in bench.steps.items()
    }
    truth = objectives[masters.REBUILD][0]
    assert truth == sorted(truth)  # more cuts, larger optimum
    assert truth[-1] > 0
    for name, runs in objectives.items():
        assert len(runs) == (1 if name == masters.REBUILD else 2)
        for run in runs:
            np.testing.assert_allclose(run, truth, rtol=1e-6, atol=1e-6)


def test_masters_that_disagree_are_an_error(monkeypatch):
    solve = masters._ByHand.step

    def wrong(self, batch):
        step = solve(self, batch)
        return masters.Step(step.lift, step.append, step.solve, step.objective + 1.0, 0)

    monkeypatch.setattr(masters._ByHand, "step", wrong)
    with pytest.raises(BackendError, match="disagree in round 1"):
        masters.bench_masters(masters.TINY, repeats=1, rebuild=False)


def test_masters_command_writes_tables(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(masters, "QUICK", masters.TINY)
    arguments = ["bench", "masters", "--quick", "--repeats", "1", "--out", str(tmp_path)]
    assert cli.main(arguments) == 0
    printed = capsys.readouterr().out
    assert "structopt / by hand" in printed
    page = (tmp_path / "bench-masters.md").read_text(encoding="utf-8")
    assert "bench masters --quick --repeats 1" in page
    assert "cvxpy" in page
    with (tmp_path / "bench-masters-1.csv").open(newline="", encoding="utf-8") as file:
        head, *rows = csv.reader(file)
    assert [row[0] for row in rows] == [
        "structopt",
        "by hand",
        "by hand, all columns",
        "CVXPY rebuild",
    ]
    assert all(len(row) == len(head) for row in rows)


def test_masters_need_a_repetition():
    with pytest.raises(InvalidInputError, match="repeats"):
        masters.bench_masters(masters.TINY, repeats=0)


# ---------------------------------------------------------------------- extragradient
TAGGING = extragradient.Size(12, 20, 3, 1.0)


def test_extragradient_command(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(extragradient, "QUICK", (TAGGING,))
    assert cli.main(["bench", "extragradient", "--quick", "--out", str(tmp_path)]) == 0
    assert "gap of 0.01" in capsys.readouterr().out
    with (tmp_path / "bench-extragradient-1.csv").open(newline="", encoding="utf-8") as file:
        _, *rows = csv.reader(file)
    found = {row[0].split(", ")[-1]: float(row[-1]) for row in rows}
    assert set(found) - {"OR-tools PDLP"} == set(extragradient.COMPETITORS) - {"OR-tools PDLP"}
    assert found["simplex"] < 1e-9
    assert found["ours"] <= 1e-6


def test_extragradient_without_ortools(monkeypatch):
    def missing(*arguments):
        raise extragradient.MissingDependencyError("no OR-tools here")

    monkeypatch.setattr(extragradient.lp_solvers, "ortools_pdlp", missing)
    bench = extragradient.bench_extragradient(
        [TAGGING], limit=5.0, competitors=["OR-tools PDLP", "ours", "simplex"]
    )
    assert set(bench.runs) == {"ours", "simplex"}
    assert "Left out: no OR-tools here" in bench.table().notes
    run = bench.runs["ours"][0]
    seconds, steps = zip(*(run.reached[gap] for gap in extragradient.GAPS), strict=True)
    assert list(seconds) == sorted(seconds)
    assert list(steps) == sorted(steps)


def test_extragradient_names_the_size_from_which_ours_wins():
    fast, slow = (dict.fromkeys(extragradient.GAPS, (seconds, 1)) for seconds in (1.0, 2.0))
    bench = extragradient.bench_extragradient([], competitors=["ours", "simplex"])
    bench.sizes += [replace(TAGGING, C=C) for C in (1.0, 1.0, 10.0, 10.0)]
    times = {"ours": (slow, fast, fast, {}), "simplex": (fast, slow, slow, fast)}
    for name, reached_by in times.items():
        bench.runs[name] += [extragradient.Run(reached, 0.0) for reached in reached_by]
    assert bench.wins(1.0, 1e-2) == 1
    assert bench.wins(10.0, 1e-2) is None


# ---------------------------------------------------------------------- letters
@pytest.fixture
def fake_letters(tmp_path, monkeypatch):
    """Forty words over three letters whose pixels tell them apart, in all ten folds."""
    rng = np.random.default_rng(0)
    shapes = rng.random((3, 128)) < 0.3
    lengths = rng.integers(3, 6, size=40)
    labels = rng.integers(3, size=lengths.sum())
    noise = rng.random((len(labels), 128)) < 0.05
    folder = tmp_path / "ocr_letters"
    folder.mkdir()
    np.savez(
        folder / "letters.npz",
        pixels=(shapes[labels] ^ noise).astype(np.uint8),
        labels=labels.astype(np.uint8),
        word_lengths=lengths.astype(np.int32),
        folds=(np.arange(40) % 10).astype(np.uint8),
    )
    monkeypatch.setenv("STRUCTOPT_DATA", str(tmp_path))


@pytest.mark.usefixtures("fake_letters")
def test_letters_end_to_end(tmp_path, capsys):
    out = tmp_path / "out"
    assert cli.main(["bench", "letters", "--repeats", "1", "--out", str(out)]) == 0
    printed = capsys.readouterr().out
    assert "Quoted, not measured here: SVM^hmm" in printed
    with (out / "bench-letters-1-1.csv").open(newline="", encoding="utf-8") as file:
        rows = {row["learner"]: row for row in csv.DictReader(file)}
    assert set(rows) == {"structopt", "crfsuite"}
    ours = rows["structopt"]
    assert ours["words"] == "4"
    assert float(ours["certified gap"]) <= 4 * 0.6 / 704 + 5e-3  # printed with two digits
    assert float(ours["test error %"]) < 20
    assert int(ours["passes"]) > 1
    assert rows["crfsuite"]["certified gap"] == "-"


@pytest.mark.usefixtures("fake_letters")
def test_letters_growth_without_crfsuite(monkeypatch):
    from structopt.lab.bench import letters_run

    def measure(learner, folds):
        if learner == "crfsuite":
            raise letters.MissingDependencyError("no crfsuite here")
        return letters_run.RUNS[learner](folds)

    monkeypatch.setattr(letters, "_measure", measure)  # in this process: one is slow to start
    bench = letters.bench_letters("1-9", repeats=2)
    assert {job: [run.words for run in runs] for job, runs in bench.runs.items()} == {
        ("structopt", "1"): [4, 4],
        ("structopt", "1-9"): [36, 36],
    }
    assert bench.certified
    table, inside = bench.tables()
    assert any("ms a word on fold 1" in note for note in table.notes)
    assert "Left out: no crfsuite here" in table.notes
    assert len(inside.rows) == 2
    objectives = {run.objective for run in bench.runs["structopt", "1-9"]}
    assert len(objectives) == 1  # the same in every repetition


def test_a_failing_process_is_a_typed_error(monkeypatch, tmp_path):
    monkeypatch.setenv("STRUCTOPT_DATA", str(tmp_path))
    with pytest.raises(MissingDataError, match="handwritten words"):
        letters._measure("structopt", (1,))


def test_letters_arguments():
    with pytest.raises(InvalidInputError, match="folds is one of"):
        letters.bench_letters("2-3")


# ---------------------------------------------------------------------- paths
def test_path_and_separate_runs_are_measured_in_turns(tmp_path, capsys):
    heard = []
    bench = bench_path(["digits-m3n"], n_values=2, n_words=12, repeats=2, report=heard.append)
    assert [line.rpartition(", ")[2] for line in heard] == ["separate", "path", "path", "separate"]
    assert bench.certified
    assert bench.ratio("digits-m3n") > 0
    assert bench.table().rows[0][0] == "M3N, 200 digit words"
    command = "bench path --cases digits-lp --values 2 --words 12 --repeats 1 --out"
    assert cli.main([*command.split(), str(tmp_path)]) == 0
    assert (tmp_path / "bench-path.md").exists()
    with pytest.raises(InvalidInputError, match="digits-m3n"):
        bench_path(["nothing"])
