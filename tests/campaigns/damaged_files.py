"""Files damaged at random: a typed error, or what was written.

Model files, checkpoints, files of comparisons and data files are changed, many times over: bytes as
they go bad, and content as somebody who knows the format would. Reading one must not run code, must
not ask for more memory than ``FLOOR`` bytes and ``MEMORY`` times the file's size (models: 8 MB more
and 500 times; programmes: 40 MB more; packed text and scans: 1,100 times, what zlib packs at most),
and must end in what was read or in an error of ours. A short set runs in the suite; the long run is
``python tests/campaigns/damaged_files.py --count 100000``.
"""

import argparse
import collections
import functools
import gzip
import io
import logging
import signal
import sys
import tempfile
import tracemalloc
import warnings
from pathlib import Path

import numpy as np
from mutations import damaged
from random_problems import STRUCTURES

import structopt as so
from structopt.datasets.hansards import read_links
from structopt.datasets.lidar import ARRAYS, read_scan
from structopt.datasets.swde import read_table
from structopt.lab.compare.comparison import Comparison
from structopt.lab.compare.programmes import read as read_programme
from structopt.lab.compare.tables import remarks, tables
from structopt.lab.harness.store import Store

MEMORY = 60  # of the file's size, with what Python itself needs to parse it
MODELS = 8_000_000, 500  # weights that are 0 are not written
PROGRAMMES = 40_000_000, MEMORY  # the least eigenvalue of 1,500 columns at most
PACKED = 0, 1100  # what zlib can pack at most
FLOOR = 2_000_000  # bytes that any reading may take
SECONDS = 30  # of CPU: a file that takes longer hangs
LOOKED_AT = 10  # every so many files the memory is measured: that takes most of the time

CODE = ("pickle.find_class", "os.system", "subprocess.Popen", "os.exec", "os.fork")
LETTERS = "".join(
    f"{i}\ta\t{n}\t1\t1\t{fold}\t" + "\t".join("01" * 64) + "\n"
    for i, n, fold in ((1, 2, 0), (2, -1, 0), (3, -1, 7))
)
TREES = """\
# sent_id = 1
1-2\tdon't\t_\t_\t_\t_\t_\t_\t_\t_
1\tdo\tdo\tAUX\tVM\t_\t3\taux\t_\t_
2\tn't\tnot\tPART\tN\t_\t3\tadvmod\t_\t_
3\tgo\tgo\tVERB\tV\t_\t0\troot\t_\t_

1\tWe\twe\tPRON\tPE\t_\t2\tnsubj\t_\t_
2\tgo\tgo\tVERB\tV\t_\t0\troot\t_\t_
"""
ROLES = """\
1\tKim\tKim\tPROPN\tNNP\t_\t2\tnsubj\t_\t_\t_\tARG0
2\tsings\tsing\tVERB\tVBZ\t_\t0\troot\t_\t_\tsing.01\tV
"""
TEXTS = {
    "letters": (LETTERS, so.datasets.read_letters),
    "conllu": (TREES, so.datasets.read_conllu),
    "srl": (ROLES, so.datasets.read_srl),
    "columns": ("the DT B-NP\ncat NN I-NP\n\nit PRP B-NP\n", so.datasets.read_columns),
    "crfsuite": ("A\tw=a:1.5\tb\\:c\nB\tw=b\n\nA\tw=c\n", so.datasets.read_crfsuite),
    "json lines": (
        '{"tokens": ["a", "b"], "tags": ["X", "Y"]}\n{"tokens": ["c"], "tags": ["X"]}\n',
        so.datasets.read_json_lines,
    ),
    "medpost": ("P01234567A01\nWe_PNP go_VVB ._.\n", so.datasets.read_medpost),
    "nbest": (
        "0 ||| a house ||| lm: -3 tm: -1 -2 ||| -6\n0 ||| the house ||| lm: -2 tm: -1 -5 ||| -8\n",
        so.datasets.read_nbest,
    ),
    "optdigits": (",".join(["0", "16"] * 32) + ",3\n", so.datasets.read_optdigits),
    "links": ("1 1 1 S\n2 1 2 P\n", lambda path: read_links(path, [(2, 2), (2, 2)])),
    "table": ("book\tshop\ttitle\n1\t1\t1\t1\n0001\t1\tA title\n", read_table),
    "templates": ("# words\nU00:%x[0,0]\nU01:%x[-1,0]/%x[0,1]\nB\n", so.read_templates),
}
ROW = (
    '{"fingerprint": "ab", "cell": {"version": 2, "set": "s", "problem": "p", "kind": "LP", '
    '"rows": 3, "solver": "highs", "tolerance": 0.001, "settings": {"eps": 0.1}, "limit": 9.0, '
    '"memory": 4.0, "turn": 0}, "numbers": {"status": "solved", "claim": "optimal", "cpu": 0.5, '
    '"error": 1e-05, "objective": 1.5, "gap": 1e-06, "iterations": 7}}\n'
)
MPS = """NAME T
ROWS
 N  COST
 G  R1
COLUMNS
    X  COST 1.0  R1 1.0
    Y  COST 2.0  R1 1.0
RHS
    RHS  R1 1.0
ENDATA
"""
CELLS = (
    '{"fingerprint": "ab", "cell": {"C": 1.0}, "numbers": {"error": 0.5, "rows": [1, 2]}}\n'
    '{"fingerprint": "cd", "cell": {"C": 2.0}, "numbers": {"error": 0.25, "rows": []}}\n'
)


def models(folder):
    """Return model files: dense, with features, sparse weights, parts in parts, of every structure.

    What is read must also predict, or say why not in an error of ours.
    """
    X, Y = so.datasets.make_chain_crf(n_examples=6, length=3, n_features=4, n_relevant=2, seed=0)
    words, tags = [["the", "cat"], ["a", "dog"]], [["D", "N"], ["D", "N"]]
    rows, steps = np.eye(3, 9), [np.eye(2)]
    model = so.StructuredClassifier
    made = {
        "model": (model(so.Chain(), so.M3N(C=0.1), tol=1e-2), X, Y),
        "model with features": (
            model(so.Chain(), so.M3N(), features=so.WordFeatures()),
            words,
            tags,
        ),
        "model of sparse weights": (
            model(
                so.Multiclass(loss=so.losses.Hamming({"a": 2.0})),
                so.L1M3N(C=1.0),
                backend=so.HiGHS(),
            ),
            rows,
            list("aba"),
        ),
        "model of references": (
            model(so.References(so.Chain("ab")), so.LPStruct(C=5.0, references="worst")),
            steps,
            [["ab", "aa"]],
        ),
    }
    for name, drawn in STRUCTURES.items():
        if name != "References":
            small = drawn(np.random.default_rng(1))
            made[f"model of {name}"] = model(small.structure, so.M3N(), tol=1e-2), small.X, small.Y
    for name, (unfitted, inputs, outputs) in made.items():
        unfitted.fit(inputs, outputs).save(folder / "model.npz")

        def read(path, inputs=inputs, given=None):
            loaded = so.load_model(path, structure=given)
            _watched.clear()  # predicting may load compiled code, of no file's choice
            return loaded.predict(inputs)

        try:
            read(folder / "model.npz")
        except so.errors.IncompatibleError:  # functions and classes of a user's are handed over
            read = functools.partial(read, given=unfitted.structure)
        yield name, (folder / "model.npz").read_bytes(), read


def checkpoints(folder):
    """Return a checkpoint, which is read by a fit."""
    X, Y = so.datasets.make_chain_crf(n_examples=6, length=3, n_features=4, n_relevant=2, seed=0)
    model = so.StructuredClassifier(
        so.Chain(), so.M3N(C=0.1), checkpoint=folder / "run.npz", tol=1e-2
    ).fit(X, Y)
    data = (folder / "run.npz").read_bytes()
    yield "checkpoint", data, lambda path: model.set_params(checkpoint=path).fit(X, Y)


def comparisons(folder):
    """Return the files that `structopt compare` and `reproduce` read again."""

    def compared(path):
        (folder / "cells.jsonl").write_bytes(path.read_bytes())
        done = Comparison.read(folder)
        return tables(done), remarks(done)

    yield "comparison", ROW.encode(), compared

    def stored(path):
        (folder / "cells.jsonl").write_bytes(path.read_bytes())
        return Store(folder)

    yield "cells.jsonl", CELLS.encode(), stored


def data(folder):
    """Return a tiny file of every format that is read, as it is and gzipped."""
    for name, (text, read) in TEXTS.items():
        yield name, text.encode(), read
        if name in ("letters", "conllu"):
            yield f"{name}.gz", gzip.compress(text.encode()), read

    def programme(ending):
        def read(path):
            (folder / f"model{ending}").write_bytes(path.read_bytes())
            if ending == ".mps":  # HiGHS reads it in a process of its own, whose answer is pickled
                _watched.clear()
            return read_programme(folder / f"model{ending}")

        return read

    yield "model.mps", MPS.encode(), programme(".mps")
    one = {"q": [1.0], "Ad": [1.0], "Ai": [0], "Ap": [0, 1], "Pd": [1.0], "Pi": [0], "Pp": [0, 1],
           "lower": [1.0], "upper": [np.inf], "lb": [0.0], "ub": [np.inf]}  # fmt: skip
    stream = io.BytesIO()
    np.savez(stream, **one)
    yield "programme.npz", stream.getvalue(), programme(".npz")
    points = {key: np.ones((4, 3) if key == "xyz" else 4) for key in ARRAYS}
    stream = io.BytesIO()
    np.savez(stream, **points)
    yield "scan.npz", stream.getvalue(), read_scan


KINDS = {"models": models, "checkpoints": checkpoints, "comparisons": comparisons, "data": data}
SHARES = {"models": 0.45, "checkpoints": 0.05, "comparisons": 0.1, "data": 0.4}


def outcome(data, read, path, *, measured, again=False):
    """Read a damaged file; return what happened, and whether that is a finding.

    One that takes much memory is read again: the first reading may have loaded compiled code.
    """
    path.write_bytes(data)
    if measured:
        tracemalloc.start()
    _watched.extend([path] if path.stem != "run" else [])
    signal.signal(signal.SIGVTALRM, hung)
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    try:
        read(path)
        said, bad = "read", False
    except so.errors.StructoptError as error:
        said, bad = type(error).__name__, not str(error).strip()
    except Exception as error:
        said, bad = f"{type(error).__name__}: {error}", True
    signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
    _watched.clear()
    if measured:
        taken = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        model = b"weights_size" in data
        packed = data[:2] == b"\x1f\x8b" or b"intensity.npy" in data  # gzipped, or a scan
        programme = b"Pp.npy" in data
        more, factor = (
            MODELS if model else PACKED if packed else PROGRAMMES if programme else (0, MEMORY)
        )
        if taken > FLOOR + more + factor * len(data):
            if not again:
                return outcome(data, read, path, measured=True, again=True)
            return f"{taken:,} bytes of memory for a file of {len(data):,}", True
    return said, bad


def hung(*_):
    """End a reading that does not end by itself."""
    raise TimeoutError(f"not read within {SECONDS} CPU seconds")


_watched = []  # what is being read; a fit that reads a checkpoint loads compiled code as well


def audited(event, arguments):
    """Refuse what a file must not lead to: this is Python's own record of it."""
    if _watched and event in (
        "pickle.find_class",
        "os.system",
        "subprocess.Popen",
        "os.exec",
        "os.fork",
    ):
        raise RuntimeError(f"a file led to {event}{arguments}")


def run(which, count, seed):
    """Damage files of a kind ``count`` times; return how often what happened, and the findings."""
    with tempfile.TemporaryDirectory() as name, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        folder = Path(name)
        originals = list(KINDS[which](folder))
        for what, data, read in originals:  # they are whole
            (folder / "whole").write_bytes(data)
            try:
                read(folder / "whole")
            except so.errors.StructoptError as error:
                raise AssertionError(f"{what} is not read as it is: {error}") from error
        seen, findings = collections.Counter(), []
        place = folder / ("run.npz" if which == "checkpoints" else "damaged.npz")
        for number in range(count):
            rng = np.random.default_rng([seed, number])
            what, data, read = originals[number % len(originals)]
            measured = number // len(originals) % LOOKED_AT == 0
            said, bad = outcome(damaged(data, rng), read, place, measured=measured)
            seen[said.split(":")[0]] += 1
            if bad:
                findings.append(f"{what} {number}: {said}")
    return seen, findings


def main():
    """Run the campaign from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=100_000, help="of all files")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="kinds whose name contains this")
    arguments = parser.parse_args()
    logging.disable(logging.CRITICAL)
    sys.addaudithook(audited)
    failed = False
    for which, share in SHARES.items():
        if arguments.only not in which:
            continue
        count = round(share * arguments.count)
        seen, findings = run(which, count, arguments.seed)
        print(*(found[:200] for found in findings[:50]), sep="\n", end="\n" if findings else "")
        print(f"{which}: {count} files, {len(findings)} findings; {dict(seen)}", flush=True)
        failed = failed or bool(findings)
    sys.exit(failed)


if __name__ == "__main__":
    main()
