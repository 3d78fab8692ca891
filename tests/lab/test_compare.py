"""The solver comparison: its rules, its numbers, its files."""

import csv
import io
import math
import signal
from contextlib import redirect_stdout
from dataclasses import replace

import numpy as np
import pytest

import structopt as so
from structopt.backends import registry
from structopt.backends.clarabel import Clarabel
from structopt.cli import commands as cli
from structopt.errors import FileFormatError, InvalidInputError, MissingDataError
from structopt.lab.compare import compare as module
from structopt.lab.compare.cases import DATA, DEFAULT, FORMULATIONS
from structopt.lab.compare.compare import Comparison, Problem, Run, compare_backends
from structopt.lab.compare.stats import order_changes, profile, ranking, read_costs, shifted_mean
from structopt.lab.compare.tables import LIMITATIONS, REFUSED, tables
from structopt.lab.harness.machine import Machine

CRF, TWO = ["chain CRF"], ["M3N", "LP-Struct"]


@pytest.fixture(scope="module")
def done():
    return compare_backends(TWO, CRF, quick=True, repeats=2)


@pytest.fixture(scope="module")
def folder(done, tmp_path_factory):
    out = tmp_path_factory.mktemp("compare") / "new"
    files = done.write(out, command="structopt compare <b>")
    assert sorted(out.iterdir()) == sorted(files)
    return out


# ---------------------------------------------------------------------- the rules
def test_every_backend_runs_or_says_why_not(done):
    assert [(p.formulation, p.data) for p in done.problems] == [(f, CRF[0]) for f in TWO]
    for problem in done.problems:
        assert set(problem.runs) | set(problem.refusals) == set(registry.names())
        assert all(len(runs) == 2 for runs in problem.runs.values())
    quadratic, linear = done.problems
    assert "takes linear programmes; this one is quadratic" in quadratic.refusals["highs"]
    assert {"highs", "proximal"} <= set(linear.runs)


def test_certified_runs_agree_on_the_optimum(done):
    for problem in done.problems:
        assert problem.agree
        for backend, runs in problem.runs.items():
            assert problem.solved(backend), runs[0].reason
            for run in runs:
                assert run.result.certificate.relative_gap <= done.tol
                assert run.cpu > 0


def certified(run, **changes):
    return replace(run, result=replace(run.result, **changes))


def test_a_failure_costs_the_limit(done):
    run = done.problems[0].runs["ascent"][0]
    late = replace(run, cpu=99.0, reason="late")
    problem = Problem("f", "d", "", 7.0, runs={"x": [run, late, late], "y": [run, run, late]})
    assert problem.cost("x") == 7.0
    assert not problem.solved("x")
    assert problem.cost("y") == run.cpu  # the median of three


def test_success_is_the_certificate_s_word_only(done):
    run = done.problems[0].runs["ascent"][0]
    good = run.result
    wide = replace(good.certificate, dual=good.certificate.primal / 2)
    assert module._why_not(good, 1.0, 5.0) == ""
    assert "not certified (gap 5.0e-01)" in module._why_not(
        replace(good, certificate=wide), 1.0, 5.0
    )
    assert "not within 5 CPU seconds" in module._why_not(good, 5.1, 5.0)
    assert "not within 5 CPU" in module._why_not(replace(good, status="callback"), 1.0, 5.0)
    rescued = replace(good, rescued=(None, None))
    assert "reference solved 2 rounds" in module._why_not(rescued, 1.0, 5.0)


class Broken(Clarabel):
    """Fails in every second master."""

    name = "broken"

    def __init__(self):
        super().__init__()
        self.calls = 0

    def solve(self, **options):
        self.calls += 1
        found = super().solve(**options)
        return replace(found, status="failed") if self.calls % 2 == 0 else found


class Liar(Clarabel):
    """Says "optimal" and returns weights and multipliers of nothing."""

    name = "liar"

    def solve(self, **options):
        found = super().solve(**options)
        return replace(
            found, status="optimal", x=0 * found.x, cut_duals=0 * found.cut_duals, static_duals=None
        )


def test_broken_and_lying_solvers_fail():
    done = compare_backends(
        ["M3N"], CRF, {"broken": Broken(), "liar": Liar(), "clarabel": Clarabel()},
        quick=True, repeats=1, time_limit=2.0,
    )  # fmt: skip
    problem = done.problems[0]
    assert problem.solved("clarabel")
    assert "'broken' failed in round 2" in problem.runs["broken"][0].reason
    assert "not certified" in problem.runs["liar"][0].reason
    assert problem.cost("liar") == 2.0
    assert problem.replay.warm["clarabel"].reason == ""
    assert "short of its bound" in problem.replay.cold["liar"].reason
    assert [row[1] for row in tables(done)[0].rows] == ["clarabel", "broken", "liar"]


def test_disagreement_is_seen(done):
    problem = done.problems[0]
    run = problem.runs["ascent"][0]
    c = run.result.certificate
    off = certified(run, certificate=replace(c, primal=2 * c.primal, dual=2 * c.dual))
    bad = replace(problem, runs={"ascent": [run], "other": [off]})
    assert not bad.agree
    wrong = replace(done, problems=[bad])
    assert not wrong.agree
    assert "DISAGREE" in tables(wrong)[1].markdown()


def test_a_hand_over_is_told(done):
    run = certified(done.problems[0].runs["ascent"][0], backend="ascent", finisher="clarabel")
    shared = replace(done, problems=[replace(done.problems[0], runs={"ascent": [run]})])
    text = tables(shared)[1].markdown()
    assert "Finished by another backend: M3N, chain CRF: ascent, then clarabel." in text
    assert "Finished by another" not in tables(done)[1].markdown()


def test_an_error_is_an_outcome(done, monkeypatch):
    def fail(self):
        raise so.errors.BackendError("no luck")

    monkeypatch.setattr(module.CuttingPlane, "solve", fail)
    broken = compare_backends(["M3N"], CRF, ["clarabel"], quick=True, repeats=1, sequences=False)
    assert broken.problems[0].runs["clarabel"][0].reason == "BackendError: no luck"
    assert broken.problems[0].results == {}
    assert "failed" in tables(broken)[1].rows[0]


def test_ctrl_c_ends_the_comparison_not_only_a_run(in_a_terminal, monkeypatch):
    steps = []

    def interrupted(self):
        steps.append(self)
        signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(module.CuttingPlane, "step", interrupted)
    with pytest.raises(KeyboardInterrupt):
        compare_backends(["M3N"], CRF, ["clarabel", "osqp"], quick=True, repeats=1, sequences=False)
    assert len(steps) == 1


def test_the_cpu_limit_ends_a_run():
    done = compare_backends(
        ["M3N"], ["digits"], ["cvxpy"], quick=True, repeats=1, time_limit=1e-3, tol=1e-6,
        sequences=False,
    )  # fmt: skip
    run = done.problems[0].runs["cvxpy"][0]
    assert "not within 0.001 CPU seconds" in run.reason
    assert done.problems[0].cost("cvxpy") == 1e-3


def test_repetitions_take_turns(monkeypatch):
    order = []

    def note(self, cell):
        order.append(cell["backend"])
        return {"run": Run(1.0, None, reason="not run")}

    monkeypatch.setattr(module.Backends, "run", note)
    compare_backends(
        ["M3N"], CRF, ["ascent", "clarabel", "osqp"], quick=True, repeats=3, sequences=False
    )
    assert order == [
        "ascent", "clarabel", "osqp", "clarabel", "osqp", "ascent", "osqp", "ascent", "clarabel",
    ]  # fmt: skip


# ---------------------------------------------------------------------- cases
def test_own_formulations_data_and_backends():
    X, y = so.datasets.make_classes(30, seed=0)
    done = compare_backends(
        {"mine": so.StructSVM(C=10.0)}, {"classes": (so.Multiclass(), X, y)},
        {"tight": Clarabel()}, repeats=1, sequences=False,
    )  # fmt: skip
    assert list(done.costs) == [("mine", "classes", "tight")]
    assert done.problems[0].size == "30 examples, 30 parts"


def test_the_table_of_cases(monkeypatch):
    assert set(DEFAULT) <= set(FORMULATIONS)
    assert len(DEFAULT) == 3
    monkeypatch.setitem(FORMULATIONS, "new", lambda: so.M3N(C=1.0))
    done = compare_backends(["new"], CRF, ["ascent"], quick=True, repeats=1, sequences=False)
    assert done.problems[0].formulation == "new"


def test_missing_letters_are_left_out_unless_asked_for(monkeypatch, tmp_path):
    monkeypatch.setenv("STRUCTOPT_DATA", str(tmp_path))
    found, left_out = module._data(None, True)
    assert list(found) == ["digits", "digit words", "chain CRF"]
    assert left_out == ["letters, which STRUCTOPT_DATA does not have"]
    with pytest.raises(MissingDataError):
        module._data(["letters"], True)
    assert list(DATA)[-1] == "letters"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((["nothing"],), "Unknown formulation 'nothing'"),
        ((None, ["nothing"]), "Unknown data set 'nothing'"),
        ((None, None, ["nothing"]), "Unknown backend 'nothing'"),
    ],
)
def test_unknown_names_are_refused_before_any_work(arguments, words):
    with pytest.raises(InvalidInputError, match=words):
        compare_backends(*arguments)


@pytest.mark.parametrize("options", [{"repeats": 0}, {"time_limit": 0.0}, {"time_limit": math.nan}])
def test_bad_numbers(options):
    with pytest.raises(InvalidInputError, match="repeats must be >= 1 and time_limit > 0"):
        compare_backends(["M3N"], CRF, **options)


# ---------------------------------------------------------------------- statistics
def test_shifted_mean_by_hand():
    # (1 + 1)(7 + 1) = 16, whose root is 4
    assert shifted_mean([1.0, 7.0], 1.0) == pytest.approx(3.0)


def test_ranking_and_profile_by_hand():
    costs = {
        ("f", "a", "x"): 1.0, ("f", "b", "x"): 4.0, ("f", "a", "y"): 2.0, ("f", "b", "y"): 2.0,
        ("g", "a", "x"): 9.0,
    }  # fmt: skip
    assert profile(costs, []) == {"x": [1.0, 1.0, 2.0], "y": [1.0, 2.0]}
    # where the only one that takes a problem fails, nobody is best
    assert profile(costs, [("g", "a", "x")])["x"] == [1.0, 2.0, math.inf]
    ranked = ranking(costs)
    # x: sqrt((1 + 0.1)(4 + 0.1)) - 0.1 = 2.024, just behind y's 2
    assert ranked["f"] == [("y", pytest.approx(2.0)), ("x", pytest.approx(2.0236, abs=1e-4))]
    assert ranked["g"] == [("x", pytest.approx(9.0))]


def test_order_changes_counts_pairs_that_both_ranked():
    before = {("f", "a", b): t for b, t in {"x": 1.0, "y": 2.0, "z": 3.0}.items()}
    assert order_changes(before, before) == (3, [])
    after = {("f", "a", b): t for b, t in {"x": 1.0, "y": 4.0, "z": 3.0, "new": 0.1}.items()}
    pairs, changed = order_changes(before, after)
    assert pairs == 3
    assert len(changed) == 1
    assert changed[0].startswith("f: y before z")


# ---------------------------------------------------------------------- sequences
def test_masters_are_the_same_warm_and_cold(done):
    for problem in done.problems:
        r = problem.replay
        assert 1 <= len(r.cuts) <= 4
        assert all(cuts > 0 for cuts in r.cuts)
        assert set(r.warm) | set(r.left_out) == set(problem.runs)
        for backend in r.warm:
            for timing in (r.warm[backend], r.cold[backend]):
                assert timing.reason == ""
                assert len(timing.seconds) == len(r.cuts)
        bounds = np.array([t.bounds for t in [*r.warm.values(), *r.cold.values()]])
        np.testing.assert_allclose(bounds, np.broadcast_to(bounds.max(axis=0), bounds.shape), 1e-3)
        assert np.all(np.diff(bounds.max(axis=0)) >= -1e-3 * bounds.max())  # cuts only raise it
    assert "proximal" in done.problems[1].replay.left_out


# ---------------------------------------------------------------------- files
def test_csv_has_every_run_and_reads_back(done, folder):
    rows = list(csv.DictReader(io.StringIO((folder / "compare.csv").read_text("utf-8"))))
    runs = [run for p in done.problems for backend in p.runs.values() for run in backend]
    solved = [row for row in rows if row["outcome"] == "solved"]
    assert len(solved) == len(runs)
    for row, run in zip(solved, runs, strict=True):
        assert float(row["cpu_seconds"]) == float(row["cost"]) == run.cpu
        assert float(row["objective"]) == run.result.certificate.primal
        assert int(row["rounds"]) == len(run.result.history)
        parts = [float(row[f"{what}_seconds"]) for what in ("oracle", "lift", "solve", "other")]
        assert sum(parts) == pytest.approx(run.cpu)
        assert row["solver"] == run.result.backend
    refused = [row for row in rows if row["outcome"] == "refused"]
    assert len(refused) == sum(len(p.refusals) for p in done.problems)
    assert all(row["reason"] and not row["cost"] for row in refused)
    assert read_costs(folder / "compare.csv") == done.costs


def test_a_foreign_csv_is_refused(tmp_path):
    (tmp_path / "compare.csv").write_text("a,b\n1,2\n")
    with pytest.raises(FileFormatError, match="not a file of `structopt compare`"):
        read_costs(tmp_path / "compare.csv")


def test_markdown_says_what_where_and_how(done, folder):
    text = (folder / "compare.md").read_text(encoding="utf-8")
    assert "`structopt compare <b>`" in text
    assert str(done.machine) in text
    for words in ("Ranking", "Sequences of masters", REFUSED, "No failures.", *LIMITATIONS):
        assert words in text
    sequences = list(csv.reader(io.StringIO((folder / "compare-sequences.csv").read_text("utf-8"))))
    assert sequences[0][-1] == "cold / warm"
    assert len(sequences) == 1 + sum(len(p.replay.warm) for p in done.problems)


def test_the_page_shows_ranking_profile_and_every_problem(done, folder):
    page = (folder / "compare.html").read_text(encoding="utf-8")
    assert "structopt compare &lt;b&gt;" in page
    assert "Performance profile" in page
    assert page.count("<script>") == 1
    assert page.count('class="scrubber"') == len(done.problems)
    ids = [piece.split('"')[0] for piece in page.split(' id="')[1:]]
    assert len(ids) == len(set(ids))
    for limit in LIMITATIONS:
        assert limit.split("'")[0] in page
    for problem in done.problems:
        for result in problem.results.values():
            assert f'value="{result.certificate.primal!r}"' in page


def test_a_comparison_without_results_is_written_too(tmp_path):
    lost = Problem("f", "d", "1 example", 5.0, {"x": [Run(5.0, None, reason="no luck")]})
    refused = Problem("g", "d", "1 example", 5.0, {}, {"x": "Not mine."})
    Comparison([lost, refused], 1e-2, 5.0, 1, Machine.here()).write(tmp_path)
    page = (tmp_path / "compare.html").read_text(encoding="utf-8")
    assert "No run ended with a result" in page
    assert "0 of 1 run certified" in page
    assert "nan" not in page.split("<style>")[1].split("</style>")[1]


# ---------------------------------------------------------------------- the command
def test_command(tmp_path, monkeypatch, folder):
    printed, out = io.StringIO(), tmp_path / "out"
    command = ["compare", "--quick", "--formulation", "M3N", "--data", "chain CRF", "--backend",
               "ascent", "--backend", "clarabel", "--repeats", "1", "--against", str(folder),
               "--out", str(out)]  # fmt: skip
    with redirect_stdout(printed):
        assert cli.main(command) == 0
    assert "of 1 pairs of backends the same way" in " ".join(printed.getvalue().split())
    assert {p.name for p in out.iterdir()} == {
        "compare.csv", "compare-sequences.csv", "compare.md", "compare.html",
    }  # fmt: skip
    assert "structopt compare --quick --formulation M3N" in (out / "compare.md").read_text()


def test_command_refuses_a_missing_earlier_run(tmp_path, capsys):
    assert cli.main(["compare", "--against", str(tmp_path / "none")]) == 2
    assert "FileNotFoundError" in capsys.readouterr().err
