"""Files of ours with bytes changed, cut, doubled or packed: a typed error, or what was written.

A model file and a checkpoint are damaged at random, many times over. Reading one must not run
code, must not ask for more memory than a few times the file's size, and must end in a model or in
an error of ours. A short set runs in the suite; the long run is
``python tests/campaigns/damaged_files.py --count 100000``.
"""

import argparse
import collections
import io
import json
import sys
import tempfile
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np

import structopt as so

MEMORY = 60  # of the file's size, with what Python itself needs to parse it
FLOOR = 2_000_000  # bytes that any reading may take


def originals(folder):
    """Return a model file and a checkpoint as bytes, each with a function that reads it."""
    X, Y = so.datasets.make_chain_crf(n_examples=6, length=3, n_features=4, n_relevant=2, seed=0)
    model = so.StructuredClassifier(
        so.Chain(), so.M3N(C=0.1), checkpoint=folder / "run.npz", tol=1e-2
    )
    model.fit(X, Y).save(folder / "model.npz")
    return {
        "model": ((folder / "model.npz").read_bytes(), so.load_model),
        "checkpoint": (
            (folder / "run.npz").read_bytes(),
            lambda path: model.set_params(checkpoint=path).fit(X, Y),
        ),
    }


def damaged(data, rng):
    """Return the bytes changed in one of the ways in which files go bad."""
    data = bytearray(data)
    kind = rng.integers(6)
    if kind == 0:  # single bytes
        for _ in range(int(rng.integers(1, 4))):
            data[int(rng.integers(len(data)))] = int(rng.integers(256))
    elif kind == 1:  # cut off
        del data[int(rng.integers(len(data))) :]
    elif kind == 2:  # a stretch of zeros, as after a crash
        start = int(rng.integers(len(data)))
        stop = min(len(data), start + int(rng.integers(1, 512)))
        data[start:stop] = bytes(stop - start)
    elif kind == 3:  # a stretch twice
        start = int(rng.integers(len(data)))
        data[start:start] = data[start : start + int(rng.integers(1, 256))]
    else:  # an entry rewritten by somebody who knows the format
        return forged(bytes(data), rng, packed=kind == 5)
    return bytes(data)


def forged(data, rng, *, packed):
    """Return a valid archive in which one array is another one, or a number of the header is."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    header = json.loads(np.load(io.BytesIO(entries["header.npy"])).tobytes())
    del header["digest"]  # as if it were a file of a version that wrote none
    stream = io.BytesIO()
    np.save(stream, np.frombuffer(json.dumps(header).encode(), dtype=np.uint8))
    entries["header.npy"] = stream.getvalue()
    name = str(rng.choice(sorted(entries)))
    entry = bytearray(entries[name])
    if packed:
        stream = io.BytesIO()
        shape = tuple(int(s) for s in rng.integers(0, 2000, int(rng.integers(1, 3))))
        np.save(stream, np.zeros(shape, dtype=str(rng.choice(["f8", "i8", "u1", "U3", "c16"]))))
        entry = bytearray(stream.getvalue())
    else:
        for _ in range(int(rng.integers(1, 4))):
            entry[int(rng.integers(len(entry)))] = int(rng.choice(list(b"0123456789{}[]'\"eN-.")))
    entries[name] = bytes(entry)
    stream = io.BytesIO()
    kind = zipfile.ZIP_DEFLATED if packed else zipfile.ZIP_STORED
    with zipfile.ZipFile(stream, "w", kind) as archive:
        for key, value in entries.items():
            archive.writestr(key, value)
    return stream.getvalue()


def outcome(data, read, path):
    """Read a damaged file; return what happened, and whether that is a finding."""
    path.write_bytes(data)
    tracemalloc.start()
    try:
        read(path)
        said, bad = "read", False
    except so.errors.StructoptError as error:
        said, bad = type(error).__name__, not str(error).strip()
    except Exception as error:
        said, bad = f"{type(error).__name__}: {error}", True
    taken = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    if taken > FLOOR + MEMORY * len(data):
        return f"{taken:,} bytes of memory for a file of {len(data):,}", True
    return said, bad


def run(which, count, seed):
    """Damage a file ``count`` times; return how often what happened, and the findings."""
    rng = np.random.default_rng(seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        data, read = originals(folder)[which]
        seen, findings = collections.Counter(), []
        for number in range(count):
            said, bad = outcome(damaged(data, rng), read, folder / "damaged.npz")
            seen[said.split(":")[0]] += 1
            if bad:
                findings.append(f"{which} {number}: {said}")
    return seen, findings


def main():
    """Run the campaign from the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=100_000, help="of model files")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    # a checkpoint is read by a fit, so fewer of them
    sizes = {"model": arguments.count, "checkpoint": arguments.count // 100}
    failed = False
    for which, count in sizes.items():
        seen, findings = run(which, count, arguments.seed)
        print(*(found[:160] for found in findings[:50]), sep="\n")
        print(f"{which}: {count} files, {len(findings)} findings; {dict(seen)}")
        failed = failed or bool(findings)
    sys.exit(failed)


if __name__ == "__main__":
    main()
