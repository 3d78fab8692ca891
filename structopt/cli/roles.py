"""Semantic roles on the command line: candidates are labelled, under constraints at prediction.

What is learned is which role a candidate has, each by itself; a predicate's candidates are then
labelled together, so that no core role occurs twice and arguments do not overlap (L+I of
:class:`structopt.ConstraintScheme`; ``structopt bench roles`` compares it with the others).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import accumulate, pairwise
from typing import Any

from structopt.cli.given import Given
from structopt.datasets.srl import read_srl
from structopt.errors import FileFormatError, InvalidInputError
from structopt.features.dicts import DictFeatures
from structopt.features.roles import OUTSIDE, Proposition, described, propositions
from structopt.lab.bench.srl import argument_scores, roles
from structopt.structures.constrain.structure import constrain
from structopt.structures.multiclass.structure import Multiclass


@dataclass
class Roles(Given):
    """The candidates of all predicates, one after the other."""

    found: list[Proposition] = field(default_factory=list)

    def size(self) -> str:
        """Say how many predicates, candidates and roles there are."""
        return f"{len(self.found)} predicates, {len(self.Y)} candidates, {len(set(self.Y))} roles"

    def structure(self, transitions: str) -> Multiclass:
        """Return one of the roles of the file."""
        return Multiclass(labels=sorted(set(self.Y) | {OUTSIDE}))

    def features(self, recipe: Any) -> DictFeatures:
        """Return descriptions of candidates as features."""
        if recipe.template or recipe.features:
            raise InvalidInputError("Templates are for columns; roles have features of their own.")
        return DictFeatures(min_count=recipe.min_count)

    def predicted(self, model: Any) -> list[Any]:
        """Return the roles of each predicate's candidates, the best that obey the constraints."""
        matrix, structure = model.features_.transform(self.X), model.structure_
        ends = pairwise(accumulate((len(p.candidates) for p in self.found), initial=0))
        inputs = [(matrix[a:b], p) for (a, b), p in zip(ends, self.found, strict=True)]
        rules = roles(list(structure.labels_), [])
        return list(constrain(structure, rules).predict(inputs, model.weights_))

    def lines(self, predicted: Any) -> Iterator[str]:
        """Yield a predicate a line: its sense, its place, its arguments."""
        for p, labels in zip(self.found, predicted, strict=True):
            pairs = zip(p.candidates, labels, strict=True)
            known = [f"{label}={p.sentence.words[t]}" for t, label in pairs if label != OUTSIDE]
            yield "\t".join([p.predicate.sense, str(p.predicate.position + 1), *known])

    def scores(self, predicted: Any) -> Iterator[str]:
        """Yield precision, recall and F1 of arguments."""
        for name, value in argument_scores(self.found, predicted).items():
            yield f"argument {name}: {100 * value:.2f}%"

    def confusion(self, predicted: Any) -> str:
        """Return which role is taken for which."""
        return Given.confusion(self, [label for labels in predicted for label in labels])


def read_roles(path: str) -> Roles:
    """Read the predicates of a file that have candidates."""
    found = propositions(read_srl(path))
    if not found:
        raise FileFormatError(f"{path} holds no predicate (column 11) with a candidate.")
    X = [dict.fromkeys(row, True) for p in found for row in described(p)]
    return Roles(X, [label for p in found for label in p.labels], "roles", found)
