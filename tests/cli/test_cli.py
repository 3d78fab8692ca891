"""The command line: what it prints, what it writes, and its exit codes."""

import io
import signal
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import replace

import pytest

import structopt
from structopt.cli import commands as cli
from structopt.lab import demo
from structopt.methods.cutting_plane import CuttingPlane
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


@pytest.mark.parametrize("words", cli.COMMANDS)
def test_every_command_says_its_arguments(words, capsys):
    with pytest.raises(SystemExit) as stop:
        cli.main([*words.split(), "--help"])
    assert stop.value.code == 0
    printed = capsys.readouterr().out
    assert f"usage: structopt {words}" in printed
    assert cli.COMMANDS[words][0].startswith("cli.") or "--out DIR" in printed


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
    monkeypatch.setattr(demo, "run_cases", lambda *a, **k: [])
    assert cli.main(["demo", "--out", str(tmp_path / "file")]) == 2
    assert "FileExistsError" in one_line(capsys)


def test_interrupt(in_a_terminal, monkeypatch, capsys, tmp_path):
    """Ctrl-C in the middle of a run, which itself ends with its best model, ends the demo."""
    monkeypatch.setattr(CuttingPlane, "step", lambda self: signal.raise_signal(signal.SIGINT))
    assert cli.main(["demo", "--quick", "--out", str(tmp_path)]) == 130
    assert capsys.readouterr().err.endswith("structopt: interrupted\n")
    assert list(tmp_path.iterdir()) == []


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """``structopt demo --quick`` as a user runs it: exit code, what it printed, its data."""
    out, kept = tmp_path_factory.mktemp("demo") / "new" / "folder", []
    runs, printed, told = demo.run_cases, io.StringIO(), io.StringIO()

    def keep(*args, **kwargs):
        kept.append(runs(*args, **kwargs))
        return kept[-1]

    with (
        pytest.MonkeyPatch.context() as patch,
        redirect_stdout(printed),
        redirect_stderr(told),
    ):
        patch.setattr(demo, "run_cases", keep)
        code = cli.main(["demo", "--quick", "--out", str(out)])
    return code, printed.getvalue(), told.getvalue(), out, kept[0]


@pytest.fixture(scope="module")
def quick(ran):
    return ran[-1]


def test_demo(ran):
    code, printed, _, out, problems = ran
    assert code == 0
    for problem in problems:
        assert len(problem.runs) >= 2
        words = f"{problem.formulation}: all runs are certified, and the backends agree"
        assert words in " ".join(printed.split())
        for result in problem.results.values():
            assert f"{result.certificate.primal:.6g}" in printed
    stems = ("report", "m3n", "elastic-net", "lp-struct")
    assert {path.name for path in out.iterdir()} == {f"{stem}.html" for stem in stems}
    assert "certified" in (out / "m3n.html").read_text(encoding="utf-8")
    report = (out / "report.html").read_text(encoding="utf-8")
    assert "No weights can be better than these" in report
    assert report.count("<img") > 20  # digits
    assert "digits are read correctly" in " ".join(printed.split())


def test_demo_backends_agree(quick):
    for problem in quick:
        assert demo.certified(problem)
        low, high = problem.bounds
        found = [result.certificate for result in problem.results.values()]
        assert low <= high
        for c in found:
            assert c.primal - high <= max(other.gap for other in found)
            assert c.relative_gap <= demo.TOL
        assert min(run.right for run in problem.runs.values()) > 10.0  # guessing


def test_disagreement_fails(quick, monkeypatch, capsys, tmp_path):
    first = quick[0]
    backend, run = next(iter(first.runs.items()))
    c = run.result.certificate
    shifted = replace(c, primal=2 * c.primal, dual=2 * c.dual)
    wrong = replace(run, result=replace(run.result, certificate=shifted))
    bad = replace(first, runs=first.runs | {backend: wrong})
    assert demo.certified(bad)
    assert not bad.agree
    monkeypatch.setattr(demo, "run_cases", lambda *a, **k: [bad])
    assert cli.main(["demo", "--out", str(tmp_path)]) == 1
    assert "THE BACKENDS DISAGREE" in capsys.readouterr().out


def test_demo_tells_of_every_run(ran):
    told = ran[2]
    for run in ("LP-Struct on digits: highs", "LP-Struct on digits: cvxpy", "M3N on words: ascent"):
        assert run in told
    assert "6 of 6 cells" in told


def test_a_process_that_ignores_interrupts_goes_on_to_do_so():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with ending_at_once():
            signal.raise_signal(signal.SIGINT)
        assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
    finally:
        signal.signal(signal.SIGINT, before)
