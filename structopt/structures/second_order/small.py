"""A tiny random problem of sequences with scores of three labels in a row."""

from __future__ import annotations

from typing import Any

import numpy as np

from structopt.arrays import Floats
from structopt.structures.base.small import Small
from structopt.structures.chain.small import small as small_chain
from structopt.structures.second_order.structure import SecondOrderChain


def small(rng: np.random.Generator) -> Small:
    """Return the problem of a chain, with its triples counted as well."""
    chain: Any = small_chain(rng)
    given = chain.structure.get_params()
    labels = list(given["labels"])

    def features(x: Any, y: Any) -> Floats:
        triples = np.zeros((len(labels),) * 3)
        codes = [labels.index(k) for k in y]
        for triple in zip(codes, codes[1:], codes[2:], strict=False):
            triples[triple] += 1
        return np.concatenate([chain.features(x, y), triples.ravel()])

    return Small(
        SecondOrderChain(**given), chain.X, chain.Y, chain.outputs, features, chain.loss, "all"
    )
