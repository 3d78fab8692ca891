"""The comparison of solvers: its problems, its check, its rows, its files."""

import csv
import io
import json
import math
import os
import signal
import sys
import threading
import time
from contextlib import redirect_stdout

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

import structopt as so
from structopt.cli import commands as cli
from structopt.errors import (
    FileFormatError,
    InvalidInputError,
    MissingDataError,
    OutOfTimeError,
)
from structopt.lab.compare import stats
from structopt.lab.compare.answers import read as read_answer
from structopt.lab.compare.cases import DATA, MASTERS
from structopt.lab.compare.check import judged
from structopt.lab.compare.compare import compare, reference
from structopt.lab.compare.comparison import Comparison
from structopt.lab.compare.files import SCHEMA
from structopt.lab.compare.problems import Single
from structopt.lab.compare.programmes import digest, of_cvxpy, programme, read
from structopt.lab.compare.sets import gathered, recorded, training
from structopt.lab.compare.solvers import Answer, named
from structopt.lab.compare.tables import LIMITATIONS, ranking_table, remarks, tables
from structopt.lab.harness.isolated import Ended, isolated
from structopt.lab.harness.process import alone
from structopt.lab.harness.store import FILE
from structopt.master.program import Program


def small(name="small", seed=0, quadratic=False):
    rng = np.random.default_rng(seed)
    A, inside = rng.standard_normal((6, 4)), rng.random(4)
    P = sp.eye_array(4) * float(quadratic)
    sides = (A @ inside - rng.random(6), np.full(6, np.inf), np.zeros(4), np.full(4, 3.0))
    return Single(name, "own", programme(P, rng.standard_normal(4), A, *sides))


class Own:
    """A solver of one's own."""

    def solve(self, program, tolerance, time_limit):
        found = named(["highs"])["highs"].solve(program, tolerance, time_limit)
        return found.x, found.y


class Liar(Own):
    def solve(self, program, tolerance, time_limit):
        x, y = super().solve(program, tolerance, time_limit)
        return x + 0.5, y


class Sleeper:
    def solve(self, program, tolerance, time_limit):
        time.sleep(1e6)


class Crasher:
    def solve(self, program, tolerance, time_limit):
        os.kill(os.getpid(), signal.SIGSEGV)


class Glutton:
    def solve(self, program, tolerance, time_limit):
        return np.ones(2**34), np.ones(2**34)


class Thrower:
    def solve(self, program, tolerance, time_limit):
        raise ZeroDivisionError("no luck")


class Settled(Own):
    name = "settled"

    def settings(self, tolerance):
        return {"eps": tolerance / 2}

    def refusal(self, program):
        return "" if program.is_linear else "Only lines."


# ---------------------------------------------------------------------- processes
def test_a_job_ends_by_itself_or_is_ended():
    assert isolated(lambda: 6 * 7, seconds=20.0).value == 42
    # what a solver prints does not come among the tables
    assert isolated(lambda: os.path.sameopenfile(1, 2), seconds=20.0).value
    # and whoever waits for it may be killed: it does not outlive its time
    left = isolated(lambda: signal.getitimer(signal.ITIMER_REAL)[0], seconds=20.0).value
    assert 100.0 < left < 150.0
    assert isolated(lambda: 1 / 0, seconds=20.0).how == "error"
    assert isolated(lambda: os._exit(3), seconds=20.0).message == "its process ended with code 3"
    eaten = isolated(lambda: np.ones(2**32).sum(), seconds=20.0, memory=1.0)
    assert eaten.how == "out of memory"
    crashed = isolated(lambda: os.kill(os.getpid(), signal.SIGSEGV), seconds=20.0)
    assert (crashed.how, crashed.message) == ("crashed", "its process ended with SIGSEGV")


def test_a_process_of_a_job_that_is_out_of_cpu_time_is_not_a_failure(tmp_path, monkeypatch):
    kill = "import os, signal\nos.kill(os.getpid(), signal.SIGXCPU)\n"
    (tmp_path / "endless.py").write_text(kill, encoding="utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    with pytest.raises(OutOfTimeError, match="endless was out of CPU time"):
        alone("endless")

    def late():
        raise OutOfTimeError("enough")

    assert isolated(late, seconds=20.0) == Ended("out of time", message="enough")


# ---------------------------------------------------------------------- the check
def test_every_status_is_a_row():
    who = {"own": Own(), "liar": Liar(), "crasher": Crasher(), "glutton": Glutton(),
           "thrower": Thrower(), "settled": Settled()}  # fmt: skip
    done = compare([small(), small("square", quadratic=True)], who, tolerances=[1e-6],
                   time_limit=5.0, memory_limit=1.0)  # fmt: skip
    found = {(row["problem"], row["solver"]): row for row in done.rows}
    assert {s: found["small", s]["status"] for s in who} == {
        "own": "solved", "liar": "wrong", "crasher": "crashed", "glutton": "out of memory",
        "thrower": "failed", "settled": "solved",
    }  # fmt: skip
    assert found["small", "thrower"]["message"] == "ZeroDivisionError: no luck"
    assert found["small", "settled"]["settings"] == {"eps": 5e-7}
    assert found["square", "settled"]["status"] == "refused"
    assert found["square", "settled"]["message"] == "Only lines."
    assert stats.claims(done.rows)["liar", 1e-6] == (2, 0)
    assert done.agree
    assert "0 of 2" in str(tables(done))


def test_a_solver_that_hangs_is_out_of_time(monkeypatch):
    monkeypatch.setattr("structopt.lab.harness.isolated.PATIENCE", 0.2)
    done = compare([small()], {"sleeper": Sleeper()}, tolerances=[1e-3], time_limit=0.5)
    assert done.rows[0]["status"] == "out of time"
    costs = stats.slices(done.rows)["own", 1e-3]
    assert costs["sleeper"]["small"] == stats.Cost(0.5, False, math.inf)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), quadratic=st.booleans())
def test_the_check_accepts_optima_and_nothing_else(seed, quadratic):
    program = small(seed=seed, quadratic=quadratic).program
    right = named(["clarabel"])["clarabel"].solve(program, 1e-9, 10.0)
    assert judged(program, right, 1e-6).status == "solved"
    rng = np.random.default_rng(seed)
    off = Answer(right.x + 0.1 * rng.standard_normal(4), right.y)
    x = cp.Variable(4)
    cost = program.q @ x + 0.5 * cp.quad_form(x, program.P.toarray())
    rows = [program.A @ x >= program.lower, x >= program.lb, x <= program.ub]
    best = cp.Problem(cp.Minimize(cost), rows).solve(solver=cp.CLARABEL)
    verdict = judged(program, right, 1e-6)
    assert verdict.bound <= best + 1e-6 * (1 + abs(best))
    assert verdict.objective == pytest.approx(best, abs=1e-5)
    wrong = judged(program, off, 1e-6)
    clipped = np.clip(off.x, program.lb, program.ub)
    if wrong.status == "solved":  # only if the step led nowhere
        assert program.objective(clipped) == pytest.approx(best, abs=1e-5)


def test_pdlp_says_infeasible_in_its_own_word(monkeypatch):
    sides = [1.0, -np.inf], [np.inf, 0.0]
    p = programme([[0.0]], [1.0], [[1.0], [1.0]], *sides, [-np.inf], [np.inf])

    def called(module, source, target, *_):
        np.savez(target, x=np.zeros(1), y=[1.0, -1.0])
        return {"claim": "infeasible", "seconds": 0.0, "iterations": 1, "products": 2}

    monkeypatch.setattr("structopt.lab.bench.lp_solvers.alone", called)
    said = named(["ortools-pdlp"])["ortools-pdlp"].solve(p, 1e-6, 1.0)
    assert said.claim == "infeasible"
    assert judged(p, said, 1e-6).status == "infeasible"


def test_infeasible_is_proved_by_a_ray():
    p = programme([[0.0]], [1.0], [[1.0]], [2.0], [np.inf], [0.0], [1.0])
    claim = Answer(np.zeros(1), np.ones(1), "infeasible")
    assert judged(p, claim, 1e-6).status == "infeasible"
    assert judged(p, Answer(np.zeros(1), -np.ones(1), "infeasible"), 1e-6).status == "unproved"
    line = programme([[0.0]], [-1.0], np.zeros((0, 1)), [], [], [0.0], [np.inf])
    assert judged(line, Answer(np.ones(1), np.zeros(0), "unbounded"), 1e-6).status == "unbounded"


@pytest.mark.parametrize("name", ["extragradient", "highs"])
def test_what_has_no_solution_is_proved(name):
    solver = named([name])[name]
    apart = programme([[0.0]], [1.0], [[1.0]], [2.0], [np.inf], [0.0], [1.0])
    assert judged(apart, solver.solve(apart, 1e-6, 20.0), 1e-6).status == "infeasible"
    none = programme([[0.0]], [0.0], [[0.0]], [1.0], [2.0], [0.0], [0.0])
    assert judged(none, solver.solve(none, 1e-6, 20.0), 1e-6).status == "infeasible"
    falls = programme([[0.0]], [-1.0], [[1.0]], [0.0], [np.inf], [0.0], [np.inf])
    assert judged(falls, solver.solve(falls, 1e-6, 20.0), 1e-6).status == "unbounded"


def test_without_a_folder_what_has_no_answer_is_a_row_too():
    apart = programme([[0.0]], [1.0], [[1.0]], [2.0], [np.inf], [0.0], [1.0])
    nothing = type("Nothing", (), {"solve": lambda self, p, t, s: (np.full(1, np.nan), [0.0])})()
    done = compare([lambda: [("apart", apart)]], {"highs": "highs", "nothing": nothing},
                   tolerances=[1e-3], time_limit=20.0)  # fmt: skip
    assert [r["status"] for r in done.rows] == ["infeasible", "wrong"]
    assert not done.left_out


def test_extragradient_promises_programmes_what_is_checked():
    solver = named(["extragradient"])["extragradient"]
    for seed in range(5):
        program = small(seed=seed, quadratic=bool(seed % 2)).program
        assert judged(program, solver.solve(program, 1e-9, 20.0), 1e-9).status == "solved"
    assert solver.solve(program, 1e-300, 0.0).claim == "not converged"


@pytest.mark.parametrize("name", ["highs", "clarabel", "osqp", "extragradient", "highs-ipm",
                                  "highs-pdlp", "CLARABEL", "OSQP", "SCS", "HIGHS"])  # fmt: skip
def test_solvers_agree(name):
    rng = np.random.default_rng(1)
    A = rng.standard_normal((8, 5))
    at = A @ rng.random(5)
    lower = np.concatenate([at[:3], at[3:] - 1.0])  # three equations
    upper = np.concatenate([at[:3], [np.inf, np.inf], at[5:] + 1.0])
    program = programme(np.zeros((5, 5)), rng.random(5), A, lower, upper, np.zeros(5), np.ones(5))
    solver = named([name])[name]
    found = judged(program, solver.solve(program, 1e-6, 20.0), 1e-4)
    assert found.status == "solved", found
    assert solver.settings(1e-6) != solver.settings(1e-3) or name == "extragradient"


# ---------------------------------------------------------------------- problems
MPS = """NAME T
ROWS
 N  COST
 G  R1
 E  R2
COLUMNS
    X  COST 1.0  R1 1.0
    X  R2 1.0
    Y  COST 2.0  R1 1.0
RHS
    RHS  R1 1.0  R2 0.25
BOUNDS
 UP BND  X  4.0
{quadratic}ENDATA
"""


def test_a_file_that_highs_reads_for_ever_is_refused(tmp_path):
    """Fixed format, for the name with a space, and no ENDATA."""
    whole = MPS.format(quadratic="").replace("R1", "R 1")
    (tmp_path / "cut.mps").write_text(whole.replace("ENDATA", ""))
    with pytest.raises(FileFormatError, match="does not come to its end"):
        read(tmp_path / "cut.mps")


def test_files_are_read(tmp_path):
    (tmp_path / "linear.mps").write_text(MPS.format(quadratic=""))
    (tmp_path / "linear.ja.mps").write_text(MPS.format(quadratic=""))
    (tmp_path / "square.qps").write_text(MPS.format(quadratic="QUADOBJ\n    Y Y 2.0\n"))
    text = "Minimize\n obj: x + 2 y\nSubject To\n c1: x + y >= 1\n c2: x = 0.25\nEnd\n"
    (tmp_path / "text.lp").write_text(text)
    np.savez(tmp_path / "arrays.npz", q=[1.0, 2.0], Ad=[1.0, 1.0, 1.0], Ai=[0, 1, 0],
             Ap=[0, 2, 3], lower=[1.0, 0.25], upper=[1e30, 0.25], lb=[0, 0],
             ub=[4.0, 1e20])  # fmt: skip
    (tmp_path / "notes.txt").write_text("not a programme")
    (tmp_path / "broken.mps").write_text("nonsense")
    found = gathered([str(tmp_path)])
    assert sorted(p.name for p in found.problems) == [
        "arrays", "linear", "linear.ja", "square", "text",
    ]  # fmt: skip
    assert len(found.left_out) == 1
    assert "broken.mps" in found.left_out[0]
    done = compare([str(tmp_path)], ["clarabel"], tolerances=[1e-6])
    values = {row["problem"]: row["objective"] for row in done.rows}
    for name, value in {"linear": 1.75, "arrays": 1.75, "text": 1.75, "square": 2.3125}.items():
        assert values[name] == pytest.approx(value, abs=1e-5)
    assert done.left_out == found.left_out
    arrays, linear = read(tmp_path / "arrays.npz"), read(tmp_path / "linear.mps")
    assert digest(arrays) == digest(linear)
    assert np.isposinf(arrays.ub[1])


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"Pd": [-1.0], "Pi": [0], "Pp": [0, 1, 1]}, "not convex: P has the eigenvalue -1"),
        ({"Pd": [1.0], "Pi": [1], "Pp": [0, 1, 1]}, "not symmetric"),
        ({"q": [np.nan, 1.0]}, "not a number"),
        ({"q": [1j, 1.0]}, "complex numbers"),
        ({"ub": [1.0]}, "Sizes do not fit"),
        ({"Ai": [7]}, "is no programme"),
    ],
)
def test_bad_programmes_are_refused(tmp_path, changed, words):
    good = {"q": [1.0, 1.0], "Ad": [1.0], "Ai": [0], "Ap": [0, 1], "lower": [0.0], "upper": [1.0],
            "lb": [0.0, 0.0], "ub": [1.0, 1.0]}  # fmt: skip
    np.savez(tmp_path / "p.npz", **(good | changed))
    with pytest.raises(FileFormatError, match=words):
        read(tmp_path / "p.npz")


def test_functions_yield_cvxpy_problems(tmp_path):
    (tmp_path / "mine.py").write_text(
        "import cvxpy as cp\n"
        "def some():\n"
        "    x = cp.Variable(3)\n"
        "    yield cp.Problem(cp.Maximize(-cp.norm1(x - 2)), [x <= 1])\n"
        "    yield 'cone', cp.Problem(cp.Minimize(cp.norm2(x)), [x >= 1])\n"
        "class Mine:\n"
        "    def solve(self, program, tolerance, time_limit):\n"
        "        import structopt.lab.compare.solvers as s\n"
        "        return s.named(['highs'])['highs'].solve(program, tolerance, time_limit)\n"
    )
    where = f"{tmp_path / 'mine.py'}:some"
    found = gathered([where])
    assert [p.name for p in found.problems] == ["some 1"]
    assert "cone: The problem has cones" in found.left_out[0]
    done = compare([where], [f"mine={tmp_path / 'mine.py'}:Mine"], tolerances=[1e-6])
    assert [(row["solver"], row["status"]) for row in done.rows] == [("mine", "solved")]
    assert done.rows[0]["objective"] == pytest.approx(3.0)
    with pytest.raises(InvalidInputError, match="cannot be loaded"):
        gathered([f"{tmp_path / 'mine.py'}:nothing"])
    with pytest.raises(InvalidInputError, match="integers"):
        of_cvxpy(cp.Problem(cp.Minimize(cp.Variable(integer=True))))


def test_masters_are_warm_for_a_live_backend():
    formulation, data = MASTERS["LP-Struct, digits"]
    problem = recorded("masters", formulation(), data(True), masters=3)
    programs = problem.programs()
    sizes = [len(p.lower) for p in programs]
    assert sizes == sorted(sizes)
    assert len(sizes) == 3
    done = compare([problem], ["highs", "HIGHS", "ascent"], tolerances=[1e-6])
    live, bare, other = done.rows
    assert (live["status"], bare["status"], other["status"]) == ("solved", "solved", "refused")
    assert live["objective"] == pytest.approx(bare["objective"])
    assert live["kind"] == "LP sequence"


@pytest.mark.parametrize("name", ["M3N, digit words", "StructRMM, digits"])
def test_extragradient_promises_masters_what_is_checked(name):
    formulation, data = MASTERS[name]
    problem = recorded("masters", formulation(), data(True), masters=3)
    done = compare([problem], ["extragradient"], tolerances=[1e-3, 1e-6])
    assert [row["status"] for row in done.rows] == ["solved", "solved"]


def test_training_needs_a_backend_and_no_fitted_structure():
    X, y = so.datasets.make_classes(30, seed=0)
    given = {"classes": (so.Multiclass(), X, y)}
    problems = training({"mine": so.StructSVM(C=10.0)}, given)
    done = compare(problems, ["ascent", "highs", "SCS"], tolerances=[1e-2])
    assert [row["status"] for row in done.rows] == ["solved", "refused", "refused"]
    row = done.rows[0]
    parts = [row[f"{what}_cpu"] for what in ("oracle", "lift", "solve", "other")]
    assert sum(parts) == pytest.approx(row["cpu"])
    assert "where the time went" in str(tables(done)[-1].title)


def test_what_is_not_there_is_left_out_or_refused(monkeypatch, tmp_path):
    monkeypatch.setenv("STRUCTOPT_DATA", str(tmp_path))
    found = gathered(["training"], quick=True)
    assert len(found.problems) == 3 * (len(DATA) - 1)
    assert any("letters" in reason for reason in found.left_out)
    with pytest.raises(MissingDataError, match="no public programmes"):
        gathered(["public"])
    (tmp_path / "public_programmes" / "lp").mkdir(parents=True)
    np.savez(tmp_path / "public_programmes" / "lp" / "one.npz", q=[1.0], Ad=[1.0], Ai=[0],
             Ap=[0, 1], lower=[1.0], upper=[np.inf], lb=[0.0], ub=[np.inf])  # fmt: skip
    (problem,) = gathered(["public/lp"]).problems
    assert (problem.name, problem.group) == ("one", "public/lp")


@pytest.mark.parametrize(
    ("problems", "solvers", "words"),
    [
        (["nowhere"], None, "no set, folder or file 'nowhere'"),
        ([], None, "nothing to compare"),
        ([3], None, "no source of problems"),
        (["public/mip"], None, "no set 'public/mip'"),
        ([small()], ["nobody"], "There is no solver 'nobody'"),
        ([small()], {"x": 3}, "needs a method solve"),
    ],
)
def test_unknown_names_are_refused_before_any_work(problems, solvers, words):
    with pytest.raises(InvalidInputError, match=words):
        compare(problems, solvers)


@pytest.mark.parametrize("options", [{"repeats": 0}, {"time_limit": math.nan}, {"time_limit": 0.0},
                                     {"tolerances": [0.0]}, {"tolerances": []},
                                     {"tolerances": 1e-3}, {"tolerances": ["a"]},
                                     {"tolerances": [math.nan]}, {"memory_limit": 0.0},
                                     {"memory_limit": math.inf}])  # fmt: skip
def test_bad_numbers(options):
    with pytest.raises(InvalidInputError):
        compare([small()], ["highs"], **options)


# ---------------------------------------------------------------------- what others write
@pytest.mark.parametrize(
    ("given", "words"),
    [
        ((np.zeros(1), np.zeros(2)), r"x of shape \(1,\); there are 3 columns"),
        ((np.zeros(3), np.zeros((2, 1))), r"y of shape \(2, 1\); there are 2 rows"),
        ((np.zeros(3), 0.0), r"y of shape \(\)"),
        ((1j * np.ones(3), np.zeros(2)), "x that is no array .complex"),
        (("abc", np.zeros(2)), "x that is no array"),
        (Answer(np.zeros(3), np.zeros(2), "great"), "claim is none of"),
        (Answer(np.zeros(3), np.zeros(2), cpu=math.nan), "nan as its CPU seconds"),
        (Answer(np.zeros(3), np.zeros(2), cpu=-1.0), "-1 as its CPU seconds"),
        (Answer(np.zeros(3), np.zeros(2), cpu="fast"), "'fast' as cpu, which is none"),
        (Answer(np.zeros(3), np.zeros(2), iterations=object()), "as iterations, which is none"),
        (None, r"must return \(x, y\) or an Answer, got None"),
    ],
)
def test_answers_that_are_none_are_refused_by_name(given, words):
    with pytest.raises(InvalidInputError, match=words):
        read_answer(given, size=3, rows=2)


def test_answers_are_read_as_what_they_are_meant_to_be():
    error = ValueError("why")
    found = read_answer(Answer([0, 1], [2], iterations=None, message=error), size=2, rows=1)
    assert (found.x.tolist(), found.y.tolist()) == ([0.0, 1.0], [2.0])
    assert (found.iterations, found.message) == (0, "why")
    nothing = read_answer(Answer(None, None, "infeasible"), size=2, rows=1)
    assert np.isnan(nothing.x).all()


class Locked(Own):
    """Nothing that another process could be given."""

    def __init__(self):
        self.lock = threading.Lock()


class Unsure(Own):
    def refusal(self, program):
        raise ZeroDivisionError("no word")


def test_what_fails_around_a_solver_is_a_row():
    who = {"locked": Locked(), "unsure": Unsure(), "own": Own()}
    done = compare([small()], who, tolerances=[1e-6], time_limit=20.0)
    locked, unsure, own = done.rows
    assert (locked["status"], unsure["status"], own["status"]) == ("failed", "failed", "solved")
    assert "cannot be handed to a process of its own" in locked["message"]
    assert unsure["message"] == "ZeroDivisionError: no word"


@pytest.mark.parametrize(
    ("solvers", "words"),
    [
        ("highs", "solvers is a list of solvers, not 'highs'"),
        ([], "no solver to compare"),
        ([Own(), Own()], "Two solvers have the name 'Own'"),
        ({"odd": type("Odd", (Own,), {"settings": lambda self, tol: 1 / 0})()},
         r"settings\(0.001\) of odd must return a dict .* ZeroDivisionError"),
        ({"odd": type("Odd", (Own,), {"settings": lambda self, tol: {"a": object()}})()},
         "of odd must return a dict"),
    ],
)  # fmt: skip
def test_solvers_that_make_no_sense(solvers, words):
    with pytest.raises(InvalidInputError, match=words):
        compare([small()], solvers, tolerances=[1e-3])


def test_files_that_fail_when_they_are_run(tmp_path):
    (tmp_path / "cvxpy.py").write_text(
        "import cvxpy as cp\nclass A:\n    def __init__(self, a): 0\n"
    )
    (tmp_path / "bad.py").write_text("1 / 0\n")
    with pytest.raises(InvalidInputError, match=r"cannot be loaded: ZeroDivisionError"):
        named([f"{tmp_path / 'bad.py'}:A"])
    with pytest.raises(InvalidInputError, match=r"called without arguments: TypeError"):
        named([f"{tmp_path / 'cvxpy.py'}:A"])
    assert sys.modules["cvxpy"] is cp  # a file of that name takes nobody's place


def test_a_function_that_fails_loses_no_other_problem():
    x = cp.Variable(2)
    fine = cp.Problem(cp.Minimize(cp.sum(x)), [x >= 1])
    square = cp.quad_form(x, cp.psd_wrap(np.diag([1.0, -1.0])))

    def some():
        yield "fine", fine
        yield "fine", fine
        yield "saddle", cp.Problem(cp.Minimize(square), [x >= -1, x <= 1])
        yield "nan", cp.Problem(cp.Minimize(np.array([np.nan, 1.0]) @ x), [x >= 0])
        yield "empty", cp.Problem(cp.Minimize(0))
        yield "nothing", None
        yield 3, fine
        raise ValueError("no more")

    found = gathered([some, lambda: fine])
    assert [p.name for p in found.problems] == ["fine", "fine #2", "3"]
    said = " ".join(found.left_out)
    for words in ("saddle: The objective is not convex", "nan: A cost", "empty: The problem has",
                  "nothing: None is no problem", "failed after 7 problems: ValueError: no more",
                  "failed after 0 problems: TypeError: 'Problem' object is not"):  # fmt: skip
        assert words in said
    with pytest.raises(InvalidInputError, match="a list of sources, not 'masters'"):
        gathered("masters")


def test_problems_of_one_name_are_told_apart_by_their_set():
    rows = [row("x", "a", 1.0, objective=1.0), row("y", "a", 1.0, objective=2.0)]
    apart = [r | {"set": "t", "objective": 1.0} for r in rows]
    assert Comparison([*rows, *apart]).contradictions == {"s/a": 1e-3}
    assert Comparison([rows[0], apart[1]]).agree


def test_times_below_a_tick_of_the_clock_are_ties():
    costs = {
        s: {"a": stats.Cost(cpu, True, 0.0)} for s, cpu in (("x", 0.0), ("y", 9e-4), ("z", 4e-3))
    }
    assert [r[3] for r in ranking_table(("s", 1e-3), costs).rows] == ["1.00", "1.00", "4.00"]


def test_an_l1_term_of_a_column_that_keeps_its_sign_is_a_cost():
    p = Program(
        P=sp.csr_array((1, 1)), q=np.ones(1), l1=np.ones(1), A=sp.csr_array([[1.0]]),
        lower=np.array([2.0]), upper=np.array([np.inf]), lb=np.ones(1), ub=np.full(1, np.inf),
    )  # fmt: skip
    assert judged(p, Answer(np.array([2.0]), np.array([2.0])), 1e-6).status == "solved"
    bound = judged(p, Answer(np.array([2.0]), np.array([0.5])), 1.0).bound
    assert bound == pytest.approx(2.5)  # 0.5 * 2 + (1 + 1 - 0.5) * 1


def test_a_structure_that_does_not_fit_its_data_loses_no_other_problem():
    class Odd(so.Multiclass):
        def fitted(self, X, Y):
            raise ValueError("nothing fits")

    X, y = so.datasets.make_classes(20, seed=0)
    odd = training({"mine": so.StructSVM(C=1.0)}, {"odd": (Odd(), X, y)})
    done = compare([small(), *odd], ["highs"], tolerances=[1e-3])
    assert [r["problem"] for r in done.rows] == ["small"]
    assert "mine, odd: ValueError: nothing fits" in done.left_out[0]
    with pytest.raises(InvalidInputError, match="nothing to compare: mine, odd"):
        compare(odd, ["highs"])


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no /dev/full")
def test_a_full_disk_is_named(tmp_path):
    (tmp_path / FILE).symlink_to("/dev/full")
    with pytest.raises(OSError, match=f"No space left on device: '{tmp_path / FILE}'"):
        compare([small()], ["highs"], tolerances=[1e-3], out=tmp_path)


def test_half_a_page_is_refused(tmp_path):
    page = tmp_path / "page.html"
    for text in ("", "<html>", '<script type="application/json" id="rows">[{"a": 1}</script>',
                 '<script type="application/json" id="rows">[{"a": 1}',
                 '<script type="application/json" id="rows">[3]</script>'):  # fmt: skip
        page.write_text(text)
        with pytest.raises(FileFormatError, match="no page of a comparison"):
            Comparison.read(page)


def test_what_two_folders_hold_is_told_and_machines_are_not_mixed(tmp_path):
    options = {"tolerances": [1e-3], "time_limit": 20.0}
    for name in ("one", "two"):
        compare([small()], ["highs"], out=tmp_path / name, **options)
    path = tmp_path / "two" / FILE
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    for line in lines:
        if "reference" in line["cell"]:  # a machine that is ten times as slow
            line["numbers"] |= {"cpu": 1.0, "machine": "other"}
    path.write_text("\n".join(map(json.dumps, lines)) + "\n")
    one, both = (
        Comparison.read(tmp_path / "one"),
        Comparison.read(tmp_path / "one", tmp_path / "two"),
    )
    assert len(both.references) == 2 * len(one.references)
    assert both.variation <= one.variation + 1e-9
    assert len(both.rows) == 1
    assert "1 attempts of which a later folder has another" in both.left_out
    assert len(Comparison.read(tmp_path / "one", tmp_path / "one").rows) == 1


def test_damaged_rows_are_run_again(tmp_path):
    first = compare([small()], ["highs"], tolerances=[1e-3], out=tmp_path)
    text = (tmp_path / FILE).read_text().replace('"status": "solved"', '"status": 3')
    (tmp_path / FILE).write_text(text)
    with pytest.raises(FileFormatError, match="1 rows that are damaged"):
        Comparison.read(tmp_path)
    again = compare([small()], ["highs"], tolerances=[1e-3], out=tmp_path)
    assert again.rows[0]["status"] == "solved"
    assert Comparison.read(tmp_path).rows[0]["objective"] == first.rows[0]["objective"]


# ---------------------------------------------------------------------- statistics
def row(solver, problem, cpu, status="solved", **more):
    base = {"set": "s", "tolerance": 1e-3, "limit": 9.0, "error": 1e-5, "claim": "optimal"}
    return {"solver": solver, "problem": problem, "cpu": cpu, "status": status, **base, **more}


def test_means_and_profiles_by_hand():
    rows = [row("x", "a", 1.0), row("x", "b", 4.0), row("y", "a", 2.0),
            row("y", "b", 1.0, "wrong", error=0.5), row("z", "a", 0.0, "refused")]  # fmt: skip
    costs = stats.slices(rows)["s", 1e-3]
    assert set(costs) == {"x", "y"}
    assert costs["y"]["b"].seconds == 9.0  # a failure costs the limit
    assert stats.common(costs) == {"a"}
    assert stats.profile(costs) == {"x": [1.0, 1.0], "y": [2.0, math.inf]}
    # (1 + 1)(7 + 1) = 16, whose root is 4
    assert stats.shifted_mean([1.0, 7.0], 1.0) == pytest.approx(3.0)
    # floored at the tolerance: sqrt(1e-3 * 0.5)
    assert stats.mean_error(costs["y"], 1e-3) == pytest.approx(math.sqrt(5e-4))
    assert stats.claims(rows) == {("x", 1e-3): (2, 2), ("y", 1e-3): (2, 1), ("z", 1e-3): (1, 1)}
    assert stats.by_status(rows)["y"] == {"solved": 1, "wrong": 1}


def test_a_contradiction_is_seen():
    rows = [row("x", "a", 1.0, objective=1.0), row("y", "a", 1.0, objective=2.0)]
    assert not Comparison(rows).agree
    assert "CONTRADICT" in " ".join(remarks(Comparison(rows)))
    mixed = [row("x", "a", 1.0, objective=1.0), row("y", "a", 1.0, "infeasible", objective=None)]
    assert not Comparison(mixed).agree
    loose = [row("x", "a", 1.0, objective=1.0, tolerance=tol) for tol in (1e-3, 1e-6)]
    loose.append(row("y", "a", 1.0, objective=1.1, tolerance=1e-3))
    assert Comparison(loose).contradictions == {"a": 1e-3}  # residuals of 1e-3 may hide that
    assert "a (at 0.001)" in " ".join(remarks(Comparison(loose)))


def test_an_unsteady_machine_is_told():
    assert "MORE THAN 10%" in remarks(Comparison([], [1.0, 2.0]))[0]
    assert "MORE THAN 10%" not in remarks(Comparison([], [1.0, 1.01]))[0]
    assert math.isnan(Comparison([], [1.0]).variation)
    assert reference().facts()["digest"] == reference().facts()["digest"]


# ---------------------------------------------------------------------- stopping and going on
def test_rows_are_kept_and_not_run_again(tmp_path, monkeypatch):
    options = {"tolerances": [1e-3, 1e-6], "out": tmp_path, "time_limit": 20.0}
    first = compare([small()], ["highs"], **options)
    lines = (tmp_path / FILE).read_text().splitlines()
    again = compare([small()], ["highs"], **options)
    assert again.rows == first.rows
    assert (tmp_path / FILE).read_text().splitlines() == lines
    more = compare([small()], ["highs", "SCS"], **options)
    assert len(more.rows) == 4
    assert [r for r in more.rows if r["solver"] == "highs"] == first.rows
    compare([small()], ["highs"], rerun=True, **options)
    assert len((tmp_path / FILE).read_text().splitlines()) > len(lines)
    other = compare([small(seed=5)], ["highs"], **options)  # other numbers under the same name
    assert other.rows[0]["digest"] != first.rows[0]["digest"]


def test_what_was_late_is_run_again(tmp_path):
    compare([small()], ["highs"], tolerances=[1e-3], out=tmp_path)
    lines = (tmp_path / FILE).read_text().splitlines()
    late = [line.replace('"status": "solved"', '"status": "out of time"') for line in lines]
    (tmp_path / FILE).write_text("\n".join(late) + "\n" + '{"half a li')
    assert compare([small()], ["highs"], tolerances=[1e-3], out=tmp_path).rows[0]["status"] == (
        "out of time"
    )
    done = compare([small()], ["highs"], tolerances=[1e-3], out=tmp_path, rerun_timeouts=True)
    assert done.rows[0]["status"] == "solved"


def test_ctrl_c_loses_nothing(tmp_path, in_a_terminal):
    seen = []

    def watch(step):
        seen.append(step)
        if step.done == 3 and step.label:
            main = threading.main_thread().ident
            threading.Timer(0.2, signal.pthread_kill, [main, signal.SIGINT]).start()

    three = {"own": Own(), "settled": Settled(), "sleeper": Sleeper()}
    done = compare([small()], three, tolerances=[1e-3], out=tmp_path, watch=watch)
    assert done.interrupted
    assert [r["solver"] for r in done.rows] == ["own", "settled"]
    assert "Interrupted" in remarks(done)[-1]


def test_folders_are_merged(tmp_path):
    one = compare([small()], ["highs"], tolerances=[1e-3], out=tmp_path / "one")
    two = compare([small()], ["SCS"], tolerances=[1e-3], out=tmp_path / "two")
    both = Comparison.read(tmp_path / "one", tmp_path / "two")
    assert both.rows == one.rows + two.rows
    assert len(both.references) >= 2
    with pytest.raises(FileFormatError, match="holds no comparison"):
        Comparison.read(tmp_path)
    text = (tmp_path / "one" / FILE).read_text().replace('"version": 2', '"version": 1')
    (tmp_path / "one" / FILE).write_text(text)
    with pytest.raises(FileFormatError, match="another version"):
        Comparison.read(tmp_path / "one")
    mixed = Comparison.read(tmp_path / "one", tmp_path / "two")
    assert mixed.left_out == ["1 rows of another version of this comparison"]


# ---------------------------------------------------------------------- files
def test_the_command_and_its_files(tmp_path):
    np.savez(tmp_path / "<b>.npz", q=[1.0], Ad=[1.0], Ai=[0], Ap=[0, 1], lower=[1.0],
             upper=[np.inf], lb=[0.0], ub=[np.inf])  # fmt: skip
    out, printed = tmp_path / "out", io.StringIO()
    command = ["compare", "--problems", str(tmp_path / "<b>.npz"), "--solver", "highs", "--solver",
               "SCS", "--tol", "1e-3", "--tol", "1e-6", "--out", str(out)]  # fmt: skip
    with redirect_stdout(printed):
        assert cli.main(command) == 0
    assert "Claims that were true" in printed.getvalue()
    names = {path.name for path in out.iterdir()}
    assert {"compare.csv", "compare.parquet", "compare.md", "compare.tex", "compare.html", FILE,
            } < names  # fmt: skip
    assert {n.rpartition(".")[2] for n in names if n.startswith("profile")} == {"svg", "pdf"}
    assert any(n.startswith("tolerance") for n in names)
    rows = list(csv.DictReader(io.StringIO((out / "compare.csv").read_text("utf-8"))))
    assert list(rows[0]) == [name for name, _ in SCHEMA]
    assert len(rows) == 4
    import pyarrow.parquet as pq

    table = pq.read_table(out / "compare.parquet")
    assert table.num_rows == 4
    machines = json.loads(table.schema.metadata[b"structopt"])["machines"]
    assert machines[0]["versions"]["cvxpy"]
    page = (out / "compare.html").read_text("utf-8")
    assert "&lt;b&gt;" in page
    assert "<b>" not in page
    assert page.count("<script>") == 1
    assert page.count("<svg") == 3
    for words in (*LIMITATIONS, machines[0]["machine_id"], rows[0]["digest"]):
        assert words.split("'")[0] in page
    before = {name: (out / name).read_bytes() for name in names}
    with redirect_stdout(io.StringIO()):
        assert cli.main(["compare", "--report", "--out", str(out)]) == 0
    # figures and tables come from the rows alone
    assert {name: (out / name).read_bytes() for name in names} == before
    with redirect_stdout(io.StringIO()):
        merged = ["compare", "--merge", str(out), "--out", str(tmp_path / "all")]
        assert cli.main(merged) == 0
    assert (tmp_path / "all" / "compare.csv").read_bytes() == before["compare.csv"]
    with redirect_stdout(io.StringIO()):  # the page alone is enough
        merged = ["compare", "--merge", str(out / "compare.html"), "--out", str(tmp_path / "new")]
        assert cli.main(merged) == 0
    assert {p.name: p.read_bytes() for p in (tmp_path / "new").iterdir()} == {
        name: content for name, content in before.items() if name != FILE
    }


def test_command_refuses_in_one_line(tmp_path, capsys):
    assert cli.main(["compare", "--problems", "nowhere", "--out", str(tmp_path)]) == 2
    assert "no set, folder or file 'nowhere'" in capsys.readouterr().err
    assert cli.main(["compare", "--report", "--out", str(tmp_path)]) == 2
    assert "holds no comparison" in capsys.readouterr().err
