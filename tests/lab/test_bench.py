"""Benchmarks run, agree and write what they say; how fast they are is not tested here."""

import csv
from pathlib import Path

import cvxpy as cp
import numpy as np
import pytest

from structopt.cli import commands as cli
from structopt.errors import BackendError, InvalidInputError, MissingDataError
from structopt.lab.bench import extragradient, letters, master_sizes, masters
from structopt.lab.bench.path import PathBench
from structopt.lab.bench.slacks import SlacksBench
from structopt.lab.bench.tagging import make_tagging
from structopt.lab.harness.machine import Machine
from structopt.lab.harness.runner import run
from structopt.lab.harness.study import in_turns, median, turns, where

SMALL = masters.Size(n_sentences=25, n_words=30, n_labels=3, rounds=5, C=0.5)


def measured(bench):
    """Run all cells; the rows, and why others were left out."""
    outcome = run(bench, bench.cells())
    return outcome.rows, [reason for _, reason in outcome.left_out]


# ---------------------------------------------------------------------- parts
def test_every_competitor_goes_first_equally_often():
    names = ["a", "b", "c"]
    firsts = [turns(names, turn)[0] for turn in range(6)]
    assert sorted(firsts) == ["a", "a", "b", "b", "c", "c"]
    assert all(sorted(turns(names, turn)) == names for turn in range(6))
    cells = in_turns([{"who": name} for name in names], 3)
    assert [cell["who"] for cell in cells[::3]] == names


class Slow(PathBench):
    """Notes what is warmed up and run, in which order and on how many threads."""

    def warm_up(self, cell):
        self.heard.append(("warm", cell["way"]))

    def run(self, cell):
        import threadpoolctl

        assert all(pool["num_threads"] == 1 for pool in threadpoolctl.threadpool_info())
        if cell["way"] == "path":
            raise missing_dependency("no paths here")
        self.heard.append(("run", cell["way"]))
        return {"cpu": float(cell["turn"])}


def missing_dependency(text):
    from structopt.errors import MissingDependencyError

    return MissingDependencyError(text)


def test_the_loop_is_the_harness_s():
    """Warm-up once a contender, one thread, and who is excused is not asked again."""
    bench = Slow(["digits-m3n"], repeats=3)
    bench.heard = []
    rows, reasons = measured(bench)
    assert bench.heard == [
        ("warm", "separate"), ("run", "separate"), ("warm", "path"), ("run", "separate"),
        ("run", "separate"),
    ]  # fmt: skip
    assert reasons == ["no paths here"]
    assert median(where(rows, way="separate"), "cpu") == 1.0


def test_machine_names_versions():
    machine = Machine.here()
    assert machine.versions["structopt-margin"]
    packages = {"HIGHS": "highspy", "PROXQP": "proxsuite", "GUROBI": "gurobipy"}
    packages |= dict.fromkeys(("GLOP", "PDLP"), "ortools")
    for solver in cp.installed_solvers():
        assert packages.get(solver, solver.lower()) in machine.versions
    assert machine.cores >= 1
    assert "cvxpy" in str(machine)
    assert median([{"s": 1.0}, {"s": 5.0}, {"s": 2.0}], "s") == 2.0


def test_tagging_is_seeded_and_sparse():
    X, Y = make_tagging(4, n_words=50, n_labels=5, seed=3)
    again, _ = make_tagging(4, n_words=50, n_labels=5, seed=3)
    assert all((a != b).nnz == 0 for a, b in zip(X, again, strict=True))
    assert all(x.shape == (len(y), 55) for x, y in zip(X, Y, strict=True))
    assert all(set(np.diff(x.indptr)) == {2} for x in X)


# ---------------------------------------------------------------------- masters
def test_masters_agree_in_every_round():
    bench = masters.MastersBench(repeats=2, size=SMALL)
    rows, _ = measured(bench)
    assert len(bench.recording.batches) == SMALL.rounds
    objectives = {
        name: [
            [step.objective for step in row["steps"][name]] for row in rows if name in row["steps"]
        ]
        for name in rows[0]["steps"]
    }
    assert masters.ratio(rows, masters.STRUCTOPT, masters.HAND) > 0
    truth = objectives[masters.REBUILD][0]
    assert truth == sorted(truth)  # more cuts, larger optimum
    assert truth[-1] > 0
    for name, runs in objectives.items():
        assert len(runs) == (1 if name == masters.REBUILD else 2)
        for found in runs:
            np.testing.assert_allclose(found, truth, rtol=1e-6, atol=1e-6)


def test_masters_that_disagree_are_an_error(monkeypatch):
    solve = masters._ByHand.step

    def wrong(self, batch):
        step = solve(self, batch)
        return masters.Step(step.lift, step.append, step.solve, step.objective + 1.0, 0)

    monkeypatch.setattr(masters._ByHand, "step", wrong)
    with pytest.raises(BackendError, match="disagree in round 1"):
        measured(masters.MastersBench(repeats=1, rebuild=False, size=masters.TINY))


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
        masters.MastersBench(repeats=0).cells()


# ---------------------------------------------------------------------- sizes of masters
TAGGING = master_sizes.Tagging(12, 20, 3, 1.0)


def test_master_sizes_command(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(master_sizes, "QUICK", (TAGGING,))
    assert cli.main(["bench", "master-sizes", "--quick", "--out", str(tmp_path)]) == 0
    assert "gap of 0.01" in capsys.readouterr().out
    with (tmp_path / "bench-master-sizes-1.csv").open(newline="", encoding="utf-8") as file:
        _, *rows = csv.reader(file)
    found = {row[0].split(", ")[-1]: float(row[-1]) for row in rows}
    assert set(found) - {"OR-tools PDLP"} == set(master_sizes.SOLVERS) - {"OR-tools PDLP"}
    assert found["simplex"] < 1e-9
    assert found["ours"] <= 1e-6
    assert (tmp_path / "bench-master-sizes.svg").read_text(encoding="utf-8").count("<svg") == 1


def test_master_sizes_without_ortools(monkeypatch):
    def missing(*arguments):
        raise missing_dependency("no OR-tools here")

    monkeypatch.setattr(master_sizes.lp_solvers, "ortools_pdlp", missing)
    bench = master_sizes.MasterSizesBench(
        time_limit=5.0, solvers=["OR-tools PDLP", "ours", "simplex"], sizes=[TAGGING]
    )
    rows, reasons = measured(bench)
    assert [row["solver"] for row in rows] == ["ours", "simplex"]
    assert "Left out: no OR-tools here" in bench.tables(rows, reasons)[0].notes
    reached = rows[0]["reached"]
    seconds, steps = zip(*(reached[gap] for gap in master_sizes.GAPS), strict=True)
    assert list(seconds) == sorted(seconds)
    assert list(steps) == sorted(steps)


def test_master_sizes_begins_no_master_after_its_minutes():
    bench = master_sizes.MasterSizesBench(solvers=["ours"], sizes=[TAGGING], minutes=0.0)
    rows, reasons = measured(bench)
    assert rows == ()
    assert reasons == ["No master was begun after 0 minutes."]


def test_master_sizes_names_the_size_from_which_ours_wins():
    fast, slow = (dict.fromkeys(master_sizes.GAPS, (seconds, 1)) for seconds in (1.0, 2.0))
    times = {"ours": (slow, fast, fast, {}), "simplex": (fast, slow, slow, fast)}
    rows = [
        {"master": k, "series": series, "solver": name, "reached": times[name][k]}
        for k, series in enumerate("aabb")
        for name in times
    ]
    assert master_sizes.wins(rows, "a", 1e-2) == 1
    assert master_sizes.wins(rows, "b", 1e-2) is None


# ---------------------------------------------------------------------- extragradient
def test_extragradient_ingredients(monkeypatch, tmp_path, capsys):
    monkeypatch.setenv("STRUCTOPT_DATA", str(tmp_path))
    arguments = ["bench", "extragradient", "--quick", "--ingredients", "polish", "--out"]
    assert cli.main([*arguments, str(tmp_path)]) == 0
    assert "without polish" in capsys.readouterr().out
    with (tmp_path / "bench-extragradient-1.csv").open(newline="", encoding="utf-8") as file:
        _, *rows = csv.reader(file)
    assert [row[0] for row in rows] == ["everything", "without polish"]
    count = len(extragradient.generated())
    assert rows[0][1] == f"{count} of {count}"


def test_extragradient_reads_a_folder_of_programmes(tmp_path):
    folder = tmp_path / "public_programmes" / "lp"
    folder.mkdir(parents=True)
    p = extragradient.generated()["generated/assignment"]
    np.savez(
        folder / "mine.npz", Pd=p.P.data, Pi=p.P.indices, Pp=p.P.indptr, Ad=p.A.data,
        Ai=p.A.indices, Ap=p.A.indptr, q=p.q, lower=p.lower, upper=p.upper, lb=p.lb, ub=p.ub,
    )  # fmt: skip
    found = extragradient.public(tmp_path)
    assert list(found) == ["lp/mine"]
    assert found["lp/mine"].objective(p.lb) == p.objective(p.lb)


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
            raise missing_dependency("no crfsuite here")
        return letters_run.RUNS[learner](folds)

    monkeypatch.setattr(letters, "measure", measure)  # in this process: one is slow to start
    bench = letters.LettersBench("1-9", repeats=2)
    rows, reasons = measured(bench)
    assert [(row["learner"], row["folds"], row["words"]) for row in rows] == [
        ("structopt", "1", 4), ("structopt", "1-9", 36),
        ("structopt", "1-9", 36), ("structopt", "1", 4),
    ]  # fmt: skip
    assert bench.proved(rows)
    table, inside = bench.tables(rows, reasons)
    assert any("ms a word on fold 1" in note for note in table.notes)
    assert "Left out: no crfsuite here" in table.notes
    assert len(inside.rows) == 2
    objectives = {row["objective"] for row in where(rows, folds="1-9")}
    assert len(objectives) == 1  # the same in every repetition


def test_a_failing_process_is_a_typed_error(monkeypatch, tmp_path):
    monkeypatch.setenv("STRUCTOPT_DATA", str(tmp_path))
    with pytest.raises(MissingDataError, match="handwritten words"):
        letters.measure("structopt", (1,))


def test_letters_arguments():
    with pytest.raises(InvalidInputError, match="folds is one of"):
        letters.LettersBench("2-3")


# ---------------------------------------------------------------------- shared slacks
def test_groups_of_slacks_are_measured(tmp_path):
    command = "bench slacks --invented 12 --groups n 3 one 50 --repeats 1 --out"
    assert cli.main([*command.split(), str(tmp_path)]) == 0
    page = (tmp_path / "bench-slacks.md").read_text(encoding="utf-8")
    assert all(f"| {k} |" in page for k in ("n", "3", "one"))
    assert "| 50 |" not in page  # there are not so many examples
    with pytest.raises(InvalidInputError, match="'some'"):
        SlacksBench(["some"], invented=4).cells()


# ---------------------------------------------------------------------- out of core
def test_data_in_a_folder_are_learned_as_in_memory(tmp_path):
    command = "bench out-of-core --chunks 3 4 --rows 40 --in-memory 3 --within 100 --out"
    assert cli.main([*command.split(), str(tmp_path)]) == 0
    with (tmp_path / "bench-out-of-core-1.csv").open(newline="", encoding="utf-8") as file:
        _, here, there, larger = csv.reader(file)
    assert (here[1], there[1], larger[1]) == ("memory", "disk", "disk")
    assert here[8] == there[8]  # the objective


# ---------------------------------------------------------------------- one process
def test_memory_and_threads_are_measured(tmp_path):
    assert cli.main(["bench", "memory", "--rows", "300", "--out", str(tmp_path)]) == 0
    with (tmp_path / "bench-memory-1.csv").open(newline="", encoding="utf-8") as file:
        _, *lines = csv.reader(file)
    assert len(lines) == 8
    command = "bench threads --rows 300 --repeats 2 --out"
    assert cli.main([*command.split(), str(tmp_path)]) == 0
    with (tmp_path / "bench-threads-1.csv").open(newline="", encoding="utf-8") as file:
        _, *lines = csv.reader(file)
    assert all(float(line[1]) > 0 and float(line[-1]) > 0 for line in lines)


# ---------------------------------------------------------------------- paths
def test_path_and_separate_runs_are_measured_in_turns(tmp_path, capsys):
    bench = PathBench(["digits-m3n"], n_values=2, n_words=12, repeats=2)
    assert [cell["way"] for cell in bench.cells()] == ["separate", "path", "path", "separate"]
    rows, _ = measured(bench)
    assert bench.proved(rows)
    assert not bench.proved([*rows, {"certified": False}])
    line = bench.tables(rows, [])[0].rows[0]
    assert line[0] == "M3N, 200 digit words"
    assert float(line[4]) > 0  # the ratio
    command = "bench path --cases digits-lp --values 2 --words 12 --repeats 1 --out"
    assert cli.main([*command.split(), str(tmp_path)]) == 0
    assert (tmp_path / "bench-path.md").exists()
    with pytest.raises(InvalidInputError, match="digits-m3n"):
        PathBench(["nothing"]).cells()


def test_formulations_are_certified_beside_the_plain_one():
    from structopt.lab.bench.formulations import KINDS, FormulationBench

    bench = FormulationBench(kinds=["CVaR", "group lasso"], invented=20, repeats=1, time_limit=20.0)
    rows, _ = measured(bench)
    assert [row["kind"] for row in rows] == ["M3N", "CVaR", "group lasso"]
    assert bench.proved(rows)
    (table,) = bench.tables(rows, [])
    assert len(table.rows) == 3
    assert set(KINDS) >= {row["kind"] for row in rows}


def test_the_zoo_is_measured_and_its_page_written(tmp_path):
    from structopt.lab.bench.zoo import ZooBench

    source = Path(__file__).parents[2] / "examples" / "zoo.py"
    to = tmp_path / "zoo.md"
    bench = ZooBench(["squared"], str(source), str(to), invented=6, time_limit=20.0)
    assert bench.execute("structopt bench zoo") == 0
    page = to.read_text(encoding="utf-8")
    assert "## squared\n\nSquared hinges (Tsochantaridis et al. 2005)" in page
    assert "min 1/2 |w|^2 + C sum_i xi_i^2" in page
    assert "return cp.sum_squares(xi)" in page
    assert "certified yes" in page
    assert "Not measured." in page  # what was not chosen
    with pytest.raises(InvalidInputError, match="--source"):
        ZooBench(source="nowhere.py").cells()


def test_sparse_rows_and_sentences_are_put_beside_their_peers(monkeypatch):
    """The loosest of our tolerances that is no worse than liblinear stands beside it."""
    from structopt.lab.bench import sparse, sparse_run

    def alone(module, *given):
        if module.endswith("letters_run"):
            seconds = {"train": 1.0 if given[0] == "blocks" else 4.0, "test_error": 0.2}
            return seconds | {"memory": 100.0, "passes": 20, "cheap": 30.0}
        if given[0] != "rows":
            return {"cpu": 2.0, "wrong": 3.0, "memory": 200.0, "rounds": 9, "certified": True}
        who = given[1]
        if who == "bound":
            return {"dual": [100.0]}
        excess = {"structopt": [4e-3, 2e-3, 1e-3, 5e-4], "liblinear": [3e-3]}[who]
        return {"cpu": [4.0, 5.0, 6.0, 7.0], "value": [100 * (1 + e) for e in excess]}

    monkeypatch.setattr(sparse, "alone", alone)
    bench = sparse.SparseBench(repeats=1)
    found = [cell | bench.run(cell) for cell in bench.cells()]
    first, second, third = bench.tables(found, [])
    assert [row[0] for row in first.rows] == list(sparse_run.ROWS)
    assert first.rows[0][-3:] == ("5 at 0.005", "2.0e-03", "1.25")
    assert second.rows[2][1] == "20.0 + 30"
    assert second.rows[2][-2:] == ("0.25", "1.00")
    assert len(third.rows) == len(sparse.GROWTH)


def test_sparse_runs_answer(monkeypatch):
    from structopt.lab.bench import sparse_data, sparse_run

    X, y, C = sparse_data.drawn(60, sparse_data.COLUMNS, 3)
    monkeypatch.setitem(sparse_run.ROWS, "drawn rows", lambda: (X, y, C))
    ours, peer = (sparse_run.rows(who, "drawn rows") for who in ("structopt", "liblinear"))
    assert ours["dual"][-1] <= min(*ours["value"], *peer["value"]) * (1 + 1e-12)
    assert sparse_run.growth("tokens", "60", "6", "3")["certified"]
    near, far = (sparse_data.spread(d) for d in (1000, 10_000))
    assert near[0].nnz == far[0].nnz


def test_sums_of_parts_are_put_beside_each_other(monkeypatch):
    from structopt.lab.bench import parts

    seconds = {"block-ascent": [1.0, 3.0], "cutting-plane": [4.0, 4.0], "frank-wolfe": [8.0, 8.0]}
    monkeypatch.setattr(
        parts,
        "alone",
        lambda _, *given: {
            method: {"cpu": seconds[method], "rounds": len(given)} for method in given[4:]
        },
    )
    bench = parts.PartsBench(repeats=2)
    found = [cell | bench.run(cell) for cell in bench.cells()]
    (table,) = bench.tables(found, [])
    assert [row[0] for row in table.rows] == list(parts.CASES)
    assert table.rows[0][1:] == ("2 (1-3)", "4 (4-4)", "8 (8-8)", "0.50", "0.25", "7, 7, 7")


@pytest.mark.parametrize("name", ["trees", "second order", "lattices", "matchings", "rankings"])
def test_drawn_sums_of_parts_can_be_learned(name, monkeypatch):
    """However far apart columns are: the same optimum."""
    from structopt.lab.bench import parts_data, parts_run

    make, _, C = parts_data.DRAWN[name]
    monkeypatch.setitem(parts_data.DRAWN, name, (make, 8, C))
    near = parts_run.train(name, "1000", "1e-3", "1", "block-ascent")["block-ascent"]
    far = parts_run.train(name, "100000", "1e-3", "1", "cutting-plane")["cutting-plane"]
    assert near["certified"]
    assert far["certified"]
    assert near["objective"] == pytest.approx(far["objective"], rel=2e-3)


def test_what_is_fixed_is_measured(monkeypatch):
    from structopt.lab.bench import first_fit, first_fit_run

    asked = []
    monkeypatch.setattr(first_fit, "alone", lambda *given: asked.append(given[1]) or {"cpu": [2.0]})
    bench = first_fit.FirstFitBench(repeats=2)
    found = [cell | bench.run(cell) for cell in bench.cells()]
    assert [asked.count(case) for case in first_fit.CASES] == [2, 3, 2]
    (table,) = bench.tables(found, [])
    assert [row[1:] for row in table.rows] == [("2", "2-2")] * 3
    monkeypatch.setattr(first_fit_run, "FITS", 1)
    for measured in (first_fit_run.rows(), first_fit_run.first("warm")):
        assert measured["cpu"][0] > 0
        assert measured["score"] > 0.9
