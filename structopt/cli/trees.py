"""Sentences with heads (CoNLL-U) on the command line: dependency trees without labels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from structopt.cli.given import Given, interval
from structopt.datasets.conllu import read_conllu
from structopt.errors import InvalidInputError
from structopt.features.arcs import ArcFeatures
from structopt.structures.arborescence.structure import Arborescence


@dataclass
class Trees(Given):
    """Sentences and the head of every token."""

    scored = ("unlabelled_attachment", "sequence_accuracy")
    missing = "heads: column 7 is '_'"

    def size(self) -> str:
        """Say how many sentences and tokens there are."""
        return f"{len(self.X)} sentences, {sum(map(len, self.Y))} tokens"

    def structure(self, transitions: str) -> Arborescence:
        """Return trees, with a single root if all of the file have one."""
        return Arborescence(single_root=all(y.count(0) == 1 for y in self.Y))

    def features(self, recipe: Any) -> ArcFeatures:
        """Return the features of arcs."""
        if recipe.template or recipe.features:
            raise InvalidInputError("Templates are for columns; arcs have features of their own.")
        return ArcFeatures(min_count=recipe.min_count)

    def lines(self, predicted: Any) -> Iterator[str]:
        """Yield CoNLL-U with the predicted heads, and no relations."""
        for sentence, heads in zip(self.X, predicted, strict=True):
            columns = zip(*sentence[:4], heads, strict=True)
            for m, (form, lemma, upos, xpos, head) in enumerate(columns, 1):
                row = (str(m), form, lemma, upos, xpos, "_", str(head), "_", "_", "_")
                yield "\t".join(row)
            yield ""

    def scores(self, predicted: Any) -> Iterator[str]:
        """Yield the share of right heads, and of sentences without an error."""
        for name in ("unlabelled_attachment", "sequence_accuracy"):
            yield interval(name, self.Y, predicted)

    def confusion(self, predicted: Any) -> str:
        """Refuse: heads are no labels."""
        raise InvalidInputError("--confusion is for labels, not for heads.")


def read_trees(path: str) -> Trees:
    """Read sentences; without heads (all ``_``) they can only be parsed."""
    sentences = read_conllu(path, parsed=False)
    known = all(0 in s.heads for s in sentences)
    return Trees(sentences, [s.heads for s in sentences] if known else None, "conllu")
