"""One mutant: a process forked from one that has collected the tests, a function of it changed.

A changed function gets its new code in place, so nothing is imported anew. What stands outside of
functions runs at import: there the library and its tests are imported again, the changed module by
an import hook. No file is touched. Compiled loops run as plain Python (numba's switch).
"""

import ast
import builtins
import contextlib
import functools
import gc
import importlib.abc
import importlib.machinery
import importlib.util
import inspect
import os
import resource
import shlex
import signal
import sys
import time
import traceback
from pathlib import Path
from types import CodeType, FunctionType

ROOT = Path(__file__).resolve().parents[2]
PRELOADED = [
    "numpy", "scipy.sparse.linalg", "scipy.sparse.csgraph", "scipy.optimize", "scipy.stats",
    "cvxpy", "numba", "clarabel", "highspy", "osqp", "networkx", "sklearn.base", "sklearn.utils",
    "pytest", "hypothesis", "pandas", "joblib",
]  # fmt: skip
MEMORY = 8 << 30
"""Bytes of addresses that a mutant may ask for: an endless list ends here."""
TEST_SECONDS, SECONDS = 30.0, 400.0
"""Processor time that a test, and all tests of a mutant, may take: an endless loop ends here."""
OPTIONS = ["-x", "-q", "-p", "no:cacheprovider", "--no-header", "--tb=line"]
OPTIONS += ["--hypothesis-profile=mutants", "-W", "ignore::pytest.PytestAssertRewriteWarning"]
OPTIONS += ["-W", "ignore:overflow encountered:RuntimeWarning"]  # of loops that are not compiled


class Loader(importlib.machinery.SourceFileLoader):
    """Loads a changed tree in the place of a module's source."""

    def __init__(self, name: str, path: str, code: CodeType) -> None:
        super().__init__(name, path)
        self._code = code

    def get_code(self, fullname: str):
        """Return the changed code."""
        return self._code


class Finder(importlib.abc.MetaPathFinder):
    """Hands out the changed module."""

    def __init__(self, name: str, path: Path, code: CodeType) -> None:
        self._name, self._path, self._code = name, str(path), code

    def find_spec(self, fullname, path=None, target=None):
        """Return the changed module if it is asked for."""
        if fullname != self._name:
            return None
        loader = Loader(fullname, self._path, self._code)
        return importlib.util.spec_from_file_location(fullname, self._path, loader=loader)


class Watch:
    """Says in a file which test is running, and ends the process when one takes too long."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def pytest_runtest_logstart(self, nodeid, location):
        """Before each test."""
        self._path.write_text(nodeid)
        signal.setitimer(signal.ITIMER_PROF, TEST_SECONDS)


def preload(folder: Path, files: list[str], tests: list[str], compiled: bool) -> None:
    """Import the library and its tests, of which mutants are forked."""
    import hypothesis
    import numba
    import pytest

    numba.config.DISABLE_JIT = not compiled
    quick = [phase for phase in hypothesis.Phase if phase.name in ("explicit", "generate")]
    hypothesis.settings.register_profile(  # a failure is enough: none is made small
        "mutants", deadline=None, derandomize=True, phases=quick,
        suppress_health_check=list(hypothesis.HealthCheck),
    )  # fmt: skip
    for file in files:
        importlib.import_module(file.removesuffix(".py").replace("/", "."))
    paths = sorted({shlex.split(test)[0] for test in tests})
    with (folder / "collected").open("w") as out, contextlib.redirect_stdout(out):
        pytest.main([*paths, "--collect-only", *OPTIONS])


def change(file: str, tree: ast.Module, mark) -> None:
    """Change a module that is loaded; ``mark`` is called where the change is reached."""
    builtins._mark_reached = mark
    path = str(ROOT / file)
    code = compile(tree, path, "exec")
    new = {(c.co_qualname, c.co_firstlineno): c for c in _inside(code)}
    live = [f for f in gc.get_objects() if type(f) is FunctionType]
    mine = [f for f in live if f.__code__.co_filename == path]
    codes = [new.get((f.__code__.co_qualname, f.__code__.co_firstlineno)) for f in mine]
    pairs = [(f, c) for f, c in zip(mine, codes, strict=True) if c is not None]
    same_cells = all(f.__code__.co_freevars == c.co_freevars for f, c in pairs)
    if _in_a_function(code) and same_cells:
        for f, c in pairs:
            f.__code__ = c
        return
    ours = f"{ROOT}/structopt", f"{ROOT}/tests"
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None)).startswith(ours) and name != __name__:
            del sys.modules[name]
    name = file.removesuffix(".py").replace("/", ".")
    sys.meta_path.insert(0, Finder(name, ROOT / file, code))
    importlib.import_module(name)  # before pytest's doctests, which know no hooks


def _inside(code: CodeType):
    for const in code.co_consts:
        if isinstance(const, CodeType):
            yield const
            yield from _inside(const)


def _in_a_function(code: CodeType) -> bool:
    holders = [c for c in (code, *_inside(code)) if "_mark_reached" in c.co_names]
    return all(c.co_flags & inspect.CO_OPTIMIZED for c in holders)


def child(file: str, tree: ast.Module | None, tests: list[str], folder: Path) -> None:
    """Run tests with one module changed, until one fails; never returns."""
    code = 1
    try:
        os.setsid()
        out = os.open(folder / "log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(out, 1)
        os.dup2(out, 2)
        resource.setrlimit(resource.RLIMIT_CPU, (int(SECONDS), int(SECONDS) + 2))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        import pytest

        if tree is not None:
            change(file, tree, functools.cache((folder / "reached").touch))
        code = 0
        for test in tests:
            # an argument may name tests that a doctest-less file does not have
            watch = Watch(folder / "test")
            code = int(pytest.main([*shlex.split(test), *OPTIONS], plugins=[watch]))
            if code not in (0, 5):
                break
            code = 0
    except BaseException:
        traceback.print_exc()
        code = 1
    finally:
        sys.stderr.flush()
        os._exit(code)


def run(file: str, tree: ast.Module | None, tests: list[str], folder: Path) -> dict:
    """Return whether a test failed, which, whether the change was reached, and what it took."""
    for name in ("test", "reached", "log"):
        (folder / name).unlink(missing_ok=True)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    pid = os.fork()
    if pid == 0:
        child(file, tree, tests, folder)
    deadline = time.monotonic() + 12 * SECONDS
    while True:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            break
        if time.monotonic() > deadline:
            os.killpg(pid, signal.SIGKILL)
            _, status = os.waitpid(pid, 0)
            break
        time.sleep(0.05)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(pid, signal.SIGKILL)  # what it started and did not end
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    ended = os.waitstatus_to_exitcode(status)
    last = (folder / "test").read_text() if (folder / "test").exists() else "at import"
    return {
        "killed": ended != 0, "reached": (folder / "reached").exists(),
        "seconds": round(spent, 1), "by": last if ended else "", "exit": ended,
    }  # fmt: skip
