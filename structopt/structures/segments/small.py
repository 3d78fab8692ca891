"""A tiny random problem of segments."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp

from structopt.arrays import Floats
from structopt.structures.base.small import Small, chosen, numbers
from structopt.structures.losses.hamming import Hamming
from structopt.structures.losses.part_costs import PartCosts
from structopt.structures.losses.span_costs import SpanCosts
from structopt.structures.segments.structure import Segments

Segment = tuple[int, int, int]
"""Label, begin and end."""


def small(rng: np.random.Generator) -> Small:
    """Return three sequences; either scheme, any features, losses of tags and of segments."""
    whole, lengths, boundaries, sparse = (bool(b) for b in rng.integers(2, size=4))
    scheme, n_types = str(rng.choice(["bio", "bio", "runs"])), int(rng.integers(1, 4))
    borders: Any = str(rng.choice(["none", "begin", "end", "both"]))
    outside = scheme == "bio" and bool(rng.integers(2))
    d, p = int(rng.integers(1, 4)), int(rng.integers(3))
    names = ["c", "a", "b"][:n_types]
    most = rng.integers(1, 4, n_types).tolist()
    types = [*names, "O"] if outside else names
    if scheme == "runs":
        most[0] = 4  # or a sequence of one label only would have no output
    n = len(types)
    longest = [*most, *[1] * outside]
    tags = types if scheme == "runs" else [f"{k}-{t}" for t in names for k in "BI"]
    tags = tags + ["O"] * (outside and scheme == "bio")
    allowed = rng.random((n + 1, n + 1)) < rng.choice([0.7, 1.0])
    allowed[0, [0, -1]] = allowed[-1, 0] = True
    size = {1: 4, 2: 4, 3: 3, 4: 3}[n]
    dense = [numbers(rng, whole, int(rng.integers(1, size + 1)), d) for _ in range(3)]
    given = [numbers(rng, whole, len(x), max(longest), p) for x in dense]
    steps = [0.5, 1.0, 3.0] if whole else [0.3, 1.0, 1.7]
    kind = str(rng.choice(["hamming", "weighted", "spans", "parts"]))
    rate = dict(zip(tags, rng.choice(steps, len(tags)).tolist(), strict=True))
    extra, missed = rng.choice(steps, 2).tolist()

    def follows(before: int, after: int) -> bool:
        return bool(allowed[before, after]) and not (scheme == "runs" and before == after != n)

    def cuts(length: int, before: int = n) -> Iterator[list[Segment]]:
        """Yield every list of segments of a sequence, the last segment first."""
        if length == 0:
            yield []
        for k in range(n):
            for m in range(1, min(longest[k], length) + 1):
                if follows(k, before):
                    for rest in cuts(length - m, k):
                        yield [(k, length - m, length), *rest]

    def tagged(cut: list[Segment]) -> list[Any]:
        found = []
        for k, a, b in cut[::-1]:
            rest = types[k] if scheme == "runs" or types[k] == "O" else f"I-{types[k]}"
            first = f"B-{types[k]}" if rest.startswith("I-") else rest
            found += [first, *[rest] * (b - a - 1)]
        return found

    def outputs(x: Any) -> list[list[Any]]:
        length = x[0].shape[0] if p else x.shape[0]
        legal = [cut for cut in cuts(length) if follows(n, cut[-1][0])]
        return [tagged(cut) for cut in sorted(legal, key=lambda c: [(k, b - a) for k, a, b in c])]

    def segments(y: Any) -> list[Segment]:
        found: list[Segment] = []
        for t, tag in enumerate(y):
            name = tag if scheme == "runs" else tag.partition("-")[2] or tag
            goes_on = t > 0 and (y[t - 1] == tag if scheme == "runs" else tag.startswith("I-"))
            begin = found.pop()[1] if goes_on else t
            found.append((types.index(name), begin, t + 1))
        return found

    def features(x: Any, y: Any) -> Floats:
        place = next(i for i, other in enumerate(X) if other is x)
        inputs, own = dense[place], n - outside
        W, B, E = np.zeros((n, d)), np.zeros((own, d)), np.zeros((own, d))
        sizes = [np.zeros(m) for m in most]
        S, T, ends = np.zeros((own, p)), np.zeros((n, n)), np.zeros((2, n))
        cut = segments(y)
        for k, a, b in cut:
            W[k] += inputs[a:b].sum(axis=0)
            if k < own:
                B[k] += inputs[a]
                E[k] += inputs[b - 1]
                sizes[k][b - a - 1] += 1
                S[k] += given[place][a, b - a - 1]
        for one, other in pairwise(cut):
            T[one[0], other[0]] += 1
        ends[0, cut[0][0]] += 1
        ends[1, cut[-1][0]] += 1
        blocks = [W, *[B] * (borders in ("begin", "both")), *[E] * (borders in ("end", "both"))]
        blocks += [*(sizes if lengths else []), S, T, *[ends] * boundaries]
        return np.concatenate([np.ravel(block) for block in blocks])

    def loss(gold: Any, y: Any) -> float:
        pairs = [(a, b) for a, b in zip(gold, y, strict=True) if a != b]
        if kind == "parts":
            real, found = ({s for s in segments(z) if types[s[0]] != "O"} for z in (gold, y))
            return float(extra * len(found - real) + missed * len(real - found))
        if kind == "spans":
            return sum(
                extra if a == "O" else missed if b == "O" else 1.0 if a[2:] != b[2:] else 0.5
                for a, b in pairs
            )
        return float(sum(rate[a] if kind == "weighted" else 1.0 for a, _ in pairs))

    if kind == "spans" and scheme == "runs":
        kind = "hamming"
    given_loss: Any = {
        "hamming": None,
        "weighted": Hamming(rate),
        "spans": SpanCosts(extra, missed, 1.0, 0.5),
        "parts": PartCosts(extra, missed),
    }[kind]
    tokens = [sp.csr_matrix(x) for x in dense] if sparse else dense
    X: list[Any] = list(tokens)
    if p:
        X = [(x, s) for x, s in zip(tokens, given, strict=True)]
    Y = [chosen(rng, outputs(x)) for x in X]
    structure = Segments(
        tags, given_loss, dict(zip(names, most, strict=True)), scheme, borders, lengths, boundaries,
        None if allowed.all() else allowed, "compiled" if rng.integers(4) else "networkx",
    )  # fmt: skip
    return Small(structure, X, Y, outputs, features, loss, ordered="all")
