"""Would the tests notice? Sources are changed one small thing at a time, and a test must fail.

    python tests/campaigns/mutation.py                      # every file of mutation_targets.py
    python tests/campaigns/mutation.py chain/kernels ball   # those whose path holds a word
    python tests/campaigns/mutation.py --sample 0           # all mutants instead of a sample
    python tests/campaigns/mutation.py --files 30 --sample 1 --seed 7   # one of each of 30 files

Each mutant runs in a process of its own (``mutant_run.py``): the tests of its file
(``mutation_targets.py``) until the first failure, within a limit of processor time. Of those that
survive it says whether a test reached the change at all. At the end the tests that killed run on
the source as it is, where they must pass.

Results are kept in a file of JSON lines (``--results``), and what is in it is not run again;
``--survivors`` runs those again that survived, and only those. Mutants that change nothing are
listed with the reason in ``equivalent_mutants.txt``.
"""

import argparse
import ast
import importlib
import importlib.util
import json
import os
import random
import shlex
import shutil
import sys
import tempfile
import traceback
from collections import Counter
from pathlib import Path

import mutants
from mutant_run import PRELOADED, ROOT, preload, run
from mutation_targets import PROVING, TARGETS


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
    for site in wanted:
        result = run(file, mutants.mutated(source, site), tests, folder)
        record = {"file": file, "mutant": site.label, "line": site.line, **result}
        known[file, site.label] = record
        with args.results.open("a") as out:
            out.write(json.dumps(record) + "\n")
        if result["killed"] and not result["reached"]:
            print(f"FAILS WITHOUT A CHANGE {result['by']}", flush=True)
        if not result["killed"]:
            why = "SURVIVED" if result["reached"] else "NOT REACHED"
            print(f"{why} {file}:{site.line} {site.label}", flush=True)


def unsound(files: list[str], known: dict, folder: Path) -> None:
    """Print the tests that killed mutants and fail on the source as it is: they show nothing."""
    killers = sorted({r["by"] for (f, _), r in known.items() if f in files and "::" in r["by"]})
    for start in range(0, len(killers), 40):
        tests = [shlex.join(killers[start : start + 40])]
        if run("", None, tests, folder)["killed"]:
            tail = (folder / "log").read_text(errors="replace").splitlines()[-8:]
            print("FAILS UNCHANGED", *tail, sep="\n", flush=True)


def group(files: list[str], args: argparse.Namespace, folder: Path, compiled: bool) -> None:
    """Run the mutants of files in a process that has loaded them, compiled loops or not."""
    pid = os.fork() if files else None
    if pid is None:
        return
    if pid:
        os.waitpid(pid, 0)
        return
    try:
        known, listed = read_results(args.results), equivalent()
        preload(folder, files, [t for f in files for t in noticed_by(f)], compiled)
        for file in files:
            campaign(file, args, folder, known, listed)
        unsound(files, known, folder)
    except Exception:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        os._exit(0)


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
    parser.add_argument("--files", type=int, default=0, help="only so many, drawn with the seed")
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
    if 0 < args.files < len(files):
        drawn = set(random.Random(args.seed).sample(files, args.files))
        files = [f for f in files if f in drawn]
    if not args.table:
        folder = Path(tempfile.mkdtemp(prefix="mutation-"))
        for name in PRELOADED:
            if importlib.util.find_spec(name.split(".")[0]):
                importlib.import_module(name)
        try:
            loops = [f for f in files if "kernels" in f]
            group([f for f in files if f not in loops], args, folder, True)
            group(loops, args, folder, False)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    known, listed = read_results(args.results), equivalent()
    summary(files, known, listed)
    return int(any(not known[k]["killed"] and k not in listed for k in known if k[0] in files))


if __name__ == "__main__":
    sys.exit(main())
