r"""Why this output: what each feature and transition adds to its score, and how near others come.

    score(y) = sum over parts p of y of sum_j w_j phi_j(p),

and for a label at a position (or of an example) the *margin*: how far the best output falls if the
label there must be another one (max-marginals).

>>> import numpy as np, structopt as so
>>> X, Y = [np.eye(2), np.eye(2)[:1]], ["ab", "a"]
>>> model = so.StructuredClassifier(so.Chain(), so.M3N(C=1.0)).fit(X, Y)
>>> found = model.explain(X[0])
>>> found.output, bool(np.isclose(found.score, sum(part.score for part in found.parts)))
(['a', 'b'], True)
>>> found.parts[0].instead, found.parts[0].margin > 0
('b', True)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from structopt.arrays import Floats
from structopt.structures.base.structure import Structure
from structopt.structures.chain.structure import Chain
from structopt.structures.multiclass.structure import Multiclass


class PartExplanation(NamedTuple):
    """A label (or a whole output) with what speaks for and against it.

    Attributes
    ----------
    label : Any
        What was predicted here.
    score : float
        What it adds to the score of the output.
    reasons : list of (str, float)
        Features and transitions with what they add, largest first; they sum to ``score``.
    instead : Any
        The best other label here; None if unknown.
    margin : float
        How far the output's score falls with another label here; NaN if unknown.
    """

    label: Any
    score: float
    reasons: list[tuple[str, float]]
    instead: Any = None
    margin: float = float("nan")


class Explanation(NamedTuple):
    """An output, its score, and the parts that make it; ``str`` shows the largest reasons."""

    output: Any
    score: float
    parts: list[PartExplanation]

    def __str__(self) -> str:
        return self.text()

    def text(self, top: int = 4, names: Sequence[str] | None = None) -> str:
        """Return a line a part, with the ``top`` largest reasons; ``names`` are shown in front."""
        lines = []
        for t, part in enumerate(self.parts):
            front = str(t) if names is None else str(names[t])
            reasons = ", ".join(f"{name} {value:+.3g}" for name, value in part.reasons[:top])
            other = "" if part.instead is None else f" (then {part.instead}, -{part.margin:.3g})"
            lines.append(f"{front}\t{part.label}{other}: {reasons or 'nothing'}")
        return "\n".join(lines)


def explain(
    structure: Structure, weights: Floats, x: Any, names: list[tuple[str, str]] | None
) -> Explanation:
    """Explain the prediction for one input.

    Parameters
    ----------
    structure : Structure
        Fitted.
    weights : array
    x : Any
        As the structure takes it.
    names : list of (feature, label), optional
        Of every weight.
    """
    rows = isinstance(structure, Multiclass)  # x is then a matrix with one row
    (output,) = structure.predict(x if rows else [x], weights)
    if type(structure) is Chain:
        return _chain(structure, weights, x, output, names)
    row = sp.csr_array(structure.joint_features(x[0] if rows else x, output))
    reasons = _reasons(row, weights, names, alone=rows)
    score = float(sum(value for _, value in reasons))
    part = PartExplanation(output, score, reasons)
    if type(structure) is Multiclass and len(structure.labels_) > 1:
        scores = np.asarray(x @ weights.reshape(len(structure.labels_), -1).T).ravel()
        mine = structure.labels_.encode([output])[0]
        other = int(np.argmax(np.where(np.arange(len(scores)) == mine, -np.inf, scores)))
        margin = float(scores[mine] - scores[other])
        part = part._replace(instead=structure.labels_[other], margin=margin)
    return Explanation(output, score, [part])


def _chain(
    chain: Chain, weights: Floats, x: Any, output: list[Any], names: list[tuple[str, str]] | None
) -> Explanation:
    """Explain a sequence position by position; a transition belongs to its second label."""
    shard = chain.pack([x], None)
    scores = shard.part_scores(weights)
    codes, n_labels = chain.labels_.encode(output), len(chain.labels_)
    totals = _max_marginals(*scores)
    inputs = sp.csr_array(x)
    pairs = n_labels * chain.n_inputs_
    ends = pairs + n_labels * n_labels
    parts = []
    for t, k in enumerate(codes.tolist()):
        row = inputs[[t]]
        where, values = row.indices + k * chain.n_inputs_, row.data
        steps = [] if t == 0 else [pairs + int(codes[t - 1]) * n_labels + k]
        if chain.boundaries:
            steps += [ends + k] * (t == 0) + [ends + n_labels + k] * (t == len(codes) - 1)
        where = np.concatenate([where, np.array(steps, dtype=np.int64)])
        active = sp.csr_array(
            (np.concatenate([values, np.ones(len(steps))]), where, [0, len(where)]),
            shape=(1, chain.n_features_),
        )
        reasons = _reasons(active, weights, names, alone=True)
        part = PartExplanation(output[t], float(sum(v for _, v in reasons)), reasons)
        if n_labels > 1:
            others = np.where(np.arange(n_labels) == k, -np.inf, totals[t])
            best = int(np.argmax(others))
            if np.isfinite(others[best]):
                margin = float(totals[t, k] - others[best])
                part = part._replace(instead=chain.labels_[best], margin=margin)
        parts.append(part)
    return Explanation(output, float(sum(part.score for part in parts)), parts)


def _max_marginals(unary: Floats, transition: Floats, start: Floats, end: Floats) -> Floats:
    """Return the score of the best output with each label at each position."""
    forward, backward = np.empty(unary.shape), np.empty(unary.shape)
    forward[0], backward[-1] = start + unary[0], end
    for t in range(1, len(unary)):
        forward[t] = np.max(forward[t - 1][:, None] + transition, axis=0) + unary[t]
    for t in range(len(unary) - 2, -1, -1):
        backward[t] = np.max(transition + (unary[t + 1] + backward[t + 1])[None], axis=1)
    return forward + backward


def _reasons(
    row: Any, weights: Floats, names: list[tuple[str, str]] | None, *, alone: bool
) -> list[tuple[str, float]]:
    """Return what the entries of a row of features add, largest first, by name."""
    values = row.data * weights[row.indices]
    order = np.argsort(-np.abs(values), kind="stable")
    found = []
    for j, value in zip(row.indices[order].tolist(), values[order].tolist(), strict=True):
        if value == 0:
            continue
        feature, label = (f"w{j}", "") if names is None else names[j]
        found.append((feature if alone or not label else f"{feature} -> {label}", value))
    return found
