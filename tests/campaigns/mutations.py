"""Files changed at random: bytes as they go bad, and content as one who knows the format would.

Every function returns other bytes for those it is given; ``damaged`` picks one that fits.
"""

import gzip
import io
import json
import zipfile

import numpy as np

from structopt.files import _digest

ODD = [None, True, -1, 0, 1e308, float("nan"), 10**12, 2**70, "", "x" * 200, "\ud800", [], {}, [[]]]
ODD += [{"array": [1], "dtype": "O"}, {"array": [1, 2], "dtype": "<f8", "shape": [10**9]}]
ODD += [{"pairs": [[[], 1]]}, {"tuple": 3}, {"labels": [[], {}]}, {"code": "import os"}]
WORDS = ["nan", "-inf", "1e999", "-1", "0", "99999999999999999999", "٣", "²", "\x00", "\t", "", "_"]
WORDS += ["a" * 300, "é", "\u2028", "1.5", "None", "+", ":", "|||", '"']


def damaged(data, rng):
    """Return a file changed in one of the ways that fit it."""
    kind = int(rng.integers(8))
    if kind < 4 or not data:
        return in_bytes(data, rng, kind)
    if data[:2] == b"PK":
        return of_archive(data, rng, kind)
    if data[:2] == b"\x1f\x8b":
        return gzip.compress(of_text(gzip.decompress(data), rng), 1)
    return of_text(data, rng)


def in_bytes(data, rng, kind):
    """Return bytes changed, cut off, zeroed as after a crash, or doubled."""
    data = bytearray(data)
    start = int(rng.integers(len(data))) if data else 0
    if kind == 0 and data:
        for _ in range(int(rng.integers(1, 4))):
            data[int(rng.integers(len(data)))] = int(rng.integers(256))
    elif kind == 1:
        del data[start:]
    elif kind == 2:
        stop = min(len(data), start + int(rng.integers(1, 512)))
        data[start:stop] = bytes(stop - start)
    else:
        data[start:start] = data[start : start + int(rng.integers(1, 256))]
    return bytes(data)


def of_text(data, rng):
    """Return a text with a field, or a line, that is another, doubled, moved or missing."""
    lines = data.decode(errors="replace").split("\n")
    for _ in range(int(rng.integers(1, 4))):
        at = int(rng.integers(len(lines)))
        how = int(rng.integers(6))
        mark = next((m for m in ("\t", ",", " ") if m in lines[at]), " ")
        fields = lines[at].split(mark)
        place = int(rng.integers(len(fields)))
        if how == 0:
            fields[place] = str(rng.choice(WORDS))
        elif how == 1:
            del fields[place]
        elif how == 2:
            fields.insert(place, str(rng.choice(WORDS)))
        elif how == 3:
            lines.insert(at, lines[int(rng.integers(len(lines)))])
            continue
        elif how == 4 and len(lines) > 1:
            del lines[at]
            continue
        elif lines[at][:1] == "{":
            lines[at] = json.dumps(of_json(_parsed(lines[at]), rng))
            continue
        lines[at] = mark.join(fields)
    return "\n".join(lines).encode(errors="surrogatepass")


def _parsed(line):
    try:
        return json.loads(line)
    except ValueError:
        return {}


def of_json(value, rng):
    """Return JSON with one node that is another, or missing."""
    if isinstance(value, dict) and value and rng.random() < 0.9:
        key = str(rng.choice(sorted(value)))
        if rng.random() < 0.15:
            return {k: v for k, v in value.items() if k != key}
        return value | {key: of_json(value[key], rng)}
    if isinstance(value, list) and value and rng.random() < 0.8:
        place = int(rng.integers(len(value)))
        if rng.random() < 0.2:
            return value[:place] + value[place + 1 :]
        return [*value[:place], of_json(value[place], rng), *value[place + 1 :]]
    return ODD[int(rng.integers(len(ODD)))]


def of_archive(data, rng, kind):
    """Return a whole archive in which an array is another, or a part of the header is.

    Mostly signed anew, or else its digest would give all away; or called a file of version 0.1,
    which had none.
    """
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        entries = {name: archive.read(name) for name in archive.namelist()}
    header = None
    if "header.npy" in entries:
        header = json.loads(np.load(io.BytesIO(entries.pop("header.npy"))).tobytes())
        header.pop("digest", None)
    if kind in (6, 7) or header is None:
        name = str(rng.choice(sorted(entries)))
        entries[name] = of_array(entries[name], rng)
    else:
        header = of_json(header, rng)
    if rng.random() < 0.05:
        del entries[str(rng.choice(sorted(entries)))]
    if header is not None:
        header = _signed(header, entries, rng) if isinstance(header, dict) else header
        text = json.dumps(header).encode(errors="replace")
        entries["header.npy"] = saved(np.frombuffer(text, dtype=np.uint8))
    stream = io.BytesIO()
    packed = zipfile.ZIP_DEFLATED if kind == 7 else zipfile.ZIP_STORED
    with zipfile.ZipFile(stream, "w", packed) as archive:
        for key, value in entries.items():
            archive.writestr(key, value)
    return stream.getvalue()


def _signed(header, entries, rng):
    """Return a header with the digest of what stands in the file now."""
    if rng.random() < 0.1:
        return header | {"kind": str(header.get("kind"))[:-1] + "1"}
    try:
        arrays = {n.removesuffix(".npy"): np.load(io.BytesIO(e)) for n, e in entries.items()}
        return header | {"digest": _digest(header, arrays)}
    except Exception:  # an array that is none: the digest does not matter
        return header


def of_array(entry, rng):
    """Return an array of another shape, type or content."""
    how = int(rng.integers(5))
    if how == 0:  # zeros of any shape, which pack well
        shape = tuple(int(s) for s in rng.integers(0, 2000, int(rng.integers(1, 3))))
        return saved(np.zeros(shape, dtype=str(rng.choice(["f8", "i8", "u1", "U3", "c16"]))))
    array = np.load(io.BytesIO(entry))
    if how == 1 and array.size and array.dtype.kind in "iuf":  # an entry out of range
        array = array.copy()
        most = np.iinfo(array.dtype).max if array.dtype.kind in "iu" else 0
        wild = [-1, 0, min(10**9, most), min(2**62, most)] if array.dtype.kind == "i" else [most]
        wild = [np.nan, np.inf, -1e308, 1e-320] if array.dtype.kind == "f" else wild
        array.flat[int(rng.integers(array.size))] = wild[int(rng.integers(len(wild)))]
        return saved(array)
    if how == 2:
        return saved(array[: int(rng.integers(len(array) + 1))] if array.ndim else array)
    if how == 3:
        return saved(array.astype(str(rng.choice(["f4", "i8", "U8", "bool"]))))
    entry = bytearray(entry)
    for _ in range(int(rng.integers(1, 4))):
        entry[int(rng.integers(len(entry)))] = int(rng.choice(list(b"0123456789{}[]'\"eN-.")))
    return bytes(entry)


def saved(array):
    """Return an array as NumPy writes it."""
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()
