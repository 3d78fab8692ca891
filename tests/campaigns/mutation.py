"""Would the tests notice? Sources are changed one small thing at a time, and a test must fail.

    python tests/campaigns/mutation.py                      # every file of mutation_targets.py
    python tests/campaigns/mutation.py chain/kernels ball   # those whose path holds a word
    python tests/campaigns/mutation.py --sample 0           # all mutants instead of a sample

Each mutant runs in a process of its own, forked from one that has imported all but this library;
the changed module is handed out by an import hook, so no file is touched. The tests of its file
(``mutation_targets.py``) run until the first failure, within a limit of processor time. Compiled
loops run as plain Python (numba's switch), where that is not possible they are compiled anew.

Results are kept in a file of JSON lines (``--results``), and what is in it is not run again;
``--survivors`` runs those again that survived, and only those. Mutants that change nothing are
listed with the reason in ``equivalent_mutants.txt``.
"""

import argparse
import ast
import contextlib
import importlib.abc
import importlib.machinery
import importlib.util
import json
import os
import random
import resource
import shlex
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path

import mutants
from mutation_targets import COMPILED, PROVING, TARGETS

ROOT = Path(__file__).resolve().parents[2]
PRELOADED = [
    "numpy", "scipy.sparse.linalg", "scipy.sparse.csgraph", "scipy.optimize", "scipy.stats",
    "cvxpy", "numba", "clarabel", "highspy", "osqp", "networkx", "sklearn.base", "sklearn.utils",
    "pytest", "hypothesis", "pandas", "joblib",
]  # fmt: skip
MEMORY = 8 << 30
"""Bytes of addresses that a mutant may ask for: an endless list ends here."""


class Loader(importlib.machinery.SourceFileLoader):
    """Loads a changed tree in the place of a module's source."""

    def __init__(self, name: str, path: str, tree: ast.Module) -> None:
        super().__init__(name, path)
        self._tree = tree

    def get_code(self, fullname: str):
        """Return the changed code under the path of the module's file."""
        return compile(self._tree, self.path, "exec")


class Finder(importlib.abc.MetaPathFinder):
    """Hands out the changed module."""

    def __init__(self, name: str, path: Path, tree: ast.Module) -> None:
        self._name, self._path, self._tree = name, str(path), tree

    def find_spec(self, fullname, path=None, target=None):
        """Return the changed module if it is asked for."""
        if fullname != self._name:
            return None
        loader = Loader(fullname, self._path, self._tree)
        return importlib.util.spec_from_file_location(fullname, self._path, loader=loader)


def child(file: str, tree: ast.Module | None, tests: list[str], cpu: float, log: Path) -> None:
    """Run tests with one module changed, until one fails; never returns."""
    code = 1
    try:
        os.setsid()
        out = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(out, 1)
        os.dup2(out, 2)
        resource.setrlimit(resource.RLIMIT_CPU, (int(cpu) + 1, int(cpu) + 2))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        import numba
        import pytest

        options = ["-x", "-q", "-p", "no:cacheprovider", "--no-header", "--tb=line"]
        options += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]
        if "kernels" in file:
            if file in COMPILED:
                _forget_compiled(file)
            else:
                numba.config.DISABLE_JIT = True
                options += ["-W", "ignore:overflow encountered:RuntimeWarning"]
        if tree is not None:
            name = file.removesuffix(".py").replace("/", ".")
            sys.meta_path.insert(0, Finder(name, ROOT / file, tree))
            importlib.import_module(name)  # before pytest's doctests, which know no hooks
        code = 0
        for test in tests:
            # an argument may name tests that a doctest-less file does not have
            code = int(pytest.main([*shlex.split(test), *options]))
            if code not in (0, 5):
                break
            code = 0
    except BaseException:
        traceback.print_exc()
        code = 1
    finally:
        sys.stderr.flush()
        os._exit(code)


def _forget_compiled(file: str) -> None:
    """Compile what was changed and all that calls it: a fresh cache without those modules."""
    import numba

    from_here = Path(numba.config.CACHE_DIR)
    fresh = from_here.with_name(f"mutant-{os.getpid()}")
    stems = {Path(file).stem, "kernels"}
    shutil.copytree(
        from_here, fresh, copy_function=os.link,
        ignore=lambda _, names: [n for n in names if n.split(".")[0].split("-")[0] in stems],
    )  # fmt: skip
    numba.config.CACHE_DIR = str(fresh)


def run(file: str, tree: ast.Module | None, tests: list[str], cpu: float, folder: Path):
    """Return (killed, processor seconds, how) of one mutant."""
    log = folder / "mutant.log"
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    pid = os.fork()
    if pid == 0:
        child(file, tree, tests, cpu, log)
    deadline = time.monotonic() + 12 * cpu + 30
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
    shutil.rmtree(folder / f"mutant-{pid}", ignore_errors=True)
    if os.WIFSIGNALED(status):
        return True, spent, f"signal {os.WTERMSIG(status)}"
    code = os.waitstatus_to_exitcode(status)
    last = [s for s in log.read_text(errors="replace").splitlines() if s.startswith("FAILED")]
    return code != 0, spent, last[-1][7:160] if last else f"exit {code}"


def noticed_by(file: str) -> list[str]:
    """Return what should notice a change of a file: its doctest and the tests listed for it."""
    return [file, *TARGETS[file]]


def read_results(path: Path) -> dict[tuple[str, str], dict]:
    """Return what is known of mutants, the last word on each."""
    lines = path.read_text().splitlines() if path.exists() else []
    return {(r["file"], r["mutant"]): r for r in map(json.loads, lines)}


def equivalent() -> dict[tuple[str, str], str]:
    """Return the mutants that change nothing a test could see, with the reason."""
    listed, file = {}, ""
    for line in Path(__file__).with_name("equivalent_mutants.txt").read_text().splitlines():
        if line.startswith("## "):
            file = line[3:].strip()
        elif line.strip() and not line.startswith("#"):
            mutant, _, reason = line.partition(" :: ")
            listed[file, mutant.strip()] = reason.strip()
    return listed


def sites_of(file: str) -> list[mutants.Site]:
    """Return a file's mutants; of a method only those in the functions that make certificates."""
    found, only = mutants.sites(ast.parse((ROOT / file).read_text())), PROVING.get(file)
    return [s for s in found if only is None or s.label.split(" | ")[0].split(".")[-1] in only]


def chosen(file: str, count: int, seed: int) -> list[mutants.Site]:
    """Return a sample of a file's mutants, the same for the same source and seed."""
    found = sites_of(file)
    if count and count < len(found):
        rng = random.Random(f"{seed} {file}")
        found = [found[k] for k in sorted(rng.sample(range(len(found)), count))]
    return found


def campaign(file: str, args: argparse.Namespace, folder: Path, known: dict, listed: dict) -> None:
    """Run the mutants of one file that are not known yet, and write what became of them."""
    source, tests = (ROOT / file).read_text(), noticed_by(file)
    if args.survivors:
        survived = {m for (f, m), r in known.items() if f == file and not r["killed"]}
        wanted = [s for s in chosen(file, 0, 0) if s.label in survived]
    else:
        drawn = chosen(file, args.sample, args.seed)
        wanted = [s for s in drawn if (file, s.label) not in known]
    wanted = [s for s in wanted if (file, s.label) not in listed]
    if not wanted:
        return
    failed, usual, how = run(file, None, tests, 400.0, folder)
    if failed:
        tail = "\n".join((folder / "mutant.log").read_text(errors="replace").splitlines()[-8:])
        print(f"{file}: its tests fail unchanged, {how}\n{tail}", flush=True)
        return
    limit = 3.0 * usual + 10.0
    for site in wanted:
        killed, spent, how = run(file, mutants.mutated(source, site), tests, limit, folder)
        record = {
            "file": file, "mutant": site.label, "line": site.line, "killed": killed,
            "seconds": round(spent, 1), "by": how if killed else "",
        }  # fmt: skip
        known[file, site.label] = record
        with args.results.open("a") as out:
            out.write(json.dumps(record) + "\n")
        if not killed:
            print(f"SURVIVED {file}:{site.line} {site.label}", flush=True)
    print(f"{file}: {usual:.1f} s of tests", flush=True)


def summary(files: list[str], known: dict, listed: dict) -> None:
    """Print what is known of the mutants of each file."""
    total: Counter[str] = Counter()
    print("| file | mutants in all | run | killed | equivalent | survived |")
    print("|---|---|---|---|---|---|")
    for file in files:
        count: Counter[str] = Counter()
        sites = sites_of(file)
        for site in sites:
            key = file, site.label
            if key in listed:
                count["equivalent"] += 1
            elif key in known:
                count["killed" if known[key]["killed"] else "survived"] += 1
        count["run"] = count["killed"] + count["survived"] + count["equivalent"]
        total += count
        total["every"] += len(sites)
        cells = [file, len(sites), *(count[k] for k in ("run", "killed", "equivalent", "survived"))]
        print("| " + " | ".join(map(str, cells)) + " |")
    meant = max(1, total["killed"] + total["survived"])
    print(
        f"{total['run']} run of {total['every']}, {total['killed']} killed, {total['equivalent']} "
        f"equivalent, {total['survived']} survived: {100 * total['killed'] / meant:.1f}% of those "
        "that change something."
    )


def main() -> int:
    """Run the campaign; 1 if a mutant that is not listed as equivalent survived."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("words", nargs="*", help="only files whose path holds one of these")
    parser.add_argument("--sample", type=int, default=20, help="mutants a file, 0 for all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--results", type=Path, default=ROOT / "mutation-results.jsonl")
    parser.add_argument("--survivors", action="store_true", help="run only what survived, again")
    parser.add_argument("--table", action="store_true", help="only show what is known")
    args = parser.parse_args()
    args.results = args.results.resolve()
    os.chdir(ROOT)
    sys.path[:0] = [str(ROOT), str(ROOT / "tests")]
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ[name] = "1"
    files = [f for f in TARGETS if not args.words or any(word in f for word in args.words)]
    known, listed = read_results(args.results), equivalent()
    if not args.table:
        folder = Path(tempfile.mkdtemp(prefix="mutation-"))
        if COMPILED.intersection(files):
            os.environ["NUMBA_CACHE_DIR"] = str(folder / "compiled")
        sys.dont_write_bytecode, sys.pycache_prefix = False, str(folder / "bytecode")
        for name in PRELOADED:
            if importlib.util.find_spec(name.split(".")[0]):
                importlib.import_module(name)
        try:
            for file in files:
                campaign(file, args, folder, known, listed)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    summary(files, known, listed)
    return int(any(not known[k]["killed"] and k not in listed for k in known if k[0] in files))


if __name__ == "__main__":
    sys.exit(main())
