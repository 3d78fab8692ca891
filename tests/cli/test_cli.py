"""The command line: what it prints, what it writes, and its exit codes."""

import io
import signal
import subprocess
import sys
from contextlib import contextmanager, redirect_stdout
from dataclasses import replace

import pytest

import structopt
from structopt.cli import commands as cli
from structopt.lab import demo
from structopt.run.interrupts import ending_at_once


def test_version(capsys):
    with pytest.raises(SystemExit) as stop:
        cli.main(["--version"])
    assert stop.value.code == 0
    assert capsys.readouterr().out == f"structopt {structopt.__version__}\n"


def test_the_module_is_the_command():
    done = subprocess.run(
        [sys.executable, "-m", "structopt", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"structopt {structopt.__version__}\n"


def test_help_imports_nothing_heavy():
    code = (
        "import sys; from structopt import cli\n"
        "try: cli.main(['--help'])\n"
        "except SystemExit: pass\n"
        "print([m for m in ('numpy', 'cvxpy', 'numba', 'rich') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("[]\n")


@pytest.mark.parametrize(
    "arguments",
    [[], ["bench"], ["bench", "letters", "--folds", "3"], ["bench", "masters", "--repeats", "x"]],
)
def test_bad_usage(arguments, capsys):
    with pytest.raises(SystemExit) as stop:
        cli.main(arguments)
    assert stop.value.code == 2
    assert "usage: structopt" in capsys.readouterr().err


def one_line(capsys):
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "Traceback" not in error
    return error


def test_missing_letters_are_one_line(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("STRUCTOPT_DATA", str(tmp_path))
    assert cli.main(["bench", "letters"]) == 2
    assert str(tmp_path / "ocr_letters") in one_line(capsys)


def test_bad_numbers_are_one_line(capsys):
    assert cli.main(["bench", "masters", "--repeats", "0"]) == 2
    assert "repeats must be at least 1; got 0" in one_line(capsys)


def test_a_folder_that_cannot_be_is_one_line(tmp_path, monkeypatch, capsys):
    (tmp_path / "file").write_text("")
    monkeypatch.setattr(demo, "_plans", lambda quick: [])
    assert cli.main(["demo", "--out", str(tmp_path / "file")]) == 2
    assert "FileExistsError" in one_line(capsys)


def test_interrupt(in_a_terminal, monkeypatch, capsys, tmp_path):
    """Ctrl-C in the middle of a run, which itself ends with its best model, ends the demo."""

    def interrupted(record):
        signal.raise_signal(signal.SIGINT)

    @contextmanager
    def watch(label, tol):
        yield interrupted

    monkeypatch.setattr(cli, "plain_progress", watch)
    assert cli.main(["demo", "--quick", "--out", str(tmp_path)]) == 130
    assert one_line(capsys) == "structopt: interrupted\n"


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """``structopt demo --quick`` as a user runs it: exit code, what it printed, its data."""
    out, kept = tmp_path_factory.mktemp("demo") / "new" / "folder", []
    run_demo, printed = demo.run_demo, io.StringIO()

    def keep(*args, **kwargs):
        kept.append(run_demo(*args, **kwargs))
        return kept[-1]

    with pytest.MonkeyPatch.context() as patch, redirect_stdout(printed):
        patch.setattr(demo, "run_demo", keep)
        code = cli.main(["demo", "--quick", "--out", str(out)])
    return code, printed.getvalue(), out, kept[0]


@pytest.fixture(scope="module")
def quick(ran):
    return ran[-1]


def test_demo(ran):
    code, printed, out, done = ran
    assert code == 0
    for problem in done.problems:
        assert len(problem.runs) >= 2
        assert f"{problem.name}: all runs are certified, and the backends agree" in printed
        for run in problem.runs:
            assert f"{run.result.certificate.primal:.5g}" in printed
    stems = ("m3n", "elastic-net", "lp-struct")
    assert {path.name for path in done.files} == {path.name for path in out.iterdir()}
    assert {path.name for path in done.files} == {
        f"{s}{e}" for s in stems for e in (".html", ".png")
    }
    assert "certified" in (out / "m3n.html").read_text(encoding="utf-8")


def test_demo_backends_agree(quick):
    for problem in quick.problems:
        assert problem.certified
        low, high = problem.bounds
        gaps = [run.result.certificate.gap for run in problem.runs]
        assert low <= high
        for run in problem.runs:
            c = run.result.certificate
            assert c.primal - high <= max(gaps)
            assert c.relative_gap <= demo.TOL
        assert min(run.accuracy for run in problem.runs) > 0.1  # guessing


def test_disagreement_fails(quick, monkeypatch, capsys, tmp_path):
    first = quick.problems[0]
    run = first.runs[0]
    c = run.result.certificate
    shifted = replace(c, primal=2 * c.primal, dual=2 * c.dual)
    wrong = replace(run, result=replace(run.result, certificate=shifted))
    bad = replace(first, runs=(wrong, *first.runs[1:]))
    assert bad.certified
    assert not bad.agree
    monkeypatch.setattr(demo, "run_demo", lambda *a, **k: demo.Demo((bad,), 1.0))
    assert cli.main(["demo", "--out", str(tmp_path)]) == 1
    assert "THE BACKENDS DISAGREE" in capsys.readouterr().out


def test_demo_watches_every_run_and_writes_nothing_unasked(monkeypatch, tmp_path):
    watched = []

    @contextmanager
    def watch(label, tol):
        rounds = []
        yield rounds.append
        watched.append((label, len(rounds)))

    monkeypatch.chdir(tmp_path)
    plans = [plan for plan in demo._plans(True) if plan.name == "LP-Struct"]
    monkeypatch.setattr(demo, "_plans", lambda quick: plans)
    done = demo.run_demo(quick=True, watch=watch)
    assert [label for label, _ in watched] == [
        "LP-Struct: compiling", "LP-Struct by highs", "LP-Struct by cvxpy",
    ]  # fmt: skip
    assert all(rounds > 0 for _, rounds in watched)
    assert done.files == ()
    assert list(tmp_path.iterdir()) == []


def test_without_matplotlib_the_extra_is_named(quick, tmp_path, monkeypatch):
    from structopt import report
    from structopt.errors import MissingDependencyError

    def missing(*args, **kwargs):
        raise MissingDependencyError("pip install structopt-margin[plot]")

    monkeypatch.setattr(report, "plot_bounds", missing)
    done = demo.write_demo(quick, tmp_path)
    assert done.notes == ("pip install structopt-margin[plot]",)
    assert {path.suffix for path in done.files} == {".html"}


def test_a_process_that_ignores_interrupts_goes_on_to_do_so():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with ending_at_once():
            signal.raise_signal(signal.SIGINT)
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
